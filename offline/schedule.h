// What the workers of a preprocessing job share, and wait for each other by. Worker w of n makes
// units w, w + n, w + 2n, ... in order; each wait is for a unit of a lower number, so they cannot
// wait in a circle.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>

#include "base/cause.h"
#include "offline/seed_ot.h"

namespace tinyot::offline {

// Seed OTs on their way from the run that made them to the run that uses them. All calls may come
// from any thread.
class SeedLanes {
 public:
  void put(std::size_t run, SeedOts seeds);
  // Waits for them. Fails: WorkerStopped.
  SeedOts take(std::size_t run);
  void stop() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, SeedOts> seeds_;
  bool stopped_ = false;
};

// Units end one at a time, in order: their parts of the MAC transcript are settled and their
// material is poured by turns. All calls may come from any thread.
class UnitTurns {
 public:
  // Waits until all units before this one have ended. False if the job ends before this unit.
  // Fails: WorkerStopped.
  bool begin(std::size_t unit);
  // Fails: WorkerStopped. For the worker whose turn it is, before it makes something final.
  void check();
  void end(std::size_t unit);
  // The job ends before this unit, as both parties have agreed.
  void end_job_before(std::size_t unit);
  bool job_ends_before(std::size_t unit);
  void stop() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0, end_ = static_cast<std::size_t>(-1);
  bool stopped_ = false;
};

}  // namespace tinyot::offline
