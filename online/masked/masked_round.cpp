#include "online/masked/masked_round.h"

#include <algorithm>

#include "base/block_sums.h"

namespace tinyot::online {
namespace {

void cut(std::vector<circuit::LocalGate>& gates, const std::vector<std::uint32_t>& numbers) {
  for (const std::uint32_t number : numbers)
    gates[number] = {circuit::GateKind::Const, gates[number].out, 0, 0};
}

}  // namespace

TripleBlocksOf::TripleBlocksOf(const material::Slices& triples) : triples_(&triples) {
  std::size_t end = 0;
  for (const material::Slice& slice : triples) ends_.push_back(end += slice.count);
}

TripleBlocksOf::Run TripleBlocksOf::at(std::size_t entry, std::size_t count) const {
  const std::size_t slice =
      static_cast<std::size_t>(std::ranges::upper_bound(ends_, entry) - ends_.begin());
  const material::Slice& from = (*triples_)[slice];
  const std::size_t at = from.from + from.count - (ends_[slice] - entry);
  Run run{{}, std::min(count, ends_[slice] - entry)};
  for (std::size_t column = 0; column < run.columns.size(); ++column)
    run.columns[column] = &from.batch->shares[column].macs[at].value;
  return run;
}

void TripleBlocksOf::add_factor(std::size_t operand, std::size_t entry, std::span<const Block> from,
                                Block* to) const {
  for (std::size_t done = 0; done < from.size();) {
    const Run run = at(entry + done, from.size() - done);
    xor_blocks(from.subspan(done, run.count), run.columns[operand], to + done);
    done += run.count;
  }
}

std::vector<Opening> openings_of(const circuit::Round& round, const RoundPlan& plan) {
  std::vector<Opening> openings(2 * (round.ands.size() + round.invariant_ands.size()),
                                Opening::Before);
  for (const Pivot& pivot : plan.pivots) {
    const std::size_t number =
        pivot.is_of_invariant_and ? round.ands.size() + pivot.and_index : pivot.and_index;
    openings[2 * number + pivot.operand] =
        !pivot.is_of_invariant_and && circuit::is_invariant(pivot.wire) ? Opening::AfterInFirst
                                                                        : Opening::After;
  }
  return openings;
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
