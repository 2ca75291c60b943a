// A transport of a party that deviates: it changes the messages of some kinds that the party sends.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "net/channel.h"
#include "net/message_tags.h"
#include "tests/support/two_threads.h"

namespace tinyot::test {

using Payload = std::vector<std::byte>;

// What is sent in place of a message with this payload: any number of messages of its kind.
using Change = std::function<std::vector<Payload>(Payload)>;
inline std::vector<Payload> once(const Payload& payload) {
  return std::vector<Payload>(1, payload);
}

// By the kind of message: net::message_tag("run.online").id.
using Changes = std::map<std::uint32_t, Change>;

// Numbers the messages that follow anew.
class ChangingTransport final : public Transport {
 public:
  ChangingTransport(std::unique_ptr<Transport> inner, Changes changes)
      : inner_(std::move(inner)), changes_(std::move(changes)) {}

  void write(std::span<const std::byte> bytes) override {
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
    net::FrameHeader header;
    while (waiting_.size() >= sizeof header) {
      std::memcpy(&header, waiting_.data(), sizeof header);
      if (waiting_.size() - sizeof header < header.length) return;
      const auto begin = waiting_.begin() + sizeof header,
                 end = begin + static_cast<std::ptrdiff_t>(header.length);
      Payload payload(begin, end);
      waiting_.erase(waiting_.begin(), end);
      const auto change = changes_.find(header.tag);
      if (change == changes_.end()) {
        send(header.tag, payload);
        continue;
      }
      for (const Payload& each : change->second(std::move(payload))) send(header.tag, each);
    }
  }
  std::size_t read(std::span<std::byte> bytes) override { return inner_->read(bytes); }
  void shut_down() noexcept override { inner_->shut_down(); }

 private:
  void send(std::uint32_t tag, const Payload& payload) {
    const net::FrameHeader header{payload.size(), tag, sequence_++};
    inner_->write(std::as_bytes(std::span(&header, 1)));
    if (!payload.empty()) inner_->write(payload);
  }

  std::unique_ptr<Transport> inner_;
  Changes changes_;
  std::vector<std::byte> waiting_;
  std::uint32_t sequence_ = 0;
};

// Endpoints of two parties of which A deviates on each of its connections.
inline Endpoints endpoints_with(const Changes& of_a,
                                std::chrono::seconds idle = std::chrono::seconds(20)) {
  return Endpoints(
      [of_a](std::unique_ptr<Transport> plain) {
        return std::make_unique<ChangingTransport>(std::move(plain), of_a);
      },
      idle);
}

}  // namespace tinyot::test
