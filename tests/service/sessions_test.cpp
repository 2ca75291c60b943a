// Sessions on disk: what a restart counts, what is recorded at their end, and what is filled.
#include "service/sessions.h"

#include <gtest/gtest.h>

#include "engine/plan.h"
#include "tests/storage/store_support.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class SessionsTest : public StoreTest {
 protected:
  // A session with a unit that was broken off, in the place where the daemon looks for it.
  void make_session(std::uint64_t number, const FastParameters& own = {}) {
    ParameterRequest parameters;
    parameters.profile = Profile::Fast;
    parameters.own = own;
    parameters.unit = 1024;
    Manifest manifest = security_of(offline::SecurityParameters::make(parameters), {});
    manifest.session_id = test_manifest(Party::A).session_id;
    manifest.me = Party::A;
    Store store = Store::create(place(number), manifest, kTestDelta, 0);
    store.begin_unit({0, {1024, 4}, kRisk});
  }
  std::filesystem::path place(std::uint64_t number) const {
    return dir_ / ("00000" + std::to_string(number));
  }
  SessionRecord record() const { return SessionRecord(dir_ / "record", {}); }
  // A directory is in the place of the file that is to become the record.
  std::filesystem::path in_the_way() const { return dir_ / "record.new"; }

  static constexpr Risk kRisk{{1 << 20, 0, 0}};
};

// Also one that was there before, as after its files have been brought back.
TEST_F(SessionsTest, DirectoryIsOfTheOwnerAlone) {
  namespace fs = std::filesystem;
  fs::create_directories(dir_);
  fs::permissions(dir_, fs::perms::owner_all | fs::perms::group_all | fs::perms::others_read);
  const Sessions sessions(dir_, {}, {});
  EXPECT_EQ(fs::status(dir_).permissions(), fs::perms::owner_all);
}

// By a process that ended before it had made the store.
TEST_F(SessionsTest, SessionThatWasNotMadeCompletelyIsRemoved) {
  std::filesystem::create_directories(place(2));
  make_session(1);
  write_file(place(2) / "keys", "left");
  const Sessions sessions(dir_, {}, {});
  EXPECT_TRUE(std::filesystem::exists(place(1)));
  EXPECT_FALSE(std::filesystem::exists(place(2)));
}

// Its log would be lost with its directory.
TEST_F(SessionsTest, RiskOfEndedSessionIsNotForgotten) {
  std::filesystem::create_directories(dir_);
  for (const std::uint64_t number : {1, 2}) make_session(number);
  Sessions sessions(dir_, {}, {});
  std::filesystem::create_directory(in_the_way());
  Store::open(place(1), {.purpose = Purpose::Own}).revoke("for a test");
  for (int i = 0; i < 3; ++i) {
    ::testing::internal::CaptureStderr();
    (void)sessions.stock();
    EXPECT_TRUE(sessions.retire_below(3).empty());
    const std::string log = ::testing::internal::GetCapturedStderr();
    // For each session once.
    const std::string event = "end of session cannot be recorded";
    const std::size_t at = log.find(event);
    EXPECT_EQ(at != std::string::npos, i == 0) << log;
    EXPECT_EQ(i == 0 && log.find(event, at + 1) != std::string::npos, i == 0) << log;
    for (const std::uint64_t number : {1, 2})
      EXPECT_TRUE(std::filesystem::exists(place(number))) << number;
  }
  EXPECT_EQ(record().total({}), Risk{});
  const std::vector<RevokedSession> revoked = sessions.take_revoked();
  ASSERT_EQ(revoked.size(), 1u);
  EXPECT_EQ(revoked[0].reason, "for a test");
  std::filesystem::remove(in_the_way());
  EXPECT_EQ(sessions.retire_below(3).size(), 2u);
  EXPECT_EQ(record().total({}), kRisk + kRisk);
  for (const std::uint64_t number : {1, 2}) EXPECT_FALSE(std::filesystem::exists(place(number)));
}

// The peer may have broken off units since the daemon last read the log, which goes with its store.
TEST_F(SessionsTest, RiskAtTheEndIsThatOfAllAttempts) {
  std::filesystem::create_directories(dir_);
  for (const std::uint64_t number : {1, 2}) make_session(number);
  Sessions sessions(dir_, {}, {});
  EXPECT_EQ(sessions.open_risk(), kRisk + kRisk);
  for (const std::uint64_t number : {1, 2})
    Store::open(place(number), {.purpose = Purpose::Make}).begin_unit({0, {1024, 4}, kRisk});
  EXPECT_EQ(sessions.retire_below(2).size(), 1u);
  EXPECT_EQ(record().total({}), kRisk + kRisk);
  Store::open(place(2)).revoke("for a test");
  EXPECT_TRUE(sessions.stock().empty());
  EXPECT_EQ(record().total({}), kRisk + kRisk + kRisk + kRisk);
}

