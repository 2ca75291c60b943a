// The jobs that a peer has offered, for which this party has not begun anything. They are bounded
// in number and in bytes.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "peer.pb.h"

namespace tinyot::service {

// Without a lock.
class PeerOffers {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{16} << 20;

  explicit PeerOffers(std::size_t jobs_max) : jobs_max_(jobs_max) {}

  bool has_room_for(const wire::Offer& offer) const {
    return offers_.size() < jobs_max_ && bytes_ + offer.SpaceUsedLong() <= kBytesMax;
  }
  // There is no offer of this job yet.
  void add(const wire::Offer& offer) {
    const std::size_t bytes = offer.SpaceUsedLong();
    if (offers_.try_emplace(offer.job(), Offered{offer.terms(), bytes}).second) bytes_ += bytes;
  }
  void forget(const std::string& job) {
    const auto found = offers_.find(job);
    if (found == offers_.end()) return;
    bytes_ -= found->second.bytes;
    offers_.erase(found);
  }
  void clear() {
    offers_.clear();
    bytes_ = 0;
  }
  // Null if the job is not offered.
  const wire::Terms* find(const std::string& job) const {
    const auto found = offers_.find(job);
    return found == offers_.end() ? nullptr : &found->second.terms;
  }

 private:
  struct Offered {
    wire::Terms terms;
    std::size_t bytes = 0;
  };

  const std::size_t jobs_max_;
  std::map<std::string, Offered> offers_;  // by job
  std::size_t bytes_ = 0;
};

}  // namespace tinyot::service
