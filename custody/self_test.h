// The mechanisms of custody on standard vectors: GCM (McGrew and Viega, test cases 4 and 16), CMAC
// (RFC 4493; NIST SP 800-38B, D.3), HMAC-SHA-256 (RFC 4231, case 2).
#pragma once

namespace tinyot::custody {

// By the plain evaluator, before any key is used. Fails: Error naming the mechanism that computes
// something else.
void require_mechanisms();

}  // namespace tinyot::custody
