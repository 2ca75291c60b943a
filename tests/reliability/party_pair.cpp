#include "tests/reliability/party_pair.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "net/tcp.h"
#include "tests/reliability/ledger.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kDigits = 16;  // of the inputs

std::string text_of(const std::optional<FaultPoint>& point, bool is_injected) {
  if (!point) return "";
  return std::string(", ") + name_of(point->fault) + " at byte " + std::to_string(point->at) +
         " from " + (point->direction == Direction::FromConnecting ? "B" : "A") +
         (is_injected ? "" : " (not reached)");
}

std::string hex_of(std::uint64_t value) {
  char text[kDigits + 1];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

const std::vector<Setting>& settings() {
  static const Arguments kFast = {"--ands", "2^12",      "--unit", "2^11",        "--inputs",
                                  "2^13",   "--profile", "fast",   "--allow-weak"};
  static const Arguments kPairs = {"--ands",          "2^10",       "--unit",      "2^9",
                                   "--inputs",        "2^11",       "--profile",   "nnob12",
                                   "--labit-columns", "experiment", "--allow-weak"};
  static const Arguments kWorkers = {"--ands",       "2^13",      "--unit",    "2^11",
                                     "--inputs",     "2^13",      "--profile", "fast",
                                     "--allow-weak", "--threads", "3"};
  static const std::vector<Setting> kSettings = {{"FastTcp", false, kFast},
                                                 {"FastTls", true, kFast},
                                                 {"PairsTcp", false, kPairs},
                                                 {"PairsTls", true, kPairs},
                                                 {"FastWorkersTls", true, kWorkers, 4}};
  return kSettings;
}

void for_each_at_once(std::uint64_t count, std::uint64_t at_once,
                      const std::function<void(std::uint64_t)>& body) {
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < std::min(count, at_once); ++i)
    threads.emplace_back([&] {
      for (std::uint64_t number = next++; number < count && !::testing::Test::HasFailure();
           number = next++)
        body(number);
    });
  for (std::thread& thread : threads) thread.join();
}

void NetworkTally::count(const PairEnded& ended, double seconds) {
  ++sessions;
  const std::lock_guard lock(mutex_);
  ++statuses_[ended.a.status];
  ++statuses_[ended.b.status];
  longest_s_ = std::max(longest_s_, seconds);
}

std::uint64_t NetworkTally::total_injected() const {
  std::uint64_t sum = 0;
  for (const auto& count : injected) sum += count;
  return sum;
}

