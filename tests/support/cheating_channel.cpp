#include "tests/support/cheating_channel.h"

#include <map>

#include "tests/support/channel_decorator.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class CheatingChannel final : public ChannelDecorator {
 public:
  CheatingChannel(std::unique_ptr<Channel> inner, Deviation deviation)
      : ChannelDecorator(std::move(inner)), deviation_(std::move(deviation)) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    std::vector<std::byte> changed(payload.begin(), payload.end());
    deviation_(tag.name, sent_[std::string(tag.name)]++, changed);
    inner().send(tag, changed);
  }

 private:
  Deviation deviation_;
  std::map<std::string, std::size_t> sent_;
};

}  // namespace

std::unique_ptr<Channel> make_cheating_channel(std::unique_ptr<Channel> inner,
                                               Deviation deviation) {
  return std::make_unique<CheatingChannel>(std::move(inner), std::move(deviation));
}

Deviation flip_bit(std::string tag, std::size_t occurrence, std::size_t bit) {
  return [tag = std::move(tag), occurrence, bit](std::string_view sent, std::size_t number,
                                                 std::vector<std::byte>& payload) {
    if (sent == tag && number == occurrence) payload.at(bit / 8) ^= std::byte{1} << (bit % 8);
  };
}

}  // namespace tinyot::test
