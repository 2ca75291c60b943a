// The constant-round online phase: authenticated garbling (doc/protocol.md, section 16). B garbles,
// A evaluates. 4 half round trips until A has its outputs and 5 until B has, whatever the depth of
// the circuit.
//
// Source: Katz, Ranellucci, Rosulek, Wang (CRYPTO 2018); Wang, Ranellucci, Katz (CCS 2017).
// Differs: the batched check is two-sided (gate_check.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "checks/session.h"
#include "circuitgen/circuit_rounds.h"
#include "material/material.h"
#include "online/values.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::online {

// How a run is cut into messages; the same at both parties.
struct GarbledWindow {
  // Masked ahead of their rows, and under way; local gates and inputs count, too (chunks.h).
  std::size_t entries = std::size_t{1} << 18;
  std::size_t chunk_min = std::size_t{1} << 13;  // entries of a message
  std::size_t chunk_max = std::size_t{1} << 16;
};

// For each input bit of a party an aBit of that party; for each AND a full triple, and an aBit of
// each party; for each bit of a shared input that an interactive run has left an aBit of each
// party. Nothing for outputs, and for other public and shared inputs.
MaterialCounts garbled_material_for(const circuit::CircuitInfo& info, std::uint64_t ands,
                                    std::size_t lanes, const SharedValues& shared = {});

// Role: both. Arguments as run_circuit(); the source has material of the form Garbling.
// Wire, in half round trips: 1 both `garbled.de` and `garbled.masked`; 2 B `garbled.rows`,
// `garbled.colours`, `garbled.labels`; 3 A `garbled.masked_ands` and its digest; 4 B
// `garbled.outputs` of A and its digest; 5 A `garbled.outputs` of B and its digest, absent without
// outputs of B. Larger circuits than a window stream. A sends 3n/8 + i_A/8 + o_B/8 + 64 bytes,
// B 32.375 n + i_B/8 + 16 (i_A + i_B) + o_A/8 + 32, and 16 for each message, for n ANDs in all
// lanes. Fails: PeerCheated("MAC transcript") before anything is returned; OutOfMaterial;
// NetworkError.
Evaluation run_garbled(checks::Session& session, material::Source& source,
                       const MaterialCounts& wanted, circuit::CircuitRounds& rounds,
                       const BundleValues& inputs, const SharedValues& shared = {},
                       const RunProgress& progress = {}, const GarbledWindow& window = {});

}  // namespace tinyot::online
