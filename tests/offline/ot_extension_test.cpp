// OT extension: every kind at the edges of blocks and batches, and one wrong message at a time.
#include "offline/softspoken/ot_extension.h"

#include <algorithm>
#include <set>

#include "tests/crypto/statistics.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

enum class Kind { DeltaCorrelated, Random, RandomFor, Correlated, Chosen };
constexpr Kind kKinds[] = {Kind::DeltaCorrelated, Kind::Random, Kind::RandomFor, Kind::Correlated,
                           Kind::Chosen};
constexpr std::size_t kEdges[] = {0, 1, 127, 128, 129, 1023, 1024, 1025};

// Inputs and outputs of both parties in a call; zero where nothing has been written.
struct Call {
  Call(Kind of, std::size_t size)
      : kind(of), x0(size, Block{}), x1(size, Block{}), choices(size), x(size, Block{}) {}

  Kind kind;
  SecretVector<Block> x0, x1;  // the sender's
  BitVector choices;           // the receiver's
  SecretVector<Block> x;
};

SecretVector<Block> random_blocks(Session& session, std::size_t count) {
  SecretVector<Block> blocks(count);
  session.rng().fill_blocks(std::span(blocks));
  return blocks;
}

void send(Session& session, OtExtensionSender& sender, Call& call) {
  const std::size_t count = call.x0.size();
  if (call.kind == Kind::DeltaCorrelated) {
    KeyColumn keys(count);
    sender.delta_correlated(keys.view());
    for (std::size_t i = 0; i < count; ++i) {
      call.x0[i] = keys.keys[i].value;
      call.x1[i] = keys.keys[i].value ^ session.global_key().value;
    }
  }
  if (call.kind == Kind::Random) sender.random(call.x0, call.x1);
  if (call.kind == Kind::RandomFor) sender.random_for(call.x0, call.x1);
  if (call.kind == Kind::Correlated) {
    const SecretVector<Block> offsets = random_blocks(session, count);
    sender.correlated(offsets, call.x0);
    for (std::size_t i = 0; i < count; ++i) call.x1[i] = call.x0[i] ^ offsets[i];
  }
  if (call.kind == Kind::Chosen) {
    call.x0 = random_blocks(session, count);
    call.x1 = random_blocks(session, count);
    sender.chosen(call.x0, call.x1);
  }
}

void receive(Session& session, OtExtensionReceiver& receiver, Call& call) {
  const std::size_t count = call.x.size();
  if (call.kind == Kind::DeltaCorrelated) {
    MacColumn bits(count);
    receiver.delta_correlated(bits.view());
    call.choices = std::move(bits.bits);
    std::ranges::copy(as_blocks(std::span(bits.macs)), call.x.begin());
    return;
  }
  if (call.kind == Kind::Random) return receiver.random(call.choices, call.x);
  call.choices = session.rng().bits(count);
  if (call.kind == Kind::RandomFor) receiver.random_for(call.choices, call.x);
  if (call.kind == Kind::Correlated) receiver.correlated(call.choices, call.x);
  if (call.kind == Kind::Chosen) receiver.chosen(call.choices, call.x);
}

// One session in which all calls are made, one after another.
Outcomes run(std::span<Call> calls, Party sender, std::uint32_t k = 2,
             const PartyOptions& options = {}, bool expect_done = true) {
  return run_sessions(
      [&](Session& session) {
        const Trees trees = make_trees(session, k);
        if (session.me() == sender) {
          OtExtensionSender ots(session, trees.peers, 7);
          for (Call& call : calls) send(session, ots, call);
        } else {
          OtExtensionReceiver ots(session, trees.mine, 7);
          for (Call& call : calls) receive(session, ots, call);
        }
      },
      options, expect_done);
}

// A session with one call from A to B, in which one party cheats.
Outcomes run_cheated(Call& call, Party cheater, const Deviation& deviation) {
  return run(std::span(&call, 1), Party::A, 2, options_with(cheater, 1, deviation), false);
}

