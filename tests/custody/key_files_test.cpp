// Records, the table of their shares, and backups: on disk, changed, exchanged, old, of others.
#include "custody/key_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "custody/key_session.h"
#include "two_custodians.h"

namespace tinyot::test {
namespace {

using custody::Backups;
using custody::Epoch;

using custody::KeyFiles;
using custody::KeyProblem;
using custody::KeyRecord;
using custody::KeyState;
using custody::Share;

Share share_of(std::uint8_t byte) { return Share(16, std::byte{byte}); }

KeyRecord new_record(std::uint8_t number) {
  KeyRecord record;
  record.attributes = attributes_of(number);
  record.check.fill(std::byte{number});
  record.request = request_id(number);
  return record;
}

custody::BackedUpShare backup_of(const KeyRecord& record, const Epoch& epoch, const Share& share) {
  return {Party::A, "peer", record, epoch, share};
}

class KeyFilesTest : public ::testing::Test {
 protected:
  std::unique_ptr<KeyFiles> open(KeyFiles::Owner owner = {Party::A, "peer", "identity"},
                                 Party key_of = Party::A, KeyFiles::BeforeStep before_step = {}) {
    return std::make_unique<KeyFiles>(disk, std::move(owner), store_key_of(key_of),
                                      std::move(before_step));
  }
  // With a key of one epoch.
  std::unique_ptr<KeyFiles> open_with_key(std::uint8_t number = 1) {
    auto files = open();
    files->store_epoch(files->begin_link(), new_record(number), epoch(1), share_of(number));
    files->keep_only(files->begin_link(), key_id(number), epoch(1));
    return files;
  }
  std::filesystem::path file_of(std::uint8_t number) const {
    return disk / (custody::text_of(key_id(number)) + ".key");
  }
  std::string content_of(std::uint8_t number) const { return read_file(file_of(number)); }
  // How many slots of shares are filled.
  std::size_t slots() const {
    const std::string table = read_file(disk / "keys");
    std::size_t filled = 0;
    for (std::size_t at = 128 + 64; at + 64 <= table.size(); at += 64)
      filled += table.substr(at, 64) == std::string(64, '\0') ? 0 : 1;
    return filled;
  }
  // The key's first epoch has been dropped since.
  auto open_with_an_old_record() {
    {
      const auto files = open_with_key();
      const std::uint64_t link = files->begin_link();
      files->store_epoch(link, files->record(key_id(1)), epoch(2), share_of(2));
      const std::string both = read_file(file_of(1));
      files->keep_only(link, key_id(1), epoch(2));
      write_file(file_of(1), both);
    }
    return open();
  }
  std::optional<KeyProblem> problem_of(const std::function<void()>& call) const {
    try {
      call();
    } catch (const custody::KeyError& error) {
      return error.problem();
    }
    return std::nullopt;
  }

  static std::string message_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing is refused";
  }

