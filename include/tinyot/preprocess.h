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

// Both parties ask for the same, but for party, endpoint, store, keys and memory.
struct PreprocessRequest {
  Party party = Party::A;
  Endpoint endpoint;
  std::filesystem::path store;  // a new directory, unless `resume`
  // File with the key under which the store is sealed: any bytes, at least 16.
  std::optional<std::filesystem::path> store_key = {};
  ParameterRequest parameters = {};
  std::uint64_t ands = 0;  // that the store is to have made in all
  // Authenticated bits of each party, for bits of inputs and of outputs that one party alone
  // learns; with pairs, beyond those for the ANDs.
  std::uint64_t inputs = 0;
  std::uint64_t threads = 1;
  // that a party's units may take, where their size is left open
  std::uint64_t memory_bytes = 1'000'000'000;
  bool resume = false;  // continue what is in the store
  // File of the session of which the store is a shard, and which shard.
  std::optional<std::filesystem::path> session = {};
  std::uint32_t shard = 1, shards = 1;
};

struct PreprocessResult {
  StoreInfo store;
  std::uint64_t ands = 0;  // made by this call
  double wall_s = 0;       // from the established session on
  std::vector<PhaseCost> phases;
};

// Role: both, at the same time. Makes what the store lacks; the store is complete at both parties
// afterwards, unless `cancel` was asked to stop: then both parties end after the unit at hand, or
// this one with Cancelled if the session is not established yet. Blocks until then; runs `threads`
// threads of its own. Fails: as error.h; what was finished stays in the store. After PeerCheated or
// PeerAborted the store is revoked.
PreprocessResult preprocess(const PreprocessRequest& request, Observer* observer = nullptr,
                            std::stop_token cancel = {});

}  // namespace tinyot
