// An online phase that is nothing but one more entry of the table: runs, live runs and prepared
// runs work with it as they are.
#include <gtest/gtest.h>

#include <array>
#include <mutex>

#include "online/interactive/interactive_phase.h"
#include "tests/support/two_threads.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr OnlinePhase kToy{77};

// The steps that both parties have taken, in any order of the parties.
struct Steps {
  std::mutex mutex;
  std::vector<std::string> taken;
  void add(const std::string& step) {
    const std::lock_guard lock(mutex);
    taken.push_back(step);
  }
};
Steps steps;

// Says in which step it is, and evaluates as the interactive phase does.
class ToyEvaluation final : public online::OnlineEvaluation {
 public:
  explicit ToyEvaluation(online::OnlineSetting setting)
      : inner_(online::kInteractivePhase.make(std::move(setting))) {}

  void prepare() override {
    steps.add("prepare");
    inner_->prepare();
  }

 private:
  online::Evaluation evaluate(const online::BundleValues& inputs,
                              const std::function<void()>& agree) override {
    steps.add("finish");
    return inner_->finish(inputs, agree);
  }

  std::unique_ptr<online::OnlineEvaluation> inner_;
};

// Runs on triples alone, with a bit more material than it takes.
const online::OnlinePhaseEntry& toy_entry() {
  static const online::OnlinePhaseEntry kEntry = [] {
    online::OnlinePhaseEntry entry = online::kInteractivePhase;
    entry.phase = kToy;
    entry.name = "toy";
    entry.runs_on = [](AndMaterial form) { return form == AndMaterial::Triples; };
    entry.material_for = [](const circuit::CircuitInfo& info, std::uint64_t ands, AndMaterial form,
                            std::size_t lanes, const online::SharedValues& shared) {
      return online::kInteractivePhase.material_for(info, ands + 1000, form, lanes, shared);
    };
    entry.windows_for = [](std::size_t) { return std::vector<std::size_t>{4321}; };
    entry.make = [](online::OnlineSetting setting) -> std::unique_ptr<online::OnlineEvaluation> {
      return std::make_unique<ToyEvaluation>(std::move(setting));
    };
    return entry;
  }();
  return kEntry;
}

}  // namespace

// In place of the library's table.
std::span<const online::OnlinePhaseEntry* const> online::online_phases() {
  static const std::array<const OnlinePhaseEntry*, 2> kPhases = {&kInteractivePhase, &toy_entry()};
  return kPhases;
}

namespace {

std::unique_ptr<circuit::Circuit> product() {
  return circuit::make_circuit("product", [](circuit::Program& program) {
    program.output("z", program.input("x", 8, Party::A) * program.input("y", 8, Party::B));
  });
}

class ToyPhase : public testing::Test {
 protected:
  void SetUp() override { steps.taken.clear(); }
};

TEST_F(ToyPhase, RunsOnStoredMaterial) {
  const Stores stores;
  both([&](Party party) {
    RunRequest request = stores.run(party);
    const std::uint64_t before = store_info(stores.of(party)).ands_left;
    request.phase = kToy;
    const RunResult result = run(request, *product(), input_of(party, 11));
    EXPECT_EQ(result.outputs.integer("z"), 121u);
    EXPECT_EQ(result.window, 4321u);
    EXPECT_EQ(before - store_info(stores.of(party)).ands_left, result.ands + 1000);
  });
  EXPECT_EQ(std::ranges::count(steps.taken, "prepare"), 2);
  EXPECT_EQ(std::ranges::count(steps.taken, "finish"), 2);
}

TEST_F(ToyPhase, RunsLiveAndPrepared) {
  const Stores stores;
  both([&](Party party) {
    RunRequest live{.party = party, .endpoint = stores.endpoints.of(party)};
    live.live = ParameterRequest{.profile = Profile::Fast};
    live.phase = kToy;
    EXPECT_EQ(run(live, *product(), input_of(party, 12)).outputs.integer("z"), 144u);
    RunRequest request = stores.run(party);
    request.phase = kToy;
    Evaluator evaluator(request);
    const auto circuit = product();
    const std::uint64_t number = evaluator.prepare(*circuit);
    EXPECT_EQ(evaluator.finish(number, input_of(party, 13)).outputs.integer("z"), 169u);
  });
  EXPECT_EQ(std::ranges::count(steps.taken, "finish"), 4);
}

// Its costs are those of the interactive phase: of two equal ones, the first is chosen.
TEST_F(ToyPhase, IsOneOfThoseThatAreChosenFrom) {
  const Stores stores;
  both([&](Party party) {
    RunRequest request = stores.run(party);
    const RunResult result = run(request, *product(), input_of(party, 3));
    EXPECT_EQ(result.outputs.integer("z"), 9u);
    EXPECT_EQ(result.phase, OnlinePhase::Interactive);
    EXPECT_EQ(result.phase_chosen_by,
              party == Party::A ? PhaseChosenBy::Estimate : PhaseChosenBy::Peer);
    EXPECT_EQ(result.expected_s.contains(kToy), party == Party::A);
  });
  EXPECT_TRUE(steps.taken.empty());
}

// With the window of the phase, which is not that of the one that a party expected.
TEST_F(ToyPhase, IsAccepted) {
  const Stores stores;
  both([&](Party party) {
    for (const Party asks : {Party::A, Party::B}) {
      RunRequest request = stores.run(party);
      if (party == asks) request.phase = kToy;
      const RunResult result = run(request, *product(), input_of(party, 4));
      EXPECT_EQ(result.outputs.integer("z"), 16u);
      EXPECT_EQ(result.window, 4321u);
      EXPECT_EQ(result.phase_chosen_by,
                party == asks ? PhaseChosenBy::Request : PhaseChosenBy::Peer);
    }
  });
  EXPECT_EQ(std::ranges::count(steps.taken, "finish"), 4);
}

TEST_F(ToyPhase, OfTwoRequestsMustBeTheSame) {
  const Stores stores;
  both([&](Party party) {
    RunRequest request = stores.run(party);
    request.phase = party == Party::A ? kToy : OnlinePhase::Interactive;
    const std::string message = message_of([&] { run(request, *product(), input_of(party, 3)); });
    EXPECT_NE(message.find(party == Party::A
                               ? "online phase: this party has toy, the peer has interactive"
                               : "online phase: this party has interactive, the peer has toy"),
              std::string::npos)
        << message;
  });
  EXPECT_TRUE(steps.taken.empty());
}

TEST_F(ToyPhase, IsRefusedOnOtherMaterial) {
  RunRequest request{.party = Party::A, .endpoint = {}};
  request.live = ParameterRequest{};
  request.phase = kToy;
  EXPECT_NE(message_of([&] {
              run(request, *product(), input_of(Party::A, 3));
            }).find("the toy phase does not run on aand-aot"),
            std::string::npos);
}

}  // namespace
}  // namespace tinyot