// The end of a session may be recorded before its directory has gone: its risk counts once.
TEST_F(SessionsTest, RiskOfASessionCountsOnce) {
  std::filesystem::create_directories(dir_);
  for (const std::uint64_t number : {1, 2}) make_session(number);
  record().add_ended(1, kRisk);
  Sessions sessions(dir_, {}, {});
  EXPECT_EQ(sessions.open_risk(), kRisk);
  EXPECT_EQ(sessions.record().total(sessions.open_risk()), kRisk + kRisk);
  EXPECT_EQ(sessions.retire_below(3).size(), 2u);
  EXPECT_EQ(sessions.open_risk(), Risk{});
  EXPECT_EQ(record().total({}), kRisk + kRisk);
  // The record does not grow with the sessions.
  for (const std::uint64_t number : {1, 2}) EXPECT_FALSE(record().has_ended(number)) << number;
}

// What an operator has retired is no session that a check has ended, of which alerts tell.
TEST_F(SessionsTest, RetiredSessionIsNotToldAsRevoked) {
  std::filesystem::create_directories(dir_);
  for (const std::uint64_t number : {1, 2}) make_session(number);
  Sessions sessions(dir_, {}, {});
  sessions.record().set_first_active_session(2);
  for (const std::uint64_t number : {1, 2})
    Store::open(place(number), {.purpose = Purpose::Own}).revoke("for a test");
  EXPECT_TRUE(sessions.stock().empty());
  const auto revoked = sessions.take_revoked();
  ASSERT_EQ(revoked.size(), 1u);
  EXPECT_EQ(revoked[0].number, 2u);
}

// From the moment that a check has failed, nothing begins in the session: its keys are erased next,
// and then the reason is written.
TEST_F(SessionsTest, SessionOfAFailedCheckIsNoStock) {
  std::filesystem::create_directories(dir_);
  for (const std::uint64_t number : {1, 2}) make_session(number);
  Sessions sessions(dir_, {}, {});
  ASSERT_EQ(sessions.stock().size(), 2u);
  const Store failed = Store::open(place(1));
  failed.announce_revocation();
  const auto stock = sessions.stock();
  ASSERT_EQ(stock.size(), 1u);
  EXPECT_EQ(stock[0].number, 2u);
  EXPECT_EQ(sessions.take_revoked().size(), 1u);
}

// Otherwise a daemon that is restarted some times in a day begins no session any more.
// The evaluations of the session have to end, whatever was logged of its store before.
TEST_F(SessionsTest, RevocationIsToldOfAStoreThatCouldNotBeReadBefore) {
  std::filesystem::create_directories(dir_);
  make_session(1);
  Sessions sessions(dir_, {}, {});
  std::filesystem::rename(place(1), dir_ / "moved");
  std::filesystem::create_symlink(place(1).filename(), place(1));  // of itself
  EXPECT_TRUE(sessions.stock().empty());
  EXPECT_TRUE(sessions.take_revoked().empty());
  std::filesystem::remove(place(1));
  std::filesystem::rename(dir_ / "moved", place(1));
  Store::open(place(1), {.purpose = Purpose::Own}).revoke("for a test");
  (void)sessions.stock();
  EXPECT_EQ(sessions.take_revoked().size(), 1u);
}

TEST_F(SessionsTest, RestartsCountASessionOnce) {
  std::filesystem::create_directories(dir_);
  const auto refusal_after_start = [&] {
    Sessions sessions(dir_, {}, {.sessions_per_day = 3});
    return sessions.record().refusal_to_begin(BeginsBy::OwnAccount, SessionRecord::Clock::now());
  };
  // The process ended before it had recorded them.
  for (const std::uint64_t number : {1, 2}) make_session(number);
  for (int start = 0; start < 5; ++start) EXPECT_EQ(refusal_after_start(), std::nullopt) << start;
  EXPECT_EQ(record().last_number(), 2u);
  make_session(3);
  EXPECT_NE(refusal_after_start(), std::nullopt);
}

