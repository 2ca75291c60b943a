// The messages of a session as its parties send them, over all of its connections.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/channel_decorator.h"
#include "tests/support/layers.h"
#include "tinyot/party.h"

namespace tinyot::test {

struct RecordedMessage {
  Party from;
  std::size_t connection;
  std::uint32_t sequence;  // as in the frame: of the sender's messages on the connection, from 0
  MessageTag tag;
  std::string phase;  // of the sender, as errors name it
  std::vector<std::byte> payload;
};

// What one party sends and receives, in its order. For one thread.
class PartyRecord {
 public:
  explicit PartyRecord(Party party) : party_(party) {}

  // A channel that forwards everything and records it. This object outlives it.
  std::unique_ptr<Channel> recorded(std::size_t connection, std::unique_ptr<Channel> channel);

 private:
  friend class RecordingChannel;
  friend class MessageOrder;
  struct Event {
    bool is_sent;
    std::size_t connection;
    Track track;
    std::size_t message;  // of those sent
  };

  Party party_;
  std::vector<Event> events_;
  std::vector<RecordedMessage> sent_;
};

// All messages in an order in which they can be sent and received: A goes on until it waits for a
// message of B, then B until it waits for one of A, and so on. It is the same for every scheduling
// of the two threads. Fails: std::logic_error if a message is received that was not sent.
std::vector<RecordedMessage> messages_in_order(PartyRecord a, PartyRecord b);

}  // namespace tinyot::test
