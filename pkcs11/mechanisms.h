// The mechanisms of the module, what keys they are for, and their parameters.
#pragma once

#include <span>

#include "base/secret_text.h"
#include "pkcs11/cryptoki.h"
#include "pkcs11/daemon.h"

namespace tinyot::pkcs11 {

enum class Use { Encrypt, Decrypt, Sign, Verify };
constexpr std::size_t kUses = 4;

struct Mechanism {
  CK_MECHANISM_TYPE type;
  CK_MECHANISM_INFO info;  // sizes of keys in bytes
};
std::span<const Mechanism> mechanisms();
// Fails: CKR_MECHANISM_INVALID.
const Mechanism& mechanism_of(CK_MECHANISM_TYPE type);

CK_KEY_TYPE key_type_of(TokenKeyAlgorithm algorithm);
CK_ULONG key_bytes_of(TokenKeyAlgorithm algorithm);
std::size_t tag_bytes_of(TokenKeyAlgorithm algorithm);  // of class mac

// Whether the key's class has the use at all; its state and the policies are the daemon's. Fails:
// CKR_MECHANISM_INVALID, CKR_KEY_TYPE_INCONSISTENT, CKR_KEY_FUNCTION_NOT_PERMITTED.
void require_use(const Key& key, CK_MECHANISM_TYPE type, Use use);

struct GcmParameters {
  Nonce nonce{};
  SecretText associated;
  // The program's, of a key whose nonces are not the caller's: twelve zero bytes, which encryption
  // replaces by the nonce. The program keeps them until then.
  CK_BYTE_PTR nonce_to_fill = nullptr;
};
// Fails: CKR_MECHANISM_PARAM_INVALID.
GcmParameters gcm_from(const CK_MECHANISM& mechanism, const Key& key, Use use);
void require_no_parameters(const CK_MECHANISM& mechanism);

}  // namespace tinyot::pkcs11
