// Stage O of a masked run (doc/protocol.md, section 19): the rounds of online/runtime.h, in which
// only pivots are opened. Wires have public bits beside their shares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "checks/session.h"
#include "online/masked/masked_cost.h"
#include "online/masked/masked_round.h"
#include "online/runtime.h"

namespace tinyot::online {

// Role: both, symmetric. Wire: of a round with n pivots over all lanes one flight each way of n / 8
// bytes, in messages of WindowedExchange::kEntries bits, `masked.operands`. Fails: NetworkError;
// wrong bits are detected when the transcript is settled.
class MaskedSteps final : public RoundSteps {
 public:
  // What a run does beside the inputs of the first round.
  struct FirstFlights {
    // Bits of each party, by level: those of the first travel with the inputs.
    std::array<std::uint64_t, kLevelsMost> opened_before{};
    std::function<void()> before_receiving;  // once, when the inputs have been announced
    // Once, when those of the peer have been received. After it, the rounds have been opened.
    std::function<void()> before_opening;
  };
  // The references outlive this object. The rounds are used up.
  MaskedSteps(checks::Session& session, const circuit::CircuitInfo& info, const Lanes& lanes,
              std::vector<MaskedRound>& rounds, const BundleValues& inputs, FirstFlights flights)
      : session_(session), info_(info), lanes_(lanes), rounds_(rounds), inputs_(inputs),
        flights_(std::move(flights)), public_bits_(true, lanes) {}

  std::vector<InputLayer> inputs_of(const circuit::Round&) override {
    return std::move(rounds_[next_].inputs);
  }
  std::unique_ptr<RoundAnds> begin(const circuit::Round& round, const WireBits& bits) override;

  // After the last round.
  std::array<std::uint64_t, 2> count_half_round_trips() {
    return times_.finish(revealed_bits(info_, lanes_.count()));
  }

 private:
  friend class MaskedRoundAnds;

  checks::Session& session_;
  const circuit::CircuitInfo& info_;
  const Lanes& lanes_;
  std::vector<MaskedRound>& rounds_;
  const BundleValues& inputs_;
  FirstFlights flights_;
  WireBits public_bits_;
  MaskedTimes times_;
  std::size_t next_ = 0;
};

}  // namespace tinyot::online
