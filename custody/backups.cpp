#include "custody/backups.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "custody/coded.h"
#include "system/file.h"

namespace tinyot::custody {
namespace {

constexpr char kMagic[8] = {'T', 'I', 'N', 'Y', 'O', 'T', 'K', 'B'};
constexpr std::uint32_t kVersion = 1;
constexpr std::string_view kSuffix = ".backup";

// Before the sealed box in a file.
struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t zero;
};
static_assert(sizeof(FileHeader) == 16 && std::is_trivially_copyable_v<FileHeader>);

std::uint64_t device_of(const std::filesystem::path& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    throw StoreError("the directory of backups, " + directory.string() +
                     ", is not there: mount it, or make it");
  return status.st_dev;
}

// In the box: the length of a coded::Backup, the message, the share.
SecretVector<std::byte> box_content(const coded::Backup& about, const Share& share) {
  const std::vector<std::byte> message = serialised(about);
  const auto length = static_cast<std::uint32_t>(message.size());
  SecretVector<std::byte> content(sizeof length + message.size() + share.size());
  std::memcpy(content.data(), &length, sizeof length);
  std::ranges::copy(message, content.begin() + sizeof length);
  std::ranges::copy(share, content.end() - static_cast<std::ptrdiff_t>(share.size()));
  return content;
}

[[noreturn]] void refuse(const std::string& why) { throw UsageError("the backup " + why); }

}  // namespace

Backups::Backups(std::filesystem::path directory, std::vector<BackupRecipient> recipients)
    : directory_(std::move(directory)), recipients_(std::move(recipients)) {
  if (recipients_.empty()) return;
  device_ = device_of(directory_);
}

// An empty mount point is a directory, too.
void Backups::require_medium() const {
  if (device_of(directory_) != device_)
    throw StoreError("the medium of the backups in " + directory_.string() +
                     " is not the one of before: mount it again");
}

void Backups::write(const KeyFiles::Owner& owner, const KeyRecord& record, const Epoch& epoch,
                    const Share& share) const {
  if (!are_made()) return;
  require_medium();
  coded::Backup about;
  put_attributes(record.attributes, *about.mutable_attributes());
  about.set_party(static_cast<std::uint32_t>(owner.party));
  about.set_peer(owner.peer);
  put_bytes(record.check, *about.mutable_check());
  put_epoch(epoch, *about.mutable_epoch());
  put_bytes(record.request, *about.mutable_request());
  about.set_state(static_cast<std::uint32_t>(record.state));
  about.set_use_bound(record.use_bound);
  const SecretVector<std::byte> content = box_content(about, share);
  for (const BackupRecipient& recipient : recipients_) {
    const std::vector<std::byte> box = crypto::seal_box(recipient.key, content);
    FileHeader header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.version = kVersion;
    std::vector<std::byte> bytes(sizeof header + box.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    std::ranges::copy(box, bytes.begin() + sizeof header);
    system::replace_file(file_of(owner, record.attributes.id, epoch, recipient), bytes);
  }
}

std::filesystem::path Backups::file_of(const KeyFiles::Owner& owner, const KeyId& id,
                                       const Epoch& epoch, const BackupRecipient& recipient) const {
  return directory_ / (text_of(id) + "." + text_of(epoch) + "." + owner.peer + "." +
                       recipient.name + std::string(kSuffix));
}

bool Backups::are_complete(const KeyFiles::Owner& owner, const KeyRecord& record) const {
  const auto is_there = [&](const HeldEpoch& held, const BackupRecipient& recipient) {
    std::error_code unreadable;
    return std::filesystem::exists(file_of(owner, record.attributes.id, held.epoch, recipient),
                                   unreadable);
  };
  return std::ranges::all_of(record.held, [&](const HeldEpoch& held) {
    return std::ranges::all_of(recipients_,
                               [&](const auto& recipient) { return is_there(held, recipient); });
  });
}

std::vector<std::filesystem::path> Backups::files() const {
  std::vector<std::filesystem::path> files;
  if (!are_made()) return files;
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    if (entry.path().extension() == kSuffix) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::vector<std::filesystem::path> Backups::files_of(const KeyId& id) const {
  std::vector<std::filesystem::path> all = files();
  std::erase_if(all, [&](const std::filesystem::path& file) {
    return !file.filename().string().starts_with(text_of(id) + ".");
  });
  return all;
}

SecretVector<std::byte> open_backup(std::span<const std::byte> file,
                                    const crypto::BoxPrivateKey& key) {
  FileHeader header;
  if (file.size() < sizeof header || std::memcmp(file.data(), kMagic, sizeof kMagic) != 0)
    refuse("is not a backup of a key");
  std::memcpy(&header, file.data(), sizeof header);
  if (header.version != kVersion || header.zero != 0) refuse("was made by another version");
  auto content = crypto::open_box(key, file.subspan(sizeof header));
  if (!content) refuse("is not for this private key, or is damaged");
  return std::move(*content);
}

BackedUpShare backup_from(const SecretVector<std::byte>& content) {
  std::uint32_t length = 0;
  if (content.size() < sizeof length) refuse("is too short");
  std::memcpy(&length, content.data(), sizeof length);
  if (length > content.size() - sizeof length) refuse("is too short");
  coded::Backup about;
  BackedUpShare opened;
  if (!about.ParseFromArray(content.data() + sizeof length, static_cast<int>(length)) ||
      !take_attributes(about.attributes(), opened.record.attributes) ||
      !take_number(about.party(), Party::A, Party::B, opened.party) ||
      !take_bytes(about.check(), opened.record.check) || !take_epoch(about.epoch(), opened.epoch) ||
      !take_number(about.state(), KeyState::Pending, KeyState::Restored, opened.record.state) ||
      !take_bytes(about.request(), opened.record.request))
    refuse("says something of its key that this version does not know");
  opened.peer = about.peer();
  opened.record.use_bound = std::min(about.use_bound(), kUseBoundMax);
  opened.share.assign(content.begin() + static_cast<std::ptrdiff_t>(sizeof length + length),
                      content.end());
  if (opened.share.size() != key_bytes_of(opened.record.attributes.algorithm))
    refuse("has a share of another length than its key");
  return opened;
}

}  // namespace tinyot::custody
