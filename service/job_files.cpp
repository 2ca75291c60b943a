#include "service/job_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/error.h"
#include "service/configuration.h"
#include "service/event_log.h"
#include "system/file.h"

namespace tinyot::service {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKeysFile = "job.keys", kJobsFolder = "jobs", kJobSuffix = ".job",
                           kUnfinishedSuffix = ".job.new";

// Of a job's two keys, by its number.
std::uint64_t slot_of(std::uint64_t number) { return 2 * number - 1; }
std::uint64_t inputs_slot_of(std::uint64_t number) { return 2 * number; }

// The table of one peer's jobs is not taken for that of another's.
SessionId owner_of(const std::string& peer) {
  SessionId owner;
  const crypto::SealKey hash =
      crypto::derive_key(std::as_bytes(std::span(peer)), {}, "TinyOT jobs with a peer");
  std::memcpy(owner.bytes.data(), hash.bytes.data(), owner.bytes.size());
  return owner;
}

storage::KeyTable open_table(const fs::path& path, const std::string& peer,
                             const std::optional<StoreKey>& store_key) {
  try {
    return storage::KeyTable(path, owner_of(peer), store_key);
  } catch (const StoreError& error) {
    throw StoreError("the keys of the jobs with " + peer + " cannot be used: " + error.what() +
                         "; if they are lost, so are these jobs: remove " + path.string(),
                     error.remedy());
  }
}

// Without one, or in place of one that has been erased as a whole.
fs::path made_table(const fs::path& path, const std::string& peer, const StoreKey& store_key) {
  std::error_code error;
  if (!fs::exists(path, error) || storage::KeyTable::protection_in(path) == KeyProtection::Erased)
    storage::KeyTable::create(path, owner_of(peer), store_key);
  return path;
}

fs::path made_folder(const fs::path& directory) {
  fs::path folder = directory / kJobsFolder;
  system::make_private_directory(folder);
  system::sync_directory(directory.parent_path());  // which the directory may be new in
  return folder;
}

// The id of a job, from the name of its file; empty if it is none.
std::string id_in(const std::string& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return {};
  std::string id = name.substr(0, name.size() - suffix.size());
  return is_name(id) ? id : std::string();
}

void unlink_file(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) system::fail_on_file("remove", path, errno);
}

}  // namespace

JobFiles::JobFiles(const fs::path& directory, const std::string& peer, const StoreKey& store_key)
    : peer_(peer), jobs_(made_folder(directory)),
      keys_(open_table(made_table(directory / kKeysFile, peer, store_key), peer, store_key)),
      errors_("job cannot be kept on the disk", peer) {}

void JobFiles::check(const fs::path& directory, const std::string& peer,
                     const std::optional<StoreKey>& store_key) {
  std::error_code error;
  if (fs::exists(directory / kKeysFile, error))
    (void)open_table(directory / kKeysFile, peer, store_key);
}

fs::path JobFiles::path_of(const std::string& id) const {
  return jobs_ / (id + std::string(kJobSuffix));
}

// Empty once its erasure has begun: a process may have ended in the middle of that.
std::optional<crypto::SealKey> JobFiles::inputs_key_of(std::uint64_t number,
                                                       const std::string& what) const {
  try {
    return keys_.key(inputs_slot_of(number), what);
  } catch (const StoreError&) {
    return std::nullopt;
  }
}

// False if the job has been forgotten.
bool JobFiles::read(Kept& kept) const {
  const SealedJob sealed(path_of(kept.id));
  if (sealed.number() == 0 || sealed.number() > keys_.slots_end() ||
      keys_.is_erased(slot_of(sealed.number())))
    return false;
  const std::string what = "the job " + kept.id;
  const crypto::SealKey key = keys_.key(slot_of(sealed.number()), what);
  SealedJob::Text text = sealed.open(key);
  const bool is_over = text.job.has_ended();
  if ((is_over ? text.job.ended().id() : text.job.submitted().id()) != kept.id)
    throw StoreError(path_of(kept.id).string() + " is the file of another job");
  if (is_over)
    kept.values = sealed.open_values(text.job, key);
  else if (const auto inputs_key = inputs_key_of(sealed.number(), what))
    kept.values = sealed.open_values(text.job, *inputs_key);
  else
    kept.has_begun = true;
  kept.number = sealed.number();
  kept.job = std::move(text.job);
  kept.circuit_file = std::move(text.circuit_file);
  return true;
}

