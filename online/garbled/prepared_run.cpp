#include "online/garbled/prepared_run.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/declassify.h"
#include "base/error.h"
#include "online/garbled/gate_check.h"
#include "online/inputs.h"
#include "online/stopwatch.h"

namespace tinyot::online {
namespace {

constexpr net::MessageTag kSeed = net::message_tag("garbled.seed");
constexpr std::size_t kPadStep = 128;  // blocks that are made at a time

// XORs streams of a pad, from block 0 on, to what is sent of a chunk.
class PadStream {
 public:
  PadStream(const crypto::PrgRows& pad, std::uint64_t stream) : pad_(pad), stream_(stream) {}

  // Takes whole blocks of the stream.
  void add_to(std::span<std::byte> bytes) {
    SecretVector<Block> blocks(kPadStep);
    while (!bytes.empty()) {
      const std::size_t size = std::min(bytes.size(), kPadStep * sizeof(Block));
      const std::size_t count = (size + sizeof(Block) - 1) / sizeof(Block);
      pad_.fill_of_stream(0, stream_, next_, std::span(blocks).first(count));
      next_ += count;
      const std::span<const std::byte> added = std::as_bytes(std::span(blocks)).first(size);
      for (std::size_t i = 0; i < size; ++i) bytes[i] ^= added[i];
      bytes = bytes.subspan(size);
    }
  }

 private:
  const crypto::PrgRows& pad_;
  std::uint64_t stream_, next_ = 0;
};

void add_pad(const crypto::PrgRows& pad, std::uint64_t chunk, GarbledRows& rows) {
  PadStream stream(pad, chunk);
  stream.add_to(std::as_writable_bytes(std::span(rows.halves)));
  stream.add_to(rows.colours.bytes());
  rows.colours.clear_padding();
  stream.add_to(rows.macs);
}

}  // namespace

RowMacs row_macs_of(const Preparation& preparation) {
  if (preparation.row_check != RowCheck::Early) return {};
  return {(preparation.sigma + 7) / 8 + 1};
}

PreparedRun::PreparedRun(checks::Session& session, material::Source& source,
                         const MaterialCounts& wanted, circuit::CircuitRounds& rounds,
                         const SharedValues& shared, const Preparation& preparation,
                         const GarbledWindow& window)
    : steps_(session, source, wanted, rounds, shared,
             BundleValues(rounds.circuit().info().inputs.size())),
      session_(session), rounds_(rounds), macs_(row_macs_of(preparation)), window_(window) {
  if (session.me() == Party::A) return;
  garbler_.emplace(session, steps_.info, steps_.lanes, steps_.constants, macs_, steps_.outputs,
                   steps_.run);
  pad_seed_ = {session.rng().block()};
  pad_.emplace(std::array{pad_seed_});
}

PreparedRun::~PreparedRun() { wipe_object(pad_seed_); }

void PreparedRun::mask(Chunk chunk) {
  steps_.masks.send_openings(chunk);
  load_ += chunk.load;
  chunks_.push_back({std::move(chunk), {}, {}});
  while (load_ >= window_.entries) exchange_rows(made_ + 1);
}

void PreparedRun::receive_openings(std::size_t chunks) {
  const Stopwatch waiting(result_.wire_s);
  if (opened_ == 0) steps_.shared_masks.receive(steps_.constants);
  for (; opened_ < chunks; ++opened_) steps_.masks.receive_openings(chunks_[opened_].chunk);
}

void PreparedRun::evaluate_masks(std::size_t chunks) {
  // B sends all openings that it has before the rows.
  receive_openings(session_.me() == Party::A ? chunks_.size() : chunks);
  const Stopwatch computing(result_.blocks_s);
  for (; evaluated_ < chunks; ++evaluated_) {
    Prepared& next = chunks_[evaluated_];
    steps_.blocks.evaluate(next.chunk, next.ands);
    forget_material(next.chunk);
  }
}

void PreparedRun::exchange_rows(std::size_t chunks) {
  evaluate_masks(chunks);
  for (; made_ < chunks; ++made_) {
    Prepared& next = chunks_[made_];
    load_ -= next.chunk.load;
    result_.ands += next.chunk.entries;
    if (!garbler_) {
      receive_rows(session_, next.chunk.entries, macs_, next.rows);
      continue;
    }
    GarbledRows rows;
    garbler_->garble(next.chunk, next.ands, rows);
    add_pad(*pad_, made_, rows);
    send_rows(session_, rows);
    GateMacs kept = macs_.bytes == 0 ? std::move(next.ands.macs) : GateMacs{};
    next.ands = {};
    next.ands.macs = std::move(kept);
  }
}

void PreparedRun::prepare() {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "prepare",
                                   steps_.lanes.count());
  Chunker chunker(steps_.lanes, window_.chunk_min, window_.chunk_max,
                  [&](Chunk chunk) { mask(std::move(chunk)); });
  CountedRounds sink(chunker, result_, steps_.lanes.count());
  rounds_.run(sink);
  chunker.finish();
  // A's digest does not wait for the rows.
  if (session_.me() == Party::A) {
    evaluate_masks(chunks_.size());
    checks::send_digest(session_);
    session_.channel().flush();
  }
  exchange_rows(chunks_.size());
  if (session_.me() == Party::B) checks::send_digest(session_);
  settled_ = checks::receive_digest(session_);
  garbler_.reset();
  result_.store_s = steps_.material->waited_s();
  result_.opening_s = steps_.material->opening_s();
  steps_.material.reset();  // and with it what has been used
}

