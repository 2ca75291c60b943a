// The whole offline phase with one party that alters one message: a table has the expected outcome
// of the honest party for every message. In any case no material that depends on the altered
// message reaches its sink.
#include <algorithm>
#include <ostream>
#include <set>

#include "offline/unit/preprocessor.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

enum class Expected {
  Caught,  // the honest party ends with PeerCheated of the named check
  // as Caught if the guess is wrong; otherwise there is no effect and the material is correct
  Guess,
  OwnHarm,  // only the cheater's own material is wrong, and the cheater detects it
};

enum class Sender { Either, OnlyA, OnlyB };

struct Attack {
  const char* tag;
  std::size_t occurrence;
  std::size_t bit;
  std::size_t stride;  // 0: this bit only; otherwise every stride-th bit from it on
  Expected expected;
  const char* check;
  Sender sender = Sender::Either;
  std::size_t units = 1;
};

void PrintTo(const Attack& attack, std::ostream* out) {
  *out << attack.tag << " #" << attack.occurrence << " bit " << attack.bit;
}

const Attack kAttacks[] = {
    {"unit.begin", 0, 0, 0, Expected::Caught, "unit number"},
    {"unit.begin", 0, 65, 0, Expected::Caught, "unit number"},  // the flag is neither 0 nor 1
    // an odd encoding is not a point
    {"base_ot.r", 0, 0, 0, Expected::Caught, "base OT point"},
    {"base_ot.s", 0, 0, 0, Expected::Caught, "base OT point"},
    {"labit.corrections", 0, 5 * 512, 0, Expected::Guess, "EQ of LaBit"},
    {"labit.corrections", 0, 0, 512, Expected::Caught, "EQ of LaBit"},
    {"labit.pairing", 0, 100, 0, Expected::Caught, "EQ of LaBit"},
    {"labit.d", 0, 17, 0, Expected::Caught, "EQ of LaBit"},
    // an odd encoding is not a point
    {"eq.point", 0, 0, 0, Expected::Caught, "EQ point", Sender::OnlyA},
    {"eq.point", 1, 255, 0, Expected::Caught, "EQ point", Sender::OnlyA},
    {"eq.answer", 0, 0, 0, Expected::Caught, "EQ point", Sender::OnlyB},
    {"eq.answer", 0, 256 + 3, 0, Expected::Caught, "EQ of LaBit", Sender::OnlyB},
    {"eq.answer", 1, 511, 0, Expected::Caught, "EQ of leaky objects", Sender::OnlyB},
    {"eq.confirmation", 0, 3, 0, Expected::Caught, "EQ of LaBit", Sender::OnlyA},
    {"eq.confirmation", 1, 255, 0, Expected::Caught, "EQ of leaky objects", Sender::OnlyA},
    // the honest party's MACs are wrong, also those of the c with which it opens X
    {"abit.r", 0, 9, 0, Expected::Caught, "LaOT MAC"},
    {"laand.d", 0, 30, 0, Expected::Caught, "EQ of leaky objects"},
    {"laand.u", 0, 128 * 30, 0, Expected::Guess, "EQ of leaky objects"},
    {"laand.u", 0, 0, 128, Expected::Caught, "EQ of leaky objects"},
    {"laot.x.bits", 0, 30, 0, Expected::Guess, "LaOT MAC"},
    {"laot.x.bits", 1, 0, 1, Expected::Caught, "LaOT MAC"},
    {"laot.x.macs", 0, 128 * 30, 0, Expected::Guess, "LaOT MAC"},
    {"laot.x.macs", 1, 0, 128, Expected::Caught, "LaOT MAC"},
    {"laot.x.macs", 1, 127, 128, Expected::Caught, "LaOT MAC"},
    {"laot.x.t", 0, 128 * 30, 0, Expected::Guess, "EQ of leaky objects"},
    {"laot.x.t", 1, 0, 128, Expected::Caught, "EQ of leaky objects"},
    {"laot.d", 0, 30, 0, Expected::Caught, "EQ of leaky objects"},
    {"laot.i", 0, 128 * 30, 0, Expected::Guess, "EQ of leaky objects"},
    {"laot.i", 1, 0, 128, Expected::Caught, "EQ of leaky objects"},
    {"bucket.permutation_seed", 0, 0, 0, Expected::Caught, "MAC transcript"},
    // The receiver sends a permutation other than the one it uses: its own c and z are folded in a
    // different order than the sender's keys.
    {"bucket.permutation_seed", 1, 0, 0, Expected::OwnHarm, ""},
    {"aand.d", 0, 0, 0, Expected::Caught, "MAC transcript"},
    {"aand.d", 0, 64, 0, Expected::Caught, "MAC transcript"},
    {"aot.d", 0, 0, 0, Expected::Caught, "MAC transcript"},
    {"aot.d", 0, 64, 0, Expected::Caught, "MAC transcript"},
    {"mac_transcript.digest", 0, 200, 0, Expected::Caught, "MAC transcript"},
    // With several units, a run before them makes the reference bits.
    {"labit.corrections", 0, 0, 512, Expected::Caught, "EQ of LaBit", Sender::Either, 2},
    {"global_key.e", 0, 9, 0, Expected::Caught, "EQ of global key", Sender::Either, 2},
    {"eq.answer", 2, 256 + 3, 0, Expected::Caught, "EQ of global key", Sender::OnlyB, 2},
    {"eq.confirmation", 2, 3, 0, Expected::Caught, "EQ of global key", Sender::OnlyA, 2},
};

