// What a reader as the adversary has found.
#include <fstream>
#include <mutex>

#include "base/error.h"
#include "engine/connection.h"
#include "storage/store.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

std::uint64_t memory_in_use(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
  return 0;
}

class AdversaryTest : public ScriptedPeerTest {};

// Each refill is broken off once the daemon has made the store of a new session, and before the
// first unit.
TEST_F(AdversaryTest, SessionsBrokenOffBeforeTheirFirstUnitCount) {
  constexpr std::uint64_t kPerDay = 2;
  Setup setup;
  setup.peer_b = "sessions_per_day: 2";
  make_with_scripted(Party::A, setup, {.low = 2000, .high = 5000});
  b_->start();
  peer_->connect();
  std::uint64_t begun = 0;
  std::string reason;
  EXPECT_TRUE(becomes_true([&] {
    const wire::Refill order = peer_->refill_order(begun + 1);
    const wire::RefillAnswer answer = peer_->order(order);
    reason = answer.reason();
    if (answer.begins()) {
      ++begun;
      EXPECT_THROW(peer_->refill(order,
                                 [&](const Outgoing& message) {
                                   if (message.tag == 0x3001) throw NetworkError("broken off");
                                 }),
                   Error);
      EXPECT_TRUE(becomes_true([&] { return has_session(begun); })) << begun;
    }
    return begun > kPerDay + 1 || reason.find("within 24 hours") != std::string::npos;
  })) << reason;
  EXPECT_LE(begun, kPerDay);
  std::ifstream record(b_->stores() / "alice" / "record");
  std::cerr << "record: " << std::string(std::istreambuf_iterator<char>(record), {}) << "\n";
  std::cerr << b_->stop().err;
}

// A session that ends before its first unit is not recorded, so its number begins another one, whose
// risk is taken for one that has been added already.
TEST_F(AdversaryTest, RiskOfSessionsWithTheNumberOfAnEarlierOneCounts) {
  constexpr int kRounds = 4, kUnits = 2;
  Setup setup;
  setup.peer_b = "sessions_per_day: 2";
  make_with_scripted(Party::A, setup, {.low = 2000, .high = 5000});
  b_->start();
  peer_->connect();
  const auto break_off_at = [&](std::uint32_t tag, bool aborts) {
    EXPECT_THROW(peer_->refill(peer_->accepted_order(1),
                               [&](const Outgoing& message) {
                                 if (message.tag != tag) return;
                                 if (aborts) throw PeerCheated("none");
                                 throw NetworkError("broken off");
                               }),
                 Error);
    if (!aborts) return;
    EXPECT_TRUE(becomes_true([&] { return !has_session(1); }));
    fs::remove_all(peer_->store_of(1));
  };
  constexpr std::uint32_t kStanding = 0x3001;
  double risk_of_a_session = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round <= kRounds; ++round) {
    break_off_at(kStanding, false);
    if (round > 0) {
      for (int unit = 0; unit < kUnits; ++unit) break_off_at(kLeakyTripleG, false);
      EXPECT_TRUE(becomes_true(
          [&] { return (risk_of_a_session = b_->client().peer().sessions_risk()) > 0; }));
      // A refill that succeeds makes the pause short again.
      EXPECT_GT(peer_->refill(peer_->accepted_order(1)).ands, 0u);
    }
    break_off_at(kStanding, true);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const double after = b_->client().peer().sessions_risk();
  std::ifstream record(b_->stores() / "alice" / "record");
  std::cerr << kRounds * kUnits << " units broken off in " << kRounds << " sessions within "
            << taken.count() << " s; risk of each session " << risk_of_a_session << ", of all "
            << after << "; record: " << std::string(std::istreambuf_iterator<char>(record), {})
            << "\n";
  EXPECT_GE(after, kRounds * risk_of_a_session);
}

// Fields that the daemon does not know take much more memory than in the message.
TEST_F(AdversaryTest, UnknownFieldsOfOffersTakeLittleMemory) {
  Setup setup;
  setup.daemon_b = "jobs_max: 1000000";
  make_with_scripted(Party::A, setup, {});
  b_->start();
  const std::uint64_t before = memory_in_use(b_->pid());
  ScriptedPeer::RawLink link(*peer_);
  std::jthread reader([&] {
    try {
      while (link.receive().refuse().job() != "last") {
      }
    } catch (const NetworkError&) {
    }
  });
  try {
    for (std::size_t i = 0; i < 400; ++i) {
      wire::Message message;
      message.mutable_offer()->set_job("job-" + std::to_string(i));
      wire::Terms& terms = *message.mutable_offer()->mutable_terms();
      terms.set_circuit("aes128");
      terms.set_fingerprint(std::string(64, '0'));
      terms.set_is_built_in(true);
      terms.set_lanes(1);
      auto* unknown = terms.GetReflection()->MutableUnknownFields(&terms);
      for (int k = 0; k < 32000; ++k) unknown->AddGroup(15);
      link.send(message);
    }
    wire::Message last;
    last.mutable_offer()->set_job("last");
    last.mutable_offer()->mutable_terms()->set_circuit("forbidden");
    link.send(last);
  } catch (const NetworkError& error) {
    std::cerr << error.what() << "\n";
  }
  reader.join();
  const std::uint64_t after = memory_in_use(b_->pid());
  std::cerr << "memory before " << before << " after " << after << "\n";
  EXPECT_LT(after, before + (std::uint64_t{64} << 20));
}

// A revocation that was interrupted after the keys had been erased.
TEST_F(AdversaryTest, StartsWithSessionWhoseRevocationWasInterrupted) {
  take_the_place_of(Party::A, {}, {});
  b_->stop();
  storage::Store::open(b_->stores() / "alice" / "000001", {}).erase_keys();
  b_->start();
  EXPECT_TRUE(becomes_true([&] { return b_->client().ands_left() == 0; }));
  std::cerr << b_->stop().err;
}

}  // namespace
}  // namespace tinyot::test