  TestDirectory directory{"/dev/shm"};
  std::filesystem::path disk = directory / "keys of a peer";
};

TEST_F(KeyFilesTest, KeepRecordsOverARestart) {
  {
    const auto files = open_with_key();
    files->store_epoch(files->begin_link(), files->record(key_id(1)), epoch(2), share_of(7));
    files->raise_use_bound(key_id(1), 1024);
    files->set_state(key_id(1), KeyState::Deactivated);
    files->set_state(key_id(1), KeyState::Suspended);
  }
  const auto files = open();
  const KeyRecord record = files->record(key_id(1));
  EXPECT_EQ(record.attributes, attributes_of(1));
  EXPECT_EQ(record.check, new_record(1).check);
  EXPECT_EQ(record.request, request_id(1));
  EXPECT_EQ(record.state, KeyState::Suspended);
  EXPECT_EQ(record.state_resumed, KeyState::Deactivated);
  EXPECT_EQ(record.use_bound, 1024u);
  ASSERT_EQ(record.held.size(), 2u);
  EXPECT_EQ(files->share(key_id(1), epoch(1)), share_of(1));
  EXPECT_EQ(files->share(key_id(1), epoch(2)), share_of(7));
  EXPECT_EQ(std::filesystem::status(file_of(1)).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

// Both were the next one as they began.
TEST_F(KeyFilesTest, OfTwoKeysThatAreMadeAtOnceOneIsTheNextOfTheLabel) {
  const auto files = open_with_key();
  KeyRecord other = new_record(2);
  other.attributes.label = new_record(1).attributes.label;
  const auto problem = [&] {
    return problem_of(
        [&] { files->store_epoch(files->begin_link(), other, epoch(1), share_of(2)); });
  };
  EXPECT_EQ(problem(), KeyProblem::Exists) << "another key of this version";
  other.attributes.version = 2;
  other.attributes.key_class = custody::KeyClass::Mac;
  EXPECT_EQ(problem(), KeyProblem::Exists) << "of another kind";
  other.attributes.key_class = new_record(1).attributes.key_class;
  other.attributes.origin = custody::KeyOrigin::Imported;
  EXPECT_EQ(problem(), KeyProblem::Exists) << "that a party has as a whole";
  EXPECT_FALSE(files->find(key_id(2)));
  other.attributes.origin = custody::KeyOrigin::Generated;
  EXPECT_EQ(problem(), std::nullopt);
}

// A program that names a key by it would find another one, which the peer may have made for that.
TEST_F(KeyFilesTest, ACkaIdIsOfOneLabel) {
  const auto files = open_with_key(1);
  const auto problem = [&](const KeyRecord& record) {
    return problem_of(
        [&] { files->store_epoch(files->begin_link(), record, epoch(1), share_of(1)); });
  };
  const auto record_with = [](std::uint8_t number, const std::string& cka_id) {
    KeyRecord record = new_record(number);
    record.attributes.cka_id = cka_id;
    return record;
  };
  EXPECT_EQ(problem(record_with(2, std::string(16, '\1'))), KeyProblem::Exists)
      << "that of a key that has been given none is its id";
  EXPECT_EQ(problem(record_with(2, std::string(16, '\3'))), std::nullopt);
  EXPECT_EQ(problem(record_with(3, "")), KeyProblem::Exists) << "its id is that of another one";
  EXPECT_EQ(problem(record_with(4, std::string(16, '\3'))), KeyProblem::Exists);
  KeyRecord version = record_with(5, std::string(16, '\3'));
  version.attributes.label = new_record(2).attributes.label;
  version.attributes.version = 2;
  EXPECT_EQ(problem(version), std::nullopt) << "versions of a label share it";
  files->destroy(key_id(2));
  files->destroy(key_id(5));
  EXPECT_EQ(problem(record_with(4, std::string(16, '\3'))), std::nullopt);
}

TEST_F(KeyFilesTest, RefuseWhatIsChanged) {
  open_with_key();
  const std::string right = read_file(file_of(1));
  for (std::size_t k = 0; k < right.size(); k += 1 + k / 16) {
    std::string wrong = right;
    wrong[k] = static_cast<char>(wrong[k] ^ 4);
    write_file(file_of(1), wrong);
    EXPECT_THROW(open(), StoreError) << k;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{39}, right.size() - 1}) {
    write_file(file_of(1), right.substr(0, size));
    EXPECT_THROW(open(), StoreError) << size;
  }
  write_file(file_of(1), right + std::string(1 << 15, 'x'));
  EXPECT_THROW(open(), StoreError);
  write_file(file_of(1), right);
  EXPECT_EQ(open()->share(key_id(1), epoch(1)), share_of(1));
}

// The names of the files of two keys, and the slots of their shares.
TEST_F(KeyFilesTest, RefuseWhatIsExchanged) {
  open_with_key(1);
  open_with_key(2);
  const std::string first = read_file(file_of(1)), second = read_file(file_of(2));
  write_file(file_of(1), second);
  write_file(file_of(2), first);
  EXPECT_THROW(open(), StoreError);
  write_file(file_of(1), first);
  write_file(file_of(2), second);
  std::string table = read_file(disk / "keys");
  constexpr std::size_t kSlots = 128, kSlotBytes = 64;
  std::swap_ranges(table.begin() + kSlots + kSlotBytes, table.begin() + kSlots + 2 * kSlotBytes,
                   table.begin() + kSlots + 2 * kSlotBytes);
  write_file(disk / "keys", table);
  const auto files = open();
  for (const std::uint8_t number : {1, 2})
    EXPECT_THROW(files->share(key_id(number), epoch(1)), StoreError);
}

TEST_F(KeyFilesTest, RefuseOtherOwners) {
  open_with_key();
  EXPECT_NO_THROW(open());
  EXPECT_THROW(open({Party::B, "peer", "identity"}), StoreError);
  EXPECT_THROW(open({Party::A, "another peer", "identity"}), StoreError);
  EXPECT_THROW(open({Party::A, "peer", "identity"}, Party::B), StoreError) << "the store key";
}

// A party has another TLS key: its records are kept as they are until they are bound to that.
TEST_F(KeyFilesTest, OfFormerTlsKeysAreNotUsedUntilTheyAreBound) {
  const KeyFiles::Owner before{Party::A, "peer", "its key", "our key"},
      peer_changed{Party::A, "peer", "its new key", "our key"},
      own_changed{Party::A, "peer", "its key", "our new key"};
  {
    const auto files = open(before);
    files->store_epoch(files->begin_link(), new_record(1), epoch(4), share_of(1));
    files->keep_only(files->begin_link(), key_id(1), epoch(4));
    EXPECT_TRUE(custody::is_bound(files->record(key_id(1))));
    EXPECT_NO_THROW(custody::require_bound(files->record(key_id(1))));
  }
  for (const auto& [owner, former] :
       {std::pair(peer_changed, "its key"), {own_changed, "our key"}}) {
    const auto files = open(owner);
    const KeyRecord record = files->record(key_id(1));
    EXPECT_FALSE(custody::is_bound(record));
    for (const auto& use : std::vector<std::function<void()>>{
             [&] { custody::require_bound(record); }, [&] { custody::require_loadable(record); },
             [&] { custody::require_use(record, custody::KeyUse::Encrypt); }}) {
      EXPECT_EQ(problem_of(use), KeyProblem::Unbound);
      EXPECT_EQ(message_of(use),
                "key " + custody::text_of(key_id(1)) + " is bound to a former TLS key, " + former +
                    ": officers of both parties have to rebind it, if the party with another key "
                    "is the same organisation");
    }
    // To the peer, and on the disk, whatever is written.
    const auto have = files->have(key_id(1));
    EXPECT_EQ(have->state, KeyState::Suspended);
    EXPECT_EQ(have->check, custody::CheckValue{});
    EXPECT_TRUE(have->epochs.empty());
    EXPECT_EQ(have->attributes.bytes, crypto::Digest{}.bytes);
    EXPECT_EQ(record.state, KeyState::Active);
    // Nor does the label get another meaning, whoever asks: not even what the next version is.
    for (const std::uint32_t version : {2, 7}) {
      custody::KeyAttributes next = record.attributes;
      next.id = key_id(2);
      next.version = version;
      EXPECT_EQ(problem_of([&] { files->require_next_version(next); }), KeyProblem::Unbound);
    }
    files->set_state(key_id(1), KeyState::Suspended);
    files->set_state(key_id(1), KeyState::Active);
    files->raise_use_bound(key_id(1), files->record(key_id(1)).use_bound + 1024);
    EXPECT_FALSE(custody::is_bound(files->record(key_id(1))));
  }
  // A configuration that was wrong has changed nothing.
  EXPECT_TRUE(custody::is_bound(open(before)->record(key_id(1))));
  EXPECT_FALSE(custody::needs_refresh(open(before)->record(key_id(1))));
  {
    const auto files = open(peer_changed);
    files->rebind(key_id(1));
    files->rebind(key_id(1));
    EXPECT_TRUE(custody::is_bound(files->record(key_id(1))));
    EXPECT_EQ(files->have(key_id(1))->state, KeyState::Active);
  }
  EXPECT_FALSE(custody::is_bound(open(before)->record(key_id(1))));
  const auto files = open(peer_changed);
  EXPECT_TRUE(custody::is_bound(files->record(key_id(1))));
  EXPECT_EQ(files->share(key_id(1), epoch(4)), share_of(1));
  // Until there is another epoch.
  EXPECT_TRUE(custody::needs_refresh(files->record(key_id(1))));
  const std::uint64_t link = files->begin_link();
  files->store_epoch(link, files->record(key_id(1)), epoch(5), share_of(2));
  files->keep_only(link, key_id(1), epoch(5));
  EXPECT_FALSE(custody::needs_refresh(files->record(key_id(1))));
  EXPECT_EQ(problem_of([&] { files->rebind(key_id(2)); }), KeyProblem::Unknown);
}

TEST_F(KeyFilesTest, BindingIsCompletedAfterAnEndBetweenTwoKeys) {
  const KeyFiles::Owner changed{Party::A, "peer", "new identity"};
  open_with_key(1);
  open_with_key(2);
  int steps = 0;
  {
    const auto files = open(changed, Party::A, [&](std::string_view step) {
      if (step == "record" && ++steps == 2) throw Crashed();
    });
    files->rebind(key_id(1));
    EXPECT_THROW(files->rebind(key_id(2)), Crashed);
  }
  const auto files = open(changed);
  EXPECT_TRUE(custody::is_bound(files->record(key_id(1))));
  EXPECT_FALSE(custody::is_bound(files->record(key_id(2))));
  EXPECT_EQ(files->have(key_id(2))->state, KeyState::Suspended);
  for (const std::uint8_t number : {1, 2}) files->rebind(key_id(number));
  for (const std::uint8_t number : {1, 2}) {
    EXPECT_TRUE(custody::is_bound(files->record(key_id(number))));
    EXPECT_EQ(files->share(key_id(number), epoch(1)), share_of(number));
  }
}

// Records of earlier releases have no TLS key of this party.
TEST_F(KeyFilesTest, WithoutATlsKeyOfThisPartyTakeThePresentOne) {
  open_with_key();
  {
    const auto files = open({Party::A, "peer", "identity", "our key"});
    EXPECT_TRUE(custody::is_bound(files->record(key_id(1))));
    files->raise_use_bound(key_id(1), 1024);
  }
  EXPECT_FALSE(
      custody::is_bound(open({Party::A, "peer", "identity", "our new key"})->record(key_id(1))));
}

TEST_F(KeyFilesTest, TombstonesAreOfAllTlsKeys) {
  open_with_key()->destroy(key_id(1));
  const auto files = open({Party::A, "peer", "new identity"});
  EXPECT_TRUE(custody::is_bound(files->record(key_id(1))));
  EXPECT_EQ(files->have(key_id(1))->state, KeyState::Destroyed);
}

TEST_F(KeyFilesTest, WhatIsDestroyedIsBoundToNoTlsKey) {
  const auto owner = [](const char* peer, const char* own) {
    return KeyFiles::Owner{Party::A, "peer", peer, own};
  };
  for (const KeyFiles::Owner& changed :
       {owner("its new key", "our key"), owner("its key", "our new key")}) {
    std::filesystem::remove_all(disk);
    {
      const auto files = open(owner("its key", "our key"));
      files->store_epoch(files->begin_link(), new_record(1), epoch(1), share_of(1));
      files->keep_only(files->begin_link(), key_id(1), epoch(1));
    }
    const auto files = open(changed);
    EXPECT_FALSE(custody::is_bound(files->record(key_id(1))));
    files->destroy(key_id(1));
    EXPECT_TRUE(custody::is_bound(files->record(key_id(1))));
    EXPECT_EQ(files->have(key_id(1))->state, KeyState::Destroyed);
  }
}

// Restoring a share says nothing of the peer's TLS key.
TEST_F(KeyFilesTest, RestoredKeyOfAFormerTlsKeyIsNotBound) {
  open_with_key();
  const KeyFiles::Owner changed{Party::A, "peer", "new identity"};
  const auto files = open(changed);
  files->restore(backup_of(new_record(1), epoch(2), share_of(2)));
  EXPECT_FALSE(custody::is_bound(files->record(key_id(1))));
  EXPECT_EQ(files->have(key_id(1))->state, KeyState::Suspended);
  files->rebind(key_id(1));
  EXPECT_EQ(files->have(key_id(1))->state, KeyState::Restored);
}

TEST_F(KeyFilesTest, RefuseKeysWithoutTheirTable) {
  open_with_key();
  std::filesystem::remove(disk / "keys");
  EXPECT_NE(message_of([&] { open(); }).find("their shares are lost"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(disk / "keys"));
}

// Old copies of a record do not open an epoch that has been dropped: its slot is overwritten.
TEST_F(KeyFilesTest, DroppedEpochIsGone) {
  const auto files = open_with_an_old_record();
  EXPECT_EQ(files->record(key_id(1)).held.size(), 2u);
  EXPECT_EQ(problem_of([&] { files->share(key_id(1), epoch(1)); }), KeyProblem::NoShare);
  EXPECT_EQ(files->share(key_id(1), epoch(2)), share_of(2));
}

// Its share may have been lost with it, so that it is restored beside the next one.
TEST_F(KeyFilesTest, RestoreFillsAnEpochThatWasErased) {
  const auto files = open_with_an_old_record();
  EXPECT_EQ(files->have(key_id(1))->epochs, std::vector{epoch(2)});
  files->restore(backup_of(new_record(1), epoch(1), share_of(1)));
  EXPECT_EQ(files->have(key_id(1))->epochs, (std::vector{epoch(1), epoch(2)}));
  EXPECT_EQ(files->share(key_id(1), epoch(1)), share_of(1));
}

// No epoch would be left, and no key.
TEST_F(KeyFilesTest, AnEpochIsKeptThatThereIs) {
  const auto files = open_with_key();
  EXPECT_EQ(problem_of([&] { files->keep_only(files->begin_link(), key_id(1), epoch(2)); }),
            KeyProblem::NoEpoch);
  EXPECT_EQ(problem_of([&] { files->keep_only(files->begin_link(), key_id(1), epoch(1, 7)); }),
            KeyProblem::NoEpoch);
  EXPECT_EQ(files->share(key_id(1), epoch(1)), share_of(1));
}

// The write that fails has written it: what is on the disk, and for good, counts.
TEST_F(KeyFilesTest, AFailedSuspensionDoesNotHideATombstone) {
  std::string tombstone;
  {
    const auto files = open_with_key();
    const std::string active = read_file(file_of(1));
    files->destroy(key_id(1));
    tombstone = read_file(file_of(1));
    write_file(file_of(1), active);
  }
  for (const bool was_unwritten : {false, true}) {
    bool is_destroyed = !was_unwritten;
    const auto files = open({Party::A, "peer", "identity"}, Party::A, [&](std::string_view step) {
      if (step != "record") return;
      if (is_destroyed) write_file(file_of(1), tombstone);
      throw DiskFull("disk full");
    });
    const std::string active = read_file(file_of(1));
    const auto suspend = [&] { files->set_state(key_id(1), KeyState::Suspended); };
    if (was_unwritten) {
      EXPECT_THROW(suspend(), DiskFull);
      EXPECT_TRUE(files->has_unwritten());
    }
    is_destroyed = true;
    EXPECT_THROW(suspend(), DiskFull);
    EXPECT_EQ(files->record(key_id(1)).state, KeyState::Destroyed) << was_unwritten;
    EXPECT_FALSE(files->has_unwritten()) << was_unwritten;
    write_file(file_of(1), active);
  }
}

// Such as of a peer that deactivates its share after this one was restored.
TEST_F(KeyFilesTest, AKeyIsDeactivatedAsThePeerSays) {
  const auto files = open_with_key();
  custody::KeyHave theirs = files->have(key_id(1)).value();
  files->take_from_peer(key_id(1), theirs);
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Active);
  theirs.state = KeyState::Deactivated;
  files->take_from_peer(key_id(1), theirs);
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Deactivated);
}

TEST_F(KeyFilesTest, OrphanedSlotsAreErasedAtStart) {
  open_with_key(1);
  EXPECT_EQ(slots(), 1u);
  {
    const auto files = open({Party::A, "peer", "identity"}, Party::A, [](std::string_view step) {
      if (step == "record") throw Crashed();
    });
    EXPECT_THROW(files->store_epoch(files->begin_link(), new_record(2), epoch(1), share_of(2)),
                 Crashed);
  }
  EXPECT_EQ(slots(), 2u) << "the slot is durable before the record";
  const auto files = open();
  EXPECT_EQ(slots(), 1u);
  EXPECT_FALSE(files->find(key_id(2)));
  EXPECT_EQ(files->share(key_id(1), epoch(1)), share_of(1));
}

TEST_F(KeyFilesTest, TombstoneIsForGood) {
  {
    const auto files = open_with_key();
    files->destroy(key_id(1));
  }
  const auto files = open();
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Destroyed);
  EXPECT_TRUE(files->record(key_id(1)).held.empty());
  EXPECT_EQ(problem_of([&] { files->restore(backup_of(new_record(1), epoch(1), share_of(1))); }),
            KeyProblem::State);
  EXPECT_EQ(problem_of([&] {
              files->store_epoch(files->begin_link(), new_record(1), epoch(2), share_of(1));
            }),
            KeyProblem::Exists);
}

