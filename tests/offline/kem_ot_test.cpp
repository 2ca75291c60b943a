// Base OTs from ML-KEM-768: both roles by themselves, and in sessions where OpenSSL has it.
#include "offline/base_ot/kem_ot.h"

#include <cstring>

#include "base/error.h"
#include "tests/offline/dealt.h"
#include "tests/support/hex.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

OtDirection direction_of(std::uint8_t first, char sender = 'A') {
  OtDirection direction{{}, sender};
  for (std::size_t i = 0; i < direction.session.bytes.size(); ++i)
    direction.session.bytes[i] = static_cast<std::uint8_t>(first + i);
  return direction;
}

// Offers without decapsulation keys, which the sender cannot distinguish.
std::vector<KemOffer> random_offers(Rng& rng, std::size_t count) {
  std::vector<KemOffer> offers(count);
  for (KemOffer& offer : offers)
    offer = {rng.object<std::array<std::uint8_t, 32>>(), {random_vector(rng), random_vector(rng)}};
  return offers;
}

// The sender judges all vectors before it uses any.
TEST(KemOt, SenderRejectsCoefficientsFromTheModulusOn) {
  Rng rng(Seed{{1, 1}});
  for (const std::size_t index : {std::size_t{0}, std::size_t{2}})
    for (const std::size_t half : {std::size_t{0}, std::size_t{1}})
      for (const std::size_t byte : {std::size_t{0}, std::size_t{1149}}) {
        std::vector<KemOffer> offers = random_offers(rng, 3);
        // two coefficients of 0xFFF
        std::memset(offers[index].r.of[half].bytes.data() + byte, 0xFF, 3);
        BaseOtSent ots;
        try {
          KemOtSender(direction_of(0)).answer(rng, offers, ots);
          ADD_FAILURE() << index << ", " << half << ", " << byte;
        } catch (const PeerCheated& error) {
          EXPECT_EQ(error.check(), "base OT vector");
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
        EXPECT_TRUE(ots.pairs.empty());
      }
}

TEST(KemOt, PairsHoldTheChosenOneAtItsPlace) {
  struct Bytes {
    std::array<std::uint8_t, 3> bytes;
  };
  const Bytes chosen{{1, 2, 3}}, other{{4, 5, 6}};
  for (const bool c : {false, true}) {
    const OtPair<Bytes> pair = pair_with(c, chosen, other);
    EXPECT_EQ(pair.of[c].bytes, chosen.bytes);
    EXPECT_EQ(pair.of[!c].bytes, other.bytes);
    EXPECT_EQ(chosen_of(pair, c).bytes, chosen.bytes);
    EXPECT_EQ(chosen_of(pair, !c).bytes, other.bytes);
  }
}

// What needs OpenSSL 3.5.
class KemOts : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_ml_kem()) GTEST_SKIP() << ml_kem_shortage();
  }

  // The receiver's seed of OT 0 and the sender's two, in one direction, with what a cheater
  // changes.
  struct Seeds {
    std::string received, zero, one;
  };
  static Seeds seeds_with(bool choice, const OtDirection& of_receiver, const OtDirection& of_sender,
                          const std::function<void(KemOffer&)>& alter_offer = {},
                          const std::function<void(KemAnswer&)>& alter_answer = {}) {
    Rng rng(Seed{{2, 2}});
    BitVector choices(1);
    choices.put(0, choice);
    KemOtReceiver receiver(of_receiver, std::move(choices));
    std::vector<KemOffer> offers = receiver.choose(rng);
    if (alter_offer) alter_offer(offers[0]);
    BaseOtSent sent;
    std::vector<KemAnswer> answers = KemOtSender(of_sender).answer(rng, offers, sent);
    if (alter_answer) alter_answer(answers[0]);
    const BaseOtReceived received = receiver.finish(answers);
    return {text_of(received.seeds[0]), text_of(sent.pairs[0].zero), text_of(sent.pairs[0].one)};
  }
  static std::string text_of(const Seed& seed) {
    std::array<std::uint8_t, sizeof seed> bytes;
    std::memcpy(bytes.data(), &seed, sizeof seed);
    return test::hex_of(bytes);
  }
  static void expect_without_agreement(const Seeds& seeds) {
    EXPECT_NE(seeds.received, seeds.zero);
    EXPECT_NE(seeds.received, seeds.one);
  }
};

