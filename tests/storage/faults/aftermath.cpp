#include "tests/storage/faults/aftermath.h"

#include <algorithm>
#include <set>
#include <vector>

#include "storage/verify.h"
#include "tests/support/layers.h"

namespace tinyot::faults {
namespace {

// Slots with keys of records that were served, dropped or cut in two. Their sealed bytes may still
// be in the file, so these keys must be erased.
std::vector<std::uint64_t> unerased_slots(const Store& store, const std::filesystem::path& keys) {
  std::set<std::uint64_t> used;
  store.read([&](const ReadTransaction& view) {
    for (const MaterialKind kind : kAllMaterialKinds)
      for (const BatchEntry& entry : view.entries(kind, 0, ~std::uint64_t{0}))
        used.insert(entry.slot);
    for (const MaterialKind kind : {MaterialKind::AuthBitsA, MaterialKind::AuthBitsB})
      if (const auto entry = view.reference_entry(kind)) used.insert(entry->slot);
  });
  constexpr std::size_t kHead = 128, kSlot = 64;
  const std::string bytes = read_file(keys);
  std::vector<std::uint64_t> unerased;
  // A key at or above next_slot belongs to a commit that was not made.
  for (std::uint64_t slot = 1; slot < store.cursors().next_slot; ++slot) {
    const bool is_erased =
        bytes.substr(kHead + slot * kSlot, kSlot).find_first_not_of('\0') == std::string::npos;
    if (!is_erased && !used.contains(slot)) unerased.push_back(slot);
  }
  return unerased;
}

void expect_attempts(const Store& store, const Ledger& ledger) {
  const AttemptTotals attempts = store.attempts();
  const std::uint64_t outstanding = store.outstanding().words[0];
  EXPECT_EQ(attempts.risk, store.outstanding());
  EXPECT_EQ(ledger.begun & ~ledger.ending & ~outstanding, 0u) << "an attempt is missing";
  EXPECT_EQ(ledger.ended & outstanding, 0u) << "an attempt that has ended is outstanding";
  std::uint64_t made = 0;
  for (const AttemptTotals::Units& units : attempts.units) made += units.count;
  EXPECT_EQ(made, store.manifest().units_made)
      << "a unit counts if and only if its attempt is made";
}

void expect_committed(const Store& store, const Ledger& ledger) {
  const MaterialCursors& cursors = store.cursors();
  EXPECT_GE(store.manifest().units_made, ledger.units);
  EXPECT_EQ(store.reference_bits().has_value(), store.manifest().units_made > 0)
      << "reference bits are stored with the first unit";
  EXPECT_GE(cursors.units_unlocked, ledger.units_unlocked);
  for (const MaterialKind kind : kAllMaterialKinds)
    EXPECT_GE(cursors.served[kind], ledger.position[kind]);
  MaterialCounts made;
  for (std::uint64_t unit = 0; unit < store.manifest().units_made; ++unit)
    for (const MaterialKind kind : {kAnds, kBits}) made[kind] += unit_counts(unit)[kind];
  EXPECT_EQ(cursors.made, made);
  expect_attempts(store, ledger);
  if (ledger.plan > 0 && !ledger.claim_begun) {
    EXPECT_FALSE(cursors.planned.empty());
  }
  const Verification verification = verify(store);
  EXPECT_TRUE(verification.corrupt.empty()) << verification.corrupt[0];
}

void serve_the_rest(Store& store, Ledger& ledger) {
  const MaterialCounts position = store.served();
  while (!store.cursors().planned.empty()) {
    Reservation planned = store.claim(store.cursors().planned[0].id);
    ledger.draw(planned);
  }
  while (store.manifest().units_made < kUnits) {
    pour_unit(store);
    store.finish_unit();
  }
  unlock_all(store);
  MaterialCounts some;
  some[kAnds] = std::min<std::uint64_t>(store.left()[kAnds], 7);
  some[kBits] = std::min<std::uint64_t>(store.left()[kBits], 9000);
  Reservation first = store.reserve({}, some);
  ledger.draw(first);
  Reservation rest = reserve_all(store);
  ledger.draw(rest);
  for (const MaterialKind kind : {kAnds, kBits}) {
    EXPECT_EQ(store.served()[kind], store.made()[kind]);
    for (std::uint64_t i = position[kind]; i < store.made()[kind]; ++i)
      ASSERT_EQ(ledger.served[kind == kBits][i], 1) << "lost: " << name_of(kind) << " " << i;
  }
}

}  // namespace

void check_aftermath(const std::filesystem::path& dir, Ledger& ledger) {
  if (!std::filesystem::exists(dir / "material.mdb")) {
    EXPECT_FALSE(ledger.is_made);
    EXPECT_EQ(message_of([&] { make_store(dir); }), "");
    return;
  }
  try {
    // Read before opening, which erases remaining keys.
    constexpr std::size_t kSaltAt = 48;
    const bool is_erased =
        read_file(dir / "store.keys").find_first_not_of('\0', kSaltAt) == std::string::npos;
    Store store = Store::open(dir, {.purpose = Purpose::Make, .is_adopted = true});
    if (ledger.is_revoked) {
      EXPECT_EQ(store.manifest().state, StoreState::Revoked);
    }
    if (store.manifest().state == StoreState::Revoked) {
      EXPECT_TRUE(ledger.revocation_begun);
      EXPECT_TRUE(is_erased) << "keys are erased before the reason is written";
      EXPECT_EQ(store.protection(), KeyProtection::Erased);
      return;
    }
    if (ledger.revocation_begun) {
      // Some of the keys may be erased.
      expect_attempts(store, ledger);
      return;
    }
    expect_committed(store, ledger);
    EXPECT_EQ(unerased_slots(store, dir / "store.keys"), std::vector<std::uint64_t>());
    serve_the_rest(store, ledger);
  } catch (const StoreError& error) {
    // Keys are erased even if the manifest cannot be written.
    EXPECT_TRUE(ledger.revocation_begun && mentions(error.what(), "erased")) << error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

}  // namespace tinyot::faults
