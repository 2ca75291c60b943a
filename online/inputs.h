// Inputs of one party in a round (NNOB12 Fig. 6, "Input"): the owner takes a fresh aBit [r] and
// announces m = x ^ r; then [x] = [r] ^ m, with 0 as the other party's share. A bundle that is the
// same in all lanes takes one aBit per bit for all of them.
//
// Differs: only the key of x depends on m, not the other party's share. The other party therefore
// sends its openings of the round's ANDs before it receives m: the inputs cost no round trip.
#pragma once

#include <initializer_list>
#include <vector>

#include "checks/session.h"
#include "circuitgen/layering.h"
#include "online/material_reader.h"
#include "online/values.h"
#include "online/wires.h"

namespace tinyot::online {

// By ENSURE, role: both, before anything is sent: `values` has those of the bundles that this party
// gives, each of the bundle's bits and lanes.
void check_inputs(Party me, const circuit::CircuitInfo& info, std::size_t lanes,
                  const BundleValues& values);
// The same of `shared`, of shared inputs, which have one of these forms.
void check_shared_inputs(const circuit::CircuitInfo& info, std::initializer_list<WireForm> forms,
                         std::size_t lanes, const SharedValues& shared);

// Calls use(tile, width) for the parts of an input bit that have values of their own.
template <class Use>
void for_each_part(const circuit::InputBundle& bundle, const Lanes& lanes, Use use) {
  if (bundle.same_in_all_lanes) return use(std::size_t{0}, std::size_t{1});
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile) use(tile, lanes.width(tile));
}

// Adds the aBits that mask the parties' inputs.
void count_input_masks(const circuit::CircuitInfo& info, std::size_t lanes, MaterialCounts& counts);

class InputLayer {
 public:
  // Role: owner or other party. Draws the masks. Fails: OutOfMaterial.
  InputLayer(checks::Session& session, MaterialReader& material, Party owner,
             const circuit::CircuitInfo& info, std::size_t lanes,
             std::vector<circuit::RoundInput> inputs);

  // Role: owner or other party. The owner sends m, once. Wire: 1 message of n / 8 bytes from the
  // owner. Fails: NetworkError.
  void announce(const BundleValues& values);

  // Role: owner or other party. The other party receives m, at the first call, which precedes
  // set_blocks and everything that the owner sends after m.
  // Fails: NetworkError, PeerCheated("framing").
  void receive();

  // After announce(): [x].
  void set_bits(const Lanes& lanes, WireBits& wires) const { set_bits(bits_, lanes, wires); }
  // After receive(): [x], and m at both parties.
  void set_blocks(const Lanes& lanes, WireForm form, Delta global_key, WireBlocks& wires) const;
  void set_announced(const Lanes& lanes, WireBits& wires) const { set_bits(masked_, lanes, wires); }
  // Before announce(): [r].
  void set_masks(const Lanes& lanes, WireForm form, Delta global_key, WireBits& bits,
                 WireBlocks& blocks) const;

 private:
  std::size_t entries_of(const circuit::RoundInput& input) const {
    return info_.inputs[input.bundle].same_in_all_lanes ? 1 : lanes_;
  }
  BitVector gather(const BundleValues& values, std::size_t n) const;
  void set_bits(const BitVector& bits, const Lanes& lanes, WireBits& wires) const;
  void set_blocks(const BitVector& mine, const BitVector& masked, const Lanes& lanes, WireForm form,
                  Delta global_key, WireBlocks& wires) const;

  checks::Session& session_;
  const circuit::CircuitInfo& info_;
  std::size_t lanes_;
  bool mine_;
  std::vector<circuit::RoundInput> inputs_;
  material::Slices mask_;
  std::size_t entries_ = 0;
  BitVector bits_;    // my shares, once they are announced
  BitVector masked_;  // m; empty until it is received
};

// The inputs of a round that a party gives, by owner.
std::vector<InputLayer> draw_inputs(checks::Session& session, MaterialReader& material,
                                    const circuit::CircuitInfo& info, const Lanes& lanes,
                                    const circuit::Round& round);

// An input that both parties give: its wires are constants, each lane's value in turn. Role: both.
// `value`: lanes rows of the bundle's bits, or one if it is the same in all lanes; equal at both
// parties, or the run ends as if one of them had cheated. No material, no message.
void set_public_bits(const circuit::RoundInput& input, const LaneMatrix& value, const Lanes& lanes,
                     WireBits& wires);
void set_public_blocks(const circuit::RoundInput& input, const LaneMatrix& value,
                       const Lanes& lanes, WireBlocks& wires);

}  // namespace tinyot::online
