// Chains of silent bits: MACs of all outputs, the bytes and the order of messages, ends.
#include "offline/silent/silent_source.h"

#include <algorithm>
#include <array>
#include <map>

#include "offline/silent/silent_chains.h"
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

// The messages of a party, in order, as "name count".
std::vector<std::string> names_of(const Messages& sent) {
  std::vector<std::string> names;
  std::vector<std::size_t> counts;
  for (const Message& message : sent) {
    if (!message.tag.starts_with("silent.")) continue;
    if (!names.empty() && names.back() == message.tag) {
      ++counts.back();
      continue;
    }
    names.push_back(message.tag);
    counts.push_back(1);
  }
  for (std::size_t i = 0; i < names.size(); ++i) names[i] += " " + std::to_string(counts[i]);
  return names;
}

TEST(SilentSource, MessagesHaveTheDocumentedBytesWithEverySet) {
  for (const SilentSet& set : kSilentSets) {
    Messages sent[2];
    with_chain(set, [](Session&, SilentSource&) {},
               {.wrap_a = recording(sent[0]), .wrap_b = recording(sent[1])});
    for (const Messages& of_party : sent) {
      // Each party is key holder and MAC holder, in an iteration of the start and one of the set.
      EXPECT_EQ(names_of(of_party),
                (std::vector<std::string>{"silent.corrections 9", "silent.challenge 1",
                                          "silent.digest 1", "silent.corrections 9",
                                          "silent.challenge 1", "silent.digest 1"}));
      for (const Message& message : of_party) {
        const std::map<std::string, std::size_t> bytes = {
            {"silent.corrections", 2048 * (message.occurrence < 9 ? kStartSet.depth : set.depth)},
            {"silent.challenge", 48},
            {"silent.digest", 32}};
        const auto documented = bytes.find(message.tag);
        if (documented != bytes.end()) {
          EXPECT_EQ(message.payload.size(), documented->second);
        }
      }
      EXPECT_EQ(bytes_of(of_party, "silent.corrections"),
                16 * (kStartSet.trees * kStartSet.depth + set.trees * set.depth));
    }
  }
}

// 76,160 bits: 5 batches of 111 blocks and one of 40, beside the 128 of the reference bits.
TEST(SilentSource, StartHasTheDocumentedBytes) {
  for (const auto& [k, corrections_and_answers] :
       {std::pair{4u, std::size_t{310'480}}, {2u, std::size_t{618'192}}}) {
    Messages sent[2];
    with_chain(
        kSet, [](Session&, SilentSource&) {},
        {.wrap_a = recording(sent[0]), .wrap_b = recording(sent[1])}, k);
    for (const Messages& of_party : sent) {
      const std::size_t reference = (128 / k - 1) * 32 + 129 * 16;
      EXPECT_EQ(
          bytes_of(of_party, "softspoken.corrections") + bytes_of(of_party, "softspoken.answer"),
          corrections_and_answers + reference);
      EXPECT_EQ(bytes_of(of_party, "softspoken.challenge"), 192u + 32);
      EXPECT_EQ(payload_of(of_party, "softspoken.corrections", 1).size(), (128 / k - 1) * 112 * 16);
      EXPECT_EQ(payload_of(of_party, "softspoken.corrections", 6).size(), (128 / k - 1) * 41 * 16);
      EXPECT_EQ(bytes_of(of_party, "global_key.e"), 16u);
    }
    EXPECT_EQ(payload_of(sent[0], "coin_toss.commitment").size(), 32u);
  }
}

// A party sends 165,920 and 48 bytes in an iteration of b9.
TEST(SilentSource, BitsTakeTheDocumentedTraffic) {
  const auto bits_of = [](const SilentSet& set) {
    return 8.0 * static_cast<double>(16 * set.trees * set.depth + 32 + 48) /
           static_cast<double>(set.net());
  };
  EXPECT_NEAR(bits_of(kSilentSets[0]), 2.5842, 5e-5);
  EXPECT_NEAR(bits_of(kSilentSets[1]), 1.4227, 5e-5);
  EXPECT_NEAR(bits_of(kSilentSets[2]), 0.7785, 5e-5);
  EXPECT_NEAR(bits_of(kSilentSets[3]), 0.4234, 5e-5);
}

