// The plan of a masked run (doc/protocol.md, section 19): which opened bits of a circuit need no
// inputs. A function of the layered rounds alone, which both parties compute; it is never sent.
//
// A wire has a mask lambda, known before the inputs, a public bit l, known after them, and a form
// F, a set of atoms known from the circuit: z = l ^ lambda ^ XOR of the z of the atoms in F. An
// atom is the result of an AND or a group, or a wire that was cut. An operand of an AND, or of a
// product of a group, is open if its form is
// empty: what masks it by a factor of the triple is opened before the inputs. Otherwise it is a
// pivot: its mask becomes the factor, and z ^ factor is opened after the inputs. Its form is
// eliminated from all others, so that operands which depend on it linearly are open.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "circuitgen/layering.h"

namespace tinyot::online {

// A wire whose mask and public bit change with a pivot's.
struct PivotTarget {
  circuit::Slot slot;
  bool is_cut;  // both become 0 after the change

  friend bool operator==(const PivotTarget&, const PivotTarget&) = default;
};

// The factor is that of the product's triple in the lane; at a lane-invariant wire, of the first
// lane, so that the operand is open in the other lanes.
struct Pivot {
  bool is_of_invariant;
  std::uint32_t product;  // in the round's products of its kind (group_products.h)
  std::uint32_t operand;  // 0 or 1
  circuit::Slot wire;
  std::uint32_t target_count;  // the next ones of the round; the wire is one of them

  friend bool operator==(const Pivot&, const Pivot&) = default;
};

// What is added to a round. Pivots come in the order of their operands: first those of invariant
// products; of each product in0, then in1. The targets of a pivot come in the order of slots,
// invariant ones first; the pivot of a wire of all lanes has no invariant target.
struct RoundPlan {
  // Gates whose results are cut, by number in the round: mask and public bit become 0.
  std::vector<std::uint32_t> cut_invariant_local, cut_local;
  std::vector<Pivot> pivots;
  std::vector<PivotTarget> targets;

  // The bits of each party that are opened after the inputs.
  std::uint64_t opened_after(std::size_t lanes) const;

  friend bool operator==(const RoundPlan&, const RoundPlan&) = default;
};

// What is added to the rounds of a circuit.
struct CircuitPlan {
  std::deque<RoundPlan> rounds;  // places do not change as it grows

  std::size_t bytes() const;
};

// Memory: O(live wires), at most `atoms_max` atoms of a form and changes of a form by pivots.
class MaskPlanner {
 public:
  static constexpr std::size_t kAtomsMax = 128;

  explicit MaskPlanner(std::size_t atoms_max = kAtomsMax) : atoms_max_(atoms_max) {}

  // Of the rounds of a circuit, in order.
  RoundPlan plan(const circuit::Round& round);

 private:
  // Ordered by the highest bit, that of a wire of all lanes, then by creation; the lowest bits are
  // its place in holders_.
  using Atom = std::uint64_t;
  struct Form {
    std::vector<Atom> atoms;    // ascending
    std::uint32_t changes = 0;  // by pivots, since it was written or cut
    bool is_held = true;        // its slot is among the holders of its atoms
  };
  struct Holders {
    std::size_t count = 0;             // of held forms that have the atom
    std::vector<circuit::Slot> slots;  // these, and others that had it; maybe repeatedly
    std::size_t tidied_at = kTidiedAtLeast;
  };
  static constexpr std::size_t kTidiedAtLeast = 16;

  Form& form_of(circuit::Slot slot) {
    return forms_[circuit::is_invariant(slot)][circuit::index_of(slot)];
  }
  void grow(const circuit::Round& round);
  void plan_local(const std::vector<circuit::LocalGate>& gates, std::vector<std::uint32_t>& cut);
  void plan_operand(Pivot operand, RoundPlan& plan);
  void plan_results(const std::vector<circuit::RoundAnd>& ands,
                    const std::vector<circuit::RoundGroup>& groups);
  bool change(circuit::Slot slot);

  Form& write(circuit::Slot slot);
  void set_new_atom(circuit::Slot slot, Form& form);
  void hold_written();
  void add_holder(Atom atom, circuit::Slot slot);
  void drop_holder(Atom atom);
  void tidy(Atom atom);
  void forget_unheld_atoms();

  std::size_t atoms_max_;
  std::array<std::vector<Form>, 2> forms_;  // of wires of all lanes, of lane-invariant ones
  std::vector<circuit::Slot> written_;      // of forms that are not held
  std::vector<Holders> holders_;
  std::vector<std::uint32_t> free_;  // places in holders_
  std::vector<Atom> maybe_unheld_;   // in this round
  std::uint64_t atoms_made_ = 0;
  std::vector<Atom> pivot_form_, sum_, removed_, added_;
  std::vector<circuit::Slot> found_;
};

}  // namespace tinyot::online
