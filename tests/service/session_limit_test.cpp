// A peer that has new sessions begun again and again, to fill the disk or for further tries of what
// succeeds rarely: no more are begun than the configuration allows for a day, whoever leads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/risk.h"
#include "engine/connection.h"
#include "engine/top_up.h"
#include "storage/store.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSessionsPerDay = 3, kHigh = 5000;
// In the reason why no further session begins.
constexpr const char* kLimitText = "within 24 hours";

class SessionLimitTest : public ScriptedPeerTest {
 protected:
  // Only the honest party has the setting.
  void begin(Party scripted) {
    const std::string setting = "sessions_per_day: " + std::to_string(kSessionsPerDay);
    Setup setup;
    (scripted == Party::A ? setup.peer_b : setup.peer_a) = setting;
    make_with_scripted(scripted, setup, {.low = 2000, .high = kHigh});
  }
  // What an operator sees.
  std::string shown_peers() {
    Process client(TINYOT_BINARY,
                   {"client", "peers", "--server", "unix:" + honest().socket().string()});
    return client.end().out;
  }
  bool shows_limit() { return shown_peers().find(kLimitText) != std::string::npos; }
  std::size_t sessions_on_disk() {
    const fs::path directory = honest().stores() / peer_name();
    return static_cast<std::size_t>(
        std::count_if(fs::directory_iterator(directory), fs::directory_iterator(),
                      [](const fs::directory_entry& entry) { return entry.is_directory(); }));
  }
  // Orders one new session after the other, with a follower that begins so many in a day. Each
  // refill is broken off once the daemon has made the store, and before the first unit. Returns how
  // many begin until the daemon says that there are enough, and sets why.
  std::uint64_t begun_in_a_day(std::uint64_t sessions_per_day) {
    Setup setup;
    setup.peer_b = "sessions_per_day: " + std::to_string(sessions_per_day);
    make_with_scripted(Party::A, setup, {.low = 2000, .high = 5000});
    b_->start();
    peer_->connect();
    std::uint64_t begun = 0;
    EXPECT_TRUE(becomes_true([&] {
      const wire::Refill order = peer_->refill_order(begun + 1);
      const wire::RefillAnswer answer = peer_->order(order);
      reason_ = answer.reason();
      if (answer.begins()) {
        ++begun;
        EXPECT_THROW(peer_->refill(order,
                                   [&](const Outgoing& message) {
                                     if (message.tag == 0x3001) throw NetworkError("broken off");
                                   }),
                     Error);
        EXPECT_TRUE(becomes_true([&] { return has_session(begun); })) << begun;
      }
      return begun > sessions_per_day + 1 || reason_.find(kLimitText) != std::string::npos;
    })) << reason_;
    return begun;
  }
  // The honest daemon ends, and its log says why no further session is begun.
  void expect_limit_in_log() {
    const std::string log = honest().stop().err;
    EXPECT_NE(log.find(kLimitText), std::string::npos) << log;
  }

  std::string reason_;
};

MaterialCounts left_in(const fs::path& store) {
  return storage::Store::open(store, {.purpose = storage::Purpose::Inspect}).left();
}

// Of one party's half alone, which the other party learns in the next refill.
void use_up(const fs::path& directory, const std::vector<MaterialKind>& kinds) {
  storage::Store store = storage::Store::open(directory);
  MaterialCounts counts;
  for (const MaterialKind kind : kinds) counts[kind] = store.left()[kind];
  (void)store.grant({.counts = counts, .at_least = {}});
}

