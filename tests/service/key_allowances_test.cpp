// What officers approve ahead: what it is for, how often, how long, and what is left of it on the
// disk.
#include "service/key_allowances.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/hex.h"
#include "custody/coded.h"
#include "full_audit.h"
#include "key_allowance.pb.h"
#include "service/key_failed.h"
#include "tests/support/files.h"
#include "tests/support/small_disk.h"

namespace tinyot::test {
namespace {

namespace config = service::config;
using service::Caller;
using service::FromPeer;
using service::KeyAllowance;
using service::KeyAllowances;
using service::KeyAudit;
using service::KeyFailed;
using service::KeyRequestTerms;

const auto kGranted = std::chrono::system_clock::time_point(std::chrono::hours(24 * 365 * 55));
const std::string kAllowedId = "000102030405060708090a0b0c0d0e0f";
const Caller kGrantingOfficer{1, {}, {}};

Caller client_user(uid_t number) { return {number, {5}, {}}; }

KeyRequestTerms asked_by(std::variant<FromPeer, Caller> by, const std::string& label,
                         config::KeyOperation operation = config::ENCRYPT) {
  KeyRequestTerms of;
  of.by = std::move(by);
  of.label = label;
  of.operation = operation;
  of.key = custody::key_id_from(kAllowedId).value();
  return of;
}

class KeyAllowancesTest : public ::testing::Test {
 protected:
  KeyAllowancesTest() { open(); }

  // As after a restart, with a peer that has this TLS key.
  void open(const std::string& peer_identity = "peer") {
    allowances_.reset();
    audit_.reset();
    files_.reset();
    const std::string key(32, store_key_);
    files_ = std::make_unique<custody::KeyFiles>(
        directory_ / "custody", custody::KeyFiles::Owner{Party::A, "bob", peer_identity},
        StoreKey(std::as_bytes(std::span(key))));
    audit_ = std::make_unique<KeyAudit>(directory_ / "audit");
    allowances_ = std::make_unique<KeyAllowances>(*files_, *audit_);
  }
  KeyAllowance allow(std::variant<FromPeer, Caller> by, const std::string& key,
                     std::uint64_t uses = 2) {
    return allowances_->grant(kGrantingOfficer,
                              {.by = std::move(by),
                               .key = key,
                               .uses_left = uses,
                               .expires = kGranted + std::chrono::seconds(10)},
                              kGranted);
  }
  bool is_used(const KeyRequestTerms& of,
               std::chrono::system_clock::time_point now = kGranted) const {
    return allowances_->use(of, now).has_value();
  }
  std::filesystem::path file() const { return directory_ / "custody" / "allowances"; }

