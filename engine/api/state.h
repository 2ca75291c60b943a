// The state of the public classes. Internal to this folder.
#pragma once

#include "engine/circuit_source.h"
#include "engine/endpoint.h"
#include "online/inputs.h"
#include "storage/key_table.h"
#include "storage/store.h"
#include "tinyot/endpoint.h"
#include "tinyot/run.h"
#include "tinyot/store.h"
#include "tinyot/values.h"

namespace tinyot {

struct Endpoint::State {
  engine::Endpoint endpoint;
  bool plaintext_allowed = false;
};

// Fails: UsageError for plain TCP on a non-loopback address, unless it is allowed.
engine::Endpoint engine_endpoint(const Endpoint& endpoint);

std::optional<storage::StoreKey> read_key(const std::optional<std::filesystem::path>& file);

// Fails, these four: UsageError naming the bundle, for values that are missing, superfluous or of
// the wrong shape.
void check_lanes(std::size_t lanes);
void check_names(const circuit::CircuitInfo& info, const Values& values);
LaneMatrix bundle_values(const circuit::InputBundle& bundle, std::size_t lanes,
                         const Values& values);
online::BundleValues input_values(const circuit::CircuitInfo& info, Party party, std::size_t lanes,
                                  const Values& values);
Values output_values(const circuit::CircuitInfo& info, online::BundleValues outputs);

}  // namespace tinyot
