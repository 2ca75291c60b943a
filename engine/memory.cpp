#include "engine/memory.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "engine/estimate.h"

namespace tinyot::engine {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// In version 1 of control groups, the limit of an unlimited group is slightly less than 2^63.
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 62;

// The number in a file; kNoLimit if there is no such file, or if it says "max".
std::uint64_t number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : kNoLimit;
}

std::uint64_t free_in_machine() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:"))
      return std::stoull(line.substr(line.find(':') + 1)) * 1024;
  return kNoLimit;
}

// The memory that the limits of the group `path` below `mount` and of its ancestors leave.
std::uint64_t free_in_hierarchy(const std::filesystem::path& mount,
                                const std::filesystem::path& path, const char* limit_name,
                                const char* used_name) {
  std::uint64_t free = kNoLimit;
  // A path with .. belongs to a group outside the mount, which shows only the limits of its own
  // root.
  const bool is_inside = std::find(path.begin(), path.end(), "..") == path.end();
  std::filesystem::path group = is_inside ? path.relative_path() : std::filesystem::path();
  for (;; group = group.parent_path()) {
    const std::uint64_t limit = number_in(mount / group / limit_name),
                        used = number_in(mount / group / used_name);
    if (limit < kUnlimited && used != kNoLimit)
      free = std::min(free, limit - std::min(limit, used));
    if (group.empty()) return free;
  }
}

// One full unit for each worker needs as much memory as the whole job.
std::uint64_t needed_by(const PreprocessRequest& job) {
  const SecurityParameters params = SecurityParameters::make(job.parameters);
  const std::uint64_t ands = std::min(job.ands, params.unit() * job.threads);
  return estimate_job(params, ands, inputs_of_unit(job.inputs, job.ands, 0, ands), job.threads)
      .memory_bytes;
}

// The job with the largest unit, a power of two below its own, that fits; with one thread if
// necessary.
std::optional<PreprocessRequest> fitting(PreprocessRequest job, std::uint64_t bytes) {
  job.parameters.bucket.reset();  // another unit needs another bucket
  for (const std::uint64_t threads : {job.threads, std::uint64_t{1}}) {
    job.threads = threads;
    for (std::uint64_t unit =
             std::bit_floor(std::min(SecurityParameters::make(job.parameters).unit(), job.ands));
         unit >= 1024; unit /= 2) {
      job.parameters.unit = unit;
      if (needed_by(job) <= bytes) return job;
    }
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t free_in_control_groups(const std::string& groups, const std::filesystem::path& root) {
  std::uint64_t free = kNoLimit;
  std::istringstream lines(groups);
  // hierarchy:controllers:path
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':'),
               second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",",
                      path = line.substr(second + 1);
    if (controllers == ",,") {  // version 2, mounted beside version 1 if both are in use
      for (const std::filesystem::path& mount : {root, root / "unified"})
        free = std::min(free, free_in_hierarchy(mount, path, "memory.max", "memory.current"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      free = std::min(free, free_in_hierarchy(root / "memory", path, "memory.limit_in_bytes",
                                              "memory.usage_in_bytes"));
    }
  }
  return free;
}

std::uint64_t available_memory_bytes() {
  std::ifstream file("/proc/self/cgroup");
  const std::string groups{std::istreambuf_iterator<char>(file), {}};
  return std::min(free_in_machine(), free_in_control_groups(groups, "/sys/fs/cgroup"));
}

void use_memory_once(std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4096;
  const std::unique_ptr<std::byte[]> memory(new std::byte[bytes]);
  for (std::uint64_t at = 0; at < bytes; at += kPage) memory[at] = std::byte{1};
}

std::optional<MemoryShortage> memory_shortage(const PreprocessRequest& request,
                                              std::uint64_t parties,
                                              std::uint64_t available_bytes) {
  const std::uint64_t needed = needed_by(request);
  if (needed <= available_bytes / parties) return std::nullopt;
  MemoryShortage shortage{
      needed, SecurityParameters::make(request.parameters).unit(), request.threads, {}};
  if (const auto fit = fitting(request, available_bytes / parties))
    shortage.fits = {*fit->parameters.unit, fit->threads};
  return shortage;
}

}  // namespace tinyot::engine
