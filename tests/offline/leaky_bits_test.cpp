// LaBit on dealt base OTs.
#include "offline/nnob12/leaky_bits.h"

#include "tests/offline/dealt.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kLength = 512;

SecurityParameters parameters() {
  return SecurityParameters::make({.own = Nnob12Parameters{Columns::Experiment}, .unit = 1});
}
const std::size_t kMade = columns_made(parameters()), kKept = columns_kept(parameters());

// Ideal base OTs of one direction.
struct DealtSeeds {
  explicit DealtSeeds(std::uint64_t seed) {
    Rng rng(Seed{{seed, 900}});
    sent.pairs.resize(kMade);
    rng.fill(std::as_writable_bytes(std::span(sent.pairs)));
    received.choices = rng.bits(kMade);
    for (std::size_t i = 0; i < kMade; ++i)
      received.seeds.push_back(received.choices[i] ? sent.pairs[i].one : sent.pairs[i].zero);
  }
  BaseOtSent sent;
  BaseOtReceived received;
};

struct LeakyBits {
  LeakyKeyRows l;  // of the sender
  LeakyMacRows n;  // of the receiver
  BitVector gamma, y;
  Outcomes outcomes;
};

// One LaBit of one chunk from `sender` to its peer.
LeakyBits make_bits(Party sender, Party cheater, std::uint64_t seed, const Deviation& deviation,
                    std::size_t length = kLength) {
  LeakyBits made;
  const auto params = parameters();
  const std::string name = std::string("LaBit of ") + letter(sender);
  made.outcomes = run_sessions(
      [&](Session& session) {
        DealtSeeds seeds(seed);
        const ColumnChunk chunk = chunks_of(length).at(0);
        if (session.me() == sender) {
          LeakyBitSender role(session, params, std::move(seeds.sent), length);
          role.offer(chunk);
          role.receive_pairing();
          const PhaseLog::Scope scope(session.log(), session.channel(), "test", length);
          compare_digests(session, name, role.check_digest(scope), cheater);
          role.kept_rows(chunk, made.l);
          made.gamma = role.gamma();
        } else {
          LeakyBitReceiver role(session, params, std::move(seeds.received));
          role.receive(chunk, made.n);
          role.send_pairing();
          compare_digests(session, name, role.check_digest(), cheater);
          made.y = role.kept_choices();
        }
      },
      options_with(cheater, seed, deviation), false);
  return made;
}

// N_i = L_i ^ y_i.Gamma for every kept index and every column.
void expect_consistent(const LeakyBits& made) {
  for (std::size_t i = 0; i < kKept; ++i)
    for (std::size_t w = 0; w < kLength / 64; ++w)
      ASSERT_EQ(made.n.matrix.row(i)[w],
                made.l.matrix.row(i)[w] ^ (made.gamma.words()[w] & mask_of(made.y[i])))
          << "row " << i;
}

TEST(LeakyBits, HonestRunsGiveMacsUnderTheChoices) {
  for (const Party sender : {Party::A, Party::B}) {
    const LeakyBits made = make_bits(sender, peer_of(sender), 3, no_deviation);
    EXPECT_EQ(made.outcomes.a.kind, Outcome::Kind::Done) << made.outcomes.a.message;
    EXPECT_EQ(made.outcomes.b.kind, Outcome::Kind::Done) << made.outcomes.b.message;
    expect_consistent(made);
  }
}

TEST(LeakyBits, ChosenBitsAreBalancedInEveryWindow) {
  std::size_t ones[kLength / 64] = {};
  constexpr std::size_t kRuns = 100;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const LeakyBits made = make_bits(Party::A, Party::B, seed, no_deviation);
    for (std::size_t w = 0; w < kLength / 64; ++w)
      ones[w] += static_cast<std::size_t>(std::popcount(made.gamma.words()[w]));
  }
  for (const std::size_t count : ones)
    EXPECT_LT(std::abs(static_cast<double>(count) - 32.0 * kRuns), 3 * std::sqrt(64.0 * kRuns));
}

