#include "circuitgen/group.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/error.h"
#include "tinyot/error.h"

namespace tinyot::circuit {
namespace {

constexpr std::size_t kParts = std::size_t{1} << kGroupInputsMax;
using Polynomial = std::array<bool, kParts>;  // by monomial

bool is_single(GroupPart part) { return std::popcount(part) == 1; }

bool comes_before(GroupPart x, GroupPart y) {
  return std::pair(std::popcount(x), x) < std::pair(std::popcount(y), y);
}

// The Moebius transform of a table of values.
template <class Table>
Polynomial polynomial_of(const Table& table) {
  Polynomial terms;
  for (std::size_t k = 0; k < kParts; ++k) terms[k] = (table[k / 64] >> (k % 64) & 1) != 0;
  for (std::size_t input = 1; input < kParts; input *= 2)
    for (std::size_t k = 0; k < kParts; ++k)
      if ((k & input) != 0) terms[k] = terms[k] != terms[k ^ input];
  return terms;
}

GroupShape::Result result_of(const Polynomial& terms) {
  GroupShape::Result result;
  result.constant = terms[0];
  for (std::size_t k = 1; k < kParts; ++k) {
    if (!terms[k]) continue;
    const auto part = static_cast<GroupPart>(k);
    if (is_single(part))
      result.linear |= part;
    else
      result.monomials.push_back(part);
  }
  return result;
}

void add_parts(GroupShape& shape) {
  Polynomial is_part{};
  for (const GroupShape::Result& result : shape.results)
    for (const GroupPart monomial : result.monomials)
      for (unsigned part = monomial; part != 0; part = (part - 1) & monomial) is_part[part] = true;
  for (std::size_t k = 1; k < kParts; ++k)
    if (is_part[k]) shape.parts.push_back(static_cast<GroupPart>(k));
  std::ranges::sort(shape.parts, comes_before);
  shape.single_parts = static_cast<std::size_t>(std::ranges::count_if(shape.parts, is_single));
}

}  // namespace

std::array<GroupPart, 2> factors_of(GroupPart product) {
  unsigned upper = product;
  for (int left = std::popcount(product) / 2; left > 0; --left) upper &= upper - 1;
  return {static_cast<GroupPart>(product ^ upper), static_cast<GroupPart>(upper)};
}

void require_group_size(std::size_t inputs, std::size_t ands, std::size_t results) {
  const auto require = [](std::size_t count, std::size_t most, const char* name) {
    if (count > most)
      throw UsageError("a group of gates has more than " + std::to_string(most) + " " + name);
  };
  require(inputs, kGroupInputsMax, "inputs");
  require(ands, kGroupAndsMax, "ANDs");
  require(results, kGroupResultsMax, "results");
}

std::size_t GroupShape::number_of(GroupPart part) const {
  const auto found = std::ranges::lower_bound(parts, part, comes_before);
  ENSURE(found != parts.end() && *found == part);
  return static_cast<std::size_t>(found - parts.begin());
}

void GroupMaker::begin() {
  ENSURE(!is_open_);
  is_open_ = true;
}

GroupMaker::Table GroupMaker::next_input() {
  require_group_size(inputs_ + 1, 0, 0);
  const std::size_t input = inputs_++;
  Table table{};
  for (std::size_t k = 0; k < kParts; ++k)
    table[k / 64] |= std::uint64_t{k >> input & 1} << (k % 64);
  return table;
}

void GroupMaker::make(const Gate& gate, const Table& x, const Table& y) {
  ENSURE(is_open_);
  const bool is_and = gate.kind == GateKind::And;
  require_group_size(0, ands_ += is_and, 0);
  Wire wire{{}, true, gates_++, {gate.out, {}}};
  for (std::size_t w = 0; w < wire.table.size(); ++w)
    wire.table[w] = is_and ? x[w] & y[w] : x[w] ^ y[w];
  ENSURE(wires_.insert({gate.out, std::move(wire)}).second);
}

bool GroupMaker::output(const Gate& gate) {
  const auto found = wires_.find(gate.in0);
  if (found == wires_.end() || !found->second.is_inside) return false;
  found->second.result.outputs.push_back(gate);
  return true;
}

bool GroupMaker::free(WireId wire) {
  const auto found = wires_.find(wire);
  if (found == wires_.end()) return false;
  Wire& freed = found->second;
  const bool is_inside = freed.is_inside;
  if (!freed.result.outputs.empty()) {
    freed.result.wire.reset();
    freed_outputs_.push_back(std::move(freed));
  }
  wires_.erase(found);
  return is_inside;
}

GroupMaker::Group GroupMaker::end() {
  ENSURE(is_open_);
  is_open_ = false;
  std::vector<Wire> wires = std::exchange(freed_outputs_, {});
  for (auto& [id, wire] : wires_)
    if (wire.is_inside) wires.push_back(std::move(wire));
  wires_.clear();
  require_group_size(0, 0, wires.size());
  std::ranges::sort(wires, {}, &Wire::place);
  Group group;
  std::vector<Table> tables;
  for (Wire& wire : wires) {
    tables.push_back(wire.table);
    group.results.push_back(std::move(wire.result));
  }
  group.shape = shape_of(std::exchange(inputs_, 0), std::move(tables));
  ands_ = 0;
  gates_ = 0;
  return group;
}

std::shared_ptr<const GroupShape> GroupMaker::shape_of(std::size_t inputs,
                                                       std::vector<Table> results) {
  if (shapes_.size() >= kShapesMost) shapes_.clear();
  std::shared_ptr<const GroupShape>& shape = shapes_[{inputs, results}];
  if (shape) return shape;
  GroupShape made;
  made.inputs = inputs;
  for (const Table& table : results) made.results.push_back(result_of(polynomial_of(table)));
  add_parts(made);
  return shape = std::make_shared<const GroupShape>(std::move(made));
}

}  // namespace tinyot::circuit