TEST_F(KeyFilesTest, OnlyPendingKeysAreRemoved) {
  const auto files = open_with_key();
  const std::uint64_t link = files->begin_link();
  EXPECT_EQ(problem_of([&] { files->remove_pending(link, key_id(1)); }), KeyProblem::State);
  files->store_epoch(link, new_record(2), epoch(1), share_of(2));
  EXPECT_EQ(slots(), 2u);
  files->remove_pending(link, key_id(2));
  EXPECT_FALSE(files->find(key_id(2)));
  EXPECT_FALSE(std::filesystem::exists(file_of(2)));
  EXPECT_EQ(slots(), 1u) << "nothing is left of the share";
}

TEST_F(KeyFilesTest, HoldAtMostTwoEpochs) {
  auto files = open_with_key();
  const std::uint64_t link = files->begin_link();
  const auto store = [&](std::uint64_t number) {
    files->store_epoch(link, files->record(key_id(1)), epoch(number), share_of(1));
  };
  EXPECT_EQ(problem_of([&] { store(1); }), KeyProblem::Exists);
  store(2);
  EXPECT_EQ(problem_of([&] { store(3); }), KeyProblem::Exists);
  // One that is restored is the third.
  files->restore(backup_of(new_record(1), epoch(4), share_of(4)));
  EXPECT_EQ(problem_of([&] { store(5); }), KeyProblem::Exists);
  EXPECT_EQ(problem_of([&] { files->restore(backup_of(new_record(1), epoch(5), share_of(5))); }),
            KeyProblem::Exists);
  files.reset();
  EXPECT_EQ(open()->record(key_id(1)).held.size(), 3u);
}

