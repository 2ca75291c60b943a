// Backups of shares: a file for each share and recipient, in a directory on another medium, sealed
// for a recipient whose private key is kept offline. Without them, a disk that is lost, or set back
// to an older state, loses keys. FORMAT.md has the bytes.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "crypto/sealed_box.h"
#include "custody/key_files.h"

namespace tinyot::custody {

struct BackupRecipient {
  std::string name;  // part of file names
  crypto::BoxPublicKey key{};
};

class Backups {
 public:
  // None are made.
  Backups() = default;
  // Fails: StoreError if the directory is not there. Its medium must stay mounted.
  Backups(std::filesystem::path directory, std::vector<BackupRecipient> recipients);

  bool are_made() const { return !recipients_.empty(); }
  // Durable on return. Fails: StoreError; then the operation that needs the backup fails, too.
  void write(const KeyFiles::Owner& owner, const KeyRecord& record, const Epoch& epoch,
             const Share& share) const;
  // Whether each recipient has a file of each share of this key; also if none are made.
  bool are_complete(const KeyFiles::Owner& owner, const KeyRecord& record) const;
  // The files, sorted by name; of all keys, or of one.
  std::vector<std::filesystem::path> files() const;
  std::vector<std::filesystem::path> files_of(const KeyId& id) const;

 private:
  void require_medium() const;
  std::filesystem::path file_of(const KeyFiles::Owner& owner, const KeyId& id, const Epoch& epoch,
                                const BackupRecipient& recipient) const;

  std::filesystem::path directory_;
  std::uint64_t device_ = 0;  // of the medium
  std::vector<BackupRecipient> recipients_;
};

// The content of the box in the file. Fails: UsageError if it is no backup, of a newer version,
// damaged, or not for this private key.
SecretVector<std::byte> open_backup(std::span<const std::byte> file,
                                    const crypto::BoxPrivateKey& key);
// Fails: UsageError for content that this version does not know.
BackedUpShare backup_from(const SecretVector<std::byte>& content);

}  // namespace tinyot::custody
