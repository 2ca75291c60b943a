// Streams over a transport supplied by the caller. The common properties of all streams are tested
// in stream_test.cpp.
#include "net/transport_stream.h"

#include <gtest/gtest.h>

#include <future>

#include "base/error.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/layers.h"
#include "tests/support/socket_transport.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using namespace std::chrono_literals;

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const NetworkError& error) {
    return error.what();
  }
  return "none";
}

// Blocks in both directions until it is shut down.
class StalledTransport : public Transport {
 public:
  void write(std::span<const std::byte>) override { wait(); }
  std::size_t read(std::span<std::byte>) override {
    wait();
    return 0;
  }
  void shut_down() noexcept override { ends_.set_value(); }

 private:
  void wait() { ended_.wait(); }
  std::promise<void> ends_;
  std::shared_future<void> ended_ = ends_.get_future().share();
};

class FailingTransport : public Transport {
 public:
  void write(std::span<const std::byte>) override { throw std::runtime_error("no route"); }
  std::size_t read(std::span<std::byte>) override { throw std::runtime_error("a torn cable"); }
  void shut_down() noexcept override {}
};

// Claims to have read more than there is room for.
class LyingTransport : public FailingTransport {
 public:
  std::size_t read(std::span<std::byte> bytes) override { return bytes.size() + 1; }
};

// Delivers `text` one byte at a time, and then the end.
class TricklingTransport : public FailingTransport {
 public:
  explicit TricklingTransport(std::string text) : text_(std::move(text)) {}
  std::size_t read(std::span<std::byte> bytes) override {
    if (at_ == text_.size()) return 0;
    bytes[0] = static_cast<std::byte>(text_[at_++]);
    return 1;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

TEST(TransportStream, EndsWhileTheTransportWaits) {
  const auto stream = make_transport_stream(std::make_unique<StalledTransport>(), 60s);
  stream->write(std::as_bytes(std::span("never sent")));
}

TEST(TransportStream, TimesOutOnStalledTransport) {
  const auto stream = make_transport_stream(std::make_unique<StalledTransport>(), 100ms);
  std::byte byte{};
  EXPECT_NE(error_of([&] { stream->read({&byte, 1}); }).find("no progress"), std::string::npos);
  stream->write({&byte, 1});
  EXPECT_NE(error_of([&] { stream->flush(); }).find("no progress"), std::string::npos);
}

TEST(TransportStream, LimitsWhatWaitsToBeSent) {
  const auto stream = make_transport_stream(std::make_unique<StalledTransport>(), 100ms);
  const std::vector<std::byte> mebibyte(1 << 20);
  std::size_t written = 0;
  EXPECT_NE(error_of([&] {
              for (; written < 100; ++written) stream->write(mebibyte);
            }).find("no progress"),
            std::string::npos);
  EXPECT_LE(written, 10u);
}

TEST(TransportStream, StopsAtTheDeadline) {
  const auto stream = make_transport_stream(std::make_unique<StalledTransport>(), 60s);
  std::byte byte{};
  test::BlockedThread reading([&] {
    EXPECT_EQ(error_of([&] { stream->read({&byte, 1}); }), "stopped");
  });
  stream->set_deadline(std::chrono::steady_clock::now());
}

TEST(TransportStream, ReportsWhyTheTransportCannotRead) {
  const auto stream = make_transport_stream(std::make_unique<FailingTransport>(), 10s);
  std::byte byte{};
  EXPECT_EQ(error_of([&] { stream->read({&byte, 1}); }), "the transport cannot read: a torn cable");
}

TEST(TransportStream, RefusesMoreBytesThanItAskedFor) {
  const auto stream = make_transport_stream(std::make_unique<LyingTransport>(), 10s);
  std::byte byte{};
  EXPECT_NE(error_of([&] {
              stream->read({&byte, 1});
            }).find("more bytes than requested"),
            std::string::npos);
}

// The peer's last message is more informative than the failure to write.
TEST(TransportStream, DeliversWhatArrivedAlthoughItCannotWrite) {
  const auto stream = make_transport_stream(std::make_unique<TricklingTransport>("last"), 10s);
  const std::vector<std::byte> bytes(1000);
  stream->write(bytes);
  stream->flush();
  stream->write(bytes);
  std::string text(4, ' ');
  stream->read(std::as_writable_bytes(std::span(text)));
  EXPECT_EQ(text, "last");
  std::byte byte{};
  EXPECT_EQ(error_of([&] { stream->read({&byte, 1}); }), "the peer closed the connection");
}

}  // namespace
}  // namespace tinyot
