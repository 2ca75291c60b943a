// The mechanisms of custody on standard vectors: GCM (McGrew and Viega, test cases 4 and 16), CMAC
// (RFC 4493; NIST SP 800-38B, D.3), HMAC-SHA-256 (RFC 4231, case 2).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "custody/key_session.h"

namespace tinyot::custody {

// By the plain evaluator, before any key is used. Fails: Error naming the mechanism that computes
// something else.
void require_mechanisms();

// The keys of the vectors, which anyone knows: no party stores them. A label is "selftest/" and the
// mechanism, such as "selftest/aes256-gcm".
std::vector<KeyAttributes> self_test_keys();
std::optional<KeyAttributes> self_test_key(const KeyId& id);

// The names of the circuits of test_with_peer(). `key`: of one of those keys.
std::vector<std::string> self_test_circuits(const KeyId& key, Party requester);
// Such a key is loaded, used and verified by both parties as any other. Role: both, at the same
// time, with the same terms; `me` is the party that calls. Fails: Error at the requester if it gets
// something else than the vector; as KeyPeer.
void test_with_peer(KeyPeer& peer, Party me, const KeyId& key, const RequestId& request,
                    Party requester);

}  // namespace tinyot::custody
