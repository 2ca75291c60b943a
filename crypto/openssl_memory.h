// What OpenSSL leaves in memory that it frees: its decoders of keys, its functions for PEM and the
// libraries that use it free copies of private keys without wiping them.
#pragma once

namespace tinyot::crypto {

// From now on all that OpenSSL frees in this process is wiped before. For programs, not for a
// library: it is one setting for the process, to be made before OpenSSL allocates anything. Fails:
// std::logic_error by ENSURE if it has.
void wipe_what_openssl_frees();

}  // namespace tinyot::crypto
