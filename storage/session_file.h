// What the shards of one session have in common, in a file that shard 1 makes and all other shards
// start from: the session id, this party's global key, the security parameters, and the reference
// bits of the Delta-consistency check (doc/protocol.md, section 5.5). FORMAT.md has the bytes.
// Secret: global key and reference bits. Sealed under the user's store key if there is one,
// otherwise protected by the file's permissions.
#pragma once

#include <filesystem>
#include <optional>

#include "material/material.h"
#include "storage/key_table.h"
#include "storage/manifest.h"

namespace tinyot::storage {

struct SessionFile {
  Manifest manifest;  // of a shard without units
  Delta global_key{};
  material::ReferenceBits reference;

  SessionFile() = default;
  SessionFile(SessionFile&&) = default;
  SessionFile& operator=(SessionFile&&) = default;
  ~SessionFile() { wipe_object(global_key); }
};

// Durable on return; the file gets its name only when it is complete. Fails: StoreError if the file
// exists.
void write_session_file(const std::filesystem::path& path, const SessionFile& session,
                        const std::optional<StoreKey>& store_key);

// Fails: StoreError if it is missing, open to other users, corrupt, of another format or erased, or
// if the store key is wrong, missing or superfluous.
SessionFile read_session_file(const std::filesystem::path& path,
                              const std::optional<StoreKey>& store_key);

// For a revoked session: overwrites the file's secrets, durably. Reading it then fails with that
// reason.
void erase_session_file(const std::filesystem::path& path);

}  // namespace tinyot::storage
