// A channel that forwards every call: base class of channels that change some of them.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "net/channel.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// May wrap a party's channel, for example in a cheating one.
using ChannelWrapper = std::function<std::unique_ptr<Channel>(std::unique_ptr<Channel>)>;

class ChannelDecorator : public Channel {
 public:
  explicit ChannelDecorator(std::unique_ptr<Channel> inner) : inner_(std::move(inner)) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    inner_->send(tag, payload);
  }
  void recv(const MessageTag& tag, std::span<std::byte> payload) override {
    inner_->recv(tag, payload);
  }
  std::vector<std::byte> recv_variable(const MessageTag& tag, std::size_t bytes_max) override {
    return inner_->recv_variable(tag, bytes_max);
  }
  void flush() override { inner_->flush(); }
  void send_abort() noexcept override { inner_->send_abort(); }
  bool await_abort() noexcept override { return inner_->await_abort(); }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    inner_->set_deadline(deadline);
  }
  const ChannelCounters& counters() const override { return inner_->counters(); }
  void set_phase(std::string_view phase) override { inner_->set_phase(phase); }

 protected:
  Channel& inner() { return *inner_; }

 private:
  std::unique_ptr<Channel> inner_;
};

}  // namespace tinyot::test
