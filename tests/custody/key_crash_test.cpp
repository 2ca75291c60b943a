// Parties that end before any durable step, call or result of a step, one or both of them, also
// while they settle what was left; disks that are set back; disks that are stolen.
#include <gtest/gtest.h>

#include <random>

#include "two_custodians.h"

namespace tinyot::test {
namespace {

using custody::Custodian;
using custody::Epoch;
using custody::KeyPeer;
using custody::KeyState;

const custody::KeyId kKey = key_id(1);

void create(Custodian& custodian, KeyPeer& peer) {
  custodian.create(peer, request_id(1), attributes_of(1));
}
void refresh(Custodian& custodian, KeyPeer& peer) { custodian.refresh(peer, request_id(2), kKey); }

// Both have the same single epoch, the key is active and what it was.
void expect_usable(TwoCustodians& world, const std::optional<std::vector<std::byte>>& key,
                   const std::string& where) {
  const auto a = world.files(Party::A).find(kKey), b = world.files(Party::B).find(kKey);
  ASSERT_TRUE(a && b) << where;
  EXPECT_EQ(a->state, KeyState::Active) << where;
  EXPECT_EQ(b->state, KeyState::Active) << where;
  ASSERT_TRUE(a->held.size() == 1 && b->held.size() == 1) << where;
  EXPECT_EQ(a->held[0].epoch, b->held[0].epoch) << where;
  EXPECT_TRUE(world.loads(kKey)) << where;
  if (key) {
    EXPECT_EQ(world.key(kKey), key) << where;
  }
}

// The numbers of steps of an undisturbed run.
std::array<std::size_t, 2> steps_of(const TwoCustodians::Step& step, bool has_key) {
  TwoCustodians world;
  if (has_key) world.run_done(create);
  world.run_done(step);
  return world.steps;
}

// Every step of a party, and none of the other one; then every pair of steps.
std::vector<CrashAt> crashes_in(const std::array<std::size_t, 2>& steps) {
  std::vector<CrashAt> crashes;
  for (std::size_t k = 0; k < steps[0]; ++k) crashes.push_back({k, std::nullopt});
  for (std::size_t k = 0; k < steps[1]; ++k) crashes.push_back({std::nullopt, k});
  for (std::size_t a = 0; a < steps[0]; ++a)
    for (std::size_t b = 0; b < steps[1]; ++b) crashes.push_back({a, b});
  return crashes;
}

std::string name_of(const CrashAt& crash) {
  const auto text = [](const std::optional<std::size_t>& at) {
    return at ? std::to_string(*at) : std::string("never");
  };
  return "A at " + text(crash[0]) + ", B at " + text(crash[1]);
}

TEST(KeyCrash, CreationIsCompletedOrUndone) {
  std::size_t completed = 0;
  const auto crashes = crashes_in(steps_of(create, false));
  EXPECT_GT(crashes.size(), 200u);
  for (const CrashAt& crash : crashes) {
    TwoCustodians world;
    world.run(create, crash);
    const auto key = world.key(kKey);
    world.synchronise();
    const bool is_there = world.files(Party::A).find(kKey).has_value();
    EXPECT_EQ(world.files(Party::B).find(kKey).has_value(), is_there) << name_of(crash);
    if (is_there) {
      ++completed;
      expect_usable(world, key, name_of(crash));
    }
    // The request is repeated, and has a key either way.
    world.run_done(create);
    expect_usable(world, is_there ? key : std::nullopt, name_of(crash));
  }
  EXPECT_GT(completed, 0u);
  EXPECT_LT(completed, crashes.size());
}

TEST(KeyCrash, RefreshIsCompletedOrUndone) {
  for (const CrashAt& crash : crashes_in(steps_of(refresh, true))) {
    TwoCustodians world;
    world.run_done(create);
    const auto key = world.key(kKey);
    world.run(refresh, crash);
    world.synchronise();
    expect_usable(world, key, name_of(crash));
    world.run_done(refresh);
    expect_usable(world, key, name_of(crash));
  }
}

// Epochs of two attempts have one number, and shares that do not belong together.
TEST(KeyCrash, AttemptsHaveDifferentEpochs) {
  TwoCustodians world;
  world.run_done(create);
  const auto next_of_a = [&] {
    const auto held = world.files(Party::A).record(kKey).held;
    return held.size() == 2 ? std::optional(held[1].epoch) : std::nullopt;
  };
  // A has stored its share of the next epoch, and B has not.
  std::optional<Epoch> first;
  for (std::size_t step = 0; !first && step < 20; ++step) {
    world.run(refresh, {std::nullopt, step});
    first = next_of_a();
    if (first && world.files(Party::B).record(kKey).held.size() == 2) first.reset();
    if (!first) world.synchronise();
  }
  ASSERT_TRUE(first);
  world.synchronise();
  world.run_done(refresh);
  const Epoch second = world.files(Party::A).record(kKey).held[0].epoch;
  EXPECT_NE(first->tag, second.tag);
  expect_usable(world, std::nullopt, "the second attempt");
}

// A second end while the parties settle what the first one has left.
TEST(KeyCrash, SettlingIsCompletedAfterASecondCrash) {
  std::mt19937_64 rng(1);
  const auto first = crashes_in(steps_of(refresh, true));
  for (int round = 0; round < 150; ++round) {
    TwoCustodians world(static_cast<std::uint64_t>(round) + 1);
    world.run_done(create);
    const auto key = world.key(kKey);
    std::string where;
    const CrashAt crash = first[rng() % first.size()];
    where = name_of(crash);
    world.run(refresh, crash);
    for (int again = 0; again < 3; ++again) {
      const CrashAt next = {rng() % 8, rng() % 8};
      where += "; settling " + name_of(next);
      world.synchronise(next);
    }
    world.synchronise();
    expect_usable(world, key, where);
  }
}

std::optional<Epoch> restorable_epoch(TwoCustodians& world, const custody::KeyId& id) {
  std::array<std::set<Epoch>, 2> have;
  std::set<Epoch> active;
  for (const Party party : {Party::A, Party::B}) {
    const std::size_t p = TwoCustodians::index(party);
    const custody::Backups backups(world.backups_of(party),
                                   {{"officer", public_key_of(world.backup_keys[p])}});
    for (const auto& file : backups.files_of(id)) {
      const std::string text = read_file(file);
      have[p].insert(custody::backup_from(
                         custody::open_backup(std::as_bytes(std::span(text)), world.backup_keys[p]))
                         .epoch);
    }
    if (const auto record = world.files(party).find(id))
      for (const custody::HeldEpoch& held : record->held) {
        have[p].insert(held.epoch);
        if (record->state == KeyState::Active) active.insert(held.epoch);
      }
  }
  std::optional<Epoch> best;
  for (const Epoch& epoch : have[0]) {
    if (!have[1].contains(epoch)) continue;
    if (active.contains(epoch)) return epoch;
    best = epoch;
  }
  return best;
}

void restore(TwoCustodians& world, const custody::KeyId& id, const Epoch& epoch) {
  for (const Party party : {Party::A, Party::B}) {
    const std::size_t p = TwoCustodians::index(party);
    const auto record = world.files(party).find(id);
    if (record &&
        std::ranges::find(record->held, epoch, &custody::HeldEpoch::epoch) != record->held.end())
      continue;
    const custody::Backups backups(world.backups_of(party),
                                   {{"officer", public_key_of(world.backup_keys[p])}});
    for (const auto& file : backups.files_of(id)) {
      const std::string text = read_file(file);
      const custody::BackedUpShare opened = custody::backup_from(
          custody::open_backup(std::as_bytes(std::span(text)), world.backup_keys[p]));
      if (opened.epoch == epoch)
        return world.files(party).restore(opened), restore(world, id, epoch);
    }
  }
}

// Disks of one or both parties are set back to any earlier state: backups lose no key.
TEST(KeyCrash, DisksThatAreSetBackLoseNoKeyWithBackups) {
  std::mt19937_64 rng(2);
  for (int round = 0; round < 40; ++round) {
    TwoCustodians world(static_cast<std::uint64_t>(round) + 100);
    world.keeps_history = true;
    world.run_done(create);
    const auto key = world.key(kKey);
    for (int i = 0; i < 2; ++i)
      world.run(refresh, round % 2 == 0 ? CrashAt{} : CrashAt{rng() % 20, std::nullopt});
    const std::uint64_t which = 1 + rng() % 3;
    for (const Party party : {Party::A, Party::B}) {
      const auto& copies = world.history[TwoCustodians::index(party)];
      if ((which >> TwoCustodians::index(party) & 1) != 0)
        world.set_back(party, copies[rng() % copies.size()]);
    }
    world.keeps_history = false;
    world.synchronise();
    if (!world.loads(kKey)) {
      const auto epoch = restorable_epoch(world, kKey);
      ASSERT_TRUE(epoch) << round;
      restore(world, kKey, *epoch);
      world.synchronise();
    }
    expect_usable(world, key, "round " + std::to_string(round));
  }
}

// Disks of both parties that have no epoch in common do not give the key; nor does one disk.
TEST(KeyCrash, SharesOfDifferentEpochsDoNotCombine) {
  TwoCustodians world;
  world.keeps_history = true;
  world.run_done(create);
  for (int i = 0; i < 3; ++i) world.run_done(refresh);
  world.keeps_history = false;
  const auto key = world.key(kKey);
  ASSERT_TRUE(key);
  using Shares = std::map<Epoch, custody::Share>;
  std::array<std::vector<Shares>, 2> stolen;
  for (const Party party : {Party::A, Party::B})
    for (const auto& copy : world.history[TwoCustodians::index(party)]) {
      if (!std::filesystem::exists(copy / "keys")) continue;
      const custody::KeyFiles files(copy, {party, "the peer", "identity"}, store_key_of(party));
      const auto record = files.find(kKey);
      if (!record) continue;
      Shares shares;
      for (const custody::HeldEpoch& held : record->held) try {
          shares[held.epoch] = files.share(kKey, held.epoch);
        } catch (const custody::KeyError&) {
        }
      for (const auto& [epoch, share] : shares)
        EXPECT_NE(std::vector(share.begin(), share.end()), *key) << "one disk has the key";
      stolen[TwoCustodians::index(party)].push_back(std::move(shares));
    }
  std::size_t apart = 0, together = 0;
  for (const Shares& a : stolen[0])
    for (const Shares& b : stolen[1]) {
      const bool have_common =
          std::ranges::any_of(a, [&](const auto& entry) { return b.contains(entry.first); });
      bool combines = false;
      for (const auto& [epoch_a, share_a] : a)
        for (const auto& [epoch_b, share_b] : b)
          combines = combines || TwoCustodians::sum(share_a, share_b) == *key;
      EXPECT_EQ(combines, have_common);
      (have_common ? together : apart) += 1;
    }
  EXPECT_GT(apart, 10u);
  EXPECT_GT(together, 5u);
}

}  // namespace
}  // namespace tinyot::test
