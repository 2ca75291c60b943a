// A peer that writes hand-made frames, and helpers for the exceptions they cause.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "net/channel.h"
#include "tests/support/layers.h"

namespace tinyot::test {

inline constexpr MessageTag kGreeting{0x7001, "test.greeting"};
inline constexpr MessageTag kReply{0x7002, "test.reply"};

struct RawHeader {
  std::uint64_t length;
  std::uint32_t tag;
  std::uint32_t sequence;
};

// One end is a channel, the other a bare stream.
struct ChannelAndRawPeer {
  explicit ChannelAndRawPeer(MemoryStreams streams = make_memory_streams())
      : channel(make_framed_channel(std::move(streams.a))), raw(std::move(streams.b)) {}

  void write_frame(const RawHeader& header, const std::vector<std::byte>& payload = {}) const {
    raw->write(std::as_bytes(std::span(&header, 1)));
    raw->write(payload);
  }

  std::unique_ptr<Channel> channel;
  std::unique_ptr<ByteStream> raw;
};

inline std::vector<std::byte> payload_of(std::size_t size) {
  std::vector<std::byte> payload(size);
  for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<std::byte>(i * 7 + size);
  return payload;
}

struct Thrown {
  std::string message;
  Remedy remedy = Remedy::None;
};

// Runs `body`, expects an Exception.
template <class Exception, class Body>
Thrown thrown_by(Body body) {
  try {
    body();
  } catch (const Exception& error) {
    if constexpr (std::is_base_of_v<Error, Exception>)
      return {error.what(), error.remedy()};
    else
      return {error.what()};
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no exception";
  return {};
}

template <class Exception, class Body>
std::string message_of(Body body) {
  return thrown_by<Exception>(body).message;
}

inline void expect_contains(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' not in '" << message << "'";
}

inline void expect_thrown(const Thrown& thrown, const std::string& part, Remedy remedy) {
  expect_contains(thrown.message, part);
  EXPECT_EQ(thrown.remedy, remedy) << thrown.message;
}
inline void expect_idle_timeout(const Thrown& thrown) {
  expect_thrown(thrown, " s (the idle timeout): the peer has failed", Remedy::AllowLongerIdle);
}

}  // namespace tinyot::test
