// Silent authenticated bits: half-trees, the code, iterations of one direction, and one wrong
// message at a time.
#include "offline/silent/silent_bits.h"

#include <cryptopp/aes.h>

#include "tests/offline/dealt.h"
#include "tests/support/blocks.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

// A small set; all that the formulas ask of one.
constexpr SilentSet kToy{"toy", 128, 7, 9, 0};

struct OneDirection {
  MacColumn mine;
  KeyColumn peers;
  Outcomes outcomes;
};

// An iteration of the bits of `owner`, from a dealt base, and all its outputs.
OneDirection iterate(Party owner, const SilentSet& set, const PartyOptions& options = {}) {
  OneDirection made;
  made.outcomes = run_sessions(
      [&](Session& session) {
        Dealt base(session.me(), owner, set.reserve(), options.seed, 1);
        const SilentIteration iteration{set, 5, {1, 2, 3}};
        if (session.me() == owner) {
          SilentMacHolder holder(session, iteration, std::move(base.mine));
          holder.challenge();
          holder.verify();
          made.mine = MacColumn(set.outputs());
          holder.make(0, made.mine.view());
        } else {
          SilentKeyHolder holder(session, iteration, std::move(base.peers));
          holder.correct();
          holder.answer();
          made.peers = KeyColumn(set.outputs());
          holder.make(0, made.peers.view());
        }
      },
      options, false);
  return made;
}

TEST(SilentBits, OutputsHaveTheirMacsInBothDirections) {
  for (const Party owner : {Party::A, Party::B}) {
    const OneDirection made = iterate(owner, kToy);
    ASSERT_TRUE(both_done(made.outcomes));
    const auto bits = checked_bits(made.mine, made.peers, global_key_of(peer_of(owner), 1));
    const auto ones = static_cast<double>(std::count(bits.begin(), bits.end(), true));
    EXPECT_LT(std::abs(ones - 8192), 6 * 64);
  }
}

}  // namespace
}  // namespace tinyot
