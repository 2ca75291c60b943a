// Operations that take several officers: who counts, and when they go on.
#include "service/key_quorum.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <set>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/hex.h"
#include "full_audit.h"
#include "service/key_failed.h"
#include "tests/support/becomes_true.h"
#include "tests/support/files.h"
#include "tests/support/small_disk.h"

namespace tinyot::test {
namespace {

using service::Caller;
using service::KeyAudit;
using service::KeyCall;
using service::KeyFailed;
using service::KeyFailure;
using service::KeyQuorum;
using Agreed = std::optional<custody::RequestId>;

Caller officer_of(uid_t number, std::vector<gid_t> groups = {}) {
  return {number, std::move(groups), {}};
}

class KeyQuorumTest : public ::testing::Test {
 protected:
  ~KeyQuorumTest() override { quorum_.stop(); }

  KeyCall call_of(const Caller& caller) {
    return {.caller = caller,
            .is_officer = true,
            .is_gone =
                [this] {
                  ++looks_;
                  return is_gone_.load();
                },
            .may_manage_keys =
                [this](const Caller& of) {
                  const std::lock_guard lock(mutex_);
                  return !no_officers_.contains(of.user.value_or(0));
                }};
  }
  void dismiss(uid_t officer) {
    const std::lock_guard lock(mutex_);
    no_officers_.insert(officer);
  }
  std::future<Agreed> ask(const Caller& caller) {
    auto asked = std::async(std::launch::async, [this, caller] {
      return quorum_.await(call_of(caller), {.operation = "destroy", .label = "data"});
    });
    EXPECT_TRUE(becomes_true([&] { return !quorum_.waiting().empty(); }));
    return asked;
  }
  // What becomes of it; the test fails if nothing does.
  static Agreed outcome_of(std::future<Agreed>& asked, KeyQuorum& of) {
    const auto has_ended = [&] {
      return asked.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    };
    EXPECT_TRUE(becomes_true(has_ended, std::chrono::seconds(20)));
    if (!has_ended()) of.stop();
    return asked.get();
  }
  Agreed outcome_of(std::future<Agreed>& asked) { return outcome_of(asked, quorum_); }
  custody::RequestId number() const { return quorum_.waiting().at(0).id; }
  // Whoever has asked has looked, and waits.
  void expect_waits() {
    const int before = looks_;
    EXPECT_TRUE(becomes_true([&] { return looks_ >= before + 2; }));
    EXPECT_EQ(quorum_.waiting().size(), 1u);
  }
  std::size_t officers() const { return quorum_.waiting().at(0).officers.size(); }
  static KeyFailure failure_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const KeyFailed& failed) {
      return failed.why();
    }
    ADD_FAILURE() << "it does not fail";
    return KeyFailure::Cheated;
  }
  // What the log has of its lines.
  std::size_t lines_with(const std::string& text) const {
    const std::string log = read_file(directory_ / "audit");
    std::size_t count = 0;
    for (std::size_t at = 0; (at = log.find(text, at)) != std::string::npos; ++at) ++count;
    return count;
  }

  const TestDirectory directory_;
  KeyAudit audit_{directory_ / "audit"};
  std::atomic<bool> is_gone_ = false;
  std::atomic<int> looks_ = 0;
  std::mutex mutex_;
  std::set<uid_t> no_officers_;
  KeyQuorum quorum_{"bob", 3, std::chrono::hours(1), audit_};
};

TEST_F(KeyQuorumTest, OneOfficerIsEnoughUnlessItTakesMore) {
  KeyQuorum one("bob", 1, std::chrono::hours(1), audit_);
  EXPECT_EQ(one.await(call_of(officer_of(1)), {.operation = "destroy"}), std::nullopt);
  EXPECT_EQ(audit_.head().sequence, 0u);
}

TEST_F(KeyQuorumTest, GoesOnOnceEnoughOfficersHaveConfirmed) {
  auto asked = ask(officer_of(1));
  const auto id = number();
  const KeyQuorum::Waiting shown = quorum_.waiting().at(0);
  EXPECT_EQ(shown.step.operation, "destroy");
  EXPECT_EQ(shown.step.label, "data");
  EXPECT_EQ(shown.quorum, 3u);
  EXPECT_TRUE(quorum_.decide(officer_of(2), id, true));
  EXPECT_EQ(officers(), 2u);
  expect_waits();
  EXPECT_TRUE(quorum_.decide({{}, {}, "audit"}, id, true));
  EXPECT_EQ(outcome_of(asked), id);
  EXPECT_TRUE(quorum_.waiting().empty());
  // Once: nothing is left that another one confirms.
  EXPECT_FALSE(quorum_.decide(officer_of(4), id, true));
  EXPECT_EQ(lines_with("\"operation\":\"ask\""), 1u);
  EXPECT_EQ(lines_with("\"operation\":\"approve\""), 2u);
  EXPECT_EQ(lines_with("operation " + hex_of(id) + ": destroy"), 3u);
}

