// Step M (doc/protocol.md, section 16.3): the masks of all wires and the openings of the ANDs, bits
// only. Nothing in it waits for the peer, so it runs ahead of the rows.
//
//   input of a party   lambda = a fresh aBit of that party
//   shared input       lambda = the value itself, and L = 0; or as shared_inputs.h says
//   public, constant   lambda = 0
//   XOR, NOT           lambda = lambda_x ^ lambda_y, lambda_x
//   AND                [u], [v], [w] and [lambda] are drawn; d = lambda_x ^ u and e = lambda_y ^ v
//                      are opened
#pragma once

#include <optional>

#include "checks/session.h"
#include "online/garbled/chunks.h"
#include "online/garbled/output_masks.h"
#include "online/inputs.h"
#include "online/values.h"
#include "online/wires.h"

namespace tinyot::online {

// The source whose labels an input bundle has (chunks.h); absent for constants and shared values.
// `constants`: public values that are known when the labels are made.
std::optional<std::size_t> label_source(const circuit::CircuitInfo& info,
                                        const BundleValues& constants, std::size_t bundle);

class MaskPass {
 public:
  // `constants`: public values that are known now. All references outlive this object.
  MaskPass(checks::Session& session, MaterialReader& material, const circuit::CircuitInfo& info,
           const Lanes& lanes, const BundleValues& constants, const SharedValues& shared,
           OutputMasks& outputs)
      : session_(session), material_(material), info_(info), lanes_(lanes), constants_(constants),
        shared_(shared), outputs_(outputs), bits_(false, lanes) {}

  // Role: both. Draws the chunk's material and sends my bits of d and e. Wire: 1 message of
  // ceil(2n / 8) bytes, none without entries. Fails: OutOfMaterial, NetworkError.
  void send_openings(Chunk& chunk);
  // Role: both. Opens d and e. They are unchecked until the transcripts settle.
  void receive_openings(Chunk& chunk);

  // Role: owner. Sends L of my inputs in the chunk. Wire: 1 message of ceil(n / 8) bytes, none
  // without inputs.
  void send_inputs(Chunk& chunk, const BundleValues& values);
  // Role: other party. Receives L of the peer's inputs.
  void receive_inputs(Chunk& chunk);
  // Role: both. Sets L of public inputs that were not known before.
  void set_public_inputs(Chunk& chunk, const BundleValues& values);

 private:
  void draw(Chunk& chunk);
  // `masks`: my shares of those of my inputs.
  void set_inputs(const circuit::Round& round, BitReader& masks);
  // The masks of the inputs of a source become L.
  void add_values(Chunk& chunk, std::size_t source, const BundleValues& values);

  checks::Session& session_;
  MaterialReader& material_;
  const circuit::CircuitInfo& info_;
  Lanes lanes_;
  const BundleValues& constants_;
  const SharedValues& shared_;
  OutputMasks& outputs_;
  WireBits bits_;
};

}  // namespace tinyot::online
