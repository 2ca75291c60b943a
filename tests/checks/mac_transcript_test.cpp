// The amortised MAC check: honest openings settle, any others end the session.
#include "checks/mac_transcript.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "checks/opening.h"
#include "tests/checks/transit_channel.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Kind = Outcome::Kind;

constexpr MessageTag kRevealed{0x7101, "test.revealed"};

// Bits of `owner` and their MACs or keys, dealt from one seed on both sides.
struct Dealt {
  Dealt(Session& session, Party owner, std::size_t count) : bits(count), macs(count), keys(count) {
    Rng rng(Seed{{count, 5u + static_cast<std::uint64_t>(owner)}});
    const Delta delta = global_key_of(peer_of(owner), 1);
    bits = rng.bits(count);
    rng.fill_blocks(std::span(keys));
    if (owner != session.me()) return;
    for (std::size_t i = 0; i < count; ++i) macs[i] = keys[i] ^ delta * bits[i];
  }
  BitVector bits;
  SecretVector<Mac> macs;
  SecretVector<Key> keys;
};

// Changes the bits and MACs of a cheating party before it reveals them.
using Alteration = std::function<void(Dealt&)>;

void open(Session& session, Party owner, std::size_t count, const Alteration& alteration = {}) {
  Dealt dealt(session, owner, count);
  if (owner == session.me()) {
    if (alteration) alteration(dealt);
    reveal_bits(session, kRevealed, dealt.bits);
    absorb_my_macs(session, dealt.macs);
    session.transcripts().mine_due = 0;  // a cheater skips its own check
  } else {
    const BitVector revealed = receive_revealed_bits(session, kRevealed, count);
    absorb_peers_keys(session, dealt.keys, revealed, 0);
  }
}

Outcomes attack(Party owner, std::size_t count, const Alteration& alteration) {
  return run_sessions(
      [&](Session& session) {
        open(session, owner, count, alteration), settle_transcripts(session);
      },
      {}, false);
}

void expect_rejected(const Outcomes& outcomes, Party honest) {
  const Outcome& outcome = honest == Party::A ? outcomes.a : outcomes.b;
  EXPECT_EQ(outcome.kind, Kind::PeerCheated) << outcome.message;
  EXPECT_EQ(outcome.check, "MAC transcript");
}

// Three parts of one session, each with an opening; `alteration` applies to the part number
// `altered`.
Outcomes open_in_parts(std::size_t altered, const Alteration& alteration,
                       const std::vector<std::size_t>& order_of_b = {0, 1, 2}) {
  return run_sessions(
      [&](Session& session) {
        PhaseLog log;
        std::vector<std::unique_ptr<Session>> parts;
        for (std::size_t number = 0; number < 3; ++number) {
          parts.push_back(std::make_unique<Session>(session, crypto::Phase::unregistered("test"),
                                                    number, session.channel(), log));
          open(*parts.back(), Party::A, 65, number == altered ? alteration : Alteration());
          open(*parts.back(), Party::B, 64);
        }
        for (std::size_t i = 0; i < 3; ++i)
          settle_part(session, *parts[session.me() == Party::B ? order_of_b[i] : i]);
      },
      {}, false);
}

// An opened bit whose MAC is not absorbed would be accepted without a check.
TEST(MacTranscript, DoesNotSettleBeforeEveryOpenedBitIsAbsorbed) {
  for (const std::size_t omitted : {1u, 64u}) {
    run_sessions(
        [&](Session& session) {
          Dealt dealt(session, Party::A, 64);
          const std::size_t count = 64 - omitted;
          if (session.me() == Party::A) {
            reveal_bits(session, kRevealed, dealt.bits);
            absorb_my_macs(session, std::span<const Mac>(dealt.macs).first(count));
          } else {
            const BitVector revealed = receive_revealed_bits(session, kRevealed, 64);
            absorb_peers_keys(session, std::span(dealt.keys).first(count), revealed, 0);
          }
          session.channel().flush();
          EXPECT_THROW(settle_transcripts(session), std::logic_error);
        },
        {}, false);
  }
}

