#include "online/garbled/garbled_run.h"

#include <deque>
#include <optional>
#include <utility>

#include "base/error.h"
#include "online/garbled/chunks.h"
#include "online/garbled/garbled_steps.h"
#include "online/garbled/gate_check.h"
#include "online/garbled/rows.h"
#include "online/inputs.h"
#include "online/stopwatch.h"

namespace tinyot::online {
namespace {

// What both parties do with each chunk: masks ahead, then rows. What the chunks wait for is bounded
// by the window; no party waits for what the other one owes only later.
class GarbledRun {
 public:
  GarbledRun(GarbledSteps& steps, const BundleValues& inputs, const RunProgress& progress,
             const GarbledWindow& window)
      : chunker(steps.lanes, window.chunk_min, window.chunk_max,
                [this](Chunk chunk) { add(std::move(chunk)); }),
        steps_(steps), session_(steps.session), inputs_(inputs), progress_(progress),
        window_(window) {
    if (session_.me() == Party::A) {
      evaluator_.emplace(session_, steps.info, steps.lanes, steps.constants, steps.constants,
                         RowMacs{}, steps.outputs, steps.run);
    } else {
      garbler_.emplace(session_, steps.info, steps.lanes, steps.constants, RowMacs{}, steps.outputs,
                       steps.run);
      check_.emplace(session_, steps.info, steps.lanes, steps.constants, steps.outputs);
    }
  }

  void finish() {
    chunker.finish();
    while (!masked_.empty()) make_rows();
    while (!returning_.empty()) check_gates();
  }

  Chunker chunker;  // the rounds go into it
  Evaluation result;

 private:
  void add(Chunk chunk) {
    steps_.masks.send_openings(chunk);
    steps_.masks.send_inputs(chunk, inputs_);
    masked_load_ += chunk.load;
    masked_.push_back(std::move(chunk));
    ++added_;
    while (masked_load_ >= window_.entries) make_rows();
  }
  void make_rows();
  void check_gates();

  GateMacs take_spare();

  // Of the first chunks, so many. The peer sends them before what is received next.
  void receive_openings(std::size_t chunks);

  struct Returning {
    Chunk chunk;
    GateMacs macs;
    std::size_t added = 0;  // chunks that had been masked when its rows were made
  };

  GarbledSteps& steps_;
  checks::Session& session_;
  const BundleValues& inputs_;
  const RunProgress& progress_;
  const GarbledWindow window_;
  std::optional<RowEvaluator> evaluator_;          // at A
  std::optional<Garbler> garbler_;                 // at B
  std::optional<GateCheck> check_;                 // at B
  std::size_t added_ = 0, opened_ = 0, made_ = 0;  // chunks
  std::deque<Chunk> masked_;                       // whose rows have not been made
  std::size_t masked_load_ = 0;
  MaskedAnds ands_;                  // of the chunk whose rows are made
  GarbledRows rows_;                 // the same
  std::vector<GateMacs> spare_;      // at B: memory that was used before
  std::deque<Returning> returning_;  // at B: whose L have not returned
  std::size_t returning_load_ = 0;
};

void GarbledRun::receive_openings(std::size_t chunks) {
  const Stopwatch waiting(result.wire_s);
  if (opened_ == 0) steps_.shared_masks.receive(steps_.constants);
  for (; opened_ < chunks; ++opened_) {
    Chunk& chunk = masked_[opened_ - made_];
    steps_.masks.receive_openings(chunk);
    steps_.masks.receive_inputs(chunk);
  }
}

GateMacs GarbledRun::take_spare() {
  if (spare_.empty()) return {};
  GateMacs macs = std::move(spare_.back());
  spare_.pop_back();
  return macs;
}

void GarbledRun::make_rows() {
  receive_openings(evaluator_ ? added_ : made_ + 1);
  Chunk chunk = std::move(masked_.front());
  masked_.pop_front();
  masked_load_ -= chunk.load;
  ++made_;
  const std::size_t entries = chunk.entries;
  {
    const Stopwatch computing(result.blocks_s);
    steps_.blocks.evaluate(chunk, ands_);
    if (evaluator_) {
      receive_rows(session_, chunk.entries, RowMacs{}, rows_);
      receive_labels(session_, chunk);
      const GateValues values = evaluator_->evaluate(chunk, ands_, rows_);
      send_masked_ands(session_, values);
      absorb_gates(session_, ands_.macs, values);
      chunker.recycle(std::move(chunk));
    } else {
      garbler_->garble(chunk, ands_, rows_);
      send_rows(session_, rows_);
      send_labels(session_, chunk);
      returning_load_ += chunk.load;
      forget_material(chunk);
      for (MaskedInputs& inputs : chunk.inputs) inputs.labels = {};
      returning_.push_back({std::move(chunk), std::exchange(ands_.macs, take_spare()), added_});
    }
  }
  while (returning_load_ >= window_.entries) check_gates();
  result.ands += entries;
  if (progress_) progress_(result.ands);
}

void GarbledRun::check_gates() {
  receive_openings(returning_.front().added);
  const Stopwatch waiting(result.wire_s);
  Returning next = std::move(returning_.front());
  returning_.pop_front();
  returning_load_ -= next.chunk.load;
  check_->receive(next.chunk, next.macs);
  spare_.push_back(std::move(next.macs));
  chunker.recycle(std::move(next.chunk));
}

}  // namespace

MaterialCounts garbled_material_for(const circuit::CircuitInfo& info, std::uint64_t ands,
                                    std::size_t lanes, const SharedValues& shared) {
  MaterialCounts counts;
  counts[MaterialKind::FullTriples] = ands;
  for (const Party party : {Party::A, Party::B}) counts[material::auth_bits_of(party)] = ands;
  count_input_masks(info, lanes, counts);
  count_shared_masks(shared, counts);
  return counts;
}

Evaluation run_garbled(checks::Session& session, material::Source& source,
                       const MaterialCounts& wanted, circuit::CircuitRounds& rounds,
                       const BundleValues& inputs, const SharedValues& shared,
                       const RunProgress& progress, const GarbledWindow& window) {
  ENSURE(window.entries > 0 && window.chunk_min > 0 && window.chunk_min <= window.chunk_max &&
         window.chunk_max <= Chunker::kEntriesMax);
  const circuit::CircuitInfo& info = rounds.circuit().info();
  check_inputs(session.me(), info, rounds.lanes(), inputs);
  GarbledSteps steps(session, source, wanted, rounds, shared, public_values(info, inputs));
  GarbledRun run(steps, inputs, progress, window);
  double evaluating_cpu_s = 0;
  {
    const net::PhaseLog::Scope phase(session.log(), session.channel(), "rows", rounds.lanes());
    CountedRounds sink(run.chunker, run.result, rounds.lanes());
    evaluating_cpu_s = rounds.run(sink);
    run.finish();
  }
  session.log().add({.name = "rows", .cpu_s = evaluating_cpu_s});
  const net::PhaseLog::Scope phase(session.log(), session.channel(), "outputs", rounds.lanes());
  run.result.outputs = exchange_outputs(session, steps.outputs);
  run.result.shared = steps.outputs.take_shared(session);
  run.result.store_s = steps.material->waited_s();
  run.result.opening_s = steps.material->opening_s();
  return std::move(run.result);
}

}  // namespace tinyot::online
