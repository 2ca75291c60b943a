// Random circuits in every way that a run on material for garbling can have: interactive, garbled
// and masked, at once, prepared with either row check or with masks, on material that is there and
// on material that is made meanwhile, on one lane and on many, with values that stay shared from
// any way to any other. TINYOT_CIRCUITS is their number, TINYOT_SEED selects others.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "circuitgen/generators/family.h"
#include "material/pipe.h"
#include "online/garbled/garbled_phase.h"
#include "online/interactive/interactive_phase.h"
#include "online/masked/masked_phase.h"
#include "tests/online/garbling.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/prepared.h"
#include "tests/online/random_circuit.h"
#include "tests/support/from_environment.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

enum class RunWay {
  Interactive,
  InteractiveLive,
  Streamed,
  StreamedLive,
  Masked,
  MaskedLive,
  Batched,
  Early,
  MaskedPrepared
};
constexpr RunWay kRunWays[] = {
    RunWay::Interactive,  RunWay::InteractiveLive, RunWay::Streamed,
    RunWay::StreamedLive, RunWay::Masked,          RunWay::MaskedLive,
    RunWay::Batched,      RunWay::Early,           RunWay::MaskedPrepared};
constexpr std::size_t kRunWayCount = std::size(kRunWays);
constexpr const char* kNames[] = {
    "interactive",  "interactive, live", "streamed",        "streamed, live",  "masked",
    "masked, live", "prepared, batched", "prepared, early", "prepared, masked"};

bool is_prepared(RunWay way) { return way >= RunWay::Batched; }
bool is_live(RunWay way) {
  return way == RunWay::InteractiveLive || way == RunWay::StreamedLive || way == RunWay::MaskedLive;
}

const online::OnlinePhaseEntry& phase_of(RunWay way) {
  switch (way) {
    case RunWay::Interactive:
    case RunWay::InteractiveLive:
      return online::kInteractivePhase;
    case RunWay::Masked:
    case RunWay::MaskedLive:
    case RunWay::MaskedPrepared:
      return online::kMaskedPhase;
    default:
      return online::kGarbledPhase;
  }
}

struct WayJob {
  const Circuit& circuit;
  std::size_t lanes;
  const Inputs& inputs;
  std::uint64_t seed;  // of windows and of the sizes of batches
};

// Draws `wanted` from the dealer in batches of any size, and pours them while a run draws them.
class LiveMaterial {
 public:
  LiveMaterial(Party me, IdealDealer& dealer, const MaterialCounts& wanted, std::uint64_t seed)
      : pipe_(me), maker_([=, this, &dealer] { pour(dealer, wanted, seed); }) {}
  ~LiveMaterial() {
    pipe_.drain();  // if the run has failed
    maker_.join();
  }

  material::Source& source() { return pipe_; }

 private:
  void pour(IdealDealer& dealer, MaterialCounts wanted, std::uint64_t seed) {
    Rng rng(Seed{{seed, 21}});
    for (bool is_done = false; !is_done;) {
      is_done = true;
      for (const MaterialKind kind : kAllMaterialKinds) {
        if (wanted[kind] == 0) continue;
        const std::uint64_t count = std::min<std::uint64_t>(wanted[kind], 1 + rng.below(200));
        pipe_.pour(dealer.draw(kind, count));
        wanted[kind] -= count;
        is_done = is_done && wanted[kind] == 0;
      }
      pipe_.finish_unit();
    }
  }

  material::Pipe pipe_;
  std::thread maker_;
};

// A party's run that needs no preparation.
Evaluation run_at_once(RunWay way, Session& session, IdealDealer& dealer, const WayJob& job,
                       const online::SharedValues& shared) {
  const CircuitInfo& info = job.circuit.info();
  const CircuitCost cost = cost_of(job.circuit);
  const online::OnlinePhaseEntry& phase = phase_of(way);
  const MaterialCounts wanted = phase.material_for(info, online::ands_for(phase, cost, job.lanes),
                                                   AndMaterial::Garbling, job.lanes, shared);
  CircuitRounds rounds(job.circuit, cost.gates(), job.lanes, window_for(job.lanes), {},
                       phase.groups);
  const BundleValues mine = values_given_by(session.me(), info, job.inputs);
  std::optional<LiveMaterial> live;
  if (is_live(way)) live.emplace(session.me(), dealer, wanted, job.seed);
  material::Source& source = live ? live->source() : dealer;
  if (way == RunWay::Streamed || way == RunWay::StreamedLive)
    return online::run_garbled(session, source, wanted, rounds, mine, shared, {},
                               window_of(job.seed));
  const auto run = phase.make({.session = session,
                               .source = source,
                               .wanted = wanted,
                               .form = AndMaterial::Garbling,
                               .rounds = rounds,
                               .shared = shared});
  run->prepare();
  return run->finish(mine);
}

