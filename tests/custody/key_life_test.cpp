// The steps of a key's life with an honest peer, and with shares that are not those of the key.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "base/hex.h"
#include "circuitgen/generators/registry.h"
#include "two_custodians.h"

namespace tinyot::test {
namespace {

using custody::Custodian;
using custody::KeyAlgorithm;
using custody::KeyClass;
using custody::KeyPeer;
using custody::KeyProblem;
using custody::KeyState;

TwoCustodians::Step creates(const custody::KeyAttributes& attributes, std::uint8_t request = 1) {
  return [=](Custodian& custodian, KeyPeer& peer) {
    custodian.create(peer, request_id(request), attributes);
  };
}
TwoCustodians::Step refreshes(const custody::KeyId& id) {
  return [=](Custodian& custodian, KeyPeer& peer) { custodian.refresh(peer, request_id(9), id); };
}

custody::KeyAttributes imported(std::uint8_t number) {
  custody::KeyAttributes attributes = attributes_of(number);
  attributes.origin = custody::KeyOrigin::Imported;
  return attributes;
}

void expect_active(TwoCustodians& world, const custody::KeyId& id, std::uint64_t epoch) {
  for (const Party party : {Party::A, Party::B}) {
    const auto record = world.files(party).find(id);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->state, KeyState::Active);
    ASSERT_EQ(record->held.size(), 1u);
    EXPECT_EQ(record->held[0].epoch.number, epoch);
  }
}

TEST(KeyLife, IsCreatedLoadedAndRefreshed) {
  std::uint8_t number = 1;
  for (const auto& [key_class, algorithm] : {std::pair{KeyClass::Aead, KeyAlgorithm::Aes128},
                                             {KeyClass::Mac, KeyAlgorithm::Aes256},
                                             {KeyClass::Kdf, KeyAlgorithm::Aes128},
                                             {KeyClass::Mac, KeyAlgorithm::HmacSha256}}) {
    TwoCustodians world;
    const custody::KeyAttributes attributes = attributes_of(number++, key_class, algorithm);
    world.run_done(creates(attributes));
    expect_active(world, attributes.id, 1);
    const auto key = world.key(attributes.id);
    ASSERT_TRUE(key);
    EXPECT_EQ(key->size(), key_bytes_of(algorithm));
    EXPECT_TRUE(world.loads(attributes.id));
    const custody::Share before = world.files(Party::A).share(
        attributes.id, world.files(Party::A).record(attributes.id).held[0].epoch);
    world.run_done(refreshes(attributes.id));
    expect_active(world, attributes.id, 2);
    EXPECT_EQ(world.key(attributes.id), key) << "the key stays the same";
    EXPECT_NE(world.files(Party::A).share(
                  attributes.id, world.files(Party::A).record(attributes.id).held[0].epoch),
              before);
    EXPECT_TRUE(world.loads(attributes.id));
  }
}

TEST(KeyLife, SharesAndKeysAreFresh) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1), 1));
  world.run_done(creates(attributes_of(2), 2));
  EXPECT_NE(world.key(key_id(1)), world.key(key_id(2)));
  std::set<custody::Share> shares;
  for (const Party party : {Party::A, Party::B})
    for (const std::uint8_t id : {1, 2})
      shares.insert(world.files(party).share(key_id(id),
                                             world.files(party).record(key_id(id)).held[0].epoch));
  EXPECT_EQ(shares.size(), 4u);
}

TEST(KeyLife, RequestIsRepeatedWithoutAnotherKey) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1), 1));
  const auto key = world.key(key_id(1));
  world.run_done(creates(attributes_of(1), 1));
  EXPECT_EQ(world.key(key_id(1)), key);
  const StepEnds ends = world.run(creates(attributes_of(1), 2));
  EXPECT_EQ(ends[0].problem, KeyProblem::Exists) << ends[0].message;
  EXPECT_EQ(world.key(key_id(1)), key);
}

