#include "online/garbled/garbled_run.h"

#include <deque>
#include <optional>
#include <utility>

#include "base/error.h"
#include "online/garbled/chunks.h"
#include "online/garbled/gate_check.h"
#include "online/garbled/mask_blocks.h"
#include "online/garbled/mask_pass.h"
#include "online/garbled/output_masks.h"
#include "online/garbled/rows.h"
#include "online/inputs.h"
#include "online/stopwatch.h"

namespace tinyot::online {
namespace {

// What a chunk does not need once its rows have been sent: all but L of its inputs.
void forget_material(Chunk& chunk) {
  chunk.triples.clear();
  for (material::Slices& masks : chunk.result_masks) masks.clear();
  for (MaskedInputs& inputs : chunk.inputs) {
    inputs.masks.clear();
    inputs.labels = {};
  }
  chunk.d = chunk.e = BitVector();
}

// What both parties do with each chunk: masks ahead, then rows. What the chunks wait for is bounded
// by the window; no party waits for what the other one owes only later.
class GarbledRun {
 public:
  GarbledRun(checks::Session& session, MaterialReader& material,
             const circuit::CircuitRounds& rounds, const BundleValues& inputs,
             const SharedValues& shared, const RunProgress& progress, const GarbledWindow& window)
      : session_(session), info_(rounds.circuit().info()), inputs_(inputs), progress_(progress),
        window_(window), lanes_(rounds.lanes()), outputs_(info_, lanes_),
        masks_(session, material, info_, lanes_, shared, outputs_),
        blocks_(session, info_, lanes_, shared, outputs_) {
    const std::uint64_t run = session.next_counter();
    if (session.me() == Party::A) {
      evaluator_.emplace(session, info_, lanes_, inputs, outputs_, run);
    } else {
      garbler_.emplace(session, info_, lanes_, inputs, run);
      check_.emplace(session, info_, lanes_, inputs, outputs_);
    }
  }

  void add(Chunk chunk) {
    masks_.send_openings(chunk);
    masks_.send_inputs(chunk, inputs_);
    masked_load_ += chunk.load;
    masked_.push_back(std::move(chunk));
    ++added_;
    while (masked_load_ >= window_.entries) make_rows();
  }
  void finish() {
    while (!masked_.empty()) make_rows();
    while (!returning_.empty()) check_gates();
  }

  // Messages 3 to 5.
  void reveal_outputs();

  Evaluation result;

 private:
  void make_rows();
  void check_gates();
  void set_outputs(BundleValues values, const checks::SettledCheck&) {
    result.outputs = std::move(values);
  }

  GateMacs take_spare();

  // Of the first chunks, so many. The peer sends them before what is received next.
  void receive_openings(std::size_t chunks);

  struct Returning {
    Chunk chunk;
    GateMacs macs;
    std::size_t added = 0;  // chunks that had been masked when its rows were made
  };

