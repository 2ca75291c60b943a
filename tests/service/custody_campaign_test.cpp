// Keys of custody under everything that happens to daemons: clients of both parties use them while
// daemons are killed, links cut, keys refreshed, suspended and restored, a disk set back, and a
// wrong share given. TINYOT_KEY_OPERATIONS and TINYOT_KEY_FAULTS set the size (doc/testing.md).
#include <gtest/gtest.h>

#include <atomic>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "base/hex.h"
#include "crypto/sealed_box.h"
#include "custody/backups.h"
#include "custody_daemons.h"
#include "link_relay.h"
#include "tests/support/from_environment.h"
#include "tests/support/openssl_mechanisms.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;
using grpc::StatusCode;
using Stub = v1::Keys::Stub;
using Random = std::mt19937_64;

struct CampaignKey {
  std::string label, id, key_class, algorithm;
  std::string bytes;  // of an imported one
};

class CustodyCampaignTest : public CustodyTest {
 protected:
  static constexpr std::size_t kKeys = 20, kClients = 2;  // of each party

  Daemon& daemon(int party) { return party == 0 ? *a_ : *b_; }
  std::unique_ptr<KeyClient> client(int party) {
    return std::make_unique<KeyClient>(daemon(party).socket());
  }
  fs::path custody_of(int party) const {
    return directory_of(party == 0 ? Party::A : Party::B) / "custody";
  }
  fs::path backups_of(int party) const {
    return dir_ / (std::string("backups ") + (party == 0 ? "A" : "B"));
  }

  // Calls until it is done, but for a while.
  template <class Call>
  void insist(const Call& call, const std::string& what) {
    grpc::Status last;
    EXPECT_TRUE(becomes_true([&] { return (last = call()).ok(); }))
        << what << ": " << last.error_message();
  }

  void make_keys();
  void run_client(int party, std::uint64_t seed, std::uint64_t operations);
  // Whether it has been done, or cannot be done now whoever repeats it.
  bool use(const KeyClient& client, const CampaignKey& key, Random& random);
  bool note(const grpc::Status& status);

  void kill_and_start(int party) {
    daemon(party).kill();
    daemon(party).start();
  }
  void refresh(int party, const CampaignKey& key);
  void suspend_and_resume(int party, const CampaignKey& key);
  void set_disk_back(int party);
  void give_wrong_share(int party, const CampaignKey& key);
  void restore(int party, const CampaignKey& key, bool is_right);
  void cause_fault(Random& random, LinkRelay& relay);

  std::vector<CampaignKey> keys_;
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> nonces_;             // by key
  std::map<std::string, std::map<std::string, std::string>> tags_;  // by key and message
  struct Sample {
    v1::EncryptReply sealed;
    std::string text;
  };
  std::map<std::string, std::vector<Sample>> sealed_;  // by key
  std::map<std::string, std::uint64_t> errors_;
  std::atomic<std::uint64_t> done_ = 0, failed_ = 0, ended_ = 0;
  crypto::BoxPrivateKey box_key_ = crypto::random_box_key();
  std::map<std::string, int> faults_;
};

