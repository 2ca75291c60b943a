// Preprocessing: both parties make material, before any input is known, and each stores its half.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "tinyot/endpoint.h"
#include "tinyot/observer.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"
#include "tinyot/phase_cost.h"
#include "tinyot/store.h"

namespace tinyot {

// Both parties make the same request, except for party, endpoint, store, keys and memory.
struct PreprocessRequest {
  Party party = Party::A;
  Endpoint endpoint;
  // A new directory for Amount::Total, unless `resume`; a complete store for Amount::More; either
  // for Amount::Left.
  std::filesystem::path store;
  // File with the key under which the store is sealed: any bytes, at least 16.
  std::optional<std::filesystem::path> store_key = {};
  ParameterRequest parameters = {};
  Amount amount = Amount::Total;  // of `ands` and `inputs`
  std::uint64_t ands = 0;         // with `resume`, 0 means as requested before
  // Authenticated bits of each party, for inputs and for outputs that only one party learns; with
  // pairs, in addition to those for the ANDs.
  std::uint64_t inputs = 0;
  std::uint64_t threads = 1;
  // limit for the units in progress, used to choose the unit size if it is left open
  std::uint64_t memory_bytes = 1'000'000'000;
  bool resume = false;  // continue an existing store
  // If the store is a shard: the file of its session, and the number of the shard.
  std::optional<std::filesystem::path> session = {};
  std::uint32_t shard = 1, shards = 1;
};

struct PreprocessResult {
  StoreInfo store;
  std::uint64_t ands = 0;  // made by this call
  double wall_s = 0;       // since the session was established
  std::vector<PhaseCost> phases;
};

// Role: both, at the same time. Makes the material that the store lacks; on return, the stores of
// both parties are complete. Runs may use them meanwhile. If `cancel` requests a stop, both parties
// stop after the current unit; if the session is not established yet, only this party stops, with
// Cancelled. Blocks until then, and runs `threads` threads of its own. Fails: as in error.h;
// finished units stay in the store. After PeerCheated or PeerAborted the store is revoked.
PreprocessResult preprocess(const PreprocessRequest& request, Observer* observer = nullptr,
                            std::stop_token cancel = {});

}  // namespace tinyot
