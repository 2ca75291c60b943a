#include "custody/coded.h"

namespace tinyot::custody {

void put_attributes(const KeyAttributes& attributes, coded::Attributes& to) {
  put_bytes(attributes.id.bytes, *to.mutable_id());
  to.set_label(attributes.label);
  to.set_version(attributes.version);
  to.set_key_class(static_cast<std::uint32_t>(attributes.key_class));
  to.set_algorithm(static_cast<std::uint32_t>(attributes.algorithm));
  to.set_nonces(static_cast<std::uint32_t>(attributes.nonces));
  to.set_origin(static_cast<std::uint32_t>(attributes.origin));
  if (attributes.parent) put_bytes(attributes.parent->bytes, *to.mutable_parent());
  to.set_cka_id(attributes.cka_id);
}

bool take_attributes(const coded::Attributes& from, KeyAttributes& attributes) {
  attributes.label = from.label();
  attributes.version = from.version();
  attributes.cka_id = from.cka_id();
  attributes.parent.reset();
  if (!take_bytes(from.id(), attributes.id.bytes) ||
      !take_number(from.key_class(), KeyClass::Aead, KeyClass::Kdf, attributes.key_class) ||
      !take_number(from.algorithm(), KeyAlgorithm::Aes128, KeyAlgorithm::HmacSha256,
                   attributes.algorithm) ||
      !take_number(from.nonces(), NonceMode::Joint, NonceMode::Caller, attributes.nonces) ||
      !take_number(from.origin(), KeyOrigin::Generated, KeyOrigin::Imported, attributes.origin) ||
      (!from.parent().empty() && !take_bytes(from.parent(), attributes.parent.emplace().bytes)))
    return false;
  try {
    require_valid(attributes);
  } catch (const UsageError&) {
    return false;
  }
  return true;
}

}  // namespace tinyot::custody
