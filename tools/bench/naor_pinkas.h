// Base OTs of the time of the paper, for comparison: Naor and Pinkas, Efficient Oblivious Transfer
// Protocols (SODA 2001), section 3.1 with one exponent of the sender for all OTs, over
// ristretto255. Against a malicious party they have no simulator; no session uses them.
#pragma once

#include <cstddef>

#include "offline/base_ot/base_ot.h"

namespace tinyot::tools {

// Role: both. Wire: 64 bytes, and 32 bytes per OT, each way; 2 rounds. Secret: choices, scalars,
// all seeds. Fails: PeerCheated("base OT point") on a non-canonical group element.
offline::BaseOts naor_pinkas_ots(checks::Session& session, std::size_t count);

}  // namespace tinyot::tools
