// Disk space for the material of a job. Both parties check it before anything is begun, so that
// no unit is begun, and none of the session's sigma spent, for material that one of them cannot
// store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "engine/plan.h"
#include "net/channel.h"
#include "tinyot/error.h"

namespace tinyot::engine {

// The free space with which these units can certainly be stored: their material, what the store
// adds to it, and what a commit takes before it can use freed pages again. 0 without units.
std::uint64_t space_for(std::span<const offline::UnitRequest> units, AndMaterial form);

// The same for what `request` makes in a store that has `left` at both parties; nothing is left in
// a new one. Plans the job, which takes some milliseconds. Fails: UsageError as resolve().
std::uint64_t space_for(const PreprocessRequest& request, const MaterialCounts& left = {});

// The error of a job that does not fit on the disk; empty if `bytes` are free where `store` is or
// is to be. Takes a few system calls, so that a caller that was refused can look again often.
std::optional<DiskFull> disk_shortage(const std::filesystem::path& store, std::uint64_t bytes);

// Role: both, symmetric, before anything of the job is begun or recorded. `shortage` is this
// party's. Wire: 1 message each way. Fails: DiskFull, or Disagreement if only the peer lacks space.
void agree_on_space(net::Channel& channel, const std::optional<DiskFull>& shortage);

}  // namespace tinyot::engine
