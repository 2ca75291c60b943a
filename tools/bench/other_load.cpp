#include "tools/bench/other_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <utility>

namespace tinyot::tools {
namespace {

double seconds_of(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

std::optional<OtherLoad::Times> OtherLoad::now() {
  // user, nice, system, idle, iowait, irq, softirq, in ticks: proc(5).
  std::ifstream stat("/proc/stat");
  std::string name;
  std::array<double, 7> ticks{};
  stat >> name;
  for (double& each : ticks) stat >> each;
  if (!stat || name != "cpu") return std::nullopt;
  const auto per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  Times times;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    times.of_all_s += ticks[i] / per_s;
    if (i != 3 && i != 4) times.busy_s += ticks[i] / per_s;
  }
  times.own_s = seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN);
  return times;
}

std::optional<double> OtherLoad::share() {
  const auto before = std::exchange(last_, now());
  if (!before || !last_ || last_->of_all_s <= before->of_all_s) return std::nullopt;
  const double others_s = (last_->busy_s - before->busy_s) - (last_->own_s - before->own_s);
  return std::clamp(others_s / (last_->of_all_s - before->of_all_s), 0.0, 1.0);
}

}  // namespace tinyot::tools
