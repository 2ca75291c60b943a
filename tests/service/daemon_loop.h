// What a daemon tells the service manager: that it has passed its loop, and that it has read its
// settings again.
#pragma once

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>

#include "system/descriptor.h"
#include "tests/service/daemons.h"

namespace tinyot::test {

inline sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// Counts the notices of a daemon that is started while this object is made.
class LoopNotices {
 public:
  explicit LoopNotices(const std::filesystem::path& path)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = address_of(path);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    reader_ = std::thread([this] { read_all(); });
  }
  ~LoopNotices() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    reader_.join();
  }
  // The loop has been passed as a whole, from now on.
  ::testing::AssertionResult pass() { return more_of(loops_, 2); }
  // SIGHUP to the daemon, and what it does then.
  ::testing::AssertionResult reload(const Daemon& daemon) {
    if (!becomes_true([&] { return ready_ > 0; })) return ::testing::AssertionFailure();
    const int before = ready_;
    ::kill(daemon.pid(), SIGHUP);
    return becomes_true([&] { return ready_ > before; }, std::chrono::seconds(60));
  }

 private:
  ::testing::AssertionResult more_of(const std::atomic<int>& count, int more) {
    const int before = count;
    return becomes_true([&] { return count >= before + more; }, std::chrono::seconds(60));
  }
  void read_all() {
    char text[256];
    for (ssize_t size; (size = ::recv(socket_.get(), text, sizeof text, 0)) > 0;) {
      const std::string_view notice(text, static_cast<std::size_t>(size));
      loops_ += notice.starts_with("WATCHDOG");
      ready_ += notice.starts_with("READY");
    }
  }

  const system::Descriptor socket_;
  std::atomic<int> loops_ = 0, ready_ = 0;
  std::thread reader_;
};

// A's notices are observed.
class DaemonLoopTest : public DaemonTest {
 protected:
  void start(const Setup& setup = {}) {
    make(setup);
    start_a();
    b_->start();
    ASSERT_TRUE(is_stocked());
  }
  // Once made.
  void start_a() {
    notices_.emplace(dir_ / "notices");
    a_->start();
    ::unsetenv("NOTIFY_SOCKET");
  }
  ::testing::AssertionResult passes_loop() { return notices_->pass(); }
  ::testing::AssertionResult reloads() { return notices_->reload(*a_); }

 private:
  std::optional<LoopNotices> notices_;
};

}  // namespace tinyot::test
