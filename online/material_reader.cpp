#include "online/material_reader.h"

#include <algorithm>

#include "base/error.h"
#include "online/stopwatch.h"

namespace tinyot::online {

std::shared_ptr<material::Batch> BatchPool::share(material::Batch batch) {
  return {new material::Batch(std::move(batch)),
          [batches = shared_from_this()](material::Batch* used) {
            batches->release(std::unique_ptr<material::Batch>(used));
          }};
}

material::Batch BatchPool::acquire(MaterialKind kind) {
  const std::lock_guard lock(mutex_);
  auto& returned = released_[static_cast<std::size_t>(kind)];
  if (returned.empty()) return {};
  material::Batch batch = std::move(returned.back());
  returned.pop_back();
  return batch;
}

// Without memory to remember the batch, it is wiped and freed.
void BatchPool::release(std::unique_ptr<material::Batch> batch) noexcept try {
  const std::lock_guard lock(mutex_);
  released_[static_cast<std::size_t>(batch->kind)].push_back(std::move(*batch));
} catch (const std::bad_alloc&) {
}

MaterialReader::MaterialReader(material::Source& source, const MaterialCounts& wanted)
    : source_(source) {
  if (std::ranges::all_of(wanted.of, [](std::uint64_t count) { return count <= kReadObjects; })) {
    read_all(wanted);
    return;
  }
  for (const MaterialKind kind : kAllMaterialKinds) ahead_of(kind).undrawn = wanted[kind];
  thread_ = std::thread([this] { work(); });
}

void MaterialReader::read_all(const MaterialCounts& wanted) {
  for (const MaterialKind kind : kAllMaterialKinds)
    while (open_[kind].count() < wanted[kind])
      open_[kind].push(source_.draw_up_to(kind, wanted[kind] - open_[kind].count()).open({}));
}

MaterialReader::~MaterialReader() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

material::Slices MaterialReader::take(MaterialKind kind, std::size_t count) {
  material::BatchQueue& open = open_[kind];
  while (open.count() < count) take_first(kind);
  material::Slices slices = open.slices(0, count);
  open.drop(count);
  return slices;
}

// Moves the first batch that has been drawn of a kind to the open ones. Until it is opened, the
// caller reads those behind it.
void MaterialReader::take_first(MaterialKind kind) {
  Ahead& ahead = ahead_of(kind);
  std::unique_lock lock(mutex_);
  while (ahead.drawn.empty() || !ahead.drawn.front().batch) {
    if (failure_) std::rethrow_exception(failure_);
    if (ahead.drawn.empty() && ahead.undrawn == 0)
      throw OutOfMaterial("the run needs more " + std::string(name_of(kind)) +
                          " than were reserved for it");
    const bool reads = can_read(kind);
    const Stopwatch watch(reads ? opening_s_ : waited_s_);
    if (reads)
      read_next(lock, kind);
    else
      wait_for_first(lock, kind);
  }
  open_[kind].push(std::move(ahead.drawn.front().batch));
  ahead.count -= ahead.drawn.front().count;
  ahead.drawn.pop_front();
  lock.unlock();
  changed_.notify_all();
}

// Waits for the source, or for the thread that opens the batch.
void MaterialReader::wait_for_first(std::unique_lock<std::mutex>& lock, MaterialKind kind) {
  Ahead& ahead = ahead_of(kind);
  if (ahead.drawn.empty()) {
    lock.unlock();
    source_.wait_for(kind);
    lock.lock();
  } else {
    changed_.wait(lock, [&] { return ahead.drawn.front().batch || failure_; });
  }
}

bool MaterialReader::can_read(MaterialKind kind) {
  const Ahead& ahead = ahead_of(kind);
  return ahead.undrawn > 0 && ahead.count < kObjectsAhead && source_.ready(kind) > 0;
}

// The kind with the fewest objects ahead.
std::optional<MaterialKind> MaterialReader::next_to_read() {
  std::optional<MaterialKind> next;
  for (const MaterialKind kind : kAllMaterialKinds)
    if (can_read(kind) && (!next || ahead_of(kind).count < ahead_of(*next).count)) next = kind;
  return next;
}

void MaterialReader::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::optional<MaterialKind> next;
    changed_.wait(lock, [&] { return ends_ || failure_ || (next = next_to_read()); });
    if (ends_ || failure_) return;
    read_next(lock, *next);
  }
}

// Batches are drawn in order under the mutex, and opened without it, by several threads at a time.
void MaterialReader::read_next(std::unique_lock<std::mutex>& lock, MaterialKind kind) try {
  Ahead& ahead = ahead_of(kind);
  const material::DrawnBatch next =
      source_.draw_up_to(kind, std::min<std::uint64_t>(kReadObjects, ahead.undrawn));
  Drawn& place = ahead.drawn.emplace_back(Drawn{next.count, nullptr});
  ahead.undrawn -= next.count;
  ahead.count += next.count;
  lock.unlock();
  auto batch = batches_->share(next.open(batches_->acquire(kind)));
  lock.lock();
  place.batch = std::move(batch);
  changed_.notify_all();
} catch (...) {
  if (!lock.owns_lock()) lock.lock();
  failure_ = std::current_exception();
  changed_.notify_all();
}

const BitVector& mine_bits(const material::Batch& batch, std::size_t column) {
  return batch.mine[column].bits;
}
const BitVector& shared_bits(const material::Batch& batch, std::size_t column) {
  return batch.shares[column].bits;
}

BitVector bits_of(const material::Slices& slices,
                  const BitVector& (*column)(const material::Batch&, std::size_t),
                  std::size_t index) {
  std::size_t count = 0;
  for (const material::Slice& slice : slices) count += slice.count;
  BitVector bits(count);
  std::size_t at = 0;
  for (const material::Slice& slice : slices) {
    bits.copy_from(column(*slice.batch, index), slice.from, at, slice.count);
    at += slice.count;
  }
  return bits;
}

}  // namespace tinyot::online
