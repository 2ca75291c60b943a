// LMDB must not open a file twice in one process, so all handles to a store in this process share
// its environment. Internal to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/revocation.h"
#include "storage/lmdb_env.h"

namespace tinyot::storage {

class SharedEnvironment {
 public:
  // Opens the file, unless this process has it open. Fails: as Environment.
  explicit SharedEnvironment(const std::filesystem::path& file);
  // The last one closes the file.
  ~SharedEnvironment();
  SharedEnvironment(const SharedEnvironment&) = delete;
  SharedEnvironment& operator=(const SharedEnvironment&) = delete;

  Environment* operator->() const { return environment_; }
  // Of the store's session, shared by all handles in this process.
  const std::shared_ptr<RevocationFlag>& revocation() const { return revocation_; }

 private:
  using FileId = std::pair<std::uint64_t, std::uint64_t>;  // device, inode

  void release() noexcept;

  FileId file_;
  Environment* environment_ = nullptr;
  std::shared_ptr<RevocationFlag> revocation_;
};

}  // namespace tinyot::storage
