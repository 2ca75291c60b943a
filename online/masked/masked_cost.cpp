#include "online/masked/masked_cost.h"

#include <algorithm>
#include <utility>

#include "online/masked/masked_round.h"
#include "online/masked/plan_cache.h"
#include "online/message_bytes.h"

namespace tinyot::online {
namespace {

class MaskedCost final : public RunCostCounter {
 public:
  MaskedCost(const circuit::CircuitInfo& info, std::size_t lanes, bool is_prepared,
             std::shared_ptr<const circuit::LayeredCircuit> layered, std::size_t atoms_max)
      : info_(info), lanes_(lanes), is_prepared_(is_prepared), layered_(std::move(layered)),
        plans_(PlanCache::of_process().plan(layered_), atoms_max) {}

  void round(circuit::Round& round) override {
    const RoundPlan& plan = plans_.next(round);
    const auto announced = announced_bits(info_, lanes_.count(), round);
    const std::uint64_t pivots = plan.opened_after(lanes_.count());
    const auto before = opened_before(round, plan, lanes_);
    const std::uint64_t ands = round.and_count(lanes_.count());
    cost_.ands += ands;
    cost_.and_rounds += ands > 0;
    for (std::size_t party = 0; party < 2; ++party) {
      std::uint64_t& bytes = cost_.bytes_sent[party];
      if (announced[party] > 0) bytes += bytes_of_message(bytes_for(announced[party]));
      bytes += bytes_of_flights(pivots, 1);
      for (std::size_t level = 0; !is_prepared_ && level < kLevelsMost; ++level)
        bytes += bytes_of_flights(before[level], 1);
    }
    rounds_.push_back({announced, pivots});
    for (std::size_t level = 0; level < kLevelsMost; ++level) before_[level] += before[level];
  }

  RunCost finish() override {
    if (layered_) PlanCache::of_process().keep(layered_, plans_.all());
    // Without preparation, the openings that need no inputs travel with the first inputs, and those
    // of further levels after them.
    MaskedTimes times;
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
      const bool begins = i == 0 && !is_prepared_;
      times.add_round(rounds_[i].announced, rounds_[i].pivots + (begins ? before_[0] : 0));
      for (std::size_t level = 1; begins && level < kLevelsMost; ++level)
        times.add_round({}, before_[level]);
    }
    const std::uint64_t revealed = revealed_bits(info_, lanes_.count());
    for (std::uint64_t& bytes : cost_.bytes_sent)
      bytes += bytes_of_flights(revealed, 1) + 2 * bytes_of_message(kDigestBytes);
    cost_.half_round_trips = times.finish(revealed);
    return cost_;
  }

 private:
  struct OfRound {
    std::array<std::uint64_t, 2> announced;
    std::uint64_t pivots;
  };

  const circuit::CircuitInfo& info_;
  Lanes lanes_;
  bool is_prepared_;
  const std::shared_ptr<const circuit::LayeredCircuit> layered_;
  RoundPlans plans_;
  RunCost cost_;
  std::vector<OfRound> rounds_;
  std::array<std::uint64_t, kLevelsMost> before_{};  // opened before the inputs, by level
};

}  // namespace

void MaskedTimes::receive(const std::array<bool, 2>& has_message) {
  const std::array<std::uint64_t, 2> sent = now_;
  for (std::size_t party = 0; party < 2; ++party)
    if (has_message[party]) now_[party] = std::max(now_[party], sent[1 - party] + 1);
}

void MaskedTimes::add_round(const std::array<std::uint64_t, 2>& announced,
                            std::uint64_t exchanged) {
  receive({announced[1] > 0 || exchanged > 0, announced[0] > 0 || exchanged > 0});
}

std::array<std::uint64_t, 2> MaskedTimes::finish(std::uint64_t revealed) {
  receive({true, true});  // digests
  if (revealed > 0) receive({true, true});
  receive({true, true});
  return now_;
}

std::unique_ptr<RunCostCounter> count_masked_cost(
    const circuit::CircuitInfo& info, std::size_t lanes, bool is_prepared,
    std::shared_ptr<const circuit::LayeredCircuit> layered, std::size_t atoms_max) {
  return std::make_unique<MaskedCost>(info, lanes, is_prepared, std::move(layered), atoms_max);
}

}  // namespace tinyot::online
