// Preprocessing: makes material with the peer and pours it into this party's store.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/parameters.h"
#include "engine/endpoint.h"
#include "engine/unit_size.h"
#include "net/phase_log.h"
#include "storage/attempt.h"
#include "storage/key_table.h"
#include "storage/manifest.h"
#include "tinyot/observer.h"

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
  std::uint64_t ands = 0;    // that the store is to have made in all
  std::uint64_t inputs = 0;  // aBits of each party beyond one an AND
  std::uint64_t threads = 1;
  // that a party's units may take, where their size is left open
  std::uint64_t memory_bytes = kPlanMemoryBytes;
  bool resume = false;
  bool stores = true;  // false: the material is dropped, to measure what making it takes
};

struct PreprocessResult {
  storage::Manifest store;  // of the store, with what was reached so far
  storage::AttemptTotals attempts;
  std::uint64_t ands = 0;  // made by this call
  std::uint64_t threads = 1;
  double wall_s = 0;  // from the established session on
  std::uint64_t store_bytes = 0;
  std::vector<PhaseCost> phases;

  bool complete() const { return store.state == storage::SessionState::Complete; }
};

// Role: both, symmetric. Makes what the request's store lacks. A store that is complete at both
// parties is left as it is. When `cancel` is asked to stop, both parties end after the unit at
// hand.
// Fails: before the first byte is sent UsageError for a request that cannot be met and StoreError
// for a store that cannot be used; then as Preprocessor and synchronise(). What is committed stays.
PreprocessResult preprocess(const PreprocessRequest& request, Observer& observer,
                            std::stop_token cancel = {});

}  // namespace tinyot::engine