struct UnitRun {
  MemorySink sinks[2];
  Outcomes outcomes;
};

// Units of 64 ANDs: buckets of 7.
UnitRun run(const PartyOptions& options, std::size_t units = 1) {
  UnitRun made;
  const auto params =
      SecurityParameters::make({.own = Nnob12Parameters{Columns::Experiment}, .unit = 64});
  made.outcomes = run_sessions(
      [&](Session& session) {
        Preprocessor preprocessor(session, params);
        const std::vector<UnitRequest> requests(units, {params.plan(64).at(0), 3});
        preprocessor.make_units(requests, made.sinks[static_cast<int>(session.me())]);
      },
      options, false);
  return made;
}

class OfflineAttack : public testing::TestWithParam<Attack> {
 protected:
  static void attack_as(Party cheater) {
    const Attack& attack = GetParam();
    bool done = false;
    const auto alter = [&](std::string_view tag, std::size_t occurrence,
                           std::vector<std::byte>& payload) {
      if (tag != attack.tag || occurrence != attack.occurrence) return;
      done = true;
      const std::size_t end = attack.stride == 0 ? attack.bit + 1 : 8 * payload.size(),
                        step = std::max<std::size_t>(attack.stride, 1);
      for (std::size_t bit = attack.bit; bit < end; bit += step)
        payload.at(bit / 8) ^= std::byte{1} << (bit % 8);
    };
    const UnitRun made = run(options_with(cheater, 1, alter), attack.units);
    ASSERT_TRUE(done) << "the attacked message was not sent";
    judge(made, cheater);
  }

  static void judge(const UnitRun& made, Party cheater) {
    const Attack& attack = GetParam();
    const Party honest = peer_of(cheater);
    const Outcome &of_honest = of(made.outcomes, honest), &of_cheater = of(made.outcomes, cheater);
    const std::string check = attack.check;
    if (attack.expected == Expected::OwnHarm) {
      EXPECT_EQ(of_cheater.check, "MAC transcript") << of_cheater.message;
      return;
    }
    if (attack.expected == Expected::Guess && of_honest.kind == Outcome::Kind::Done) {
      expect_good(made.sinks[0], made.sinks[1], global_key_of(Party::A, 1),
                  global_key_of(Party::B, 1));
      EXPECT_EQ(made.sinks[static_cast<int>(honest)].units, 1);
      return;
    }
    EXPECT_EQ(made.sinks[static_cast<int>(honest)].units, 0);
    EXPECT_TRUE(made.sinks[static_cast<int>(honest)].made.empty());
    // In EQ A learns the result first: a cheating A that follows the protocol from here on stops by
    // itself and sends an abort to B.
    if (cheater == Party::A && check.starts_with("EQ of") &&
        !std::string_view(attack.tag).starts_with("eq.")) {
      EXPECT_EQ(of_cheater.check, check) << of_cheater.message;
      EXPECT_EQ(of_honest.kind, Outcome::Kind::PeerAborted) << of_honest.message;
      return;
    }
    EXPECT_EQ(of_honest.kind, Outcome::Kind::PeerCheated) << of_honest.message;
    EXPECT_EQ(of_honest.check, check);
  }
};

TEST_P(OfflineAttack, EndsAsExpected) {
  // The tests of LaBit, LaAND and LaOT count single guesses for each role; here one cheater
  // suffices.
  if (GetParam().sender != Sender::OnlyB && GetParam().expected != Expected::Guess)
    attack_as(Party::A);
  if (GetParam().sender != Sender::OnlyA) attack_as(Party::B);
}

INSTANTIATE_TEST_SUITE_P(EveryMessage, OfflineAttack, testing::ValuesIn(kAttacks));

TEST(OfflineCheating, EndsWhenOnePartyDeclinesTheNextUnit) {
  for (const Party cheater : {Party::A, Party::B}) {
    const UnitRun made = run(options_with(cheater, 1, flip_bit("unit.begin", 0, 64)));
    EXPECT_EQ(of(made.outcomes, peer_of(cheater)).kind, Outcome::Kind::Done);
    EXPECT_EQ(of(made.outcomes, cheater).kind, Outcome::Kind::Network);
    for (const MemorySink& sink : made.sinks) EXPECT_EQ(sink.units, 0);
  }
}

TEST(OfflineCheating, TableCoversEveryMessage) {
  std::set<std::string> sent[2], attacked;
  const auto note = [](std::set<std::string>& tags) {
    return cheating(
        [&tags](std::string_view tag, std::size_t, std::vector<std::byte>&) { tags.emplace(tag); });
  };
  run({.wrap_a = note(sent[0]), .wrap_b = note(sent[1])}, 2);
  for (const Attack& attack : kAttacks) attacked.insert(attack.tag);
  sent[0].merge(sent[1]);
  for (const std::string& tag : sent[0]) {
    // tests/checks/session_test.cpp
    if (tag.starts_with("handshake.") || tag.starts_with("session.")) continue;
    EXPECT_TRUE(attacked.contains(tag)) << tag;
  }
}

}  // namespace
}  // namespace tinyot
