// Base OTs from Diffie-Hellman in ristretto255: endemic OT with a uniform key agreement (Masny,
// Rindal 2019, section 5.1; doc/protocol.md, section 4.1).
#pragma once

#include <cstdint>
#include <span>

#include "crypto/group.h"
#include "offline/base_ot/base_ot.h"
#include "offline/base_ot/endemic_ot.h"

namespace tinyot::offline {

// Role: both. Wire: 64 bytes per OT each way, then 32 bytes per OT each way; 2 rounds.
// Secret: choices, scalars, all seeds.  Timing: constant in them.
// Fails: PeerCheated("base OT point") on a non-canonical group element.
BaseOts group_base_ots(checks::Session& session, BitVector choices);

// RO(i, b, shared point), the seed of message `bit` of an OT.
Seed seed_of_point(const OtDirection& direction, std::uint64_t index, std::uint8_t bit,
                   const crypto::Point& shared);
// Fails: PeerCheated("base OT point") if one is not canonical.
void require_points(std::span<const crypto::Point> points);

}  // namespace tinyot::offline
