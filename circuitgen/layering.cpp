#include "circuitgen/layering.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/error.h"
#include "circuitgen/wire_ids.h"

namespace tinyot::circuit {
namespace {

constexpr Slot kNoSlot = ~Slot{0};
// a round, a kind and a flag fit in the 32 bits of Item::key
constexpr std::size_t kWindowMax = std::size_t{1} << 28;

// The phases of a round, in the order of evaluation.
enum Phase : std::uint32_t { kInputs, kCommonLocal, kLocal, kOutputs, kCommonAnds, kAnds, kPhases };
// By GateKind, for lanes and common wires.
constexpr std::array<std::array<std::uint32_t, 2>, 7> kPhaseOf = {{{kInputs, kInputs},
                                                                   {kLocal, kCommonLocal},
                                                                   {kLocal, kCommonLocal},
                                                                   {kAnds, kCommonAnds},
                                                                   {kLocal, kCommonLocal},
                                                                   {kOutputs, kOutputs},
                                                                   {kPhases, kPhases}}};

// A buffered gate; wires are numbers. Input: in0, in1 are bundle and bit. Output: out is the
// bundle, in1 the bit.
struct Item {
  std::uint32_t key;  // round in the window . 16 + kind . 2 + common
  std::uint32_t out;
  std::uint32_t in0;
  std::uint32_t in1;

  GateKind kind() const { return static_cast<GateKind>(key / 2 % 8); }
  std::size_t bucket() const {
    return std::size_t{key / 16} * kPhases + kPhaseOf[key / 2 % 8][key % 2];
  }
};

using WireNumber = std::uint32_t;

struct Wire {
  std::uint64_t level;         // counted from the circuit's first round
  Slot slot;                   // kNoSlot until the writer is scheduled
  std::uint32_t readers : 30;  // buffered and not yet scheduled
  std::uint32_t freed : 1;     // no further reader
  std::uint32_t common : 1;
};
static_assert(sizeof(Wire) == 16);

// Allocator of slots. Reuses the slot released last, which is most likely in the cache.
class SlotPool {
 public:
  Slot allocate() {
    if (free_.empty()) {
      ENSURE(used_ < kCommonBit - 1);
      return used_++;
    }
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void release(Slot slot) { free_.push_back(slot); }
  std::size_t used() const { return used_; }

 private:
  std::vector<Slot> free_;
  Slot used_ = 0;
};

class Layering final : public GateSink {
 public:
  Layering(const CircuitInfo& info, std::size_t lanes, std::size_t window, RoundSink& sink)
      : info_(info), several_lanes_(lanes > 1), window_(std::min(window, kWindowMax)), sink_(sink) {
    ENSURE(window >= 1);
  }

  void emit(const Gate& gate) override;
  void finish() { emit_window(); }

 private:
  // The level of a wire, and whether it is common.
  struct Place {
    std::uint64_t level;
    bool common;
  };
  WireNumber make_wire(WireId id, const Place& place) {
    const auto number = static_cast<WireNumber>(numbers_.take());
    number_of_.make(id, number);
    if (number >= wires_.size()) [[unlikely]]
      wires_.resize(numbers_.limit());
    wires_[number] = {place.level, kNoSlot, 0, 0, place.common};
    return number;
  }
  WireNumber read_wire(WireId id) {
    const WireNumber number = number_of_.at(id);
    ++wires_[number].readers;
    return number;
  }
  // The place of a gate with these operands. A wire made before the window is available in its
  // first round.
  Place place_of(WireNumber in) const {
    return {std::max(wires_[in].level, first_round_), wires_[in].common != 0};
  }
  Place place_of(WireNumber in0, WireNumber in1) const {
    return {std::max({wires_[in0].level, wires_[in1].level, first_round_}),
            (wires_[in0].common & wires_[in1].common) != 0};
  }
  void free_wire(WireId id) {
    const WireNumber number = number_of_.free(id);
    wires_[number].freed = 1;
    if (wires_[number].slot != kNoSlot) release_if_dead(number);
  }

  void buffer(GateKind kind, const Place& place, std::uint32_t out, std::uint32_t in0,
              std::uint32_t in1);
  void emit_window();
  void sort_window();
  std::span<const Item> bucket(std::size_t round, Phase phase) const {
    const std::size_t index = round * kPhases + phase;
    const std::size_t first = index == 0 ? 0 : bucket_ends_[index - 1];
    return std::span(sorted_).subspan(first, bucket_ends_[index] - first);
  }
  void schedule_inputs(std::span<const Item> items);
  void schedule_local(std::span<const Item> items, std::vector<LocalGate>& local);
  void schedule_outputs(std::span<const Item> items);
  void schedule_ands(std::span<const Item> items, std::vector<RoundAnd>& ands);

  Slot allocate_slot(WireNumber number) {
    Wire& wire = wires_[number];
    return wire.slot = wire.common ? common_slots_.allocate() | kCommonBit : slots_.allocate();
  }
  void release_if_dead(WireNumber number) {
    const Wire& wire = wires_[number];
    if (wire.readers != 0 || !wire.freed) return;
    (wire.common ? common_slots_ : slots_).release(static_cast<Slot>(index_of(wire.slot)));
    numbers_.give_back(number);
  }
  Slot last_read(WireNumber number) {
    const Slot slot = wires_[number].slot;
    --wires_[number].readers;
    release_if_dead(number);
    return slot;
  }

  const CircuitInfo& info_;
  const bool several_lanes_;
  const std::size_t window_;
  RoundSink& sink_;

  // A wire keeps its number until no buffered gate reads it; its id may be reused before that.
  WireTable<WireNumber> number_of_;
  WireIds numbers_;
  std::vector<Wire> wires_;
  SlotPool slots_, common_slots_;

