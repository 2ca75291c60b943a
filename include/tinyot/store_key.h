// The key under which a party seals the keys of its stores.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "tinyot/export.h"

namespace tinyot {

// Any bytes; a file has 16 to 4,096. Copies share the bytes, which are wiped with the last one.
class StoreKey {
 public:
  // Fails: StoreError if the file cannot be read, is open to other users, or is too short.
  TINYOT_API static StoreKey read(const std::filesystem::path& file);
  TINYOT_API explicit StoreKey(std::span<const std::byte> bytes);

  TINYOT_API std::span<const std::byte> bytes() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace tinyot