TEST(KeyLife, ImportedKeyIsNeitherShareNorZero) {
  for (const Party by : {Party::A, Party::B}) {
    TwoCustodians world;
    const std::vector<std::byte> key(16, std::byte{0x5a});
    const auto ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
      // Which party this is shows by the files that it has.
      const bool is_mine = &custodian.files() == &world.files(by);
      custodian.import(
          peer, request_id(1), imported(1), by,
          is_mine ? std::optional(custody::Share(key.begin(), key.end())) : std::nullopt);
    });
    ASSERT_TRUE(ends[0].is_done && ends[1].is_done) << ends[0].message << ends[1].message;
    EXPECT_EQ(world.key(key_id(1)), key);
    for (const Party party : {Party::A, Party::B}) {
      const custody::Share share =
          world.files(party).share(key_id(1), world.files(party).record(key_id(1)).held[0].epoch);
      EXPECT_NE(std::vector(share.begin(), share.end()), key);
      EXPECT_NE(share, custody::Share(16, std::byte{0}));
    }
    EXPECT_TRUE(world.loads(key_id(1)));
  }
}

// A child is loaded as any other key, and neither party has it.
TEST(KeyLife, DerivesChildrenThatDifferByAllTheyAreOf) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1, KeyClass::Kdf)));
  const auto child_of = [&](custody::KeyAttributes child, const std::string& context) {
    child.origin = custody::KeyOrigin::Derived;
    child.parent = key_id(1);
    const auto bytes = std::as_bytes(std::span(context));
    child.id = Custodian::derived_id(child, bytes);
    child.label = "child/" + custody::text_of(child.id).substr(0, 8);
    world.run_done([&](Custodian& custodian, KeyPeer& peer) {
      const custody::LoadedKey parent = custodian.load(peer, key_id(1));
      custodian.derive(peer, request_id(3), parent, child, bytes);
    });
    EXPECT_TRUE(world.loads(child.id));
    const auto key = world.key(child.id);
    for (const Party party : {Party::A, Party::B}) {
      const custody::Share share =
          world.files(party).share(child.id, world.files(party).record(child.id).held[0].epoch);
      EXPECT_NE(std::vector(share.begin(), share.end()), *key);
      EXPECT_NE(share, custody::Share(share.size(), std::byte{0}));
    }
    return *key;
  };
  std::set<std::vector<std::byte>> keys;
  keys.insert(child_of(attributes_of(2), "context"));
  keys.insert(child_of(attributes_of(2), "other"));
  keys.insert(child_of(attributes_of(2, KeyClass::Mac), "context"));
  keys.insert(child_of(attributes_of(2, KeyClass::Kdf), "context"));
  auto caller = attributes_of(2);
  caller.nonces = custody::NonceMode::Caller;
  keys.insert(child_of(caller, "context"));
  // Another algorithm: no prefix of a longer key.
  auto longer = child_of(attributes_of(2, KeyClass::Aead, KeyAlgorithm::Aes256), "context");
  longer.resize(16);
  keys.insert(longer);
  EXPECT_EQ(keys.size(), 6u);
}

TEST(KeyLife, DestroyedChildIsNotDerivedAgain) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1, KeyClass::Kdf)));
  auto child = attributes_of(2);
  child.origin = custody::KeyOrigin::Derived;
  child.parent = key_id(1);
  child.id = Custodian::derived_id(child, {});
  const auto derives = [&](std::uint8_t request) {
    return [&, request](Custodian& custodian, KeyPeer& peer) {
      custodian.derive(peer, request_id(request), custodian.load(peer, key_id(1)), child, {});
    };
  };
  world.run_done(derives(3));
  world.files(Party::B).destroy(child.id);
  const StepEnds ends = world.run(derives(4));
  EXPECT_FALSE(ends[0].is_done);
  EXPECT_EQ(ends[1].problem, KeyProblem::Exists) << ends[1].message;
  EXPECT_EQ(world.files(Party::B).record(child.id).state, KeyState::Destroyed);
}

custody::KeyRecord record_without_epochs(custody::KeyRecord record) {
  record.held.clear();
  return record;
}

