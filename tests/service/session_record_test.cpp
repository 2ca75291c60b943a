// What a daemon remembers of its sessions with a peer, and the turns of refills.
#include "service/session_record.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "service/foreign_text.h"
#include "service/log_rate.h"
#include "service/refill_slots.h"
#include "service/sessions.h"
#include "storage/store_files.h"
#include "tests/support/files.h"

namespace tinyot::service {
namespace {

using namespace std::chrono_literals;

class SessionRecordTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return directory_ / "record"; }
  SessionRecord open(std::uint32_t per_day = 4) const {
    return SessionRecord(file(), {.sessions_per_day = per_day, .sigma = 40});
  }
  static bool may_begin(const SessionRecord& record, BeginsBy by,
                        SessionRecord::Clock::time_point at) {
    return !record.refusal_to_begin(by, at).has_value();
  }

  const test::TestDirectory directory_;
  const SessionRecord::Clock::time_point now_ = SessionRecord::Clock::now();
};

TEST_F(SessionRecordTest, SessionsOfADayAreLimitedAlsoAfterARestart) {
  for (std::uint64_t number = 1; number <= 4; ++number) {
    SessionRecord record = open();
    ASSERT_TRUE(may_begin(record, BeginsBy::OwnAccount, now_));
    record.add_begun(number, BeginsBy::OwnAccount, now_);
  }
  const SessionRecord record = open();
  EXPECT_EQ(record.last_number(), 4u);
  const auto refusal = record.refusal_to_begin(BeginsBy::OwnAccount, now_ + 23h);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_NE(refusal->find("sessions_per_day"), std::string::npos);
  EXPECT_TRUE(may_begin(record, BeginsBy::OwnAccount, now_ + 24h));
}

TEST_F(SessionRecordTest, HalfOfThemMayBeginByAClaim) {
  SessionRecord record = open();
  record.add_begun(1, BeginsBy::PeersClaim, now_);
  EXPECT_TRUE(may_begin(record, BeginsBy::PeersClaim, now_));
  record.add_begun(2, BeginsBy::PeersClaim, now_);
  EXPECT_FALSE(may_begin(record, BeginsBy::PeersClaim, now_));
  EXPECT_FALSE(may_begin(open(), BeginsBy::PeersClaim, now_));
  EXPECT_TRUE(may_begin(record, BeginsBy::OwnAccount, now_));
}

// With few sessions a day, too, a peer that has lost its disk gets one.
TEST_F(SessionRecordTest, OneMayBeginByAClaim) {
  SessionRecord record = open(1);
  EXPECT_TRUE(may_begin(record, BeginsBy::PeersClaim, now_));
  record.begin(1, BeginsBy::PeersClaim, now_);
  EXPECT_FALSE(may_begin(record, BeginsBy::PeersClaim, now_));
}

// Sessions that are found without a record are not found in order.
TEST_F(SessionRecordTest, LastNumberIsTheHighest) {
  SessionRecord record = open();
  for (const std::uint64_t number : {3, 1}) record.add_begun(number, BeginsBy::OwnAccount, now_);
  EXPECT_EQ(record.last_number(), 3u);
  EXPECT_EQ(open().last_number(), 3u);
}

// Of all words.
TEST_F(SessionRecordTest, RiskIsKeptAsItWas) {
  const Risk ended{{1, 2, 3}}, open_one{{4, 5, 6}};
  open().add_ended(1, ended);
  EXPECT_EQ(open().total({}), ended);
  open().resume(open_one);
  EXPECT_EQ(open().total({}), ended);
}

TEST_F(SessionRecordTest, ClockThatIsSetBackForgetsNothing) {
  SessionRecord record = open(1);
  record.add_begun(1, BeginsBy::OwnAccount, now_);
  EXPECT_FALSE(may_begin(record, BeginsBy::OwnAccount, now_ - 1000h));
}

TEST_F(SessionRecordTest, RisksOfEndedSessionsAddUp) {
  const Risk of_one = risk_limit(40, 1);
  for (std::uint64_t number = 1; number <= 15; ++number) open().add_ended(number, of_one);
  EXPECT_FALSE(open().refusal_to_refill({}).has_value());
  // What is open now counts too.
  const auto refusal = open().refusal_to_refill(of_one + of_one);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_NE(refusal->find("2^-35.9"), std::string::npos) << *refusal;
  open().add_ended(16, of_one);
  open().add_ended(17, of_one);
  EXPECT_TRUE(open().refusal_to_refill({}).has_value());
}