std::vector<JobFiles::Kept> JobFiles::load() {
  std::vector<Kept> jobs;
  std::set<std::uint64_t> used;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(jobs_, error)) {
    const std::string name = file.path().filename().string();
    if (!id_in(name, kUnfinishedSuffix).empty()) {
      unlink_file(file.path());
      continue;
    }
    Kept job;
    job.id = id_in(name, kJobSuffix);
    if (job.id.empty()) {
      log_event(LogLevel::Warning, "file is not that of a job",
                {{"peer", peer_}, {"file", file.path().string()}});
      continue;
    }
    try {
      if (!read(job)) {
        log_event(LogLevel::Info, "file of a job without its key removed",
                  {{"peer", peer_}, {"file", file.path().string()}});
        unlink_file(file.path());
        continue;
      }
      used.insert(job.number);
    } catch (const StoreError& damage) {
      log_event(LogLevel::Error, "job lost",
                {{"peer", peer_}, {"job", job.id}, {"error", damage.what()}});
      job.damage = damage.what();
    }
    jobs.push_back(std::move(job));
  }
  if (error) throw StoreError("cannot read " + jobs_.string() + ": " + error.message());
  // A number that a job has stays its own.
  std::vector<std::uint64_t> erased;
  numbers_ = keys_.slots_end() / 2;
  for (std::uint64_t number = numbers_; number > 0; --number) {
    if (used.contains(number)) continue;
    free_.push_back(number);
    for (const std::uint64_t slot : {slot_of(number), inputs_slot_of(number)})
      if (!keys_.is_erased(slot)) erased.push_back(slot);
  }
  keys_.erase(erased);
  // The file of a job that is lost is replaced by one that says so.
  for (Kept& job : jobs)
    if (!job.damage.empty())
      errors_.run([&] {
        crypto::SealKey key, inputs_key;
        job.number = take_number();
        make_keys(job.number, key, inputs_key);
      });
  return jobs;
}

std::uint64_t JobFiles::take_number() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return ++numbers_;
  const std::uint64_t number = free_.back();
  free_.pop_back();
  return number;
}

void JobFiles::release_number(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  free_.push_back(number);
}

void JobFiles::make_keys(std::uint64_t number, crypto::SealKey& key, crypto::SealKey& inputs_key) {
  {
    const std::lock_guard lock(mutex_);
    key = keys_.fresh_key();
    inputs_key = keys_.fresh_key();
    keys_.fill(slot_of(number), std::array{key, inputs_key});
  }
  keys_.sync();
}

std::uint64_t JobFiles::add(const record::Job& job, std::string_view circuit_file,
                            const Values& inputs) {
  const std::string& id = job.submitted().id();
  const std::uint64_t number = take_number();
  try {
    crypto::SealKey key, inputs_key;
    make_keys(number, key, inputs_key);
    system::replace_file(path_of(id), seal_job(number, job, circuit_file, inputs, key, inputs_key));
  } catch (...) {
    remove(std::array{Place{id, number}});
    throw;
  }
  return number;
}

void JobFiles::begin(std::uint64_t number) { keys_.erase(std::array{inputs_slot_of(number)}); }

bool JobFiles::end(std::uint64_t number, const std::string& id, const record::Job& job,
                   const Values& outputs) {
  // First, so that a job that has ended is not begun if it cannot be written that it has.
  errors_.run([&] {
    if (!keys_.is_erased(inputs_slot_of(number))) begin(number);
  });
  return errors_.run([&] {
    const crypto::SealKey key = keys_.key(slot_of(number), "the job " + id);
    system::replace_file(path_of(id), seal_job(number, job, {}, outputs, key, key));
  });
}

// Only once the file has gone for good, the keys' places are used again.
void JobFiles::remove(std::span<const Place> jobs) {
  errors_.run([&] {
    std::vector<std::uint64_t> slots;
    for (const Place& job : jobs)
      slots.insert(slots.end(), {slot_of(job.number), inputs_slot_of(job.number)});
    keys_.erase(slots);
    for (const Place& job : jobs) unlink_file(path_of(job.id));
    system::sync_directory(jobs_);
    for (const Place& job : jobs) release_number(job.number);
  });
}

}  // namespace tinyot::service
