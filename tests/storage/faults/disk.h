// What a disk keeps when its power is cut: of every file and directory what was synced, and of the
// rest what chance has it.
//
// A file is kept in sectors of 512 bytes. One that was written since the file's last sync has its
// old content, or any that it has had since. What is written through O_DSYNC is synced. Of the
// changes to a directory since its last sync the first ones are kept, in the order in which they
// were made.
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
  // What is below `root` now is synced. `moment` is called before every change, and may cut the
  // power.
  Disk(std::filesystem::path root, std::function<void()> moment);

  // Which of so many states survives, from the synced one, 0, to the newest.
  using Chance = std::function<std::size_t(std::size_t states)>;

  // Makes what would be found below `root` afterwards.
  void after_power_cut(const std::filesystem::path& image, const Chance& chance);

  void before_call() override;
  void written(int file, std::uint64_t at, std::size_t size) override;
  void resized(int file) override;
  void synced(int file) override;

 private:
  struct KeptFile {
    std::string synced;
    std::map<std::size_t, std::vector<std::string>> written;  // contents of each sector since
    std::vector<std::size_t> sizes;                           // likewise
  };
  using Names = std::map<std::string, ino_t>;

  void look();  // for changes to directories
  void look_at(const std::filesystem::path& directory);
  void restore(ino_t directory, const std::filesystem::path& image, const Chance& chance);
  static std::string content_of(const KeptFile& file, const Chance& chance);

  std::filesystem::path root_;
  std::function<void()> moment_;
  std::map<ino_t, KeptFile> files_;
  std::map<ino_t, std::vector<Names>> directories_;  // the first one synced
};

}  // namespace tinyot::faults
