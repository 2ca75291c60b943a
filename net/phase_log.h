// The cost of each phase: wall and CPU time, bytes, rounds, items; and its progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "net/channel.h"
#include "tinyot/phase_cost.h"

namespace tinyot::net {

// Costs of phases of the same name are added. A log belongs to one thread, whose CPU time it
// measures; logs of several threads are added up.
class PhaseLog {
 public:
  // Called when a phase begins and whenever it advances; `done` of `total` items of the phase.
  using Observer =
      std::function<void(std::string_view phase, std::uint64_t done, std::uint64_t total)>;

  explicit PhaseLog(Observer observer = {}) : observer_(std::move(observer)) {}

  // A phase lasts as long as the object. Phases do not nest.
  class Scope {
   public:
    Scope(PhaseLog& log, Channel& channel, std::string_view name, std::uint64_t items);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    // Reports progress to the observer.
    void advance(std::uint64_t done) const;

   private:
    PhaseLog& log_;
    Channel& channel_;
    std::string name_;
    std::uint64_t items_;
    ChannelCounters counters_;
    std::chrono::steady_clock::time_point wall_;
    double cpu_s_;
  };

  const std::vector<PhaseCost>& phases() const { return phases_; }

  // Adds the costs of another thread's log, or of work measured elsewhere.
  void add(const PhaseLog& other);
  void add(const PhaseCost& cost);

 private:
  PhaseCost& find(const std::string& name);

  Observer observer_;
  std::vector<PhaseCost> phases_;
};

}  // namespace tinyot::net
