// Base OTs from Diffie-Hellman in ristretto255: endemic OT with a uniform key agreement (Masny,
// Rindal 2019, section 5.1; doc/protocol.md, section 4.1).
#pragma once

#include "offline/base_ot/base_ot.h"

namespace tinyot::offline {

// Role: both. Wire: 64 bytes per OT each way, then 32 bytes per OT each way; 2 rounds.
// Secret: choices, scalars, all seeds.  Timing: constant in them.
// Fails: PeerCheated("base OT point") on a non-canonical group element.
BaseOts group_base_ots(checks::Session& session, BitVector choices);

}  // namespace tinyot::offline
