#include "tests/storage/faults/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tests/support/files.h"
#include "tests/support/layers.h"

namespace tinyot::faults {
namespace {

namespace fs = std::filesystem;

struct stat status_of(const fs::path& path) {
  struct stat found;
  if (::lstat(path.c_str(), &found) != 0) throw std::runtime_error("no file " + path.string());
  return found;
}

struct stat status_of(int file) {
  struct stat found;
  if (::fstat(file, &found) != 0) throw std::runtime_error("no open file");
  return found;
}

constexpr std::size_t kSector = 512;

// Cut at the end of the file.
void put_sector(std::string& file, std::size_t sector, const std::string& content) {
  const std::size_t at = sector * kSector;
  if (at >= file.size()) return;
  const std::size_t size = std::min(kSector, file.size() - at);
  file.replace(at, size, content, 0, size);
}

std::string bytes_of(int file, std::uint64_t at, std::size_t size) {
  // The file may be open for writing only.
  const int readable =
      ::open(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDONLY | O_CLOEXEC);
  std::string bytes(size, '\0');
  if (readable < 0 || ::pread(readable, bytes.data(), size, static_cast<off_t>(at)) < 0)
    throw std::runtime_error("a file cannot be read");
  ::close(readable);
  return bytes;
}

}  // namespace

Disk::Disk(fs::path root, std::function<void()> before_change)
    : root_(std::move(root)), before_change_(std::move(before_change)) {
  note_directories();
  for (auto& [directory, versions] : directories_) versions = {versions.back()};
  for (const auto& entry : fs::recursive_directory_iterator(root_)) {
    if (!entry.is_regular_file()) continue;
    files_[status_of(entry.path()).st_ino].synced = test::read_file(entry.path());
  }
}

void Disk::before_call() {
  note_directories();
  before_change_();
}

void Disk::written(int file, std::uint64_t at, std::size_t size) {
  const struct stat found = status_of(file);
  if (!S_ISREG(found.st_mode)) return;
  FileState& state = files_[found.st_ino];
  const bool is_synced = (::fcntl(file, F_GETFL) & O_DSYNC) != 0;
  for (std::size_t sector = at / kSector; sector * kSector < at + size; ++sector) {
    std::vector<std::string>& contents = state.written[sector];
    contents.push_back(bytes_of(file, sector * kSector, kSector));
    if (!is_synced) continue;
    if (state.synced.size() < at + size)
      state.synced.resize(static_cast<std::size_t>(found.st_size));
    put_sector(state.synced, sector, contents.back());
    state.written.erase(sector);
  }
  resized(file);
}

void Disk::resized(int file) {
  const struct stat found = status_of(file);
  files_[found.st_ino].sizes.push_back(static_cast<std::size_t>(found.st_size));
}

void Disk::synced(int file) {
  const struct stat found = status_of(file);
  if (S_ISDIR(found.st_mode)) {
    note_directories();
    std::vector<Names>& versions = directories_[found.st_ino];
    if (!versions.empty()) versions = {versions.back()};
    return;
  }
  FileState& state = files_[found.st_ino];
  state.synced.resize(static_cast<std::size_t>(found.st_size));
  for (const auto& [sector, contents] : state.written)
    put_sector(state.synced, sector, contents.back());
  state.written.clear();
  state.sizes.clear();
}

void Disk::note_directories() { note_directory(root_); }

void Disk::note_directory(const fs::path& directory) {
  Names names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names[entry.path().filename().string()] = status_of(entry.path()).st_ino;
    if (entry.is_directory()) note_directory(entry.path());
  }
  std::vector<Names>& versions = directories_[status_of(directory).st_ino];
  if (versions.empty()) versions.emplace_back();  // a new directory
  if (versions.back() != names) versions.push_back(std::move(names));
}

void Disk::after_power_cut(const fs::path& image, const Chance& chance) {
  note_directories();
  restore(status_of(root_).st_ino, image, chance);
}

void Disk::restore(ino_t directory, const fs::path& image, const Chance& chance) {
  fs::create_directory(image);
  fs::permissions(image, fs::perms::owner_all);
  const std::vector<Names>& versions = directories_.at(directory);
  const Names names = versions[chance(versions.size())];
  for (const auto& [name, file] : names) {
    if (directories_.contains(file)) {
      restore(file, image / name, chance);
      continue;
    }
    std::string content = content_of(files_[file], chance);
    const std::size_t size = content.size();
    content.resize(content.find_last_not_of('\0') + 1);
    test::write_private_file(image / name, content);
    fs::resize_file(image / name, size);
  }
}

std::string Disk::content_of(const FileState& file, const Chance& chance) {
  std::string content = file.synced;
  if (const std::size_t choice = chance(file.sizes.size() + 1); choice > 0)
    content.resize(file.sizes[choice - 1]);
  for (const auto& [sector, contents] : file.written) {
    const std::size_t choice = chance(contents.size() + 1);
    if (choice > 0) put_sector(content, sector, contents[choice - 1]);
  }
  return content;
}

}  // namespace tinyot::faults
