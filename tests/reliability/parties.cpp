#include "tests/reliability/parties.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <thread>

namespace tinyot::test {
namespace {

// A port that was free a moment ago.
std::string free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address);
  socklen_t length = sizeof address;
  ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(probe);
  return std::to_string(ntohs(address.sin_port));
}

// Seconds. Most attempts end with a party that waits for one who was killed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char *kConnectTimeout = "5", *kIdleTimeout = "20";
#else
constexpr const char *kConnectTimeout = "1", *kIdleTimeout = "5";
#endif

}  // namespace

std::string tinyot() {
  const char* other = std::getenv("TINYOT_BINARY");
  return other == nullptr ? TINYOT_BINARY : other;
}

Blow Assassin::next(std::chrono::milliseconds usual_time) {
  Blow blow;
  if (!has_kills_left() || random() % 8 == 0) return blow;
  const auto whom = random() % 3;
  blow.hits_a = whom != 1;
  blow.hits_b = whom != 0;
  blow.after = std::chrono::microseconds(random() % static_cast<std::uint64_t>(std::chrono::microseconds(usual_time).count()));
  return blow;
}

PairEnded run_pair(Assassin& assassin, const std::string& command, const Arguments& of_a, const Arguments& of_b, std::chrono::milliseconds usual_time) {
  const std::string address = "127.0.0.1:" + free_port();
  const auto arguments = [&](const char* party, const char* how, const Arguments& rest) {
    Arguments all;
    std::istringstream words(command);
    for (std::string word; words >> word;) all.push_back(word);
    for (const char* more : {"--party", party, how, address.c_str(), "--connect-timeout", kConnectTimeout, "--idle-timeout", kIdleTimeout, "--quiet"}) all.push_back(more);
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  };
  const Blow blow = assassin.next(usual_time);
  Process a(tinyot(), arguments("A", "--listen", of_a)), b(tinyot(), arguments("B", "--connect", of_b));
  if (blow.hits_a || blow.hits_b) std::this_thread::sleep_for(blow.after);
  if (blow.hits_a) a.signal(SIGKILL);
  if (blow.hits_b) b.signal(SIGKILL);
  PairEnded ended{a.end(), b.end()};
  assassin.count(ended.a);
  assassin.count(ended.b);
  return ended;
}

Ended run_one(Assassin& assassin, const Arguments& arguments, std::chrono::milliseconds usual_time) {
  const Blow blow = assassin.next(usual_time);
  Process process(tinyot(), arguments);
  if (blow.hits_a || blow.hits_b) {
    std::this_thread::sleep_for(blow.after);
    process.signal(SIGKILL);
  }
  Ended ended = process.end();
  assassin.count(ended);
  return ended;
}

}  // namespace tinyot::test
