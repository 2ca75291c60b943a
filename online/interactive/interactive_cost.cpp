#include "online/interactive/interactive_cost.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "online/message_bytes.h"

namespace tinyot::online {
namespace {

using Times = std::array<std::uint64_t, 2>;  // of A and of B, in half round trips

class InteractiveCost final : public RunCostCounter {
 public:
  InteractiveCost(const circuit::CircuitInfo& info, std::size_t lanes, AndMaterial form)
      : info_(info), lanes_(lanes), has_pairs_(form == AndMaterial::AandAot) {}

  void round(circuit::Round& round) override {
    const auto masked = announced_bits(info_, lanes_, round);
    const std::uint64_t ands = round.and_count(lanes_);
    cost_.ands += ands;
    cost_.and_rounds += ands > 0;
    for (std::size_t party = 0; party < 2; ++party) {
      std::uint64_t& bytes = cost_.bytes_sent[party];
      if (masked[party] > 0) bytes += bytes_of_message(bytes_for(masked[party]));
      bytes += has_pairs_ ? bytes_of_flights(ands, 4) + bytes_of_flights(ands, 1)
                          : bytes_of_flights(ands, 2);
    }
    // Inputs of a round without ANDs are waited for when the messages of the next round, if there
    // is one, have been sent.
    const Times sent = now_;
    wait_for_inputs();
    if (ands > 0) {
      for (std::size_t party = 0; party < 2; ++party) receive(party, sent[1 - party]);
      if (has_pairs_) exchange();
    } else {
      for (std::size_t party = 0; party < 2; ++party)
        if (masked[party] > 0) inputs_sent_[party] = sent[party];
    }
  }

  RunCost finish() override {
    std::array<std::uint64_t, 2> received{};
    for (const circuit::OutputBundle& bundle : info_.outputs) {
      const std::uint64_t bits = std::uint64_t{bundle.bits} * lanes_;
      for (const Party party : {Party::A, Party::B})
        received[static_cast<std::size_t>(party)] += circuit::receives(bundle.to, party) ? bits : 0;
    }
    if (!has_pairs_) received.fill(revealed_bits(info_, lanes_));
    for (std::size_t party = 0; party < 2; ++party)
      cost_.bytes_sent[party] +=
          bytes_of_flights(received[1 - party], 1) + 2 * bytes_of_message(kDigestBytes);
    wait_for_inputs();
    exchange();  // digests
    const Times sent = now_;
    for (std::size_t party = 0; party < 2; ++party)
      if (received[party] > 0) receive(party, sent[1 - party]);
    exchange();
    cost_.half_round_trips = now_;
    return cost_;
  }

 private:
  void receive(std::size_t party, std::uint64_t sent) {
    now_[party] = std::max(now_[party], sent + 1);
  }
  void exchange() {
    const Times sent = now_;
    for (std::size_t party = 0; party < 2; ++party) receive(party, sent[1 - party]);
  }
  void wait_for_inputs() {
    for (std::size_t party = 0; party < 2; ++party)
      if (inputs_sent_[1 - party]) receive(party, *std::exchange(inputs_sent_[1 - party], {}));
  }

  const circuit::CircuitInfo& info_;
  std::size_t lanes_;
  bool has_pairs_;
  RunCost cost_;
  Times now_{};
  std::array<std::optional<std::uint64_t>, 2> inputs_sent_;  // by owner, of a round without ANDs
};

}  // namespace

std::unique_ptr<RunCostCounter> count_interactive_cost(const circuit::CircuitInfo& info,
                                                       std::size_t lanes, AndMaterial form) {
  return std::make_unique<InteractiveCost>(info, lanes, form);
}

}  // namespace tinyot::online