// Its directory may be there still when the daemon is started again.
TEST_F(SessionRecordTest, RiskOfAnEndedSessionCountsOnce) {
  const Risk of_one = risk_limit(40, 1);
  for (int i = 0; i < 100; ++i) open().add_ended(1, of_one);
  EXPECT_TRUE(open().has_ended(1));
  EXPECT_EQ(open().total({}), of_one);
  open().removed(1);
  EXPECT_FALSE(open().has_ended(1));
  EXPECT_EQ(open().total({}), of_one);
}

// Between the order of a refill and its answer, what allowed it may have changed.
TEST_F(SessionRecordTest, NumberBeginsOnceAndWithinTheLimit) {
  SessionRecord record = open(2);
  record.begin(3, BeginsBy::OwnAccount, now_);
  for (const std::uint64_t number : {1, 3})
    EXPECT_THROW(record.begin(number, BeginsBy::OwnAccount, now_), Disagreement);
  record.begin(4, BeginsBy::OwnAccount, now_);
  EXPECT_THROW(record.begin(5, BeginsBy::OwnAccount, now_), Disagreement);
  EXPECT_EQ(open(2).last_number(), 4u);
}

// A store that cannot be read says nothing of its units.
TEST_F(SessionRecordTest, SessionThatCannotBeReadHasAllRiskOfOne) {
  Sessions sessions(directory_ / "peer", std::nullopt, {.sigma = 40});
  EXPECT_EQ(sessions.open_risk(), Risk{});
  std::filesystem::create_directory(sessions.path_of(1));
  test::write_file(storage::StoreFiles(sessions.path_of(1)).database, "not a store");
  EXPECT_TRUE(sessions.stock().empty());
  EXPECT_EQ(sessions.open_risk(), risk_limit(40, 1));
}

TEST_F(SessionRecordTest, OperatorResumes) {
  SessionRecord record = open(1);
  record.add_begun(1, BeginsBy::OwnAccount, now_);
  record.add_ended(1, risk_limit(30, 1));
  ASSERT_TRUE(record.refusal_to_refill({}).has_value());
  record.resume({});
  EXPECT_FALSE(open(1).refusal_to_refill({}).has_value());
  EXPECT_TRUE(may_begin(open(1), BeginsBy::OwnAccount, now_));
  // From then on as much may be risked as from the beginning.
  record.add_ended(2, risk_limit(30, 1));
  EXPECT_TRUE(open(1).refusal_to_refill({}).has_value());
  EXPECT_EQ(open(1).last_number(), 1u);
}

TEST_F(SessionRecordTest, RetirementIsKept) {
  SessionRecord record = open();
  record.set_first_active_session(7);
  record.set_first_active_session(3);
  EXPECT_EQ(open().first_active_session(), 7u);
}

TEST_F(SessionRecordTest, DamagedRecordIsNotTakenForAnEmptyOne) {
  test::write_file(file(), "begun { at_");
  EXPECT_THROW(open(), StoreError);
}

// Nor one that is there and cannot be seen.
TEST_F(SessionRecordTest, RecordThatCannotBeSeenIsNotTakenForAnEmptyOne) {
  std::filesystem::create_symlink(file().filename(), file());  // of itself
  EXPECT_THROW(open(), StoreError);
}

TEST_F(SessionRecordTest, BeginningsOfDaysBeforeAreNotKept) {
  for (int day = 0; day < 5; ++day)
    open().add_begun(static_cast<std::uint64_t>(day + 1), BeginsBy::OwnAccount, now_ + day * 24h);
  const std::string text = test::read_file(file());
  EXPECT_EQ(text.find("begun"), text.rfind("begun")) << text;
  EXPECT_EQ(open().last_number(), 5u);
}

// The directories of sessions that were never begun are removed, too.
TEST_F(SessionRecordTest, NothingIsWrittenOfASessionThatHasNotEnded) {
  SessionRecord record = open();
  record.add_ended(1, {});
  std::filesystem::create_directory(file().string() + ".new");  // in the way of a change
  EXPECT_NO_THROW(record.removed(2));
  EXPECT_THROW(record.removed(1), StoreError);
  EXPECT_TRUE(record.has_ended(1));
}

class RefillSlotsTest : public ::testing::Test {
 protected:
  std::unique_ptr<RefillSlots::Slot> take(RefillSlots::Clock::time_point now) {
    return slots_.take(
        "peer", moved_,
        [this](RefillSlots::End end) { ++(end == RefillSlots::End::AtOnce ? ended_ : asked_); },
        now);
  }
  RefillSlots slots_{1};
  ByteCount moved_;
  int ended_ = 0, asked_ = 0;  // to end at once, and after the unit
  const RefillSlots::Clock::time_point now_ = RefillSlots::Clock::now();
};

TEST_F(RefillSlotsTest, SlotIsFreeAfterItsRefill) {
  auto slot = take(now_);
  EXPECT_NE(slot, nullptr);
  EXPECT_EQ(take(now_), nullptr);
  slot.reset();
  EXPECT_NE(take(now_), nullptr);
  EXPECT_EQ(ended_, 0);
}

