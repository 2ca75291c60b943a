#include "online/material_reader.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"

namespace tinyot::online {

std::shared_ptr<MaterialBatch> UsedBatches::lend(MaterialBatch batch) {
  return {new MaterialBatch(std::move(batch)), [batches = shared_from_this()](MaterialBatch* used) {
            batches->take_back(std::unique_ptr<MaterialBatch>(used));
          }};
}

MaterialBatch UsedBatches::take(MaterialKind kind) {
  const std::lock_guard lock(mutex_);
  auto& returned = returned_[static_cast<std::size_t>(kind)];
  if (returned.empty()) return {};
  MaterialBatch batch = std::move(returned.back());
  returned.pop_back();
  return batch;
}

// Without memory to remember the batch, it is wiped and freed.
void UsedBatches::take_back(std::unique_ptr<MaterialBatch> batch) noexcept try {
  const std::lock_guard lock(mutex_);
  returned_[static_cast<std::size_t>(batch->kind)].push_back(std::move(*batch));
} catch (const std::bad_alloc&) {
}

MaterialReader::MaterialReader(MaterialSource& source, const MaterialCounts& wanted)
    : source_(source) {
  if (std::ranges::all_of(wanted.of, [](std::uint64_t count) { return count <= kReadObjects; })) {
    read_all(wanted);
    return;
  }
  unread_ = wanted;
  thread_ = std::thread([this] { work(); });
}

void MaterialReader::read_all(const MaterialCounts& wanted) {
  for (const MaterialKind kind : kAllMaterialKinds)
    while (open_[kind].count() < wanted[kind])
      open_[kind].push(source_.draw_some(kind, wanted[kind] - open_[kind].count(), {}));
}

MaterialReader::~MaterialReader() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

MaterialSlices MaterialReader::take(MaterialKind kind, std::size_t count) {
  BatchQueue& open = open_[kind];
  while (open.count() < count) open_next(kind);
  MaterialSlices slices = open.slices(0, count);
  open.drop(count);
  return slices;
}

void MaterialReader::open_next(MaterialKind kind) {
  BatchQueue& ready = ready_[kind];
  std::unique_lock lock(mutex_);
  if (ready.batches() == 0 && !failure_) {
    if (unread_[kind] == 0)
      throw OutOfMaterial("the run needs more " + std::string(name_of(kind)) +
                          " than were reserved for it");
    const auto begin = std::chrono::steady_clock::now();
    awaited_ = kind;
    changed_.notify_all();
    changed_.wait(lock, [&] { return ready.batches() > 0 || failure_; });
    awaited_.reset();
    waited_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  if (ready.batches() == 0) std::rethrow_exception(failure_);
  open_[kind].push_first_of(ready);
  lock.unlock();
  changed_.notify_all();
}

// The kind that take() waits for; otherwise, among the kinds that the source has ready, the one
// with the fewest ready objects.
std::optional<MaterialKind> MaterialReader::next_to_read() {
  if (awaited_ && ready_[*awaited_].batches() == 0 && unread_[*awaited_] > 0) return awaited_;
  std::optional<MaterialKind> next;
  for (const MaterialKind kind : kAllMaterialKinds) {
    if (unread_[kind] == 0 || ready_[kind].count() >= kObjectsAhead || source_.ready(kind) == 0)
      continue;
    if (!next || ready_[kind].count() < ready_[*next].count()) next = kind;
  }
  return next;
}

void MaterialReader::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::optional<MaterialKind> next;
    changed_.wait(lock, [&] { return ends_ || (next = next_to_read()); });
    if (ends_) return;
    const MaterialKind kind = *next;
    const std::size_t count = std::min<std::uint64_t>(kReadObjects, unread_[kind]);
    lock.unlock();
    MaterialBatch batch;
    std::exception_ptr failure;
    try {
      batch = source_.draw_some(kind, count, used_->take(kind));
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) {
      failure_ = failure;
      changed_.notify_all();
      return;
    }
    unread_[kind] -= batch.count;
    ready_[kind].push(used_->lend(std::move(batch)));
    changed_.notify_all();
  }
}

const BitVector& mine_bits(const MaterialBatch& batch, std::size_t column) {
  return batch.mine[column].bits;
}
const BitVector& shared_bits(const MaterialBatch& batch, std::size_t column) {
  return batch.shares[column].bits;
}

BitVector bits_of(const MaterialSlices& slices,
                  const BitVector& (*column)(const MaterialBatch&, std::size_t),
                  std::size_t index) {
  std::size_t count = 0;
  for (const MaterialSlice& slice : slices) count += slice.count;
  BitVector bits(count);
  std::size_t at = 0;
  for (const MaterialSlice& slice : slices) {
    bits.copy_from(column(*slice.batch, index), slice.from, at, slice.count);
    at += slice.count;
  }
  return bits;
}

}  // namespace tinyot::online
