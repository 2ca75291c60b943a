// Which online phase a run has.
#include "engine/phase_choice.h"

#include <gtest/gtest.h>

#include "tests/support/two_parties.h"

namespace tinyot::test {
namespace {

using engine::PhaseChoice;
using std::chrono::microseconds;

// What A chooses, and what B is told, for a circuit over a link; a rate of 0 is measured if the
// choice depends on it.
OnlinePhase chosen(
    const std::string& name, std::size_t lanes, const net::LinkShape& link,
    const PhaseChoice::CanHave& can_have = [](const auto&) { return true; },
    const engine::PreparationBy& preparation_by = engine::not_prepared) {
  const auto circuit = *LoadedCircuit::generated(name, lanes);
  std::array<OnlinePhase, 2> phases{};
  run_channels([&](Party me, Channel& channel) {
    PhaseChoice choice(AndMaterial::Garbling, {});
    EXPECT_TRUE(choice.is_open());
    circuit::CircuitRounds rounds = circuit.rounds(1 << 20);
    if (me == Party::A) choice.estimate(circuit, rounds, preparation_by);
    net::LinkShape measured = link;
    choice.choose(channel, me, measured, can_have);
    const bool has_measured = measured.bits_per_s != link.bits_per_s;
    if (me == Party::A) {
      EXPECT_EQ(channel.counters().messages_sent, has_measured ? 2u : 1u);
    } else {
      EXPECT_FALSE(has_measured);
    }
    phases[static_cast<std::size_t>(me)] = choice.phase().phase;
  });
  EXPECT_EQ(phases[0], phases[1]);
  return phases[0];
}

TEST(PhaseChoice, DependsOnTheLinkAndTheCircuit) {
  EXPECT_EQ(chosen("aes128", 512, {microseconds(50), 1e9}), OnlinePhase::Interactive);
  EXPECT_EQ(chosen("aes128", 512, {microseconds(100'000), 1e9}), OnlinePhase::Garbled);
  EXPECT_EQ(chosen("random:width=65536,depth=16", 1, {microseconds(1000), 1e9}),
            OnlinePhase::Interactive);
  EXPECT_EQ(chosen("random:width=16,depth=256", 1, {microseconds(1000), 1e9}),
            OnlinePhase::Garbled);
}

// 320,000 ANDs in 61 rounds: rows of 13 MB, or 30 round trips.
TEST(PhaseChoice, DependsOnTheRateOfTheLink) {
  for (const auto& [bits_per_s, phase] :
       {std::pair(100e6, OnlinePhase::Interactive), {10e9, OnlinePhase::Garbled}})
    EXPECT_EQ(chosen("comparisons", 1, {microseconds(20'000), bits_per_s}), phase);
}

TEST(PhaseChoice, MeasuresTheRateOnceIfTheChoiceDependsOnIt) {
  for (const auto& [name, is_measured] : {std::pair("comparisons", true), {"aes128", false}}) {
    const auto circuit = *LoadedCircuit::generated(name, 1);
    run_channels([&, measures = is_measured](Party me, Channel& channel) {
      net::LinkShape link{microseconds(20'000), 0};
      for (int i = 0; i < 2; ++i) {
        PhaseChoice choice(AndMaterial::Garbling, {});
        circuit::CircuitRounds rounds = circuit.rounds(1 << 20);
        if (me == Party::A) choice.estimate(circuit, rounds);
        choice.choose(channel, me, link, [](const auto&) { return true; });
        EXPECT_EQ(link.bits_per_s > 0, measures && me == Party::A);
      }
      const std::uint64_t measuring = me == Party::A ? 1 : 4;
      EXPECT_EQ(channel.counters().messages_sent,
                (me == Party::A ? 2 : 0) + (measures ? measuring : 0));
    });
  }
}

// Whatever its rate.
TEST(PhaseChoice, WithoutMaterialForTheOtherPhaseNothingIsMeasured) {
  EXPECT_EQ(chosen("comparisons", 1, {microseconds(20'000), 0},
                   [](const auto& phase) { return phase.phase == OnlinePhase::Garbled; }),
            OnlinePhase::Garbled);
}

TEST(PhaseChoice, IsOfThoseThatThereIsMaterialFor) {
  EXPECT_EQ(chosen("aes128", 1, {microseconds(100'000), 0},
                   [](const auto& phase) { return phase.phase != OnlinePhase::Garbled; }),
            OnlinePhase::Interactive);
}

// Of a run whose inputs come later, only what is left then counts: its rows have been sent.
TEST(PhaseChoice, OfAPreparedRunDependsOnWhatIsLeftAfterItsInputs) {
  constexpr const char* kWide = "random:width=65536,depth=16";
  for (const RowCheck check : {RowCheck::Early, RowCheck::Batched})
    EXPECT_EQ(chosen(
                  kWide, 1, {microseconds(1000), 1e9}, [](const auto&) { return true; },
                  [=](const online::OnlinePhaseEntry& phase) {
                    return std::optional(online::Preparation{
                        .row_check = phase.phase == OnlinePhase::Garbled ? std::optional(check)
                                                                         : std::nullopt});
                  }),
              OnlinePhase::Garbled);
  EXPECT_EQ(chosen(kWide, 1, {microseconds(1000), 1e9}), OnlinePhase::Interactive);
}

TEST(PhaseChoice, MaskedRunsAreChosenForLaterInputsOnly) {
  PhaseChoice choice(AndMaterial::Triples, {});
  EXPECT_FALSE(choice.is_open());
  EXPECT_EQ(choice.phase().phase, OnlinePhase::Interactive);
  EXPECT_TRUE(choice.parameter().is_open) << "the peer may ask for it";
  choice.set_inputs_later();
  EXPECT_TRUE(choice.is_open());
  EXPECT_EQ(PhaseChoice(AndMaterial::Triples, OnlinePhase::Masked).phase().phase,
            OnlinePhase::Masked);
  EXPECT_THROW(PhaseChoice(AndMaterial::AandAot, OnlinePhase::Masked), UsageError);
}

TEST(PhaseChoice, TimesAreThoseOfTheProtocol) {
  // doc/protocol.md, section 16.7
  const online::OnlinePhaseEntry& interactive =
      *online::phases_on(AndMaterial::Garbling, OnlinePhase::Interactive).front();
  const engine::RunEstimate estimate{&interactive, 1, {1'000'000, 10, {12, 13}, {1000, 5'000'000}}};
  EXPECT_DOUBLE_EQ(engine::expected_s(estimate, 1, {std::chrono::milliseconds(20), 100e6}),
                   0.13 + 0.4);
  EXPECT_DOUBLE_EQ(engine::expected_s(estimate, 1, {std::chrono::milliseconds(20), 0}),
                   0.13 + 1e6 * interactive.and_s(1, {}));
}

// Large circuits are not layered for it.
TEST(PhaseChoice, DepthTellsAboutTheRounds) {
  const auto circuit = *LoadedCircuit::generated("aes128", 3);
  const auto phases = online::phases_on(AndMaterial::Garbling, {});
  for (const engine::PreparationBy& by :
       {engine::PreparationBy(engine::not_prepared),
        engine::PreparationBy([](const online::OnlinePhaseEntry& phase) {
          return std::optional(phase.preparation_for({}, 40, {}));
        })}) {
    circuit::CircuitRounds rounds = circuit.rounds(1 << 20);
    for (const engine::RunEstimate& exact :
         engine::estimate_runs(circuit, rounds, phases, AndMaterial::Garbling, by)) {
      SCOPED_TRACE(exact.phase->name);
      const online::RunCost about =
          engine::estimate_from_depth(circuit, exact.window, *exact.phase, AndMaterial::Garbling,
                                      exact.preparation)
              .cost;
      EXPECT_EQ(about.ands, exact.cost.ands);
      for (const std::size_t party : {0, 1}) {
        EXPECT_EQ(about.half_round_trips[party], exact.cost.half_round_trips[party]);
        EXPECT_NEAR(static_cast<double>(about.bytes_sent[party]),
                    static_cast<double>(exact.cost.bytes_sent[party]),
                    0.1 * static_cast<double>(exact.cost.bytes_sent[party]));
      }
    }
  }
}

TEST(PhaseChoice, NothingIsSentAboutOnePhase) {
  run_channels([](Party me, Channel& channel) {
    for (PhaseChoice choice : {PhaseChoice(AndMaterial::Garbling, OnlinePhase::Garbled),
                               PhaseChoice(AndMaterial::Triples, {})}) {
      EXPECT_FALSE(choice.is_open());
      net::LinkShape link;
      choice.choose(channel, me, link, [](const auto&) { return true; });
    }
    EXPECT_EQ(channel.counters().messages_sent, 0u);
  });
}

TEST(PhaseChoice, AcceptsWhatThePeerAsksFor) {
  PhaseChoice choice(AndMaterial::Garbling, {});
  EXPECT_TRUE(choice.parameter().is_open);
  choice.accept({{{"online phase", "auto", {}, true}}, {}});
  EXPECT_TRUE(choice.is_open());
  EXPECT_THROW(choice.accept({{{"online phase", "another"}}, {}}), Disagreement);
  choice.accept({{{"online phase", "garbled"}}, {}});
  EXPECT_EQ(choice.phase().phase, OnlinePhase::Garbled);
}

TEST(PhaseChoice, OtherNumbersAreRefused) {
  // 0 asks for a measurement, once.
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{3}, ~std::uint64_t{0}}) {
    const Outcomes outcomes = run_channels([&](Party me, Channel& channel) {
      if (me == Party::A) {
        for (int i = 0; i < (number == 0 ? 2 : 1); ++i)
          net::send_object(channel, MessageTag{0x2202, "run.online"}, number);
        channel.flush();
        return;
      }
      net::LinkShape link;
      PhaseChoice(AndMaterial::Garbling, {}).choose(channel, me, link, {});
    });
    EXPECT_EQ(outcomes.b.kind, Outcome::Kind::PeerCheated);
    EXPECT_TRUE(outcomes.b.check.starts_with("framing: message run.online")) << outcomes.b.check;
  }
}

}  // namespace
}  // namespace tinyot::test