// A share that is not that of the key: wrong on the disk of one party before the key is settled.
TEST(KeyLife, WrongShareSuspendsTheKeyAtBoth) {
  for (const Party wrong : {Party::A, Party::B}) {
    TwoCustodians world;
    world.run_done(creates(attributes_of(1)));
    for (const Party party : {Party::A, Party::B}) {
      custody::KeyFiles& files = world.files(party);
      const custody::KeyRecord record = files.record(key_id(1));
      custody::Share share = files.share(key_id(1), record.held[0].epoch);
      if (party == wrong) share[3] ^= std::byte{0x10};
      files.restore({party, "the peer", record_without_epochs(record), epoch(2), share});
    }
    const StepEnds ends =
        world.run([&](Custodian& custodian, KeyPeer& peer) { custodian.settle(peer, key_id(1)); });
    for (const Party party : {Party::A, Party::B}) {
      EXPECT_EQ(ends[TwoCustodians::index(party)].problem, KeyProblem::CheckFailed);
      EXPECT_EQ(world.files(party).record(key_id(1)).state, KeyState::Suspended);
    }
    EXPECT_FALSE(world.loads(key_id(1)));
    EXPECT_FALSE(world.run(refreshes(key_id(1)))[0].is_done);
  }
}

// The new share of a refresh is wrong on a disk; both officers keep the old epoch.
TEST(KeyLife, OfficersKeepTheEpochThatFits) {
  for (const Party wrong : {Party::A, Party::B}) {
    TwoCustodians world;
    world.run_done(creates(attributes_of(1)));
    const auto key = world.key(key_id(1));
    const custody::Epoch fits = world.files(Party::A).record(key_id(1)).held[0].epoch;
    for (const Party party : {Party::A, Party::B}) {
      custody::KeyFiles& files = world.files(party);
      custody::Share share = files.share(key_id(1), fits);
      if (party == wrong) share[3] ^= std::byte{0x10};
      files.store_epoch(files.begin_link(), record_without_epochs(files.record(key_id(1))),
                        epoch(2), share);
    }
    world.synchronise();
    for (const Party party : {Party::A, Party::B}) {
      EXPECT_EQ(world.files(party).record(key_id(1)).state, KeyState::Suspended);
      EXPECT_EQ(world.files(party).record(key_id(1)).held.size(), 2u);
    }
    // As soon as one has, and whatever is settled between the two.
    world.files(Party::A).resume(key_id(1), fits);
    world.synchronise();
    EXPECT_FALSE(world.loads(key_id(1)));
    world.files(Party::B).resume(key_id(1), fits);
    world.synchronise();
    EXPECT_TRUE(world.loads(key_id(1)));
    EXPECT_EQ(world.key(key_id(1)), key);
  }
}

TEST(KeyLife, UnsettledAndSuspendedKeysAreNotLoaded) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1)));
  for (const KeyState state : {KeyState::Pending, KeyState::Suspended, KeyState::Restored}) {
    world.files(Party::A).set_state(key_id(1), state);
    EXPECT_FALSE(world.loads(key_id(1))) << custody::name_of(state);
    world.files(Party::A).set_state(key_id(1), KeyState::Active);
  }
  for (const KeyState state : {KeyState::Active, KeyState::Deactivated}) {
    world.files(Party::A).set_state(key_id(1), state);
    EXPECT_TRUE(world.loads(key_id(1))) << custody::name_of(state);
  }
}

// The other party would have half of a new epoch, and the key would have to be settled again.
TEST(KeyLife, SuspendedKeyIsNotRefreshed) {
  for (const Party party : {Party::A, Party::B}) {
    TwoCustodians world;
    world.run_done(creates(attributes_of(1)));
    world.files(party).set_state(key_id(1), KeyState::Suspended);
    for (const StepEnd& end : world.run(refreshes(key_id(1))))
      EXPECT_EQ(end.problem, KeyProblem::State) << end.message;
    world.files(party).set_state(key_id(1), KeyState::Active);
    expect_active(world, key_id(1), 1);
    EXPECT_TRUE(world.loads(key_id(1)));
  }
}