// A check has failed on another connection of the session; this one is honest.
TEST(MacTranscript, DoesNotSettleOnceTheSessionIsRevoked) {
  for (const bool in_parts : {false, true}) {
    const Outcomes outcomes = run_sessions(
        [&](Session& session) {
          // of the shards of a session
          const auto first = std::make_shared<RevocationFlag>();
          const auto second = std::make_shared<RevocationFlag>();
          PhaseLog log;
          Session other(session.me(), {session.id(), session.id()}, session.global_key(),
                        session.channel(), session.rng().fork(), log, {first, second});
          settle_transcripts(other);
          if (session.me() == Party::A) second->set();
          if (!in_parts) return (void)settle_transcripts(other);
          Session part(other, crypto::Phase::unregistered("test"), 0, session.channel(), log);
          settle_part(other, part);
        },
        {}, false);
    EXPECT_EQ(outcomes.a.kind, Kind::Other) << outcomes.a.message;
    EXPECT_NE(outcomes.a.message.find("the session is revoked"), std::string::npos);
    EXPECT_EQ(outcomes.b.kind, Kind::Done) << outcomes.b.message;
  }
}

TEST(MacTranscript, SettlesPartsWithTheWhole) {
  const Outcomes honest = open_in_parts(3, {});
  EXPECT_EQ(honest.a.kind, Kind::Done) << honest.a.message;
  EXPECT_EQ(honest.b.kind, Kind::Done) << honest.b.message;
  for (const std::size_t altered : {0u, 1u, 2u})
    expect_rejected(
        open_in_parts(altered, [](Dealt& dealt) { dealt.bits.put(64, !dealt.bits[64]); }),
        Party::B);
}

TEST(MacTranscript, RejectsPartsInAnotherOrder) {
  const Outcomes outcomes = open_in_parts(3, {}, {0, 2, 1});
  EXPECT_EQ(outcomes.a.check, "MAC transcript");
  EXPECT_EQ(outcomes.b.check, "MAC transcript");
}

TEST(MacTranscript, ComparesEveryByteOfTheDigest) {
  for (const Party cheater : {Party::A, Party::B}) {
    for (std::size_t byte = 0; byte < 32; ++byte) {
      PartyOptions options;
      (cheater == Party::A ? options.wrap_a : options.wrap_b) =
          cheating(flip_bit("mac_transcript.digest", 0, 8 * byte));
      const Outcomes outcomes = run_sessions(
          [](Session& session) {
            open(session, Party::A, 65);
            settle_transcripts(session);
          },
          options, false);
      expect_rejected(outcomes, peer_of(cheater));
    }
  }
}

TEST(MacTranscript, SettlesHonestOpenings) {
  run_sessions([](Session& session) {
    settle_transcripts(session);  // nothing opened
    for (const std::size_t count : {1u, 63u, 511u, 512u, 513u, 1025u}) {
      open(session, Party::A, count);
      open(session, Party::B, count + 1);
      settle_transcripts(session);
    }
    settle_transcripts(session);
  });
}

TEST(MacTranscript, CostsAsDocumented) {
  run_sessions([](Session& session) {
    const ChannelCounters before = session.channel().counters();
    settle_transcripts(session);
    EXPECT_EQ(session.channel().counters().bytes_sent - before.bytes_sent, 16u + 32);
    EXPECT_EQ(session.channel().counters().messages_sent - before.messages_sent, 1u);
    EXPECT_EQ(session.channel().counters().rounds - before.rounds, 1u);
  });
}

// Opens shared bits; the block of each should be the same at both parties.
void open_shared(Session& session, std::size_t count, bool has_wrong_block = false) {
  Rng rng(Seed{{count, 9}});
  SecretVector<MacShare> blocks(count);
  rng.fill_blocks(std::span(blocks));
  if (has_wrong_block) blocks[count / 2].value.lo ^= 4;
  reveal_bits(session, kRevealed, BitVector(count));
  receive_revealed_bits(session, kRevealed, count);
  absorb_opened(session, blocks);
}

// The digest of one party's bits.
void settle_direction(Session& session, Party mac_holder) {
  if (session.me() == mac_holder)
    send_digest(session), session.channel().flush();
  else
    receive_digest(session);
}

TEST(MacTranscript, DirectionsSettleOneAtATime) {
  for (const Party first : {Party::A, Party::B})
    run_sessions([&](Session& session) {
      const Party second = peer_of(first);
      open(session, first, 65);
      open_shared(session, 5);
      const ChannelCounters before = session.channel().counters();
      settle_direction(session, first);
      EXPECT_EQ(session.channel().counters().bytes_sent - before.bytes_sent,
                session.me() == first ? 16u + 32 : 0u);
      open(session, second, 64);
      open_shared(session, 6);
      settle_direction(session, second);
      open_shared(session, 7);
      settle_direction(session, second);
      settle_direction(session, first);
      settle_transcripts(session);
    });
}

