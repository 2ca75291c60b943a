// Progress on stderr: a bar when it is a terminal, a line every few seconds otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tinyot {

class Progress {
 public:
  // `what` is what `total` items are made of ("ANDs"). A quiet one shows nothing.
  Progress(std::string what, std::uint64_t total, bool quiet);
  ~Progress();

  // The part of the work at hand covers items [first, first + count); phases of it follow with PhaseLog's observations.
  void begin_part(std::uint64_t first, std::uint64_t count);
  void observe(std::string_view phase, std::uint64_t done, std::uint64_t total);

 private:
  void show(std::string_view phase, double fraction);

  std::string what_;
  std::uint64_t total_, first_ = 0, count_ = 0;
  bool quiet_, terminal_;
  double before_ = 0;  // weight of the phases of this part that are over
  std::string phase_;
  std::chrono::steady_clock::time_point start_, last_shown_;
  bool shown_ = false;
};

}  // namespace tinyot