TEST_F(KeyQuorumTest, AnOfficerCountsOnce) {
  auto asked = ask(officer_of(1));
  const auto id = number();
  const auto confirm = [&](const Caller& officer) { (void)quorum_.decide(officer, id, true); };
  EXPECT_EQ(failure_of([&] { confirm(officer_of(1, {7})); }), KeyFailure::Refused);
  confirm(officer_of(2));
  EXPECT_EQ(failure_of([&] { confirm(officer_of(2, {7})); }), KeyFailure::Refused);
  EXPECT_EQ(officers(), 2u);
  // At the same time.
  std::vector<std::future<void>> calls;
  for (int i = 0; i < 8; ++i)
    calls.push_back(std::async(std::launch::async, [&] {
      try {
        confirm(officer_of(2));
      } catch (const KeyFailed&) {
      }
    }));
  for (auto& call : calls) call.get();
  EXPECT_EQ(officers(), 2u);
  confirm(officer_of(3));
  EXPECT_EQ(outcome_of(asked), id);
}

TEST_F(KeyQuorumTest, AnOfficerWhoConfirmsTwiceAtOnceCountsOnce) {
  KeyQuorum many("bob", 16, std::chrono::hours(1), audit_);
  auto asked = std::async(std::launch::async, [&] {
    return many.await(call_of(officer_of(1)), {.operation = "destroy", .label = "data"});
  });
  EXPECT_TRUE(becomes_true([&] { return !many.waiting().empty(); }));
  const auto id = many.waiting().at(0).id;
  constexpr int kCalls = 8;
  std::latch all(kCalls);
  std::vector<std::jthread> calls;
  for (int i = 0; i < kCalls; ++i)
    calls.emplace_back([&] {
      all.arrive_and_wait();
      try {
        many.decide(officer_of(2), id, true);
      } catch (const KeyFailed&) {
        // It has confirmed it already.
      }
    });
  calls.clear();
  EXPECT_EQ(many.waiting().at(0).officers.size(), 2u);
  many.stop();
  EXPECT_THROW((void)asked.get(), KeyFailed);
}

TEST_F(KeyQuorumTest, WhoIsNoOfficerAnyMoreDoesNotCount) {
  auto asked = ask(officer_of(1));
  const auto id = number();
  EXPECT_TRUE(quorum_.decide(officer_of(2), id, true));
  dismiss(2);
  EXPECT_TRUE(quorum_.decide(officer_of(3), id, true));
  expect_waits();
  EXPECT_TRUE(quorum_.decide(officer_of(4), id, true));
  EXPECT_EQ(outcome_of(asked), id);
  auto without = ask(officer_of(1));
  dismiss(1);
  EXPECT_EQ(failure_of([&] { (void)outcome_of(without); }), KeyFailure::Unavailable);
  EXPECT_TRUE(quorum_.waiting().empty());
}

TEST_F(KeyQuorumTest, OneOfficerDeniesIt) {
  auto asked = ask(officer_of(1));
  const auto id = number();
  EXPECT_TRUE(quorum_.decide(officer_of(2), id, true));
  EXPECT_TRUE(quorum_.decide(officer_of(3), id, false));
  EXPECT_EQ(failure_of([&] { (void)outcome_of(asked); }), KeyFailure::Refused);
  EXPECT_EQ(lines_with("\"operation\":\"deny\""), 1u);
}

TEST_F(KeyQuorumTest, EndsWithItsClientItsTimeAndTheDaemon) {
  auto gone = ask(officer_of(1));
  is_gone_ = true;
  EXPECT_EQ(failure_of([&] { (void)outcome_of(gone); }), KeyFailure::Unavailable);
  is_gone_ = false;
  KeyQuorum at_once("bob", 2, std::chrono::seconds(0), audit_);
  auto late = std::async(std::launch::async, [&] {
    return at_once.await(call_of(officer_of(1)), {.operation = "destroy"});
  });
  EXPECT_EQ(failure_of([&] { (void)outcome_of(late, at_once); }), KeyFailure::TimedOut);
  auto stopped = ask(officer_of(1));
  quorum_.stop();
  EXPECT_EQ(failure_of([&] { (void)outcome_of(stopped); }), KeyFailure::Unavailable);
  EXPECT_TRUE(quorum_.waiting().empty());
  EXPECT_EQ(
      failure_of([&] { (void)quorum_.await(call_of(officer_of(1)), {.operation = "destroy"}); }),
      KeyFailure::Unavailable);
}

// So that the others have places, too.
TEST_F(KeyQuorumTest, AnOfficerHasAPartOfThePlaces) {
  std::vector<std::future<Agreed>> asked;
  for (std::size_t i = 0; i < 4; ++i) {
    asked.push_back(ask(officer_of(1)));
    ASSERT_TRUE(becomes_true([&] { return quorum_.waiting().size() == i + 1; }));
  }
  auto more = ask(officer_of(1));
  EXPECT_EQ(failure_of([&] { (void)outcome_of(more); }), KeyFailure::Full);
  asked.push_back(ask(officer_of(2)));
  quorum_.stop();
  for (auto& each : asked)
    EXPECT_EQ(failure_of([&] { (void)each.get(); }), KeyFailure::Unavailable);
}