  const TestDirectory directory_{"/dev/shm"};  // what is durable is waited for
  char store_key_ = 's';
  std::unique_ptr<custody::KeyFiles> files_;
  std::unique_ptr<KeyAudit> audit_;
  std::unique_ptr<KeyAllowances> allowances_;
};

TEST_F(KeyAllowancesTest, UsesAreTakenOnceWhateverIsRestarted) {
  const KeyAllowance granted = allow(FromPeer{}, "data", 3);
  EXPECT_EQ(allowances_->use(asked_by(FromPeer{}, "data"), kGranted), granted.id);
  open();
  EXPECT_EQ(allowances_->all(kGranted).at(0).uses_left, 2u);
  EXPECT_TRUE(is_used(asked_by(FromPeer{}, "data")));
  open();
  EXPECT_TRUE(is_used(asked_by(FromPeer{}, "data")));
  EXPECT_FALSE(is_used(asked_by(FromPeer{}, "data")));
  open();
  EXPECT_FALSE(is_used(asked_by(FromPeer{}, "data")));
  EXPECT_TRUE(allowances_->holds(granted.id, kGranted));
}

TEST_F(KeyAllowancesTest, AreForWhomAndWhatTheySay) {
  allow(client_user(7), "team/*", 100);
  EXPECT_TRUE(is_used(asked_by(client_user(7), "team/a")));
  for (const KeyRequestTerms& other :
       {asked_by(FromPeer{}, "team/a"), asked_by(client_user(8), "team/a"),
        asked_by(Caller{}, "team/a"), asked_by(Caller{7, {}, "name"}, "team/a"),
        asked_by(client_user(7), "team"), asked_by(client_user(7), "team/a", config::DECRYPT)})
    EXPECT_FALSE(is_used(other));
  KeyRequestTerms derived = asked_by(client_user(7), "team/a");
  derived.parent = {custody::KeyId{}, "other/root"};
  EXPECT_FALSE(is_used(derived));
  derived.parent->second = "team/root";
  EXPECT_TRUE(is_used(derived));
  allow(Caller{{}, {}, "billing"}, kAllowedId);
  EXPECT_TRUE(is_used(asked_by(Caller{{}, {}, "billing"}, "any")));
  EXPECT_FALSE(is_used(asked_by(Caller{{}, {}, "billin"}, "any")));
  // After a restart it is for the same.
  open();
  EXPECT_TRUE(is_used(asked_by(Caller{{}, {}, "billing"}, "any")));
  EXPECT_TRUE(is_used(asked_by(client_user(7), "team/b")));
  EXPECT_FALSE(is_used(asked_by(FromPeer{}, "team/b")));
}

// All that an officer has said of it, and who has.
TEST_F(KeyAllowancesTest, AreTheSameAfterARestart) {
  const KeyAllowance granted =
      allowances_->grant(kGrantingOfficer,
                         {.by = Caller{{}, {}, "billing"},
                          .operation = config::SIGN,
                          .key = "team/*",
                          .uses_left = 5,
                          .expires = kGranted + std::chrono::milliseconds(7500)},
                         kGranted);
  open();
  const std::vector<KeyAllowance> all = allowances_->all(kGranted);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].id, granted.id);
  EXPECT_EQ(std::get<Caller>(all[0].by), std::get<Caller>(granted.by));
  EXPECT_EQ(all[0].operation, config::SIGN);
  EXPECT_EQ(all[0].key, "team/*");
  EXPECT_EQ(all[0].uses_left, 5u);
  EXPECT_EQ(all[0].expires, granted.expires);
  EXPECT_EQ(all[0].granted_by, service::text_of(kGrantingOfficer));
}

// Whatever the disk does: officers need not ask twice.
TEST_F(KeyAllowancesTest, WhatIsWithdrawnIsNotUsedThoughTheDiskIsFull) {
  const KeyAllowance granted = allow(FromPeer{}, "data");
  std::filesystem::create_directory(file().string() + ".new");
  EXPECT_THROW((void)allowances_->withdraw(client_user(2), granted.id), StoreError);
  std::filesystem::remove(file().string() + ".new");
  EXPECT_FALSE(is_used(asked_by(FromPeer{}, "data")));
  EXPECT_FALSE(allowances_->holds(granted.id, kGranted));
  EXPECT_TRUE(allowances_->all(kGranted).empty());
}

TEST_F(KeyAllowancesTest, ExpireAndAreWithdrawn) {
  const KeyAllowance first = allow(FromPeer{}, "data"), second = allow(client_user(7), "data");
  const auto last = kGranted + std::chrono::milliseconds(9999),
             after = kGranted + std::chrono::seconds(10);
  EXPECT_TRUE(is_used(asked_by(FromPeer{}, "data"), last));
  EXPECT_TRUE(allowances_->holds(first.id, last));
  EXPECT_FALSE(is_used(asked_by(FromPeer{}, "data"), after));
  EXPECT_FALSE(allowances_->holds(first.id, after));
  EXPECT_TRUE(allowances_->withdraw(client_user(2), second.id));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(is_used(asked_by(client_user(7), "data")));
    EXPECT_FALSE(allowances_->holds(second.id, kGranted));
    EXPECT_FALSE(allowances_->withdraw(client_user(2), second.id));
    open();
  }
  const std::string log = read_file(directory_ / "audit");
  EXPECT_NE(log.find("allowance " + hex_of(second.id) +
                     ": encrypt with data by user 7, 2 uses until 2024-12-18T00:00:10Z"),
            std::string::npos)
      << log;
  EXPECT_NE(log.find("\"operation\":\"withdraw\""), std::string::npos);
}

