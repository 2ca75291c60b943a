// A range of material that has left the store and is drawn once, in order. Made by Store::reserve.
#pragma once

#include <cstdint>
#include <memory>

#include "base/material.h"

namespace tinyot {

class StoreState;

class Reservation : public MaterialSource {
 public:
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  // Finishes. A failure to drop the records is left to the next opening, which tries again.
  ~Reservation() override;

  // The next `count` objects of a kind. Fails: OutOfMaterial beyond the reserved range, StoreError for a corrupt record or a
  // dead session; after OutOfMaterial nothing has moved.
  MaterialBatch draw(MaterialKind kind, std::size_t count) override;

  MaterialCounts start() const { return start_; }
  MaterialCounts counts() const { return counts_; }
  MaterialCounts left() const;
  // What was passed over because the start was above the store's position.
  MaterialCounts burnt() const { return burnt_; }

  // Ends the reservation: what is left of it is never served. Records that are wholly behind the position and in no other
  // reservation are dropped.
  void finish();

 private:
  friend class Store;
  Reservation(std::shared_ptr<StoreState> state, std::uint64_t id, const MaterialCounts& start, const MaterialCounts& counts,
              const MaterialCounts& burnt);
  void finish_quietly() noexcept;

  std::shared_ptr<StoreState> state_;  // empty once finished
  std::uint64_t id_ = 0;
  MaterialCounts start_, counts_, burnt_, drawn_;
};

}  // namespace tinyot
