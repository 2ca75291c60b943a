// How units are unlocked: the part of StoreState that lists its halves and compares the peer's.

#include <algorithm>

#include "base/error.h"
#include "storage/store_state.h"

namespace tinyot::storage {
namespace {

// Matches both parties' batches in order. Since one party listed its halves, another run of both
// may have unlocked the same units and used some of them. Batches that it has cut or dropped have
// no match, and need none.
class Pairing {
 public:
  Pairing(const Halves& peers, const MaterialCounts& unlocked) : peers_(peers.of) {
    for (const MaterialKind kind : kAllMaterialKinds)
      uncut_from_[kind] = std::max(unlocked[kind], peers.unlocked[kind]);
  }

  // Null if the peer has no half of exactly this batch and need not have one.
  const Half* of(const BatchEntry& entry) {
    while (next_ < peers_.size() && order_of(peers_[next_]) < order_of(entry)) skip_next();
    if (next_ < peers_.size() && is_half_of(peers_[next_], entry)) return &peers_[next_++];
    if (entry.first >= uncut_from_[entry.kind])
      differ("this store has batch " + text_of(entry) + " and the peer's store does not");
    return nullptr;
  }

  void finish() {
    while (next_ < peers_.size()) skip_next();
  }

 private:
  void skip_next() {
    const Half& half = peers_[next_++];
    if (half.kind >= kMaterialKinds || half.first >= uncut_from_.of[half.kind])
      differ("the peer's store has a batch of " + std::to_string(half.count) + " from index " +
             std::to_string(half.first) + ", and this one does not");
  }
  [[noreturn]] static void differ(const std::string& what) {
    throw Disagreement("cannot unlock units: " + what + "; the two stores do not belong together");
  }

  std::span<const Half> peers_;
  std::size_t next_ = 0;
  MaterialCounts uncut_from_;
};

}  // namespace

Halves StoreState::halves(std::uint64_t first_unit, std::uint64_t end_unit) const {
  Halves halves;
  database_.read("read the digests", [&](const View& view) {
    const MaterialCounts begin = view.made_by(first_unit), end = view.made_by(end_unit);
    halves = {view.marks().unlocked, {}};
    for (const MaterialKind kind : kAllMaterialKinds)
      for (const BatchEntry& entry : view.entries(kind, begin[kind], end[kind]))
        halves.of.push_back(half_of(entry));
  });
  return halves;
}

void StoreState::unlock(std::uint64_t first_unit, std::uint64_t end_unit, const Halves& peers) {
  database_.change("unlock units", peers.of.size() * kBatchEntryBytes, [&](Change& change) {
    change.check_not_revoked();
    ENSURE(first_unit <= change.marks().units_unlocked);
    const MaterialCounts begin = change.made_by(first_unit), end = change.made_by(end_unit);
    Pairing pairing(peers, change.marks().unlocked);
    for (const MaterialKind kind : kAllMaterialKinds) {
      for (BatchEntry& entry : change.entries(kind, begin[kind], end[kind])) {
        const Half* half = pairing.of(entry);
        if (half == nullptr || entry.peers_tag == half->tag) continue;
        if (entry.peers_tag)
          throw StoreError("the peer's half of batch " + text_of(entry) +
                           " has changed since the batch was made; the peer's store has been "
                           "restored or is corrupt");
        entry.peers_tag = half->tag;
        change.put_entry(entry);
      }
    }
    pairing.finish();
    if (end_unit <= change.marks().units_unlocked) return;
    change.marks().units_unlocked = end_unit;
    change.marks().unlocked = end;
    // preprocess, run and store verify may all unlock the last unit.
    if (end_unit == change.manifest().units_requested)
      change.manifest().state = SessionState::Complete;
  });
}

}  // namespace tinyot::storage
