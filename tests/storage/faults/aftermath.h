// What the next process finds in a store whose process has died, and whether it can go on.
#pragma once

#include "tests/storage/faults/scenario.h"
#include "tests/support/layers.h"

namespace tinyot::faults {

// Fails the test if something of what the ledger says is not so. The store may be a copy of the one
// that the ledger is of.
void look_after(const std::filesystem::path& dir, Ledger& ledger);

}  // namespace tinyot::faults
