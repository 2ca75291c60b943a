#include "storage/reservation_chain.h"

#include <algorithm>

#include "base/batch_queue.h"
#include "base/error.h"

namespace tinyot::storage {

MaterialBatch ReservationChain::draw(MaterialKind kind, std::size_t count) {
  ENSURE(!links_.empty());
  if (count > left()[kind])
    throw OutOfMaterial("the reservations are out of material: " + std::string(name_of(kind)) +
                        " has " + std::to_string(left()[kind]) + ", needs " +
                        std::to_string(count) + "; reserve all that a run needs before it starts");
  BatchQueue parts;
  for (Reservation& link : links_) {
    const std::size_t part = std::min(count - parts.count(), link.left()[kind]);
    if (part > 0) parts.push(link.draw(kind, part));
  }
  return parts.take(kind, links_.front().me(), count);
}

MaterialCounts ReservationChain::left() const {
  MaterialCounts left;
  for (const Reservation& link : links_)
    for (const MaterialKind kind : kAllMaterialKinds) left[kind] += link.left()[kind];
  return left;
}

MaterialCounts ReservationChain::burnt() const {
  MaterialCounts burnt;
  for (const Reservation& link : links_)
    for (const MaterialKind kind : kAllMaterialKinds) burnt[kind] += link.burnt()[kind];
  return burnt;
}

}  // namespace tinyot::storage