// A file that nobody could read again is not written.
TEST_F(KeyFilesTest, NumbersOfEpochsEnd) {
  const auto files = open_with_key();
  Epoch last = epoch(2);
  last.number = custody::kEpochNumberMax;
  files->store_epoch(files->begin_link(), files->record(key_id(1)), last, share_of(2));
  files->keep_only(files->begin_link(), key_id(1), last);
  Epoch beyond = epoch(3);
  beyond.number = last.number + 1;
  EXPECT_ANY_THROW(
      files->store_epoch(files->begin_link(), files->record(key_id(1)), beyond, share_of(3)));
  EXPECT_EQ(files->record(key_id(1)).held.size(), 1u);
}

// A crash or a full disk between the two steps of a destruction: the slot is never that of another
// key, and destroying once more ends it.
TEST_F(KeyFilesTest, DestructionThatBreaksOffHarmsNoOtherKey) {
  bool is_full = false;
  const auto before = [&](std::string_view step) {
    if (is_full && step == "record") throw DiskFull("disk full");
  };
  {
    const auto files = open({Party::A, "peer", "identity"}, Party::A, before);
    const auto add = [&](std::uint8_t number) {
      files->store_epoch(files->begin_link(), new_record(number), epoch(1), share_of(number));
    };
    add(1);
    is_full = true;
    EXPECT_THROW(files->destroy(key_id(1)), DiskFull);
    is_full = false;
    EXPECT_TRUE(files->have(key_id(1))->epochs.empty()) << "nothing that the peer could count on";
    EXPECT_EQ(files->record(key_id(1)).state, KeyState::Suspended)
        << "what is loaded of it is used no more";
    add(2);
  }
  const auto files = open();
  EXPECT_EQ(problem_of([&] { files->share(key_id(1), epoch(1)); }), KeyProblem::NoShare);
  files->destroy(key_id(1));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Destroyed);
  EXPECT_EQ(files->share(key_id(2), epoch(1)), share_of(2));
}