// Material of other parameters than today's serves runs, but a refill would be refused by its
// store.
TEST_F(SessionsTest, StoreWithOtherParametersIsNotFilled) {
  std::filesystem::create_directories(dir_);
  make_session(1);
  make_session(2, {.softspoken_k = 4});
  Sessions sessions(dir_, {}, {});
  const auto stock = sessions.stock();
  ASSERT_EQ(stock.size(), 2u);
  EXPECT_TRUE(stock[0].has_room);
  EXPECT_FALSE(stock[1].has_room);
}

// An earlier release has made it. Its material serves runs, and the operator is warned.
TEST_F(SessionsTest, SessionOfARetiredSetIsToldAndNotFilled) {
  std::filesystem::create_directories(dir_);
  make_session(1);
  make_session(2, {.abits = BitsFrom::Silent, .silent_set = LpnSet::S13});
  ::testing::internal::CaptureStderr();
  Sessions sessions(dir_, {}, {});
  const auto stock = sessions.stock();
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_EQ(stock.size(), 2u);
  EXPECT_EQ(stock[0].retired, nullptr);
  EXPECT_TRUE(stock[0].has_room);
  EXPECT_EQ(stock[1].retired, offline::find_retired(LpnSet::S13));
  EXPECT_FALSE(stock[1].has_room);
  const std::string event = "session of a retired parameter set";
  const std::size_t at = log.find(event);
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_NE(log.find("use b12", at), std::string::npos) << log;
  EXPECT_EQ(log.find(event, at + 1), std::string::npos) << log;
}

// Each refill would be refused by its account of units.
TEST_F(SessionsTest, StoreWhoseUnitsWouldTakeTooMuchMemoryIsNotFilled) {
  std::filesystem::create_directories(dir_);
  ParameterRequest parameters;
  parameters.profile = Profile::Wan;
  parameters.unit = std::uint64_t{1} << 18;
  const auto params = offline::SecurityParameters::make(parameters);
  const UnitPlan unit = params.plan(params.unit()).front();
  Risk spent = params.risk_limit();
  spent -= params.risk({unit.ands, unit.bucket.only() + 1});  // a larger bucket fits
  Manifest manifest = security_of(params, {});
  manifest.session_id = test_manifest(Party::A).session_id;
  manifest.me = Party::A;
  Store::create(place(1), manifest, kTestDelta, 0).begin_unit({0, unit, spent});
  const auto has_room = [&](std::uint64_t refill_threads) {
    Sessions sessions(dir_, {}, {}, refill_threads);
    return sessions.stock().at(0).has_room;
  };
  EXPECT_TRUE(has_room(1));
  EXPECT_FALSE(has_room(16));
}

// As if its place were empty, the numbers of its sessions and their risks would be free again.
TEST_F(SessionsTest, DirectoryThatCannotBeReadIsNotEmpty) {
  std::filesystem::create_directories(dir_);
  make_session(1);
  Sessions sessions(dir_, {}, {});
  EXPECT_EQ(sessions.open_risk(), kRisk);
  const std::filesystem::path moved = dir_.string() + ".moved";
  std::filesystem::rename(dir_, moved);
  EXPECT_THROW(sessions.stock(), StoreError);
  EXPECT_THROW(sessions.open_risk(), StoreError);
  EXPECT_THROW(sessions.retire_below(3), StoreError);
  std::filesystem::rename(moved, dir_);
  EXPECT_EQ(sessions.stock().size(), 1u);
  EXPECT_EQ(sessions.open_risk(), kRisk);
}

// Before its first start a daemon has none.
TEST_F(SessionsTest, CheckAcceptsDirectoryThatIsNotThereYet) {
  EXPECT_NO_THROW(Sessions::check(dir_ / "not made", {}));
  write_file(dir_.string() + ".file", "");
  EXPECT_THROW(Sessions::check(dir_.string() + ".file", {}), StoreError);
}

// A store that is there, but cannot be reached, counts with all that a session may risk.
TEST_F(SessionsTest, StoreThatCannotBeSeenIsNotAbsent) {
  std::filesystem::create_directories(dir_);
  make_session(1);
  Sessions sessions(dir_, {}, {});
  std::filesystem::rename(place(1), dir_ / "moved");
  std::filesystem::create_symlink(place(1).filename(), place(1));  // of itself
  EXPECT_THROW(Store::exists(place(1)), StoreError);
  sessions.refilled(1);
  EXPECT_GT(sessions.open_risk(), kRisk);
}

}  // namespace
}  // namespace tinyot::test
