// What a store tells its owner, from its manifest, its log of attempts and its counts.
#pragma once

#include "storage/manifest.h"
#include "storage/store.h"
#include "storage/unit_log.h"
#include "tinyot/security.h"
#include "tinyot/store.h"

namespace tinyot::engine {

Security security_reached(const storage::Manifest& manifest,
                          const storage::AttemptTotals& attempts);

// Reads the log of attempts and the sizes of the files. Fails: StoreError.
StoreInfo info_of(const storage::Store& store);

}  // namespace tinyot::engine