void CustodyCampaignTest::make_keys() {
  Random random(1);
  const auto bytes = [&](std::size_t count) {
    std::string text(count, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  };
  for (std::size_t i = 0; i < kKeys; ++i) {
    CampaignKey key{"key-" + std::to_string(i), "", i % 3 == 0 ? "aead" : "mac",
                    i % 3 == 2   ? "hmac_sha256"
                    : i % 2 == 0 ? "aes128"
                                 : "aes256",
                    ""};
    if (i % 2 == 0) key.bytes = bytes(key.algorithm == "aes128" ? 16 : 32);
    const auto by = client(static_cast<int>(i / 2 % 2));
    const std::string making = bytes(16);
    insist(
        [&] {
          auto made = key.bytes.empty()
                          ? by->create(key.label, key.key_class, key.algorithm, "", making)
                          : by->import(key.label, key.key_class, key.algorithm, key.bytes, making);
          key.id = made.key.id();
          return made.status;
        },
        "making " + key.label);
    keys_.push_back(std::move(key));
  }
}

// What a client is told has a class that says what to do.
bool CustodyCampaignTest::note(const grpc::Status& status) {
  ++(status.ok() ? done_ : failed_);
  if (status.ok()) return true;
  const std::lock_guard lock(mutex_);
  ++errors_[status.error_message().substr(0, 60)];
  const StatusCode code = status.error_code();
  EXPECT_TRUE(code == StatusCode::UNAVAILABLE || code == StatusCode::DEADLINE_EXCEEDED ||
              code == StatusCode::FAILED_PRECONDITION || code == StatusCode::PERMISSION_DENIED ||
              code == StatusCode::RESOURCE_EXHAUSTED || code == StatusCode::NOT_FOUND)
      << code << ": " << status.error_message();
  return code != StatusCode::UNAVAILABLE;
}

bool CustodyCampaignTest::use(const KeyClient& client, const CampaignKey& key, Random& random) {
  std::string text = "text " + std::to_string(random() % 1000);
  text.resize(1 + random() % 48, '.');
  if (key.key_class == "mac") {
    const auto made = client.sign(key.id, text);
    if (!made.status.ok()) return note(made.status);
    if (!key.bytes.empty()) {
      EXPECT_EQ(made.reply.tag(), key.algorithm == "hmac_sha256" ? openssl_hmac(key.bytes, text)
                                                                 : openssl_cmac(key.bytes, text));
      return note(made.status);
    }
    (void)note(made.status);
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(tags_[key.id].try_emplace(text, made.reply.tag()).first->second, made.reply.tag())
        << key.label << " has become another key";
    return true;
  }
  std::optional<Sample> sample;
  {
    const std::lock_guard lock(mutex_);
    const auto& samples = sealed_[key.id];
    if (!samples.empty() && random() % 2 == 0) sample = samples[random() % samples.size()];
  }
  if (sample) {
    const auto opened = client.decrypt(key.id, sample->sealed);
    if (opened.status.ok()) {
      EXPECT_EQ(opened.reply.plaintext(), sample->text);
    }
    return note(opened.status);
  }
  const auto sealed = client.encrypt(key.id, text);
  if (!note(sealed.status)) return false;
  if (!sealed.status.ok()) return true;
  if (!key.bytes.empty()) {
    EXPECT_EQ(sealed.reply.ciphertext() + sealed.reply.tag(),
              openssl_seal(key.bytes, sealed.reply.nonce(), "", text));
  }
  const std::lock_guard lock(mutex_);
  EXPECT_TRUE(nonces_[key.id].insert(sealed.reply.nonce()).second) << "a nonce twice";
  sealed_[key.id].push_back({sealed.reply, text});
  return true;
}

void CustodyCampaignTest::run_client(int party, std::uint64_t seed, std::uint64_t operations) {
  Random random(seed);
  const auto with = client(party);
  for (std::uint64_t i = 0; i < operations; ++i) {
    const CampaignKey& key = keys_[random() % keys_.size()];
    const bool has_ended = becomes_true([&] {
      if (use(*with, key, random)) return true;
      // Many requests that are refused at once would delay what they wait for.
      std::this_thread::sleep_for(std::chrono::milliseconds(90));
      return false;
    });
    EXPECT_TRUE(has_ended);
    ++ended_;
  }
}

void CustodyCampaignTest::refresh(int party, const CampaignKey& key) {
  insist([&] { return client(party)->named(&Stub::Refresh, key.id).status; }, "refresh");
}

void CustodyCampaignTest::suspend_and_resume(int party, const CampaignKey& key) {
  insist([&] { return client(party)->named(&Stub::Suspend, key.id).status; }, "suspend");
  insist([&] { return client(party)->named(&Stub::Resume, key.id).status; }, "resume");
}

// The share of the epoch that the other party has; with a wrong byte, or as it is.
void CustodyCampaignTest::restore(int party, const CampaignKey& key, bool is_right) {
  insist(
      [&]() -> grpc::Status {
        const auto with = client(party);
        const auto theirs = client(1 - party)->show(key.id);
        if (!theirs.status.ok()) return theirs.status;
        const auto mine = with->show(key.id);
        for (const std::string& epoch : theirs.key.epochs()) {
          if (mine.status.ok() &&
              std::ranges::find(mine.key.epochs(), epoch) != mine.key.epochs().end())
            return {};
          for (const auto& file : fs::directory_iterator(backups_of(party))) {
            if (!file.path().filename().string().starts_with(key.id + "." + epoch + ".")) continue;
            const std::string sealed = read_file(file.path());
            auto content = custody::open_backup(std::as_bytes(std::span(sealed)), box_key_);
            if (!is_right) content.back() ^= std::byte{1};
            v1::RestoreKeyRequest request;
            request.mutable_backup()->assign(reinterpret_cast<const char*>(content.data()),
                                             content.size());
            v1::Key restored;
            return with->call(&Stub::Restore, request, restored);
          }
        }
        return {StatusCode::NOT_FOUND, "no backup of the peer's epoch"};
      },
      "restoring " + key.label);
}

// The directory as it was before the refresh of some keys.
void CustodyCampaignTest::set_disk_back(int party) {
  const fs::path old = dir_ / "old custody";
  daemon(party).kill();
  fs::copy(custody_of(party), old, fs::copy_options::recursive);
  daemon(party).start();
  ASSERT_TRUE(is_stocked());
  for (const std::size_t k : {0, 3, 7}) refresh(party, keys_[k]);
  daemon(party).kill();
  fs::remove_all(custody_of(party));
  fs::rename(old, custody_of(party));
  daemon(party).start();
  ASSERT_TRUE(is_stocked());
  // Without the epochs of both, until an officer restores them.
  for (const std::size_t k : {0, 3, 7}) restore(party, keys_[k], true);
  for (const CampaignKey& key : keys_)
    EXPECT_TRUE(becomes_true([&] { return client(party)->show(key.id).key.state() == "active"; }))
        << key.label;
}

// An officer of one party gives a share that is not that of the key.
void CustodyCampaignTest::give_wrong_share(int party, const CampaignKey& key) {
  const auto lose = [&] {
    daemon(party).kill();
    fs::remove(custody_of(party) / (key.id + ".key"));
    daemon(party).start();
    ASSERT_TRUE(is_stocked());
  };
  lose();
  restore(party, key, false);
  for (const int each : {0, 1})
    EXPECT_TRUE(becomes_true([&] { return client(each)->show(key.id).key.state() == "suspended"; }))
        << each << ": " << client(each)->show(key.id).key.state();
  lose();
  restore(party, key, true);
  for (const int each : {1 - party, party})
    insist(
        [&] {
          const auto shown = client(each)->show(key.id);
          if (shown.key.state() != "suspended") return shown.status;
          return client(each)->named(&Stub::Resume, key.id).status;
        },
        "resuming");
  EXPECT_TRUE(becomes_true([&] { return client(party)->show(key.id).key.state() == "active"; }))
      << client(party)->show(key.id).key.state();
}

void CustodyCampaignTest::cause_fault(Random& random, LinkRelay& relay) {
  const int party = static_cast<int>(random() % 2);
  const CampaignKey& key = keys_[random() % keys_.size()];
  switch (random() % 8) {
    case 0:
    case 1:
      ++faults_["kills"];
      return kill_and_start(party);
    case 2:
      ++faults_["cuts"];
      return relay.cut();
    case 3:
    case 4:
      ++faults_["refreshes"];
      return refresh(party, key);
    case 5:
      ++faults_["suspensions"];
      return suspend_and_resume(party, key);
    case 6:
      ++faults_["disks set back"];
      return set_disk_back(party);
    default:
      ++faults_["wrong shares"];
      return give_wrong_share(party, key);
  }
}

TEST_F(CustodyCampaignTest, NoResultIsWrongAndNoKeyIsLost) {
  const std::uint64_t operations = from_environment("TINYOT_KEY_OPERATIONS", 60),
                      faults = from_environment("TINYOT_KEY_FAULTS", 3),
                      seed = from_environment("TINYOT_SEED", 20261126);
  LinkRelay relay(port_);
  CustodySetup setup;
  // With little, all requests would often wait for a refill, which a fault may break off.
  setup.low = "ands: 1000000 inputs: 200000";
  setup.ands = "2000000";
  setup.inputs = "400000";
  setup.port_b = relay.port();
  for (const int party : {0, 1}) fs::create_directory(backups_of(party));
  const auto further = [&](int party) {
    return "backup_directory: '" + backups_of(party).string() +
           "' backup_to { name: 'officer' key: '" + hex_of(crypto::public_key_of(box_key_)) + "' }";
  };
  setup.custody_a = further(0);
  setup.custody_b = further(1);
  start_custody(setup);
  ASSERT_FALSE(HasFatalFailure());
  make_keys();
  std::vector<std::thread> clients;
  for (int party = 0; party < 2; ++party)
    for (std::size_t i = 0; i < kClients; ++i)
      clients.emplace_back([=, this] {
        run_client(party, seed + 10 * i + static_cast<std::uint64_t>(party),
                   operations / (2 * kClients));
      });
  Random random(seed);
  for (std::uint64_t i = 0; i < faults; ++i) {
    const std::uint64_t at = operations * (i + 1) / (faults + 2);
    EXPECT_TRUE(becomes_true([&] { return ended_ >= at; }, std::chrono::seconds(1200)));
    cause_fault(random, relay);
  }
  for (std::thread& thread : clients) thread.join();
  // Every key is there, and the same.
  for (const CampaignKey& key : keys_)
    for (const int party : {0, 1})
      insist(
          [&] {
            const auto with = client(party);
            return key.key_class == "mac" ? with->sign(key.id, "at the end").status
                                          : with->encrypt(key.id, "at the end").status;
          },
          key.label + " at the end");
  EXPECT_GE(done_, operations / 2);
  keys_a_.reset();
  keys_b_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  EXPECT_EQ(b_->stop().status, 0);
  EXPECT_EQ(audit_problems(), std::vector<std::string>());
  std::cout << operations << " operations: " << done_ << " done, " << failed_ << " stated errors;";
  for (const auto& [fault, count] : faults_) std::cout << " " << count << " " << fault << ";";
  std::cout << "\n";
  for (const auto& [error, count] : errors_) std::cout << "  " << count << " " << error << "\n";
}

}  // namespace
}  // namespace tinyot::test
