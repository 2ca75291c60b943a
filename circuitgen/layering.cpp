#include "circuitgen/layering.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "circuitgen/wire_ids.h"

namespace tinyot::circuit {
namespace {

// A bucket of an Item fits in 29 bits.
constexpr std::size_t kWindowMax = std::size_t{1} << 26;

// The phases of a round, in the order of evaluation.
enum Phase : std::uint32_t {
  kInputs,
  kInvariantLocal,
  kLocal,
  kOutputs,
  kInvariantAnds,
  kInvariantGroups,
  kAnds,
  kGroups,
  kPhases
};
// A result of a group that is one gate.
constexpr GateKind kGroupResult = GateKind::GroupBegin;
// By GateKind, for lanes and lane-invariant wires.
constexpr std::array<std::array<std::uint32_t, 2>, 8> kPhaseOf = {{{kInputs, kInputs},
                                                                   {kLocal, kInvariantLocal},
                                                                   {kLocal, kInvariantLocal},
                                                                   {kAnds, kInvariantAnds},
                                                                   {kLocal, kInvariantLocal},
                                                                   {kOutputs, kOutputs},
                                                                   {kPhases, kPhases},
                                                                   {kGroups, kInvariantGroups}}};

// Where a wire is: the number of the item in the window that writes it or, once that is scheduled,
// its slot with kSlotBit.
using Source = std::uint32_t;
constexpr Source kSlotBit = Source{1} << 30;
constexpr std::size_t kSlotsMax = kSlotBit - 1;
static_assert(kWindowMax < kSlotBit && kSlotBit < kInvariantBit);
constexpr bool is_slot(Source source) { return (source & kSlotBit) != 0; }
constexpr Slot slot_in(Source source) { return source & ~kSlotBit; }

// The wires of a gate.
enum Operand : std::uint8_t { kIn0 = 1, kIn1 = 2, kOut = 4 };
constexpr bool has_in1(GateKind kind) { return kind == GateKind::Xor || kind == GateKind::And; }
constexpr bool has_in0(GateKind kind) {
  return has_in1(kind) || kind == GateKind::Not || kind == GateKind::Output;
}

// A buffered gate. An operand is the source of a wire; in an Input, in0 and in1 are bundle and bit,
// in a Const in0 is the bit, and in an Output in1 is the bit. In a result of a group, in0 is the
// group and in1 the result; those of a group come one after the other.
struct Item {
  std::uint32_t kind_ : 3;
  std::uint32_t bucket : 29;  // round in the window . kPhases + phase
  std::uint32_t in0;
  std::uint32_t in1;
  std::uint32_t out;  // id of a wire; bundle of an Output

  GateKind kind() const { return static_cast<GateKind>(kind_); }
};
static_assert(sizeof(Item) == 16 && kWindowMax * kPhases <= std::size_t{1} << 29 &&
              static_cast<unsigned>(kGroupResult) < 8);
using ItemIndex = std::uint32_t;

// An item in its place in the order of evaluation.
struct Sorted {
  ItemIndex item : 29;
  std::uint32_t last_uses : 3;  // Operands: no later item and no later gate uses it
};
static_assert(sizeof(Sorted) == 4);

// One word, so that a gate can read at once what the gate before has written. The level is the
// wire's in the window, 0 once it is scheduled.
class Wire {
 public:
  Wire() = default;
  Wire(Source source, std::uint32_t level, bool invariant)
      : word_(source | std::uint64_t{invariant} << 32 | std::uint64_t{level} << 34) {}

  Source source() const { return static_cast<Source>(word_); }
  std::uint32_t level() const { return static_cast<std::uint32_t>(word_ >> 34); }
  bool invariant() const { return (word_ >> 32 & 1) != 0; }
  bool is_live() const { return (word_ >> 33 & 1) != 0; }
  void set_live() { word_ |= std::uint64_t{1} << 33; }

