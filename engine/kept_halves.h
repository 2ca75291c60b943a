// Which of the peer's halves are kept until the units that they belong to are unlocked.
#pragma once

#include <algorithm>

#include "storage/batch.h"
#include "storage/store.h"

namespace tinyot::engine {

// Keeps the peer's halves of the batches in `mine`, as they arrive in order, so that a peer cannot
// fill memory or disk with others. Of the others, those below what a party has unlocked are of
// batches that this party has cut or dropped; the first one above is kept, for Store::unlock() to
// refuse it.
class KeptHalves {
 public:
  // `kept` has what the peer has unlocked. Both outlive this object.
  KeptHalves(const storage::Halves& mine, storage::Halves& kept) : mine_(mine), kept_(kept) {}

  void add(const storage::Half& half) {
    while (next_ < mine_.of.size() && storage::order_of(mine_.of[next_]) < storage::order_of(half))
      ++next_;
    const bool is_mine = next_ < mine_.of.size() &&
                         storage::order_of(mine_.of[next_]) == storage::order_of(half) &&
                         mine_.of[next_].count == half.count;
    if (is_mine)
      ++next_;
    else if (has_foreign_ || is_unlocked(half))
      return;
    else
      has_foreign_ = true;
    kept_.of.push_back(half);
  }

 private:
  bool is_unlocked(const storage::Half& half) const {
    return half.kind < kMaterialKinds &&
           half.first < std::max(mine_.unlocked.of[half.kind], kept_.unlocked.of[half.kind]);
  }

  const storage::Halves& mine_;
  storage::Halves& kept_;
  std::size_t next_ = 0;
  bool has_foreign_ = false;
};

}  // namespace tinyot::engine
