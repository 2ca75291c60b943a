// The online phases on one store of material for garbling, by the public headers alone.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/library/garbling_stores.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using circuit::InputSource;
using circuit::make_circuit;
using circuit::Number;
using circuit::Program;
using circuit::Receiver;

// x * y to both, and x + y + p, which stays shared.
std::unique_ptr<circuit::Circuit> both_kinds() {
  return make_circuit("both kinds", [](Program& program) {
    const Number x = program.input("x", 16, Party::A), y = program.input("y", 16, Party::B),
                 p = program.input("p", 16, InputSource::Public);
    program.output("product", x * y);
    program.output("sum", x + y + p, Receiver::None);
  });
}

std::unique_ptr<circuit::Circuit> square() {
  return make_circuit("square", [](Program& program) {
    const Number s = program.input("sum", 16, InputSource::Shared);
    program.output("square", s * s, Receiver::B);
  });
}

Values inputs_of(Party party, std::uint64_t mine, std::uint64_t p) {
  return input_of(party, mine).set("p", p);
}

class GarbledRuns : public testing::TestWithParam<Profile> {};
INSTANTIATE_TEST_SUITE_P(OfEachProfile, GarbledRuns,
                         testing::Values(Profile::Nnob12, Profile::Fast, Profile::Wan),
                         [](const auto& profile) { return std::string(name_of(profile.param)); });

TEST_P(GarbledRuns, TakeTheSameStoreAsInteractiveOnes) {
  const GarblingStores stores(GetParam());
  both([&](Party party) {
    const std::uint64_t mine = party == Party::A ? 123 : 45;
    for (const OnlinePhase phase :
         {OnlinePhase::Garbled, OnlinePhase::Interactive, OnlinePhase::Garbled}) {
      const RunResult result =
          run(stores.run(party, phase), *both_kinds(), inputs_of(party, mine, 7));
      EXPECT_EQ(result.outputs.integer("product"), 123u * 45u);
      EXPECT_FALSE(result.outputs.contains("sum"));
    }
    const auto info = store_info(stores.of(party));
    const std::uint64_t ands = count_gates(*both_kinds()).ands;
    EXPECT_EQ(info.of(MaterialKind::FullTriples).left, 8192 - 3 * ands);
    EXPECT_EQ(info.of(MaterialKind::Triples).left, 0u);
  });
}

TEST_P(GarbledRuns, ContinueWithSharedValues) {
  const GarblingStores stores(GetParam());
  both([&](Party party) {
    Evaluator evaluator(stores.run(party, OnlinePhase::Garbled));
    const std::uint64_t number = evaluator.prepare(*both_kinds());
    const RunResult first = evaluator.finish(number, inputs_of(party, 200, 300));
    const RunResult second = evaluator.run(*square(), {}, first.shared);
    EXPECT_EQ(second.outputs.contains("square"), party == Party::B);
    if (party == Party::B) {
      EXPECT_EQ(second.outputs.integer("square"), 700u * 700u % 65536);
    }
  });
}

// The rows are made before the inputs are given, and other runs come between.
TEST_P(GarbledRuns, ArePreparedWithEitherRowCheck) {
  const GarblingStores stores(GetParam());
  for (const auto check : {std::optional<RowCheck>(), std::optional(RowCheck::Batched)}) {
    both([&](Party party) {
      RunRequest request = stores.run(party, OnlinePhase::Garbled);
      request.row_check = check;
      Evaluator evaluator(request);
      const std::uint64_t first = evaluator.prepare(*both_kinds()),
                          second = evaluator.prepare(*both_kinds());
      const RunResult kept = evaluator.run(*both_kinds(), inputs_of(party, 20, 30));
      const std::uint64_t third = evaluator.prepare(*square(), kept.shared);
      EXPECT_EQ(evaluator.finish(second, inputs_of(party, 11, 12)).outputs.integer("product"),
                121u);
      EXPECT_EQ(evaluator.finish(first, inputs_of(party, 13, 14)).outputs.integer("product"), 169u);
      const RunResult squared = evaluator.finish(third, {});
      if (party == Party::B) {
        EXPECT_EQ(squared.outputs.integer("square"), 70u * 70u);
      }
    });
  }
}

TEST_P(GarbledRuns, WithDifferentRowChecksAreADisagreement) {
  const GarblingStores stores(GetParam());
  both([&](Party party) {
    RunRequest request = stores.run(party, OnlinePhase::Garbled);
    request.row_check = party == Party::A ? RowCheck::Early : RowCheck::Batched;
    Evaluator evaluator(request);
    EXPECT_NE(message_of([&] { evaluator.prepare(*both_kinds()); }).find("row check"),
              std::string::npos);
  });
}

