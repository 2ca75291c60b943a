#include "tools/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "system/memory_use.h"
#include "tools/cli/log.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTerminalInterval = std::chrono::milliseconds(200);
constexpr auto kLineInterval = std::chrono::seconds(5);
constexpr int kBarWidth = 30;

// The share of a unit's time that each phase takes, as measured; phases that are not listed take
// none.
struct PhaseWeight {
  std::string_view name;
  double weight;
};
constexpr PhaseWeight kWeights[] = {{"aBits: columns", 0.52},
                                    {"aBits: check", 0.14},
                                    {"aBits: amplification", 0.13},
                                    {"leaky objects", 0.06},
                                    {"buckets", 0.07},
                                    {"fold and store", 0.08},
                                    {"leaky triples", 0.75},
                                    {"layers", 0.17},
                                    {"session", 1},
                                    {"gates", 1},
                                    {"verify", 1},
                                    {"merge", 1}};

double weight_of(std::string_view phase) {
  for (const PhaseWeight& entry : kWeights)
    if (entry.name == phase) return entry.weight;
  return 0;
}

}  // namespace

Progress::Progress(std::string what, bool quiet, std::uint64_t total)
    : what_(std::move(what)), total_(total), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()), last_shown_(start_) {}

Progress::~Progress() { end(); }

void Progress::end() {
  if (std::exchange(shown_, false) && terminal_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::observe(std::string_view phase, std::uint64_t done, std::uint64_t total) {
  const auto now = Clock::now();
  if (now - last_observed_ < kTerminalInterval / 2) return;
  last_observed_ = now;
  total_ = total;
  observe(0, total, phase, std::min(done, total), total);
}

void Progress::observe(std::size_t number, std::uint64_t items, std::string_view phase,
                       std::uint64_t done, std::uint64_t total) {
  system::note_memory_use();
  if (quiet_) return;
  const std::lock_guard lock(mutex_);
  if (parts_.empty()) start_ = Clock::now();  // not the wait for the peer
  Part& part = parts_[number];
  part.items = items;
  if (phase != part.phase) {
    part.before += weight_of(part.phase);
    part.phase = phase;
  }
  part.fraction =
      part.before +
      weight_of(phase) * (total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total));
  const auto now = Clock::now();
  if (now - last_shown_ <
      (terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kLineInterval)))
    return;
  last_shown_ = now;
  show(phase);
}

void Progress::show(std::string_view phase) {
  double made = 0;
  for (const auto& [number, part] : parts_) made += part.fraction * static_cast<double>(part.items);
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count(),
               to_make = static_cast<double>(total_ - skipped_);
  const std::string numbers =
      decimals(100 * (static_cast<double>(skipped_) + made) / static_cast<double>(total_), 1) +
      " %, " + grouped(static_cast<std::uint64_t>(made / elapsed)) + " " + what_ + "/s, " +
      (made > 0 ? seconds_text(elapsed * (to_make - made) / made) : "unknown time") + " left (" +
      std::string(phase) + ")";
  if (terminal_) {
    const int full = static_cast<int>((static_cast<double>(skipped_) + made) /
                                      static_cast<double>(total_) * kBarWidth);
    std::cerr << "\r\033[K[" << std::string(static_cast<std::size_t>(full), '#')
              << std::string(static_cast<std::size_t>(kBarWidth - full), '.') << "] " << numbers
              << std::flush;
  } else {
    log_line(LogLevel::Info, numbers);
  }
  shown_ = true;
}

}  // namespace tinyot::tools
