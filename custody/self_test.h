// The mechanisms of custody by the plain evaluator on standard vectors, before any key is used.
#pragma once

namespace tinyot::custody {

// GCM (McGrew and Viega, test cases 4 and 16), CMAC (RFC 4493; NIST SP 800-38B, D.3), HMAC-SHA-256
// (RFC 4231, case 2). Fails: Error naming the mechanism that computes something else.
void require_mechanisms();

}  // namespace tinyot::custody