// Each refill is broken off where tries are left that succeed rarely, and the next one is ordered
// before that.
TEST_F(SessionLimitTest, LeaderGetsFewSessionsAndAPause) {
  begin(Party::A);
  std::uint64_t begun = 0;
  std::string reason;
  const auto order_next = [&] {
    wire::Message message;
    *message.mutable_refill() = peer_->refill_order(begun + 1);
    peer_->send(message);
    return message.refill();
  };
  const auto begins = [&] {
    const wire::RefillAnswer answer = peer_->next(wire::Message::kRefillAnswer).refill_answer();
    reason = answer.reason();
    return answer.begins();
  };
  for (const bool is_restarted : {false, true}) {
    if (is_restarted) b_->stop();
    b_->start();
    peer_->connect();
    ASSERT_TRUE(becomes_true([&] {
      const wire::Refill order = order_next();
      if (begins()) {
        ++begun;
        std::once_flag once;
        EXPECT_THROW(peer_->refill(order,
                                   [&](const Outgoing& message) {
                                     if (message.tag != kLeakyTripleG) return;
                                     std::call_once(once, [&] { order_next(); });
                                     throw NetworkError("broken off");
                                   }),
                     NetworkError);
        const bool is_followed = begins();
        EXPECT_FALSE(is_followed) << "without a pause";
        EXPECT_NE(reason, "");
        begun += is_followed;
      }
      return begun > kSessionsPerDay || reason.find(kLimitText) != std::string::npos;
    })) << reason;
    EXPECT_LE(begun, kSessionsPerDay);
    EXPECT_LE(sessions_on_disk(), kSessionsPerDay);
  }
  EXPECT_TRUE(shows_limit()) << shown_peers();
  expect_limit_in_log();
}

// Each is broken off before its first unit.
TEST_F(SessionLimitTest, LeaderThatBreaksRefillsOffWaitsLongerForEach) {
  begin(Party::A);
  b_->start();
  peer_->connect();
  // The pauses are 1, 2 and 4 s.
  std::chrono::steady_clock::time_point broken_off;
  for (int i = 0; i < 3; ++i)
    EXPECT_THROW(peer_->refill(peer_->accepted_order(1),
                               [&](const Outgoing& message) {
                                 if (message.tag != 0x3001) return;
                                 broken_off = std::chrono::steady_clock::now();
                                 throw NetworkError("broken off");
                               }),
                 Error);
  const wire::Refill order = peer_->accepted_order(1);
  EXPECT_GE(std::chrono::steady_clock::now() - broken_off, std::chrono::seconds(3));
  EXPECT_NO_THROW((void)peer_->refill(order));
}

// Who waits for an alert relies on this time.
TEST_F(SessionLimitTest, TimeOfTheLastSuccessIsOfNoRefillThatFailed) {
  begin(Party::A);
  b_->start();
  peer_->connect();
  const auto time = [&] {
    return b_->metric("tinyot_last_refill_success_timestamp_seconds{peer=\"alice\"}");
  };
  const auto count = [&](const std::string& outcome) {
    return b_->metric("tinyot_refills_total{outcome=\"" + outcome + "\",peer=\"alice\"}");
  };
  const auto fail = [&](const std::string& times) {
    EXPECT_THROW(peer_->refill(peer_->accepted_order(1),
                               [](const Outgoing& message) {
                                 if (message.tag == 0x3001) throw NetworkError("broken off");
                               }),
                 Error);
    EXPECT_TRUE(becomes_true([&] { return count("failed") == times; })) << count("failed");
  };
  fail("1");
  EXPECT_EQ(time(), "");
  (void)peer_->refill(peer_->accepted_order(1));
  EXPECT_TRUE(becomes_true([&] { return count("done") == "1" && !time().empty(); }));
  const std::string before = time();
  fail("2");
  EXPECT_EQ(time(), before);
}

