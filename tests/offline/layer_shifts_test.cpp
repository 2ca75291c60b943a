// Shifts of layers: equal for both parties, uniform and independent.
#include "offline/triples/layer_shifts.h"

#include <set>

#include "tests/crypto/statistics.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

TEST(LayerShifts, AgreeBetweenPartiesAndDifferPerLayerAndToss) {
  constexpr std::size_t kLayers = 4, kTosses = 5, kSize = std::size_t{1} << 40;
  std::vector<std::size_t> of[2];
  run_sessions([&](Session& session) {
    for (std::size_t i = 0; i < kTosses; ++i)
      for (const std::size_t shift : toss_shifts(session, kLayers, kSize))
        of[static_cast<int>(session.me())].push_back(shift);
  });
  EXPECT_EQ(of[0].size(), kTosses * (kLayers - 1));
  EXPECT_EQ(of[0], of[1]);
  EXPECT_EQ(std::set(of[0].begin(), of[0].end()).size(), of[0].size());
  for (const std::size_t shift : of[0]) EXPECT_LT(shift, kSize);
}

TEST(LayerShifts, AreUniformInEachLayer) {
  constexpr std::size_t kTosses = 2000;
  for (const std::size_t size : {128u, 384u}) {
    std::vector<double> seen[2] = {std::vector<double>(size), std::vector<double>(size)},
                        apart(size);
    run_sessions([&](Session& session) {
      for (std::size_t i = 0; i < kTosses; ++i) {
        const std::vector<std::size_t> shifts = toss_shifts(session, 3, size);
        if (session.me() == Party::B) continue;
        ++seen[0].at(shifts[0]), ++seen[1].at(shifts[1]),
            ++apart[(shifts[1] + size - shifts[0]) % size];
      }
    });
    for (const auto& shifts : {seen[0], seen[1], apart})
      EXPECT_LT(chi_square(shifts), chi_square_bound(size)) << size;
  }
}

TEST(LayerShifts, DetectsAlteredToss) {
  for (const char* tag : {"coin_toss.commitment", "coin_toss.opening"}) {
    const Outcomes outcomes = run_sessions([&](Session& session) { toss_shifts(session, 3, 256); },
                                           options_with(Party::A, 1, flip_bit(tag, 0, 7)), false);
    EXPECT_TRUE(caught_by(outcomes.b, "coin toss")) << tag;
  }
}

}  // namespace
}  // namespace tinyot
