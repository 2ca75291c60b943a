#include "circuitgen/layering.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/error.h"
#include "circuitgen/wire_numbers.h"

namespace tinyot {
namespace {

constexpr Slot kNoSlot = ~Slot{0};
constexpr std::size_t kWindowMax = std::size_t{1} << 28;  // a round and a kind fit in the 32 bits of Item::key

// The phases of a round, in the order in which they are carried out.
enum Phase : std::uint32_t { kInputs = 0, kLocal = 1, kOutputs = 2, kAnds = 3, kPhases = 4 };
constexpr std::array<std::uint32_t, 7> kPhaseOf = {kInputs, kLocal, kLocal, kAnds, kLocal, kOutputs, kPhases};  // by GateKind

// A buffered gate; wires are numbers. Input: in0, in1 are bundle and bit. Output: out is the bundle, in1 the bit.
struct Item {
  std::uint32_t key;  // round in the window . 8 + kind
  std::uint32_t out;
  std::uint32_t in0;
  std::uint32_t in1;

  GateKind kind() const { return static_cast<GateKind>(key % 8); }
  std::size_t bucket() const { return std::size_t{key / 8} * kPhases + kPhaseOf[key % 8]; }
};

struct Wire {
  std::uint64_t level;  // counted from the first round of the circuit on
  Slot slot;            // kNoSlot until the writer is scheduled
  std::uint32_t readers : 31;  // buffered and not yet scheduled
  std::uint32_t freed : 1;     // no reader comes any more
};
static_assert(sizeof(Wire) == 16);

class Layering final : public GateSink {
 public:
  Layering(const CircuitInfo& info, std::size_t window, RoundSink& sink)
      : info_(info), window_(std::min(window, kWindowMax)), sink_(sink) {
    ENSURE(window >= 1);
  }

  void emit(const Gate& gate) override;
  void finish() { hand_out_window(); }

 private:
  WireNumber make_wire(WireId id, std::uint64_t level) {
    const WireNumber number = numbers_.add(id);
    if (number >= wires_.size()) wires_.resize(numbers_.limit());
    wires_[number] = {level, kNoSlot, 0, 0};
    return number;
  }
  WireNumber read_wire(WireId id) {
    const WireNumber number = numbers_.number_of(id);
    ++wires_[number].readers;
    return number;
  }
  // A wire made before the window is there at its first round.
  std::uint64_t level_of(WireNumber number) const { return std::max(wires_[number].level, first_round_); }
  void free_wire(WireId id) {
    const WireNumber number = numbers_.forget(id);
    wires_[number].freed = 1;
    if (wires_[number].slot != kNoSlot) release_if_dead(number);
  }

  void buffer(GateKind kind, std::uint64_t level, std::uint32_t out, std::uint32_t in0, std::uint32_t in1);
  void hand_out_window();
  void sort_window();
  std::span<const Item> bucket(std::size_t round, Phase phase) const {
    const std::size_t index = round * kPhases + phase;
    const std::size_t first = index == 0 ? 0 : bucket_ends_[index - 1];
    return std::span(sorted_).subspan(first, bucket_ends_[index] - first);
  }
  void schedule_inputs(std::span<const Item> items);
  void schedule_local(std::span<const Item> items);
  void schedule_outputs(std::span<const Item> items);
  void schedule_ands(std::span<const Item> items);

  Slot give_slot(WireNumber number) {
    Slot slot;
    if (free_slots_.empty()) {
      ENSURE(slots_ < kNoSlot);
      slot = slots_++;
    } else {
      slot = free_slots_.back();
      free_slots_.pop_back();
    }
    return wires_[number].slot = slot;
  }
  void release_if_dead(WireNumber number) {
    if (wires_[number].readers != 0 || !wires_[number].freed) return;
    free_slots_.push_back(wires_[number].slot);
    numbers_.recycle(number);
  }
  Slot last_read(WireNumber number) {
    const Slot slot = wires_[number].slot;
    --wires_[number].readers;
    release_if_dead(number);
    return slot;
  }

  const CircuitInfo& info_;
  const std::size_t window_;
  RoundSink& sink_;

  WireNumbers numbers_;
  std::vector<Wire> wires_;
  std::vector<Slot> free_slots_;
  Slot slots_ = 0;

