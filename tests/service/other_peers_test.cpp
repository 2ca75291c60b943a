// A peer that keeps a daemon busy with its refill does not keep the daemon's other peers from
// theirs.
#include "tests/service/local_peers.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

class OtherPeersTest : public ScriptedPeerTest {
 protected:
  static constexpr const char* kLevels =
      " POLICY profile: 'fast' low { ands: 20000 } high { ands: 60000 } ";

  // The honest daemon's part for carol, whose daemon is not started yet.
  std::string with_carol(Party honest) {
    const std::string port = reserved_port();
    const auto peer = [&](const std::string& name, Party party) {
      return "peer { name: '" + name +
             "' party: " + (party == Party::A ? "A listen" : "B connect") + ": '127.0.0.1:" + port +
             "'" + kLevels + "}";
    };
    carol_ = std::make_unique<Daemon>(dir_ / "carol", "", peer("first", peer_of(honest)), kPolicy);
    return "\n" + peer("carol", honest);
  }
  void expect_carol_gets_stock(std::chrono::seconds patience) {
    carol_->start();
    EXPECT_TRUE(becomes_true([&] { return carol_->client().ands_left() > 0; }, patience));
  }
  // A, which leads, has one refill at a time.
  Setup one_at_a_time() {
    Setup setup;
    setup.other_peers_a = with_carol(Party::A);
    setup.daemon_a = "refills_at_once: 1";
    return setup;
  }
  // Beside A's other peer, which begins no refill, because it is busy or for another reason.
  void expect_carol_gets_stock_beside(bool is_busy, std::chrono::seconds patience) {
    peer_->connect();
    peer_->send_stock({});
    std::jthread answers([&] {
      try {
        for (;;) {
          wire::Message message;
          wire::RefillAnswer& answer = *message.mutable_refill_answer();
          answer.set_group(peer_->next(wire::Message::kRefill).refill().group());
          answer.set_is_busy(is_busy);
          peer_->send(message);
        }
      } catch (const Error&) {
        // The link has ended.
      }
    });
    expect_carol_gets_stock(patience);
    peer_->shut_down();
  }
  static bool is_refilling(const Daemon& daemon) {
    const v1::StockReply stock = daemon.client().stock();
    return stock.sessions_size() == 1 && stock.sessions(0).is_refilling();
  }

  std::unique_ptr<Daemon> carol_;
};

// An honest peer, with a configuration that would take days.
TEST_F(OtherPeersTest, SlowRefillDoesNotDelayOthers) {
  Setup setup;
  setup.other_peers_a = with_carol(Party::A);
  setup.daemon_b = "refill_bytes_per_s: 1000";
  make(setup);
  a_->start();
  b_->start();
  ASSERT_TRUE(becomes_true([&] { return is_refilling(*b_); }));
  expect_carol_gets_stock(std::chrono::seconds(60));
  b_->kill();
}

// If only one refill may run at a time, the slow one is broken off for the other.
TEST_F(OtherPeersTest, SlowRefillGivesWay) {
  Setup setup = one_at_a_time();
  setup.daemon_b = "refill_bytes_per_s: 10000";
  make(setup);
  LocalPeers a(*a_, {.refills = {.rate_interval = std::chrono::seconds(5)}});
  b_->start();
  ASSERT_TRUE(becomes_true([&] { return is_refilling(*b_); }));
  expect_carol_gets_stock(std::chrono::seconds(180));
  b_->kill();
}

// Shorter than the time for which a leader waits for the answer to its order.
constexpr auto kBeforeTheOrderIsGivenUp = std::chrono::seconds(20);

TEST_F(OtherPeersTest, UnansweredOrderDoesNotDelayOthers) {
  Setup setup;
  setup.other_peers_a = with_carol(Party::A);
  make_with_scripted(Party::B, setup, {});
  a_->start();
  peer_->connect();
  peer_->send_stock({});
  (void)peer_->next(wire::Message::kRefill);
  expect_carol_gets_stock(kBeforeTheOrderIsGivenUp);
}

// Its place among those that wait for a slot is not kept.
TEST_F(OtherPeersTest, DeclinedOrdersDoNotDelayOthers) {
  make_with_scripted(Party::B, one_at_a_time(), {});
  a_->start();
  expect_carol_gets_stock_beside(false, kBeforeTheOrderIsGivenUp);
}

// It keeps its place for some time, as its refills of others may end.
TEST_F(OtherPeersTest, BusyPeerDelaysOthersForSomeTimeOnly) {
  make_with_scripted(Party::B, one_at_a_time(), {});
  LocalPeers a(*a_, {.refills = {.busy = std::chrono::seconds(2)}});
  expect_carol_gets_stock_beside(true, std::chrono::seconds(60));
}

// The follower waits for the leader, which does not take part.
TEST_F(OtherPeersTest, OrderWithoutRefillDoesNotDelayOthers) {
  Setup setup;
  setup.other_peers_b = with_carol(Party::B);
  make_with_scripted(Party::A, setup, {});
  b_->start();
  peer_->connect();
  EXPECT_TRUE(peer_->order(peer_->refill_order(1)).begins());
  expect_carol_gets_stock(kBeforeTheOrderIsGivenUp);
}

}  // namespace
}  // namespace tinyot::test