// Expected values by tests/offline/kem_ot_vectors.py.
TEST_F(KemOts, MatchVectors) {
  Rng of_receiver(Seed{{1, 2}}), of_sender(Seed{{3, 4}});
  BitVector choices(3);
  choices.put(1, true);
  choices.put(2, true);
  KemOtReceiver receiver(direction_of(0), std::move(choices));
  const std::vector<KemOffer> offers = receiver.choose(of_receiver);
  BaseOtSent sent;
  const std::vector<KemAnswer> answers =
      KemOtSender(direction_of(0)).answer(of_sender, offers, sent);
  const BaseOtReceived received = receiver.finish(answers);
  EXPECT_EQ(test::hex_of(sha256(std::as_bytes(std::span(offers))).bytes),
            "c4eefbcc5f9afdabfcb26fef5d7d99552d219dbfaccae26cb6f8b112aa37b0a4");
  EXPECT_EQ(test::hex_of(sha256(std::as_bytes(std::span(answers))).bytes),
            "4ae5ca0243cf8a93960a490931cf09641381f2e440dd5b0b1cf4ca5d831ea028");
  const std::string expected[][2] = {
      {"25a367f68fce20d15b19ae9b4b8169d7", "a0a113be753c2e6a65c9c89c9071db8d"},
      {"20efb291624b19e8501e3ad90268fadf", "628a00fcdbac71a5450743a44241a023"},
      {"8378db55e7efd1dde7de69d93e4b8331", "3e193a4b9b1318d7a8c1dad63d25a2b4"}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(text_of(sent.pairs[i].zero), expected[i][0]) << i;
    EXPECT_EQ(text_of(sent.pairs[i].one), expected[i][1]) << i;
    EXPECT_EQ(text_of(received.seeds[i]), expected[i][i > 0]) << i;
  }
}

TEST_F(KemOts, AgreeInTheChosenSeedAlone) {
  for (const bool choice : {false, true}) {
    const Seeds seeds = seeds_with(choice, direction_of(0), direction_of(0));
    EXPECT_EQ(seeds.received, choice ? seeds.one : seeds.zero);
    EXPECT_NE(seeds.received, choice ? seeds.zero : seeds.one);
  }
}

// Whatever is altered on the way, the seeds differ; the checks of what is made from them find it.
TEST_F(KemOts, AnyAlteredPartChangesTheSeeds) {
  for (const bool choice : {false, true}) {
    const auto with = [&](const std::function<void(KemOffer&)>& of_offer,
                          const std::function<void(KemAnswer&)>& of_answer) {
      expect_without_agreement(
          seeds_with(choice, direction_of(0), direction_of(0), of_offer, of_answer));
    };
    with([](KemOffer& offer) { offer.rho[31] ^= 1; }, {});
    for (const std::size_t half : {std::size_t{0}, std::size_t{1}}) {
      with(
          [=](KemOffer& offer) {
            KemVector one{};
            one.bytes[0] = 1;
            offer.r.of[half] = offer.r.of[half] + one;
          },
          {});
      with({}, [=](KemAnswer& answer) { answer.of[half].bytes[1087] ^= 0x80; });
    }
    with({}, [](KemAnswer& answer) { std::swap(answer.of[0], answer.of[1]); });
  }
}

TEST_F(KemOts, AreBoundToSessionAndDirection) {
  for (const OtDirection& other : {direction_of(1), direction_of(0, 'B')})
    expect_without_agreement(seeds_with(true, direction_of(0), other));
}

TEST_F(KemOts, EachOtHasItsOwnHashes) {
  Rng rng(Seed{{3, 3}});
  std::vector<KemOffer> offers = random_offers(rng, 1);
  offers.push_back(offers[0]);
  Rng same(Seed{{4, 4}});
  BaseOtSent sent;
  const std::vector<KemAnswer> answers = KemOtSender(direction_of(0)).answer(same, offers, sent);
  EXPECT_NE(text_of(sent.pairs[0].zero), text_of(sent.pairs[1].zero));
  // With the same randomness, the ciphertexts of the second OT are still to other keys.
  Rng again(Seed{{4, 4}});
  BaseOtSent ignored;
  again.object<std::array<std::uint8_t, 64>>();
  const std::vector<KemAnswer> first_only =
      KemOtSender(direction_of(0)).answer(again, std::span(offers).first(1), ignored);
  EXPECT_NE(test::hex_of(first_only[0].of[0].bytes), test::hex_of(answers[1].of[0].bytes));
}

