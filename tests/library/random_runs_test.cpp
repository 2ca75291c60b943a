// Random programs through the public headers, on a store of material for garbling and on material
// that is made meanwhile: in each phase, prepared with either row check, chosen by party A, on one
// lane and on many. TINYOT_CIRCUITS / 20 is their number, TINYOT_SEED selects others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/library/garbling_stores.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using circuit::InputSource;
using circuit::make_circuit;
using circuit::Number;
using circuit::Program;
using circuit::Receiver;

std::uint64_t number_in(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

constexpr std::size_t kInputs = 3;
constexpr std::uint32_t kBits = 8;
constexpr std::uint64_t kModulus = std::uint64_t{1} << kBits;

// Steps on a list of numbers that begins with the inputs; its last two numbers are the outputs.
struct Step {
  enum Kind : std::uint8_t { Add, Multiply, Xor, And, Not } kind;
  std::size_t left, right;
};
using Steps = std::vector<Step>;

Steps random_steps(std::mt19937_64& random) {
  Steps steps(2 + random() % 6);
  for (std::size_t i = 0; i < steps.size(); ++i)
    steps[i] = {static_cast<Step::Kind>(random() % 5), random() % (kInputs + i),
                random() % (kInputs + i)};
  return steps;
}

// The outputs of which the last step is revealed, and the one before stays shared.
std::unique_ptr<circuit::Circuit> circuit_of(const Steps& steps) {
  return make_circuit("random steps", [=](Program& program) {
    std::vector<Number> values{program.input("x", kBits, Party::A),
                               program.input("y", kBits, Party::B),
                               program.input("p", kBits, InputSource::Public)};
    for (const Step& step : steps) {
      const Number left = values[step.left], right = values[step.right];
      switch (step.kind) {
        case Step::Add:
          values.push_back(left + right);
          break;
        case Step::Multiply:
          values.push_back(left * right);
          break;
        case Step::Xor:
          values.push_back(left ^ right);
          break;
        case Step::And:
          values.push_back(left & right);
          break;
        case Step::Not:
          values.push_back(~left);
          break;
      }
    }
    program.output("last", values.back());
    program.output("kept", values[values.size() - 2], Receiver::None);
  });
}

std::vector<std::uint64_t> values_of(const Steps& steps, std::vector<std::uint64_t> values) {
  for (const Step& step : steps) {
    const std::uint64_t left = values[step.left], right = values[step.right],
                        all[] = {left + right, left * right, left ^ right, left & right, ~left};
    values.push_back(all[step.kind] % kModulus);
  }
  return values;
}

std::unique_ptr<circuit::Circuit> square_of_kept() {
  return make_circuit("square", [](Program& program) {
    const Number kept = program.input("kept", kBits, InputSource::Shared);
    program.output("square", kept * kept);
  });
}

struct Job {
  Steps steps;
  std::size_t lanes;
  std::vector<std::vector<std::uint64_t>> inputs;  // by lane
};

Job random_job(std::uint64_t number, std::mt19937_64& random) {
  Job job{random_steps(random), number % 8 == 0 ? 64 + random() % 10 : 1 + number % 3, {}};
  const std::uint64_t p = random() % kModulus;
  for (std::size_t lane = 0; lane < job.lanes; ++lane)
    job.inputs.push_back({random() % kModulus, random() % kModulus, p});
  return job;
}

std::vector<std::uint64_t> column_of(const Job& job, std::size_t input) {
  std::vector<std::uint64_t> column;
  for (const auto& lane : job.inputs) column.push_back(lane[input]);
  return column;
}

Values given_by(Party party, const Job& job) {
  Values values;
  values.set(party == Party::A ? "x" : "y", column_of(job, party == Party::A ? 0 : 1));
  values.set("p", column_of(job, 2));
  return values;
}

void expect_integers(const RunResult& result, const char* name, const Job& job,
                     const std::function<std::uint64_t(std::vector<std::uint64_t>)>& wanted) {
  for (std::size_t lane = 0; lane < job.lanes; ++lane)
    ASSERT_EQ(result.outputs.integer(name, lane), wanted(values_of(job.steps, job.inputs[lane])));
}

// Both parties' runs of a job over three connections, two with a row check, and live.
class Runs {
 public:
  Runs(Party party, const GarblingStores& stores)
      : party_(party), stores_(stores), masked_(stores.run(party, {})) {
    for (const RowCheck check : {RowCheck::Early, RowCheck::Batched}) {
      RunRequest request = stores.run(party, {});
      request.row_check = check;
      evaluators_.emplace_back(request);
    }
  }

  void run(const Job& job) {
    const auto circuit = circuit_of(job.steps);
    const Values inputs = given_by(party_, job);
    for (Evaluator& evaluator : evaluators_) {
      const std::uint64_t prepared =
          evaluator.prepare(*circuit, {}, job.lanes, {}, OnlinePhase::Garbled);
      for (const std::optional<OnlinePhase> phase :
           {std::optional<OnlinePhase>(), std::optional(OnlinePhase::Interactive),
            std::optional(OnlinePhase::Garbled), std::optional(OnlinePhase::Masked)})
        check(evaluator, job, evaluator.run(*circuit, inputs, {}, job.lanes, {}, phase));
      check(evaluator, job, evaluator.finish(prepared, inputs));
    }
    const std::uint64_t masked = masked_.prepare(*circuit, {}, job.lanes, {}, OnlinePhase::Masked);
    check(masked_, job, masked_.finish(masked, inputs));
    for (const OnlinePhase phase :
         {OnlinePhase::Interactive, OnlinePhase::Garbled, OnlinePhase::Masked}) {
      SCOPED_TRACE("live");
      RunRequest request{.party = party_, .endpoint = stores_.endpoints.of(party_)};
      request.live = ParameterRequest{.profile = Profile::Fast};
      request.live->material = AndMaterial::Garbling;
      request.phase = phase;
      check_last(job, tinyot::run(request, *circuit, inputs, job.lanes));
    }
  }

 private:
  static void check_last(const Job& job, const RunResult& result) {
    expect_integers(result, "last", job, [](const auto& values) { return values.back(); });
  }
  // The output, and what stays shared, in each phase.
  void check(Evaluator& evaluator, const Job& job, const RunResult& result) {
    check_last(job, result);
    squares_ += 1;
    constexpr OnlinePhase kPhases[] = {OnlinePhase::Interactive, OnlinePhase::Garbled,
                                       OnlinePhase::Masked};
    const OnlinePhase phase = kPhases[squares_ % std::size(kPhases)];
    expect_integers(evaluator.run(*square_of_kept(), {}, result.shared, job.lanes, {}, phase),
                    "square", job, [](const auto& values) {
                      const std::uint64_t kept = values[values.size() - 2];
                      return kept * kept % kModulus;
                    });
  }

  Party party_;
  const GarblingStores& stores_;
  Evaluator masked_;
  std::vector<Evaluator> evaluators_;
  std::size_t squares_ = 0;
};

TEST(RandomRuns, AreRightInEveryWayThatTheLibraryHas) {
  constexpr std::uint64_t kOfStore = 10, kAnds = 400'000, kMasks = 60'000;
  const std::uint64_t jobs = number_in("TINYOT_CIRCUITS", 200) / 20,
                      seed = number_in("TINYOT_SEED", 1);
  for (std::uint64_t first = 0; first < jobs; first += kOfStore) {
    const GarblingStores stores(Profile::Fast, kAnds, kMasks);
    both([&](Party party) {
      Runs runs(party, stores);
      for (std::uint64_t number = first; number < std::min(jobs, first + kOfStore); ++number) {
        SCOPED_TRACE("TINYOT_SEED=" + std::to_string(seed) + ", program " + std::to_string(number));
        std::mt19937_64 random(seed * 1'000'003 + number);
        runs.run(random_job(number, random));
      }
    });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tinyot