// Step s of the next iteration comes before output (s - 1) floor(net / 512) 128 of this one.
TEST(SilentSource, StepsComeBeforeTheirOutputs) {
  constexpr std::size_t kQuarter = kSet.net() / 512 * 128;
  Messages sent[2];
  std::vector<std::string> seen[2];
  const PartyOptions options{.wrap_a = recording(sent[0]), .wrap_b = recording(sent[1])};
  Draws draws;
  const auto body = [&](Session& session, SilentSource& chain) {
    const auto me = static_cast<std::size_t>(session.me());
    const auto draw_and_note = [&](std::size_t count) {
      const std::size_t before = sent[me].size();
      draw(draws, session, chain, count);
      std::string names;
      for (std::size_t i = before; i < sent[me].size(); ++i)
        if (i == before || sent[me][i].tag != sent[me][i - 1].tag)
          names += (names.empty() ? "" : ", ") + sent[me][i].tag;
      seen[me].push_back(names);
    };
    draw_and_note(128);
    draw_and_note(kQuarter - 128);
    draw_and_note(128);
    draw_and_note(kQuarter - 128);
    draw_and_note(128);
    draw_and_note(kQuarter);
    draw_and_note(kSet.net() - 3 * kQuarter - 128);
    EXPECT_EQ(chain.iterations(), 3u);
    draw_and_note(128);  // the next iteration's
    EXPECT_EQ(chain.iterations(), 4u);
    draw_and_note(2 * kSet.net());
  };
  with_chain(kSet, body, options);
  expect_good(draws);
  const std::string of_two_sets =
      "silent.challenge, silent.digest, silent.corrections, silent.challenge, silent.digest, "
      "silent.corrections";
  for (const auto& of_party : seen)
    EXPECT_EQ(of_party, (std::vector<std::string>{"silent.corrections", "", "silent.challenge", "",
                                                  "silent.digest", "", "", "silent.corrections",
                                                  of_two_sets}));
}

TEST(SilentSource, DrawsOfOtherSizesGiveTheSameBits) {
  constexpr std::size_t kSum = kSet.net() + 1280;
  const auto bits_of = [](std::vector<std::size_t> sizes) {
    Draws draws;
    with_chain(kSet, [&](Session& session, SilentSource& chain) {
      for (const std::size_t size : sizes) draw(draws, session, chain, size);
    });
    std::vector<std::uint64_t> words;
    for (const MacColumn& column : draws.mine[0]) {
      const auto bits = column.bits.words();
      words.insert(words.end(), bits.begin(), bits.end());
    }
    for (const MacColumn& column : draws.mine[0])
      for (const Mac& mac : column.macs) words.push_back(mac.value.lo);
    return words;
  };
  const auto at_once = bits_of({kSum}), in_parts = bits_of({128, 8192, kSum - 8960, 640});
  ASSERT_EQ(at_once.size(), in_parts.size());
  EXPECT_EQ(std::ranges::mismatch(at_once, in_parts).in1 - at_once.begin(),
            static_cast<std::ptrdiff_t>(at_once.size()));
}

