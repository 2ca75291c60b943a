// Synchronisation of the workers of a preprocessing job. Worker w of n makes units w, w + n, w +
// 2n, ... in order. A worker waits only for units with lower numbers, so there is no deadlock.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>

#include "base/cause.h"
#include "offline/base_ot/base_ot.h"

namespace tinyot::offline {

// Base OTs, from the run that makes them to the run that uses them. All calls may come from any
// thread.
class BaseOtQueue {
 public:
  void put(std::size_t run, BaseOts seeds);
  // Blocks until they have been put. Fails: WorkerStopped.
  BaseOts take(std::size_t run);
  void stop() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, BaseOts> seeds_;
  bool stopped_ = false;
};

// Units enter their send phase, which keeps link and processor busy, in order, and only so many are
// in it at a time. Units that wait for messages after it do not count, so that others use the link
// meanwhile. All calls may come from any thread.
class SendPhaseSemaphore {
 public:
  explicit SendPhaseSemaphore(std::size_t at_a_time) : at_a_time_(at_a_time) {}
  // Blocks until fewer than `at_a_time` of the units with lower numbers are still to end their send
  // phase. Fails: WorkerStopped.
  void begin(std::size_t unit);
  void end();
  void stop() noexcept;

 private:
  std::size_t at_a_time_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t ended_ = 0;
  bool stopped_ = false;
};

// Units end one at a time, in order: this serialises the settling of their parts of the MAC
// transcript and the pouring of their material. All calls may come from any thread.
class CommitOrder {
 public:
  // Blocks until all units before this one have ended. False if the job ends before this unit.
  // Fails: WorkerStopped.
  bool begin(std::size_t unit);
  // Called by the worker whose turn it is, before it commits. Fails: WorkerStopped.
  void check();
  void end(std::size_t unit);
  // Records that the job ends before this unit, as both parties have agreed.
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