// A wrong bit is found when its direction settles, whatever the other one has settled before.
TEST(MacTranscript, RejectsWrongBitInEitherDirection) {
  for (const Party cheater : {Party::A, Party::B})
    for (const bool other_first : {false, true}) {
      bool passed_other = false;
      const Outcomes outcomes = run_sessions(
          [&](Session& session) {
            open(session, cheater, 600, [](Dealt& dealt) { dealt.bits.put(7, !dealt.bits[7]); });
            open(session, peer_of(cheater), 600);
            if (other_first) {
              settle_direction(session, peer_of(cheater));
              if (session.me() != cheater) passed_other = true;
            }
            settle_direction(session, cheater);
          },
          {}, false);
      EXPECT_EQ(passed_other, other_first);
      expect_rejected(outcomes, peer_of(cheater));
    }
}

// So is a wrong shared bit, by the party that did not send it.
TEST(MacTranscript, RejectsWrongSharedBitInEitherDirection) {
  constexpr auto kDigestTag = message_tag("mac_transcript.digest");
  for (const Party cheater : {Party::A, Party::B})
    for (const bool other_first : {false, true}) {
      const Outcomes outcomes = run_sessions(
          [&](Session& session) {
            const bool cheats = session.me() == cheater;
            open_shared(session, 20, cheats);
            if (other_first && cheats)  // whose own check would fail
              recv_object<Digest>(session.channel(), kDigestTag);
            else if (other_first)
              send_digest(session), session.channel().flush();
            open_shared(session, 30);
            settle_direction(session, cheater);
          },
          {}, false);
      expect_rejected(outcomes, peer_of(cheater));
    }
}

TEST(MacTranscript, PartsSettleOneDirectionAtATime) {
  for (const bool is_altered : {false, true})
    for (const Party owner : {Party::A, Party::B}) {
      const Outcomes outcomes = run_sessions(
          [&](Session& session) {
            PhaseLog log;
            Session part(session, crypto::Phase::unregistered("test"), 0, session.channel(), log);
            open(part, owner, 65, [&](Dealt& dealt) {
              if (is_altered) dealt.bits.put(64, !dealt.bits[64]);
            });
            if (session.me() == owner)
              send_digest(session, part), session.channel().flush();
            else
              receive_digest(session, part);
          },
          {}, false);
      if (is_altered)
        expect_rejected(outcomes, peer_of(owner));
      else
        EXPECT_EQ((owner == Party::A ? outcomes.b : outcomes.a).kind, Kind::Done);
    }
}

TEST(MacTranscript, RejectsFlippedBit) {
  for (const Party owner : {Party::A, Party::B})
    for (const std::size_t index : {0u, 511u, 512u, 599u})
      expect_rejected(
          attack(owner, 600, [=](Dealt& dealt) { dealt.bits.put(index, !dealt.bits[index]); }),
          peer_of(owner));
}

TEST(MacTranscript, RejectsWrongMac) {
  for (const Party owner : {Party::A, Party::B})
    for (const std::size_t index : {0u, 599u})
      expect_rejected(attack(owner, 600, [=](Dealt& dealt) { dealt.macs[index].value.hi ^= 1; }),
                      peer_of(owner));
}

TEST(MacTranscript, RejectsOmittedOrExtraMac) {
  for (const Party owner : {Party::A, Party::B}) {
    expect_rejected(attack(owner, 600, [](Dealt& dealt) { dealt.macs.pop_back(); }),
                    peer_of(owner));
    expect_rejected(attack(owner, 600, [](Dealt& dealt) { dealt.macs.clear(); }), peer_of(owner));
    expect_rejected(attack(owner, 600, [](Dealt& dealt) { dealt.macs.push_back({}); }),
                    peer_of(owner));
  }
}

TEST(MacTranscript, RejectsMacsInAnotherOrder) {
  for (const Party owner : {Party::A, Party::B})
    expect_rejected(
        attack(owner, 600, [](Dealt& dealt) { std::swap(dealt.macs[3], dealt.macs[4]); }),
        peer_of(owner));
}

// The MAC of a revealed bit must be absorbed before the next settlement, not a later one.
TEST(MacTranscript, RejectsMacsAbsorbedAfterTheSettlement) {
  const Outcomes outcomes = run_sessions(
      [](Session& session) {
        Dealt dealt(session, Party::B, 10);
        if (session.me() == Party::A) {
          absorb_peers_keys(session, dealt.keys, receive_revealed_bits(session, kRevealed, 10), 0);
          settle_transcripts(session);
          return;
        }
        reveal_bits(session, kRevealed, dealt.bits);
        absorb_my_macs(session, std::span(dealt.macs).first(9));
        session.transcripts().mine_due = 0;
        settle_transcripts(session);
        absorb_my_macs(session, std::span(dealt.macs).subspan(9));
      },
      {}, false);
  expect_rejected(outcomes, Party::A);
}

