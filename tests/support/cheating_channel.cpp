#include "tests/support/cheating_channel.h"

#include <map>

namespace tinyot::test {
namespace {

class CheatingChannel final : public Channel {
 public:
  CheatingChannel(std::unique_ptr<Channel> inner, Deviation deviation) : inner_(std::move(inner)), deviation_(std::move(deviation)) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    std::vector<std::byte> changed(payload.begin(), payload.end());
    deviation_(tag.name, sent_[std::string(tag.name)]++, changed);
    inner_->send(tag, changed);
  }
  void recv(const MessageTag& tag, std::span<std::byte> payload) override { inner_->recv(tag, payload); }
  std::vector<std::byte> recv_variable(const MessageTag& tag, std::size_t bytes_max) override { return inner_->recv_variable(tag, bytes_max); }
  void flush() override { inner_->flush(); }
  void send_abort() noexcept override { inner_->send_abort(); }
  bool await_abort() noexcept override { return inner_->await_abort(); }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override { inner_->set_deadline(deadline); }
  const ChannelCounters& counters() const override { return inner_->counters(); }
  void set_phase(std::string_view phase) override { inner_->set_phase(phase); }

 private:
  std::unique_ptr<Channel> inner_;
  Deviation deviation_;
  std::map<std::string, std::size_t> sent_;
};

}  // namespace

std::unique_ptr<Channel> make_cheating_channel(std::unique_ptr<Channel> inner, Deviation deviation) {
  return std::make_unique<CheatingChannel>(std::move(inner), std::move(deviation));
}

Deviation flip_bit(std::string tag, std::size_t occurrence, std::size_t bit) {
  return [tag = std::move(tag), occurrence, bit](std::string_view sent, std::size_t number, std::vector<std::byte>& payload) {
    if (sent == tag && number == occurrence) payload.at(bit / 8) ^= std::byte{1} << (bit % 8);
  };
}

}  // namespace tinyot::test
