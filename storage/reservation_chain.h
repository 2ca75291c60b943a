// Several reservations in sequence: each is drawn after those before it.
#pragma once

#include <vector>

#include "storage/reservation.h"

namespace tinyot::storage {

class ReservationChain final : public MaterialSource {
 public:
  explicit ReservationChain(std::vector<Reservation> links) : links_(std::move(links)) {}

  // Fails: as Reservation::draw, for the sum of all reservations.
  MaterialBatch draw(MaterialKind kind, std::size_t count) override;

  const std::vector<Reservation>& links() const { return links_; }
  MaterialCounts left() const;
  MaterialCounts burnt() const;

 private:
  std::vector<Reservation> links_;
};

}  // namespace tinyot::storage