// Nothing is stored, not even a backup, of an epoch that nobody could read again.
TEST(KeyLife, TheLastEpochIsNotRefreshed) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1)));
  custody::Epoch last = epoch(1);
  last.number = custody::kEpochNumberMax;
  for (const Party party : {Party::A, Party::B}) {
    custody::KeyFiles& files = world.files(party);
    const custody::KeyRecord record = files.record(key_id(1));
    const custody::Share share = files.share(key_id(1), record.held[0].epoch);
    const std::uint64_t link = files.begin_link();
    files.store_epoch(link, record_without_epochs(record), last, share);
    files.keep_only(link, key_id(1), last);
  }
  for (const StepEnd& end : world.run(refreshes(key_id(1)))) {
    EXPECT_EQ(end.problem, KeyProblem::State);
    EXPECT_NE(end.message.find("its epoch has the last number: rotate it"), std::string::npos)
        << end.message;
  }
  expect_active(world, key_id(1), last.number);
  EXPECT_TRUE(world.loads(key_id(1)));
}

// One of the parties has another TLS key, and an officer of one of them has not bound the key to
// it.
TEST(KeyLife, KeyOfAFormerTlsKeyIsKeptAsItIs) {
  for (const Party party : {Party::A, Party::B}) {
    const std::size_t at = TwoCustodians::index(party);
    TwoCustodians world;
    world.run_done(creates(attributes_of(1)));
    world.peer_identities[at] = "new identity";
    world.open(party);
    EXPECT_FALSE(world.loads(key_id(1)));
    const StepEnds refreshed = world.run(refreshes(key_id(1)));
    EXPECT_EQ(refreshed[at].problem, KeyProblem::Unbound) << refreshed[at].message;
    EXPECT_EQ(refreshed[1 - at].problem, KeyProblem::State) << refreshed[1 - at].message;
    const StepEnds created = world.run(creates(attributes_of(1)));
    EXPECT_EQ(created[at].problem, KeyProblem::Unbound) << created[at].message;
    EXPECT_FALSE(created[1 - at].is_done);
    expect_active(world, key_id(1), 1);
    world.files(party).rebind(key_id(1));
    EXPECT_TRUE(world.loads(key_id(1)));
    world.run_done(refreshes(key_id(1)));
    expect_active(world, key_id(1), 2);
  }
}

// What a crash has left is neither completed nor undone.
TEST(KeyLife, UnsettledKeyOfAFormerTlsKeyWaits) {
  const auto settles = [](Custodian& custodian, KeyPeer& peer) {
    custodian.settle(peer, key_id(1));
  };
  for (const bool is_at_both : {true, false}) {
    TwoCustodians world;
    world.run_done(creates(attributes_of(1)));
    if (is_at_both) {
      world.files(Party::B).set_state(key_id(1), KeyState::Pending);
    } else {
      std::filesystem::remove(world.disk_of(Party::B) / (custody::text_of(key_id(1)) + ".key"));
      world.open(Party::B);
    }
    world.files(Party::A).set_state(key_id(1), KeyState::Pending);
    world.peer_identities[0] = "new identity";
    world.open(Party::A);
    EXPECT_FALSE(world.run(settles)[0].is_done);
    ASSERT_TRUE(world.files(Party::A).find(key_id(1)));
    EXPECT_EQ(world.files(Party::A).record(key_id(1)).state, KeyState::Pending);
    world.files(Party::A).rebind(key_id(1));
    world.run(settles);
    if (is_at_both)
      expect_active(world, key_id(1), 1);
    else
      EXPECT_FALSE(world.files(Party::A).find(key_id(1)));
  }
}

// Pitfall: destruction by the peer, who may be an intruder, erases nothing here.
TEST(KeyLife, PeersDestructionSuspends) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1)));
  world.files(Party::B).destroy(key_id(1));
  const StepEnds ends =
      world.run([&](Custodian& custodian, KeyPeer& peer) { custodian.settle(peer, key_id(1)); });
  EXPECT_EQ(ends[0].problem, KeyProblem::NotAtPeer);
  EXPECT_TRUE(ends[1].is_done);
  const custody::KeyRecord record = world.files(Party::A).record(key_id(1));
  EXPECT_EQ(record.state, KeyState::Suspended);
  EXPECT_EQ(world.files(Party::A).share(key_id(1), record.held[0].epoch).size(), 16u);
}