TEST_F(RefillSlotsTest, SlowRefillEndsOnceAnotherWaits) {
  const auto slot = take(now_);
  moved_.sent = RefillSlots::kLeastRate * 30 - 1;
  EXPECT_EQ(take(now_ + 29s), nullptr);
  EXPECT_EQ(ended_, 0);
  EXPECT_EQ(take(now_ + 30s), nullptr);
  EXPECT_EQ(ended_, 1);
}

// What it has moved earlier does not pay for the time since then.
TEST_F(RefillSlotsTest, RefillThatStallsLaterEnds) {
  const auto slot = take(now_);
  for (int i = 1; i < 3; ++i) {
    moved_.received += RefillSlots::kLeastRate * 3600;
    EXPECT_EQ(take(now_ + i * 30s), nullptr);
  }
  EXPECT_EQ(ended_, 0);
  EXPECT_EQ(take(now_ + 90s), nullptr);
  EXPECT_EQ(ended_, 1);
}

TEST_F(RefillSlotsTest, FastRefillHasItsTurn) {
  const auto slot = take(now_);
  for (int i = 1; i < 20; ++i) {
    moved_.sent += RefillSlots::kLeastRate * 30;
    EXPECT_EQ(take(now_ + i * 30s), nullptr);
  }
  EXPECT_EQ(ended_, 0);
  moved_.sent += RefillSlots::kLeastRate * 30;
  EXPECT_EQ(take(now_ + RefillSlots::kTurn), nullptr);
  EXPECT_EQ(ended_, 0);
  EXPECT_EQ(asked_, 1);
}

// A peer that asks again at once after its refill does not get the slot before those that wait.
TEST_F(RefillSlotsTest, FreeSlotGoesToThePeerThatHasWaitedLongest) {
  const auto of = [&](const std::string& peer, RefillSlots::Clock::time_point now) {
    return slots_.take(
        peer, moved_, [](RefillSlots::End) {}, now);
  };
  auto slot = of("first", now_);
  EXPECT_EQ(of("second", now_ + 1s), nullptr);
  slot.reset();
  EXPECT_EQ(of("first", now_ + 1s), nullptr);
  slot = of("second", now_ + 2s);
  EXPECT_NE(slot, nullptr);
  slot.reset();
  EXPECT_NE(of("first", now_ + 3s), nullptr);
  // One that no longer asks is not waited for.
  slot = of("second", now_ + 4s);
  EXPECT_EQ(of("third", now_ + 4s), nullptr);
  slot.reset();
  EXPECT_NE(of("second", now_ + 10s), nullptr);
}

// Of a party that leads, while its peer answers.
TEST_F(RefillSlotsTest, PlaceIsKeptUntilTheSlotIsTaken) {
  const auto of = [&](const std::string& peer, RefillSlots::Clock::time_point now) {
    return slots_.take(
        peer, moved_, [](RefillSlots::End) {}, now);
  };
  EXPECT_TRUE(slots_.is_turn_of("first", now_));
  EXPECT_EQ(of("second", now_ + 1s), nullptr);
  EXPECT_FALSE(slots_.is_turn_of("third", now_ + 1s));
  auto slot = of("first", now_ + 2s);
  EXPECT_NE(slot, nullptr);
  slot.reset();
  EXPECT_FALSE(slots_.is_turn_of("first", now_ + 3s)) << "the second has waited longer";
  // A peer that does not answer keeps it no longer.
  EXPECT_TRUE(slots_.is_turn_of("second", now_ + 4s));
  EXPECT_NE(of("fourth", now_ + 4s + RefillSlots::kWaitRenewal + 1s), nullptr);
}

// Its peer declines, again and again.
TEST_F(RefillSlotsTest, PeerThatTakesNoSlotLeaves) {
  EXPECT_TRUE(slots_.is_turn_of("first", now_));
  EXPECT_FALSE(slots_.is_turn_of("second", now_));
  slots_.leave("first");
  EXPECT_FALSE(slots_.is_turn_of("first", now_ + 1s));
  EXPECT_TRUE(slots_.is_turn_of("second", now_ + 1s));
}

class RefillSlotsOfPeersTest : public RefillSlotsTest {
 protected:
  using Slot = std::unique_ptr<RefillSlots::Slot>;
  // Counts by peer how often its refill is asked to end.
  Slot take(RefillSlots& slots, const std::string& peer, RefillSlots::Clock::duration at) {
    return slots.take(
        peer, moved_, [this, peer](RefillSlots::End) { ++ends_[peer]; }, now_ + at);
  }
  std::map<std::string, int> ends_;
};

