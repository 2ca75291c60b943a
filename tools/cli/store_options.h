// The options with which a subcommand finds and opens this party's store.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "tinyot/store_key.h"
#include "tools/cli/command_line.h"

namespace tinyot::tools {

// --store and --store-key.
void add_store_options(Options& options);
// --store-key alone.
void add_store_key_option(Options& options);
// The directories of a --store that takes several; DIR/* stands for the stores in DIR. Fails:
// UsageError if there is none.
std::vector<std::filesystem::path> stores_from(const CommandLine& line);
// Empty if none was given. Fails: UsageError; StoreError if the file cannot be used.
std::optional<StoreKey> store_key_from(const CommandLine& line);

}  // namespace tinyot::tools
