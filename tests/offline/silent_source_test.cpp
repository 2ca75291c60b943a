// Chains of silent bits: MACs of all outputs, the bytes and the order of messages, ends.
#include "offline/silent/silent_source.h"

#include <map>

#include "offline/softspoken/softspoken_source.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr SilentSet kSet = kSilentSets[0];

// What a party does with its chain.
using ChainBody = std::function<void(Session&, SilentSource&)>;

Outcomes with_chain(const SilentSet& set, const ChainBody& body, const PartyOptions& options = {},
                    std::uint32_t softspoken_k = 4, bool expect_done = true) {
  return run_sessions(
      [&](Session& session) {
        SoftSpokenSource start(session, softspoken_k, {});
        start.prepare(1);
        SilentSource chain(session, 0, session.channel(), session.log(), start, set);
        body(session, chain);
      },
      options, expect_done);
}

struct Draws {
  std::vector<MacColumn> mine[2];
  std::vector<KeyColumn> peers[2];
};

void draw(Draws& draws, Session& session, SilentSource& chain, std::size_t count) {
  const auto me = static_cast<std::size_t>(session.me());
  MacColumn& mine = draws.mine[me].emplace_back(count);
  KeyColumn& peers = draws.peers[me].emplace_back(count);
  chain.draw(mine.view(), peers.view());
}

// Checks the MAC of every bit.
void expect_good(const Draws& draws) {
  for (const std::size_t owner : {0u, 1u}) {
    ASSERT_EQ(draws.mine[owner].size(), draws.peers[1 - owner].size());
    for (std::size_t i = 0; i < draws.mine[owner].size(); ++i) {
      const auto bits = checked_bits(draws.mine[owner][i], draws.peers[1 - owner][i],
                                     global_key_of(static_cast<Party>(1 - owner), 1));
      const auto n = static_cast<double>(bits.size()),
                 ones = static_cast<double>(std::count(bits.begin(), bits.end(), true));
      EXPECT_LT(std::abs(ones - n / 2), 3 * std::sqrt(n) + 1) << i;
    }
  }
}

TEST(SilentSource, OutputsOfThreeIterationsHaveTheirMacs) {
  Draws draws;
  with_chain(kSet, [&](Session& session, SilentSource& chain) {
    constexpr std::size_t kSizes[] = {128, 49152, 384, 16384, 262144, 640};
    std::size_t drawn = 0;
    for (std::size_t i = 0; drawn < 3 * kSet.net() + 256; ++i) {
      draw(draws, session, chain, kSizes[i % std::size(kSizes)]);
      drawn += kSizes[i % std::size(kSizes)];
    }
    EXPECT_EQ(chain.iterations(), 6u);
  });
  expect_good(draws);
}

}  // namespace
}  // namespace tinyot