// An iteration of a chain that is made in the simplest way: all outputs at once.
AuthBits plain_iteration(Session& part, const SilentIteration& iteration, const AuthBits& before) {
  const std::size_t reserve = iteration.set.reserve();
  AuthBits base{MacColumn(reserve), KeyColumn(reserve)};
  copy_bits(before.mine.bits.words(), 0, base.mine.bits.words(), 0, reserve);
  std::copy_n(before.mine.macs.begin(), reserve, base.mine.macs.begin());
  std::copy_n(before.peers.keys.begin(), reserve, base.peers.keys.begin());
  SilentMacHolder mine(part, iteration, std::move(base.mine));
  SilentKeyHolder peers(part, iteration, std::move(base.peers));
  peers.correct();
  mine.challenge();
  peers.answer();
  mine.verify();
  AuthBits outputs{MacColumn(iteration.set.outputs()), KeyColumn(iteration.set.outputs())};
  mine.make(0, outputs.mine.view());
  peers.make(0, outputs.peers.view());
  return outputs;
}

// The first M outputs of an iteration are the next one's base, and never given out: A has a chain,
// B makes the iterations by hand.
TEST(SilentSource, GivesOutWhatFollowsTheReserve) {
  constexpr std::size_t kNext = 256;  // of the second iteration
  constexpr SilentSet kSecond = kSilentSets[1];
  AuthBits drawn{MacColumn(kSecond.net() + kNext), KeyColumn(kSecond.net() + kNext)};
  std::vector<AuthBits> plain;
  run_sessions([&](Session& session) {
    SoftSpokenSource start(session, 4, {});
    start.prepare(1);
    if (session.me() == Party::A) {
      SilentSource chain(session, 0, session.channel(), session.log(), start, kSecond);
      chain.draw(drawn.mine.view(), drawn.peers.view());
      return;
    }
    Session part(session, "silent bits", 0, session.channel(), session.log());
    AuthBits bits;
    start.stream(part, 0, kStartSet.reserve())->make(bits);
    const PublicSeed coins = toss_code(part);
    plain.push_back(plain_iteration(part, {kStartSet, 0, coins}, bits));
    plain.push_back(plain_iteration(part, {kSecond, 1, coins}, plain[0]));
    plain.push_back(plain_iteration(part, {kSecond, 2, coins}, plain[1]));
  });
  ASSERT_EQ(plain.size(), 3u);
  const auto expect_equal = [&](std::size_t at, const AuthBits& outputs, std::size_t count) {
    const auto after_reserve = [&](std::size_t i) { return kSecond.reserve() + i; };
    for (std::size_t i = 0; i < count; ++i) {
      const bool bit = outputs.mine.bits[after_reserve(i)];
      ASSERT_EQ((drawn.peers.keys[at + i] ^ global_key_of(Party::A, 1) * bit).value.lo,
                outputs.mine.macs[after_reserve(i)].value.lo)
          << i;
      ASSERT_EQ(drawn.mine.macs[at + i].value.lo,
                (outputs.peers.keys[after_reserve(i)] ^
                 global_key_of(Party::B, 1) * drawn.mine.bits[at + i])
                    .value.lo)
          << i;
    }
  };
  expect_equal(0, plain[1], kSecond.net());
  expect_equal(kSecond.net(), plain[2], kNext);
}

TEST(SilentSource, ChainsOfASessionMakeDifferentBits) {
  std::array<Block, 2> first[2];
  Messages of_a;
  const auto body = [&](Session& session, std::span<const std::unique_ptr<Channel>> more) {
    SoftSpokenSource start(session, 4, {});
    start.prepare(2);
    for (const std::size_t number : {0u, 1u}) {
      Channel& channel = number == 0 ? session.channel() : *more[0];
      SilentSource chain(session, number, channel, session.log(), start, kSet);
      MacColumn mine(128);
      KeyColumn peers(128);
      chain.draw(mine.view(), peers.view());
      first[static_cast<std::size_t>(session.me())][number] = mine.macs[0].value;
    }
  };
  run_workers(2, body, {.wrap_a = recording(of_a)});
  for (const auto& of_party : first)
    EXPECT_FALSE(of_party[0].lo == of_party[1].lo && of_party[0].hi == of_party[1].hi);
  // Each has its own part of the session, and so its own coins.
  std::vector<std::vector<std::byte>> commitments;
  for (const Message& message : of_a)
    if (message.tag == "coin_toss.commitment") commitments.push_back(message.payload);
  ASSERT_EQ(commitments.size(), 2u);
  EXPECT_NE(commitments[0], commitments[1]);
}