// Who has the peer's TLS key now may be another one.
TEST_F(KeyAllowancesTest, ThoseOfThePeerAreForItsTlsKey) {
  (void)allow(FromPeer{}, "*");
  (void)allow(client_user(7), "*", 10);
  open();
  EXPECT_TRUE(is_used(asked_by(FromPeer{}, "files")));
  open("another peer");
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(is_used(asked_by(FromPeer{}, "files")));
    EXPECT_TRUE(is_used(asked_by(client_user(7), "files")));
    EXPECT_EQ(allowances_->all(kGranted).size(), 1u);
    open("another peer");
  }
  // What is written since has dropped it for good, whichever TLS key the peer has later.
  open();
  EXPECT_FALSE(is_used(asked_by(FromPeer{}, "files")));
}

TEST_F(KeyAllowancesTest, WhoAsksDoesNotAllowIt) {
  EXPECT_THROW(allow(client_user(1), "data"), KeyFailed);
  EXPECT_FALSE(is_used(asked_by(client_user(1), "data")));
  EXPECT_TRUE(allowances_->all(kGranted).empty());
}

TEST_F(KeyAllowancesTest, RefuseValuesThatDoNotFit) {
  EXPECT_THROW(allow(FromPeer{}, "a b"), UsageError);
  EXPECT_THROW(allow(FromPeer{}, ""), UsageError);
  EXPECT_THROW(allow(FromPeer{}, "data", 0), UsageError);
  EXPECT_THROW(allow(FromPeer{}, "data", 1'000'001), UsageError);
  EXPECT_THROW(allow(Caller{}, "data"), UsageError);
  EXPECT_THROW(allow(Caller{7, {}, "name"}, "data"), UsageError);
  EXPECT_THROW(allow(Caller{{}, {}, std::string(201, 'n')}, "data"), UsageError);
  for (const auto time : {std::chrono::seconds(0), std::chrono::seconds(367 * 24 * 3600)})
    EXPECT_THROW(
        allowances_->grant(kGrantingOfficer,
                           {.key = "data", .uses_left = 1, .expires = kGranted + time}, kGranted),
        UsageError);
  for (int i = 0; i < 256; ++i) allow(FromPeer{}, "data");
  EXPECT_THROW(allow(FromPeer{}, "data"), KeyFailed);
  open();
  EXPECT_EQ(allowances_->all(kGranted).size(), 256u);
}

