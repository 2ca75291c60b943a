// Tells all users of a session in this process at once that the session has been revoked. The store
// on disk says the same, but later, and only those that read it again notice.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

namespace tinyot {

class RevocationFlag {
 public:
  void set() noexcept { is_set_.store(true); }
  bool is_set() const noexcept { return is_set_.load(); }

 private:
  std::atomic<bool> is_set_ = false;
};

// Of all stores that a session uses: one, or shards.
using Revocations = std::vector<std::shared_ptr<const RevocationFlag>>;

}  // namespace tinyot