void NetworkTally::print(const std::string& title, std::uint64_t seed) const {
  std::string text = title + ", seed " + std::to_string(seed) + ": " +
                     std::to_string(total_injected()) + " faults (";
  for (std::size_t i = 0; i < kNetworkFaults.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::string(name_of(kNetworkFaults[i])) + " " +
            std::to_string(injected[i]);
  text += ") in " + std::to_string(sessions) + " sessions; exit statuses";
  const std::lock_guard lock(mutex_);
  for (const auto& [status, count] : statuses_)
    text += " " + std::to_string(status) + ": " + std::to_string(count) + ",";
  std::printf(
      "%s longest session %.1f s; %llu outputs, all correct; restarts %llu, items served %llu, "
      "reused %llu\n",
      text.c_str(), longest_s_, static_cast<unsigned long long>(right.load()),
      static_cast<unsigned long long>(restarts.load()),
      static_cast<unsigned long long>(served.load()),
      static_cast<unsigned long long>(reused.load()));
}

PartyPair::PartyPair(const Setting& setting, NetworkTally& tally, std::uint64_t seed)
    : setting_(setting), tally_(tally), random_(seed) {
  if (!setting_.has_keys) return;
  for (const char* key : {"A.pem", "B.pem"})
    EXPECT_EQ(Process(tinyot(), {"keygen", "--out", (root_ / key).string()}).end().status, 0);
}

Arguments PartyPair::keys_of(char party) const {
  if (!setting_.has_keys) return {};
  const char peer = party == 'A' ? 'B' : 'A';
  return {"--key", (root_ / (std::string(1, party) + ".pem")).string(), "--peer-key",
          "@" + (root_ / (std::string(1, peer) + ".pem.crt")).string()};
}

Arguments PartyPair::arguments(char party, const std::string& command, const LinkSettings& link,
                               const Arguments& more) const {
  Arguments rest = {"--store", store_of(party).string()};
  for (const Arguments& part : {keys_of(party), more})
    rest.insert(rest.end(), part.begin(), part.end());
  return party_arguments(party, command, link, rest);
}

Traffic PartyPair::run_session(const std::string& command, const Arguments& of_a,
                               const Arguments& of_b, const Relay::Plan& plan,
                               std::initializer_list<int> others) {
  Relay::Plan seeded = plan;
  seeded.seed = random_();
  seeded.patience = std::chrono::seconds(3);
  const LoopbackPort reserved;
  const std::string& port = reserved.address().port;
  Relay relay(port, seeded);
  const LinkSettings link{port, relay.port(), kConnectTimeout, kIdleTimeout};
  const auto start = std::chrono::steady_clock::now();
  Process a(tinyot(), arguments('A', command, link, of_a), {}, std::chrono::seconds(kSessionMax));
  Process b(tinyot(), arguments('B', command, link, of_b), {}, std::chrono::seconds(kSessionMax));
  const bool is_disturbed = meanwhile_ != nullptr;
  if (is_disturbed) std::exchange(meanwhile_, nullptr)(a, b, relay);
  ended_ = {a.end(), b.end()};
  tally_.count(ended_,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  is_injected_ = relay.is_injected();
  if (is_injected_) ++tally_.injected[static_cast<std::size_t>(plan.fault_point->fault)];
  for (const Ended& party : {ended_.a, ended_.b}) {
    const bool is_allowed = party.status == 0 ||
                            (party.status == 3 && (is_injected_ || is_disturbed)) ||
                            std::ranges::find(others, party.status) != others.end();
    EXPECT_TRUE(is_allowed) << setting_.name << ", " << command
                            << text_of(plan.fault_point, is_injected_) << ": status "
                            << party.status << "\n"
                            << party.err;
  }
  return {relay.bytes(Direction::FromConnecting), relay.bytes(Direction::FromListening)};
}

Traffic PartyPair::preprocess(const Relay::Plan& plan) {
  const auto options = [&](char party) {
    Arguments all = setting_.preprocess;
    if (fs::exists(store_of(party))) all.push_back("--resume");
    return all;
  };
  const bool is_partial = fs::exists(store_of('A')) != fs::exists(store_of('B'));
  if (is_partial) remove_partial_start();
  return run_session("preprocess", options('A'), options('B'), plan);
}

// Only one of the parties had begun a store before a fault. That store has to be removed, as the
// error message says.
void PartyPair::remove_partial_start() {
  for (const char party : {'A', 'B'}) fs::remove_all(store_of(party));
  ++tally_.restarts;
}

Arguments PartyPair::run_arguments(char party, const std::string& input) const {
  return {"--circuit", "hamming:bits=" + std::to_string(4 * kDigits),
          "--input",   (party == 'A' ? "a=0x" : "b=0x") + input,
          "--ledger",  (root_ / ("ledger." + std::string(1, party))).string(),
          "--format",  "json"};
}

Traffic PartyPair::run(const Relay::Plan& plan) {
  const std::uint64_t a = random_(), b = random_();
  const Traffic traffic =
      run_session("run", run_arguments('A', hex_of(a)), run_arguments('B', hex_of(b)), plan, {5});
  is_short_ = false;
  for (const Ended& party : {ended_.a, ended_.b}) {
    if (party.status == 5) {
      EXPECT_NE(party.err.find("not enough material"), std::string::npos) << party.err;
      is_short_ = true;
    }
    if (party.status != 0) {
      EXPECT_EQ(party.out.find("\"outputs\":"), std::string::npos) << party.out;
      continue;
    }
    EXPECT_EQ(
        std::stoull(json::parse(party.out)["outputs"]["distance"].get<std::string>(), nullptr, 16),
        static_cast<std::uint64_t>(std::popcount(a ^ b)));
    ++tally_.right;
  }
  return traffic;
}

Traffic PartyPair::reserve(const Relay::Plan& plan) {
  const Arguments options = {"--circuit", "hamming:bits=8", "--reserve-only"};
  const Traffic traffic = run_session("run", options, options, plan, {5});
  is_short_ = ended_.a.status == 5 || ended_.b.status == 5;
  return traffic;
}

Traffic PartyPair::verify(const Relay::Plan& plan) {
  return run_session("store verify", {}, {}, plan);
}

void PartyPair::expect_consistent() {
  for (int attempt = 0; attempt < 3; ++attempt) {
    preprocess({});
    if (are_both_done()) break;
  }
  EXPECT_TRUE(are_both_done()) << ended_.a.err << ended_.b.err;
  run({});
  EXPECT_TRUE(are_both_done() || is_short_) << ended_.a.err << ended_.b.err;
  verify({});
  EXPECT_TRUE(are_both_done()) << ended_.a.out << ended_.a.err << ended_.b.out << ended_.b.err;
  Ledger ledger;
  for (const std::string party : {"A", "B"}) ledger.read(root_ / ("ledger." + party));
  EXPECT_EQ(ledger.reused(), 0u);
  tally_.reused += ledger.reused();
  tally_.served += ledger.served('A') + ledger.served('B');
}

}  // namespace tinyot::test
