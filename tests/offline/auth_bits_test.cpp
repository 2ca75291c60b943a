// aBit: the amplification matrix, and runs of authenticated bits between two parties.
#include "offline/nnob12/auth_bits.h"

#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

std::uint64_t row_bit(Block block, std::size_t row) {
  return ((row < 64 ? block.lo : block.hi) >> (row % 64)) & 1;
}

bool row_product(const BitMatrix& matrix, std::size_t row, const BitVector& gamma) {
  bool product = false;
  for (std::size_t j = 0; j < gamma.size(); ++j) product ^= get_bit(matrix.row(row), j) && gamma[j];
  return product;
}

TEST(Amplification, RTimesGammaIsDelta) {
  Rng rng(Seed{{1, 1}});
  for (const std::size_t tau : {1u, 2u, 63u, 64u, 65u, 342u, 939u}) {
    for (int i = 0; i < 10; ++i) {
      BitVector gamma = rng.bits(tau);
      gamma.put(rng.below(tau), true);
      const Delta delta{rng.block()};
      const AmplificationMatrix r = draw_amplification(rng, {gamma}, delta);
      for (std::size_t row = 0; row < 128; ++row)
        ASSERT_EQ(row_product(r.matrix, row, gamma), row_bit(delta.value, row) == 1) << tau;
    }
  }
}

TEST(Amplification, ZeroGammaFailsEnsure) {
  Rng rng(Seed{{2, 1}});
  const BitVector zero(342);
  EXPECT_THROW(draw_amplification(rng, {zero}, Delta{{1, 2}}), std::logic_error);
}

TEST(Amplification, EveryColumnIsBalancedAndThePaddingIsZero) {
  Rng rng(Seed{{3, 1}});
  constexpr std::size_t kTau = 342, kDraws = 40;
  std::vector<std::size_t> ones(kTau);
  for (std::size_t i = 0; i < kDraws; ++i) {
    const BitVector gamma = rng.bits(kTau);
    const AmplificationMatrix r = draw_amplification(rng, {gamma}, Delta{rng.block()});
    for (std::size_t row = 0; row < 128; ++row) {
      for (std::size_t j = 0; j < kTau; ++j) ones[j] += get_bit(r.matrix.row(row), j);
      for (std::size_t j = kTau; j < r.matrix.row_words() * 64; ++j)
        ASSERT_FALSE(get_bit(r.matrix.row(row), j));
    }
  }
  const double n = 128.0 * kDraws;
  for (std::size_t j = 0; j < kTau; ++j)
    EXPECT_LT(std::abs(static_cast<double>(ones[j]) - n / 2), 3 * std::sqrt(n)) << j;
}

// Of the 8 rows of three bits, the four with the right product are equally likely and the others do
// not occur, whichever bits of gamma are set: the marginals of the uniform distribution over the
// solutions.
TEST(Amplification, RowsAreUniformOverTheSolutions) {
  Rng rng(Seed{{4, 1}});
  constexpr int kDraws = 200;
  for (std::size_t g = 1; g < 8; ++g) {
    BitVector gamma(3);
    for (std::size_t j = 0; j < 3; ++j) gamma.put(j, (g >> j) & 1);
    const Delta delta{{0xFFFFFFFFFFFFFFFF, 0}};  // rows 0 to 63 have product 1, the others 0
    double counts[2][8] = {};
    for (int i = 0; i < kDraws; ++i) {
      const AmplificationMatrix r = draw_amplification(rng, {gamma}, delta);
      for (std::size_t row = 0; row < 128; ++row)
        ++counts[row_bit(delta.value, row)][r.matrix.row(row)[0]];
    }
    for (std::size_t wanted = 0; wanted < 2; ++wanted) {
      for (std::size_t value = 0; value < 8; ++value) {
        const bool solution = static_cast<std::size_t>(std::popcount(value & g)) % 2 == wanted;
        const double expected = solution ? kDraws * 64 / 4.0 : 0;
        EXPECT_LE(std::abs(counts[wanted][value] - expected), 5 * std::sqrt(expected))
            << g << ", row " << value;
      }
    }
  }
}

