// The fields of messages, which are freed as they are, with the secrets in them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/secret.h"

namespace tinyot::service {

// Of one that is not secret.
inline std::vector<std::byte> bytes_of_field(const std::string& field) {
  const auto bytes = std::as_bytes(std::span(field));
  return {bytes.begin(), bytes.end()};
}

// Its bytes, not its length.
inline void wipe_field(const std::string& field) {
  wipe(const_cast<char*>(field.data()), field.size());
}

// Its bytes, of which the message keeps none.
inline SecretVector<std::byte> take_secret(const std::string& field) {
  const auto bytes = std::as_bytes(std::span(field));
  SecretVector<std::byte> taken(bytes.begin(), bytes.end());
  wipe_field(field);
  return taken;
}

}  // namespace tinyot::service
