#include "pkcs11/attributes.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "pkcs11/mechanisms.h"

namespace tinyot::pkcs11 {
namespace {

constexpr CK_ULONG kAttributesMax = 1024;

std::string bytes_of(CK_ULONG number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}
std::string bytes_of(bool is_true) {
  return std::string(1, static_cast<char>(is_true ? CK_TRUE : CK_FALSE));
}

std::string_view view_of(const CK_ATTRIBUTE& attribute) {
  require(attribute.pValue != nullptr || attribute.ulValueLen == 0, CKR_ARGUMENTS_BAD);
  return {static_cast<const char*>(attribute.pValue), attribute.ulValueLen};
}

CK_ULONG number_in(const CK_ATTRIBUTE& attribute) {
  CK_ULONG number = 0;
  const std::string_view bytes = view_of(attribute);
  require(bytes.size() == sizeof number, CKR_ATTRIBUTE_VALUE_INVALID);
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

bool truth_in(const CK_ATTRIBUTE& attribute) {
  const std::string_view bytes = view_of(attribute);
  require(bytes.size() == sizeof(CK_BBOOL), CKR_ATTRIBUTE_VALUE_INVALID);
  return bytes.front() != CK_FALSE;
}

// CKA_ID of a key that was made without one: its id, which has 32 hex digits.
std::string id_bytes(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

bool is_use_of(CK_ATTRIBUTE_TYPE type, TokenKeyClass key_class) {
  switch (type) {
    case CKA_ENCRYPT:
    case CKA_DECRYPT:
      return key_class == TokenKeyClass::Aead;
    case CKA_SIGN:
    case CKA_VERIFY:
      return key_class == TokenKeyClass::Mac;
    case CKA_DERIVE:
      return key_class == TokenKeyClass::Kdf;
    default:
      return false;
  }
}

// The class that has this use. Fails: CKR_TEMPLATE_INCONSISTENT for those that no class has.
TokenKeyClass class_with(CK_ATTRIBUTE_TYPE use) {
  for (const TokenKeyClass key_class :
       {TokenKeyClass::Aead, TokenKeyClass::Mac, TokenKeyClass::Kdf})
    if (is_use_of(use, key_class)) return key_class;
  throw Failed(CKR_TEMPLATE_INCONSISTENT);
}

}  // namespace

std::span<CK_ATTRIBUTE> template_from(CK_ATTRIBUTE_PTR attributes, CK_ULONG count) {
  require((attributes != nullptr || count == 0) && count <= kAttributesMax, CKR_ARGUMENTS_BAD);
  return {attributes, count};
}

std::optional<std::string> value_of(const Key& key, CK_ATTRIBUTE_TYPE type) {
  switch (type) {
    case CKA_CLASS:
      return bytes_of(CK_ULONG{CKO_SECRET_KEY});
    case CKA_KEY_TYPE:
      return bytes_of(key_type_of(key.algorithm));
    case CKA_VALUE_LEN:
      return bytes_of(key_bytes_of(key.algorithm));
    case CKA_LABEL:
      return key.label;
    case CKA_ID:
      return key.cka_id.empty() ? id_bytes(key.id) : key.cka_id;
    case CKA_ENCRYPT:
    case CKA_SIGN:
      return bytes_of(is_use_of(type, key.key_class) && key.state == "active");
    case CKA_DECRYPT:
    case CKA_VERIFY:
    case CKA_DERIVE:
      return bytes_of(is_use_of(type, key.key_class));
    case CKA_TOKEN:
    case CKA_PRIVATE:
    case CKA_SENSITIVE:
      return bytes_of(true);
    case CKA_ALWAYS_SENSITIVE:
    case CKA_NEVER_EXTRACTABLE:
    case CKA_LOCAL:
      return bytes_of(!key.is_imported);
    case CKA_EXTRACTABLE:
    case CKA_MODIFIABLE:
    case CKA_COPYABLE:
    case CKA_DESTROYABLE:
    case CKA_WRAP:
    case CKA_UNWRAP:
    case CKA_WRAP_WITH_TRUSTED:
    case CKA_TRUSTED:
      return bytes_of(false);
    case CKA_KEY_GEN_MECHANISM:
      return bytes_of(key.is_imported                                  ? CK_UNAVAILABLE_INFORMATION
                      : key.algorithm == TokenKeyAlgorithm::HmacSha256 ? CKM_GENERIC_SECRET_KEY_GEN
                                                                       : CKM_AES_KEY_GEN);
    case CKA_START_DATE:
    case CKA_END_DATE:
      return std::string();
    default:
      return std::nullopt;
  }
}

CK_RV fill(const Key& key, std::span<CK_ATTRIBUTE> attributes) {
  CK_RV result = CKR_OK;
  for (CK_ATTRIBUTE& attribute : attributes) {
    const CK_ULONG room = attribute.ulValueLen;
    const auto value = value_of(key, attribute.type);
    attribute.ulValueLen = value ? value->size() : CK_UNAVAILABLE_INFORMATION;
    if (!value) {
      result = attribute.type == CKA_VALUE ? CKR_ATTRIBUTE_SENSITIVE : CKR_ATTRIBUTE_TYPE_INVALID;
    } else if (attribute.pValue == nullptr) {
      continue;
    } else if (room < value->size()) {
      attribute.ulValueLen = CK_UNAVAILABLE_INFORMATION;
      result = CKR_BUFFER_TOO_SMALL;
    } else {
      std::ranges::copy(*value, static_cast<char*>(attribute.pValue));
    }
  }
  return result;
}

KeyPattern::KeyPattern(std::span<const CK_ATTRIBUTE> attributes) {
  for (const CK_ATTRIBUTE& attribute : attributes)
    wanted_.push_back({attribute.type, std::string(view_of(attribute))});
}

bool KeyPattern::fits(const Key& key) const {
  return std::ranges::all_of(
      wanted_, [&](const Wanted& wanted) { return value_of(key, wanted.type) == wanted.value; });
}

bool KeyPattern::may_fit() const {
  return std::ranges::all_of(wanted_, [](const Wanted& wanted) {
    return wanted.type != CKA_CLASS || wanted.value == bytes_of(CK_ULONG{CKO_SECRET_KEY});
  });
}

NewKey new_key_from(CK_MECHANISM_TYPE generation, std::span<const CK_ATTRIBUTE> attributes) {
  const bool is_aes = generation == CKM_AES_KEY_GEN;
  require(is_aes || generation == CKM_GENERIC_SECRET_KEY_GEN, CKR_MECHANISM_INVALID);
  const auto consistent = [](bool condition) { require(condition, CKR_TEMPLATE_INCONSISTENT); };
  NewKey key;
  std::optional<TokenKeyClass> key_class;
  std::optional<CK_ULONG> bytes;
  bool is_kept = false;
  for (const CK_ATTRIBUTE& attribute : attributes) {
    switch (attribute.type) {
      case CKA_CLASS:
        consistent(number_in(attribute) == CKO_SECRET_KEY);
        break;
      case CKA_KEY_TYPE:
        consistent(number_in(attribute) == (is_aes ? CKK_AES : CKK_GENERIC_SECRET));
        break;
      case CKA_VALUE_LEN:
        bytes = number_in(attribute);
        break;
      case CKA_LABEL:
        key.label = view_of(attribute);
        break;
      case CKA_ID:
        key.cka_id = view_of(attribute);
        break;
      case CKA_TOKEN:
        is_kept = truth_in(attribute);
        break;
      case CKA_SENSITIVE:
        consistent(truth_in(attribute));
        break;
      case CKA_PRIVATE:
      case CKA_MODIFIABLE:
      case CKA_COPYABLE:
      case CKA_DESTROYABLE:
        (void)truth_in(attribute);  // asked for as other tokens have it; value_of() tells the truth
        break;
      case CKA_EXTRACTABLE:
      case CKA_WRAP_WITH_TRUSTED:
      case CKA_TRUSTED:
        consistent(!truth_in(attribute));
        break;
      case CKA_ENCRYPT:
      case CKA_DECRYPT:
      case CKA_SIGN:
      case CKA_VERIFY:
      case CKA_DERIVE:
      case CKA_WRAP:
      case CKA_UNWRAP:
        if (!truth_in(attribute)) break;
        consistent(!key_class || key_class == class_with(attribute.type));
        key_class = class_with(attribute.type);
        break;
      case CKA_START_DATE:
      case CKA_END_DATE:
        consistent(view_of(attribute).empty());
        break;
      default:
        throw Failed(CKR_ATTRIBUTE_TYPE_INVALID);
    }
  }
  consistent(is_kept);  // there are no keys of a session
  require(!key.label.empty(), CKR_TEMPLATE_INCOMPLETE);
  require(bytes || !is_aes, CKR_TEMPLATE_INCOMPLETE);
  require(!bytes || bytes == 32u || (is_aes && bytes == 16u), CKR_ATTRIBUTE_VALUE_INVALID);
  key.key_class = key_class.value_or(is_aes ? TokenKeyClass::Aead : TokenKeyClass::Mac);
  consistent(is_aes || key.key_class == TokenKeyClass::Mac);
  key.algorithm = !is_aes        ? TokenKeyAlgorithm::HmacSha256
                  : bytes == 16u ? TokenKeyAlgorithm::Aes128
                                 : TokenKeyAlgorithm::Aes256;
  return key;
}

}  // namespace tinyot::pkcs11