TEST(Amplification, MacsAndKeysAreProductsWithWeakMacsAndKeys) {
  Rng rng(Seed{{5, 1}});
  constexpr std::size_t kTau = 65, kBits = 512;
  const BitVector gamma = rng.bits(kTau), x = rng.bits(kBits);
  const Delta delta{rng.block()};
  BitMatrix weak_keys(kTau, kBits), weak_macs(kTau, kBits);
  rng.fill(std::as_writable_bytes(weak_keys.words()));
  for (std::size_t i = 0; i < kTau; ++i)
    for (std::size_t w = 0; w < kBits / 64; ++w)
      weak_macs.row(i)[w] = weak_keys.row(i)[w] ^ (x.words()[w] & mask_of(gamma[i]));
  const AmplificationMatrix r = draw_amplification(rng, {gamma}, delta);
  MacColumn mine(kBits);
  KeyColumn peers(kBits);
  Amplifier amplifier(r);
  amplifier.amplify(WeakMacColumns{weak_macs}, mine.macs);
  amplifier.amplify(WeakKeyColumns{weak_keys}, peers.keys);
  mine.bits = x;
  checked_bits(mine, peers, delta);
}

struct MadeBits {
  AuthBits bits;
  ChannelCounters cost;
};

ChannelCounters difference(const ChannelCounters& after, const ChannelCounters& before) {
  return {after.bytes_sent - before.bytes_sent, after.bytes_received - before.bytes_received,
          after.messages_sent - before.messages_sent, after.rounds - before.rounds};
}

void expect_good(const MadeBits& a, const MadeBits& b) {
  for (const auto& [bits, holder] :
       {std::pair{checked_bits(a.bits.mine, b.bits.peers, global_key_of(Party::B, 1)), "A"},
        {checked_bits(b.bits.mine, a.bits.peers, global_key_of(Party::A, 1)), "B"}}) {
    // Every window of the batch, so that a missing range is detected.
    for (std::size_t first = 0; first + 256 <= bits.size(); first += 256) {
      const auto ones = std::count(bits.begin() + static_cast<long>(first),
                                   bits.begin() + static_cast<long>(first) + 256, true);
      EXPECT_LT(std::abs(static_cast<double>(ones) - 128), 3 * 16) << holder << " at " << first;
    }
  }
}

// Two runs from base OTs of the short run before them, under the same global keys, with the
// Delta-consistency check.
TEST(AuthBitSource, RunsAreCorrectAndMatchTheDocumentedCost) {
  const auto params =
      SecurityParameters::make({.own = Nnob12Parameters{Columns::Experiment}, .unit = 1});
  const std::size_t t = columns_made(params), wanted[] = {100, 9000};
  std::vector<MadeBits> of[2];
  ChannelCounters before_runs[2];
  run_sessions([&](Session& session) {
    AuthBitSource maker(session, params);
    const ChannelCounters at_first = session.channel().counters();
    maker.prepare(2);
    before_runs[static_cast<int>(session.me())] =
        difference(session.channel().counters(), at_first);
    for (const std::size_t run : {0u, 1u}) {
      const ChannelCounters before = session.channel().counters();
      Session part(session, "unit", run, session.channel(), session.log());
      AuthBits bits;
      maker.stream(part, run, wanted[run])->make(bits);
      of[static_cast<int>(session.me())].push_back(
          {std::move(bits), difference(session.channel().counters(), before)});
    }
  });
  const std::size_t matrix = 16 + 128 * 512 / 8,
                    pairing = 16 + 32 + 16 + (columns_kept(params) + 7) / 8;
  const std::size_t eq_of_a = 2 * (16 + 32), eq_of_b = 16 + 64, check_delta = 16 + 16;
  const auto columns = [&](std::size_t length) {
    return 16 * chunks_of(length).size() + t * length / 8;
  };
  for (std::size_t run = 0; run < 2; ++run) {
    expect_good(of[0][run], of[1][run]);
    const std::size_t length = RunLayout(params, wanted[run], 1).length;
    EXPECT_EQ(of[0][run].cost.bytes_sent,
              columns(length) + pairing + eq_of_a + matrix + check_delta + eq_of_a);
    EXPECT_EQ(of[1][run].cost.bytes_sent,
              columns(length) + pairing + eq_of_b + matrix + check_delta + eq_of_b);
    EXPECT_EQ(of[0][run].bits.mine.size(), length);
  }
  EXPECT_EQ(before_runs[0].bytes_sent,
            32 + 96 * t + columns(RunLayout(params, 0, 2).length) + pairing + eq_of_a + matrix);
  EXPECT_LE(before_runs[0].rounds, 7u);
}

