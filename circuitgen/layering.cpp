#include "circuitgen/layering.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/error.h"
#include "circuitgen/wire_ids.h"

namespace tinyot::circuit {
namespace {

// An item and an operand, or a round and a phase, fit in 32 bits.
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

// The wires of a gate.
enum Operand : std::uint32_t { kIn0, kIn1, kOut };
constexpr bool has_in1(GateKind kind) { return kind == GateKind::Xor || kind == GateKind::And; }
constexpr bool has_in0(GateKind kind) {
  return has_in1(kind) || kind == GateKind::Not || kind == GateKind::Output;
}

// A buffered gate. An operand is the slot of a wire that was scheduled before the window, or the
// item that writes it; in an Input, in0 and in1 are bundle and bit, in a Const in0 is the bit, and
// in an Output in1 is the bit.
struct Item {
  std::uint32_t bucket;  // round in the window . kPhases + phase
  GateKind kind;
  bool common;
  std::array<bool, 2> is_slot;  // of in0, in1
  // By operand: no item evaluated after this one uses the wire, and no later gate reads it.
  std::array<bool, 3> last_use;
  std::uint32_t in0;
  std::uint32_t in1;
  std::uint32_t out;  // id of a wire; bundle of an Output
};
static_assert(sizeof(Item) == 24);
using ItemIndex = std::uint32_t;

struct Wire {
  std::uint32_t source;      // the item that writes it; once that is scheduled, its slot
  std::uint32_t level : 30;  // in the window; 0 once scheduled
  std::uint32_t scheduled : 1;
  std::uint32_t common : 1;
};
static_assert(sizeof(Wire) == 8);

// A set of items or slots, a bit for each, so that it stays in the cache.
class Marks {
 public:
  void set(std::size_t i) {
    if (i / 64 >= words_.size()) [[unlikely]]
      words_.resize(2 * (i / 64) + 1);
    words_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  // Removes an element less than the argument of grow(). Returns whether it was in the set.
  bool take(std::size_t i) {
    const bool was_set = words_[i / 64] >> (i % 64) & 1;
    words_[i / 64] ^= std::uint64_t{was_set} << (i % 64);
    return was_set;
  }
  void grow(std::size_t size) { words_.resize(std::max(words_.size(), size / 64 + 1)); }
  // Calls use(i) for the elements less than `size`, as for grow(), that are not in the set.
  template <class Use>
  void for_each_other(std::size_t size, Use use) const {
    for (std::size_t i = 0; i < size; i += 64) {
      std::uint64_t others = ~words_[i / 64];
      if (size - i < 64) others &= (std::uint64_t{1} << (size - i)) - 1;
      for (; others != 0; others &= others - 1)
        use(i + static_cast<std::size_t>(std::countr_zero(others)));
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

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
  // The level of a gate or wire in the window, and whether it is common.
  struct Place {
    std::uint32_t level;
    bool common;
  };
  Place place_without_operands(const Gate& gate) const;
  Item& buffer(GateKind kind, const Place& place);
  void free_wire(WireId id);

  void emit_window();
  void sort_window();
  void note_kept_wires();
  void mark_last_uses();
  std::span<const ItemIndex> bucket(std::size_t round, Phase phase) const {
    const std::size_t index = round * kPhases + phase;
    const std::size_t first = index == 0 ? 0 : bucket_ends_[index - 1];
    return std::span(sorted_).subspan(first, bucket_ends_[index] - first);
  }
  void schedule_inputs(std::span<const ItemIndex> items);
  void schedule_local(std::span<const ItemIndex> items, std::vector<LocalGate>& local);
  void schedule_outputs(std::span<const ItemIndex> items);
  void schedule_ands(std::span<const ItemIndex> items, std::vector<RoundAnd>& ands);
  void keep_live_wires();

  Slot slot_of(const Item& item, Operand operand) const {
    const std::uint32_t source = operand == kIn0 ? item.in0 : item.in1;
    return item.is_slot[operand] ? source : slot_of_[source];
  }
  Slot allocate_slot(ItemIndex i) {
    return slot_of_[i] =
               items_[i].common ? common_slots_.allocate() | kCommonBit : slots_.allocate();
  }
  void release(Slot slot) {
    (is_common(slot) ? common_slots_ : slots_).release(static_cast<Slot>(index_of(slot)));
  }
  Marks& freed_slots_like(Slot slot) {
    return is_common(slot) ? freed_common_slots_ : freed_slots_;
  }

  const CircuitInfo& info_;
  const bool several_lanes_;
  const std::size_t window_;
  RoundSink& sink_;

  WireTable<Wire> wires_;
  SlotPool slots_, common_slots_;

  std::vector<Item> items_;
  // Wires that are freed in the window and whose last use has not been found: by the item that
  // writes them or, of wires scheduled before, by slot.
  Marks freed_items_, freed_slots_, freed_common_slots_;
  std::vector<Slot> freed_before_;  // all such slots
  std::vector<ItemIndex> kept_;     // write wires that are live after the window
  std::vector<Slot> slot_of_;       // by item: of the wire that it writes
  std::vector<ItemIndex> sorted_;
  std::vector<std::uint32_t> bucket_ends_;  // bucket sizes until the window is sorted
  Round round_;
};

void Layering::emit(const Gate& gate) {
  if (gate.kind == GateKind::Free) return free_wire(gate.in0);
  // A full window is not emitted immediately: the Free events after its last gate still belong to
  // it.
  if (items_.size() == window_) emit_window();

  const Wire* const in0 = has_in0(gate.kind) ? &wires_.at(gate.in0) : nullptr;
  const Wire* const in1 = has_in1(gate.kind) ? &wires_.at(gate.in1) : nullptr;
  Place place = in0 == nullptr ? place_without_operands(gate) : Place{in0->level, in0->common != 0};
  if (in1 != nullptr) {
    place.level = std::max<std::uint32_t>(place.level, in1->level);
    place.common = place.common && in1->common != 0;
  }
  Item& item = buffer(gate.kind, place);
  item.in0 = in0 != nullptr ? in0->source : static_cast<std::uint32_t>(gate.in0);
  item.in1 = in1 != nullptr ? in1->source : static_cast<std::uint32_t>(gate.in1);
  item.is_slot = {in0 != nullptr && in0->scheduled, in1 != nullptr && in1->scheduled};
  item.out = static_cast<std::uint32_t>(gate.out);
  if (gate.kind == GateKind::Output) {
    ENSURE(gate.out < info_.outputs.size() && gate.in1 < info_.outputs[gate.out].bits);
    return;
  }
  Wire& wire = wires_.make(gate.out);
  wire.source = static_cast<ItemIndex>(items_.size() - 1);
  wire.level = place.level + (gate.kind == GateKind::And);
  wire.scheduled = 0;
  wire.common = place.common;
}

Layering::Place Layering::place_without_operands(const Gate& gate) const {
  if (gate.kind == GateKind::Const) {
    ENSURE(gate.in0 <= 1);
    return {0, several_lanes_};
  }
  ENSURE(gate.kind == GateKind::Input && gate.in0 < info_.inputs.size() &&
         gate.in1 < info_.inputs[gate.in0].bits);
  return {0, several_lanes_ && info_.inputs[gate.in0].same_in_all_lanes};
}

Item& Layering::buffer(GateKind kind, const Place& place) {
  const std::uint32_t bucket =
      place.level * kPhases + kPhaseOf[static_cast<std::size_t>(kind)][place.common];
  if (bucket >= bucket_ends_.size()) [[unlikely]]
    bucket_ends_.resize((std::size_t{place.level} + 1) * kPhases, 0);
  ++bucket_ends_[bucket];
  Item& item = items_.emplace_back();
  item.bucket = bucket;
  item.kind = kind;
  item.common = place.common;
  return item;
}

void Layering::free_wire(WireId id) {
  const Wire wire = wires_.free(id);
  if (!wire.scheduled) return freed_items_.set(wire.source);
  freed_slots_like(wire.source).set(index_of(wire.source));
  freed_before_.push_back(wire.source);
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
  for (ItemIndex i = 0; i < items_.size(); ++i) sorted_[bucket_ends_[items_[i].bucket]++] = i;
}

void Layering::note_kept_wires() {
  kept_.clear();
  freed_items_.for_each_other(items_.size(), [&](std::size_t i) {
    if (items_[i].kind != GateKind::Output) kept_.push_back(static_cast<ItemIndex>(i));
  });
}

// In reverse order of evaluation, the first use of a wire that was freed is its last one. Wires
// that were scheduled before and have no use in the window are released.
void Layering::mark_last_uses() {
  const auto takes = [&](const Item& item, Operand operand, std::uint32_t source) {
    return item.is_slot[operand] ? freed_slots_like(source).take(index_of(source))
                                 : freed_items_.take(source);
  };
  for (std::size_t k = sorted_.size(); k-- > 0;) {
    Item& item = items_[sorted_[k]];
    item.last_use[kIn0] = has_in0(item.kind) && takes(item, kIn0, item.in0);
    item.last_use[kIn1] = has_in1(item.kind) && takes(item, kIn1, item.in1);
    item.last_use[kOut] = freed_items_.take(sorted_[k]);
  }
  for (const Slot slot : freed_before_)
    if (freed_slots_like(slot).take(index_of(slot))) release(slot);
  freed_before_.clear();
}

// Every round except the last contains ANDs that the next round depends on, so no round is empty.
void Layering::emit_window() {
  freed_items_.grow(items_.size());
  freed_slots_.grow(slots_.used());
  freed_common_slots_.grow(common_slots_.used());
  sort_window();
  note_kept_wires();  // before the marks of freed wires are taken
  mark_last_uses();
  slot_of_.resize(items_.size());
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
  keep_live_wires();
  items_.clear();
  bucket_ends_.clear();
}

// Inputs come first in a round, so they may use only slots that were free before it: no slot is
// released until every input has one.
void Layering::schedule_inputs(std::span<const ItemIndex> items) {
  round_.inputs.clear();
  for (const ItemIndex i : items)
    round_.inputs.push_back({items_[i].in0, items_[i].in1, allocate_slot(i)});
  for (const ItemIndex i : items)
    if (items_[i].last_use[kOut]) release(slot_of_[i]);
}

// Sequential: the result may reuse the slot of an operand whose last use is here.
void Layering::schedule_local(std::span<const ItemIndex> items, std::vector<LocalGate>& local) {
  local.clear();
  for (const ItemIndex i : items) {
    const Item& item = items_[i];
    const Slot in0 = item.kind == GateKind::Const ? item.in0 : slot_of(item, kIn0);
    const Slot in1 = item.kind == GateKind::Xor ? slot_of(item, kIn1) : 0;
    if (item.last_use[kIn0]) release(in0);
    if (item.last_use[kIn1]) release(in1);
    local.push_back({item.kind, allocate_slot(i), in0, in1});
    if (item.last_use[kOut]) release(slot_of_[i]);
  }
}

void Layering::schedule_outputs(std::span<const ItemIndex> items) {
  round_.outputs.clear();
  for (const ItemIndex i : items) {
    const Item& item = items_[i];
    const Slot in = slot_of(item, kIn0);
    if (item.last_use[kIn0]) release(in);
    round_.outputs.push_back({item.out, item.in1, in});
  }
}

// In parallel: operands keep their slots until every result has one, and a result without a reader
// also occupies a slot.
void Layering::schedule_ands(std::span<const ItemIndex> items, std::vector<RoundAnd>& ands) {
  ands.clear();
  for (const ItemIndex i : items) {
    ands.push_back({allocate_slot(i), slot_of(items_[i], kIn0), slot_of(items_[i], kIn1)});
  }
  for (std::size_t k = 0; k < items.size(); ++k) {
    const Item& item = items_[items[k]];
    if (item.last_use[kIn0]) release(ands[k].in0);
    if (item.last_use[kIn1]) release(ands[k].in1);
    if (item.last_use[kOut]) release(ands[k].out);
  }
}

void Layering::keep_live_wires() {
  for (const ItemIndex i : kept_) {
    Wire& wire = wires_.at(items_[i].out);
    wire.source = slot_of_[i];
    wire.level = 0;
    wire.scheduled = 1;
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
