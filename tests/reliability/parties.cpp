#include "tests/reliability/parties.h"

#include <signal.h>

#include <cstdlib>
#include <sstream>
#include <thread>

#include "net/tcp.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

// Seconds. In most attempts one party waits for a peer that was killed.
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

Kill Killer::next(std::chrono::milliseconds usual_time) {
  Kill kill;
  if (!has_kills_left() || random() % 8 == 0) return kill;
  const auto choice = random() % 3;
  kill.kills_a = choice != 1;
  kill.kills_b = choice != 0;
  kill.after = std::chrono::microseconds(
      random() % static_cast<std::uint64_t>(std::chrono::microseconds(usual_time).count()));
  return kill;
}

Arguments party_arguments(char party, const std::string& command, const LinkSettings& link,
                          const Arguments& rest) {
  Arguments all;
  std::istringstream words(command);
  for (std::string word; words >> word;) all.push_back(word);
  const bool listens = party == 'A';
  for (const std::string& more :
       {std::string("--party"), std::string(1, party),
        std::string(listens ? "--listen" : "--connect"),
        "127.0.0.1:" + (listens ? link.listen_port : link.connect_port),
        std::string("--connect-timeout"), std::to_string(link.connect_timeout),
        std::string("--idle-timeout"), std::to_string(link.idle_timeout), std::string("--quiet")})
    all.push_back(more);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

PairEnded run_pair(Killer& killer, const std::string& command, const Arguments& of_a,
                   const Arguments& of_b, std::chrono::milliseconds usual_time) {
  const LoopbackPort reserved;
  const std::string& port = reserved.address().port;
  const LinkSettings link{port, port, kConnectTimeoutOfPairs, kIdleTimeoutOfPairs};
  const Kill kill = killer.next(usual_time);
  Process a(tinyot(), party_arguments('A', command, link, of_a)),
      b(tinyot(), party_arguments('B', command, link, of_b));
  if (kill.kills_a || kill.kills_b) std::this_thread::sleep_for(kill.after);
  if (kill.kills_a) a.signal(SIGKILL);
  if (kill.kills_b) b.signal(SIGKILL);
  PairEnded ended{a.end(), b.end()};
  killer.count(ended.a);
  killer.count(ended.b);
  return ended;
}

Ended run_one(Killer& killer, const Arguments& arguments, std::chrono::milliseconds usual_time) {
  const Kill kill = killer.next(usual_time);
  Process process(tinyot(), arguments);
  if (kill.kills_a || kill.kills_b) {
    std::this_thread::sleep_for(kill.after);
    process.signal(SIGKILL);
  }
  Ended ended = process.end();
  killer.count(ended);
  return ended;
}

}  // namespace tinyot::test