  std::uint64_t first_round_ = 0;  // of the window
  std::vector<Item> items_;
  std::vector<Item> sorted_;
  std::vector<std::uint32_t> bucket_ends_;  // bucket sizes until the window is sorted
  Round round_;
};

void Layering::emit(const Gate& gate) {
  if (gate.kind == GateKind::Free) return free_wire(gate.in0);
  // A full window is not emitted immediately: the Free events after its last gate still belong to
  // it.
  if (items_.size() == window_) emit_window();

  switch (gate.kind) {
    case GateKind::Input: {
      ENSURE(gate.in0 < info_.inputs.size() && gate.in1 < info_.inputs[gate.in0].bits);
      const Place place{first_round_, several_lanes_ && info_.inputs[gate.in0].same_in_all_lanes};
      return buffer(gate.kind, place, make_wire(gate.out, place),
                    static_cast<std::uint32_t>(gate.in0), static_cast<std::uint32_t>(gate.in1));
    }
    case GateKind::Const: {
      ENSURE(gate.in0 <= 1);
      const Place place{first_round_, several_lanes_};
      return buffer(gate.kind, place, make_wire(gate.out, place),
                    static_cast<std::uint32_t>(gate.in0), 0);
    }
    case GateKind::Not: {
      const WireNumber in0 = read_wire(gate.in0);
      const Place place = place_of(in0);
      return buffer(gate.kind, place, make_wire(gate.out, place), in0, 0);
    }
    case GateKind::Xor:
    case GateKind::And: {
      const WireNumber in0 = read_wire(gate.in0), in1 = read_wire(gate.in1);
      const Place place = place_of(in0, in1);
      return buffer(gate.kind, place,
                    make_wire(gate.out, {place.level + (gate.kind == GateKind::And), place.common}),
                    in0, in1);
    }
    case GateKind::Output: {
      ENSURE(gate.out < info_.outputs.size() && gate.in1 < info_.outputs[gate.out].bits);
      const WireNumber in0 = read_wire(gate.in0);
      return buffer(gate.kind, place_of(in0), static_cast<std::uint32_t>(gate.out), in0,
                    static_cast<std::uint32_t>(gate.in1));
    }
    case GateKind::Free:
      break;
  }
  ENSURE(!"a known kind of gate");
}

void Layering::buffer(GateKind kind, const Place& place, std::uint32_t out, std::uint32_t in0,
                      std::uint32_t in1) {
  const std::uint32_t round = static_cast<std::uint32_t>(place.level - first_round_);
  const Item& item = items_.emplace_back(
      Item{round * 16 + static_cast<std::uint32_t>(kind) * 2 + place.common, out, in0, in1});
  if (item.bucket() >= bucket_ends_.size())
    bucket_ends_.resize(std::size_t{round + 1} * kPhases, 0);
  ++bucket_ends_[item.bucket()];
}

// Counting sort by round and phase; gates of one bucket keep the order of the stream, which is a
// topological order.
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

// Every round except the last contains ANDs that the next round depends on, so no round is empty.
void Layering::emit_window() {
  sort_window();
  const std::size_t rounds = bucket_ends_.size() / kPhases;
  for (std::size_t round = 0; round < rounds; ++round) {
    schedule_inputs(bucket(round, kInputs));
    schedule_local(bucket(round, kCommonLocal), round_.common_local);
    schedule_local(bucket(round, kLocal), round_.local);
    schedule_outputs(bucket(round, kOutputs));
    schedule_ands(bucket(round, kCommonAnds), round_.common_ands);
    schedule_ands(bucket(round, kAnds), round_.ands);
    round_.slots = slots_.used();
    round_.common_slots = common_slots_.used();
    sink_.round(round_);
  }
  first_round_ += rounds;
  items_.clear();
  bucket_ends_.clear();
}

// Inputs come first in a round, so they may use only slots that were free before it: no slot is
// released until every input has one.
void Layering::schedule_inputs(std::span<const Item> items) {
  round_.inputs.clear();
  for (const Item& item : items)
    round_.inputs.push_back({item.in0, item.in1, allocate_slot(item.out)});
  for (const Item& item : items) release_if_dead(item.out);
}

// Sequential: the result may reuse the slot of an operand whose last read is here.
void Layering::schedule_local(std::span<const Item> items, std::vector<LocalGate>& local) {
  local.clear();
  for (const Item& item : items) {
    const GateKind kind = item.kind();
    const Slot in0 = kind == GateKind::Const ? item.in0 : last_read(item.in0);
    const Slot in1 = kind == GateKind::Xor ? last_read(item.in1) : 0;
    local.push_back({kind, allocate_slot(item.out), in0, in1});
    release_if_dead(item.out);
  }
}

void Layering::schedule_outputs(std::span<const Item> items) {
  round_.outputs.clear();
  for (const Item& item : items)
    round_.outputs.push_back({item.out, item.in1, last_read(item.in0)});
}

// In parallel: operands keep their slots until every result has one, and a result without a reader
// also occupies a slot.
void Layering::schedule_ands(std::span<const Item> items, std::vector<RoundAnd>& ands) {
  ands.clear();
  for (const Item& item : items) {
    ands.push_back({allocate_slot(item.out), wires_[item.in0].slot, wires_[item.in1].slot});
  }
  for (const Item& item : items) {
    last_read(item.in0);
    last_read(item.in1);
    release_if_dead(item.out);
  }
}

}  // namespace

void generate_rounds(const Circuit& circuit, std::size_t lanes, std::size_t window,
                     RoundSink& sink) {
  Layering layering(circuit.info(), lanes, window, sink);
  circuit.generate(layering);
  layering.finish();
}

}  // namespace tinyot::circuit
