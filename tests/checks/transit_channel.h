// A channel that alters received messages, as an attacker in transit does, or a peer whose
// deviation needs data that only the receiving side has.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/channel_decorator.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot::test {

// `received` is the received payload; `sent` is what this side sent last with the same tag (empty
// if nothing).
struct Arrival {
  std::string tag;
  std::size_t occurrence;
  std::span<std::byte> received;
  const std::vector<std::byte>& sent;
};
using InTransit = std::function<void(const Arrival&)>;

class TransitChannel final : public ChannelDecorator {
 public:
  TransitChannel(std::unique_ptr<Channel> inner, InTransit alter)
      : ChannelDecorator(std::move(inner)), alter_(std::move(alter)) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    sent_[std::string(tag.name)].assign(payload.begin(), payload.end());
    inner().send(tag, payload);
  }
  void recv(const MessageTag& tag, std::span<std::byte> payload) override {
    inner().recv(tag, payload);
    alter(tag, payload);
  }
  std::vector<std::byte> recv_variable(const MessageTag& tag, std::size_t bytes_max) override {
    auto payload = inner().recv_variable(tag, bytes_max);
    alter(tag, payload);
    return payload;
  }

 private:
  void alter(const MessageTag& tag, std::span<std::byte> payload) {
    const std::string name(tag.name);
    alter_({name, arrived_[name]++, payload, sent_[name]});
  }

  InTransit alter_;
  std::map<std::string, std::vector<std::byte>> sent_;
  std::map<std::string, std::size_t> arrived_;
};

inline ChannelWrapper in_transit(InTransit alter) {
  return [alter = std::move(alter)](std::unique_ptr<Channel> inner) {
    return std::make_unique<TransitChannel>(std::move(inner), alter);
  };
}

// Replaces the peer's message by this side's own message with the same tag.
inline InTransit reflect(std::string tag) {
  return [tag = std::move(tag)](const Arrival& arrival) {
    if (arrival.tag == tag && arrival.sent.size() == arrival.received.size())
      std::copy(arrival.sent.begin(), arrival.sent.end(), arrival.received.begin());
  };
}

}  // namespace tinyot::test