// Before each durable step, also of a key that is being refreshed.
TEST_F(KeyFilesTest, DestructionIsRepeatedAfterAnEndWithinIt) {
  for (std::size_t end = 0; end < 2; ++end) {
    std::filesystem::remove_all(disk);
    open_with_key();
    std::size_t steps = 0;
    const auto before = [&](std::string_view) {
      if (steps++ == end + 2) throw Crashed();  // after those of the second epoch
    };
    {
      const auto files = open({Party::A, "peer", "identity"}, Party::A, before);
      files->store_epoch(files->begin_link(), files->record(key_id(1)), epoch(2), share_of(2));
      EXPECT_THROW(files->destroy(key_id(1)), Crashed);
    }
    const auto files = open();
    EXPECT_EQ(files->record(key_id(1)).state, KeyState::Active) << "as it was";
    EXPECT_EQ(files->have(key_id(1))->epochs.size(), end == 0 ? 2u : 0u);
    files->destroy(key_id(1));
    EXPECT_EQ(files->record(key_id(1)).state, KeyState::Destroyed) << end;
  }
}

// An old file of one key names a slot that was erased since: it is that of no other key.
TEST_F(KeyFilesTest, OldRecordRefusesOneKeyAlone) {
  {
    const auto files = open_with_key();
    const std::string old = read_file(file_of(1));
    const std::uint64_t link = files->begin_link();
    files->store_epoch(link, files->record(key_id(1)), epoch(2), share_of(3));
    files->keep_only(link, key_id(1), epoch(2));
    files->store_epoch(link, new_record(2), epoch(1), share_of(2));
    write_file(file_of(1), old);
  }
  const auto files = open();
  EXPECT_EQ(problem_of([&] { files->share(key_id(1), epoch(1)); }), KeyProblem::NoShare);
  EXPECT_EQ(files->share(key_id(2), epoch(1)), share_of(2));
}

TEST_F(KeyFilesTest, NothingBringsADestroyedKeyBack) {
  const auto files = open_with_key();
  files->destroy(key_id(1));
  for (const KeyState state : {KeyState::Suspended, KeyState::Active})
    EXPECT_EQ(problem_of([&] { files->set_state(key_id(1), state); }), KeyProblem::State);
  files->destroy(key_id(1));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Destroyed);
}

// Even under a name that means the same id.
TEST_F(KeyFilesTest, RefuseOldRecordUnderAnotherSpelling) {
  open_with_key(0xab);
  std::filesystem::copy(file_of(0xab), disk / (std::string(32, 'A') + ".key"));
  EXPECT_THROW(open(), StoreError);
  std::filesystem::remove(disk / (std::string(32, 'A') + ".key"));
  std::filesystem::copy(file_of(0xab), disk / "ABABABABABABABABABABABABABABABAB.key");
  EXPECT_THROW(open(), StoreError);
}

TEST_F(KeyFilesTest, AreOfOneProcess) {
  const auto files = open_with_key();
  EXPECT_NE(message_of([&] { open(); }).find("in use"), std::string::npos);
}

TEST_F(KeyFilesTest, UseBoundOnlyGrows) {
  const auto files = open_with_key();
  files->raise_use_bound(key_id(1), 1024);
  files->raise_use_bound(key_id(1), 7);
  EXPECT_EQ(files->record(key_id(1)).use_bound, 1024u);
}

// A suspension that finds the disk full holds, and is written once there is room.
TEST_F(KeyFilesTest, FullDiskDoesNotLiftASuspension) {
  enum class Written : std::uint8_t { Again, ByTheOfficer, AsThePeersDestruction, AsADestruction };
  for (const Written how : {Written::Again, Written::ByTheOfficer, Written::AsThePeersDestruction,
                            Written::AsADestruction}) {
    std::filesystem::remove_all(disk);
    open_with_key();
    bool is_full = true;
    auto files = open({Party::A, "peer", "identity"}, Party::A, [&](std::string_view step) {
      if (step == "record" && is_full) throw DiskFull("disk full");
    });
    EXPECT_FALSE(files->has_unwritten());
    const auto suspend = [&] {
      switch (how) {
        case Written::Again:
          return files->write_again();
        case Written::ByTheOfficer:
          return files->set_state(key_id(1), KeyState::Suspended);
        case Written::AsThePeersDestruction:
          return files->note_peer_destroyed(key_id(1));
        case Written::AsADestruction:
          return files->write_again();
      }
    };
    const auto first = [&] {
      if (how == Written::Again) return files->set_state(key_id(1), KeyState::Suspended);
      if (how == Written::AsADestruction) return files->destroy(key_id(1));
      suspend();
    };
    EXPECT_THROW(first(), DiskFull);
    for (int i = 0; i < 2; ++i) {
      EXPECT_THROW(suspend(), DiskFull);
      // Nor does what the peer says, or a use that had begun.
      EXPECT_THROW(files->raise_use_bound(key_id(1), 7), DiskFull);
      EXPECT_EQ(files->record(key_id(1)).state, KeyState::Suspended);
      if (files->record(key_id(1)).has_peer_destroyed) {
        EXPECT_THROW(files->forget_peer_destroyed(key_id(1)), DiskFull);
      }
      EXPECT_EQ(files->record(key_id(1)).state, KeyState::Suspended);
      EXPECT_TRUE(files->has_unwritten());
    }
    is_full = false;
    suspend();
    EXPECT_FALSE(files->has_unwritten());
    files.reset();
    files = open();
    EXPECT_EQ(files->record(key_id(1)).state, KeyState::Suspended);
    files->forget_peer_destroyed(key_id(1));
    files->resume(key_id(1));
    EXPECT_EQ(files->record(key_id(1)).state, KeyState::Active);
    files.reset();
  }
}

TEST_F(KeyFilesTest, EpochIsOfItsKeyAndRequest) {
  const auto files = open();
  const std::uint64_t link = files->begin_link();
  files->store_epoch(link, new_record(1), epoch(1), share_of(1));
  for (const int change : {0, 1, 2}) {
    KeyRecord other = new_record(1);
    if (change == 0) other.check[3] = std::byte{9};
    if (change == 1) other.request = request_id(7);
    if (change == 2) other.attributes.label = "another";
    EXPECT_EQ(problem_of([&] { files->store_epoch(link, other, epoch(2), share_of(2)); }),
              KeyProblem::Exists);
  }
}

