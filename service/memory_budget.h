// Memory that calls in progress take together, before what they have sent belongs to a job.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>

namespace tinyot::service {

// Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes) : left_(bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  class Exhausted : public std::runtime_error {
   public:
    Exhausted()
        : std::runtime_error(
              "the daemon receives as many jobs as it may at a time (job_bytes_max of its "
              "configuration): submit the job later") {}
  };

  // What one call takes, until its end.
  class Share {
   public:
    explicit Share(MemoryBudget& budget) : budget_(budget) {}
    ~Share() { give(bytes_); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // Fails: Exhausted; then nothing is taken.
    void take(std::uint64_t bytes) {
      std::uint64_t left = budget_.left_;
      do {
        if (left < bytes) throw Exhausted();
      } while (!budget_.left_.compare_exchange_weak(left, left - bytes));
      bytes_ += bytes;
    }
    void give(std::uint64_t bytes) {
      bytes_ -= bytes;
      budget_.left_ += bytes;
    }

   private:
    MemoryBudget& budget_;
    std::uint64_t bytes_ = 0;
  };

 private:
  std::atomic<std::uint64_t> left_;
};

}  // namespace tinyot::service
