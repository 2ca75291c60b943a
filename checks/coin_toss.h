// A joint coin toss: 256 public bits that neither party controls, by commit and open.
#pragma once

#include <string_view>

#include "checks/session.h"
#include "crypto/public_coins.h"

namespace tinyot::checks {

// Role: A commits to its half under a salt of 256 bits, B sends its half, A opens. `purpose` names
// the use of the coins, the same on both sides. Everything that must be independent of the coins is
// fixed before the call.
// Wire: A sends 32 and 64 bytes, B 32; 3 messages.
// Fails: PeerCheated("coin toss") if A's opening is not what it committed to.
crypto::PublicSeed toss_coins(Session& session, std::string_view purpose);

}  // namespace tinyot::checks
