#include "storage/reservation.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "storage/record.h"

namespace tinyot::storage {

Reservation::Reservation(std::shared_ptr<StoreState> state, const Range& range,
                         const MaterialCounts& burnt)
    : state_(std::move(state)), me_(state_->database().manifest().me), range_(range),
      burnt_(burnt) {
  HeldBatches held = state_->hold(range);
  for (const MaterialKind kind : kAllMaterialKinds) {
    const auto k = static_cast<std::size_t>(kind);
    positions_[k].batches = std::move(held[k]);
    positions_[k].next = range.start[kind];
  }
}

Reservation::Reservation(Reservation&& other) noexcept = default;

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  finish_quietly();
  state_ = std::move(other.state_);
  me_ = other.me_;
  range_ = other.range_;
  burnt_ = other.burnt_;
  positions_ = std::move(other.positions_);
  return *this;
}

Reservation::~Reservation() { finish_quietly(); }

MaterialBatch Reservation::draw(MaterialKind kind, std::size_t count) {
  const std::uint64_t has = left()[kind];
  if (count > has)
    throw OutOfMaterial("the reservation is out of material: " + std::string(name_of(kind)) +
                        " has " + std::to_string(has) + ", needs " + std::to_string(count) +
                        "; reserve all that a run needs before it starts");
  ENSURE(state_ != nullptr);
  MaterialBatch drawn(kind, me_, count);
  DrawPosition& position = positions_[static_cast<std::size_t>(kind)];
  for (std::size_t done = 0; done < count;) {
    HeldBatch& batch = position.batches[position.batch];
    if (position.plain.empty()) position.plain = state_->open(batch);
    const std::size_t part =
        std::min<std::uint64_t>(count - done, batch.entry.end() - position.next);
    decode_objects(kind, me_, batch.entry.count, position.plain, position.next - batch.entry.first,
                   part, drawn, done);
    done += part;
    position.next += part;
    if (position.next < batch.entry.end()) continue;
    ++position.batch;
    batch.key = crypto::SealKey();
    position.plain = SecretVector<std::byte>();
  }
  return drawn;
}

std::vector<BatchEntry> Reservation::batches() const {
  std::vector<BatchEntry> batches;
  for (const DrawPosition& position : positions_)
    for (const HeldBatch& batch : position.batches) batches.push_back(batch.entry);
  return batches;
}

MaterialCounts Reservation::counts() const {
  MaterialCounts counts;
  for (const MaterialKind kind : kAllMaterialKinds)
    counts[kind] = range_.end[kind] - range_.start[kind];
  return counts;
}

MaterialCounts Reservation::left() const {
  MaterialCounts left;
  if (state_ == nullptr) return left;
  for (const MaterialKind kind : kAllMaterialKinds)
    left[kind] = range_.end[kind] - positions_[static_cast<std::size_t>(kind)].next;
  return left;
}

void Reservation::finish() {
  const auto state = std::exchange(state_, nullptr);
  positions_ = {};
  if (state) state->release(range_);
}

void Reservation::finish_quietly() noexcept {
  try {
    finish();
  } catch (const std::exception&) {
    // The batches are below the position and their keys are erased; only their space is not free
    // yet.
  }
}

}  // namespace tinyot::storage