// A party's run with masks that are opened before its inputs.
class MaskedParty {
 public:
  MaskedParty(Session& session, IdealDealer& dealer, const WayJob& job,
              const online::SharedValues& shared)
      : inputs_(values_given_by(session.me(), job.circuit.info(), job.inputs)),
        rounds_(job.circuit, cost_of(job.circuit).gates(), job.lanes, window_for(job.lanes), {},
                online::kMaskedPhase.groups),
        run_(online::kMaskedPhase.make(
            {.session = session,
             .source = dealer,
             .wanted = online::kMaskedPhase.material_for(
                 job.circuit.info(), cost_of(job.circuit).products_of(job.lanes),
                 AndMaterial::Garbling, job.lanes, shared),
             .form = AndMaterial::Garbling,
             .rounds = rounds_,
             .shared = shared,
             .preparation = online::Preparation{}})) {
    run_->prepare();
  }
  Evaluation finish() { return run_->finish(inputs_); }

 private:
  BundleValues inputs_;
  CircuitRounds rounds_;
  std::unique_ptr<online::OnlineEvaluation> run_;
};

Evaluation run_in_any_way(RunWay way, Session& session, IdealDealer& dealer, const WayJob& job) {
  if (!is_prepared(way)) return run_at_once(way, session, dealer, job, {});
  if (way == RunWay::MaskedPrepared) return MaskedParty(session, dealer, job, {}).finish();
  PreparedParty party(
      session, dealer,
      {job.circuit, job.lanes, job.inputs,
       way == RunWay::Early ? RowCheck::Early : RowCheck::Batched, window_of(job.seed)});
  party.prepare();
  return party.finish();
}

// A random circuit of which some inputs are values that have stayed shared and some outputs stay
// shared.
class SharingCircuit final : public Circuit {
 public:
  explicit SharingCircuit(std::uint64_t seed) : base_(RandomCircuit::of_any_shape(seed)) {
    info_ = base_.info();
    Rng rng(Seed{{seed, 22}});
    for (InputBundle& bundle : info_.inputs)
      if (rng.below(3) == 0) bundle.source = InputSource::Shared;
    for (OutputBundle& bundle : info_.outputs)
      if (rng.below(4) == 0) bundle.to = Receiver::None;
  }
  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override { base_.generate(sink); }

 private:
  RandomCircuit base_;
  CircuitInfo info_;
};

// A circuit that makes the shared inputs of another one, those that are the same in all lanes or
// the others: as bits x ^ y, or x y.
ListedCircuit maker_of(const CircuitInfo& info, bool is_common) {
  ListedCircuit maker;
  for (const InputBundle& bundle : info.inputs) {
    if (bundle.source != InputSource::Shared || bundle.same_in_all_lanes != is_common) continue;
    const auto x = maker.input(Party::A, bundle.bits), y = maker.input(Party::B, bundle.bits);
    std::vector<WireId> made;
    for (std::size_t i = 0; i < bundle.bits; ++i)
      made.push_back(i % 2 == 0 ? maker.xor_of(x[i], y[i])
                                : maker.not_of(maker.and_of(x[i], y[i])));
    maker.output(Receiver::None, made);
  }
  return maker;
}

// One circuit of the campaign: what is evaluated, and what comes out.
struct Trial {
  explicit Trial(std::uint64_t trial_seed)
      : seed(trial_seed),
        circuit(seed), makers{maker_of(circuit.info(), false), maker_of(circuit.info(), true)} {
    Rng rng(Seed{{seed, 23}});
    lanes = seed % 20 == 0 ? 60 + rng.below(80) : 1 + seed % 7;
    inputs = random_inputs(circuit, lanes, rng);
    for (const std::size_t is_common : {0, 1}) {
      makers_way[is_common] = kRunWays[rng.below(kRunWayCount)];
      of_makers[is_common] = random_inputs(makers[is_common], is_common == 1 ? 1 : lanes, rng);
      const std::vector<LaneValues> made =
          evaluate(makers[is_common], is_common == 1 ? 1 : lanes, of_makers[is_common]);
      std::size_t next = 0;
      for (std::size_t b = 0; b < inputs.size(); ++b)
        if (is_made_by(b, is_common == 1)) inputs[b] = made[next++];
    }
    wanted = evaluate(circuit, lanes, inputs);
  }

  bool is_made_by(std::size_t bundle, bool is_common) const {
    const InputBundle& input = circuit.info().inputs[bundle];
    return input.source == InputSource::Shared && input.same_in_all_lanes == is_common;
  }

  std::uint64_t seed;
  SharingCircuit circuit;
  ListedCircuit makers[2];
  std::size_t lanes = 1;
  Inputs inputs, of_makers[2];
  RunWay makers_way[2] = {};
  std::vector<LaneValues> wanted;

  Evaluation results[2][kRunWayCount];
};

