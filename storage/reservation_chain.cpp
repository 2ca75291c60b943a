#include "storage/reservation_chain.h"

#include <algorithm>

#include "base/error.h"
#include "storage/record.h"

namespace tinyot::storage {

MaterialBatch ReservationChain::draw(MaterialKind kind, std::size_t count) {
  if (count > left()[kind])
    throw OutOfMaterial("the reservations are out of material: " + std::string(name_of(kind)) +
                        " has " + std::to_string(left()[kind]) + ", needs " +
                        std::to_string(count) + "; reserve all that a run needs before it starts");
  std::vector<MaterialBatch> parts;
  for (std::size_t link = 0, missing = count;
       link < links_.size() && (missing > 0 || parts.empty()); ++link) {
    const std::size_t part = std::min<std::uint64_t>(missing, links_[link].left()[kind]);
    if (part == 0 && link + 1 < links_.size()) continue;
    parts.push_back(links_[link].draw(kind, part));
    missing -= part;
  }
  ENSURE(!parts.empty());
  if (parts.size() == 1) return std::move(parts.front());
  MaterialBatch whole(kind, links_.front().me(), count);
  std::size_t done = 0;
  for (const MaterialBatch& part : parts) {
    copy_objects(part, 0, part.count, whole, done);
    done += part.count;
  }
  return whole;
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
