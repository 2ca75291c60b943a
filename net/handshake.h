// The handshake: the parties exchange and compare wire version, party and every parameter. A
// difference is reported with both values.
//
// The Hellos are not authenticated by this exchange: checks/session.h derives the session ids from
// their bytes, and each party confirms them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "net/channel.h"
#include "tinyot/party.h"

namespace tinyot::net {

inline constexpr std::uint32_t kWireVersion = 15;

// The first message of a session's first connection, and the first of each further connection.
inline constexpr MessageTag kHello = message_tag("handshake.hello");
inline constexpr MessageTag kJoin = message_tag("session.join");
inline constexpr std::size_t kJoinBytes = 32;

// Classifies the first bytes of a connection, as early as possible: one of the two messages above,
// the beginning of a TLS connection, or neither.
enum class FirstBytes { Incomplete, Ours, Tls, Foreign };
inline constexpr std::size_t kFirstBytes = 28;  // examined at most
FirstBytes classify_first_bytes(std::span<const std::byte> bytes);

struct Parameter {
  std::string name;
  std::string value;
  // In place of the value in messages, if given; not compared. The same at both parties: a value
  // that no message shows.
  std::string shown = {};
  bool is_open = false;  // agrees with every value of the peer's
  // A number of a release, not sent: messages say whose is older.
  bool is_version = false;
};

struct Hello {
  Party party;
  std::array<std::uint8_t, 32> nonce;
  std::vector<Parameter> parameters;
};

// Whether one message can have these parameters, beside those that a session adds: there are at
// most 60, and 16,000 bytes of them. Fails: UsageError.
void require_sendable(const std::vector<Parameter>& parameters);

struct Handshake {
  std::vector<std::byte> hello_a;  // as sent by A
  std::vector<std::byte> hello_b;  // as sent by B
  // This party's, where an open one has the value of the peer's, unless both are open.
  std::vector<Parameter> agreed;
};

// Wire: one message each way, concurrently.
// Fails: NetworkError if the peer does not speak this protocol; Disagreement if the versions or a
// parameter differ, with both values, or if both are the same party; PeerCheated("handshake") on a
// malformed Hello; and as Channel::recv.
Handshake shake_hands(Channel& channel, const Hello& mine);

// Compares parameters later in a session, for the operation that both parties are about to start:
// sends them, and then, perhaps after further messages, receives those of the peer. Wire: one
// message each way, concurrently. Fails: as shake_hands(): UsageError before anything is sent, and
// Disagreement; PeerCheated("handshake") on a malformed message; and as Channel::recv.
class ParameterComparison {
 public:
  ParameterComparison(Channel& channel, const MessageTag& tag, Party me,
                      std::vector<Parameter> parameters);
  void finish();

 private:
  Channel& channel_;
  MessageTag tag_;
  Hello mine_;
};
void compare_parameters(Channel& channel, const MessageTag& tag, Party me,
                        std::vector<Parameter> parameters);

}  // namespace tinyot::net
