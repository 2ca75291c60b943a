#include "tests/online/tampering_channel.h"

#include <optional>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class FlippingChannel final : public ChannelDecorator {
 public:
  FlippingChannel(std::unique_ptr<Channel> inner, std::string tag, std::vector<std::size_t> bits,
                  std::size_t number)
      : ChannelDecorator(std::move(inner)), tag_(std::move(tag)), bits_(std::move(bits)),
        number_(number) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    std::vector<std::byte> changed(payload.begin(), payload.end());
    change(tag, changed, sent_);
    inner().send(tag, changed);
  }
  void recv(const MessageTag& tag, std::span<std::byte> payload) override {
    inner().recv(tag, payload);
    change(tag, payload, received_);
  }

 private:
  void change(const MessageTag& tag, std::span<std::byte> payload, std::size_t& count) const {
    if (tag.name != tag_ || count++ != number_) return;
    for (const std::size_t bit : bits_) payload[bit / 8] ^= std::byte{1} << (bit % 8);
  }

  std::string tag_;
  std::vector<std::size_t> bits_;
  std::size_t number_, sent_ = 0, received_ = 0;
};

class SwappingChannel final : public ChannelDecorator {
 public:
  SwappingChannel(std::unique_ptr<Channel> inner, std::string tag, std::size_t number, bool& done)
      : ChannelDecorator(std::move(inner)), name_(std::move(tag)), left_(number), done_(done) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    if (!held_ && tag.name == name_ && left_-- == 0) {
      held_.emplace(tag, std::vector<std::byte>(payload.begin(), payload.end()));
      return;
    }
    inner().send(tag, payload);
    done_ |= held_.has_value();
    release();
  }
  void recv(const MessageTag& tag, std::span<std::byte> payload) override {
    release();
    inner().recv(tag, payload);
  }
  void flush() override {
    release();
    inner().flush();
  }

 private:
  void release() {
    if (!held_) return;
    inner().send(held_->first, held_->second);
    held_.reset();
  }

  std::string name_;
  std::size_t left_;
  bool& done_;
  std::optional<std::pair<MessageTag, std::vector<std::byte>>> held_;
};

class RepeatingChannel final : public ChannelDecorator {
 public:
  RepeatingChannel(std::unique_ptr<Channel> inner, std::string tag, std::size_t number)
      : ChannelDecorator(std::move(inner)), name_(std::move(tag)), left_(number) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    inner().send(tag, payload);
    if (tag.name == name_ && left_-- == 0) inner().send(tag, payload);
  }

 private:
  std::string name_;
  std::size_t left_;
};

class ReflectingChannel final : public ChannelDecorator {
 public:
  ReflectingChannel(std::unique_ptr<Channel> inner, std::string tag)
      : ChannelDecorator(std::move(inner)), tag_(std::move(tag)) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    if (tag.name != tag_) inner().send(tag, payload);
  }
  void recv(const MessageTag& tag, std::span<std::byte> payload) override {
    inner().recv(tag, payload);
    if (tag.name == tag_) inner().send(tag, payload);
  }

 private:
  std::string tag_;
};

}  // namespace

ChannelWrapper flipping_both_ways(std::string tag, std::vector<std::size_t> bits,
                                  std::size_t number) {
  return [=](std::unique_ptr<Channel> inner) {
    return std::make_unique<FlippingChannel>(std::move(inner), tag, bits, number);
  };
}

ChannelWrapper swapping(std::string tag, std::size_t number, bool& done) {
  return [=, &done](std::unique_ptr<Channel> inner) {
    return std::make_unique<SwappingChannel>(std::move(inner), tag, number, done);
  };
}

ChannelWrapper repeating(std::string tag, std::size_t number) {
  return [=](std::unique_ptr<Channel> inner) {
    return std::make_unique<RepeatingChannel>(std::move(inner), tag, number);
  };
}

ChannelWrapper reflecting(std::string tag) {
  return [=](std::unique_ptr<Channel> inner) {
    return std::make_unique<ReflectingChannel>(std::move(inner), tag);
  };
}

}  // namespace tinyot::test