// A thief of the disk writes none.
TEST_F(KeyAllowancesTest, WhatIsChangedIsRefused) {
  allow(FromPeer{}, "data");
  const std::string right = read_file(file());
  for (std::size_t at = 0; at < right.size(); ++at) {
    std::string changed = right;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    write_file(file(), changed);
    EXPECT_THROW(open(), StoreError) << "byte " << at;
  }
  write_file(file(), right.substr(0, 39));
  EXPECT_THROW(open(), StoreError);
  // Of other keys of the same store key.
  const std::filesystem::path other = directory_ / "other";
  {
    const std::string key(32, 's');
    custody::KeyFiles files(other, {Party::A, "bob", "peer"},
                            StoreKey(std::as_bytes(std::span(key))));
    files.write_sealed("allowances", {});
  }
  std::filesystem::copy_file(other / "allowances", file(),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THROW(open(), StoreError);
  // Of another kind.
  write_file(file(), right);
  open();
  files_->write_sealed("other", {});
  std::filesystem::rename(directory_ / "custody" / "other", file());
  EXPECT_THROW(open(), StoreError);
}

// Such as a file of another version: it is sealed, and says what this one does not understand.
TEST_F(KeyAllowancesTest, WhatIsNotUnderstoodIsRefused) {
  using service::allowances::Allowance;
  const auto open_with = [&](const std::function<void(Allowance&)>& change) {
    service::allowances::Record record;
    Allowance& allowance = *record.add_allowance();
    allowance.set_id(std::string(16, 'i'));
    allowance.set_by_peer(true);
    allowance.set_operation("encrypt");
    allowance.set_key("data");
    allowance.set_uses_left(1);
    allowance.set_expires_unix_ms(1);
    change(allowance);
    files_->write_sealed("allowances", custody::serialised(record));
    open();
  };
  EXPECT_NO_THROW(open_with([](Allowance&) {}));
  for (const auto& change : std::vector<std::function<void(Allowance&)>>{
           [](Allowance& of) { of.set_id("short"); },
           [](Allowance& of) { of.set_operation("settle"); }, [](Allowance& of) { of.set_key(""); },
           [](Allowance& of) { of.set_key("a b"); }, [](Allowance& of) { of.set_user(0); },
           [](Allowance& of) { of.set_client("billing"); },
           [](Allowance& of) { of.set_by_peer(false); }}) {
    EXPECT_THROW(open_with(change), StoreError);
    std::filesystem::remove(file());
    open();
  }
  files_->write_sealed("allowances", std::vector(3, std::byte{0xff}));
  EXPECT_THROW(open(), StoreError);
}

// What would be lost first is used first.
TEST_F(KeyAllowancesTest, TheOneThatExpiresFirstIsUsed) {
  const auto until = [&](int after) {
    return allowances_
        ->grant(kGrantingOfficer,
                {.key = "data", .uses_left = 1, .expires = kGranted + std::chrono::seconds(after)},
                kGranted)
        .id;
  };
  const auto second = until(20), first = until(10), third = until(30);
  for (const auto& id : {first, second, third}) {
    EXPECT_EQ(allowances_->use(asked_by(FromPeer{}, "data"), kGranted), id);
  }
  EXPECT_FALSE(is_used(asked_by(FromPeer{}, "data")));
}

TEST_F(KeyAllowancesTest, WhatHasExpiredTakesNoRoom) {
  const auto later = kGranted + std::chrono::seconds(10);
  for (int i = 0; i < 256; ++i) allow(FromPeer{}, "data");
  const auto grant = [&](std::chrono::system_clock::time_point now) {
    allowances_->grant(kGrantingOfficer,
                       {.key = "data", .uses_left = 1, .expires = now + std::chrono::hours(1)},
                       now);
  };
  EXPECT_THROW(grant(later - std::chrono::milliseconds(1)), KeyFailed);
  EXPECT_NO_THROW(grant(later));
  open();
  EXPECT_EQ(allowances_->all(kGranted).size(), 1u);
}

TEST_F(KeyAllowancesTest, NothingIsAllowedThatIsNotInTheLog) {
  const SmallDisk disk(directory_ / "disk", 64 << 10);
  if (!disk.is_mounted()) GTEST_SKIP() << "this process may not mount";
  KeyAudit audit(directory_ / "disk" / "audit");
  fill_audit(audit);
  KeyAllowances allowances(*files_, audit);
  EXPECT_THROW(allowances.grant(
                   kGrantingOfficer,
                   {.key = "data", .uses_left = 1, .expires = kGranted + std::chrono::seconds(10)},
                   kGranted),
               StoreError);
  EXPECT_FALSE(allowances.use(asked_by(FromPeer{}, "data"), kGranted));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

// A use that cannot be written is gone, and lets nothing go on.
TEST_F(KeyAllowancesTest, AUseThatCannotBeWrittenLetsNothingGoOn) {
  allow(FromPeer{}, "data", 1);
  std::filesystem::create_directory(file().string() + ".new");
  EXPECT_THROW(is_used(asked_by(FromPeer{}, "data")), StoreError);
  std::filesystem::remove(file().string() + ".new");
  EXPECT_FALSE(is_used(asked_by(FromPeer{}, "data")));
}

}  // namespace
}  // namespace tinyot::test