// Each takes its base from its own stream of the start: a base that two chains share would give
// them the same secret. The corrections of a stream are a function of the trees, the stream's
// number and the bits.
TEST(SilentSource, ChainsOfASessionHaveTheirOwnBases) {
  Messages sent[2];
  run_workers(2,
              [&](Session& session, std::span<const std::unique_ptr<Channel>> more) {
                SoftSpokenSource start(session, 4, {});
                start.prepare(2);
                const SilentSource first(session, 0, session.channel(), session.log(), start, kSet);
                const SilentSource second(session, 1, *more[0], session.log(), start, kSet);
              },
              {.wrap_a = recording(sent[0]), .wrap_b = recording(sent[1])});
  for (const Messages& of_party : sent) {
    std::vector<std::vector<std::byte>> corrections;
    for (const Message& message : of_party)
      if (message.tag == "softspoken.corrections") corrections.push_back(message.payload);
    // Of the reference bits, and six batches of each chain.
    ASSERT_EQ(corrections.size(), 13u);
    for (std::size_t batch = 1; batch <= 6; ++batch)
      EXPECT_NE(corrections[batch], corrections[batch + 6]) << batch;
  }
}

// A later connection's chain is compared with the reference bits of an earlier one.
TEST(SilentCheating, DetectsAnotherDeltaInTheStart) {
  const auto references = [] {
    std::array<AuthBits, 2> bits;
    run_sessions([&](Session& session) {
      SoftSpokenSource source(session, 4, {});
      bits[static_cast<std::size_t>(session.me())] = source.make_reference_bits();
    });
    return bits;
  };
  const auto run = [&](Block change) {
    auto reference = references();
    return run_sessions(
        [&](Session& outer) {
          const auto me = static_cast<std::size_t>(outer.me());
          const Delta key{outer.global_key().value ^ times(change, outer.me() == Party::B)};
          PhaseLog log;
          Session session(outer.me(), {outer.id(), outer.id()}, key, outer.channel(),
                          outer.rng().fork(), log);
          SoftSpokenSource start(session, 4, {});
          start.set_reference_bits(std::move(reference[me]));
          // The connection's own comparison is in prepare(): here the trees alone.
          start.make_reference_bits();
          SilentSource(session, 0, session.channel(), log, start, kSet);
        },
        {}, false);
  };
  EXPECT_TRUE(both_done(run({0, 0})));
  EXPECT_TRUE(caught_by(run({4, 0}).a, "EQ of global key"));
}

// In a chain a failed check ends both directions, in the start and later.
TEST(SilentCheating, ChainEndsWithWrongCorrectionOrDigestInAnyIteration) {
  for (const Party cheater : {Party::A, Party::B}) {
    for (const std::size_t iteration : {0u, 1u, 2u}) {
      for (const std::string tag : {"silent.corrections", "silent.digest"}) {
        const std::size_t occurrence = tag == "silent.digest" ? iteration : 9 * iteration + 2;
        PartyOptions options;
        (cheater == Party::A ? options.wrap_a : options.wrap_b) =
            cheating(flip_bit(tag, occurrence, 77));
        bool has_used = false;
        const Outcomes outcomes = with_chain(
            kSet,
            [&](Session& session, SilentSource& chain) {
              MacColumn mine(kSet.net() + 128);
              KeyColumn peers(mine.size());
              chain.draw(mine.view(), peers.view());
              if (session.me() != cheater) has_used = true;
            },
            options, 4, false);
        EXPECT_TRUE(caught_by(of(outcomes, peer_of(cheater)), "silent check")) << tag << iteration;
        EXPECT_FALSE(has_used);
      }
    }
  }
}

