#include "tools/progress.h"

#include <unistd.h>

#include <iostream>

#include "tools/report.h"

namespace tinyot {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTerminalInterval = std::chrono::milliseconds(200);
constexpr auto kLineInterval = std::chrono::seconds(5);
constexpr int kBarWidth = 30;

// The share of a unit's time that each phase takes, as measured; phases that are not listed take none.
struct PhaseWeight {
  std::string_view name;
  double weight;
};
constexpr PhaseWeight kWeights[] = {{"aBits: columns", 0.52}, {"aBits: check", 0.14}, {"aBits: amplification", 0.13}, {"leaky ANDs", 0.02},
                                    {"leaky OTs", 0.04},      {"buckets", 0.13},      {"store", 0.02}};

double weight_of(std::string_view phase) {
  for (const PhaseWeight& entry : kWeights)
    if (entry.name == phase) return entry.weight;
  return 0;
}

}  // namespace

Progress::Progress(std::string what, std::uint64_t total, bool quiet)
    : what_(std::move(what)), total_(total), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()), last_shown_(start_) {}

Progress::~Progress() {
  if (shown_ && terminal_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::begin_part(std::uint64_t first, std::uint64_t count) {
  first_ = first;
  count_ = count;
  before_ = 0;
  phase_.clear();
}

void Progress::observe(std::string_view phase, std::uint64_t done, std::uint64_t total) {
  if (quiet_) return;
  if (phase != phase_) {
    before_ += weight_of(phase_);
    phase_ = phase;
  }
  const auto now = Clock::now();
  if (now - last_shown_ < (terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kLineInterval))) return;
  last_shown_ = now;
  const double in_part = before_ + weight_of(phase) * (total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total));
  show(phase, (static_cast<double>(first_) + in_part * static_cast<double>(count_)) / static_cast<double>(total_));
}

void Progress::show(std::string_view phase, double fraction) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto rate = static_cast<std::uint64_t>(fraction * static_cast<double>(total_) / elapsed);
  const std::string numbers = decimals(100 * fraction, 1) + " %, " + grouped(rate) + " " + what_ + "/s, " +
                              (fraction > 0 ? seconds_text(elapsed * (1 - fraction) / fraction) : "unknown time") + " left (" + std::string(phase) + ")";
  if (terminal_) {
    const int full = static_cast<int>(fraction * kBarWidth);
    std::cerr << "\r\033[K[" << std::string(static_cast<std::size_t>(full), '#') << std::string(static_cast<std::size_t>(kBarWidth - full), '.') << "] "
              << numbers << std::flush;
  } else {
    std::cerr << numbers << std::endl;
  }
  shown_ = true;
}

}  // namespace tinyot