 private:
  std::uint64_t word_ = 0;
};

// A group in the window.
struct WindowGroup {
  std::shared_ptr<const GroupShape> shape;
  std::array<Source, kGroupInputsMax> inputs;
  GroupPart last_uses;  // inputs that no later item and no later gate uses
};

// A set of items or slots less than the argument of grow(). A byte for each: with bits, a change
// would wait for the one before in the same word.
class Marks {
 public:
  void set(std::size_t i) { marks_[i] = 1; }
  bool has(std::size_t i) const { return marks_[i] != 0; }
  // Removes an element. Returns whether it was in the set.
  bool take(std::size_t i) { return std::exchange(marks_[i], std::uint8_t{0}) != 0; }
  void grow(std::size_t size) {
    if (size > marks_.size()) marks_.resize(size);
  }

 private:
  std::vector<std::uint8_t> marks_;
};

// Allocator of slots. Reuses the slot released last, which is most likely in the cache.
class SlotPool {
 public:
  Slot allocate() {
    if (free_.empty()) {
      ENSURE(used_ < kSlotsMax);
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
  void finish() {
    ENSURE(!group_is_open_);
    emit_window();
  }

  // Between these, the window is not emitted; inputs and constants may be made, and wires freed. No
  // gate inside is buffered. `inputs` are those of the shape.
  void begin_group();
  void end_group(GroupMaker::Group group, std::span<const Wire> inputs);
  const Wire& wire(WireId id) const { return wires_.at(id); }

 private:
  // The level of a gate or wire in the window, and whether it is invariant.
  struct Place {
    std::uint32_t level;
    bool invariant;
  };
  Place place_without_operands(const Gate& gate) const;
  void buffer(const Gate& gate, Place place, std::uint32_t in0, std::uint32_t in1);
  void buffer_result(std::uint32_t number, Place place, std::optional<WireId> wire);
  [[gnu::noinline]] void add(const Gate& gate);
  [[gnu::noinline]] void emit_with_room(const Gate& gate);
  void set_room(std::size_t items);
  void free_wire(WireId id);
  [[gnu::noinline]] void free_slot(Slot slot);

  void emit_window();
  void sort_window();
  void note_kept_wires();
  void mark_last_uses();
  template <class Takes>
  void mark_last_uses_of_group(const Item& result, Takes takes);
  std::span<const Sorted> bucket(std::size_t round, Phase phase) const {
    const std::size_t index = round * kPhases + phase;
    const std::size_t first = index == 0 ? 0 : bucket_ends_[index - 1];
    return std::span(sorted_).subspan(first, bucket_ends_[index] - first);
  }
  void schedule_inputs(std::span<const Sorted> items);
  void schedule_local(std::span<const Sorted> items, bool invariant, std::vector<LocalGate>& local);
  void schedule_outputs(std::span<const Sorted> items);
  void schedule_products(std::size_t round, bool invariant);
  void schedule_ands(std::span<const Sorted> items, bool invariant, std::vector<RoundAnd>& ands);
  void schedule_groups(std::span<const Sorted> items, bool invariant,
                       std::vector<RoundGroup>& groups);
  void release_ands(std::span<const Sorted> items, const std::vector<RoundAnd>& ands);
  void release_groups(std::span<const Sorted> items, const std::vector<RoundGroup>& groups);
  void keep_live_wires();

  Slot slot_of(Source source) const { return is_slot(source) ? slot_in(source) : slot_of_[source]; }
  bool is_invariant_input(std::uint64_t bundle) const {
    return several_lanes_ && info_.inputs[bundle].same_in_all_lanes;
  }
  Slot allocate_slot(ItemIndex i, bool invariant) {
    return slot_of_[i] =
               invariant ? invariant_slots_.allocate() | kInvariantBit : slots_.allocate();
  }
  void release(Slot slot) {
    (is_invariant(slot) ? invariant_slots_ : slots_).release(static_cast<Slot>(index_of(slot)));
  }
  Marks& freed_slots_like(Slot slot) {
    return is_invariant(slot) ? freed_invariant_slots_ : freed_slots_;
  }

  const CircuitInfo& info_;
  const bool several_lanes_;
  const std::size_t window_;
  RoundSink& sink_;

  WireTable<Wire> wires_;
  SlotPool slots_, invariant_slots_;

  std::vector<Item> items_;
  ItemIndex buffered_ = 0;  // items in use
  std::vector<WindowGroup> groups_;
  bool group_is_open_ = false;
  // Wires that are freed in the window and whose last use has not been found: by the item that
  // writes them or, of wires scheduled before, by slot.
  Marks freed_items_, freed_slots_, freed_invariant_slots_;
  std::vector<Slot> freed_before_;  // all such slots
  std::vector<ItemIndex> kept_;     // write wires that are live after the window
  std::vector<Slot> slot_of_;       // by item: of the wire that it writes
  std::vector<Sorted> sorted_;
  std::vector<std::uint32_t> bucket_ends_;
  std::uint32_t rounds_ = 0;  // of the window
  Round round_;
};

// The tail call to this function keeps the path of a Free event free of register spills.
void Layering::emit(const Gate& gate) {
  if (gate.kind < GateKind::Free) return add(gate);
  if (gate.kind == GateKind::Free) free_wire(gate.in0);
}

void Layering::add(const Gate& gate) {
  if (buffered_ == items_.size()) [[unlikely]]
    return emit_with_room(gate);
  if (has_in1(gate.kind)) {
    const Wire x = wires_.at(gate.in0), y = wires_.at(gate.in1);
    return buffer(gate, {std::max(x.level(), y.level()), (x.invariant() & y.invariant()) != 0},
                  x.source(), y.source());
  }
  if (has_in0(gate.kind)) {
    const Wire x = wires_.at(gate.in0);
    return buffer(gate, {x.level(), x.invariant()}, x.source(),
                  static_cast<std::uint32_t>(gate.in1));
  }
  buffer(gate, place_without_operands(gate), static_cast<std::uint32_t>(gate.in0),
         static_cast<std::uint32_t>(gate.in1));
}

// A full window is not emitted at once: the Free events after its last gate still belong to it.
void Layering::emit_with_room(const Gate& gate) {
  if (buffered_ >= window_ && !group_is_open_)
    emit_window();
  else
    set_room(group_is_open_ ? 2 * items_.size() + 1024
                            : std::min(window_, 8 * items_.size() + 1024));
  emit(gate);
}

void Layering::set_room(std::size_t items) {
  items_.resize(items);
  freed_items_.grow(items);
}

void Layering::begin_group() {
  ENSURE(!group_is_open_);
  if (buffered_ > 0 && buffered_ + kGroupResultsMax > window_) emit_window();
  group_is_open_ = true;
}

// If it exceeds the window, the next gate begins another one.
void Layering::end_group(GroupMaker::Group group, std::span<const Wire> inputs) {
  ENSURE(std::exchange(group_is_open_, false) && inputs.size() == group.shape->inputs);
  if (group.results.empty()) return;
  Place place{0, several_lanes_};
  WindowGroup& made = groups_.emplace_back(WindowGroup{std::move(group.shape), {}, 0});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    place = {std::max(place.level, inputs[i].level()), place.invariant && inputs[i].invariant()};
    made.inputs[i] = inputs[i].source();
  }
  std::size_t items = buffered_ + group.results.size();
  for (const GroupMaker::Result& result : group.results) items += result.outputs.size();
  if (items > items_.size()) set_room(items);
  const ItemIndex first = buffered_;
  for (std::uint32_t k = 0; k < group.results.size(); ++k)
    buffer_result(k, place, group.results[k].wire);
  for (std::uint32_t k = 0; k < group.results.size(); ++k)
    for (const Gate& output : group.results[k].outputs)
      buffer(output, {place.level + 1, place.invariant}, first + k,
             static_cast<std::uint32_t>(output.in1));
  if (buffered_ >= window_) items_.resize(buffered_);
}

// Of the last group. A result without a wire is read by outputs only.
void Layering::buffer_result(std::uint32_t number, Place place, std::optional<WireId> wire) {
  rounds_ = std::max(rounds_, place.level + 1);
  const auto kind = static_cast<std::uint32_t>(kGroupResult);
  const ItemIndex i = buffered_++;
  items_[i] = {kind, place.level * kPhases + kPhaseOf[kind][place.invariant],
               static_cast<std::uint32_t>(groups_.size() - 1), number,
               static_cast<std::uint32_t>(wire.value_or(0))};
  if (wire)
    wires_.make(*wire, {i, place.level + 1, place.invariant});
  else
    freed_items_.set(i);
}

Layering::Place Layering::place_without_operands(const Gate& gate) const {
  if (gate.kind == GateKind::Const) {
    ENSURE(gate.in0 <= 1);
    return {0, several_lanes_};
  }
  ENSURE(gate.kind == GateKind::Input && gate.in0 < info_.inputs.size() &&
         gate.in1 < info_.inputs[gate.in0].bits);
  return {0, is_invariant_input(gate.in0)};
}

inline void Layering::buffer(const Gate& gate, Place place, std::uint32_t in0, std::uint32_t in1) {
  if (place.level >= rounds_) [[unlikely]]
    rounds_ = place.level + 1;
  const auto kind = static_cast<std::uint32_t>(gate.kind);
  const ItemIndex i = buffered_++;
  items_[i] = {kind, place.level * kPhases + kPhaseOf[kind][place.invariant], in0, in1,
               static_cast<std::uint32_t>(gate.out)};
  if (gate.kind == GateKind::Output) {
    ENSURE(gate.out < info_.outputs.size() && gate.in1 < info_.outputs[gate.out].bits);
    return;
  }
  wires_.make(gate.out, {i, place.level + (gate.kind == GateKind::And), place.invariant});
}

inline void Layering::free_wire(WireId id) {
  const Source source = wires_.free(id).source();
  if (is_slot(source)) return free_slot(slot_in(source));
  freed_items_.set(source);
}

void Layering::free_slot(Slot slot) {
  freed_slots_like(slot).set(index_of(slot));
  freed_before_.push_back(slot);
}

// Counting sort by round and phase; gates of one bucket keep the order of the stream, which is a
// topological order.
void Layering::sort_window() {
  bucket_ends_.assign(rounds_ * kPhases, 0);
  for (ItemIndex i = 0; i < buffered_; ++i) ++bucket_ends_[items_[i].bucket];
  std::uint32_t sum = 0;
  for (std::uint32_t& count : bucket_ends_) {
    const std::uint32_t first = sum;
    sum += count;
    count = first;
  }
  sorted_.resize(buffered_);
  for (ItemIndex i = 0; i < buffered_; ++i) sorted_[bucket_ends_[items_[i].bucket]++] = {i, 0};
}

void Layering::note_kept_wires() {
  kept_.clear();
  for (ItemIndex i = 0; i < buffered_; ++i)
    if (!freed_items_.has(i) && items_[i].kind() != GateKind::Output) kept_.push_back(i);
}

// A group reads its inputs with its last result.
template <class Takes>
void Layering::mark_last_uses_of_group(const Item& result, Takes takes) {
  WindowGroup& group = groups_[result.in0];
  if (result.in1 + 1 < group.shape->results.size()) return;
  for (std::size_t i = 0; i < group.shape->inputs; ++i)
    if (takes(group.inputs[i])) group.last_uses |= static_cast<GroupPart>(1u << i);
}

// In reverse order of evaluation, the first use of a wire that was freed is its last one. Wires
// that were scheduled before and have no use in the window are released.
void Layering::mark_last_uses() {
  const auto takes = [&](Source source) {
    return is_slot(source) ? freed_slots_like(slot_in(source)).take(index_of(slot_in(source)))
                           : freed_items_.take(source);
  };
  for (std::size_t k = sorted_.size(); k-- > 0;) {
    const Item& item = items_[sorted_[k].item];
    std::uint8_t last = 0;
    if (item.kind() == kGroupResult) [[unlikely]]
      mark_last_uses_of_group(item, takes);
    if (has_in0(item.kind()) && takes(item.in0)) last |= kIn0;
    if (has_in1(item.kind()) && takes(item.in1)) last |= kIn1;
    if (freed_items_.take(sorted_[k].item)) last |= kOut;
    sorted_[k].last_uses = last;
  }
  for (const Slot slot : freed_before_)
    if (freed_slots_like(slot).take(index_of(slot))) release(slot);
  freed_before_.clear();
}

// Every round except the last contains ANDs that the next round depends on, so no round is empty.
void Layering::emit_window() {
  sort_window();
  note_kept_wires();  // before the marks of freed wires are taken
  mark_last_uses();
  slot_of_.resize(buffered_);
  for (std::uint32_t round = 0; round < rounds_; ++round) {
    schedule_inputs(bucket(round, kInputs));
    schedule_local(bucket(round, kInvariantLocal), true, round_.invariant_local);
    schedule_local(bucket(round, kLocal), false, round_.local);
    schedule_outputs(bucket(round, kOutputs));
    schedule_products(round, true);
    schedule_products(round, false);
    round_.slots = slots_.used();
    round_.invariant_slots = invariant_slots_.used();
    sink_.round(round_);
  }
  keep_live_wires();
  freed_slots_.grow(slots_.used());
  freed_invariant_slots_.grow(invariant_slots_.used());
  buffered_ = 0;
  rounds_ = 0;
  groups_.clear();
  if (items_.size() > window_) items_.resize(window_);
}

// Inputs come first in a round, so they may use only slots that were free before it: no slot is
// released until every input has one.
void Layering::schedule_inputs(std::span<const Sorted> items) {
  round_.inputs.clear();
  round_.inputs.reserve(items.size());
  for (const auto [i, last_uses] : items) {
    const Item& item = items_[i];
    round_.inputs.push_back({item.in0, item.in1, allocate_slot(i, is_invariant_input(item.in0))});
  }
  for (const auto [i, last_uses] : items)
    if (last_uses & kOut) release(slot_of_[i]);
}

// Sequential: the result may reuse the slot of an operand whose last use is here.
void Layering::schedule_local(std::span<const Sorted> items, bool invariant,
                              std::vector<LocalGate>& local) {
  local.clear();
  local.reserve(items.size());
  for (const auto [i, last_uses] : items) {
    const Item& item = items_[i];
    const Slot in0 = item.kind() == GateKind::Const ? item.in0 : slot_of(item.in0);
    const Slot in1 = item.kind() == GateKind::Xor ? slot_of(item.in1) : 0;
    if (last_uses & kIn0) release(in0);
    if (last_uses & kIn1) release(in1);
    local.push_back({item.kind(), allocate_slot(i, invariant), in0, in1});
    if (last_uses & kOut) release(slot_of_[i]);
  }
}

void Layering::schedule_outputs(std::span<const Sorted> items) {
  round_.outputs.clear();
  round_.outputs.reserve(items.size());
  for (const auto [i, last_uses] : items) {
    const Item& item = items_[i];
    const Slot in = slot_of(item.in0);
    if (last_uses & kIn0) release(in);
    round_.outputs.push_back({item.out, item.in1, in});
  }
}

// In parallel: operands keep their slots until every result of an AND or a group has one, and a
// result without a reader also occupies a slot.
void Layering::schedule_products(std::size_t round, bool invariant) {
  const auto ands = bucket(round, invariant ? kInvariantAnds : kAnds),
             groups = bucket(round, invariant ? kInvariantGroups : kGroups);
  auto& round_ands = invariant ? round_.invariant_ands : round_.ands;
  auto& round_groups = invariant ? round_.invariant_groups : round_.groups;
  schedule_ands(ands, invariant, round_ands);
  schedule_groups(groups, invariant, round_groups);
  release_ands(ands, round_ands);
  release_groups(groups, round_groups);
}

void Layering::schedule_ands(std::span<const Sorted> items, bool invariant,
                             std::vector<RoundAnd>& ands) {
  ands.clear();
  ands.reserve(items.size());
  for (const auto [i, last_uses] : items)
    ands.push_back({allocate_slot(i, invariant), slot_of(items_[i].in0), slot_of(items_[i].in1)});
}

void Layering::release_ands(std::span<const Sorted> items, const std::vector<RoundAnd>& ands) {
  for (std::size_t k = 0; k < items.size(); ++k) {
    if (items[k].last_uses & kIn0) release(ands[k].in0);
    if (items[k].last_uses & kIn1) release(ands[k].in1);
    if (items[k].last_uses & kOut) release(ands[k].out);
  }
}

void Layering::schedule_groups(std::span<const Sorted> items, bool invariant,
                               std::vector<RoundGroup>& groups) {
  groups.clear();
  for (const auto [i, last_uses] : items) {
    const Item& result = items_[i];
    if (result.in1 == 0) {
      const WindowGroup& group = groups_[result.in0];
      RoundGroup& made = groups.emplace_back(RoundGroup{{}, {}, group.shape});
      for (std::size_t k = 0; k < group.shape->inputs; ++k)
        made.inputs[k] = slot_of(group.inputs[k]);
    }
    groups.back().results[result.in1] = allocate_slot(i, invariant);
  }
}

void Layering::release_groups(std::span<const Sorted> items,
                              const std::vector<RoundGroup>& groups) {
  auto group = groups.begin();
  for (const auto [i, last_uses] : items) {
    const Item& result = items_[i];
    if (last_uses & kOut) release(group->results[result.in1]);
    if (result.in1 + 1 < group->shape->results.size()) continue;
    for (std::size_t k = 0; k < group->shape->inputs; ++k)
      if ((groups_[result.in0].last_uses >> k & 1) != 0) release(group->inputs[k]);
    ++group;
  }
}

void Layering::keep_live_wires() {
  for (const ItemIndex i : kept_) {
    Wire& wire = wires_.at(items_[i].out);
    wire = Wire(slot_of_[i] | kSlotBit, 0, wire.invariant());
    wire.set_live();
  }
}

// Passes groups on as one gate each, and all other gates as they are.
class GroupLayering final : public GateSink {
 public:
  explicit GroupLayering(Layering& layering) : layering_(layering) {}

