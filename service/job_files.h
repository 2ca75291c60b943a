// The jobs with one peer on the disk, so that the end of the daemon does not lose them: a file for
// each, in the folder `jobs` of the peer's directory, and beside it the table of their keys,
// `job.keys`, which is overwritten in place. storage/FORMAT.md has the bytes.
//
// A job has two keys. The one of its inputs is erased before the job begins: a job without it, and
// without outputs, has begun in a process that has ended, and no later one can begin it again. The
// other one seals all the rest, and is erased when the job is forgotten.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job_record.pb.h"
#include "service/error_log.h"
#include "service/job_file.h"
#include "storage/key_table.h"
#include "tinyot/store_key.h"

namespace tinyot::service {

// Thread-safe, but for several calls on one job.
class JobFiles {
 public:
  // `directory`: the peer's, which exists. Makes what is missing in it. Fails: StoreError.
  JobFiles(const std::filesystem::path& directory, const std::string& peer,
           const StoreKey& store_key);
  // Reads the keys, if there are any, and changes nothing. Fails: StoreError.
  static void check(const std::filesystem::path& directory, const std::string& peer,
                    const std::optional<StoreKey>& store_key);

  // A job of an earlier process.
  struct Kept {
    std::string id;
    std::uint64_t number = 0;  // of its keys
    record::Job job;
    std::string circuit_file;
    Values values;           // the inputs, or the outputs of a job that has ended
    bool has_begun = false;  // and not ended: there are no values
    std::string damage;      // why only its id is known; empty if the rest is too
  };
  // To be called once, before the rest. Removes files and keys without their counterpart.
  std::vector<Kept> load();

  // Each is durable on return. Fails: StoreError; then nothing of the job is left. Returns the
  // number of its keys.
  std::uint64_t add(const record::Job& job, std::string_view circuit_file, const Values& inputs);
  // Fails: StoreError; then the job must not begin.
  void begin(std::uint64_t number);
  // What fails here and below is logged. Returns whether the end of the job is on the disk; as long
  // as it is not, a later process takes the job for one that was in the middle. May be repeated.
  bool end(std::uint64_t number, const std::string& id, const record::Job& job,
           const Values& outputs);
  struct Place {
    std::string id;
    std::uint64_t number;
  };
  void remove(std::span<const Place> jobs);

 private:
  std::filesystem::path path_of(const std::string& id) const;
  std::optional<crypto::SealKey> inputs_key_of(std::uint64_t number, const std::string& what) const;
  bool read(Kept& job) const;
  std::uint64_t take_number();
  void release_number(std::uint64_t number);
  void make_keys(std::uint64_t number, crypto::SealKey& key, crypto::SealKey& inputs_key);

  const std::string peer_;
  const std::filesystem::path jobs_;
  storage::KeyTable keys_;
  std::mutex mutex_;  // of the table's random numbers, and of these
  std::uint64_t numbers_ = 0;
  std::vector<std::uint64_t> free_;
  ErrorLog errors_;
};

}  // namespace tinyot::service
