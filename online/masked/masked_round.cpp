#include "online/masked/masked_round.h"

namespace tinyot::online {
namespace {

void cut(std::vector<circuit::LocalGate>& gates, const std::vector<std::uint32_t>& numbers) {
  for (const std::uint32_t number : numbers)
    gates[number] = {circuit::GateKind::Const, gates[number].out, 0, 0};
}

}  // namespace

std::vector<Opening> openings_of(const circuit::Round& round, const RoundPlan& plan) {
  const std::size_t of_lanes = round.products();
  std::vector<Opening> openings(2 * (of_lanes + round.invariant_products()), Opening::Before);
  for (const bool is_invariant : {false, true})
    for_each_product(round, is_invariant, [&](std::uint32_t product, const FactorWires& wires) {
      for (std::size_t operand = 0; operand < 2; ++operand)
        if (!wires[operand])
          openings[2 * ((is_invariant ? of_lanes : 0) + product) + operand] = Opening::OfProduct;
    });
  for (const Pivot& pivot : plan.pivots)
    openings[2 * ((pivot.is_of_invariant ? of_lanes : 0) + pivot.product) + pivot.operand] =
        !pivot.is_of_invariant && circuit::is_invariant(pivot.wire) ? Opening::AfterInFirst
                                                                    : Opening::After;
  return openings;
}

std::array<std::uint64_t, kLevelsMost> opened_before(const circuit::Round& round,
                                                     const RoundPlan& plan, const Lanes& lanes) {
  std::array<std::uint64_t, kLevelsMost> bits{};
  bits[0] = 2 * round.and_count(lanes.count()) - plan.opened_after(lanes.count());
  const auto move_parts = [&](const std::vector<circuit::RoundGroup>& groups, std::size_t width) {
    for (const circuit::RoundGroup& group : groups)
      for (const circuit::GroupPart product : group.shape->products())
        for (const std::optional<circuit::Slot>& wire : wires_of(group, product)) {
          if (wire) continue;
          bits[0] -= width;
          bits[level_of(product) - 1] += width;
        }
  };
  move_parts(round.groups, lanes.count());
  move_parts(round.invariant_groups, 1);
  return bits;
}

CutGates::CutGates(const circuit::Round& round, const RoundPlan& plan) : round_(round) {
  if (plan.cut_invariant_local.empty() && plan.cut_local.empty()) return;
  cut_.emplace();
  cut_->invariant_local = round.invariant_local;
  cut_->local = round.local;
  cut(cut_->invariant_local, plan.cut_invariant_local);
  cut(cut_->local, plan.cut_local);
}

}  // namespace tinyot::online
