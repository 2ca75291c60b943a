// Stage F of a masked run (doc/protocol.md, section 19): all openings that do not depend on inputs.
// One sweep over the circuit computes the masks, bits and blocks; what masks an open operand by its
// factor is opened. The products of masks that groups take follow level by level.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "checks/session.h"
#include "circuitgen/layering.h"
#include "online/masked/masked_round.h"
#include "online/masked/plan_cache.h"
#include "online/material_reader.h"
#include "online/shared_value.h"
#include "online/wires.h"

namespace tinyot::online {

// Role: both, symmetric. Secret: masks, which are wiped with this object; what has been opened is
// public. Wire: of a round with n open operands of a level one flight each way of n / 8 bytes, in
// messages of WindowedExchange::kEntries bits, `masked.products`; none waits for another of its
// level. Fails: OutOfMaterial;
// NetworkError; wrong bits are detected when the transcript is settled.
class MaskSweep final : public circuit::RoundSink {
 public:
  // All references outlive this object. `plan` is that of all rounds, or null if it is to be made.
  MaskSweep(checks::Session& session, MaterialReader& material, const circuit::CircuitInfo& info,
            const Lanes& lanes, const SharedValues& shared,
            std::shared_ptr<const CircuitPlan> plan = nullptr,
            std::size_t atoms_max = MaskPlanner::kAtomsMax);

  // Sends the openings, and receives those of earlier rounds once many are under way.
  void round(circuit::Round& round) override;
  // After the last round: receives what is under way, the first level.
  void receive_wires();
  // The same, and all levels after it.
  void receive_all();

  // Of each party in the rounds so far, by level.
  const std::array<std::uint64_t, kLevelsMost>& opened_bits() const { return opened_bits_; }
  // Of the rounds so far; of all, if it was given.
  std::shared_ptr<const CircuitPlan> plan() const { return plans_.all(); }
  // What has been opened, once everything has been received, and the gates of these rounds.
  std::vector<MaskedRound>& rounds() { return rounds_; }
  std::vector<circuit::Round>& gates() { return gates_; }

 private:
  static constexpr std::size_t kUnderWayMost = std::size_t{1} << 20;
  // The most targets of pivots that are kept: 512 MiB.
  static constexpr std::size_t kTargetsMost = std::size_t{1} << 26;

  // The openings of a round at a level that the peer's are awaited for.
  struct UnderWay {
    UnderWay(std::size_t of, std::size_t at, std::vector<Opening> kinds, std::size_t count)
        : round(of), level(at), openings(std::move(kinds)), mine(count), blocks(count) {}

    std::size_t round, level;
    std::vector<Opening> openings;  // of the first level
    BitVector mine;
    SecretVector<MacShare> blocks;  // of the masked bits, not yet of what is opened

    Block* first_block() { return blocks.empty() ? nullptr : &blocks[0].value; }
  };

  void set_input_masks(const circuit::Round& gates, MaskedRound& masked);
  void change_blocks(const circuit::Round& gates, const RoundPlan& plan,
                     const TripleBlocksOf& triples);
  void open_wires(const circuit::Round& gates, const RoundPlan& plan, const RoundTriples& triples);
  void open_parts(std::size_t round, std::size_t level);
  void send(UnderWay opening);
  void receive_first();
  void keep(const UnderWay& opening, const BitVector& opened);

  checks::Session& session_;
  MaterialReader& material_;
  const circuit::CircuitInfo& info_;
  const Lanes& lanes_;
  const SharedValues& shared_;
  RoundPlans plans_;
  WireBits bits_;
  WireBlocks blocks_;
  std::vector<MaskedRound> rounds_;
  std::vector<circuit::Round> gates_;  // of these
  std::deque<UnderWay> under_way_;
  std::array<std::uint64_t, kLevelsMost> opened_bits_{};
  std::size_t bits_under_way_ = 0, targets_ = 0;
};

}  // namespace tinyot::online