// A peer decides how long a run takes: what an officer does meanwhile counts.
class During final : public PassingPeer {
 public:
  During(KeyPeer& peer, std::function<void()> event)
      : PassingPeer(peer), event_(std::move(event)) {}
  RunResult run(const circuit::Circuit& circuit, const Values& inputs, const SharedInputs& shared,
                const std::string& label) override {
    RunResult result = PassingPeer::run(circuit, inputs, shared, label);
    if (event_) event_();
    return result;
  }

 private:
  std::function<void()> event_;
};

TEST(KeyLife, OfficersDecisionDuringARefreshStays) {
  for (const KeyState state : {KeyState::Suspended, KeyState::Deactivated}) {
    TwoCustodians world;
    world.run_done(creates(attributes_of(1)));
    world.run([&](Custodian& custodian, KeyPeer& peer) {
      const bool is_a = custodian.files().owner().party == Party::A;
      During during(peer, [&] {
        if (is_a) custodian.files().set_state(key_id(1), state);
      });
      custodian.refresh(during, request_id(2), key_id(1));
    });
    EXPECT_EQ(world.files(Party::A).record(key_id(1)).state, state);
  }
}

TEST(KeyLife, KeyThatIsDestroyedDuringALoadStaysDestroyed) {
  for (const bool is_share_wrong : {false, true}) {
    TwoCustodians world;
    world.run_done(creates(attributes_of(1)));
    if (is_share_wrong) {
      custody::KeyFiles& files = world.files(Party::B);
      const custody::KeyRecord record = files.record(key_id(1));
      custody::Share share = files.share(key_id(1), record.held[0].epoch);
      share[0] ^= std::byte{1};
      custody::Share right = world.files(Party::A).share(key_id(1), record.held[0].epoch);
      files.restore({Party::B, "the peer", record_without_epochs(record), epoch(7), share});
      world.files(Party::A).restore(
          {Party::A, "the peer", record_without_epochs(record), epoch(7), right});
    }
    const StepEnds ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
      const bool is_a = custodian.files().owner().party == Party::A;
      During during(peer, [&] {
        if (is_a) custodian.files().destroy(key_id(1));
      });
      if (is_share_wrong)
        custodian.settle(during, key_id(1));
      else
        custodian.load(during, key_id(1));
    });
    EXPECT_FALSE(ends[0].is_done);
    EXPECT_EQ(world.files(Party::A).record(key_id(1)).state, KeyState::Destroyed);
  }
}

TEST(KeyLife, KeyOfAnotherEpochSinceTheLoadIsNotLoaded) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1)));
  const StepEnds ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
    custody::KeyFiles& files = custodian.files();
    const custody::KeyRecord record = files.record(key_id(1));
    During during(peer, [&] {
      const std::uint64_t link = files.begin_link();
      files.store_epoch(link, record, epoch(2), custody::Share(16, std::byte{7}));
      files.keep_only(link, key_id(1), epoch(2));
    });
    custodian.load(during, key_id(1));
  });
  for (const StepEnd& end : ends) EXPECT_EQ(end.problem, KeyProblem::State);
}

// The peer says at the end that its own is not settled.
class LeavesPending final : public PassingPeer {
 public:
  using PassingPeer::PassingPeer;
  std::vector<std::byte> exchange(const std::string& label,
                                  std::span<const std::byte> mine) override {
    auto have = custody::have_from(mine, key_id(1));
    if (!label.starts_with("new ")) return PassingPeer::exchange(label, mine);
    have.value().state = KeyState::Pending;
    return PassingPeer::exchange(label, custody::message_about(key_id(1), have));
  }
};

TEST(KeyLife, StepIsDoneOnceTheKeyIsActiveAtBoth) {
  const auto attributes = attributes_of(1), import = imported(1);
  const std::vector<TwoCustodians::Step> steps = {
      creates(attributes), [&](Custodian& custodian, KeyPeer& peer) {
        const bool is_a = custodian.files().owner().party == Party::A;
        custodian.import(peer, request_id(1), import, Party::A,
                         is_a ? std::optional(custody::Share(16, std::byte{7})) : std::nullopt);
      }};
  for (const auto& step : steps) {
    TwoCustodians world;
    const StepEnds ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
      LeavesPending leaves(peer);
      step(custodian, custodian.files().owner().party == Party::A ? peer : leaves);
    });
    EXPECT_EQ(ends[0].problem, KeyProblem::NotAtPeer) << ends[0].message;
    world.run_done(step);  // the request is repeated
  }
}

