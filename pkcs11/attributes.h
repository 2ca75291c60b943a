// Templates: the attributes of keys, those that a search wants, and those of a key to be made.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "pkcs11/cryptoki.h"
#include "pkcs11/daemon.h"

namespace tinyot::pkcs11 {

// Of a call; null is allowed if it is empty. Fails: CKR_ARGUMENTS_BAD.
std::span<CK_ATTRIBUTE> template_from(CK_ATTRIBUTE_PTR attributes, CK_ULONG count);

// Empty: keys have no such attribute, or do not show it.
std::optional<std::string> value_of(const Key& key, CK_ATTRIBUTE_TYPE type);
// Fills in what it can. Returns what C_GetAttributeValue does.
CK_RV fill(const Key& key, std::span<CK_ATTRIBUTE> attributes);

// A template of a search, which outlives its call.
class KeyPattern {
 public:
  explicit KeyPattern(std::span<const CK_ATTRIBUTE> attributes);

  bool fits(const Key& key) const;
  // Whether any key can fit: no other objects than secret keys do.
  bool may_fit() const;

 private:
  struct Wanted {
    CK_ATTRIBUTE_TYPE type;
    std::string value;
  };
  std::vector<Wanted> wanted_;
};

// Fails: CKR_TEMPLATE_INCONSISTENT, CKR_TEMPLATE_INCOMPLETE, CKR_ATTRIBUTE_VALUE_INVALID,
// CKR_ATTRIBUTE_TYPE_INVALID, CKR_MECHANISM_INVALID.
NewKey new_key_from(CK_MECHANISM_TYPE generation, std::span<const CK_ATTRIBUTE> attributes);

}  // namespace tinyot::pkcs11
