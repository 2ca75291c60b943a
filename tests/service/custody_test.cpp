// Keys of custody through two daemons, as clients use them.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstring>
#include <future>
#include <latch>
#include <thread>

#include "base/hex.h"
#include "crypto/sealed_box.h"
#include "custody/key_files.h"
#include "custody_daemons.h"
#include "service/key_certificate.h"
#include "tests/support/openssl_mechanisms.h"
#include "tests/support/relay.h"
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
  ASSERT_OK(keys_b_->derive("child", "root"));
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

TEST_F(CustodyTest, AKeyThatThePeerHasDestroyedIsNotResumed) {
  start_custody();
  ASSERT_OK(keys_a_->create("data"));
  v1::KeyName name;
  name.set_key("data");
  v1::DestroyReply destroyed;
  ASSERT_TRUE(keys_b_->call(&Stub::Destroy, name, destroyed).ok());
  ASSERT_TRUE(test::becomes_true([&] { return keys_a_->show("data").key.state() == "suspended"; }));
  EXPECT_EQ(keys_a_->named(&Stub::Resume, "data").status.error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(a_->metric("tinyot_keys_destroyed_by_peer{peer=\"bob\""), "1");
  EXPECT_EQ(audit_problems(), std::vector<std::string>());
  keys_a_.reset();
  const test::Ended ended = a_->stop();
  EXPECT_NE(ended.err.find("\"key destroyed by the peer\""), std::string::npos) << ended.err;
}

// The share is kept while daemons are restarted; what the peer says in the end counts.
TEST_F(CustodyTest, APeerThatHasItsShareAgainKeepsThisOne) {
  start_custody();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  const std::filesystem::path at_b = directory_of(Party::B) / "custody", copy = dir_ / "copy";
  keys_b_.reset();
  EXPECT_EQ(b_->stop().status, 0);
  std::filesystem::copy(at_b, copy, std::filesystem::copy_options::recursive);
  b_->start();
  keys_b_ = std::make_unique<KeyClient>(b_->socket());
  v1::KeyName name;
  name.set_key("data");
  v1::DestroyReply destroyed;
  ASSERT_TRUE(
      test::becomes_true([&] { return keys_b_->call(&Stub::Destroy, name, destroyed).ok(); }));
  const auto destroyed_by_peer = [&](const std::string& keys) {
    return test::becomes_true(
        [&] { return a_->metric("tinyot_keys_destroyed_by_peer{peer=\"bob\"") == keys; });
  };
  ASSERT_TRUE(destroyed_by_peer("1"));
  keys_a_.reset();
  a_->kill();
  a_->start();
  keys_a_ = std::make_unique<KeyClient>(a_->socket());
  EXPECT_TRUE(destroyed_by_peer("1"));
  // Its disk is set back.
  keys_b_.reset();
  EXPECT_EQ(b_->stop().status, 0);
  std::filesystem::remove_all(at_b);
  std::filesystem::copy(copy, at_b, std::filesystem::copy_options::recursive);
  b_->start();
  EXPECT_TRUE(destroyed_by_peer("0"));
  EXPECT_EQ(keys_a_->show("data").key.state(), "suspended");
  ASSERT_OK(keys_a_->named(&Stub::Resume, "data"));
  EXPECT_TRUE(test::becomes_true([&] { return keys_a_->encrypt("data", "text").status.ok(); }));
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
      return test::read_file(log).find("\"keys are missing\"," + said) != std::string::npos;
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

// All other keys are loaded on the connection on which a call is evaluated. Over a slow link, so
// that clients go at every stage of their calls, and before one party knows what the other has
// begun.
TEST_F(CustodyTest, AClientThatGoesTakesNoConnectionWithIt) {
  test::Relay relay(port_,
                    {.chunk_bytes_max = 1 << 20, .delay_max = std::chrono::milliseconds(20)});
  CustodySetup setup;
  setup.port_b = relay.port();
  setup.peer = "evaluations: 1";
  setup.ands = "600000";
  start_custody(setup);
  ASSERT_TRUE(is_stocked(500'000));
  ASSERT_OK(keys_a_->create("mac", "mac", "aes128"));
  ASSERT_OK(keys_a_->sign("mac", "message"));
  const std::size_t connections = relay.connections();
  for (const KeyClient* const client : {keys_a_.get(), keys_b_.get()})
    for (int ms = 5; ms < 80; ms += 5) {
      (void)client->sign("mac", "message", std::chrono::milliseconds(ms));
      ASSERT_OK(keys_b_->sign("mac", "message"));
    }
  EXPECT_EQ(relay.connections(), connections);
  keys_a_.reset();
  keys_b_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  EXPECT_EQ(b_->stop().status, 0);
  EXPECT_EQ(audit_problems(), std::vector<std::string>());
}

TEST_F(CustodyTest, NobodyWaitsForAllCallsOfAnother) {
  CustodySetup setup;
  setup.peer = "evaluations: 1";
  setup.ands = "1500000";
  setup.inputs = "200000";
  start_custody(setup);
  ASSERT_TRUE(is_stocked(1'300'000));
  ASSERT_OK(keys_a_->create("mac", "mac", "hmac_sha256"));
  ASSERT_OK(keys_a_->create("short", "mac", "aes128"));
  constexpr int kCalls = 20;
  std::atomic<int> done = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < kCalls; ++i)
    clients.emplace_back([&] {
      const auto signed_by_a = keys_a_->sign("mac", "message");
      EXPECT_TRUE(signed_by_a.status.ok()) << signed_by_a.status.error_message();
      ++done;
    });
  ASSERT_TRUE(test::becomes_true([&] {
    return done + std::stoi("0" + b_->metric("tinyot_key_requests{peer=\"alice\"}")) >= kCalls;
  }));
  ASSERT_OK(keys_b_->sign("short", "message"));
  EXPECT_LT(done, kCalls / 2);
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

class KeyCertificateTest : public CustodyTest {
 protected:
  struct Reply {
    grpc::Status status;
    v1::CertificateReply reply;
  };
  static Reply certificate(const KeyClient& client, const std::string& key) {
    v1::KeyName name;
    name.set_key(key);
    Reply reply;
    reply.status = client.call(&Stub::Certificate, name, reply.reply);
    return reply;
  }
  net::Fingerprint key_of(Party party) const {
    return engine::read_identity((dir_ / (std::string(1, letter(party)) + ".pem")).string())
        .fingerprint();
  }
  // As an auditor does, who has both parties' TLS keys.
  service::CertifiedKey verified(const std::string& file) const {
    return service::verify_certificate(service::certificate_from(std::as_bytes(std::span(file))),
                                       {key_of(Party::A), key_of(Party::B)});
  }
  std::filesystem::path file_of(Party party, const std::string& id) const {
    return directory_of(party) / "custody" / (id + ".certificate");
  }
};

TEST_F(KeyCertificateTest, ComesWithEveryKeyThatIsMade) {
  start_custody();
  const auto root = keys_a_->create("root", "kdf");
  ASSERT_OK(root);
  const auto derived = keys_b_->derive("child", "root");
  for (const auto& made :
       {root, derived, keys_b_->import("old", "mac", "aes128", std::string(16, 'k')),
        keys_a_->named(&Stub::Rotate, "old")}) {
    ASSERT_OK(made);
    const service::CertifiedKey certified = verified(made.key.certificate());
    EXPECT_EQ(custody::text_of(certified.own.attributes.id), made.key.id());
    EXPECT_EQ(certified.own.attributes.label, made.key.label());
    EXPECT_EQ(certified.own.attributes.version, made.key.version());
    EXPECT_EQ(custody::name_of(certified.own.attributes.origin), made.key.origin());
    EXPECT_EQ(hex_of(crypto::bytes_of(certified.own.fingerprint)), made.key.fingerprint());
    // The other party has it, too.
    EXPECT_NO_THROW(verified(test::read_file(file_of(Party::A, made.key.id()))));
    EXPECT_NO_THROW(verified(test::read_file(file_of(Party::B, made.key.id()))));
  }
}

TEST_F(KeyCertificateTest, IsTheSameAfterRefreshesAndRestartsAndWithoutThePeer) {
  start_custody();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  ASSERT_OK(keys_a_->named(&Stub::Refresh, "data"));
  EXPECT_EQ(certificate(*keys_a_, "data").reply.certificate(), made.key.certificate());
  keys_a_.reset();
  keys_b_.reset();
  EXPECT_EQ(b_->stop().status, 0);
  a_->kill();
  a_->start();
  keys_a_ = std::make_unique<KeyClient>(a_->socket());
  const auto again = certificate(*keys_a_, "data");
  ASSERT_OK(again);
  EXPECT_EQ(again.reply.certificate(), made.key.certificate());
  // Also of a key that is no longer used.
  ASSERT_OK(keys_a_->named(&Stub::Suspend, "data"));
  EXPECT_EQ(certificate(*keys_a_, "data").reply.certificate(), made.key.certificate());
}

// As after a crash, or of keys of an earlier release.
TEST_F(KeyCertificateTest, IsMadeIfThereIsNone) {
  start_custody();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  const std::string at_b = test::read_file(file_of(Party::B, made.key.id()));
  std::filesystem::remove(file_of(Party::A, made.key.id()));
  // The other party has signed before, and does not sign again.
  const auto again = certificate(*keys_a_, "data");
  ASSERT_OK(again);
  EXPECT_NO_THROW(verified(again.reply.certificate()));
  EXPECT_EQ(verified(again.reply.certificate()).peers.time, verified(at_b).peers.time);
  EXPECT_EQ(test::read_file(file_of(Party::B, made.key.id())), at_b);
  // One that is damaged is as none; here nobody has any.
  test::write_file(file_of(Party::A, made.key.id()), at_b.substr(0, 100));
  std::filesystem::remove(file_of(Party::B, made.key.id()));
  const auto damaged = certificate(*keys_a_, "data");
  ASSERT_OK(damaged);
  EXPECT_NO_THROW(verified(damaged.reply.certificate()));
  EXPECT_NO_THROW(verified(test::read_file(file_of(Party::B, made.key.id()))));
  // Each party by itself stands for what is active there.
  for (const Party party : {Party::A, Party::B})
    std::filesystem::remove(file_of(party, made.key.id()));
  ASSERT_OK(keys_b_->named(&Stub::Suspend, "data"));
  const auto refused = certificate(*keys_a_, "data");
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(refused.status.error_message(), "bob has signed no certificate of it: key " +
                                                made.key.id() +
                                                " is suspended: only an active one is certified");
  const auto own = certificate(*keys_b_, "data");
  EXPECT_EQ(own.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  ASSERT_OK(keys_b_->named(&Stub::Resume, "data"));
  ASSERT_OK(certificate(*keys_a_, "data"));
}

// Nothing is signed with a peer that has failed a check.
TEST_F(KeyCertificateTest, OfAPeerThatHasCheatedIsNotMade) {
  start_custody();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  for (const Party party : {Party::A, Party::B})
    std::filesystem::remove(file_of(party, made.key.id()));
  test::write_file(directory_of(Party::A) / "custody" / "peer-cheated", "");
  a_->start();
  grpc::Status refused;
  ASSERT_TRUE(test::becomes_true([&] {
    refused = certificate(*keys_b_, "data").status;
    return refused.error_code() != grpc::StatusCode::UNAVAILABLE;
  }));
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(refused.error_message(),
            "alice has signed no certificate of it: keys are suspended, since a check has failed");
  EXPECT_FALSE(std::filesystem::exists(file_of(Party::A, made.key.id())));
}

// A program that took it for a failure would make another key.
TEST_F(KeyCertificateTest, AKeyIsMadeWithoutOne) {
  start_custody();
  const std::string making(16, 'm');
  const crypto::Digest id = crypto::sha256(std::as_bytes(std::span(making)));
  const std::filesystem::path in_its_place =
      file_of(Party::B, hex_of(crypto::bytes_of(id).first(16)));
  std::filesystem::create_directory(in_its_place);
  const auto made = keys_a_->create("data", "aead", "aes128", {}, making);
  ASSERT_OK(made);
  EXPECT_EQ(made.key.state(), "active");
  EXPECT_EQ(made.key.certificate(), "");
  EXPECT_EQ(made.key.certificate_problem(),
            "bob has signed no certificate of it: its store cannot be used");
  ASSERT_OK(keys_b_->encrypt("data", "text"));
  std::filesystem::remove(in_its_place);
  const auto later = certificate(*keys_a_, "data");
  ASSERT_OK(later);
  EXPECT_NO_THROW(verified(later.reply.certificate()));
}

// Party A gets another TLS key, as after a loss.
class RebindTest : public KeyCertificateTest {
 protected:
  void change_key_of_a() {
    keys_a_.reset();
    keys_b_.reset();
    EXPECT_EQ(a_->stop().status, 0);
    EXPECT_EQ(b_->stop().status, 0);
    former_ = key_of(Party::A);
    for (const char* const file : {"A.pem", "A.pem.crt"}) std::filesystem::remove(dir_ / file);
    engine::write_identity(net::Identity::generate(), dir_ / "A.pem");
    start_again();
    // Stores are bound to the keys that they were made with.
    EXPECT_TRUE(a_->client().retire("bob").ok());
    EXPECT_TRUE(b_->client().retire("alice").ok());
  }
  void start_again() {
    a_->start();
    b_->start();
    keys_a_ = std::make_unique<KeyClient>(a_->socket());
    keys_b_ = std::make_unique<KeyClient>(b_->socket());
  }
  // The labels of those that are to be refreshed.
  static std::vector<std::string> rebind(const KeyClient& client, const std::string& key = {}) {
    v1::KeyName name;
    name.set_key(key);
    v1::RebindReply reply;
    const grpc::Status status = client.call(&Stub::Rebind, name, reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<std::string> labels;
    for (const v1::Key& due : reply.keys()) {
      EXPECT_TRUE(due.needs_refresh());
      EXPECT_FALSE(due.needs_rebind());
      labels.push_back(due.label());
    }
    std::ranges::sort(labels);
    return labels;
  }
  std::string refusal(const std::string& id) const {
    return "key " + id + " is bound to a former TLS key, " + net::text_of(former_) +
           ": officers of both parties have to rebind it, if the party with another key is the "
           "same organisation";
  }
  using Labels = std::vector<std::string>;

  net::Fingerprint former_;
};

TEST_F(RebindTest, KeysAreUsedAgainOnceBothPartiesHaveBoundThem) {
  start_custody();
  const auto data = keys_a_->create("data"), mac = keys_b_->create("mac", "mac");
  ASSERT_OK(data);
  ASSERT_OK(mac);
  const auto sealed = keys_a_->encrypt("data", "text");
  ASSERT_OK(sealed);
  change_key_of_a();
  EXPECT_EQ(a_->metric("tinyot_keys{peer=\"bob\",state=\"unbound\""), "2");
  for (const KeyClient* const client : {keys_a_.get(), keys_b_.get()}) {
    const auto shown = client->show("data");
    ASSERT_OK(shown);
    EXPECT_TRUE(shown.key.needs_rebind());
    EXPECT_EQ(shown.key.state(), "active");
    const auto used = client->decrypt("data", sealed.reply);
    EXPECT_EQ(used.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(used.status.error_message(), refusal(data.key.id()));
    EXPECT_EQ(client->named(&Stub::Refresh, "data").status.error_message(), refusal(data.key.id()));
  }
  EXPECT_EQ(certificate(*keys_a_, "data").status.error_message(), refusal(data.key.id()));
  // One party alone is not enough, whichever of them asks.
  EXPECT_EQ(rebind(*keys_b_), (Labels{"data", "mac"}));
  EXPECT_EQ(keys_a_->decrypt("data", sealed.reply).status.error_message(), refusal(data.key.id()));
  ASSERT_TRUE(test::becomes_true([&] {
    return keys_b_->decrypt("data", sealed.reply).status.error_message() ==
           "alice refuses: " + refusal(data.key.id());
  }));
  EXPECT_EQ(keys_b_->sign("mac", "text").status.error_message(),
            "alice refuses: " + refusal(mac.key.id()));
  // The other one binds one key, and ends.
  EXPECT_EQ(rebind(*keys_a_, "mac"), (Labels{"mac"}));
  keys_a_.reset();
  a_->kill();
  b_->kill();
  start_again();
  EXPECT_TRUE(keys_a_->show("data").key.needs_rebind());
  EXPECT_FALSE(keys_a_->show("mac").key.needs_rebind());
  EXPECT_EQ(rebind(*keys_a_), (Labels{"data", "mac"}));
  ASSERT_TRUE(is_stocked());
  for (const KeyClient* const client : {keys_a_.get(), keys_b_.get()})
    ASSERT_TRUE(test::becomes_true(
        [&] { return client->decrypt("data", sealed.reply).reply.plaintext() == "text"; }));
  // Shares that were stolen together with the former key are of an old epoch.
  for (const char* const key : {"data", "mac"}) {
    EXPECT_TRUE(keys_b_->show(key).key.needs_refresh());
    ASSERT_OK(keys_b_->named(&Stub::Refresh, key));
    EXPECT_FALSE(keys_a_->show(key).key.needs_refresh());
    EXPECT_FALSE(keys_b_->show(key).key.needs_refresh());
  }
  EXPECT_EQ(a_->metric("tinyot_keys{peer=\"bob\",state=\"unbound\""), "");
  EXPECT_EQ(rebind(*keys_a_), Labels());
  EXPECT_EQ(keys_a_->decrypt("data", sealed.reply).reply.plaintext(), "text");
  // The certificate of the former keys is evidence of that time; of now there is another one.
  const auto certified = certificate(*keys_a_, "data");
  ASSERT_OK(certified);
  EXPECT_NO_THROW(verified(certified.reply.certificate()));
  EXPECT_NE(certified.reply.certificate(), data.key.certificate());
  keys_a_.reset();
  keys_b_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  EXPECT_EQ(b_->stop().status, 0);
  // The logs tell of it, and hold with the keys of their times.
  const std::string log = test::read_file(directory_of(Party::B) / "audit.log");
  EXPECT_NE(log.find("\"operation\":\"rebind\",\"key\":\"" + data.key.id()), std::string::npos);
  EXPECT_NE(
      log.find("the peer " + net::text_of(former_) + ", now " + net::text_of(key_of(Party::A))),
      std::string::npos);
  for (const Party party : {Party::A, Party::B}) {
    service::AuditParties parties{key_of(party), key_of(peer_of(party)),
                                  directory_of(peer_of(party)) / "audit.log"};
    (party == Party::A ? parties.former_own_keys : parties.former_peers_keys) = {{former_}};
    EXPECT_EQ(service::verify_audit(directory_of(party) / "audit.log", parties).problems,
              std::vector<std::string>());
  }
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

// Nothing of it has begun, and the client is told that it may ask again.
TEST_F(WaitingRequestsTest, OfADaemonThatStopsMayBeRepeated) {
  start_with_approvals();
  auto waiting = std::async(std::launch::async,
                            [&] { return KeyClient(a_->socket()).encrypt("data", "text").status; });
  ASSERT_TRUE(become_waiting(1));
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  const grpc::Status ended = waiting.get();
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_NE(ended.error_message().find("repeat the request"), std::string::npos)
      << ended.error_message();
}

// The log has one decision, and who came too late is told.
TEST_F(WaitingRequestsTest, OneDecisionCounts) {
  CustodySetup setup;
  setup.policy_a =
      "allow { user: 'ME' key: '*' may: [CREATE] }\n"
      "allow { peer: true key: '*' may: [ENCRYPT] approval: true }\n";
  start_custody(setup);
  ASSERT_OK(keys_a_->create("data"));
  auto waiting =
      std::async(std::launch::async, [&] { return keys_b_->encrypt("data", "text").status; });
  ASSERT_TRUE(become_waiting(1));
  v1::ApprovalsReply approvals;
  ASSERT_TRUE(keys_a_->call(&Stub::Approvals, {}, approvals).ok());
  v1::ApprovalRequest decision;
  decision.set_request(approvals.approvals(0).request());
  constexpr int kOfficers = 8;
  std::atomic<int> decided = 0;
  std::latch all(kOfficers);
  std::vector<std::jthread> officers;
  for (int i = 0; i < kOfficers; ++i)
    officers.emplace_back([&] {
      const KeyClient officer(a_->socket());
      EXPECT_TRUE(officer.show("data").status.ok());
      all.arrive_and_wait();
      v1::ApprovalReply reply;
      decided += static_cast<int>(officer.call(&Stub::Approve, decision, reply).ok());
    });
  officers.clear();
  EXPECT_EQ(decided, 1);
  const grpc::Status ended = waiting.get();
  EXPECT_TRUE(ended.ok()) << ended.error_message();
  const std::string log = test::read_file(directory_of(Party::A) / "audit.log"),
                    approved = "\"operation\":\"approve\"";
  EXPECT_EQ(log.find(approved), log.rfind(approved));
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
