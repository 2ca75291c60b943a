#include "tests/reliability/parties.h"

#include <signal.h>

#include <cstdlib>
#include <sstream>
#include <thread>

#include "tests/support/layers.h"
#include "tests/support/ports.h"

namespace tinyot::test {
namespace {

// Seconds. Most attempts end with a party that waits for one who was killed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kConnectTimeoutOfPairs = 5, kIdleTimeoutOfPairs = 20;
#else
constexpr int kConnectTimeoutOfPairs = 1, kIdleTimeoutOfPairs = 5;
#endif

}  // namespace

std::string tinyot() {
  const char* other = std::getenv("TINYOT_BINARY");
  return other == nullptr ? TINYOT_BINARY : other;
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

Blow Assassin::next(std::chrono::milliseconds usual_time) {
  Blow blow;
  if (!has_kills_left() || random() % 8 == 0) return blow;
  const auto whom = random() % 3;
  blow.hits_a = whom != 1;
  blow.hits_b = whom != 0;
  blow.after = std::chrono::microseconds(
      random() % static_cast<std::uint64_t>(std::chrono::microseconds(usual_time).count()));
  return blow;
}

Arguments party_arguments(char party, const std::string& command, const SynchroniseFor& meeting,
                          const Arguments& rest) {
  Arguments all;
  std::istringstream words(command);
  for (std::string word; words >> word;) all.push_back(word);
  const bool listens = party == 'A';
  for (const std::string& more :
       {std::string("--party"), std::string(1, party),
        std::string(listens ? "--listen" : "--connect"),
        "127.0.0.1:" + (listens ? meeting.listen_port : meeting.connect_port),
        std::string("--connect-timeout"), std::to_string(meeting.connect_timeout),
        std::string("--idle-timeout"), std::to_string(meeting.idle_timeout),
        std::string("--quiet")})
    all.push_back(more);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

PairEnded run_pair(Assassin& assassin, const std::string& command, const Arguments& of_a,
                   const Arguments& of_b, std::chrono::milliseconds usual_time) {
  const std::string port = quiet_port();
  const SynchroniseFor meeting{port, port, kConnectTimeoutOfPairs, kIdleTimeoutOfPairs};
  const Blow blow = assassin.next(usual_time);
  Process a(tinyot(), party_arguments('A', command, meeting, of_a)),
      b(tinyot(), party_arguments('B', command, meeting, of_b));
  if (blow.hits_a || blow.hits_b) std::this_thread::sleep_for(blow.after);
  if (blow.hits_a) a.signal(SIGKILL);
  if (blow.hits_b) b.signal(SIGKILL);
  PairEnded ended{a.end(), b.end()};
  assassin.count(ended.a);
  assassin.count(ended.b);
  return ended;
}

Ended run_one(Assassin& assassin, const Arguments& arguments,
              std::chrono::milliseconds usual_time) {
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