  std::uint64_t first_round_ = 0;  // of the window
  std::vector<Item> items_;
  std::vector<Item> sorted_;
  std::vector<std::uint32_t> bucket_ends_;  // sizes while the window fills
  Round round_{};
};

void Layering::emit(const Gate& gate) {
  if (gate.kind == GateKind::Free) return free_wire(gate.in0);
  // Not as soon as the window is full: the Free events behind its last gate still belong to it.
  if (items_.size() == window_) hand_out_window();

  switch (gate.kind) {
    case GateKind::Input:
      ENSURE(gate.in0 < info_.inputs.size() && gate.in1 < info_.inputs[gate.in0].bits);
      return buffer(gate.kind, first_round_, make_wire(gate.out, first_round_), static_cast<std::uint32_t>(gate.in0),
                    static_cast<std::uint32_t>(gate.in1));
    case GateKind::Const:
      ENSURE(gate.in0 <= 1);
      return buffer(gate.kind, first_round_, make_wire(gate.out, first_round_), static_cast<std::uint32_t>(gate.in0), 0);
    case GateKind::Not: {
      const WireNumber in0 = read_wire(gate.in0);
      const std::uint64_t level = level_of(in0);
      return buffer(gate.kind, level, make_wire(gate.out, level), in0, 0);
    }
    case GateKind::Xor:
    case GateKind::And: {
      const WireNumber in0 = read_wire(gate.in0), in1 = read_wire(gate.in1);
      const std::uint64_t level = std::max(level_of(in0), level_of(in1));
      return buffer(gate.kind, level, make_wire(gate.out, level + (gate.kind == GateKind::And)), in0, in1);
    }
    case GateKind::Output: {
      ENSURE(gate.out < info_.outputs.size() && gate.in1 < info_.outputs[gate.out].bits);
      const WireNumber in0 = read_wire(gate.in0);
      return buffer(gate.kind, level_of(in0), static_cast<std::uint32_t>(gate.out), in0, static_cast<std::uint32_t>(gate.in1));
    }
    case GateKind::Free:
      break;
  }
  ENSURE(!"a known kind of gate");
}

void Layering::buffer(GateKind kind, std::uint64_t level, std::uint32_t out, std::uint32_t in0, std::uint32_t in1) {
  const std::uint32_t round = static_cast<std::uint32_t>(level - first_round_);
  const Item& item = items_.emplace_back(Item{round * 8 + static_cast<std::uint32_t>(kind), out, in0, in1});
  if (item.bucket() >= bucket_ends_.size()) bucket_ends_.resize(std::size_t{round + 1} * kPhases, 0);
  ++bucket_ends_[item.bucket()];
}

// Counting sort by round and phase; gates of one bucket keep the order of the stream, which is an order of dependence.
void Layering::sort_window() {
  std::uint32_t sum = 0;
  for (std::uint32_t& count : bucket_ends_) {
    const std::uint32_t first = sum;
    sum += count;
    count = first;
  }
  sorted_.resize(items_.size());
  for (const Item& item : items_) sorted_[bucket_ends_[item.bucket()]++] = item;
}

// Every round that has a successor holds the ANDs which the successor waits for, so no round is empty.
void Layering::hand_out_window() {
  sort_window();
  const std::size_t rounds = bucket_ends_.size() / kPhases;
  for (std::size_t round = 0; round < rounds; ++round) {
    schedule_inputs(bucket(round, kInputs));
    schedule_local(bucket(round, kLocal));
    schedule_outputs(bucket(round, kOutputs));
    schedule_ands(bucket(round, kAnds));
    round_.slots = slots_;
    sink_.round(round_);
  }
  first_round_ += rounds;
  items_.clear();
  bucket_ends_.clear();
}

// Inputs come first in a round, so they may take only slots that were free before it: nothing is released until all have one.
void Layering::schedule_inputs(std::span<const Item> items) {
  round_.inputs.clear();
  for (const Item& item : items) round_.inputs.push_back({item.in0, item.in1, give_slot(item.out)});
  for (const Item& item : items) release_if_dead(item.out);
}

// One after the other: the result may take the slot of an input that is read here for the last time.
void Layering::schedule_local(std::span<const Item> items) {
  round_.local.clear();
  for (const Item& item : items) {
    const GateKind kind = item.kind();
    const Slot in0 = kind == GateKind::Const ? item.in0 : last_read(item.in0);
    const Slot in1 = kind == GateKind::Xor ? last_read(item.in1) : 0;
    round_.local.push_back({kind, give_slot(item.out), in0, in1});
    release_if_dead(item.out);
  }
}

void Layering::schedule_outputs(std::span<const Item> items) {
  round_.outputs.clear();
  for (const Item& item : items) round_.outputs.push_back({item.out, item.in1, last_read(item.in0)});
}

// All at once: inputs keep their slots until every output has one, and an output that nobody reads holds its own as well.
void Layering::schedule_ands(std::span<const Item> items) {
  round_.ands.clear();
  for (const Item& item : items) {
    round_.ands.push_back({give_slot(item.out), wires_[item.in0].slot, wires_[item.in1].slot});
  }
  for (const Item& item : items) {
    last_read(item.in0);
    last_read(item.in1);
    release_if_dead(item.out);
  }
}

}  // namespace

void generate_rounds(const Circuit& circuit, std::size_t window, RoundSink& sink) {
  Layering layering(circuit.info(), window, sink);
  circuit.generate(layering);
  layering.finish();
}

}  // namespace tinyot
