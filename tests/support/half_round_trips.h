// Channels that count the half round trips until a party is done, whatever the machine does: each
// message takes one, and everything else takes no time.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>

#include "tests/support/channel_decorator.h"

namespace tinyot::test {

class HalfRoundTrips {
 public:
  ChannelWrapper of(Party party) {
    return [this, party](std::unique_ptr<Channel> inner) {
      return std::make_unique<Clocked>(std::move(inner), *this, static_cast<std::size_t>(party));
    };
  }
  // Called by the party itself, while no message is under way.
  void restart(Party party) { now_[static_cast<std::size_t>(party)] = 0; }
  std::uint64_t now(Party party) const { return now_[static_cast<std::size_t>(party)]; }

 private:
  class Clocked final : public ChannelDecorator {
   public:
    Clocked(std::unique_ptr<Channel> inner, HalfRoundTrips& clocks, std::size_t me)
        : ChannelDecorator(std::move(inner)), clocks_(clocks), me_(me) {}
    void send(const MessageTag& tag, std::span<const std::byte> payload) override {
      {
        const std::lock_guard lock(clocks_.mutex_);
        clocks_.sent_[me_].push_back(clocks_.now_[me_]);
      }
      ChannelDecorator::send(tag, payload);
    }
    void recv(const MessageTag& tag, std::span<std::byte> payload) override {
      ChannelDecorator::recv(tag, payload);
      received();
    }
    std::vector<std::byte> recv_variable(const MessageTag& tag, std::size_t bytes_max) override {
      auto bytes = ChannelDecorator::recv_variable(tag, bytes_max);
      received();
      return bytes;
    }

   private:
    void received() {
      const std::lock_guard lock(clocks_.mutex_);
      std::deque<std::uint64_t>& sent = clocks_.sent_[1 - me_];
      clocks_.now_[me_] = std::max(clocks_.now_[me_], sent.front() + 1);
      sent.pop_front();
    }
    HalfRoundTrips& clocks_;
    std::size_t me_;
  };

  std::mutex mutex_;
  std::array<std::deque<std::uint64_t>, 2> sent_;  // by sender: when
  std::array<std::uint64_t, 2> now_{};
};

}  // namespace tinyot::test
