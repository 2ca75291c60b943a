// Evaluates a circuit with the peer, on material from stores or on material made during the run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "engine/circuit_source.h"
#include "engine/endpoint.h"
#include "net/phase_log.h"
#include "online/runtime.h"
#include "storage/attempt.h"
#include "storage/key_table.h"
#include "storage/manifest.h"
#include "storage/marks.h"
#include "tinyot/parameters.h"

namespace tinyot::engine {

struct RunRequest {
  Party party = Party::A;
  Endpoint endpoint;
  // Unless live: one store, or shards of a session.
  std::vector<std::filesystem::path> stores = {};
  std::optional<storage::StoreKey> store_key = {};
  // Records the material that the run takes from the stores, before it is used (ledger.h).
  std::optional<std::filesystem::path> ledger = {};
  std::optional<std::uint64_t> reservation = {};  // made by reserve()
  // Of an evaluator on one store: ANDs that are reserved at a time for its next short runs, and
  // lost when it ends (advance.h).
  std::uint64_t advance_ands = 0;
  std::optional<ParameterRequest> live = {};  // how to make the material during the run
  std::optional<std::uint64_t> window = {};   // gates that are layered together
  // Called after each round, from any thread, with the ANDs evaluated and the circuit's.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
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
// `cancel` requests a stop, and then the material reserved for the run is lost.
RunReport run(const RunRequest& request, const LoadedCircuit& circuit,
              const online::BundleValues& inputs, const std::stop_token& cancel = {});

// Reserves the run's material in both stores for a later run. Fails: as run().
storage::PlannedReservation reserve(const RunRequest& request, const LoadedCircuit& circuit);

}  // namespace tinyot::engine
