#include "pkcs11/mechanisms.h"

#include <algorithm>
#include <cstring>

namespace tinyot::pkcs11 {
namespace {

constexpr std::array kMechanisms = {
    Mechanism{CKM_AES_GCM, {16, 32, CKF_ENCRYPT | CKF_DECRYPT}},
    Mechanism{CKM_AES_CMAC, {16, 32, CKF_SIGN | CKF_VERIFY}},
    Mechanism{CKM_SHA256_HMAC, {32, 32, CKF_SIGN | CKF_VERIFY}},
    Mechanism{CKM_AES_KEY_GEN, {16, 32, CKF_GENERATE}},
    Mechanism{CKM_GENERIC_SECRET_KEY_GEN, {32, 32, CKF_GENERATE}},
};
constexpr CK_ULONG kTagBits = 128;
constexpr std::size_t kAssociatedBytesMax = 64 << 10;

CK_FLAGS flag_of(Use use) {
  switch (use) {
    case Use::Encrypt:
      return CKF_ENCRYPT;
    case Use::Decrypt:
      return CKF_DECRYPT;
    case Use::Sign:
      return CKF_SIGN;
    case Use::Verify:
      return CKF_VERIFY;
  }
  return 0;
}

}  // namespace

std::span<const Mechanism> mechanisms() { return kMechanisms; }

const Mechanism& mechanism_of(CK_MECHANISM_TYPE type) {
  const auto found = std::ranges::find(kMechanisms, type, &Mechanism::type);
  require(found != kMechanisms.end(), CKR_MECHANISM_INVALID);
  return *found;
}

CK_KEY_TYPE key_type_of(TokenKeyAlgorithm algorithm) {
  return algorithm == TokenKeyAlgorithm::HmacSha256 ? CKK_GENERIC_SECRET : CKK_AES;
}

CK_ULONG key_bytes_of(TokenKeyAlgorithm algorithm) {
  return algorithm == TokenKeyAlgorithm::Aes128 ? 16 : 32;
}

std::size_t tag_bytes_of(TokenKeyAlgorithm algorithm) {
  return algorithm == TokenKeyAlgorithm::HmacSha256 ? 32 : 16;
}

void require_use(const Key& key, CK_MECHANISM_TYPE type, Use use) {
  require((mechanism_of(type).info.flags & flag_of(use)) != 0, CKR_MECHANISM_INVALID);
  require((type == CKM_SHA256_HMAC) == (key.algorithm == TokenKeyAlgorithm::HmacSha256),
          CKR_KEY_TYPE_INCONSISTENT);
  require(key.key_class == (type == CKM_AES_GCM ? TokenKeyClass::Aead : TokenKeyClass::Mac),
          CKR_KEY_FUNCTION_NOT_PERMITTED);
}

GcmParameters gcm_from(const CK_MECHANISM& mechanism, const Key& key, Use use) {
  const auto valid = [](bool condition) { require(condition, CKR_MECHANISM_PARAM_INVALID); };
  CK_GCM_PARAMS given{};
  valid(mechanism.pParameter != nullptr && mechanism.ulParameterLen == sizeof given);
  std::memcpy(&given, mechanism.pParameter, sizeof given);
  GcmParameters parameters;
  // ulIvBits is said to be ignored, and programs leave it unset.
  valid(given.pIv != nullptr && given.ulIvLen == parameters.nonce.size());
  valid(given.ulTagBits == kTagBits);
  valid(given.ulAADLen <= kAssociatedBytesMax && (given.pAAD != nullptr || given.ulAADLen == 0));
  std::memcpy(parameters.nonce.data(), given.pIv, parameters.nonce.size());
  if (use == Use::Encrypt && !key.has_callers_nonces) {
    valid(parameters.nonce == Nonce{});
    parameters.nonce_to_fill = given.pIv;
  }
  if (given.ulAADLen > 0)
    parameters.associated.assign(reinterpret_cast<const char*>(given.pAAD),
                                 reinterpret_cast<const char*>(given.pAAD) + given.ulAADLen);
  return parameters;
}

void require_no_parameters(const CK_MECHANISM& mechanism) {
  require(mechanism.ulParameterLen == 0, CKR_MECHANISM_PARAM_INVALID);
}

}  // namespace tinyot::pkcs11
