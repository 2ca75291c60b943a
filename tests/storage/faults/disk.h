// Model of a disk at a power failure: of every file and directory, what was synced survives, and of
// the rest a selection.
//
// A file consists of sectors of 512 bytes. A sector that was written since the file's last sync has
// its old content or any later one. Writes through O_DSYNC are synced. Of the changes to a
// directory since its last sync, a prefix of any length survives.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/storage/faults/interposed.h"
#include "tests/support/layers.h"

namespace tinyot::faults {

class Disk final : public Observer {
 public:
  // The current contents of `root` count as synced. `before_change` is called before every change,
  // and may simulate a power failure.
  Disk(std::filesystem::path root, std::function<void()> before_change);

  // Chooses the state that survives: 0 is the synced one, states - 1 the newest.
  using Chance = std::function<std::size_t(std::size_t states)>;

  // Writes to `image` the contents that `root` would have after a power failure.
  void after_power_cut(const std::filesystem::path& image, const Chance& chance);

  void before_call() override;
  void written(int file, std::uint64_t at, std::size_t size) override;
  void resized(int file) override;
  void synced(int file) override;

 private:
  struct FileState {
    std::string synced;
    std::map<std::size_t, std::vector<std::string>> written;  // contents of each sector since
    std::vector<std::size_t> sizes;                           // since then
  };
  using Names = std::map<std::string, ino_t>;

  void note_directories();  // adds a version of each changed directory
  void note_directory(const std::filesystem::path& directory);
  void restore(ino_t directory, const std::filesystem::path& image, const Chance& chance);
  static std::string content_of(const FileState& file, const Chance& chance);

  std::filesystem::path root_;
  std::function<void()> before_change_;
  std::map<ino_t, FileState> files_;
  std::map<ino_t, std::vector<Names>> directories_;  // the first version is the synced one
};

}  // namespace tinyot::faults