bool has_chosen(const Call& call, std::size_t i, bool choice) {
  return same(call.x[i], choice ? call.x1[i] : call.x0[i]);
}

void expect_right(const Call& call) {
  std::size_t wrong = 0, both = 0;
  for (std::size_t i = 0; i < call.x.size(); ++i) {
    wrong += !has_chosen(call, i, call.choices[i]);
    both += has_chosen(call, i, !call.choices[i]);
  }
  EXPECT_EQ(wrong, 0u) << "kind " << static_cast<int>(call.kind) << ", " << call.x.size() << " OTs";
  EXPECT_EQ(both, 0u) << "kind " << static_cast<int>(call.kind) << ", " << call.x.size() << " OTs";
}

TEST(OtExtension, EveryKindIsCorrectAtBlockEdges) {
  for (const std::uint32_t k : {1u, 2u, 4u}) {
    std::vector<Call> calls;
    for (const Kind kind : kKinds)
      for (const std::size_t count : kEdges) calls.emplace_back(kind, count);
    run(calls, k == 4 ? Party::B : Party::A, k);
    for (const Call& call : calls) expect_right(call);
  }
}

TEST(OtExtension, EveryKindIsCorrectAtBatchEdges) {
  std::vector<Call> calls;
  for (const Kind kind : kKinds)
    for (const std::size_t count :
         {kBatchBits - 1, kBatchBits, kBatchBits + 1, 3 * kBatchBits + 129})
      calls.emplace_back(kind, count);
  run(calls, Party::B);
  for (const Call& call : calls) expect_right(call);
}

void expect_uniform_bytes(std::span<const Block> blocks, const char* what) {
  std::vector<double> cells(256);
  for (const std::byte byte : std::as_bytes(blocks)) ++cells[static_cast<std::size_t>(byte)];
  EXPECT_LT(chi_square(cells), chi_square_bound(cells.size())) << what;
}

TEST(OtExtension, RandomValuesAreBalancedInEveryWindow) {
  constexpr std::size_t kWindow = 256, kCount = 128 * kWindow;
  static_assert(kCount > kBatchBits);
  std::vector<Call> calls;
  for (const Kind kind : {Kind::DeltaCorrelated, Kind::Random, Kind::RandomFor, Kind::Correlated})
    calls.emplace_back(kind, kCount);
  run(calls, Party::A);
  for (const Call& call : calls) {
    SecretVector<Block> sum(kCount);
    for (std::size_t i = 0; i < kCount; ++i) sum[i] = call.x0[i] ^ call.x1[i];
    for (std::size_t first = 0; first < kCount; first += kWindow) {
      std::size_t ones = 0;
      for (std::size_t i = first; i < first + kWindow; ++i) ones += call.choices[i];
      EXPECT_LT(std::abs(static_cast<double>(ones) - kWindow / 2.0), 6 * 8) << first;
      expect_uniform_bytes(std::span<const Block>(call.x0).subspan(first, kWindow), "x0");
      expect_uniform_bytes(std::span<const Block>(call.x1).subspan(first, kWindow), "x1");
      if (call.kind != Kind::DeltaCorrelated)
        expect_uniform_bytes(std::span<const Block>(sum).subspan(first, kWindow), "x0 ^ x1");
    }
  }
}

