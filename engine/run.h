// A circuit is evaluated with the peer: on material from stores, or on material that is made
// meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/parameters.h"
#include "engine/circuit_source.h"
#include "engine/endpoint.h"
#include "net/phase_log.h"
#include "online/runtime.h"
#include "storage/attempt.h"
#include "storage/key_table.h"
#include "storage/manifest.h"
#include "storage/marks.h"

namespace tinyot::engine {

struct RunRequest {
  Party party = Party::A;
  Endpoint endpoint;
  // Unless live: one, or shards of a session.
  std::vector<std::filesystem::path> stores = {};
  std::optional<storage::StoreKey> store_key = {};
  // Gets what the run is given from the stores, before it is used (ledger.h).
  std::optional<std::filesystem::path> ledger = {};
  std::optional<std::uint64_t> reservation = {};  // that reserve() has made
  std::optional<ParameterRequest> live = {};      // how material is made beside the run
  std::optional<std::uint64_t> window = {};       // gates that are layered together
};

struct RunReport {
  online::RunResult result;
  storage::Manifest security;  // of the material
  storage::AttemptTotals attempts;
  MaterialCounts burnt;  // skipped, because the peer's store was ahead
  std::size_t window = 0;
  std::uint64_t store_bytes = 0;
  double wall_s = 0;
  std::vector<PhaseCost> phases;
};

// Role: both, symmetric. `inputs` are the values of this party's input bundles, absent for the
// peer's.
// Fails: before the first byte is sent StoreError, OutOfMaterial; then as the session; Cancelled if
// `cancel` asks it to stop, with the material lost that it was given.
RunReport run(const RunRequest& request, const LoadedCircuit& circuit,
              const online::InputValues& inputs, const std::stop_token& cancel = {});

// Sets the run's material aside in both stores, for a run to come. Fails: likewise.
storage::PlannedReservation reserve(const RunRequest& request, const LoadedCircuit& circuit);

}  // namespace tinyot::engine
