// Which base OTs a connection makes: what a party asks for in the handshake, and what both agree
// on.
#pragma once

#include <optional>

#include "checks/session.h"
#include "crypto/ml_kem.h"
#include "net/handshake.h"

namespace tinyot::engine {

// A party that asks for none takes ML-KEM, and any others that the peer asks for; without ML-KEM,
// for the reason `shortage`, it has those in ristretto255 alone. Shapes: as
// offline::require_base_ot.
net::Parameter base_ot_parameter(std::optional<BaseOt> requested,
                                 const std::string& shortage = crypto::ml_kem_shortage());

// Fails: Disagreement if the peer asks for base OTs that this release does not have.
BaseOt agreed_base_ot(const checks::Agreement& agreement);

}  // namespace tinyot::engine
