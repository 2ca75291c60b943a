// A leading peer that says of its store, in refills, what is not so.
#include <cstring>
#include <functional>

#include "base/error.h"
#include "net/message_tags.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

// The numbers of units with which `store.status` begins (engine/synchronise).
struct SentUnits {
  std::uint64_t made = 0, unlocked = 0;
};

class ClaimedStoreTest : public ScriptedPeerTest {
 protected:
  // A refill in which the `number`-th status of the peer's store, from 1, is another one.
  void refill_with(int number, const std::function<void(SentUnits&)>& change) {
    int statuses = 0;
    const OnSend on_send = [&](const Outgoing& message) {
      if (message.tag != net::message_tag("store.status").id || ++statuses != number) return;
      SentUnits units;
      std::memcpy(&units, message.payload.data(), sizeof units);
      change(units);
      std::memcpy(message.payload.data(), &units, sizeof units);
    };
    EXPECT_THROW((void)peer_->refill(peer_->accepted_order(1), on_send), Error);
    EXPECT_EQ(statuses, number);
  }
  std::string refills(const std::string& outcome) {
    return honest().metric("tinyot_refills_total{outcome=\"" + outcome + "\"");
  }
};

// A failure at this party would stop the refills until the operator has found its cause.
TEST_F(ClaimedStoreTest, RefillsGoOnAfterAWrongStatus) {
  start_with_stock(Party::A, {}, {});
  refill_with(1, [](SentUnits& units) { units.unlocked = ++units.made; });
  EXPECT_TRUE(becomes_true([&] { return refills("failed") == "1"; }));
  EXPECT_EQ(honest().client().peer().refills_stopped(), "");
  EXPECT_EQ(peer_->refill(peer_->accepted_order(1)).ands, 0u);
}

// What both have made is lost at both, again and again: each time the pause is longer, as of a
// refill that failed.
TEST_F(ClaimedStoreTest, LossOfUnitsThatHaveBeenMadeIsAFailure) {
  Setup setup;
  make_with_scripted(Party::A, setup, {});
  b_->start();
  peer_->connect();
  refill_with(2, [](SentUnits& units) { units.made = units.unlocked; });
  EXPECT_TRUE(becomes_true([&] { return refills("failed") == "1"; }));
  EXPECT_EQ(refills("done"), "0");
  EXPECT_EQ(honest().client().ands_left(), 0u);
  EXPECT_EQ(honest().client().peer().refills_stopped(), "");
  EXPECT_GT(peer_->refill(peer_->accepted_order(1)).ands, 0u);
}

}  // namespace
}  // namespace tinyot::test