// The sender offers another Gamma in some columns: one bit of each is flipped in the corrections. A
// receiver with y_i = 0 does not use u_i: there is no effect, and the sender has learnt y_i. One
// with y_i = 1 gets another W and the check fails. So the attack on one column is a guess that y_i
// = 0; if it succeeds, every MAC is correct.
TEST(LeakyBits, AnotherGammaInOneColumnIsAGuessOfOneChoice) {
  constexpr std::size_t kRuns = repetitions(300);
  for (const Party sender : {Party::A, Party::B}) {
    std::size_t caught = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const std::size_t column = seed * 7 % kMade, bit = seed % kLength;
      const LeakyBits made =
          make_bits(sender, sender, seed, flip_bit("labit.corrections", 0, column * kLength + bit));
      const bool was_caught = caught_by(of(made.outcomes, peer_of(sender)),
                                        std::string("EQ of LaBit of ") + letter(sender));
      EXPECT_EQ(was_caught, DealtSeeds(seed).received.choices[column]) << "run " << seed;
      caught += was_caught;
      if (!was_caught) expect_consistent(made);
    }
    expect_half(caught, kRuns);
  }
}

// Another bit of each column: the same one in two columns that happen to be paired cancels in their
// difference, which is a guess of the two choices' sum.
TEST(LeakyBits, AnotherGammaInSeveralColumnsIsAGuessOfEachChoice) {
  constexpr std::size_t kRuns = repetitions(400), kColumns = 2;
  std::size_t survived = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const std::size_t first = seed * 5 % (kMade - kColumns);
    const LeakyBits made =
        make_bits(Party::B, Party::B, seed,
                  [=](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
                    if (tag != "labit.corrections") return;
                    for (std::size_t c = 0; c < kColumns; ++c)
                      payload[(first + c) * kLength / 8] ^= std::byte{1} << c;
                  });
    const BaseOtReceived received = DealtSeeds(seed).received;
    const bool was_caught = caught_by(made.outcomes.a, "EQ of LaBit of B");
    EXPECT_EQ(was_caught, received.choices[first] || received.choices[first + 1]);
    survived += !was_caught;
  }
  const double expected = kRuns / 4.0;
  EXPECT_LT(std::abs(static_cast<double>(survived) - expected), 5 * std::sqrt(expected * 3 / 4));
}

TEST(LeakyBits, SenderAlwaysDetectsWrongPairingOrDifference) {
  for (const Party sender : {Party::A, Party::B}) {
    const std::string check = std::string("EQ of LaBit of ") + letter(sender);
    for (const std::size_t bit : {std::size_t{0}, std::size_t{255}})
      EXPECT_TRUE(caught_by(
          of(make_bits(sender, peer_of(sender), 4, flip_bit("labit.pairing", 0, bit)).outcomes,
             sender),
          check));
    for (const std::size_t bit : {std::size_t{0}, kKept - 1})
      EXPECT_TRUE(caught_by(
          of(make_bits(sender, peer_of(sender), 4, flip_bit("labit.d", 0, bit)).outcomes, sender),
          check));
  }
}

TEST(LeakyBits, MatchesTheDocumentedCost) {
  for (const std::size_t length : {std::size_t{512}, std::size_t{1536}, kChunkBits}) {
    run_sessions([&](Session& session) {
      const auto params = parameters();
      DealtSeeds seeds(1);
      const std::uint64_t before = session.channel().counters().bytes_sent;
      const auto sent = [&] { return session.channel().counters().bytes_sent - before; };
      const ColumnChunk chunk = chunks_of(length).at(0);
      LeakyMacRows rows;
      if (session.me() == Party::A) {
        LeakyBitSender role(session, params, std::move(seeds.sent), length);
        role.offer(chunk);
        EXPECT_EQ(sent(), 16 + kMade * length / 8);
        role.receive_pairing();
        EXPECT_EQ(sent(), 16 + kMade * length / 8);
      } else {
        LeakyBitReceiver role(session, params, std::move(seeds.received));
        role.receive(chunk, rows);
        EXPECT_EQ(sent(), 0u);
        role.send_pairing();
        EXPECT_EQ(sent(), 16 + 32 + 16 + (kKept + 7) / 8);
      }
    });
  }
}

TEST(LeakyBits, ChunksCoverTheLengthInOrder) {
  for (const std::size_t length :
       {std::size_t{512}, kChunkBits - 512, kChunkBits, kChunkBits + 512, 3 * kChunkBits}) {
    std::size_t next = 0;
    for (const ColumnChunk& chunk : chunks_of(length)) {
      EXPECT_EQ(chunk.first, next);
      EXPECT_LE(chunk.bits, kChunkBits);
      next += chunk.bits;
    }
    EXPECT_EQ(next, length);
  }
  EXPECT_THROW(chunks_of(513), std::logic_error);
}

}  // namespace
}  // namespace tinyot