constexpr std::size_t kOts = 1000;

TEST_F(KemOts, AThousandAgreeInBothDirections) {
  BaseOts of[2];
  run_sessions(
      [&](Session& session) {
        const ChannelCounters before = session.channel().counters();
        of[static_cast<int>(session.me())] = base_ots_by_public_key(session, kOts);
        EXPECT_EQ(session.channel().counters().bytes_sent - before.bytes_sent,
                  2 * 16 + base_ot_bytes(BaseOt::MlKem) * kOts);
        EXPECT_EQ(session.channel().counters().rounds - before.rounds, 2u);
      },
      {.base_ot = BaseOt::MlKem});
  EXPECT_EQ(base_ot_bytes(BaseOt::MlKem), 2 * 1152 + 32 + 2 * 1088u);
  for (const int sender : {0, 1}) {
    const BaseOtSent& sent = of[sender].sent;
    const BaseOtReceived& received = of[1 - sender].received;
    std::size_t ones = 0;
    for (std::size_t i = 0; i < kOts; ++i) {
      const bool choice = received.choices[i];
      ones += choice;
      const std::string mine = text_of(received.seeds[i]);
      EXPECT_EQ(mine, text_of(choice ? sent.pairs[i].one : sent.pairs[i].zero)) << i;
      EXPECT_NE(mine, text_of(choice ? sent.pairs[i].zero : sent.pairs[i].one)) << i;
    }
    EXPECT_GT(ones, kOts / 2 - 80);
    EXPECT_LT(ones, kOts / 2 + 80);
  }
}

// B deviates in a session that makes two OTs each way: A's outcome, and whether the seeds of the
// first OT of which B is receiver agree.
struct Deviated {
  Outcome of_a;
  bool agree;
};
Deviated deviated(std::uint64_t seed, const Deviation& deviation) {
  BaseOts of[2];
  PartyOptions options = options_with(Party::B, seed, deviation);
  options.base_ot = BaseOt::MlKem;
  const Outcomes outcomes = run_sessions(
      [&](Session& session) {
        of[static_cast<int>(session.me())] = base_ots_by_public_key(session, 2);
      },
      options, false);
  if (outcomes.a.kind != Outcome::Kind::Done) return {outcomes.a, false};
  const SeedPair& sent = of[0].sent.pairs[0];
  const bool choice = of[1].received.choices[0];
  return {outcomes.a,
          test::same(of[1].received.seeds[0].value, choice ? sent.one.value : sent.zero.value)};
}

TEST_F(KemOts, MessageOfAnotherSessionHasNoEffectButOtherSeeds) {
  std::vector<std::byte> earlier;
  EXPECT_TRUE(deviated(1, [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
                if (tag == "base_ot.kem_r") earlier = payload;
              }).agree);
  const Deviated replayed =
      deviated(2, [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
        if (tag == "base_ot.kem_r") payload = earlier;
      });
  EXPECT_EQ(replayed.of_a.kind, Outcome::Kind::Done) << replayed.of_a.message;
  EXPECT_FALSE(replayed.agree);
}

TEST_F(KemOts, SessionEndsAtWrongVectorsAndLengths) {
  const Deviated invalid =
      deviated(1, [](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
        if (tag == "base_ot.kem_r")
          std::fill(payload.begin() + 32, payload.begin() + 35, std::byte{0xFF});
      });
  EXPECT_EQ(invalid.of_a.check, "base OT vector") << invalid.of_a.message;
  for (const std::string_view tag : {"base_ot.kem_r", "base_ot.kem_s"}) {
    const Deviated shorter =
        deviated(1, [=](std::string_view sent, std::size_t, std::vector<std::byte>& payload) {
          if (sent == tag) payload.pop_back();
        });
    EXPECT_EQ(shorter.of_a.kind, Outcome::Kind::PeerCheated) << shorter.of_a.message;
    EXPECT_TRUE(shorter.of_a.check.starts_with("framing")) << shorter.of_a.check;
  }
}

}  // namespace
}  // namespace tinyot