  checks::Session& session_;
  const circuit::CircuitInfo& info_;
  const BundleValues& inputs_;
  const RunProgress& progress_;
  const GarbledWindow window_;
  Lanes lanes_;
  OutputMasks outputs_;
  MaskPass masks_;
  MaskBlocks blocks_;
  std::optional<RowEvaluator> evaluator_;          // at A
  std::optional<Garbler> garbler_;                 // at B
  std::optional<GateCheck> check_;                 // at B
  std::size_t added_ = 0, opened_ = 0, made_ = 0;  // chunks
  std::deque<Chunk> masked_;                       // whose rows have not been made
  std::size_t masked_load_ = 0;
  MaskedAnds ands_;                  // of the chunk whose rows are made
  std::vector<GateMacs> spare_;      // at B: memory that was used before
  std::deque<Returning> returning_;  // at B: whose L have not returned
  std::size_t returning_load_ = 0;
};

void GarbledRun::receive_openings(std::size_t chunks) {
  const Stopwatch waiting(result.wire_s);
  for (; opened_ < chunks; ++opened_) {
    Chunk& chunk = masked_[opened_ - made_];
    masks_.receive_openings(chunk);
    masks_.receive_inputs(chunk);
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
    blocks_.evaluate(chunk, ands_);
    if (evaluator_) {
      const GateValues values = evaluator_->receive(chunk, ands_);
      send_masked_ands(session_, values);
      absorb_gates(session_, ands_.macs, values);
    } else {
      garbler_->send_rows(chunk, ands_);
      garbler_->send_labels(chunk);
      returning_load_ += chunk.load;
      forget_material(chunk);
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
}

void GarbledRun::reveal_outputs() {
  const bool a_receives = outputs_.has_outputs_of(Party::A),
             b_receives = outputs_.has_outputs_of(Party::B);
  BundleValues none(info_.outputs.size());
  if (session_.me() == Party::A) {
    checks::send_digest(session_);
    BundleValues mine = a_receives ? outputs_.receive(session_) : std::move(none);
    const checks::SettledCheck settled = checks::receive_digest(session_);
    if (b_receives) {
      outputs_.reveal(session_, settled);
      checks::send_digest(session_);
    }
    set_outputs(std::move(mine), settled);
  } else {
    const checks::SettledCheck settled = checks::receive_digest(session_);
    if (a_receives) outputs_.reveal(session_, settled);
    checks::send_digest(session_);
    if (b_receives) {
      BundleValues mine = outputs_.receive(session_);
      set_outputs(std::move(mine), checks::receive_digest(session_));
    } else {
      set_outputs(std::move(none), settled);
    }
  }
  result.shared = outputs_.take_shared(session_);
}

// Counts what the interactive phase counts, and passes the rounds on.
class Rounds final : public circuit::RoundSink {
 public:
  Rounds(Chunker& chunker, Evaluation& result, std::size_t lanes)
      : chunker_(chunker), result_(result), lanes_(lanes) {}
  void round(circuit::Round& round) override {
    result_.xors += round.xor_count(lanes_);
    result_.and_rounds += round.and_count(lanes_) > 0;
    chunker_.round(round);
  }

 private:
  Chunker& chunker_;
  Evaluation& result_;
  std::size_t lanes_;
};

}  // namespace

MaterialCounts garbled_material_for(const circuit::CircuitInfo& info, std::uint64_t ands,
                                    std::size_t lanes) {
  MaterialCounts counts;
  counts[MaterialKind::FullTriples] = ands;
  for (const Party party : {Party::A, Party::B}) counts[material::auth_bits_of(party)] = ands;
  count_input_masks(info, lanes, counts);
  return counts;
}

Evaluation run_garbled(checks::Session& session, material::Source& source,
                       const MaterialCounts& wanted, circuit::CircuitRounds& rounds,
                       const BundleValues& inputs, const SharedValues& shared,
                       const RunProgress& progress, const GarbledWindow& window) {
  ENSURE(window.entries > 0 && window.chunk_min > 0 && window.chunk_min <= window.chunk_max &&
         window.chunk_max <= Chunker::kEntriesMax);
  check_inputs(session.me(), rounds.circuit().info(), WireForm::HalfShares, rounds.lanes(), inputs,
               shared);
  MaterialReader material(source, wanted);
  GarbledRun run(session, material, rounds, inputs, shared, progress, window);
  double evaluating_cpu_s = 0;
  {
    const net::PhaseLog::Scope phase(session.log(), session.channel(), "rows", rounds.lanes());
    Chunker chunker(Lanes(rounds.lanes()), window.chunk_min, window.chunk_max,
                    [&](Chunk chunk) { run.add(std::move(chunk)); });
    Rounds sink(chunker, run.result, rounds.lanes());
    evaluating_cpu_s = rounds.run(sink);
    chunker.finish();
    run.finish();
  }
  session.log().add({.name = "rows", .cpu_s = evaluating_cpu_s});
  const net::PhaseLog::Scope phase(session.log(), session.channel(), "outputs", rounds.lanes());
  run.reveal_outputs();
  run.result.store_s = material.waited_s();
  run.result.opening_s = material.opening_s();
  return std::move(run.result);
}

}  // namespace tinyot::online