TEST(SilentCheating, PeerGoneAfterEachMessageOfAChainIsAnError) {
  for (const Party sender : {Party::A, Party::B}) {
    for (const auto& [tag, occurrence] :
         std::initializer_list<std::pair<std::string, std::size_t>>{{"softspoken.corrections", 1},
                                                                    {"softspoken.challenge", 1},
                                                                    {"softspoken.answer", 1},
                                                                    {"global_key.e", 0},
                                                                    {"silent.corrections", 0},
                                                                    {"silent.corrections", 8},
                                                                    {"silent.challenge", 0},
                                                                    {"silent.digest", 0},
                                                                    {"silent.corrections", 17},
                                                                    {"silent.challenge", 1},
                                                                    {"silent.digest", 1},
                                                                    {"silent.corrections", 18},
                                                                    {"silent.challenge", 2},
                                                                    {"silent.digest", 2}}) {
      PartyOptions options;
      (sender == Party::A ? options.wrap_a : options.wrap_b) =
          cheating([cut_tag = tag, cut_at = occurrence](std::string_view sent, std::size_t number,
                                                        std::vector<std::byte>&) {
            if (sent == cut_tag && number == cut_at) throw NetworkError("the cable is cut");
          });
      const Outcomes outcomes = with_chain(
          kSet,
          [&](Session&, SilentSource& chain) {
            MacColumn mine(kSet.net() + 128);
            KeyColumn peers(mine.size());
            chain.draw(mine.view(), peers.view());
          },
          options, 4, false);
      EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Network) << tag << " " << occurrence;
      EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Network) << tag << " " << occurrence;
    }
  }
}

// A chain gives nothing after a failure, though its iteration has outputs left.
TEST(SilentCheating, FailedChainGivesNothingMore) {
  for (const Party cheater : {Party::A, Party::B}) {
    with_chain(
        kSet,
        [&](Session& session, SilentSource& chain) {
          MacColumn mine(kSet.net());
          KeyColumn peers(mine.size());
          const auto draw = [&](std::size_t count) {
            chain.draw(mine.view(0, count), peers.view(0, count));
          };
          if (session.me() == cheater) return draw(kSet.net());
          EXPECT_THROW(draw(kSet.net()), PeerCheated);
          EXPECT_THROW(draw(128), std::logic_error);
        },
        options_with(cheater, 1, flip_bit("silent.digest", 2, 77)));
    const auto cut = [](std::string_view tag, std::size_t occurrence, std::vector<std::byte>&) {
      if (tag == "silent.corrections" && occurrence == 18) throw NetworkError("the cable is cut");
    };
    with_chain(
        kSet,
        [&](Session&, SilentSource& chain) {
          MacColumn mine(128);
          KeyColumn peers(128);
          EXPECT_THROW(
              {
                for (std::size_t drawn = 0; drawn < kSet.net(); drawn += 128)
                  chain.draw(mine.view(), peers.view());
              },
              NetworkError);
          EXPECT_THROW(chain.draw(mine.view(), peers.view()), std::logic_error);
        },
        options_with(cheater, 1, cut));
  }
}

// A second one would repeat the hash keys and the roots of the first, with other noise.
TEST(SilentChains, OfANumberBeginOnce) {
  run_sessions([](Session& session) {
    SilentChains chains(session, 4, kSet, {}, 2);
    chains.prepare(1);
    EXPECT_THROW(chains.stream(session, 0, 128), std::logic_error) << "not begun";
    chains.begin_worker(0, session.channel(), session.log());
    EXPECT_THROW(chains.begin_worker(0, session.channel(), session.log()), std::logic_error);
    EXPECT_THROW(chains.stream(session, 1, 128), std::logic_error) << "of worker 1";
    AuthBits bits;
    chains.stream(session, 2, 100)->make(bits);
    EXPECT_EQ(bits.mine.size(), 128u);
  });
}

}  // namespace
}  // namespace tinyot
