// Preprocessing: makes material with the peer and pours it into this party's store.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "engine/endpoint.h"
#include "engine/unit_size.h"
#include "material/material.h"
#include "net/phase_log.h"
#include "storage/attempt.h"
#include "storage/key_table.h"
#include "storage/manifest.h"
#include "tinyot/observer.h"
#include "tinyot/parameters.h"

namespace tinyot::engine {

struct PreprocessRequest {
  Party party = Party::A;
  Endpoint endpoint;
  std::filesystem::path store;
  std::optional<storage::StoreKey> store_key = {};
  // File of the session that this store is a shard of.
  std::optional<std::filesystem::path> session = {};
  std::uint32_t shard = 1, shards = 1;
  ParameterRequest parameters;
  Amount amount = Amount::Total;  // of `ands` and `inputs`
  std::uint64_t ands = 0;         // with `resume`, 0 means as requested before
  std::uint64_t inputs = 0;       // aBits of each party in addition to those of the ANDs
  std::uint64_t threads = 1;
  // limit for the units in progress, used to choose the unit size if it is left open
  std::uint64_t memory_bytes = kPlanMemoryBytes;
  bool resume = false;
  // Called before a new store is made; an exception ends the job.
  std::function<void()> before_new_store = {};
  bool stores = true;  // false: the material is discarded, to measure the cost of making it
};

struct PreprocessResult {
  storage::Manifest store;  // manifest of the store, with the security reached so far
  storage::AttemptTotals attempts;
  std::uint64_t ands = 0;  // made by this call
  MaterialCounts left;     // unused in the store
  std::uint64_t threads = 1;
  double latency_s = 0;               // to the peer, as net::measure_latency
  std::uint64_t units_in_flight = 1;  // `threads`, and more where messages take long
  double wall_s = 0;                  // since the session was established
  std::uint64_t store_bytes = 0;
  std::vector<PhaseCost> phases;

  bool complete() const { return store.state == storage::SessionState::Complete; }
};

// Role: both, symmetric. Makes the material that the request's store lacks. With Amount::Total, a
// store that is complete at both parties is not changed. If `cancel` requests a stop, both parties
// stop after the current unit.
// Fails: before the first byte is sent UsageError for a request that cannot be met and StoreError
// for a store that cannot be used; then as Preprocessor and synchronise(). Committed material
// stays.
PreprocessResult preprocess(const PreprocessRequest& request, Observer& observer,
                            std::stop_token cancel = {});

}  // namespace tinyot::engine