// No string repeats over batches, calls, domains and directions.
TEST(OtExtension, NoStringRepeats) {
  constexpr std::size_t kCount = kBatchBits + 256;
  Call calls[] = {{Kind::Random, kCount},
                  {Kind::Random, kCount},
                  {Kind::Random, kCount},
                  {Kind::Random, kCount}};
  run_sessions([&](Session& session) {
    const Trees trees = make_trees(session, 1);
    if (session.me() == Party::A) {
      OtExtensionSender sender(session, trees.peers, 0), other(session, trees.peers, 1);
      send(session, sender, calls[0]);
      send(session, sender, calls[1]);
      send(session, other, calls[2]);
      OtExtensionReceiver receiver(session, trees.mine, 0);
      receive(session, receiver, calls[3]);
    } else {
      OtExtensionReceiver receiver(session, trees.mine, 0), other(session, trees.mine, 1);
      receive(session, receiver, calls[0]);
      receive(session, receiver, calls[1]);
      receive(session, other, calls[2]);
      OtExtensionSender sender(session, trees.peers, 0);
      send(session, sender, calls[3]);
    }
  });
  std::set<std::pair<std::uint64_t, std::uint64_t>> all;
  for (const Call& call : calls) {
    expect_right(call);
    for (const Block& x : call.x0) all.insert({x.lo, x.hi});
    for (const Block& x : call.x1) all.insert({x.lo, x.hi});
  }
  EXPECT_EQ(all.size(), 8 * kCount);
}

// The corrections or the answer of the second batch are wrong: the sender stops there without
// having used that batch.
TEST(OtExtension, UsesNothingOfABatchThatFailsItsCheck) {
  for (const char* tag : {"softspoken.corrections", "softspoken.answer"}) {
    for (const Kind kind : {Kind::Random, Kind::Chosen}) {
      Call call(kind, 3 * kBatchBits);
      std::size_t masked = 0;
      PartyOptions options;
      options.wrap_a = cheating([&](std::string_view sent, std::size_t, std::vector<std::byte>&) {
        masked += sent == "ot.masked";
      });
      options.wrap_b = cheating(
          [&](std::string_view sent, std::size_t occurrence, std::vector<std::byte>& payload) {
            if (sent != tag || occurrence != 1) return;
            // In every tree, so that no guess of Delta succeeds.
            for (std::size_t at = 0; at < payload.size(); at += (kBatchBits + 128) / 8)
              payload[at] ^= std::byte{1};
          });
      EXPECT_TRUE(
          caught_by(run(std::span(&call, 1), Party::A, 2, options, false).a, "SoftSpoken check"))
          << tag;
      if (kind == Kind::Chosen) {
        EXPECT_EQ(masked, 1u);
        continue;
      }
      EXPECT_TRUE(has_chosen(call, kBatchBits - 1, call.choices[kBatchBits - 1]));
      for (std::size_t i = kBatchBits; i < 3 * kBatchBits; ++i)
        ASSERT_TRUE(same(call.x0[i], {}) && same(call.x1[i], {})) << i;
    }
  }
}

TEST(OtExtension, ReceiverUsesNothingBeforeItsAnswer) {
  for (const Kind kind : {Kind::Random, Kind::Chosen}) {
    Call call(kind, 2 * kBatchBits);
    // The second challenge is one byte too long.
    const Outcomes outcomes = run_cheated(
        call, Party::A,
        [](std::string_view tag, std::size_t occurrence, std::vector<std::byte>& payload) {
          if (tag == "softspoken.challenge" && occurrence == 1) payload.push_back(std::byte{0});
        });
    EXPECT_EQ(outcomes.b.kind, Outcome::Kind::PeerCheated) << outcomes.b.message;
    EXPECT_FALSE(same(call.x[kBatchBits - 1], {}));
    for (std::size_t i = kBatchBits; i < 2 * kBatchBits; ++i) ASSERT_TRUE(same(call.x[i], {})) << i;
  }
}

TEST(OtExtension, AlteredChoiceIsAnotherChoice) {
  Call call(Kind::RandomFor, 1025);
  const Outcomes outcomes = run_cheated(call, Party::B, flip_bit("ot.choices", 0, 700));
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
  call.choices.put(700, !call.choices[700]);
  expect_right(call);
}

TEST(OtExtension, RejectsChoicesBeyondTheCount) {
  Call call(Kind::Chosen, 1025);
  const Outcomes outcomes = run_cheated(call, Party::B, flip_bit("ot.choices", 0, 1025));
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::PeerCheated) << outcomes.a.message;
  EXPECT_NE(outcomes.a.message.find("padding bits of message ot.choices"), std::string::npos)
      << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::PeerAborted) << outcomes.b.message;
}

