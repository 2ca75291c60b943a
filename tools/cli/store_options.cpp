#include "tools/cli/store_options.h"

#include "base/error.h"
#include "storage/store.h"

namespace tinyot::tools {

void add_store_options(Options& options) {
  options.group("Store").value("store", "directory of this party's store");
  add_store_key_option(options);
}

void add_store_key_option(Options& options) {
  options.value("store-key",
                "@FILE: seal the store's keys under the content of this file; without it, only the "
                "permissions of its files protect them");
}

std::vector<std::filesystem::path> stores_from(const CommandLine& line) {
  std::vector<std::filesystem::path> stores;
  for (const std::string& text : line.list("store")) {
    // An input without its option must not be shown.
    if (text.find('=') != std::string::npos && !storage::Store::exists(text))
      throw UsageError(
          "--store takes directories, but one of its values looks like NAME=VALUE; see --help");
    if (!text.ends_with("/*")) {
      stores.emplace_back(text);
      continue;
    }
    const std::filesystem::path directory = text.substr(0, text.size() - 2);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error))
      if (storage::Store::exists(entry.path())) stores.push_back(entry.path());
    if (error) throw UsageError("--store " + text + ": " + error.message());
  }
  if (stores.empty())
    throw UsageError("--store is missing, or there is no store in the directory that it names");
  return stores;
}

std::optional<StoreKey> store_key_from(const CommandLine& line) {
  if (!line.has("store-key")) return std::nullopt;
  const std::string value = line.text("store-key");
  if (!value.starts_with("@") || value.size() == 1)
    throw UsageError("--store-key takes @FILE, since command lines can be seen by others");
  return StoreKey::read(value.substr(1));
}

}  // namespace tinyot::tools
