#include "tools/store_options.h"

#include "base/error.h"

namespace tinyot {

void add_store_options(Options& options) {
  options.value("store", "directory of this party's store");
  add_store_key_option(options);
}

void add_store_key_option(Options& options) {
  options.value("store-key",
                "@FILE: seal the store's keys under what this file holds; without it the permissions of its files are all that protects them");
}

std::optional<StoreKey> store_key_from(const CommandLine& line) {
  if (!line.has("store-key")) return std::nullopt;
  const std::string value = line.text("store-key");
  if (!value.starts_with("@") || value.size() == 1) throw UsageError("--store-key wants @FILE, since command lines can be seen by others");
  return read_store_key(value.substr(1));
}

}  // namespace tinyot