TEST(KeyLife, KeysAreDerivedFromActiveOnesAlone) {
  auto child = attributes_of(2);
  child.origin = custody::KeyOrigin::Derived;
  child.parent = key_id(1);
  child.id = Custodian::derived_id(child, {});
  for (const KeyState state : {KeyState::Active, KeyState::Deactivated, KeyState::Suspended})
    for (const Party party : {Party::A, Party::B}) {
      TwoCustodians world;
      world.run_done(creates(attributes_of(1, KeyClass::Kdf)));
      const StepEnds ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
        const custody::LoadedKey parent = custodian.load(peer, key_id(1));
        if (custodian.files().owner().party == party) custodian.files().set_state(key_id(1), state);
        custodian.derive(peer, request_id(3), parent, child, {});
      });
      const StepEnd& end = ends[TwoCustodians::index(party)];
      EXPECT_EQ(end.problem,
                state == KeyState::Active ? std::nullopt : std::optional(KeyProblem::State));
      EXPECT_EQ(world.files(party).find(child.id).has_value(), state == KeyState::Active);
    }
}

// The tag of an epoch is no secret: what a refresh adds to the shares is something else.
TEST(KeyLife, RefreshAddsNothingThatIsInTheRecord) {
  for (const KeyAlgorithm algorithm : {KeyAlgorithm::Aes128, KeyAlgorithm::Aes256}) {
    TwoCustodians world;
    world.run_done(creates(attributes_of(1, KeyClass::Aead, algorithm)));
    const auto share_of = [&](Party party) {
      custody::KeyFiles& files = world.files(party);
      return files.share(key_id(1), files.record(key_id(1)).held.front().epoch);
    };
    const custody::Share a = share_of(Party::A), b = share_of(Party::B);
    world.run_done(refreshes(key_id(1)));
    const std::vector<std::byte> added = TwoCustodians::sum(a, share_of(Party::A));
    EXPECT_EQ(added, TwoCustodians::sum(b, share_of(Party::B)));
    const auto tag = world.files(Party::A).record(key_id(1)).held.front().epoch.tag;
    for (const auto half : {std::span(tag).first(8), std::span(tag).last(8)})
      EXPECT_EQ(std::search(added.begin(), added.end(), half.begin(), half.end()), added.end());
  }
}

// A disk that was lost, and a backup from before: the peer knows what has been used.
TEST(KeyLife, RestoredKeyHasUsedWhatItHasAtThePeer) {
  TwoCustodians world;
  const auto empty = world.copy_disk(Party::A);
  world.run_done(creates(attributes_of(1)));
  custody::KeyRecord record = world.files(Party::A).record(key_id(1));
  const custody::Epoch only = record.held.front().epoch;
  const custody::Share share = world.files(Party::A).share(key_id(1), only);
  world.files(Party::B).raise_use_bound(key_id(1), 4096);
  world.set_back(Party::A, empty);
  world.files(Party::A).restore({Party::A, "the peer", record_without_epochs(record), only, share});
  world.run_done([](Custodian& custodian, KeyPeer& peer) { custodian.settle(peer, key_id(1)); });
  expect_active(world, key_id(1), 1);
  EXPECT_EQ(world.files(Party::A).record(key_id(1)).use_bound, 4096u);
}

