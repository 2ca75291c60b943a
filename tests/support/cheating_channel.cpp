#include "tests/support/cheating_channel.h"

#include <map>
#include <stdexcept>

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

ChannelWrapper cheating(Deviation deviation) {
  return [deviation = std::move(deviation)](std::unique_ptr<Channel> inner) {
    return std::make_unique<CheatingChannel>(std::move(inner), deviation);
  };
}

Deviation flip_bit(std::string tag, std::size_t occurrence, std::size_t bit) {
  return [tag = std::move(tag), occurrence, bit](std::string_view sent, std::size_t number,
                                                 std::vector<std::byte>& payload) {
    if (sent == tag && number == occurrence) payload.at(bit / 8) ^= std::byte{1} << (bit % 8);
  };
}

ChannelWrapper recording(Messages& sent) {
  return cheating(
      [&sent](std::string_view tag, std::size_t occurrence, std::vector<std::byte>& payload) {
        sent.push_back({std::string(tag), occurrence, payload});
      });
}

std::vector<std::byte> payload_of(const Messages& sent, std::string_view tag,
                                  std::size_t occurrence) {
  for (const Message& message : sent)
    if (message.tag == tag && message.occurrence == occurrence) return message.payload;
  throw std::out_of_range("no message " + std::string(tag));
}

std::size_t bytes_of(const Messages& sent, std::string_view tag) {
  std::size_t bytes = 0;
  for (const Message& message : sent)
    if (message.tag == tag) bytes += message.payload.size();
  return bytes;
}

}  // namespace tinyot::test
