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
                                    {"rows", 1},
                                    {"verify", 1},
                                    {"merge", 1}};

double weight_of(std::string_view phase) {
  for (const PhaseWeight& entry : kWeights)
    if (entry.name == phase) return entry.weight;
  return 0;
}

double share_of(const ProgressState& state) {
  return state.total > 0 ? std::min((state.before + state.made) / state.total, 1.0) : 0;
}

}  // namespace

std::string progress_text(const ProgressState& state, const std::string& what,
                          std::string_view phase) {
  constexpr double kRateTime_s = 0.1;  // what is made in less says nothing of the rest
  const std::string share = decimals(100 * share_of(state), 1) + " %, ",
                    of_phase = " (" + std::string(phase) + ")";
  const double made = state.made - state.made_at_start;
  if (state.made <= 0) return share + "preparing" + of_phase;
  if (made <= 0 || state.elapsed_s < kRateTime_s) return share + "in progress" + of_phase;
  const double left = std::max(state.total - state.before - state.made, 0.0);
  return share + grouped(static_cast<std::uint64_t>(made / state.elapsed_s)) + " " + what + "/s, " +
         seconds_text(state.elapsed_s * left / made) + " left" + of_phase;
}

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
  const bool is_first = parts_.empty();
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
  if (is_first) {  // not the wait for the peer, and not what was made while nothing was reported
    start_ = now;
    made_at_start_ = made();
  }
  if (now - last_shown_ <
      (terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kLineInterval)))
    return;
  last_shown_ = now;
  show(phase);
}

double Progress::made() const {
  double made = 0;
  for (const auto& [number, part] : parts_) made += part.fraction * static_cast<double>(part.items);
  return made;
}

ProgressState Progress::state_now() const {
  return {.total = static_cast<double>(total_),
          .before = static_cast<double>(skipped_),
          .made = made(),
          .made_at_start = made_at_start_,
          .elapsed_s = std::chrono::duration<double>(Clock::now() - start_).count()};
}

ProgressState Progress::state() {
  const std::lock_guard lock(mutex_);
  return state_now();
}

void Progress::show(std::string_view phase) {
  const ProgressState state = state_now();
  const std::string numbers = progress_text(state, what_, phase);
  if (terminal_) {
    const int full = static_cast<int>(share_of(state) * kBarWidth);
    std::cerr << "\r\033[K[" << std::string(static_cast<std::size_t>(full), '#')
              << std::string(static_cast<std::size_t>(kBarWidth - full), '.') << "] " << numbers
              << std::flush;
  } else {
    log_line(LogLevel::Info, numbers);
  }
  shown_ = true;
}

}  // namespace tinyot::tools
