// The record of the sessions with a peer cannot be written, as on a disk that fails: a session that
// is not recorded does not begin, the daemon goes on with what it has, and says why.
#include <atomic>
#include <thread>

#include "base/error.h"
#include "engine/connection.h"
#include "service/session_record.h"
#include "storage/store.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

// In each reason.
constexpr const char* kCannotBeWritten = "record of the sessions with this peer cannot be written";

class UnwritableRecordTest : public ScriptedPeerTest {
 protected:
  fs::path stores() { return honest().stores() / peer_name(); }
  // A directory is in the place of the file that is to become the record.
  fs::path in_the_way() { return stores() / "record.new"; }
  void block() { fs::create_directories(in_the_way()); }
  void unblock() { fs::remove(in_the_way()); }

  Ended client(const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"client"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--server", "unix:" + honest().socket().string()});
    return Process(TINYOT_BINARY, all).end();
  }
  Ended resume() { return client({"resume", "--peer", peer_name()}); }
  bool says_why() { return client({"peers"}).out.find(kCannotBeWritten) != std::string::npos; }
  // As leader: no refill of the session succeeds, and after a first one none begins, unless the
  // disk has more room meanwhile.
  void expect_refused(std::uint64_t session) {
    wire::RefillAnswer answer;
    ASSERT_TRUE(becomes_true([&] {
      const wire::Refill order = peer_->refill_order(session);
      answer = peer_->order(order);
      if (answer.begins()) {
        EXPECT_THROW((void)peer_->refill(order), Error);
        fs::remove_all(peer_->store_of(session));
      }
      expect_no_store(session);
      return HasFailure() || answer.reason().find(kCannotBeWritten) != std::string::npos;
    })) << answer.reason();
    EXPECT_TRUE(says_why());
  }
  void expect_no_store(std::uint64_t session) {
    EXPECT_FALSE(storage::Store::exists(stores() / ("00000" + std::to_string(session))));
  }
  // It counts as one that has begun within this day, of this party's own account.
  void expect_recorded(std::uint64_t session) {
    using service::BeginsBy;
    using service::SessionRecord;
    const auto now = SessionRecord::Clock::now();
    const SessionRecord record(stores() / "record", {.sessions_per_day = 1});
    EXPECT_EQ(record.last_number(), session);
    EXPECT_TRUE(record.refusal_to_begin(BeginsBy::OwnAccount, now).has_value());
    const SessionRecord of_two(stores() / "record", {.sessions_per_day = 2});
    EXPECT_FALSE(of_two.refusal_to_begin(BeginsBy::PeersClaim, now).has_value());
  }
  void expect_in_log() {
    const Ended ended = honest().stop();
    EXPECT_EQ(ended.status, 0);
    EXPECT_NE(ended.err.find("\"refill failed\""), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find(kCannotBeWritten), std::string::npos) << ended.err;
  }
};

TEST_F(UnwritableRecordTest, FollowerBeginsNoSession) {
  make_with_scripted(Party::A, {}, {.low = 2000, .high = 5000});
  block();
  b_->start();
  peer_->connect();
  expect_refused(1);
  EXPECT_EQ(b_->metric("tinyot_refills_stopped{peer=\"alice\""), "1");
  expect_refused(2);
  const Ended refused = resume();
  EXPECT_NE(refused.status, 0);
  EXPECT_NE(refused.err.find(kCannotBeWritten), std::string::npos) << refused.err;
  expect_refused(1);

  unblock();
  EXPECT_EQ(resume().status, 0);
  EXPECT_GT(peer_->refill(peer_->accepted_order(1)).ands, 0u);
  expect_recorded(1);
  expect_in_log();
}

TEST_F(UnwritableRecordTest, LeaderBeginsNoSession) {
  make_with_scripted(Party::B, {}, {.low = 2000, .high = 5000});
  block();
  a_->start();
  peer_->connect();
  std::atomic<std::uint64_t> made{0};
  std::jthread follower([&](const std::stop_token& stop) {
    try {
      for (;;) {
        peer_->send_stock({});
        const wire::Refill order = peer_->next(wire::Message::kRefill).refill();
        EXPECT_EQ(order.session(), 1u);
        peer_->answer_refill(order, true);
        try {
          made += peer_->refill(order, {}, stop).ands;
          break;
        } catch (const Error&) {
          // The daemon does not record it.
          fs::remove_all(peer_->store_of(order.session()));
        }
      }
    } catch (const Error&) {
      // The link has ended.
    }
  });
  EXPECT_TRUE(becomes_true([&] { return says_why(); }));
  expect_no_store(1);
  EXPECT_NE(resume().status, 0);
  EXPECT_EQ(made, 0u);
  unblock();
  EXPECT_EQ(resume().status, 0);
  EXPECT_TRUE(becomes_true([&] { return made > 0; }));
  follower.request_stop();
  peer_->shut_down();
  follower.join();
  expect_recorded(1);
  expect_in_log();
}

// What needs no record goes on.
TEST_F(UnwritableRecordTest, JobsOfRecordedSessionAreEvaluated) {
  start_with_stock(Party::A, {}, {});
  block();
  expect_refused(2);
  peer_->send(submitted("job"));
  peer_->start_job("job");
  ScriptedPeer::Worker worker(*peer_, 1, 1);
  EXPECT_TRUE(worker.run("job", "millionaires").is_done);
  EXPECT_EQ(b_->client().result("job").job.state(), v1::DONE);
  expect_in_log();
}

// A daemon that has lost its record does not forget the sessions that are there.
TEST_F(UnwritableRecordTest, DaemonDoesNotStartUntilSessionIsRecorded) {
  make_with_scripted(Party::A, {}, {.low = 2000, .high = 5000});
  b_->start();
  peer_->connect();
  peer_->refill(peer_->accepted_order(1));
  b_->stop();
  fs::remove(stores() / "record");
  block();
  const Ended refused =
      Process(TINYOT_BINARY, {"serve", "--config", b_->configuration().string()}).end();
  EXPECT_NE(refused.status, 0);
  EXPECT_NE(refused.err.find(kCannotBeWritten), std::string::npos) << refused.err;
  unblock();
  b_->start();
  expect_recorded(1);
}

}  // namespace
}  // namespace tinyot::test