// The record of a peer whose sessions have ended with as much risk as is allowed: one more unit
// that is broken off is too much, whatever becomes of its session, until the operator has decided.
TEST_F(SessionLimitTest, RiskOfAllSessionsStopsRefills) {
  begin(Party::A);
  const fs::path directory = b_->stores() / "alice";
  fs::create_directories(directory);
  std::string ended;
  for (const std::uint64_t word : risk_limit(36, 1).words)
    ended += " word: " + std::to_string(word);
  write_file(directory / "record", "ended {" + ended + " }\n");
  std::string reason;
  const auto is_stopped = [&](std::uint64_t session) {
    return becomes_true([&] {
      reason = peer_->order(peer_->refill_order(session)).reason();
      return reason.find("operator") != std::string::npos;
    });
  };
  b_->start();
  peer_->connect();
  EXPECT_THROW(peer_->refill(peer_->accepted_order(1),
                             [](const Outgoing& message) {
                               if (message.tag == kLeakyTripleG) throw NetworkError("broken off");
                             }),
               NetworkError);
  EXPECT_TRUE(is_stopped(1)) << reason;
  EXPECT_TRUE(is_stopped(2)) << reason;
  ASSERT_TRUE(b_->client().retire("alice").ok());
  EXPECT_TRUE(becomes_true([&] { return !has_session(1); }));
  EXPECT_TRUE(is_stopped(2)) << reason;
  b_->stop();
  b_->start();
  peer_->connect();
  EXPECT_TRUE(is_stopped(2)) << reason;
  EXPECT_NE(shown_peers().find(reason), std::string::npos) << shown_peers();
  EXPECT_EQ(b_->metric("tinyot_refills_stopped{peer=\"alice\""), "1");

  const Ended resumed = Process(TINYOT_BINARY, {"client", "resume", "--peer", "alice", "--server",
                                                "unix:" + b_->socket().string()})
                            .end();
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_NO_THROW((void)peer_->refill(peer_->accepted_order(2)));
  EXPECT_TRUE(becomes_true([&] { return b_->client().ands_left() > 0; }));
}

// A leader that orders further refills of the session although its stock, as it says, is full.
class UsedUpTest : public SessionLimitTest {
 protected:
  // Uses up material of these kinds after each refill.
  void refill_and_use_up(const std::vector<MaterialKind>& kinds) {
    peer_->refill(peer_->accepted_order(1));
    peer_->send_stock({1});
    use_up(peer_->store_of(1), kinds);
  }
  std::uint64_t ands_of_honest() {
    return left_in(b_->stores() / "alice" / "000001")[MaterialKind::Triples];
  }
};

// The honest party learns it only once the refill has begun.
TEST_F(UsedUpTest, LeaderThatKeepsItsInputsGetsNoMoreAnds) {
  begin(Party::A);
  b_->start();
  peer_->connect();
  for (int i = 0; i < 2; ++i) refill_and_use_up({MaterialKind::Triples});
  EXPECT_EQ(ands_of_honest(), 2 * kHigh);
  EXPECT_THROW((void)peer_->refill(peer_->accepted_order(1)), Error);
  EXPECT_EQ(ands_of_honest(), 2 * kHigh);
  EXPECT_TRUE(
      becomes_true([&] { return b_->metric("tinyot_refills_total{outcome=\"failed\"") == "1"; }));
  (void)b_->client().peer();  // once the refill has said why it has failed
  const std::string log = b_->stop().err;
  EXPECT_NE(log.find("the peer claims to have less left than"), std::string::npos) << log;
}

// The honest party has twice high of both kinds, whatever the leader's stock is: no refill begins.
TEST_F(UsedUpTest, LeaderThatUsesUpEverythingGetsNoMore) {
  begin(Party::A);
  b_->start();
  peer_->connect();
  for (int i = 0; i < 2; ++i)
    refill_and_use_up({MaterialKind::Triples, MaterialKind::AuthBitsA, MaterialKind::AuthBitsB});
  wire::RefillAnswer answer;
  EXPECT_TRUE(becomes_true([&] {
    answer = peer_->order(peer_->refill_order(1));
    return answer.begins() || answer.reason().find("in stock") != std::string::npos;
  }));
  EXPECT_FALSE(answer.begins());
  EXPECT_EQ(ands_of_honest(), 2 * kHigh);
}

