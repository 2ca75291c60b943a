// Checks every batch of a store without consuming any.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "storage/store.h"

namespace tinyot::storage {

struct Verification {
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;
  std::vector<BatchEntry> good;      // in order of kind and index
  std::vector<std::string> corrupt;  // error messages, one for each batch
};

// Opens every batch that may still be served, planned reservations included, and checks that none
// is missing. The observer gets the bytes checked so far.
Verification verify(const Store& store,
                    const std::function<void(std::uint64_t bytes)>& observer = {});

}  // namespace tinyot::storage
