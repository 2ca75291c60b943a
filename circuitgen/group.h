// Groups (gate.h) as gates of several inputs: each result of a group is a polynomial over GF(2) in
// its inputs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// A set of inputs of a group, which stands for their product: bit i is input i.
using GroupPart = std::uint8_t;
static_assert(kGroupInputsMax == 8);

// A product of a group has two factors: that of the lower half of its inputs, rounded down, and
// that of the others.
std::array<GroupPart, 2> factors_of(GroupPart product);

// Fails: UsageError beyond a limit of gate.h.
void require_group_size(std::size_t inputs, std::size_t ands, std::size_t results);

// The polynomials of a group.
struct GroupShape {
  struct Result {
    bool constant = false;
    GroupPart linear = 0;              // the inputs that are terms of their own
    std::vector<GroupPart> monomials;  // of two inputs and more, ascending
  };

  std::size_t inputs = 0;
  std::vector<Result> results;
  // The inputs that are in a monomial of two and more, then the products: all sets of two inputs
  // and more within a monomial. Each by size, then as numbers.
  std::vector<GroupPart> parts;
  std::size_t single_parts = 0;

  std::span<const GroupPart> products() const { return std::span(parts).subspan(single_parts); }
  // The number of a part. Fails: std::logic_error by ENSURE if there is none.
  std::size_t number_of(GroupPart part) const;
};

// Composes the gates of groups, one group after the other. Groups of one shape share it.
class GroupMaker {
 public:
  // Between a bracket and the other.
  bool is_open() const { return is_open_; }
  // Fails, as the next functions: std::logic_error by ENSURE on a malformed stream; as
  // require_group_size().
  void begin();

  // An Xor, And or Not; an Output; a Free. `outside` is called for a wire made outside, the first
  // time that a gate reads it: it returns the bit of a constant, and nothing for the next input.
  // output() and free() return whether the wire is made inside, so that the event is the group's.
  template <class Outside>
  void gate(const Gate& gate, Outside outside) {
    const Table x = table_of(gate.in0, outside),
                y = gate.kind == GateKind::Not ? kOne : table_of(gate.in1, outside);
    make(gate, x, y);
  }
  bool output(const Gate& gate);
  bool free(WireId wire);

  // In the order of the gates. A wire that is an output of the circuit is a result, freed or not.
  struct Result {
    std::optional<WireId> wire;  // unless it is freed
    std::vector<Gate> outputs;
  };
  struct Group {
    std::shared_ptr<const GroupShape> shape;
    std::vector<Result> results;
  };
  Group end();

 private:
  // The values for all inputs: bit k of word k / 64 is that for the inputs that k has as bits.
  using Table = std::array<std::uint64_t, 4>;
  static constexpr Table kOne = {~0ull, ~0ull, ~0ull, ~0ull};
  static constexpr std::size_t kShapesMost = 1024;  // that are kept, of up to 10 kB

  struct Wire {
    Table table;
    bool is_inside;
    std::uint64_t place = 0;  // of the gate
    Result result = {};
  };

  template <class Outside>
  Table table_of(WireId id, Outside& outside) {
    const auto found = wires_.find(id);
    if (found != wires_.end()) return found->second.table;
    const std::optional<bool> constant = outside(id);
    const Table table = !constant ? next_input() : *constant ? kOne : Table{};
    wires_.insert({id, {table, false}});
    return table;
  }
  Table next_input();
  void make(const Gate& gate, const Table& x, const Table& y);
  std::shared_ptr<const GroupShape> shape_of(std::size_t inputs, std::vector<Table> results);

  bool is_open_ = false;
  std::size_t inputs_ = 0, ands_ = 0;
  std::uint64_t gates_ = 0;
  std::unordered_map<WireId, Wire> wires_;
  std::vector<Wire> freed_outputs_;
  std::map<std::pair<std::size_t, std::vector<Table>>, std::shared_ptr<const GroupShape>> shapes_;
};

}  // namespace tinyot::circuit
