#include "storage/retire.h"

#include "base/error.h"
#include "storage/store.h"

namespace tinyot::storage {
namespace {

constexpr char kReason[] = "retired by its owner";

std::string retire_opened(const std::filesystem::path& directory, const StoreAccess& access) {
  Store store = Store::open(directory, access);
  store.revoke(kReason);
  return store.manifest().revocation_reason;
}

// For a store that cannot be opened. Requires only that no process has it open.
RetiredStore erase_keys(const StoreFiles& files, const std::optional<StoreKey>& store_key,
                        const StoreError& why) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(files.keys, error))) {
    if (!std::filesystem::exists(files.database, error))
      throw StoreError("no store in " + files.directory.string() + "; nothing has been erased");
    throw StoreError(files.keys.string() +
                     " is missing: there are no keys to erase, and without them nothing in the "
                     "store can be read; the directory can be removed");
  }
  const StoreLock lock(files, Purpose::Own);
  // Used correctly, the store key opens a valid store, which can then be revoked; so a missing or
  // superfluous store key is reported, and the keys are not erased this way.
  const std::optional<KeyProtection> protection = KeyTable::protection_in(files.keys);
  if (protection == (store_key ? KeyProtection::ByPermissions : KeyProtection::ByStoreKey))
    throw why;
  KeyTable::erase_file(files.keys);
  return {kReason,
          {"the session is not marked as revoked, since the store cannot be opened: " +
           std::string(why.what())}};
}

}  // namespace

RetiredStore retire_store(const std::filesystem::path& directory,
                          const std::optional<StoreKey>& store_key) {
  try {
    try {
      return {retire_opened(directory, {.purpose = Purpose::Own, .store_key = store_key}), {}};
    } catch (const StoreIsCopy&) {
      return {
          retire_opened(directory,
                        {.purpose = Purpose::Own, .store_key = store_key, .is_adopted = true}),
          {"this is a copy: the original, if it still exists, still has its keys; retire it too"}};
    }
  } catch (const StoreError& error) {
    return erase_keys(StoreFiles(directory), store_key, error);
  }
}

}  // namespace tinyot::storage