// What a value takes that another phase has left: two aBits a bit, one of each party.
TEST(GarbledMaterial, IsNeededForValuesThatAnInteractiveRunHasLeft) {
  const GarblingStores stores(Profile::Fast);
  both([&](Party party) {
    Evaluator evaluator(stores.run(party, OnlinePhase::Garbled));
    const RunResult interactive = evaluator.run(*both_kinds(), inputs_of(party, 2, 3), {}, 1, {},
                                                OnlinePhase::Interactive),
                    garbled = evaluator.run(*both_kinds(), inputs_of(party, 2, 3));
    MaterialCounts wanted = evaluator.needed(*square());
    EXPECT_EQ(evaluator.needed(*square(), 1, garbled.shared), wanted);
    for (const MaterialKind kind : {MaterialKind::AuthBitsA, MaterialKind::AuthBitsB})
      wanted[kind] += 16;
    EXPECT_EQ(evaluator.needed(*square(), 1, interactive.shared), wanted);
    const MaterialCounts before = store_info(stores.of(party)).left();
    evaluator.run(*square(), {}, interactive.shared);
    const MaterialCounts after = store_info(stores.of(party)).left();
    for (const MaterialKind kind : kAllMaterialKinds)
      EXPECT_EQ(before[kind] - after[kind], wanted[kind]) << name_of(kind);
    EXPECT_NE(
        message_of([&] { (void)evaluator.needed(*square(), 2, interactive.shared); }).find("lane"),
        std::string::npos);
  });
}

// More than a prepared run may keep in memory: nothing has been sent, and the connection goes on.
TEST(PreparedRuns, ThatAreTooLargeAreRefusedBeforeAnythingIsSent) {
  const auto wide = make_circuit("wide", [](Program& program) {
    const Number x = program.input("x", 64, Party::A), y = program.input("y", 64, Party::B);
    program.output("sum", x ^ y);
  });
  const GarblingStores stores(Profile::Fast);
  both([&](Party party) {
    Evaluator evaluator(stores.run(party, OnlinePhase::Garbled));
    EXPECT_NE(message_of([&] {
                evaluator.prepare(*wide, {}, 1 << 16);
              }).find("at most 4194304 bits of inputs and outputs in all lanes"),
              std::string::npos);
    EXPECT_EQ(evaluator.run(*both_kinds(), inputs_of(party, 5, 6)).outputs.integer("product"), 25u);
  });
}

// The expected time of a prepared run is that of what is left after its inputs.
TEST(OnlinePhases, OfPreparedRunsAreChosenByWhatIsLeft) {
  const GarblingStores stores(Profile::Fast);
  both([&](Party party) {
    Evaluator evaluator(stores.run(party, {}));
    const auto circuit = both_kinds();
    const std::uint64_t number = evaluator.prepare(*circuit);
    const RunResult prepared = evaluator.finish(number, inputs_of(party, 5, 6)),
                    at_once = evaluator.run(*circuit, inputs_of(party, 5, 6));
    if (party == Party::B) return;
    const auto difference = [&](OnlinePhase phase) {
      return at_once.expected_s.at(phase) - prepared.expected_s.at(phase);
    };
    EXPECT_GT(difference(OnlinePhase::Garbled), 0);
    // Nothing, or that the link's rate has been measured for one of them.
    EXPECT_LT(std::abs(difference(OnlinePhase::Interactive)), difference(OnlinePhase::Garbled) / 2);
  });
}

TEST_P(GarbledRuns, Live) {
  const Endpoints endpoints;
  both([&](Party party) {
    RunRequest request{.party = party, .endpoint = endpoints.of(party)};
    request.live = ParameterRequest{.profile = GetParam()};
    request.live->material = AndMaterial::Garbling;
    request.phase = OnlinePhase::Garbled;
    const RunResult result = run(request, *both_kinds(), inputs_of(party, 300, 1));
    EXPECT_EQ(result.outputs.integer("product"), 90000u % 65536);
  });
}

// A party without a request takes part in what the other one asks for; without any request A
// chooses.
TEST(OnlinePhases, AreAgreedOn) {
  const GarblingStores stores(Profile::Fast);
  using Requests = std::vector<std::optional<OnlinePhase>>;  // of A, of B
  both([&](Party party) {
    const auto me = static_cast<std::size_t>(party);
    for (const Requests& requests :
         {Requests{OnlinePhase::Garbled, {}}, Requests{{}, OnlinePhase::Garbled},
          Requests{OnlinePhase::Interactive, {}}, Requests{{}, OnlinePhase::Interactive}}) {
      const auto asked = requests[0] ? requests[0] : requests[1];
      RunRequest live{.party = party, .endpoint = stores.endpoints.of(party)};
      live.live = ParameterRequest{.profile = Profile::Fast};
      live.live->material = AndMaterial::Garbling;
      live.phase = requests[me];
      Evaluator evaluator(stores.run(party, requests[me]));
      for (const RunResult& result :
           {run(stores.run(party, requests[me]), *both_kinds(), inputs_of(party, 5, 6)),
            run(live, *both_kinds(), inputs_of(party, 5, 6)),
            evaluator.run(*both_kinds(), inputs_of(party, 5, 6))}) {
        EXPECT_EQ(result.outputs.integer("product"), 25u);
        EXPECT_EQ(result.phase, *asked);
        EXPECT_EQ(result.phase_chosen_by,
                  requests[me] ? PhaseChosenBy::Request : PhaseChosenBy::Peer);
        EXPECT_TRUE(result.expected_s.empty());
      }
    }
  });
}