TEST(MacTranscript, RejectsReflectedDigest) {
  for (const bool opened : {false, true}) {
    for (const Party honest : {Party::A, Party::B}) {
      const auto wrapper = in_transit(reflect("mac_transcript.digest"));
      const PartyOptions options =
          honest == Party::A ? PartyOptions{.wrap_a = wrapper} : PartyOptions{.wrap_b = wrapper};
      const Outcomes outcomes = run_sessions(
          [&](Session& session) {
            if (opened) open(session, Party::A, 5), open(session, Party::B, 5);
            settle_transcripts(session);
          },
          options, false);
      expect_rejected(outcomes, honest);
    }
  }
}

TEST(MacTranscript, RejectsReplayedDigest) {
  std::vector<std::byte> first;
  PartyOptions options;
  options.wrap_a = in_transit([&](const Arrival& arrival) {
    if (arrival.tag != "mac_transcript.digest") return;
    if (arrival.occurrence == 0) first.assign(arrival.received.begin(), arrival.received.end());
    if (arrival.occurrence == 1) std::copy(first.begin(), first.end(), arrival.received.begin());
  });
  expect_rejected(
      run_sessions(
          [](Session& session) { settle_transcripts(session), settle_transcripts(session); },
          options, false),
      Party::A);
}

// The transcripts without sessions, across the change of hash keys: the digest of equal blocks does
// not depend on the sizes of the pieces; another block at any position gives another digest.
constexpr std::size_t kEdge = TweakHash::kObjectsMax;

Digest digest_of(std::span<const Block> blocks, std::span<const std::size_t> cuts) {
  MacTranscript transcript({}, Party::A);
  for (const std::size_t cut : cuts) {
    transcript.absorb(blocks.first(cut));
    blocks = blocks.subspan(cut);
  }
  transcript.absorb(blocks);
  return transcript.settle();
}

TEST(MacTranscript, DigestIsIndependentOfPieceSizes) {
  std::vector<Block> blocks(kEdge + 700);
  Rng(Seed{{1, 1}}).fill_blocks(std::span(blocks));
  const Digest whole = digest_of(blocks, {});
  for (const auto& cuts :
       {std::vector<std::size_t>{kEdge - 1, 2}, {kEdge, 1}, {kEdge + 1}, {1, kEdge - 513}})
    EXPECT_TRUE(equal_constant_time(whole, digest_of(blocks, cuts)));
  for (const std::size_t index : {kEdge - 1, kEdge, kEdge + 699}) {
    blocks[index].lo ^= 1;
    EXPECT_FALSE(equal_constant_time(whole, digest_of(blocks, {}))) << index;
    blocks[index].lo ^= 1;
  }
}

// The digest by its definition: the sum of the hashes, each batch under its own key with tweaks
// from 0; then G.
TEST(MacTranscript, EqualsItsDefinition) {
  const SessionId session{{1, 2, 3}};
  std::vector<Block> blocks(kEdge + 700);
  Rng(Seed{{2, 1}}).fill_blocks(std::span(blocks));
  MacTranscript transcript(session, Party::B);
  transcript.absorb(blocks);
  const Digest settled = transcript.settle();
  const auto all = std::span(blocks), first = all.first(kEdge), second = all.subspan(kEdge);
  TweakHash(session, {"MAC transcript", 'B', 0})(HashUse::MacTranscript, 0, first, first);
  TweakHash(session, {"MAC transcript", 'B', 1})(HashUse::MacTranscript, 0, second, second);
  Block sum{0, 0};
  for (const Block& hashed : all) sum ^= hashed;
  const Digest chain = RandomOracle(session, {"MAC chain", 'B', 0}).absorb_object(sum).digest();
  EXPECT_TRUE(equal_constant_time(
      settled, RandomOracle(session, {"MAC digest", 'B', 1}).absorb_object(chain).digest()));
}

TEST(MacTranscript, SettlesHonestOpeningsAcrossTheChangeOfKeys) {
  run_sessions([](Session& session) {
    open(session, Party::A, kEdge - 100);
    open(session, Party::A, 300);
    settle_transcripts(session);
    open(session, Party::A, 5);
    settle_transcripts(session);
  });
}

}  // namespace
}  // namespace tinyot
