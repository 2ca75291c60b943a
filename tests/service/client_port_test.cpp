// The sockets of the interface: connections are accepted, refused beyond the most that there may
// be, and accepted again after the system had no descriptor for one.
#include "service/client_port.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <condition_variable>
#include <fstream>
#include <set>

#include "base/error.h"
#include "tests/support/becomes_true.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/files.h"
#include "tests/support/ports.h"
#include "tests/support/sockets.h"

namespace tinyot::test {
namespace {

using service::ClientPort;
using system::Descriptor;

// Takes connections over and counts them.
class Taken {
 public:
  std::function<void(int)> function() {
    return [this](int connection) {
      const std::lock_guard lock(mutex_);
      connections_.emplace_back(connection);
      changed_.notify_all();
    };
  }
  bool reach(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60),
                             [&] { return connections_.size() >= count; });
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return connections_.size();
  }
  void close_one() {
    const std::lock_guard lock(mutex_);
    connections_.back().close();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Descriptor> connections_;
};

class ClientPortTest : public ::testing::Test {
 protected:
  Descriptor connect() const {
    Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    connect(client);
    return client;
  }
  void connect(const Descriptor& client) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.native().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
  }
  void listen(std::size_t max) {
    std::vector<service::ClientSocket> sockets;
    sockets.push_back(
        {service::listen_on_file(path_, 0600), served_.function(), refused_.function()});
    port_.emplace(std::move(sockets), max);
  }

  const TestDirectory directory_;
  const std::filesystem::path path_ = directory_ / "socket";
  Taken served_, refused_;
  std::optional<ClientPort> port_;
};

TEST_F(ClientPortTest, RefusesConnectionsBeyondTheMost) {
  listen(2);
  std::vector<Descriptor> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(connect());
  EXPECT_TRUE(refused_.reach(1));
  EXPECT_EQ(served_.count(), 2u);
  // Whoever owns one closes it, and there is room for another one.
  served_.close_one();
  clients.push_back(connect());
  EXPECT_TRUE(served_.reach(3));
  clients.push_back(connect());
  EXPECT_TRUE(refused_.reach(2));
  EXPECT_EQ(served_.count(), 3u);
}

std::set<pid_t> threads_of_this_process() {
  std::set<pid_t> threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    threads.insert(std::stoi(task.path().filename().string()));
  return threads;
}

TEST_F(ClientPortTest, SleepsUntilSomethingConnects) {
  std::thread([] {}).join();  // from the first thread on a sanitizer may have one of its own
  const std::set<pid_t> before = threads_of_this_process();
  listen(1);
  std::set<pid_t> accepting = threads_of_this_process();
  std::erase_if(accepting, [&](pid_t thread) { return before.contains(thread); });
  ASSERT_EQ(accepting.size(), 1u);
  ASSERT_TRUE(becomes_true([&] { return is_asleep(*accepting.begin()); }));
  const Descriptor client = connect();
  ASSERT_TRUE(served_.reach(1));
  EXPECT_TRUE(becomes_true([&] { return is_asleep(*accepting.begin()); }));
}

// Of those that are refused, too, only some are open at a time.
TEST_F(ClientPortTest, ClosesConnectionsBeyondThoseThatAreRefused) {
  listen(1);
  std::vector<Descriptor> clients;
  for (std::size_t i = 0; i < 1 + ClientPort::kRefusedMax; ++i) clients.push_back(connect());
  EXPECT_TRUE(refused_.reach(ClientPort::kRefusedMax));
  const Descriptor last = connect();
  char byte = 0;
  EXPECT_EQ(::read(last.get(), &byte, 1), 0) << "the end of the connection";
  EXPECT_EQ(refused_.count(), ClientPort::kRefusedMax);
}

// UBSan takes an object for invalid if it has no descriptor left to look at it.
#if !defined(__SANITIZE_ADDRESS__)
// The limit of this process is lowered to what it has open, and what the port says of that is read
// from a pipe in the place of stderr.
TEST_F(ClientPortTest, AcceptsAgainOnceThereAreDescriptors) {
  listen(8);
  const Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const Descriptor log(pipe[0]), kept(::dup(STDERR_FILENO));
  ASSERT_EQ(::dup2(pipe[1], STDERR_FILENO), STDERR_FILENO);
  ::close(pipe[1]);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = STDERR_FILENO + 1;  // those below are open
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  connect(client);
  std::string line(1024, '\0');
  line.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(log.get(), line.data(), 1024), 0)));
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_EQ(::dup2(kept.get(), STDERR_FILENO), STDERR_FILENO);
  EXPECT_NE(line.find("interface accepts no connection"), std::string::npos) << line;
  EXPECT_TRUE(served_.reach(1));
}
#endif

TEST_F(ClientPortTest, ReplacesSocketButNoOtherFile) {
  listen(1);
  port_.reset();
  ASSERT_TRUE(std::filesystem::is_socket(path_));
  listen(1);
  const Descriptor client = connect();
  EXPECT_TRUE(served_.reach(1));
  struct stat file {};
  ASSERT_EQ(::stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  const std::filesystem::path other = directory_ / "file";
  write_file(other, "kept");
  EXPECT_THROW(service::listen_on_file(other, 0600), NetworkError);
  EXPECT_EQ(read_file(other), "kept");
  EXPECT_THROW(service::listen_on_file(directory_ / std::string(200, 'x'), 0600), NetworkError);
}

TEST_F(ClientPortTest, ListensOnAllAddressesOfAHost) {
  const std::string number = reserved_port();
  std::vector<service::ClientSocket> sockets;
  for (Descriptor& listener : service::listen_on_address({"localhost", number}))
    sockets.push_back({std::move(listener), served_.function(), refused_.function()});
  port_.emplace(std::move(sockets), 1);
  const Socket client = connect_to(number);
  EXPECT_TRUE(client.valid());
  EXPECT_TRUE(served_.reach(1));
  EXPECT_THROW(service::listen_on_address({"127.0.0.1", number}), NetworkError);
  EXPECT_THROW(service::listen_on_address({"192.0.2.1", number}), NetworkError);
}

}  // namespace
}  // namespace tinyot::test
