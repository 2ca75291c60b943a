#include "online/masked/mask_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.h"
#include "online/masked/group_products.h"

namespace tinyot::online {
namespace {

using circuit::GateKind;
using circuit::LocalGate;
using circuit::Round;
using circuit::Slot;

constexpr unsigned kPlaceBits = 25, kNumberBits = 38;
constexpr std::uint64_t kOfAllLanes = std::uint64_t{1} << (kPlaceBits + kNumberBits);
constexpr std::size_t place_of(std::uint64_t atom) {
  return atom & ((std::uint64_t{1} << kPlaceBits) - 1);
}

template <class T>
void sort_and_leave_once(std::vector<T>& all) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

bool comes_before(Slot x, Slot y) {
  if (circuit::is_invariant(x) != circuit::is_invariant(y)) return circuit::is_invariant(x);
  return x < y;
}

}  // namespace

std::uint64_t RoundPlan::opened_after(std::size_t lanes) const {
  std::uint64_t bits = 0;
  for (const Pivot& pivot : pivots) bits += circuit::is_invariant(pivot.wire) ? 1 : lanes;
  return bits;
}

std::size_t CircuitPlan::bytes() const {
  std::size_t bytes = 0;
  for (const RoundPlan& round : rounds)
    bytes += sizeof round + round.pivots.size() * sizeof(Pivot) +
             round.targets.size() * sizeof(PivotTarget) +
             (round.cut_invariant_local.size() + round.cut_local.size()) * sizeof(std::uint32_t);
  return bytes;
}

RoundPlan MaskPlanner::plan(const Round& round) {
  RoundPlan plan;
  grow(round);
  for (const circuit::RoundInput& input : round.inputs) write(input.out).atoms.clear();
  plan_local(round.invariant_local, plan.cut_invariant_local);
  plan_local(round.local, plan.cut_local);
  hold_written();
  for (const bool is_invariant : {true, false})
    for_each_product(round, is_invariant, [&](std::uint32_t product, const FactorWires& wires) {
      for (std::uint32_t operand = 0; operand < 2; ++operand)
        if (wires[operand])
          plan_operand({is_invariant, product, operand, *wires[operand], 0}, plan);
    });
  plan_results(round.invariant_ands, round.invariant_groups);
  plan_results(round.ands, round.groups);
  hold_written();
  forget_unheld_atoms();
  return plan;
}

void MaskPlanner::grow(const Round& round) {
  for (const auto& [forms, slots] :
       {std::pair(&forms_[0], round.slots), std::pair(&forms_[1], round.invariant_slots)})
    if (forms->size() < slots) forms->resize(slots);
}

void MaskPlanner::plan_local(const std::vector<LocalGate>& gates, std::vector<std::uint32_t>& cut) {
  for (std::uint32_t i = 0; i < gates.size(); ++i) {
    const LocalGate& gate = gates[i];
    sum_.clear();
    if (gate.kind == GateKind::Xor)
      std::ranges::set_symmetric_difference(form_of(gate.in0).atoms, form_of(gate.in1).atoms,
                                            std::back_inserter(sum_));
    else if (gate.kind == GateKind::Not)
      sum_ = form_of(gate.in0).atoms;
    Form& form = write(gate.out);
    if (sum_.size() <= atoms_max_) {
      std::swap(form.atoms, sum_);
    } else {
      set_new_atom(gate.out, form);
      cut.push_back(i);
    }
  }
}

void MaskPlanner::plan_results(const std::vector<circuit::RoundAnd>& ands,
                               const std::vector<circuit::RoundGroup>& groups) {
  for (const circuit::RoundAnd& gate : ands) set_new_atom(gate.out, write(gate.out));
  for (const circuit::RoundGroup& group : groups)
    for (std::size_t k = 0; k < group.shape->results.size(); ++k)
      set_new_atom(group.results[k], write(group.results[k]));
}

void MaskPlanner::plan_operand(Pivot operand, RoundPlan& plan) {
  pivot_form_ = form_of(operand.wire).atoms;
  if (pivot_form_.empty()) return;
  const Atom atom = pivot_form_.back();
  tidy(atom);
  found_ = holders_[place_of(atom)].slots;
  std::ranges::sort(found_, comes_before);
  for (const Slot slot : found_) {
    if (!circuit::is_invariant(operand.wire) && circuit::is_invariant(slot)) continue;
    plan.targets.push_back({slot, change(slot)});
    ++operand.target_count;
  }
  ENSURE(form_of(operand.wire).atoms.empty());
  plan.pivots.push_back(operand);
}

// Adds the form of the pivot to that of a target. Returns whether the target is cut.
bool MaskPlanner::change(Slot slot) {
  Form& form = form_of(slot);
  sum_.clear();
  removed_.clear();
  added_.clear();
  auto at = form.atoms.begin();
  const auto end = form.atoms.end();
  for (const Atom atom : pivot_form_) {
    while (at != end && *at < atom) sum_.push_back(*at++);
    if (at != end && *at == atom) {
      removed_.push_back(*at++);
    } else {
      sum_.push_back(atom);
      added_.push_back(atom);
    }
  }
  sum_.insert(sum_.end(), at, end);
  ++form.changes;
  const bool is_cut = !sum_.empty() && (sum_.size() > atoms_max_ || form.changes > atoms_max_);
  std::swap(form.atoms, sum_);
  if (is_cut) {
    set_new_atom(slot, form);
    removed_ = sum_;
    added_ = form.atoms;
  }
  for (const Atom atom : removed_) drop_holder(atom);
  for (const Atom atom : added_) add_holder(atom, slot);
  return is_cut;
}

// The form, to be set. The one before is held no longer.
MaskPlanner::Form& MaskPlanner::write(Slot slot) {
  Form& form = form_of(slot);
  form.changes = 0;
  if (!form.is_held) return form;
  for (const Atom atom : form.atoms) drop_holder(atom);
  form.is_held = false;
  written_.push_back(slot);
  return form;
}

void MaskPlanner::set_new_atom(Slot slot, Form& form) {
  if (free_.empty()) {
    ENSURE(holders_.size() < std::size_t{1} << kPlaceBits);
    free_.push_back(static_cast<std::uint32_t>(holders_.size()));
    holders_.emplace_back();
  }
  ENSURE(atoms_made_ < std::uint64_t{1} << kNumberBits);
  const Atom atom =
      (circuit::is_invariant(slot) ? 0 : kOfAllLanes) | atoms_made_++ << kPlaceBits | free_.back();
  free_.pop_back();
  maybe_unheld_.push_back(atom);
  form.atoms.assign(1, atom);
  form.changes = 0;
}

// Of a form that was written several times in a round, only the last one is held.
void MaskPlanner::hold_written() {
  for (const Slot slot : written_) {
    Form& form = form_of(slot);
    for (const Atom atom : form.atoms) add_holder(atom, slot);
    form.is_held = true;
  }
  written_.clear();
}

void MaskPlanner::add_holder(Atom atom, Slot slot) {
  Holders& holders = holders_[place_of(atom)];
  ++holders.count;
  holders.slots.push_back(slot);
  if (holders.slots.size() >= holders.tidied_at) tidy(atom);
}

void MaskPlanner::drop_holder(Atom atom) {
  if (--holders_[place_of(atom)].count == 0) maybe_unheld_.push_back(atom);
}

// Leaves each slot once, and only those whose forms have the atom.
void MaskPlanner::tidy(Atom atom) {
  Holders& holders = holders_[place_of(atom)];
  sort_and_leave_once(holders.slots);
  std::erase_if(holders.slots,
                [&](Slot slot) { return !std::ranges::binary_search(form_of(slot).atoms, atom); });
  holders.tidied_at = std::max(kTidiedAtLeast, 2 * holders.slots.size());
}

void MaskPlanner::forget_unheld_atoms() {
  sort_and_leave_once(maybe_unheld_);
  for (const Atom atom : maybe_unheld_) {
    Holders& holders = holders_[place_of(atom)];
    if (holders.count > 0) continue;
    holders = {};
    free_.push_back(static_cast<std::uint32_t>(place_of(atom)));
  }
  maybe_unheld_.clear();
}

}  // namespace tinyot::online