  void emit(const Gate& gate) override {
    switch (gate.kind) {
      case GateKind::Const:
        constants_.insert_or_assign(gate.out, gate.in0 != 0);
        break;
      case GateKind::Xor:
      case GateKind::And:
      case GateKind::Not:
        if (maker_.is_open()) return compose(gate);
        break;
      case GateKind::Output:
        if (maker_.is_open() && maker_.output(gate)) return;
        break;
      case GateKind::Free:
        if (maker_.is_open() && maker_.free(gate.in0)) return;
        if (!constants_.empty()) constants_.erase(gate.in0);
        break;
      case GateKind::GroupBegin:
        maker_.begin();
        return layering_.begin_group();
      case GateKind::GroupEnd:
        layering_.end_group(maker_.end(), inputs_);
        return inputs_.clear();
      default:
        break;
    }
    layering_.emit(gate);
  }

 private:
  void compose(const Gate& gate) {
    maker_.gate(gate, [&](WireId id) -> std::optional<bool> {
      const auto constant = constants_.find(id);
      if (constant != constants_.end()) return constant->second;
      inputs_.push_back(layering_.wire(id));
      return std::nullopt;
    });
  }

  Layering& layering_;
  GroupMaker maker_;
  std::unordered_map<WireId, bool> constants_;
  std::vector<Wire> inputs_;  // of the open group
};

}  // namespace

void generate_rounds(const Circuit& circuit, std::size_t lanes, std::size_t window, RoundSink& sink,
                     GroupsAs groups) {
  Layering layering(circuit.info(), lanes, window, sink);
  if (groups == GroupsAs::Gates) {
    circuit.generate(layering);
  } else {
    GroupLayering grouped(layering);
    circuit.generate(grouped);
  }
  layering.finish();
}

}  // namespace tinyot::circuit