class BackupsTest : public KeyFilesTest {
 protected:
  BackupsTest() { std::filesystem::create_directory(medium); }
  Backups backups() const {
    return Backups(medium,
                   {{"officer", public_key_of(officer)}, {"escrow", public_key_of(escrow)}});
  }
  std::vector<std::byte> content(const std::filesystem::path& file) const {
    const std::string text = read_file(file);
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }

  std::filesystem::path medium = directory / "medium";
  crypto::BoxPrivateKey officer = crypto::random_box_key(), escrow = crypto::random_box_key();
};

TEST_F(BackupsTest, OpenForTheirRecipientAlone) {
  backups().write({Party::B, "peer", "identity"}, new_record(1), epoch(3), share_of(9));
  const auto files = backups().files_of(key_id(1));
  ASSERT_EQ(files.size(), 2u);
  EXPECT_TRUE(backups().files_of(key_id(2)).empty());
  for (const auto& file : files) {
    const bool is_escrows = file.filename().string().find("escrow") != std::string::npos;
    const custody::BackedUpShare opened =
        custody::backup_from(custody::open_backup(content(file), is_escrows ? escrow : officer));
    EXPECT_EQ(opened.party, Party::B);
    EXPECT_EQ(opened.peer, "peer");
    EXPECT_EQ(opened.record.attributes, attributes_of(1));
    EXPECT_EQ(opened.record.check, new_record(1).check);
    EXPECT_EQ(opened.epoch, epoch(3));
    EXPECT_EQ(opened.share, share_of(9));
    EXPECT_THROW(custody::open_backup(content(file), is_escrows ? officer : escrow), UsageError);
  }
}

TEST_F(BackupsTest, RefuseWhatIsChanged) {
  backups().write({Party::A, "peer", "identity"}, new_record(1), epoch(1), share_of(9));
  const auto file = backups().files().back();
  const std::vector<std::byte> right = content(file);
  EXPECT_NO_THROW(custody::open_backup(right, officer));
  for (std::size_t k = 0; k < right.size(); ++k) {
    std::vector<std::byte> wrong = right;
    wrong[k] ^= std::byte{2};
    EXPECT_THROW(custody::open_backup(wrong, officer), UsageError) << k;
    EXPECT_THROW(custody::open_backup(std::span(right).first(k), officer), UsageError) << k;
  }
}

// What an officer decides of a key whose shares do not fit in one of its epochs.
TEST_F(KeyFilesTest, ResumeKeepsOneEpochAlone) {
  {
    const auto files = open_with_key();
    files->store_epoch(files->begin_link(), new_record(1), epoch(2), share_of(2));
    EXPECT_EQ(problem_of([&] { files->resume(key_id(1), epoch(1)); }), KeyProblem::State);
    files->set_state(key_id(1), KeyState::Suspended);
    EXPECT_EQ(problem_of([&] { files->resume(key_id(1), epoch(3)); }), KeyProblem::NoEpoch);
    EXPECT_EQ(problem_of([&] { files->resume(key_id(1), epoch(1, 7)); }), KeyProblem::NoEpoch);
    EXPECT_EQ(files->have(key_id(1))->epochs.size(), 2u);
    const auto old_record = content_of(1);
    files->resume(key_id(1), epoch(1));
    EXPECT_EQ(files->record(key_id(1)).state, KeyState::Active);
    EXPECT_EQ(files->have(key_id(1))->epochs, std::vector{epoch(1)});
    write_file(file_of(1), old_record);
  }
  // Also of a record that names it.
  const auto files = open();
  EXPECT_EQ(files->have(key_id(1))->epochs, std::vector{epoch(1)});
  EXPECT_EQ(problem_of([&] { files->share(key_id(1), epoch(2)); }), KeyProblem::NoShare);
  EXPECT_EQ(files->share(key_id(1), epoch(1)), share_of(1));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Suspended);
  EXPECT_EQ(problem_of([&] { files->resume(key_id(1), epoch(2)); }), KeyProblem::NoEpoch)
      << "its share is erased";
  files->resume(key_id(1));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Active);
}

TEST_F(KeyFilesTest, PeersDestructionIsNotedAndErasesNothing) {
  {
    const auto files = open_with_key();
    files->set_state(key_id(1), KeyState::Deactivated);
    files->note_peer_destroyed(key_id(1));
  }
  {
    const auto files = open();
    files->note_peer_destroyed(key_id(1));
    EXPECT_EQ(files->record(key_id(1)).state, KeyState::Suspended);
    EXPECT_TRUE(files->record(key_id(1)).has_peer_destroyed);
    EXPECT_EQ(files->share(key_id(1), epoch(1)), share_of(1));
    EXPECT_EQ(problem_of([&] { files->resume(key_id(1)); }), KeyProblem::NotAtPeer);
    EXPECT_EQ(problem_of([&] { files->resume(key_id(1), epoch(1)); }), KeyProblem::NotAtPeer);
    // The peer has a share, after all.
    files->forget_peer_destroyed(key_id(1));
  }
  const auto files = open();
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Suspended);
  files->resume(key_id(1));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Deactivated);
  files->note_peer_destroyed(key_id(1));
  files->destroy(key_id(1));
  files->note_peer_destroyed(key_id(1));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Destroyed);
  EXPECT_FALSE(files->record(key_id(1)).has_peer_destroyed);
}

// What has suspended it counts, whatever an officer has looked at before.
TEST_F(KeyFilesTest, ASuspendedKeyIsNotDeactivated) {
  const auto files = open_with_key();
  files->set_state(key_id(1), KeyState::Suspended);
  EXPECT_EQ(problem_of([&] { files->deactivate(key_id(1)); }), KeyProblem::State);
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Suspended);
  files->resume(key_id(1));
  files->deactivate(key_id(1));
  files->deactivate(key_id(1));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Deactivated);
}

// Whoever had the peer's TLS key before it was changed may have said so.
TEST_F(KeyFilesTest, WhatTheHolderOfAFormerTlsKeyHasSaidIsForgotten) {
  const KeyFiles::Owner changed{Party::A, "peer", "new identity"};
  open_with_key()->note_peer_destroyed(key_id(1));
  const auto files = open(changed);
  EXPECT_TRUE(files->record(key_id(1)).has_peer_destroyed);
  files->rebind(key_id(1));
  EXPECT_FALSE(files->record(key_id(1)).has_peer_destroyed);
  EXPECT_EQ(files->share(key_id(1), epoch(1)), share_of(1));
}

