#include "storage/reservation.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "storage/store_state.h"

namespace tinyot {

Reservation::Reservation(std::shared_ptr<StoreState> state, std::uint64_t id, const MaterialCounts& start,
                         const MaterialCounts& counts, const MaterialCounts& burnt)
    : state_(std::move(state)), id_(id), start_(start), counts_(counts), burnt_(burnt) {}

Reservation::Reservation(Reservation&& other) noexcept = default;

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  finish_quietly();
  state_ = std::move(other.state_);
  id_ = other.id_;
  start_ = other.start_;
  counts_ = other.counts_;
  burnt_ = other.burnt_;
  drawn_ = other.drawn_;
  return *this;
}

Reservation::~Reservation() { finish_quietly(); }

MaterialBatch Reservation::draw(MaterialKind kind, std::size_t count) {
  const std::uint64_t has = left()[kind];
  if (count > has)
    throw OutOfMaterial("the reservation is out of material: " + std::string(name_of(kind)) + " has " + std::to_string(has) +
                        ", needs " + std::to_string(count) + "; reserve all that a run needs before it starts");
  ENSURE(state_ != nullptr);
  state_->check_alive();
  const std::uint64_t first = start_[kind] + drawn_[kind];
  drawn_[kind] += count;
  return state_->read_objects(kind, first, count);
}

MaterialCounts Reservation::left() const {
  MaterialCounts left;
  if (state_ == nullptr) return left;
  for (const MaterialKind kind : kAllMaterialKinds) left[kind] = counts_[kind] - drawn_[kind];
  return left;
}

void Reservation::finish() {
  if (const auto state = std::exchange(state_, nullptr)) state->release(id_);
}

void Reservation::finish_quietly() noexcept {
  try {
    finish();
  } catch (const std::exception&) {
    // The records are behind the position already; only their space is not free yet.
  }
}

}  // namespace tinyot
