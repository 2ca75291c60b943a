// Checks a store after a crash: its content, and whether it can be used.
#pragma once

#include "tests/storage/faults/scenario.h"
#include "tests/support/layers.h"

namespace tinyot::faults {

// Fails the test if the store contradicts the ledger. The store may be a copy.
void check_aftermath(const std::filesystem::path& dir, Ledger& ledger);

}  // namespace tinyot::faults
