// The rules by which a key is settled, and the message from which both parties decide.
#include "custody/settle.h"

#include <gtest/gtest.h>

#include "two_custodians.h"

namespace tinyot::test {
namespace {

using custody::Epoch;
using custody::KeyHave;
using custody::KeyState;
using custody::settle_step;
using custody::SettleKind;

KeyHave have(KeyState state, std::vector<Epoch> epochs) {
  return {key_id(1), custody::digest_of(attributes_of(1)), {}, state, std::move(epochs), 7};
}

// Of both parties.
std::pair<SettleKind, SettleKind> kinds(const std::optional<KeyHave>& a,
                                        const std::optional<KeyHave>& b) {
  return {settle_step(a, b).kind, settle_step(b, a).kind};
}
using Kinds = std::pair<SettleKind, SettleKind>;

TEST(Settle, ChangesNothingThatIsSettled) {
  for (const KeyState a : {KeyState::Active, KeyState::Deactivated, KeyState::Suspended})
    for (const KeyState b : {KeyState::Active, KeyState::Deactivated, KeyState::Suspended})
      EXPECT_EQ(kinds(have(a, {epoch(3)}), have(b, {epoch(3)})),
                Kinds(SettleKind::Done, SettleKind::Done));
}

TEST(Settle, LoadsTheHighestCommonEpochAtBoth) {
  const auto expect = [](const KeyHave& a, const KeyHave& b, const Epoch& wanted) {
    EXPECT_EQ(kinds(a, b), Kinds(SettleKind::Load, SettleKind::Load));
    EXPECT_EQ(settle_step(a, b).epoch, wanted);
    EXPECT_EQ(settle_step(b, a).epoch, wanted);
  };
  const KeyState active = KeyState::Active;
  expect(have(active, {epoch(1), epoch(2)}), have(active, {epoch(1), epoch(2)}), epoch(2));
  expect(have(active, {epoch(1), epoch(2)}), have(active, {epoch(1)}), epoch(1));
  expect(have(active, {epoch(2)}), have(active, {epoch(1), epoch(2)}), epoch(2));
  expect(have(KeyState::Pending, {epoch(1)}), have(KeyState::Pending, {epoch(1)}), epoch(1));
  expect(have(KeyState::Pending, {epoch(1)}), have(active, {epoch(1)}), epoch(1));
  expect(have(KeyState::Restored, {epoch(4)}), have(active, {epoch(4)}), epoch(4));
}

// A peer could otherwise have a suspended key loaded, and learn a bit each time.
TEST(Settle, LoadsNoSuspendedKey) {
  for (const std::vector<Epoch>& epochs : {std::vector{epoch(1), epoch(2)}, {epoch(1)}})
    for (const KeyState other : {KeyState::Active, KeyState::Restored, KeyState::Pending}) {
      if (other == KeyState::Active && epochs.size() == 1) continue;
      EXPECT_EQ(kinds(have(KeyState::Suspended, epochs), have(other, {epoch(1)})),
                Kinds(SettleKind::IsSuspended, SettleKind::IsSuspended));
    }
}

TEST(Settle, KeyWithoutAShareHasNoEpoch) {
  EXPECT_EQ(kinds(have(KeyState::Active, {}), have(KeyState::Active, {epoch(1)})),
            Kinds(SettleKind::NoEpoch, SettleKind::NoEpoch));
}

TEST(Settle, TellsAttemptsApartByTheirTags) {
  const KeyHave a = have(KeyState::Active, {epoch(1), epoch(2, 5)}),
                b = have(KeyState::Active, {epoch(1), epoch(2, 6)});
  EXPECT_EQ(settle_step(a, b).epoch, epoch(1));
  EXPECT_EQ(kinds(have(KeyState::Active, {epoch(2, 5)}), have(KeyState::Active, {epoch(2, 6)})),
            Kinds(SettleKind::NoEpoch, SettleKind::NoEpoch));
}

TEST(Settle, ErasesWhatHasNeverBeenUsed) {
  EXPECT_EQ(kinds(have(KeyState::Pending, {epoch(1)}), std::nullopt),
            Kinds(SettleKind::Erase, SettleKind::Nothing));
  for (const KeyState state :
       {KeyState::Active, KeyState::Deactivated, KeyState::Suspended, KeyState::Restored})
    EXPECT_EQ(kinds(have(state, {epoch(1)}), std::nullopt),
              Kinds(SettleKind::NotAtPeer, SettleKind::Nothing));
}

TEST(Settle, DestructionByOneErasesNothingOfTheOther) {
  for (const KeyState state : {KeyState::Pending, KeyState::Active, KeyState::Suspended})
    EXPECT_EQ(kinds(have(KeyState::Destroyed, {}), have(state, {epoch(1)})),
              Kinds(SettleKind::IsDestroyed, SettleKind::PeerDestroyed));
  EXPECT_EQ(kinds(have(KeyState::Destroyed, {}), have(KeyState::Destroyed, {})),
            Kinds(SettleKind::IsDestroyed, SettleKind::IsDestroyed));
}

TEST(Settle, RefusesAnotherKeyBeforeAllElse) {
  for (const KeyState state : {KeyState::Pending, KeyState::Active, KeyState::Destroyed}) {
    const std::vector<Epoch> epochs =
        state == KeyState::Destroyed ? std::vector<Epoch>() : std::vector{epoch(1)};
    const KeyHave mine = have(KeyState::Active, {epoch(1)});
    KeyHave other = have(state, epochs);
    other.check[5] = std::byte{1};
    EXPECT_EQ(kinds(mine, other), Kinds(SettleKind::Differs, SettleKind::Differs));
    other = have(state, epochs);
    other.attributes.bytes[31] ^= 1;
    EXPECT_EQ(kinds(mine, other), Kinds(SettleKind::Differs, SettleKind::Differs));
  }
}

TEST(KeyHaveMessage, SaysWhatWasPut) {
  const KeyHave mine = have(KeyState::Suspended, {epoch(1), epoch(2, 9)});
  const auto theirs = custody::have_from(custody::message_about(mine.id, mine), mine.id);
  ASSERT_TRUE(theirs);
  EXPECT_EQ(theirs->id, mine.id);
  EXPECT_EQ(theirs->attributes.bytes, mine.attributes.bytes);
  EXPECT_EQ(theirs->check, mine.check);
  EXPECT_EQ(theirs->state, mine.state);
  EXPECT_EQ(theirs->epochs, mine.epochs);
  EXPECT_EQ(theirs->use_bound, 7u);
  EXPECT_FALSE(
      custody::have_from(custody::message_about(mine.id, std::nullopt), mine.id).has_value());
}

// A peer that says so could otherwise have the count begin anew.
TEST(KeyHaveMessage, SaysOfNoMoreUsesThanThereAre) {
  KeyHave mine = have(KeyState::Active, {epoch(1)});
  mine.use_bound = ~std::uint64_t{0};
  EXPECT_EQ(custody::have_from(custody::message_about(mine.id, mine), mine.id).value().use_bound,
            custody::kUseBoundMax);
}

TEST(KeyHaveMessage, RefusesWhatNoPartySays) {
  const auto refused = [](const KeyHave& said, const custody::KeyId& id) {
    EXPECT_THROW(custody::have_from(custody::message_about(said.id, said), id), PeerCheated);
  };
  refused(have(KeyState::Active, {epoch(1)}), key_id(2));
  refused(have(KeyState::Destroyed, {epoch(1)}), key_id(1));
  refused(have(KeyState::Active, {epoch(2), epoch(1)}), key_id(1));
  refused(have(KeyState::Active, {epoch(1), epoch(1)}), key_id(1));
  refused(have(KeyState::Active, {epoch(1), epoch(2), epoch(3), epoch(4)}), key_id(1));
  refused(have(KeyState::Active, {epoch(0)}), key_id(1));
  refused(have(static_cast<KeyState>(0), {epoch(1)}), key_id(1));
  refused(have(static_cast<KeyState>(7), {epoch(1)}), key_id(1));
  const std::vector<std::byte> right =
      custody::message_about(key_id(1), have(KeyState::Active, {epoch(1)}));
  // A message that ends where a field begins may be a whole one that says less.
  for (std::size_t bytes = 0; bytes < right.size(); ++bytes) {
    const std::vector<std::byte> part(right.begin(),
                                      right.begin() + static_cast<std::ptrdiff_t>(bytes));
    try {
      EXPECT_EQ(custody::message_about(key_id(1), custody::have_from(part, key_id(1))), part);
    } catch (const PeerCheated&) {
    }
  }
}

}  // namespace
}  // namespace tinyot::test
