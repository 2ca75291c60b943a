#include "engine/memory.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "engine/estimate.h"

namespace tinyot::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// In version 1 of control groups, the limit of an unlimited group is slightly less than 2^63.
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 62;

// The number in a file; kNoLimit if there is no such file, or if it says "max".
std::uint64_t number_in(const fs::path& path) {
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

// The process's groups, as paths in their hierarchies; empty if it is in none.
struct ControlGroups {
  fs::path version1;  // in the hierarchy of version 1 that has the memory controller
  fs::path version2;
};

bool has_memory(const std::string& list) {
  return ("," + list + ",").find(",memory,") != std::string::npos;
}

// A line is hierarchy:controllers:path, and that of version 2 has no controllers.
ControlGroups control_groups_of(std::istream& lines) {
  ControlGroups groups;
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':'),
               second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) groups.version2 = line.substr(second + 1);
    if (has_memory(controllers)) groups.version1 = line.substr(second + 1);
  }
  return groups;
}

// In mountinfo, spaces and backslashes are octal numbers, such as \040.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char* const digits = text.data() + at + 1;
    unsigned char code = 0;
    if (text[at] == '\\' && at + 3 < text.size() &&
        std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      plain += static_cast<char>(code);
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

// A line of /proc/PID/mountinfo, as far as it is of interest.
struct Mount {
  std::string root, point, type, options;
};

// A line is: id parent device root point options, optional fields, -, type source options.
Mount mount_in(const std::string& line) {
  Mount mount;
  std::string skipped;
  std::istringstream fields(line);
  fields >> skipped >> skipped >> skipped >> mount.root >> mount.point;
  while (fields >> skipped && skipped != "-") continue;
  fields >> mount.type >> skipped >> mount.options;
  return {unescaped(mount.root), unescaped(mount.point), mount.type, mount.options};
}

// The memory that the limits of `group` and of its ancestors leave, as far as `mount` shows them.
std::uint64_t free_in_mount(const fs::path& mount, const fs::path& group, const char* limit_name,
                            const char* used_name) {
  std::uint64_t free = kNoLimit;
  for (fs::path shown = group;; shown = shown.parent_path()) {
    const std::uint64_t limit = number_in(mount / shown / limit_name),
                        used = number_in(mount / shown / used_name);
    if (limit < kUnlimited && used != kNoLimit)
      free = std::min(free, limit - std::min(limit, used));
    if (shown.empty()) return free;
  }
}

// One full unit for each worker needs as much memory as the whole job.
std::uint64_t needed_by(const PreprocessRequest& job) {
  const offline::SecurityParameters params = offline::SecurityParameters::make(job.parameters);
  const std::uint64_t ands = std::min(job.ands, params.unit() * job.threads);
  return estimate_job(params, ands, inputs_of_unit(inputs_of(job), job.ands, 0, ands), job.threads)
      .memory_bytes;
}

// The job with the largest unit, a power of two below its own, that fits; with one thread if
// necessary.
std::optional<PreprocessRequest> fitting(PreprocessRequest job, std::uint64_t bytes) {
  job.parameters.bucket.reset();  // another unit needs another bucket
  for (const std::uint64_t threads : {job.threads, std::uint64_t{1}}) {
    job.threads = threads;
    for (std::uint64_t unit = std::bit_floor(
             std::min(offline::SecurityParameters::make(job.parameters).unit(), job.ands));
         unit >= 1024; unit /= 2) {
      job.parameters.unit = unit;
      if (needed_by(job) <= bytes) return job;
    }
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t free_in_control_groups(const fs::path& root) {
  std::ifstream lines(root / "proc/self/cgroup"), mounts(root / "proc/self/mountinfo");
  const ControlGroups groups = control_groups_of(lines);
  std::uint64_t free = kNoLimit;
  for (std::string line; std::getline(mounts, line);) {
    const Mount mount = mount_in(line);
    const bool is_version2 = mount.type == "cgroup2";
    if (!is_version2 && !(mount.type == "cgroup" && has_memory(mount.options))) continue;
    // A container has only a part of the hierarchy mounted, and maybe parts that do not contain the
    // process's group.
    const fs::path group =
        (is_version2 ? groups.version2 : groups.version1).lexically_relative(mount.root);
    if (group.empty() || *group.begin() == "..") continue;
    const fs::path point = root / fs::path(mount.point).relative_path();
    free = std::min(free, is_version2 ? free_in_mount(point, group, "memory.max", "memory.current")
                                      : free_in_mount(point, group, "memory.limit_in_bytes",
                                                      "memory.usage_in_bytes"));
  }
  return free;
}

std::uint64_t available_memory_bytes() {
  return std::min(free_in_machine(), free_in_control_groups("/"));
}

void use_memory_once(std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4096;
  const std::unique_ptr<std::byte[]> memory(new std::byte[bytes]);
  for (std::uint64_t at = 0; at < bytes; at += kPage) memory[at] = std::byte{1};
}

std::uint64_t unit_bytes_max(const offline::SecurityParameters& params, std::uint64_t workers,
                             std::uint64_t memory_bytes) {
  const std::uint64_t ands = params.unit() * workers,
                      planned =
                          estimate_job(params, ands, default_inputs(ands), workers).memory_bytes;
  return params.unit_bytes({params.unit(), params.bucket()}) +
         (memory_bytes - std::min(memory_bytes, planned)) / workers;
}

std::optional<MemoryShortage> memory_shortage(const PreprocessRequest& request,
                                              std::uint64_t parties,
                                              std::uint64_t available_bytes) {
  const std::uint64_t needed = needed_by(request);
  if (needed <= available_bytes / parties) return std::nullopt;
  MemoryShortage shortage{
      needed, offline::SecurityParameters::make(request.parameters).unit(), request.threads, {}};
  if (const auto fit = fitting(request, available_bytes / parties))
    shortage.fits = {*fit->parameters.unit, fit->threads};
  return shortage;
}

}  // namespace tinyot::engine