// Also if they are asked for at once, while each is put into the log.
TEST_F(KeyQuorumTest, PlacesThatAreTakenAtOnceAreLimited) {
  constexpr int kCalls = 16;
  std::latch all(kCalls);
  std::atomic<int> full = 0, stopped = 0;
  std::vector<std::jthread> calls;
  for (int i = 0; i < kCalls; ++i)
    calls.emplace_back([&] {
      all.arrive_and_wait();
      try {
        (void)quorum_.await(call_of(officer_of(1)), {.operation = "destroy", .label = "data"});
      } catch (const KeyFailed& failed) {
        ++(failed.why() == KeyFailure::Full ? full : stopped);
      }
    });
  EXPECT_TRUE(becomes_true(
      [&] { return quorum_.waiting().size() + static_cast<std::size_t>(full) == kCalls; }));
  quorum_.stop();
  calls.clear();
  EXPECT_EQ(full, kCalls - 4);
  EXPECT_EQ(stopped, 4);
}

TEST_F(KeyQuorumTest, PlacesAreLimited) {
  constexpr std::size_t kAll = 16, kOfOfficer = 4;
  std::vector<std::future<Agreed>> asked;
  for (std::size_t i = 0; i < kAll; ++i) {
    asked.push_back(ask(officer_of(static_cast<uid_t>(i / kOfOfficer))));
    ASSERT_TRUE(becomes_true([&] { return quorum_.waiting().size() == i + 1; }));
  }
  auto more = ask(officer_of(100));
  EXPECT_EQ(failure_of([&] { (void)outcome_of(more); }), KeyFailure::Full);
  // Whoever has left makes room.
  EXPECT_TRUE(quorum_.decide(officer_of(99), number(), false));
  ASSERT_TRUE(becomes_true([&] { return quorum_.waiting().size() < kAll; }));
  asked.push_back(ask(officer_of(100)));
  quorum_.stop();
  for (auto& each : asked) EXPECT_THROW((void)each.get(), KeyFailed);
}

// Of a step, the log and the others see the key, the size and the details.
TEST_F(KeyQuorumTest, LogSaysWhatIsConfirmed) {
  custody::KeyId key;
  key.bytes.fill(std::byte{0xab});
  auto asked = std::async(std::launch::async, [&] {
    return quorum_.await(
        call_of(officer_of(1)),
        {.operation = "import", .key = key, .bytes = 32, .details = "aead aes256"});
  });
  ASSERT_TRUE(becomes_true([&] { return !quorum_.waiting().empty(); }));
  const auto id = number();
  for (const uid_t officer : {2, 3}) EXPECT_TRUE(quorum_.decide(officer_of(officer), id, true));
  EXPECT_EQ(outcome_of(asked), id);
  EXPECT_EQ(lines_with("\"key\":\"" + custody::text_of(key) + "\",\"bytes\":32"), 3u);
  EXPECT_EQ(lines_with("operation " + hex_of(id) + ": import, aead aes256"), 3u);
}

// Without a way to know who is an officer nobody counts.
TEST_F(KeyQuorumTest, NobodyCountsIfOfficersAreNotKnown) {
  KeyCall call = call_of(officer_of(1));
  call.may_manage_keys = nullptr;
  EXPECT_EQ(failure_of([&] { (void)quorum_.await(call, {.operation = "destroy"}); }),
            KeyFailure::Unavailable);
}

TEST_F(KeyQuorumTest, AConfirmationThatIsNotInTheLogDoesNotCount) {
  const SmallDisk disk(directory_ / "disk", 64 << 10);
  if (!disk.is_mounted()) GTEST_SKIP() << "this process may not mount";
  KeyAudit audit(directory_ / "disk" / "audit");
  KeyQuorum quorum("bob", 2, std::chrono::hours(1), audit);
  auto asked = std::async(std::launch::async, [&] {
    return quorum.await(call_of(officer_of(1)), {.operation = "destroy"});
  });
  ASSERT_TRUE(becomes_true([&] { return !quorum.waiting().empty(); }));
  const auto id = quorum.waiting().at(0).id;
  write_file(directory_ / "disk" / "rest", std::string(64 << 10, 'x'));
  fill_audit(audit);
  EXPECT_THROW((void)quorum.decide(officer_of(2), id, true), StoreError);
  EXPECT_EQ(quorum.waiting().at(0).officers.size(), 1u);
  EXPECT_THROW((void)quorum.await(call_of(officer_of(3)), {.operation = "destroy"}), StoreError);
  quorum.stop();
  EXPECT_EQ(failure_of([&] { (void)outcome_of(asked); }), KeyFailure::Unavailable);
}

}  // namespace
}  // namespace tinyot::test
