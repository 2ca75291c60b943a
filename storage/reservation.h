// A range of material that has left the store and is drawn once, in order. Made by Store.
//
// The keys of its batches are in this object's memory and nowhere else: when the process ends,
// nobody can read what was not drawn.
#pragma once

#include <array>
#include <memory>

#include "base/material.h"
#include "storage/store_state.h"

namespace tinyot::storage {

class Reservation : public MaterialSource {
 public:
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  // Finishes. A failure to drop the batches is left to the next opening, which tries again.
  ~Reservation() override;

  // The next `count` objects of a kind. Fails: OutOfMaterial beyond the reserved range, StoreError
  // for a corrupt batch or a dead session; after OutOfMaterial nothing has moved.
  MaterialBatch draw(MaterialKind kind, std::size_t count) override;

  Party me() const { return me_; }
  std::vector<BatchEntry> batches() const;  // that it holds
  const Range& range() const { return range_; }
  MaterialCounts start() const { return range_.start; }
  MaterialCounts counts() const;
  MaterialCounts left() const;
  // What was passed over because the start was above the store's position.
  MaterialCounts burnt() const { return burnt_; }

  // Ends the reservation: what is left of it is never served, and its batches are dropped.
  void finish();

 private:
  friend class Store;
  Reservation(std::shared_ptr<StoreState> state, const Range& range, const MaterialCounts& burnt);
  void finish_quietly() noexcept;

  // Where drawing stands within a kind.
  struct Line {
    std::vector<HeldBatch> batches;
    std::size_t batch = 0;   // the one that the next object is in
    std::uint64_t next = 0;  // index of the next object
    // that batch, decrypted; empty before its first object is drawn
    SecretVector<std::byte> plain;
  };

  std::shared_ptr<StoreState> state_;  // empty once finished
  Party me_;
  Range range_;
  MaterialCounts burnt_;
  std::array<Line, kMaterialKinds> lines_;
};

}  // namespace tinyot::storage
