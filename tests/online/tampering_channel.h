// Channels that do to a party's messages more than change what it sends.
#pragma once

#include "tests/support/two_parties.h"

namespace tinyot::test {

// Passes everything on.
class ChannelDecorator : public Channel {
 public:
  explicit ChannelDecorator(std::unique_ptr<Channel> inner) : inner_(std::move(inner)) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override { inner_->send(tag, payload); }
  void recv(const MessageTag& tag, std::span<std::byte> payload) override { inner_->recv(tag, payload); }
  std::vector<std::byte> recv_variable(const MessageTag& tag, std::size_t bytes_max) override { return inner_->recv_variable(tag, bytes_max); }
  void flush() override { inner_->flush(); }
  void send_abort() noexcept override { inner_->send_abort(); }
  bool await_abort() noexcept override { return inner_->await_abort(); }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override { inner_->set_deadline(deadline); }
  const ChannelCounters& counters() const override { return inner_->counters(); }
  void set_phase(std::string_view phase) override { inner_->set_phase(phase); }

 protected:
  Channel& inner() { return *inner_; }

 private:
  std::unique_ptr<Channel> inner_;
};

// Flips bits of message `number` of a kind both in what the party sends and in what it receives: it goes on with what it makes the peer
// believe.
ChannelWrapper flipping_both_ways(std::string tag, std::vector<std::size_t> bits, std::size_t number = 0);

// Sends message `number` of a kind after the one that follows it, of whatever kind; where the party waits for the peer first, at that
// time. Sets `done` if the two have changed places.
ChannelWrapper swapping(std::string tag, std::size_t number, bool& done);

// Sends message `number` of a kind twice.
ChannelWrapper repeating(std::string tag, std::size_t number);

}  // namespace tinyot::test