// One wrong block gives one wrong string, for the choice to which it belongs; the others are
// unchanged.
TEST(OtExtension, WrongMaskedBlockIsAWrongStringOfTheSender) {
  constexpr std::size_t kCount = 300;
  struct Case {
    Kind kind;
    const char* tag;
    std::size_t first;  // block of the message
    bool choice;        // the choice to which it belongs
  };
  for (const Case& c : {Case{Kind::Correlated, "ot.corrected", 0, true},
                        {Kind::Chosen, "ot.masked", 0, false},
                        {Kind::Chosen, "ot.masked", kCount, true}}) {
    Call call(c.kind, kCount);
    const Outcomes outcomes = run_cheated(
        call, Party::A, [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
          if (tag == c.tag)
            for (std::size_t i = 10; i < 60; ++i) payload[16 * (c.first + i) + 3] ^= std::byte{4};
        });
    EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
    for (std::size_t i = 0; i < kCount; ++i)
      EXPECT_EQ(has_chosen(call, i, call.choices[i]),
                i < 10 || i >= 60 || call.choices[i] != c.choice)
          << c.tag << ", OT " << i;
  }
}

TEST(OtExtension, DetectsDifferentCounts) {
  const Outcomes outcomes = run_sessions(
      [](Session& session) {
        const Trees trees = make_trees(session, 2);
        Call call(Kind::Chosen, session.me() == Party::A ? 1024 : 1025);
        if (session.me() == Party::A) {
          OtExtensionSender sender(session, trees.peers, 0);
          send(session, sender, call);
        } else {
          OtExtensionReceiver receiver(session, trees.mine, 0);
          receive(session, receiver, call);
        }
      },
      {}, false);
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::PeerCheated) << outcomes.a.message;
  EXPECT_NE(outcomes.a.message.find("framing"), std::string::npos) << outcomes.a.message;
}

TEST(OtExtension, MatchesTheDocumentedCost) {
  constexpr std::size_t kOneBatch = 1024, kCount = kBatchBits + kOneBatch, kHeader = 16,
                        kTrees = 64;
  constexpr std::size_t kExtension =
                            (kTrees - 1) * (kCount + 2 * 128) / 8 + 2 * 129 * 16 + 4 * kHeader,
                        kChallenges = 2 * (32 + kHeader);
  run_sessions([&](Session& session) {
    const Trees trees = make_trees(session, kKappa / kTrees);
    OtExtensionSender sender(session, trees.peers, 0);
    OtExtensionReceiver receiver(session, trees.mine, 0);
    EXPECT_ANY_THROW(OtExtensionSender(session, trees.peers, std::uint64_t{1} << 32));
    for (const Kind kind : kKinds) {
      const bool gives_choices = kind != Kind::DeltaCorrelated && kind != Kind::Random;
      const std::size_t blocks = kind == Kind::Correlated ? 1 : kind == Kind::Chosen ? 2 : 0;
      for (const std::size_t count : {kOneBatch, kCount}) {
        const ChannelCounters before = session.channel().counters();
        Call call(kind, count);
        if (session.me() == Party::A)
          send(session, sender, call);
        else
          receive(session, receiver, call);
        const ChannelCounters& now = session.channel().counters();
        const std::size_t sent = now.bytes_sent - before.bytes_sent;
        if (count == kOneBatch) {
          const std::size_t rounds = now.rounds - before.rounds;
          EXPECT_TRUE(session.me() == Party::A || rounds == (blocks == 0 ? 1 : 2)) << rounds;
        } else if (session.me() == Party::A) {
          EXPECT_EQ(sent, kChallenges + 16 * blocks * kCount + (blocks > 0 ? 2 * kHeader : 0));
        } else {
          EXPECT_EQ(sent, kExtension + (gives_choices ? kCount / 8 + 2 * kHeader : 0));
        }
      }
    }
  });
}

}  // namespace
}  // namespace tinyot