// What a follower claims of the sessions that it has.
enum class Claim { kNothingLeft, kNoSessions, kNoAnds, kNoInputs };

class ClaimTest : public SessionLimitTest, public ::testing::WithParamInterface<Claim> {
 protected:
  ~ClaimTest() override { stop_following(); }

  // Takes part in all refills, on a thread of its own.
  void follow() {
    peer_->connect();
    send_claim();
    follower_ = std::jthread([this](const std::stop_token& stop) {
      try {
        for (;;) {
          const wire::Refill order = peer_->next(wire::Message::kRefill).refill();
          begun_.insert(order.session());
          begun_count_ = begun_.size();
          peer_->answer_refill(order, true);
          try {
            ids_[order.session()] = peer_->refill(order, {}, stop).store.session;
          } catch (const Error&) {
            // The daemon had reasons to end it.
          }
          send_claim();
        }
      } catch (const Error&) {
        // The link has ended.
      }
    });
  }
  void stop_following() {
    follower_.request_stop();
    if (peer_) peer_->shut_down();
    if (follower_.joinable()) follower_.join();
  }
  // As in a stock that is empty, or lost; or one kind of material is used up, without the other
  // party.
  void send_claim() {
    wire::Message message;
    wire::Stock& stock = *message.mutable_stock();
    for (const auto& [number, id] : ids_) {
      stock.set_last_session(number);
      if (GetParam() == Claim::kNoSessions) continue;
      wire::Session& session = *stock.add_sessions();
      session.set_number(number);
      session.set_id(short_name(id));
      if (GetParam() == Claim::kNothingLeft) continue;
      const bool has_ands = GetParam() == Claim::kNoInputs;
      use_up(peer_->store_of(number), {has_ands ? MaterialKind::AuthBitsB : MaterialKind::Triples});
      const engine::Demand left =
          engine::capacity_of(left_in(peer_->store_of(number)), AndMaterial::Triples);
      EXPECT_EQ(has_ands ? left.inputs : left.ands, 0u);
      session.set_ands(left.ands);
      session.set_inputs(left.inputs);
      session.set_has_room(true);
    }
    peer_->send(message);
  }

  // By the number of sessions, or by what this party has in stock already.
  bool are_stopped() { return shown_peers().find("no refills: ") != std::string::npos; }

  std::map<std::uint64_t, std::string> ids_;
  std::set<std::uint64_t> begun_;  // sessions, of the follower's thread
  std::atomic<std::uint64_t> begun_count_{0};
  std::jthread follower_;
};

