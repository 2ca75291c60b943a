// A leading daemon begins jobs on material that both parties have, by what each says of its own.
#include <functional>

#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

class ClaimedStockTest : public ScriptedPeerTest {
 protected:
  void SetUp() override {
    start_with_stock(Party::B, {}, {});
    peer_->send_stock({});
    peer_->send(submitted("job"));
    wait_until_read();
    ASSERT_EQ(state("job"), v1::QUEUED);
  }
  // Of the stock of the scripted peer, one thing is different.
  void expect_not_begun_with(const std::function<void(wire::Session&)>& change) {
    wire::Message claim = peer_->stock_of({1});
    change(*claim.mutable_stock()->mutable_sessions(0));
    peer_->send(claim);
    wait_until_read();
    EXPECT_EQ(state("job"), v1::QUEUED);
    peer_->send_stock({1});
    EXPECT_TRUE(becomes_true([&] { return state("job") == v1::RUNNING; }));
  }
};

TEST_F(ClaimedStockTest, SessionOfAnotherId) {
  expect_not_begun_with([](wire::Session& session) { session.set_id("another"); });
}

TEST_F(ClaimedStockTest, SessionOfAnotherNumber) {
  expect_not_begun_with([](wire::Session& session) { session.set_number(2); });
}

TEST_F(ClaimedStockTest, TooFewAnds) {
  expect_not_begun_with([](wire::Session& session) { session.set_ands(1); });
}

}  // namespace
}  // namespace tinyot::test