TEST(AuthBitSource, SingleRunNeedsNoEarlierRun) {
  const auto params =
      SecurityParameters::make({.own = Nnob12Parameters{Columns::Experiment}, .unit = 1});
  MadeBits of[2];
  run_sessions([&](Session& session) {
    AuthBitSource maker(session, params);
    const ChannelCounters before = session.channel().counters();
    maker.prepare(1);
    EXPECT_EQ(session.channel().counters().bytes_sent - before.bytes_sent,
              32 + 96 * columns_made(params));
    Session part(session, "unit", 0, session.channel(), session.log());
    maker.stream(part, 0, 1000)->make(of[static_cast<int>(session.me())].bits);
  });
  expect_good(of[0], of[1]);
}

// Runs beyond the first kLanes take their base OTs from the run kLanes earlier.
TEST(AuthBitSource, RunsBeyondTheLanesAreCorrect) {
  const auto params =
      SecurityParameters::make({.own = Nnob12Parameters{Columns::Experiment}, .unit = 1});
  constexpr std::size_t kRuns = AuthBitSource::kLanes + 2;
  MadeBits of[2];
  run_sessions([&](Session& session) {
    AuthBitSource maker(session, params);
    maker.prepare(kRuns);
    AuthBits bits;
    for (std::size_t run = 0; run < kRuns; ++run) {
      Session part(session, "unit", run, session.channel(), session.log());
      maker.stream(part, run, 10)->make(bits);
    }
    of[static_cast<int>(session.me())].bits = std::move(bits);
  });
  expect_good(of[0], of[1]);
}

// A party waits for the peer's first chunk only after it has sent its own first ones.
TEST(AuthBitSource, SendsChunksBeforeWaitingForThePeer) {
  const auto params =
      SecurityParameters::make({.own = Nnob12Parameters{Columns::Experiment}, .unit = 1});
  run_sessions([&](Session& session) {
    AuthBitSource maker(session, params);
    maker.prepare(1);
    AuthBits bits;
    maker.stream(session, 0, 8 * kChunkBits)->make(bits);  // in nine chunks
    for (const PhaseCost& phase : session.log().phases()) {
      if (phase.name == "aBits: columns") {
        EXPECT_LE(phase.rounds, 9u - kChunksAhead + 1);
      }
    }
  });
}

TEST(RunLayout, HasBitsBaseOtsAndReferenceBits) {
  const auto params = SecurityParameters::make({});
  for (const std::size_t wanted : {0u, 1u, 63u, 64u, 65u, 511u, 512u, 513u, 100000u}) {
    for (const std::size_t sets : {1u, 2u, 64u}) {
      const RunLayout layout(params, wanted, sets);
      EXPECT_EQ(layout.length % 512, 0u);
      EXPECT_GE(layout.first_seeds, wanted);
      for (std::size_t set = 0; set < sets; ++set)
        EXPECT_LE(layout.seeds(set) + columns_made(params),
                  set + 1 < sets ? layout.seeds(set + 1) : layout.check_delta);
      EXPECT_LE(layout.check_delta + kReferenceBits, layout.length);
      EXPECT_LT(layout.length,
                wanted + 64 + sets * (columns_made(params) + 64) + kReferenceBits + 512);
    }
  }
}

}  // namespace
}  // namespace tinyot
