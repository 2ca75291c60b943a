// A range of material that has left the store and is drawn once, in order. Made by Store.
//
// Secret: the keys of its batches, which exist only in this object. When the process ends, the
// objects that were not drawn are unreadable.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "crypto/aead.h"
#include "material/batch_queue.h"
#include "material/material.h"
#include "storage/batch.h"
#include "storage/cursors.h"

namespace tinyot::storage {

class Database;

class Reservation : public material::Source {
 public:
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  // Calls finish(). If dropping the batches fails, the next opening repeats it.
  ~Reservation() override;

  // The next `count` objects of a kind. Fails: OutOfMaterial beyond the reserved range, and then
  // nothing is drawn; StoreError for a corrupt batch or a revoked session.
  material::Batch draw(MaterialKind kind, std::size_t count) override;
  // Returns whole batches of the store, as long as they are drawn from their beginning.
  material::DrawnBatch draw_up_to(MaterialKind kind, std::size_t count) override;

  Party me() const { return me_; }
  std::vector<BatchEntry> batches() const;
  const Range& range() const { return range_; }
  MaterialCounts start() const { return range_.start; }
  MaterialCounts counts() const;
  MaterialCounts left() const;
  // Objects skipped because the range starts above the store's position.
  MaterialCounts burnt() const { return burnt_; }

  // Ends the reservation and drops its batches. What was not drawn is never served.
  void finish();

 private:
  friend class Store;
  // A batch with its key, which is erased from the key table.
  struct HeldBatch {
    BatchEntry entry;
    crypto::SealKey key;
  };
  // The state of one kind.
  struct DrawPosition {
    std::vector<HeldBatch> batches;
    std::size_t undrawn = 0;      // the first one that has not been drawn from
    std::uint64_t next = 0;       // index of the next object to be drawn
    material::BatchQueue opened;  // what is left of opened batches
  };

  Reservation(std::shared_ptr<Database> database, const Range& range, const MaterialCounts& burnt);
  DrawPosition& position_of(MaterialKind kind) {
    return positions_[static_cast<std::size_t>(kind)];
  }
  void check_left(MaterialKind kind, std::size_t count) const;
  static material::Batch open(const Database& database, Party me, const HeldBatch& held,
                              material::Batch memory);
  // The first one that has not been drawn from; it becomes the caller's.
  static HeldBatch remove_next(DrawPosition& position);
  void open_next(DrawPosition& position);
  material::Batch take(MaterialKind kind, std::size_t count);
  void finish_quietly() noexcept;

  std::shared_ptr<Database> database_;  // empty once finished
  Party me_;
  Range range_;
  MaterialCounts burnt_;
  std::array<DrawPosition, kMaterialKinds> positions_;
};

// Several reservations in sequence: each is drawn after those before it.
class ReservationChain final : public material::Source {
 public:
  explicit ReservationChain(std::vector<Reservation> links) : links_(std::move(links)) {}

  // Fails: as Reservation::draw, for the sum of all reservations.
  material::Batch draw(MaterialKind kind, std::size_t count) override;
  material::DrawnBatch draw_up_to(MaterialKind kind, std::size_t count) override;

  const std::vector<Reservation>& links() const { return links_; }
  // Appends one.
  void add(Reservation link) { links_.push_back(std::move(link)); }
  // Finishes those that have nothing left.
  void drop_empty();
  MaterialCounts left() const;

 private:
  void check_left(MaterialKind kind, std::size_t count) const;

  std::vector<Reservation> links_;
};

}  // namespace tinyot::storage
