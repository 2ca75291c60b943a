#include "storage/verify.h"

#include <algorithm>

#include "base/error.h"
#include "storage/database.h"
#include "storage/record.h"

namespace tinyot::storage {
namespace {

// The ranges of a kind that may still be served: planned ones, and what is not granted.
std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_to_serve(const MaterialCursors& cursors,
                                                                     MaterialKind kind) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const PlannedReservation& planned : cursors.planned)
    ranges.emplace_back(planned.range.start[kind], planned.range.end[kind]);
  ranges.emplace_back(cursors.served[kind], cursors.made[kind]);
  return ranges;
}

void verify_range(const ReadTransaction& view, MaterialKind kind, std::uint64_t begin,
                  std::uint64_t end, Verification& result,
                  const std::function<void(std::uint64_t)>& observer) {
  std::uint64_t next = begin;
  for (const BatchEntry& entry : view.entries(kind, begin, end)) {
    if (entry.first != next)
      result.corrupt.push_back("batch " + std::string(name_of(kind)) + " " + std::to_string(next) +
                               " is missing");
    next = entry.end();
    ++result.batches;
    result.bytes += material::bytes_of(kind, view.manifest().me, entry.count);
    try {
      (void)view.open(entry);
      Environment::release_pages(view.record(entry));
      result.good.push_back(entry);
    } catch (const StoreError& error) {
      result.corrupt.push_back(error.what());
    }
    if (observer) observer(result.bytes);
  }
  if (next != end)
    result.corrupt.push_back("batch " + std::string(name_of(kind)) + " " + std::to_string(next) +
                             " is missing");
}

// The reference bits are in no catalogue; they are checked like batches.
void verify_reference_bits(const ReadTransaction& view, Verification& result) {
  for (const MaterialKind kind : {MaterialKind::AuthBitsA, MaterialKind::AuthBitsB}) {
    try {
      if (const auto entry = view.reference_entry(kind)) (void)view.open(*entry);
    } catch (const StoreError& error) {
      result.corrupt.push_back(error.what());
    }
  }
}

}  // namespace

Verification verify(const Store& store, const std::function<void(std::uint64_t)>& observer) {
  Verification result;
  store.read([&](const ReadTransaction& view) {
    view.check_not_revoked();
    for (const MaterialKind kind : kAllMaterialKinds)
      for (const auto& [begin, end] : ranges_to_serve(view.cursors(), kind))
        verify_range(view, kind, begin, end, result, observer);
    verify_reference_bits(view, result);
  });
  std::ranges::sort(result.good, {},
                    [](const BatchEntry& entry) { return std::pair(entry.kind, entry.first); });
  return result;
}

}  // namespace tinyot::storage