// Its disk was lost, with what its officers had set: the peer knows that the key seals no more.
TEST(KeyLife, RestoredKeyIsDeactivatedAsAtThePeer) {
  for (const bool is_suspended_meanwhile : {false, true}) {
    TwoCustodians world;
    const auto empty = world.copy_disk(Party::A);
    world.run_done(creates(attributes_of(1)));
    const custody::KeyRecord record = world.files(Party::A).record(key_id(1));
    const custody::Epoch only = record.held.front().epoch;
    const custody::Share share = world.files(Party::A).share(key_id(1), only);
    world.files(Party::B).deactivate(key_id(1));
    world.set_back(Party::A, empty);
    custody::KeyFiles& files = world.files(Party::A);
    files.restore({Party::A, "the peer", record_without_epochs(record), only, share});
    if (is_suspended_meanwhile) {
      files.set_state(key_id(1), KeyState::Suspended);
      files.resume(key_id(1));
    }
    world.run_done([](Custodian& custodian, KeyPeer& peer) { custodian.settle(peer, key_id(1)); });
    for (const Party party : {Party::A, Party::B})
      EXPECT_EQ(world.files(party).record(key_id(1)).state, KeyState::Deactivated);
  }
}

// The bits of a child depend on its context, class, algorithm and nonces: under another label it is
// the same key, which has been destroyed.
TEST(KeyLife, ChildHasOneIdWhateverItsLabel) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1, KeyClass::Kdf)));
  const auto child_of = [&](const std::string& label) {
    auto child = attributes_of(2);
    child.label = label;
    child.origin = custody::KeyOrigin::Derived;
    child.parent = key_id(1);
    child.id = Custodian::derived_id(child, {});
    return child;
  };
  const auto derive = [&](const std::string& label, std::uint8_t request) {
    return world.run([&](Custodian& custodian, KeyPeer& peer) {
      custodian.derive(peer, request_id(request), custodian.load(peer, key_id(1)), child_of(label),
                       {});
    });
  };
  EXPECT_TRUE(derive("prod/payments", 3)[0].is_done);
  EXPECT_EQ(child_of("test/x").id, child_of("prod/payments").id);
  for (const Party party : {Party::A, Party::B})
    world.files(party).destroy(child_of("prod/payments").id);
  for (const std::uint8_t request : {3, 4})
    EXPECT_EQ(derive("test/x", request)[0].problem, KeyProblem::Exists);
  EXPECT_FALSE(derive("prod/payments", 3)[0].is_done) << "a destroyed key is not a success";
}

TEST(KeyLife, OriginIsWhatHappens) {
  TwoCustodians world;
  const std::vector<std::byte> key(16, std::byte{0x5a});
  const StepEnds ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
    const bool is_a = custodian.files().owner().party == Party::A;
    custodian.import(peer, request_id(1), attributes_of(1), Party::A,
                     is_a ? std::optional(custody::Share(key.begin(), key.end())) : std::nullopt);
  });
  EXPECT_NE(ends[1].message.find("is not imported, but generated"), std::string::npos)
      << ends[1].message;
  EXPECT_NE(world.run(creates(imported(1)))[0].message.find("is not generated, but imported"),
            std::string::npos);
}

// The peer takes part with another share than the one that was tossed.
class Shifted final : public PassingPeer {
 public:
  explicit Shifted(KeyPeer& peer) : PassingPeer(peer) {}
  RunResult run(const circuit::Circuit& circuit, const Values& inputs, const SharedInputs& shared,
                const std::string& label) override {
    const auto right = inputs.bytes("key_b");
    custody::Share share(right.begin(), right.end());
    share[0] ^= std::byte{0x80};
    Values shifted;
    shifted.add("key_b", share);
    if (inputs.contains("check")) shifted.add("check", inputs.bytes("check"));
    return PassingPeer::run(circuit, shifted, shared, label);
  }
};

TEST(KeyLife, ImportComparesTheKey) {
  const auto import = [](TwoCustodians& world, std::uint8_t byte, bool is_shifted) {
    return world.run([=](Custodian& custodian, KeyPeer& peer) {
      const bool is_a = custodian.files().owner().party == Party::A;
      Shifted shifted(peer);
      custodian.import(is_shifted && !is_a ? shifted : peer, request_id(1), imported(1), Party::A,
                       is_a ? std::optional(custody::Share(16, std::byte{byte})) : std::nullopt);
    });
  };
  TwoCustodians world;
  EXPECT_EQ(import(world, 7, true)[0].problem, KeyProblem::Differs);
  EXPECT_FALSE(world.files(Party::A).find(key_id(1)));
  world.synchronise();
  EXPECT_TRUE(import(world, 7, false)[0].is_done);
  EXPECT_EQ(import(world, 8, false)[0].problem, KeyProblem::Differs)
      << "the request is repeated with another key";
  EXPECT_TRUE(import(world, 7, false)[0].is_done);
}

