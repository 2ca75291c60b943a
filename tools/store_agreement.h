// Before the first gate: both parties compare where their stores stand and take the same range out of both.
#pragma once

#include "checks/session.h"
#include "storage/store.h"

namespace tinyot {

// Role: both, symmetric. The range begins at the higher of both positions, kind by kind; what lies between is burnt.
// Wire: 1 message of counts each way.
// Fails: OutOfMaterial if one of the two stores is short from there; it says whose, what it has and what is needed.
Reservation reserve_together(Session& session, Store& store, const MaterialCounts& needed);

// Role: both, symmetric. How many units both stores have; the peer's count may be smaller or larger than `mine`.
// Wire: 1 message each way.
std::uint64_t common_units(Session& session, std::uint64_t mine);

// Fails: OutOfMaterial if `store` cannot serve `needed` from its own position; for a check before the first byte is sent.
void check_enough(const Store& store, const MaterialCounts& needed);

}  // namespace tinyot
