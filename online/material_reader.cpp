#include "online/material_reader.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"

namespace tinyot::online {

MaterialReader::MaterialReader(MaterialSource& source, const MaterialCounts& wanted)
    : source_(source) {
  if (std::ranges::all_of(wanted.of, [](std::uint64_t count) { return count <= kReadObjects; })) {
    read_all(wanted);
    return;
  }
  for (const MaterialKind kind : kAllMaterialKinds) line_of(kind).unread = wanted[kind];
  thread_ = std::thread([this] { work(); });
}

void MaterialReader::read_all(const MaterialCounts& wanted) {
  for (const MaterialKind kind : kAllMaterialKinds)
    if (wanted[kind] > 0)
      line_of(kind).ready.push_back(
          std::make_shared<const MaterialBatch>(source_.draw(kind, wanted[kind])));
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
  Line& line = line_of(kind);
  MaterialSlices slices;
  while (count > 0) {
    if (!line.open) open_next(kind, line);
    const std::size_t part = std::min(count, line.open->count - line.taken);
    slices.push_back({line.open, line.taken, part});
    line.taken += part;
    count -= part;
    if (line.taken == line.open->count) line.open.reset();
  }
  return slices;
}

void MaterialReader::open_next(MaterialKind kind, Line& line) {
  std::unique_lock lock(mutex_);
  if (line.ready.empty() && !failure_) {
    if (line.unread == 0)
      throw OutOfMaterial("the run needs more " + std::string(name_of(kind)) +
                          " than were reserved for it");
    const auto begin = std::chrono::steady_clock::now();
    asked_ = &line;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !line.ready.empty() || failure_; });
    asked_ = nullptr;
    waited_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  if (line.ready.empty()) std::rethrow_exception(failure_);
  line.open = std::move(line.ready.front());
  line.ready.pop_front();
  line.taken = 0;
  lock.unlock();
  changed_.notify_all();
}

// The line that take() waits for; otherwise, among the kinds that the source has ready, the line
// with the fewest ready batches.
MaterialReader::Line* MaterialReader::next_to_read() {
  if (asked_ != nullptr && asked_->ready.empty() && asked_->unread > 0) return asked_;
  Line* next = nullptr;
  for (Line& line : lines_) {
    if (line.unread == 0 || line.ready.size() >= kBatchesAhead) continue;
    const auto kind = static_cast<MaterialKind>(&line - lines_.data());
    if (source_.ready(kind) < std::min<std::uint64_t>(kReadObjects, line.unread)) continue;
    if (next == nullptr || line.ready.size() < next->ready.size()) next = &line;
  }
  return next;
}

void MaterialReader::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    Line* line = nullptr;
    changed_.wait(lock, [&] { return ends_ || (line = next_to_read()) != nullptr; });
    if (ends_) return;
    const auto kind = static_cast<MaterialKind>(line - lines_.data());
    const std::size_t count = std::min<std::uint64_t>(kReadObjects, line->unread);
    lock.unlock();
    std::shared_ptr<const MaterialBatch> batch;
    std::exception_ptr failure;
    try {
      batch = std::make_shared<const MaterialBatch>(source_.draw(kind, count));
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) {
      failure_ = failure;
      changed_.notify_all();
      return;
    }
    line->unread -= count;
    line->ready.push_back(std::move(batch));
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