TEST(KeyLife, RepeatedRequestOfAKeyThatIsNotActiveFails) {
  for (const KeyState state : {KeyState::Suspended, KeyState::Destroyed}) {
    TwoCustodians world;
    world.run_done(creates(attributes_of(1)));
    if (state == KeyState::Suspended)
      world.files(Party::A).set_state(key_id(1), state);
    else
      world.files(Party::A).destroy(key_id(1));
    for (const StepEnd& end : world.run(creates(attributes_of(1)))) EXPECT_FALSE(end.is_done);
  }
}

// The peer follows the refresh, and then says and does what belongs to the old epoch alone.
TEST(KeyLife, RefreshThatKeepsTheOldEpochIsNoSuccess) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1)));
  const StepEnds ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
    if (custodian.files().owner().party == Party::A)
      return static_cast<void>(custodian.refresh(peer, request_id(2), key_id(1)));
    const custody::KeyRecord record = custodian.files().record(key_id(1));
    const auto said = custody::message_about(key_id(1), custodian.files().have(key_id(1)));
    const std::string refresh = "refresh " + hex_of(request_id(2)) + " " +
                                hex_of(crypto::bytes_of(custody::digest_of(record.attributes)));
    const std::string settle = "settle " + custody::text_of(key_id(1));
    const custody::Epoch old = record.held[0].epoch;
    peer.exchange(refresh + " have", said);
    peer.toss_coins(refresh);
    peer.exchange(settle + " have", said);
    peer.run(
        *circuit::find_key_circuit("key_load:algorithm=aes128,class=aead"),
        Values().add("key_b", custodian.files().share(key_id(1), old)).add("check", record.check),
        {}, settle + " " + custody::text_of(old));
  });
  EXPECT_TRUE(ends[1].is_done) << ends[1].message;
  EXPECT_EQ(ends[0].problem, KeyProblem::NotAtPeer) << ends[0].message;
  expect_active(world, key_id(1), 1);
}

TEST(KeyLife, StaleLoadedParentDerivesNothing) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1, KeyClass::Kdf)));
  auto child = attributes_of(2);
  child.origin = custody::KeyOrigin::Derived;
  child.parent = key_id(1);
  child.id = Custodian::derived_id(child, {});
  const StepEnds ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
    const custody::LoadedKey parent = custodian.load(peer, key_id(1));
    custodian.refresh(peer, request_id(2), key_id(1));
    custodian.derive(peer, request_id(3), parent, child, {});
  });
  for (const StepEnd& end : ends) EXPECT_EQ(end.problem, KeyProblem::State);
}

TEST(KeyLife, StepsOfDifferentRequestsDoNotMeet) {
  TwoCustodians world;
  const StepEnds ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
    const bool is_a = &custodian.files() == &world.files(Party::A);
    custodian.create(peer, request_id(is_a ? 1 : 2), attributes_of(1));
  });
  EXPECT_FALSE(ends[0].is_done);
  EXPECT_FALSE(ends[1].is_done);
  EXPECT_TRUE(world.files(Party::A).records().empty());
}

// A step of a link that has ended writes nothing once a new one is up.
TEST(KeyLife, EndedLinkWritesNothing) {
  TwoCustodians world;
  world.run_done(creates(attributes_of(1)));
  custody::KeyFiles& files = world.files(Party::A);
  const std::uint64_t old = files.begin_link();
  files.begin_link();
  const custody::KeyRecord record = files.record(key_id(1));
  EXPECT_THROW(files.store_epoch(old, record, {2, {}}, custody::Share(16)), Disagreement);
  EXPECT_THROW(files.keep_only(old, key_id(1), record.held[0].epoch), Disagreement);
  EXPECT_THROW(files.remove_pending(old, key_id(1)), Disagreement);
  EXPECT_EQ(files.record(key_id(1)).held.size(), 1u);
}

}  // namespace
}  // namespace tinyot::test
