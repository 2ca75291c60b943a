// What the shards of one session have in common, in a file that its first shard makes and all
// others start from: the session's name, this party's global key, the security parameters, and the
// reference bits of the Delta-consistency check (doc/protocol.md, section 5.5).
// FORMAT.md has the bytes.
//
// Secret: all of it but the name and the parameters. Sealed under the user's store key if there is
// one, else kept by the file's permissions.
#pragma once

#include <filesystem>
#include <optional>

#include "base/material.h"
#include "storage/key_table.h"
#include "storage/manifest.h"

namespace tinyot::storage {

struct SessionFile {
  Manifest manifest;  // of a shard that has made nothing
  Delta global_key{};
  ReferenceBits reference;

  SessionFile() = default;
  SessionFile(SessionFile&&) = default;
  SessionFile& operator=(SessionFile&&) = default;
  ~SessionFile() { wipe_object(global_key); }
};

// Synced, and there under its name only when it is whole. Fails: StoreError if there is such a file
// already.
void write_session_file(const std::filesystem::path& path, const SessionFile& session,
                        const std::optional<StoreKey>& store_key);

// Fails: StoreError if it is missing, open to others, corrupt, of a newer format, or sealed under
// another store key than the one that is given, which may be none.
SessionFile read_session_file(const std::filesystem::path& path,
                              const std::optional<StoreKey>& store_key);

// A session that has died: the file's secrets are overwritten, durably, and reading it says so.
void erase_session_file(const std::filesystem::path& path);

}  // namespace tinyot::storage
