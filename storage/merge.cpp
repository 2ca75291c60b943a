#include "storage/merge.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "storage/database.h"
#include "storage/record.h"
#include "storage/store.h"

namespace tinyot::storage {
namespace {

namespace fs = std::filesystem;

std::string reason_for(const fs::path& out) { return printable("merged into " + out.string()); }

// Before anything is copied, each shard is reserved for the merge as a whole, under a number that
// no run can have.
constexpr std::uint64_t kMergePlan = ~std::uint64_t{0};

Range all_of(const MaterialCursors& cursors) { return {{}, cursors.made}; }

bool is_set_aside(const Store& shard) {
  const MaterialCursors& cursors = shard.cursors();
  return cursors.planned.size() == 1 &&
         cursors.planned[0] == PlannedReservation{kMergePlan, all_of(cursors)};
}

void set_aside(Store& shard) {
  shard.change("set aside for a merge", 0, [](WriteTransaction& change) {
    change.cursors().served = change.cursors().made;
    change.cursors().planned = {{kMergePlan, all_of(change.cursors())}};
  });
}

// Whether an interrupted merge into `out` has already revoked this shard.
bool is_merged(const Store& shard, const fs::path& out) {
  return shard.manifest().state == StoreState::Revoked &&
         shard.manifest().revocation_reason == reason_for(out);
}

// The reason is written before the keys are erased, unlike in Store::revoke: an interrupted merge
// recognises the shard by it. No check has failed, so the keys may remain until then.
void retire_into(Store& shard, const fs::path& out) {
  shard.change("mark the shard as merged", 0, [&](WriteTransaction& change) {
    change.manifest().state = StoreState::Revoked;
    change.manifest().revocation_reason = reason_for(out);
  });
  shard.revoke(reason_for(out));
}

void check_shard(const Store& shard, const Store& first) {
  const auto refuse = [&](const std::string& why, Remedy remedy = Remedy::None) {
    throw StoreError("the store in " + shard.directory().string() + " cannot be merged: " + why,
                     remedy);
  };
  const Manifest& manifest = shard.manifest();
  if (manifest.state == StoreState::Revoked)
    refuse("its session is revoked: " + manifest.revocation_reason);
  if (manifest.session_id != first.manifest().session_id || manifest.me != first.manifest().me)
    refuse("it belongs to another session or party");
  if (manifest.state != StoreState::Complete || shard.cursors().unlocked != shard.cursors().made)
    refuse("it is not complete; complete it first", Remedy::Resume);
  if (shard.cursors().served != MaterialCounts{} && !is_set_aside(shard))
    refuse("some of it has been used", Remedy::UseShardsTogether);
}

void check_all_present(std::span<const Store> shards) {
  const std::uint32_t count = shards.front().manifest().shards;
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (shards[i].manifest().shard != i + 1 || shards.size() != count)
      throw StoreError("a merge needs all " + std::to_string(count) +
                       " shards of a session, each once; " + std::to_string(shards.size()) +
                       " are given, and shard " + std::to_string(i + 1) +
                       " is missing or given twice");
}

// The store of an interrupted merge, if it is complete; then shards may already be revoked. An
// incomplete one is made again.
std::optional<Store> open_if_complete(const fs::path& making, std::span<const Store> shards,
                                      const fs::path& out,
                                      const std::optional<StoreKey>& store_key) {
  try {
    Store whole = Store::open(making, {.purpose = Purpose::Own, .store_key = store_key});
    if (whole.manifest().state == StoreState::Complete &&
        whole.manifest().session_id == shards.front().manifest().session_id)
      return whole;
  } catch (const StoreError&) {
    // Partly made or partly removed.
    if (std::ranges::any_of(shards, [&](const Store& shard) { return is_merged(shard, out); }))
      throw;
  }
  return std::nullopt;
}

// Appends the batches of a shard to the merged store.
class Copier {
 public:
  // `advanced` is called whenever `merged` has changed.
  Copier(Store& out, MergedStore& merged, std::function<void()> advanced)
      : out_(out), merged_(merged), advanced_(std::move(advanced)) {}

  void copy(const Store& shard) {
    const MaterialCounts before = out_.cursors().made;
    const std::uint64_t units_before = out_.manifest().units_made;
    MaterialCounts made = before;
    shard.read([&](const ReadTransaction& view) {
      for (const MaterialKind kind : kAllMaterialKinds) {
        const std::vector<BatchEntry> entries = view.entries(kind, 0, view.cursors().made[kind]);
        for (std::size_t next = 0; next < entries.size();)
          next = copy_some(view, entries, next, before[kind]);
        made[kind] += view.cursors().made[kind];
      }
      out_.change("merge", 0, [&](WriteTransaction& change) {
        copy_reference_bits(view, change);
        for (std::uint64_t unit = 1; unit <= view.manifest().units_made; ++unit) {
          MaterialCounts counts = view.made_by(unit);
          counts += before;
          change.put_unit(change.manifest().units_made++, counts);
        }
        change.cursors().made = made;
        for (Attempt attempt : view.attempts()) {
          attempt.unit += units_before;
          change.put_attempt(change.cursors().attempts, attempt);
        }
      });
    });
  }