// Each asks again at once after its refill, the one that has had the slot before the other.
TEST_F(RefillSlotsOfPeersTest, TwoPeersTakeTurns) {
  const std::string peers[] = {"first", "second"};
  Slot slot = take(slots_, peers[0], 0s);
  ASSERT_NE(slot, nullptr);
  for (int turn = 1; turn < 10; ++turn) {
    const std::string &had = peers[(turn + 1) % 2], &waits = peers[turn % 2];
    const auto at = turn * 3s;
    EXPECT_EQ(take(slots_, waits, at), nullptr);
    slot.reset();
    EXPECT_EQ(take(slots_, had, at + 1s), nullptr) << had << " has had the slot";
    slot = take(slots_, waits, at + 2s);
    EXPECT_NE(slot, nullptr) << waits << " has waited";
  }
}

TEST_F(RefillSlotsOfPeersTest, EachFreeSlotGoesToTheNextThatWaits) {
  RefillSlots slots(2);
  Slot first = take(slots, "first", 0s), second = take(slots, "second", 0s);
  EXPECT_EQ(take(slots, "third", 1s), nullptr);
  EXPECT_EQ(take(slots, "fourth", 2s), nullptr);
  first.reset();
  EXPECT_EQ(take(slots, "fourth", 3s), nullptr);
  // Both slots are free: one of them for the fourth, although it asks before the third.
  second.reset();
  const Slot fourth = take(slots, "fourth", 3s);
  EXPECT_NE(fourth, nullptr);
  EXPECT_EQ(take(slots, "first", 4s), nullptr);
  EXPECT_NE(take(slots, "third", 4s), nullptr);
}

TEST_F(RefillSlotsOfPeersTest, PlaceIsKeptByAsking) {
  const auto renewal = RefillSlots::kWaitRenewal;
  Slot slot = take(slots_, "first", 0s);
  EXPECT_EQ(take(slots_, "second", 0s), nullptr);
  EXPECT_EQ(take(slots_, "third", 1s), nullptr);
  EXPECT_EQ(take(slots_, "second", renewal), nullptr);
  slot.reset();
  EXPECT_EQ(take(slots_, "third", 2 * renewal), nullptr);
  // The second one has not asked in time.
  EXPECT_NE(take(slots_, "third", 2 * renewal + 1ns), nullptr);
}

// The others have not had theirs for as long.
TEST_F(RefillSlotsOfPeersTest, OnlyTheOldestRefillEndsAfterItsTurn) {
  RefillSlots slots(2);
  const Slot first = take(slots, "first", 0s), second = take(slots, "second", 1s);
  const auto ask_at = [&](RefillSlots::Clock::duration at) {
    moved_.sent += RefillSlots::kLeastRate * 3600;  // none of them is slow
    EXPECT_EQ(take(slots, "third", at), nullptr);
  };
  ask_at(RefillSlots::kTurn - 1s);
  EXPECT_TRUE(ends_.empty());
  ask_at(RefillSlots::kTurn);
  EXPECT_EQ(ends_, (std::map<std::string, int>{{"first", 1}}));
  ask_at(RefillSlots::kTurn + 2s);
  EXPECT_EQ(ends_.count("second"), 0u);
}

TEST_F(RefillSlotsOfPeersTest, EverySlowRefillEnds) {
  RefillSlots slots(2);
  const Slot first = take(slots, "first", 0s), second = take(slots, "second", 1s);
  EXPECT_EQ(take(slots, "third", 30s), nullptr);
  EXPECT_EQ(ends_, (std::map<std::string, int>{{"first", 1}}));
  EXPECT_EQ(take(slots, "third", 31s), nullptr);
  EXPECT_EQ(ends_, (std::map<std::string, int>{{"first", 1}, {"second", 1}}));
}

TEST(LogRateTest, SomeAtOnceThenOneASecond) {
  LogRate rate;
  const auto now = LogRate::Clock::now() + 1ms;
  std::uint64_t written = 0;
  for (int i = 0; i < 1000; ++i) written += rate.admit(now).has_value();
  EXPECT_EQ(written, LogRate::kAtOnce);
  EXPECT_EQ(rate.admit(now + 1s), 1000 - LogRate::kAtOnce);
  EXPECT_FALSE(rate.admit(now + 1s).has_value());
  EXPECT_EQ(rate.admit(now + 1h), 1u);
}

TEST(ForeignTextTest, IsShortAndPrintable) {
  EXPECT_EQ(foreign_text("a\n\x1b[31m\xff"), "a??[31m?");
  const std::string text = foreign_text(std::string(1 << 16, 'x'));
  EXPECT_EQ(text.size(), kForeignTextMax);
  EXPECT_TRUE(text.ends_with("x..."));
}

}  // namespace
}  // namespace tinyot::service
