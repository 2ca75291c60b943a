// Progress on stderr: a bar when it is a terminal, a line every few seconds otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace tinyot::tools {

struct ProgressState {
  double total = 0, before = 0;                       // items; `before` were made earlier
  double made = 0, made_at_start = 0, elapsed_s = 0;  // the clock starts with the first report
};
// What a display says. Without a rate and the time that is left as long as nothing has been made
// since the clock started, such as before the first gates.
std::string progress_text(const ProgressState& state, const std::string& what,
                          std::string_view phase);

// The work consists of parts, several of which may be in progress on different threads. begin() is
// called before the first of them, unless the total is known.
class Progress {
 public:
  // `what` names the items ("ANDs"). With `quiet`, nothing is shown.
  Progress(std::string what, bool quiet, std::uint64_t total = 0);
  ~Progress();

  // `before` of the items were made earlier.
  void begin(std::uint64_t total, std::uint64_t before) { total_ = total, skipped_ = before; }

  // From any thread: part `number`, of `items` items, is in this phase, and has done `done` of the
  // phase's `total`.
  void observe(std::size_t number, std::uint64_t items, std::string_view phase, std::uint64_t done,
               std::uint64_t total);
  // The same for work that has one part and one phase; may be called often.
  void observe(std::string_view phase, std::uint64_t done, std::uint64_t total);
  ProgressState state();
  // Ends the display.
  void end();

 private:
  struct Part {
    std::string phase;
    double before = 0;    // weight of the completed phases of this part
    double fraction = 0;  // of the whole part
    std::uint64_t items = 0;
  };
  double made() const;
  ProgressState state_now() const;
  void show(std::string_view phase);

  std::mutex mutex_;
  std::string what_;
  std::uint64_t total_, skipped_ = 0;
  bool quiet_, terminal_;
  std::map<std::size_t, Part> parts_;
  std::chrono::steady_clock::time_point start_, last_shown_, last_observed_;
  double made_at_start_ = 0;
  bool shown_ = false;
};

}  // namespace tinyot::tools