 private:
  // All shards have the same ones.
  static void copy_reference_bits(const ReadTransaction& view, WriteTransaction& change) {
    for (const MaterialKind kind : {MaterialKind::AuthBitsA, MaterialKind::AuthBitsB})
      if (const auto entry = view.reference_entry(kind); entry && !change.reference_entry(kind))
        change.add_sealed_reference_bits(*entry, view.key_of(*entry), view.record(*entry));
  }

  std::size_t copy_some(const ReadTransaction& view, std::span<const BatchEntry> entries,
                        std::size_t begin, std::uint64_t offset) {
    std::uint64_t bytes = 0;
    std::size_t end = begin;
    while (end < entries.size() && bytes < kCommitBytes)
      bytes += material::bytes_of(entries[end].kind, view.manifest().me, entries[end].count), ++end;
    out_.change("merge", bytes + bytes / 16, [&](WriteTransaction& change) {
      for (std::size_t i = begin; i < end; ++i) {
        BatchEntry entry = entries[i];
        entry.first += offset;
        change.add_sealed(entry, view.key_of(entries[i]), view.record(entries[i]));
      }
    });
    for (std::size_t i = begin; i < end; ++i) Environment::release_pages(view.record(entries[i]));
    merged_.batches += end - begin;
    merged_.bytes += bytes;
    advanced_();
    return end;
  }

  Store& out_;
  MergedStore& merged_;
  std::function<void()> advanced_;
};

std::vector<Store> open_shards(std::span<const fs::path> dirs, Purpose purpose,
                               const std::optional<StoreKey>& store_key) {
  std::vector<Store> shards;
  for (const fs::path& dir : dirs)
    shards.push_back(Store::open(dir, {.purpose = purpose, .store_key = store_key}));
  std::ranges::sort(shards, {}, [](const Store& shard) { return shard.manifest().shard; });
  check_all_present(shards);
  return shards;
}

// Whether `out` is the result of an earlier merge of these shards.
bool is_merge_of(const fs::path& out, std::span<const fs::path> dirs,
                 const std::optional<StoreKey>& store_key) {
  const Manifest whole =
      Store::open(out, {.purpose = Purpose::Inspect, .store_key = store_key}).manifest();
  if (whole.shards != 1 || whole.state == StoreState::Revoked) return false;
  std::uint64_t units = 0;
  for (const Store& shard : open_shards(dirs, Purpose::Inspect, store_key)) {
    if (!is_merged(shard, out) || shard.manifest().session_id != whole.session_id ||
        shard.manifest().me != whole.me)
      return false;
    units += shard.manifest().units_made;
  }
  return units == whole.units_made;
}

}  // namespace

MergedStore merge_shards(const fs::path& out, std::span<const fs::path> dirs,
                         const std::optional<StoreKey>& store_key,
                         const std::function<void(std::uint64_t, std::uint64_t)>& observer) {
  if (dirs.empty()) throw StoreError("cannot merge: no shards are given");
  if (Store::exists(out) && is_merge_of(out, dirs, store_key)) return {.was_done = true};
  Store::check_absent(out);
  const fs::path making = (out.has_filename() ? out : out.parent_path()).string() + ".merging";
  std::vector<Store> shards = open_shards(dirs, Purpose::Own, store_key);
  MergedStore merged;
  std::optional<Store> whole;
  if (Store::exists(making)) whole = open_if_complete(making, shards, out, store_key);
  if (!whole) {
    const Store& first = shards.front();
    std::uint64_t bytes = 0;
    for (const Store& shard : shards) check_shard(shard, first);
    for (const Store& shard : shards) bytes += shard.store_bytes();
    system::require_free_space(out, bytes, "the merged store");
    for (Store& shard : shards) set_aside(shard);
    fs::remove_all(making);
    Manifest manifest = first.manifest();
    manifest.shard = manifest.shards = 1;
    manifest.units_made = manifest.units_requested = 0;
    manifest.state = StoreState::Open;
    whole =
        Store::create(making, manifest, ScopedSecret<Delta>(first.global_key()), bytes, store_key);
    Copier copier(*whole, merged, [&] {
      if (observer) observer(merged.bytes, bytes);
    });
    for (const Store& shard : shards) copier.copy(shard);
    whole->update_manifest([](Manifest& changed) { changed.state = StoreState::Complete; });
  }
  // The merged store is unlocked only after all shards are revoked.
  for (Store& shard : shards)
    if (!is_merged(shard, out)) retire_into(shard, out);
  whole->change("merge", 0, [](WriteTransaction& change) {
    change.cursors().unlocked = change.cursors().made;
    change.cursors().units_unlocked = change.manifest().units_made;
  });
  whole.reset();
  fs::rename(making, out);
  system::sync_directory(out.has_parent_path() ? out.parent_path() : fs::path("."));
  return merged;
}

}  // namespace tinyot::storage