// Otherwise nothing would.
TEST_F(KeyFilesTest, ResumeEndsASuspensionOfBeforeARestore) {
  const auto files = open_with_key();
  files->set_state(key_id(1), KeyState::Suspended);
  files->restore(backup_of(new_record(1), epoch(5), share_of(5)));
  files->set_state(key_id(1), KeyState::Suspended);  // a check has failed
  files->resume(key_id(1));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Restored);
  files->keep_only(files->begin_link(), key_id(1), epoch(5));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Active);
}

// Whatever else is set meanwhile, in whichever order, and over restarts.
TEST_F(BackupsTest, RestoredKeyStaysDeactivated) {
  using Step = std::function<void(KeyFiles&)>;
  const Step suspend = [](KeyFiles&files) { files.set_state(key_id(1), KeyState::Suspended); },
             restore =
                 [](KeyFiles&files) {
                   files.restore(backup_of(new_record(1), epoch(5), share_of(5)));
                 },
             resume = [](KeyFiles&files) { files.resume(key_id(1)); },
             deactivate = [](KeyFiles&files) { files.deactivate(key_id(1)); },
             restore_deactivated =
                 [](KeyFiles&files) {
                   KeyRecord record = new_record(1);
                   record.state = KeyState::Deactivated;
                   files.restore(backup_of(record, epoch(5), share_of(5)));
                 },
             settle = [](KeyFiles&files) {
               files.keep_only(files.begin_link(), key_id(1), epoch(5));
             };
  const std::vector<std::vector<Step>> orders = {
      {deactivate, suspend, restore, resume, settle},
      {deactivate, suspend, restore, settle, resume},
      {deactivate, restore, suspend, resume, settle},
      {deactivate, restore, suspend, settle, resume},
      {deactivate, suspend, restore, suspend, resume, suspend, resume, settle, suspend, resume},
      {restore_deactivated, settle},
      {suspend, restore_deactivated, resume, settle},
  };
  for (std::size_t order = 0; order < orders.size(); ++order) {
    std::filesystem::remove_all(disk);
    open_with_key();
    for (const Step& step : orders[order]) step(*open());
    EXPECT_EQ(open()->record(key_id(1)).state, KeyState::Deactivated) << order;
  }
}

// They say of a restored key that it is suspended once it is settled.
TEST_F(KeyFilesTest, RestoredKeyOfAnEarlierReleaseStaysSuspended) {
  {
    const auto files = open();
    KeyRecord record = new_record(1);
    record.state = KeyState::Restored;
    record.state_resumed = KeyState::Suspended;
    files->store_epoch(files->begin_link(), record, epoch(1), share_of(1));
  }
  const auto files = open();
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Suspended);
  files->keep_only(files->begin_link(), key_id(1), epoch(1));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Suspended);
  files->resume(key_id(1));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Active);
}

TEST_F(BackupsTest, RestoreLeavesOtherEpochsUntilItIsSettled) {
  const auto files = open_with_key();
  files->raise_use_bound(key_id(1), 2048);
  KeyRecord other = new_record(1);
  other.check[0] ^= std::byte{1};
  EXPECT_EQ(problem_of([&] { files->restore(backup_of(other, epoch(5), share_of(5))); }),
            KeyProblem::Differs);
  other = new_record(1);
  other.attributes.nonces = custody::NonceMode::Caller;
  EXPECT_EQ(problem_of([&] { files->restore(backup_of(other, epoch(5), share_of(5))); }),
            KeyProblem::Differs);
  EXPECT_EQ(problem_of([&] { files->restore(backup_of(new_record(1), epoch(1), share_of(5))); }),
            KeyProblem::Exists);
  files->restore(backup_of(new_record(1), epoch(5), share_of(5)));
  const KeyRecord record = files->record(key_id(1));
  EXPECT_EQ(record.state, KeyState::Restored);
  EXPECT_EQ(record.use_bound, 2048u) << "what was used stays used";
  EXPECT_EQ(files->share(key_id(1), epoch(5)), share_of(5));
  EXPECT_EQ(files->share(key_id(1), epoch(1)), share_of(1));
  files->keep_only(files->begin_link(), key_id(1), epoch(5));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Active);
  EXPECT_EQ(problem_of([&] { files->share(key_id(1), epoch(1)); }), KeyProblem::NoShare);
}

// On an empty disk, too, what was used stays used.
TEST_F(BackupsTest, HaveWhatWasUsed) {
  KeyRecord record = new_record(1);
  record.use_bound = 4096;
  const Backups made(medium, {{"officer", public_key_of(officer)}});
  made.write({Party::A, "peer", "identity"}, record, epoch(3), share_of(9));
  const auto files = open();
  files->restore(
      custody::backup_from(custody::open_backup(content(made.files().front()), officer)));
  EXPECT_EQ(files->record(key_id(1)).use_bound, 4096u);
  EXPECT_EQ(files->share(key_id(1), epoch(3)), share_of(9));
}

// What an officer has taken away, a backup does not give back.
TEST_F(BackupsTest, RestoredKeyIsWhatItWas) {
  for (const KeyState state : {KeyState::Deactivated, KeyState::Suspended}) {
    std::filesystem::remove_all(disk);
    const auto files = open_with_key();
    files->set_state(key_id(1), state);
    files->restore(backup_of(new_record(1), epoch(5), share_of(5)));
    EXPECT_EQ(files->record(key_id(1)).state,
              state == KeyState::Suspended ? state : KeyState::Restored);
    files->keep_only(files->begin_link(), key_id(1), epoch(5));
    EXPECT_EQ(files->record(key_id(1)).state, state);
  }
  // Nor one of a key that was deactivated when it was made.
  std::filesystem::remove_all(disk);
  const auto files = open();
  KeyRecord record = new_record(1);
  record.state = KeyState::Deactivated;
  files->restore(backup_of(record, epoch(5), share_of(5)));
  files->keep_only(files->begin_link(), key_id(1), epoch(5));
  EXPECT_EQ(files->record(key_id(1)).state, KeyState::Deactivated);
}

