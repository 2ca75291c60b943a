// Preprocessing: both parties make material, before any input is known, and each stores its half.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "tinyot/endpoint.h"
#include "tinyot/export.h"
#include "tinyot/observer.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"
#include "tinyot/phase_cost.h"
#include "tinyot/store.h"

namespace tinyot {

// Inputs of each party that are made with these ANDs unless another number is given.
constexpr std::uint64_t default_inputs(std::uint64_t ands) { return 1024 + ands / 16; }

inline constexpr std::uint64_t kDefaultMemoryBytes = 1'000'000'000;

// Both parties make the same request, except for party, endpoint, store, keys and memory.
struct PreprocessRequest {
  Party party = Party::A;
  Endpoint endpoint;
  // A new directory for Amount::Total, unless `resume`; a complete store for Amount::More; either
  // for Amount::Left.
  std::filesystem::path store;
  std::optional<StoreKey> store_key = {};  // under which the store is sealed
  ParameterRequest parameters = {};
  Amount amount = Amount::Total;  // of `ands` and `inputs`
  std::uint64_t ands = 0;         // with `resume`, 0 means as requested before
  // Authenticated bits of each party, for inputs and for outputs that only one party learns; with
  // pairs, in addition to those for the ANDs. Absent: default_inputs(ands).
  std::optional<std::uint64_t> inputs = {};
  std::uint64_t threads = 1;
  // limit for the units in progress, used to choose the unit size if it is left open
  std::uint64_t memory_bytes = kDefaultMemoryBytes;
  bool resume = false;  // continue an existing store
  // If the store is a shard: the file of its session, and the number of the shard.
  std::optional<std::filesystem::path> session = {};
  std::uint32_t shard = 1, shards = 1;
  // Called before a new store is made; an exception ends the job.
  std::function<void()> before_new_store = {};
  bool is_stored = true;  // false: the material is discarded, to measure the cost of making it
};

// The inputs that the request asks for.
inline std::uint64_t inputs_of(const PreprocessRequest& request) {
  return request.inputs ? *request.inputs : default_inputs(request.ands);
}

struct PreprocessResult {
  StoreInfo store;
  std::uint64_t ands = 0;         // made by this call
  std::optional<BaseOt> base_ot;  // of the connection, if there was one
  std::uint64_t threads = 1;
  double latency_s = 0;               // to the peer and back
  std::uint64_t units_in_flight = 1;  // `threads`, and more where messages take long
  double wall_s = 0;                  // since the session was established
  std::vector<PhaseCost> phases;
};

// Role: both, at the same time. Makes the material that the store lacks; on return, the stores of
// both parties are complete. Runs may use them meanwhile. If `cancel` requests a stop, both parties
// stop after the current unit; if the session is not established yet, only this party stops, with
// Cancelled. Blocks until then, and runs `threads` threads of its own. Fails: as in error.h;
// finished units stay in the store. After PeerCheated or PeerAborted the store is revoked.
TINYOT_API PreprocessResult preprocess(const PreprocessRequest& request,
                                       Observer* observer = nullptr, std::stop_token cancel = {});

}  // namespace tinyot