TEST_P(ClaimTest, FollowerGetsFewSessions) {
  begin(Party::B);
  for (const bool is_restarted : {false, true}) {
    if (is_restarted) {
      stop_following();
      a_->stop();
    }
    a_->start();
    follow();
    ASSERT_TRUE(becomes_true([&] { return begun_count_ > kSessionsPerDay || are_stopped(); }))
        << shown_peers();
    EXPECT_LE(begun_count_, kSessionsPerDay);
    EXPECT_LE(sessions_on_disk(), kSessionsPerDay);
    if (GetParam() == Claim::kNoAnds || GetParam() == Claim::kNoInputs) {
      const engine::Demand stock =
          engine::capacity_of(left_in(a_->stores() / "bob" / "000001"), AndMaterial::Triples);
      EXPECT_LE(stock.ands, 2 * kHigh);
      EXPECT_LE(stock.inputs, 2 * default_inputs(kHigh));
    }
  }
  EXPECT_TRUE(are_stopped());
  EXPECT_NE(honest().stop().err.find("\"refills stopped\""), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(SessionLimitTest, ClaimTest,
                         ::testing::Values(Claim::kNothingLeft, Claim::kNoSessions, Claim::kNoAnds,
                                           Claim::kNoInputs));

TEST_F(SessionLimitTest, SessionsBrokenOffBeforeTheirFirstUnitCount) {
  const std::uint64_t begun = begun_in_a_day(2);
  EXPECT_LE(begun, 2u);
  // Neither a restart nor the number makes them forgotten.
  b_->stop();
  b_->start();
  peer_->connect();
  EXPECT_NE(peer_->order(peer_->refill_order(begun + 1)).reason().find("within 24 hours"),
            std::string::npos);
}

// The first one can be filled: the others begin because the peer will have it so.
TEST_F(SessionLimitTest, SessionsBeforeWhichOneCanBeFilledAreClaimsOfThePeer) {
  EXPECT_EQ(begun_in_a_day(4), 3u);
  EXPECT_NE(reason_.find("the peer has claimed 2 times"), std::string::npos) << reason_;
}

// Numbers only increase. A peer may be ahead, as if this party had lost its disk, but it leaves
// numbers for further sessions.
TEST_F(SessionLimitTest, PeerUsesUpNoNumbersOfSessions) {
  make_with_scripted(Party::B, {}, {.low = 2000, .high = kHigh});
  a_->start();
  peer_->connect();
  wire::Message message;
  message.mutable_stock()->set_last_session(~std::uint64_t{0});
  peer_->send(message);
  const wire::Refill order = peer_->next(wire::Message::kRefill).refill();
  EXPECT_EQ(order.session(), (std::uint64_t{1} << 20) + 1);
}

// Nor does a leader by orders.
TEST_F(SessionLimitTest, LeaderUsesUpNoNumbersOfSessions) {
  begin(Party::A);
  b_->start();
  peer_->connect();
  constexpr std::uint64_t kAhead = std::uint64_t{1} << 20;
  for (const std::uint64_t number : {kAhead + 2, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    const wire::RefillAnswer answer = peer_->order(peer_->refill_order(number));
    EXPECT_FALSE(answer.begins()) << number;
    EXPECT_EQ(answer.reason(), "session " + std::to_string(number) + " is too far ahead");
  }
  EXPECT_NO_THROW((void)peer_->refill(peer_->accepted_order(1)));
}

// The session is revoked while a leader waits for the answer to its order.
TEST_F(SessionLimitTest, NumberOfARevokedSessionIsNotUsedAgain) {
  Setup setup;
  setup.peer_a = "sessions_per_day: 1";
  make_with_scripted(Party::B, setup, {.low = 2000, .high = kHigh});
  a_->start();
  peer_->connect();
  peer_->send_stock({});
  wire::Refill order = peer_->next(wire::Message::kRefill).refill();
  peer_->answer_refill(order, true);
  const PreprocessResult made = peer_->refill(order);
  wire::Message message;
  wire::Session& session = *message.mutable_stock()->add_sessions();
  session.set_number(1);
  session.set_id(short_name(made.store.session));
  session.set_has_room(true);
  message.mutable_stock()->set_last_session(1);
  peer_->send(message);
  order = peer_->next(wire::Message::kRefill).refill();
  ASSERT_EQ(order.session(), 1u);
  const fs::path store = a_->stores() / "bob" / "000001";
  storage::Store::open(store).revoke("for a test");
  EXPECT_TRUE(becomes_true([&] { return (void)a_->client().peer(), !fs::exists(store); }));
  fs::remove_all(peer_->store_of(1));
  peer_->answer_refill(order, true);
  EXPECT_THROW((void)peer_->refill(order), Error);
  EXPECT_FALSE(fs::exists(store));
  // A refill that is cut off by the end of the daemon has not failed.
  EXPECT_TRUE(becomes_true(
      [&] { return a_->metric("tinyot_refills_total{outcome=\"failed\",peer=\"bob\"}") == "1"; }));
  EXPECT_NE(a_->stop().err.find("session 1 has ended"), std::string::npos);
}

}  // namespace
}  // namespace tinyot::test