// Whoever makes a backup could wear the key out, and more.
TEST_F(BackupsTest, SayOfNoMoreUsesThanThereAre) {
  KeyRecord record = new_record(1);
  record.use_bound = ~std::uint64_t{0};
  const Backups made(medium, {{"officer", public_key_of(officer)}});
  made.write({Party::A, "peer", "identity"}, record, epoch(3), share_of(9));
  EXPECT_EQ(custody::backup_from(custody::open_backup(content(made.files().front()), officer))
                .record.use_bound,
            custody::kUseBoundMax);
}

// On an empty disk, too, it only decrypts and verifies.
TEST_F(BackupsTest, HaveTheStateOfTheirKey) {
  const Backups made(medium, {{"officer", public_key_of(officer)}});
  std::uint64_t number = 0;
  for (const KeyState state : {KeyState::Deactivated, KeyState::Suspended, KeyState::Active}) {
    std::filesystem::remove_all(disk);
    KeyRecord record = new_record(1);
    record.state = state;
    made.write({Party::A, "peer", "identity"}, record, epoch(++number), share_of(9));
    const auto files = open();
    files->restore(
        custody::backup_from(custody::open_backup(content(made.files().back()), officer)));
    files->keep_only(files->begin_link(), key_id(1), epoch(number));
    EXPECT_EQ(files->record(key_id(1)).state, state);
  }
}

TEST_F(BackupsTest, OfAnotherPartyOrPeerAreRefused) {
  const auto files = open_with_key();
  custody::BackedUpShare backup = backup_of(new_record(1), epoch(5), share_of(5));
  backup.party = Party::B;
  EXPECT_EQ(problem_of([&] { files->restore(backup); }), KeyProblem::Differs);
  backup = backup_of(new_record(1), epoch(5), share_of(5));
  backup.peer = "another peer";
  EXPECT_EQ(problem_of([&] { files->restore(backup); }), KeyProblem::Differs);
}

// A label and a version mean one key, whatever was lost.
TEST_F(BackupsTest, AreNotOfAVersionThatIsAnotherKey) {
  const auto files = open_with_key();
  KeyRecord other = new_record(2);
  other.attributes.label = new_record(1).attributes.label;
  const auto problem = [&] {
    return problem_of([&] { files->restore(backup_of(other, epoch(1), share_of(2))); });
  };
  EXPECT_EQ(problem(), KeyProblem::Exists);
  EXPECT_FALSE(files->find(key_id(2)));
  other.attributes.version = 2;
  EXPECT_EQ(problem(), std::nullopt);
  other = new_record(3);
  other.attributes.label = new_record(1).attributes.label;
  files->destroy(key_id(1));
  EXPECT_EQ(problem(), std::nullopt) << "the other one is no more";
}

// Whoever has the recipients' public keys can make one, and what it says of lengths is not true.
TEST_F(BackupsTest, HaveAShareOfTheLengthOfTheirKey) {
  const Backups made(medium, {{"officer", public_key_of(officer)}});
  const auto backup_with = [&](const Share& share) {
    made.write({Party::A, "peer", "identity"}, new_record(1), epoch(1), share);
    return custody::open_backup(content(made.files().front()), officer);
  };
  const auto refusal_of = [](const SecretVector<std::byte>& backup) {
    return message_of([&] { (void)custody::backup_from(backup); });
  };
  const SecretVector<std::byte> right = backup_with(share_of(9));
  EXPECT_NO_THROW((void)custody::backup_from(right));
  for (const std::size_t bytes : {0, 15, 17, 32})
    EXPECT_EQ(refusal_of(backup_with(Share(bytes))),
              "the backup has a share of another length than its key");
  for (const std::size_t bytes : {0, 3, 4, 40})
    EXPECT_EQ(refusal_of(SecretVector<std::byte>(right.begin(), right.begin() + bytes)),
              "the backup is too short");
}

TEST_F(BackupsTest, NeedTheirDirectory) {
  std::filesystem::remove(medium);
  EXPECT_THROW(backups(), StoreError);
}

// A directory on another file system than `place`; empty if there is none.
std::filesystem::path directory_beside(const std::filesystem::path& place) {
  struct stat of_place {
  }, other{};
  if (::stat(place.c_str(), &of_place) != 0) return {};
  for (const std::filesystem::path& directory :
       {std::filesystem::temp_directory_path(), std::filesystem::current_path(),
        std::filesystem::path("/var/tmp")})
    if (::stat(directory.c_str(), &other) == 0 && other.st_dev != of_place.st_dev &&
        ::access(directory.c_str(), W_OK) == 0)
      return directory;
  return {};
}

// Not to the empty directory that is left once the medium is no longer mounted; in its place, a
// link leads elsewhere.
TEST_F(BackupsTest, AreWrittenToTheMediumOfTheStartAlone) {
  const std::filesystem::path another = directory_beside(medium);
  if (another.empty()) GTEST_SKIP() << "there is one file system alone";
  const TestDirectory elsewhere(another);
  const std::filesystem::path mounted = directory / "mounted";
  const auto lead_to = [&](const std::filesystem::path& place) {
    std::filesystem::remove(mounted);
    std::filesystem::create_directory_symlink(place, mounted);
  };
  lead_to(medium);
  const Backups backups(mounted, {{"officer", public_key_of(officer)}});
  const auto write = [&] {
    backups.write({Party::A, "peer", "identity"}, new_record(1), epoch(1), share_of(9));
  };
  lead_to(elsewhere.path());
  EXPECT_THROW(write(), StoreError);
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
  lead_to(medium);
  write();
  EXPECT_EQ(backups.files_of(key_id(1)).size(), 1u);
}

// No key without its backup.
TEST_F(BackupsTest, OperationFailsWithoutThem) {
  TwoCustodians world;
  std::filesystem::remove(world.backups_of(Party::B));
  write_file(world.backups_of(Party::B), "not a directory");
  const StepEnds ends = world.run([&](custody::Custodian& custodian, custody::KeyPeer& peer) {
    custodian.create(peer, request_id(1), attributes_of(1));
  });
  EXPECT_FALSE(ends[1].is_done);
  EXPECT_TRUE(world.files(Party::B).records().empty());
}

}  // namespace
}  // namespace tinyot::test
