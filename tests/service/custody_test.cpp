// Keys of custody through two daemons, as clients use them.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <future>
#include <thread>

#include "base/hex.h"
#include "crypto/sealed_box.h"
#include "custody/key_files.h"
#include "custody_daemons.h"
#include "tests/support/openssl_mechanisms.h"
#include "tests/support/small_disk.h"

namespace tinyot {
namespace {

using test::CustodyTest;
using test::KeyClient;
using Stub = v1::Keys::Stub;

#define ASSERT_OK(of) ASSERT_TRUE((of).status.ok()) << (of).status.error_message()

TEST_F(CustodyTest, WhatOnePartyEncryptsTheOtherDecrypts) {
  start_custody();
  const auto made = keys_a_->create("app/data");
  ASSERT_OK(made);
  EXPECT_EQ(made.key.state(), "active");
  const auto sealed =
      keys_a_->encrypt("app/data", "thirty-two bytes of a plaintext!", "shown", true);
  ASSERT_OK(sealed);
  EXPECT_EQ(sealed.reply.key(), made.key.id());
  EXPECT_EQ(sealed.reply.ciphertext().size(), 32u);
  for (const KeyClient* const client : {keys_a_.get(), keys_b_.get()}) {
    const auto opened = client->decrypt(made.key.id(), sealed.reply, "shown", true);
    ASSERT_OK(opened);
    EXPECT_TRUE(opened.reply.is_valid());
    EXPECT_EQ(opened.reply.plaintext(), "thirty-two bytes of a plaintext!");
    const auto wrong = client->decrypt(made.key.id(), sealed.reply, "other", true);
    ASSERT_OK(wrong);
    EXPECT_FALSE(wrong.reply.is_valid());
    EXPECT_TRUE(wrong.reply.plaintext().empty());
  }
}

TEST_F(CustodyTest, ImportedKeysComputeAsOpenSslDoes) {
  start_custody();
  const std::string aes(16, 'k'), hmac(32, 'h');
  ASSERT_OK(keys_b_->import("aead", "aead", "aes128", aes));
  ASSERT_OK(keys_b_->import("cmac", "mac", "aes128", aes));
  ASSERT_OK(keys_a_->import("hmac", "mac", "hmac_sha256", hmac));
  for (const KeyClient* const client : {keys_a_.get(), keys_b_.get()}) {
    const auto sealed = client->encrypt("aead", "a message", "associated");
    ASSERT_OK(sealed);
    EXPECT_EQ(sealed.reply.ciphertext() + sealed.reply.tag(),
              test::openssl_seal(aes, sealed.reply.nonce(), "associated", "a message"));
    const auto cmac = client->sign("cmac", "a message");
    ASSERT_OK(cmac);
    EXPECT_EQ(cmac.reply.tag(), test::openssl_cmac(aes, "a message"));
    const auto tag = client->sign("hmac", "a message");
    ASSERT_OK(tag);
    EXPECT_EQ(tag.reply.tag(), test::openssl_hmac(hmac, "a message"));
    const auto right = client->verify("hmac", "a message", tag.reply.tag());
    ASSERT_OK(right);
    EXPECT_TRUE(right.reply.is_valid());
    const auto wrong = client->verify("hmac", "a messagE", tag.reply.tag());
    ASSERT_OK(wrong);
    EXPECT_FALSE(wrong.reply.is_valid());
  }
}

TEST_F(CustodyTest, AKeyIsRefreshedRotatedDerivedAndDestroyed) {
  start_custody();
  ASSERT_OK(keys_a_->create("data"));
  const auto sealed = keys_b_->encrypt("data", "text");
  ASSERT_OK(sealed);
  const std::string before = keys_a_->show("data").key.epochs(0);
  const auto refreshed = keys_b_->named(&Stub::Refresh, "data");
  ASSERT_OK(refreshed);
  ASSERT_EQ(refreshed.key.epochs_size(), 1);
  EXPECT_NE(refreshed.key.epochs(0), before);
  EXPECT_EQ(keys_a_->decrypt("data", sealed.reply).reply.plaintext(), "text");

  const auto rotated = keys_a_->named(&Stub::Rotate, "data");
  ASSERT_OK(rotated);
  EXPECT_EQ(rotated.key.version(), 2u);
  EXPECT_EQ(keys_a_->show(sealed.reply.key()).key.state(), "deactivated");
  EXPECT_EQ(keys_a_->encrypt("data", "text").reply.key(), rotated.key.id());
  EXPECT_EQ(keys_a_->decrypt(sealed.reply.key(), sealed.reply).reply.plaintext(), "text");
  EXPECT_EQ(keys_a_->encrypt(sealed.reply.key(), "text").status.error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);

  ASSERT_OK(keys_a_->create("root", "kdf"));
  v1::DeriveKeyRequest derive;
  derive.mutable_key()->set_label("child");
  derive.mutable_key()->set_key_class("mac");
  derive.mutable_key()->set_algorithm("aes128");
  derive.set_parent("root");
  derive.set_context("tenant 1");
  v1::Key child;
  const grpc::Status derived = keys_b_->call(&Stub::Derive, derive, child);
  ASSERT_TRUE(derived.ok()) << derived.error_message();
  EXPECT_EQ(keys_a_->sign("child", "text").reply.tag(), keys_b_->sign("child", "text").reply.tag());

  v1::KeyName name;
  name.set_key("child");
  v1::DestroyReply destroyed;
  ASSERT_TRUE(keys_a_->call(&Stub::Destroy, name, destroyed).ok());
  EXPECT_EQ(destroyed.key().state(), "destroyed");
  EXPECT_TRUE(
      test::becomes_true([&] { return keys_b_->show("child").key.state() == "suspended"; }));
  EXPECT_FALSE(keys_b_->sign("child", "text").status.ok());
}

TEST_F(CustodyTest, BothLogsTellTheSameStory) {
  start_custody();
  ASSERT_OK(keys_a_->create("data"));
  const auto sealed = keys_b_->encrypt("data", "a payload that no log has");
  ASSERT_OK(sealed);
  ASSERT_OK(keys_a_->decrypt("data", sealed.reply));
  ASSERT_OK(keys_a_->named(&Stub::Suspend, "data"));
  EXPECT_FALSE(keys_b_->encrypt("data", "text").status.ok());
  ASSERT_OK(keys_a_->named(&Stub::Resume, "data"));
  ASSERT_OK(keys_b_->encrypt("data", "text"));
  EXPECT_EQ(a_->stop().status, 0);
  EXPECT_EQ(b_->stop().status, 0);
  EXPECT_EQ(audit_problems(), std::vector<std::string>());
  const std::string log = test::read_file(directory_of(Party::A) / "audit.log");
  EXPECT_EQ(log.find("payload that no log has"), std::string::npos);
  std::size_t begun = 0;
  for (std::size_t at = 0; (at = log.find("\"begin\"", at)) != std::string::npos; ++at) ++begun;
  EXPECT_EQ(begun, 4u);
}

TEST_F(CustodyTest, KeysSurviveARestartOfBothDaemons) {
  start_custody();
  ASSERT_OK(keys_a_->create("data"));
  const auto sealed = keys_a_->encrypt("data", "text");
  ASSERT_OK(sealed);
  a_->kill();
  b_->kill();
  a_->start();
  b_->start();
  ASSERT_TRUE(is_stocked());
  EXPECT_TRUE(test::becomes_true([&] {
    return KeyClient(b_->socket()).decrypt("data", sealed.reply).reply.plaintext() == "text";
  }));
}

TEST_F(CustodyTest, LogsTellOfKeysThatOnePartyHasLost) {
  const std::filesystem::path log = dir_ / "log", kept = dir_ / "kept";
  CustodySetup setup;
  setup.daemon_a = "log { file: '" + log.string() + "' }";
  start_custody(setup);
  ASSERT_OK(keys_a_->create("data"));
  const auto lose = [&](Party party, const std::string& said) {
    test::Daemon& daemon = party == Party::A ? *a_ : *b_;
    const std::filesystem::path custody = directory_of(party) / "custody";
    daemon.kill();
    std::filesystem::rename(custody, kept);
    daemon.start();
    EXPECT_TRUE(test::becomes_true([&] {
      return test::read_file(log).find("\"keys are missing\"," + said) != said.npos;
    })) << test::read_file(log);
    daemon.kill();
    std::filesystem::remove_all(custody);
    std::filesystem::rename(kept, custody);
    daemon.start();
  };
  lose(Party::B, "\"peer\":\"bob\",\"missing_here\":0,\"missing_at_peer\":1");
  lose(Party::A, "\"peer\":\"bob\",\"missing_here\":1,\"missing_at_peer\":0");
}

TEST_F(CustodyTest, TheStartTellsOfKeysWithoutABackup) {
  const std::filesystem::path log = dir_ / "log", backups = dir_ / "backups";
  std::filesystem::create_directory(backups);
  const std::string field = "keys_max: 100", missing = "\"keys without a backup: refresh them\"";
  CustodySetup setup;
  setup.daemon_a = "log { file: '" + log.string() + "' }";
  setup.custody_a = field;
  start_custody(setup);
  ASSERT_OK(keys_a_->create("data"));
  EXPECT_EQ(test::read_file(log).find(missing), std::string::npos);
  a_->kill();
  std::string configuration = test::read_file(a_->configuration());
  configuration.replace(configuration.find(field), field.size(),
                        "backup_directory: '" + backups.string() +
                            "' backup_to { name: 'safe' key: '" +
                            hex_of(crypto::public_key_of(crypto::random_box_key())) + "' }");
  test::write_file(a_->configuration(), configuration);
  a_->start();
  EXPECT_NE(test::read_file(log).find(missing + ",\"peer\":\"bob\",\"keys\":1"), std::string::npos);
  ASSERT_TRUE(test::becomes_true(
      [&] { return KeyClient(a_->socket()).named(&Stub::Refresh, "data").status.ok(); }));
  a_->kill();
  std::filesystem::remove(log);
  a_->start();
  EXPECT_EQ(test::read_file(log).find(missing), std::string::npos) << test::read_file(log);
}

// What is known is told with the end of the time.
TEST_F(CustodyTest, AUseThatAFullDiskHoldsUpSaysSo) {
  const test::SmallDisk disk(dir_ / "b" / "stores", 256 << 20);
  if (!disk.is_mounted()) GTEST_SKIP() << "this process may not mount";
  CustodySetup setup;
  setup.custody_a = "request_timeout_s: 10";
  start_custody(setup);
  ASSERT_OK(keys_b_->create("data"));
  // Enough for the audit log, and not for jobs.
  ASSERT_TRUE(disk.resize(disk.used_bytes() + (512 << 10)));
  ASSERT_TRUE(test::becomes_true(
      [&] { return a_->client().peer().jobs_held() == "the peer's disk is full"; }));
  const auto held = keys_a_->encrypt("data", "text");
  EXPECT_NE(held.status.error_message().find("in time; the peer's disk is full"), std::string::npos)
      << held.status.error_message();
}

TEST_F(CustodyTest, WhatNoRuleAllowsIsRefusedByEitherParty) {
  CustodySetup setup;
  setup.policy_a =
      "allow { user: 'ME' key: '*' may: [CREATE, ENCRYPT, DECRYPT] }\n"
      "allow { peer: true key: 'shared/*' may: [ENCRYPT] bytes_max: 16 }\n";
  start_custody(setup);
  ASSERT_OK(keys_a_->create("shared/x"));
  ASSERT_OK(keys_a_->create("own/x"));
  // By this party's own policy.
  EXPECT_EQ(keys_a_->create("mac", "mac").status.error_code(), grpc::StatusCode::OK);
  EXPECT_EQ(keys_a_->sign("mac", "text").status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  // By the peer's.
  ASSERT_OK(keys_b_->encrypt("shared/x", "sixteen bytes..."));
  for (const auto& [key, text] : {std::pair("shared/x", "seventeen bytes.."), {"own/x", "text"}}) {
    const auto refused = keys_b_->encrypt(key, text);
    EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
    EXPECT_NE(refused.status.error_message().find("alice refuses"), std::string::npos)
        << refused.status.error_message();
  }
  EXPECT_EQ(keys_b_->create("new").status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(CustodyTest, ManyClientsUseAndRefreshOneKey) {
  start_custody();
  ASSERT_OK(keys_a_->create("data"));
  std::atomic<int> failures = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&, i] {
      const KeyClient client(i % 2 == 0 ? a_->socket() : b_->socket());
      for (int k = 0; k < 10; ++k) {
        const std::string text = "text " + std::to_string(i) + " " + std::to_string(k);
        const auto sealed = client.encrypt("data", text);
        const auto opened = client.decrypt("data", sealed.reply);
        if (!sealed.status.ok() || opened.reply.plaintext() != text) {
          ++failures;
          ADD_FAILURE() << sealed.status.error_message() << " / " << opened.status.error_message();
        }
      }
    });
  for (int k = 0; k < 3; ++k) {
    const auto refreshed = keys_a_->named(&Stub::Refresh, "data");
    EXPECT_TRUE(refreshed.status.ok()) << refreshed.status.error_message();
  }
  clients.clear();
  EXPECT_EQ(failures, 0);
}

class ManyKeysTest : public CustodyTest {
 protected:
  // Of party A, which B does not have.
  void make_keys(const std::filesystem::path& directory, std::uint16_t count) const {
    const std::string peer_key =
        net::text_of(engine::read_identity((dir_ / "B.pem").string()).fingerprint());
    custody::KeyFiles files(directory, {Party::A, "bob", peer_key},
                            StoreKey::read(dir_ / "A.store_key"));
    const std::uint64_t link = files.begin_link();
    for (std::uint16_t number = 1; number <= count; ++number) {
      custody::KeyRecord record;
      record.attributes.id.bytes.fill(std::byte{0xee});
      std::memcpy(record.attributes.id.bytes.data(), &number, sizeof number);
      record.attributes.label = "many/" + std::to_string(number);
      record.attributes.version = 1;
      custody::Epoch epoch;
      epoch.number = 1;
      files.store_epoch(link, record, epoch, custody::Share(32, std::byte{1}));
      files.keep_only(link, record.attributes.id, epoch);
    }
  }
};

// Together more than may wait to be sent.
TEST_F(ManyKeysTest, AreTold) {
  start_custody();
  ASSERT_OK(keys_a_->create("data"));
  keys_a_.reset();
  keys_b_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  EXPECT_EQ(b_->stop().status, 0);
  // In memory, where nothing is waited for until it is durable.
  const test::TestDirectory memory("/dev/shm");
  const std::filesystem::path in_memory = memory / "custody",
                              on_disk = directory_of(Party::A) / "custody";
  std::filesystem::copy(on_disk, in_memory);
  make_keys(in_memory, 12'000);
  std::filesystem::copy(in_memory, on_disk, std::filesystem::copy_options::overwrite_existing);
  a_->start();
  b_->start();
  keys_b_ = std::make_unique<KeyClient>(b_->socket());
  ASSERT_TRUE(test::becomes_true([&] { return keys_b_->encrypt("data", "text").status.ok(); }))
      << b_->client().peer().last_error();
}

// Each use of A's key "data" waits for an officer.
class WaitingRequestsTest : public CustodyTest {
 protected:
  void start_with_approvals() {
    CustodySetup setup;
    setup.policy_a =
        "allow { user: 'ME' key: '*' may: [CREATE] }\n"
        "allow { user: 'ME' key: '*' may: [ENCRYPT] approval: true }\n";
    start_custody(setup);
    ASSERT_OK(keys_a_->create("data"));
  }
  ::testing::AssertionResult become_waiting(int count) const {
    return test::becomes_true([&] {
      v1::ApprovalsReply approvals;
      return keys_a_->call(&Stub::Approvals, {}, approvals).ok() &&
             approvals.approvals_size() == count;
    });
  }
};

// So that the others have places, too.
TEST_F(WaitingRequestsTest, AClientHasAPartOfTheRequestsThatMayWait) {
  start_with_approvals();
  std::vector<std::jthread> clients;
  for (int i = 0; i < 64; ++i)
    clients.emplace_back([&] {
      const auto refused = KeyClient(a_->socket()).encrypt("data", "text");
      EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::UNAVAILABLE)
          << refused.status.error_message();
    });
  ASSERT_TRUE(become_waiting(64));
  const auto more = keys_a_->encrypt("data", "text");
  EXPECT_EQ(more.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED)
      << more.status.error_message();
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
}

// What waits is given up, too.
TEST_F(WaitingRequestsTest, WhoHasLostTheRightWaitsNoLonger) {
  start_with_approvals();
  auto waiting = std::async(std::launch::async,
                            [&] { return KeyClient(a_->socket()).encrypt("data", "text").status; });
  ASSERT_TRUE(become_waiting(1));
  std::string configuration = test::read_file(a_->configuration());
  const std::string rights = "USE_KEYS, MANAGE_KEYS";
  configuration.replace(configuration.find(rights), rights.size(), "RESUME");
  test::write_file(a_->configuration(), configuration);
  ASSERT_EQ(::kill(a_->pid(), SIGHUP), 0);
  const grpc::Status ended = waiting.get();
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_NE(ended.error_message().find("has lost its right"), std::string::npos)
      << ended.error_message();
}

}  // namespace
}  // namespace tinyot