TEST(OnlinePhases, AreChosenByA) {
  const GarblingStores stores(Profile::Fast);
  std::array<std::vector<OnlinePhase>, 2> phases;
  std::array<std::vector<std::size_t>, 2> expected;
  both([&](Party party) {
    Evaluator evaluator(stores.run(party, {}));
    const auto circuit = both_kinds();
    const std::uint64_t number = evaluator.prepare(*circuit);
    for (const RunResult& result :
         {run(stores.run(party, {}), *both_kinds(), inputs_of(party, 5, 6)),
          evaluator.finish(number, inputs_of(party, 5, 6)),
          evaluator.run(*both_kinds(), inputs_of(party, 5, 6))}) {
      EXPECT_EQ(result.outputs.integer("product"), 25u);
      EXPECT_EQ(result.phase_chosen_by,
                party == Party::A ? PhaseChosenBy::Estimate : PhaseChosenBy::Peer);
      expected[static_cast<std::size_t>(party)].push_back(result.expected_s.size());
      phases[static_cast<std::size_t>(party)].push_back(result.phase);
    }
  });
  EXPECT_EQ(phases[0], phases[1]);
  // The masked phase is chosen for runs whose inputs come later, or not at all.
  EXPECT_EQ(expected[0], (std::vector<std::size_t>{2, 3, 2}));
  EXPECT_EQ(expected[1], (std::vector<std::size_t>{0, 0, 0}));
}

TEST(OnlinePhases, OfTwoRequestsMustBeTheSame) {
  const GarblingStores stores(Profile::Fast);
  both([&](Party party) {
    const RunRequest request =
        stores.run(party, party == Party::A ? OnlinePhase::Garbled : OnlinePhase::Interactive);
    EXPECT_NE(message_of([&] {
                run(request, *both_kinds(), inputs_of(party, 1, 1));
              }).find("the parties disagree on online phase"),
              std::string::npos);
  });
}

TEST(OnlinePhases, ACallMayNameOne) {
  const GarblingStores stores(Profile::Fast);
  both([&](Party party) {
    Evaluator evaluator(stores.run(party, {}));
    for (const OnlinePhase phase : {OnlinePhase::Interactive, OnlinePhase::Garbled})
      EXPECT_EQ(evaluator.run(*both_kinds(), inputs_of(party, 5, 6), {}, 1, {}, phase).phase,
                phase);
    const std::uint64_t number = evaluator.prepare(*both_kinds(), {}, 1, {}, OnlinePhase::Garbled);
    EXPECT_EQ(evaluator.finish(number, inputs_of(party, 5, 6)).phase, OnlinePhase::Garbled);
    // One that says nothing would wait for the choice of the other.
    const std::optional<OnlinePhase> mine =
        party == Party::A ? std::optional(OnlinePhase::Garbled) : std::nullopt;
    EXPECT_NE(message_of([&] {
                (void)evaluator.run(*both_kinds(), inputs_of(party, 5, 6), {}, 1, {}, mine);
              }).find("the parties disagree on online phase"),
              std::string::npos);
  });
  EXPECT_EQ(store_info(stores.of(Party::A)).state, StoreState::Complete);
}

// What is reserved without a request suffices for each phase; what is reserved for one phase is
// used by that one.
TEST(OnlinePhases, RunOnWhatIsReserved) {
  const GarblingStores stores(Profile::Fast);
  both([&](Party party) {
    for (const OnlinePhase phase : {OnlinePhase::Interactive, OnlinePhase::Garbled}) {
      RunRequest request = stores.run(party, {});
      request.reservation = reserve(request, *both_kinds()).number;
      request.phase = phase;
      EXPECT_EQ(run(request, *both_kinds(), inputs_of(party, 5, 6)).phase, phase);
    }
    RunRequest request = stores.run(party, OnlinePhase::Interactive);
    request.reservation = reserve(request, *both_kinds()).number;
    request.phase = std::nullopt;
    EXPECT_EQ(run(request, *both_kinds(), inputs_of(party, 5, 6)).phase, OnlinePhase::Interactive);
  });
}

TEST(GarbledPhase, IsRefusedOnFoldedTriples) {
  const Stores stores(64);
  RunRequest request = stores.run(Party::A);
  request.phase = OnlinePhase::Garbled;
  EXPECT_NE(message_of([&] {
              run(request, *both_kinds(), inputs_of(Party::A, 1, 1));
            }).find("the garbled phase does not run on triples"),
            std::string::npos);
}

}  // namespace
}  // namespace tinyot