void PreparedRun::exchange_inputs(const BundleValues& inputs, const std::function<void()>& agree) {
  values_ = public_values(steps_.info, inputs);
  for (std::size_t b = 0; b < values_.size(); ++b)
    if (steps_.constants[b]) values_[b] = steps_.constants[b];
  for (Prepared& next : chunks_) {
    steps_.masks.send_inputs(next.chunk, inputs);
    steps_.masks.set_public_inputs(next.chunk, inputs);
  }
  agree();
  for (Prepared& next : chunks_) steps_.masks.receive_inputs(next.chunk);
  session_.require_not_revoked();  // the inputs may have come long after stage F has settled
  if (session_.me() == Party::B) {
    for (const Prepared& next : chunks_) send_labels(session_, next.chunk);
    net::send_object(session_.channel(), kSeed, pad_seed_);
    return;
  }
  for (Prepared& next : chunks_) receive_labels(session_, next.chunk);
  pad_seed_ = net::recv_object<Seed>(session_.channel(), kSeed);
  pad_.emplace(std::array{pad_seed_});
}

template <class Use>
bool PreparedRun::evaluate_rows(Use use) {
  RowEvaluator evaluator(session_, steps_.info, steps_.lanes, steps_.constants, values_, macs_,
                         steps_.outputs, steps_.run);
  for (std::size_t k = 0; k < made_; ++k) {
    Prepared& next = chunks_.front();
    add_pad(*pad_, k, next.rows);
    use(next, evaluator.evaluate(next.chunk, next.ands, next.rows));
    chunks_.pop_front();
  }
  return !evaluator.has_found_wrong_row();
}

BundleValues PreparedRun::evaluate_batched() {
  if (session_.me() == Party::A) {
    evaluate_rows([&](Prepared& chunk, const GateValues& values) {
      send_masked_ands(session_, values);
      absorb_gates(session_, chunk.ands.macs, values);
    });
  } else {
    GateCheck check(session_, steps_.info, steps_.lanes, values_, steps_.outputs);
    for (; !chunks_.empty(); chunks_.pop_front())
      check.receive(chunks_.front().chunk, chunks_.front().ands.macs);
  }
  return exchange_outputs(session_, steps_.outputs);
}

// B's bits of A's outputs leave before A has judged the rows: both directions of stage F have
// settled, so they open the circuit on the inputs that A has announced.
BundleValues PreparedRun::evaluate_early(const checks::SettledCheck& before) {
  OutputMasks& outputs = steps_.outputs;
  if (session_.me() == Party::B) {
    if (outputs.has_outputs_of(Party::A)) outputs.reveal(session_, before);
    checks::send_digest(session_);
    BundleValues mine = outputs.receive(session_);
    session_.require_not_revoked();
    if (!outputs.has_outputs_of(Party::B)) return checked(std::move(mine), before);
    return checked(std::move(mine), checks::receive_digest(session_));
  }
  // Whatever else B has sent, or has not: a wrong row is a guess of bits of Delta^A.
  if (!declassified(evaluate_rows([](Prepared&, const GateValues&) {})))
    throw PeerCheated("early rows");
  BundleValues mine = outputs.receive(session_);
  const checks::SettledCheck settled = checks::receive_digest(session_);
  if (outputs.has_outputs_of(Party::B)) {
    outputs.reveal(session_, settled);
    checks::send_digest(session_);
  }
  return checked(std::move(mine), settled);
}

std::array<std::uint64_t, 2> PreparedRun::count_half_round_trips() const {
  const auto& given = steps_.info.inputs;
  const bool a_gives = std::ranges::any_of(given, [](const circuit::InputBundle& bundle) {
    return bundle.source == circuit::InputSource::A && bundle.bits > 0;
  });
  // B's answer to A's masked inputs is what A evaluates; with the batched check, A's proof is next.
  const std::uint64_t masked = a_gives ? 1 : 0, proof = macs_.bytes > 0 ? masked : masked + 2,
                      at_a = proof + 1;
  return {at_a, steps_.outputs.has_outputs_of(Party::B) ? at_a + 1 : proof};
}

Evaluation PreparedRun::finish(const BundleValues& inputs, const RunProgress& progress,
                               const std::function<void()>& agree) {
  ENSURE(settled_);  // used up: a second input would show both labels of its wire
  const checks::SettledCheck before = *std::exchange(settled_, std::nullopt);
  check_inputs(session_.me(), steps_.info, steps_.lanes.count(), inputs);
  {
    const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "inputs",
                                     steps_.lanes.count());
    exchange_inputs(inputs, agree);
  }
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "online",
                                   steps_.lanes.count());
  result_.outputs = macs_.bytes > 0 ? evaluate_early(before) : evaluate_batched();
  if (progress) progress(result_.ands);
  result_.half_round_trips = count_half_round_trips();
  result_.shared = steps_.outputs.take_shared(session_);
  return std::move(result_);
}

}  // namespace tinyot::online