void run_trial(Trial& trial, Session& session, IdealDealer& dealer) {
  Evaluation made[2];
  online::SharedValues shared(trial.circuit.info().inputs.size(), nullptr);
  for (const std::size_t is_common : {0, 1}) {
    const ListedCircuit& maker = trial.makers[is_common];
    if (maker.info().inputs.empty()) continue;
    made[is_common] = run_in_any_way(
        trial.makers_way[is_common], session, dealer,
        {maker, is_common == 1 ? 1 : trial.lanes, trial.of_makers[is_common], trial.seed});
    std::size_t next = 0;
    for (std::size_t b = 0; b < shared.size(); ++b)
      if (trial.is_made_by(b, is_common == 1)) shared[b] = &*made[is_common].shared[next++];
  }
  // The other runs come between the stages of the prepared ones.
  const auto job_of = [&](RowCheck check) {
    return PreparedJob{trial.circuit, trial.lanes, trial.inputs, check,
                       window_of(trial.seed + (check == RowCheck::Early ? 1 : 0))};
  };
  PreparedParty batched(session, dealer, job_of(RowCheck::Batched), shared);
  batched.prepare();
  PreparedParty early(session, dealer, job_of(RowCheck::Early), shared);
  early.prepare();
  const WayJob job{trial.circuit, trial.lanes, trial.inputs, trial.seed};
  MaskedParty masked(session, dealer, job, shared);
  auto& results = trial.results[static_cast<std::size_t>(session.me())];
  const auto keep = [&](RunWay way, Evaluation result) {
    results[static_cast<std::size_t>(way)] = std::move(result);
  };
  for (const RunWay way : kRunWays)
    if (!is_prepared(way)) keep(way, run_at_once(way, session, dealer, job, shared));
  if (trial.seed % 2 == 0) keep(RunWay::Batched, batched.finish());
  keep(RunWay::MaskedPrepared, masked.finish());
  keep(RunWay::Early, early.finish());
  if (trial.seed % 2 == 1) keep(RunWay::Batched, batched.finish());
}

void expect_right(const Trial& trial) {
  const CircuitInfo& info = trial.circuit.info();
  for (const RunWay way : kRunWays) {
    const auto number = static_cast<std::size_t>(way);
    SCOPED_TRACE("seed " + std::to_string(trial.seed) + ", " + kNames[number]);
    const Evaluation &a = trial.results[0][number], &b = trial.results[1][number];
    expect_outputs(info, a, b, trial.wanted);
    for (std::size_t o = 0; o < info.outputs.size(); ++o) {
      if (info.outputs[o].to != Receiver::None) continue;
      ASSERT_TRUE(a.shared.at(o) && b.shared.at(o));
      LaneValues value = values_of(a.shared[o]->my_share());
      const LaneValues other = values_of(b.shared[o]->my_share());
      for (std::size_t lane = 0; lane < value.size(); ++lane) {
        value[lane] ^= other[lane];
        EXPECT_TRUE(std::ranges::equal(value[lane].words(), trial.wanted[o][lane].words()));
      }
    }
  }
}

TEST(Campaign, RandomCircuitsAreRightInEveryWay) {
  constexpr std::uint64_t kOfSession = 25;
  const std::uint64_t circuits = from_environment("TINYOT_CIRCUITS", repetitions(400)),
                      first = 1'000'000 * from_environment("TINYOT_SEED", 1);
  std::size_t on_many_lanes = 0, shared_inputs = 0, shared_outputs = 0, ands = 0;
  for (std::uint64_t done = 0; done < circuits; done += kOfSession) {
    std::vector<Trial> trials;
    for (std::uint64_t i = 0; i < std::min(kOfSession, circuits - done); ++i)
      trials.emplace_back(first + done + i);
    run_garbling(
        [&](Session& session, IdealDealer& dealer) {
          for (Trial& trial : trials) run_trial(trial, session, dealer);
        },
        {.seed = first + done});
    ASSERT_FALSE(HasFailure()) << "TINYOT_SEED=" << first / 1'000'000 << ", circuits from " << done
                               << " on";
    for (const Trial& trial : trials) {
      expect_right(trial);
      on_many_lanes += trial.lanes >= 60;
      for (const InputBundle& bundle : trial.circuit.info().inputs)
        shared_inputs += bundle.source == InputSource::Shared;
      for (const OutputBundle& bundle : trial.circuit.info().outputs)
        shared_outputs += bundle.to == Receiver::None;
      for (const Evaluation& result : trial.results[0]) ands += result.ands;
    }
    if (HasFailure()) return;
  }
  std::printf(
      "%llu circuits in %zu ways each, %zu ANDs; %zu circuits on 60 lanes or more, %zu "
      "shared inputs, %zu outputs that stay shared\n",
      static_cast<unsigned long long>(circuits), kRunWayCount, ands, on_many_lanes, shared_inputs,
      shared_outputs);
  EXPECT_GT(on_many_lanes, circuits / 40);
  EXPECT_GT(shared_inputs, circuits / 4);
  EXPECT_GT(shared_outputs, circuits / 8);
}

}  // namespace
}  // namespace tinyot
