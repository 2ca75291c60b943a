// What officers of one party decide together, through their daemon: on its socket, and by
// certificates.
#include <gtest/gtest.h>

#include <future>

#include "base/hex.h"
#include "crypto/sealed_box.h"
#include "custody/backups.h"
#include "custody_daemons.h"
#include "service/key_failed.h"
#include "service/keys.h"
#include "tests/service/local_peers.h"
#include "tests/support/certificates.h"
#include "tests/support/openssl_mechanisms.h"

namespace tinyot::test {
namespace {

using grpc::StatusCode;
using Stub = v1::Keys::Stub;

#define ASSERT_OK(of) ASSERT_TRUE((of).status.ok()) << (of).status.error_message()

class OfficersTest : public CustodyTest {
 protected:
  // Party A's officers are the user of this test and the names `client` and `server`.
  void start_officers(CustodySetup setup) {
    if (!make_certificates(dir_)) GTEST_SKIP() << "no openssl command";
    address_ = "127.0.0.1:" + reserved_port();
    const auto path = [&](const std::string& name) { return (dir_ / name).string(); };
    setup.daemon_a += "tls { listen: '" + address_ + "' certificate: '" + path("server.pem") +
                      "' key: '" + path("server.key") + "' clients: '" + path("ca.pem") +
                      "' }\naccess { client: 'client' client: 'server' may: MANAGE_KEYS }";
    start_custody(setup);
    if (HasFatalFailure()) return;
    second_ = officer("client");
    third_ = officer("server");
  }
  void start_quorum(const std::string& custody = {}) {
    CustodySetup setup;
    setup.custody_a = "quorum: 2 " + custody;
    start_officers(setup);
  }
  std::unique_ptr<KeyClient> officer(const std::string& name) const {
    const grpc::SslCredentialsOptions options{read_file(dir_ / "ca.pem"),
                                              read_file(dir_ / (name + ".key")),
                                              read_file(dir_ / (name + ".pem"))};
    return std::make_unique<KeyClient>(
        grpc::CreateChannel(address_, grpc::SslCredentials(options)));
  }

  // What waits for officers of party A, once there is something.
  v1::Approval waiting() const {
    v1::ApprovalsReply reply;
    EXPECT_TRUE(becomes_true([&] {
      return keys_a_->call(&Stub::Approvals, {}, reply).ok() && reply.approvals_size() == 1;
    }));
    return reply.approvals_size() == 1 ? reply.approvals(0) : v1::Approval();
  }
  template <class Method>
  static grpc::Status decide(const KeyClient& officer, Method method, const std::string& request) {
    v1::ApprovalRequest decision;
    decision.set_request(request);
    v1::ApprovalReply reply;
    return officer.call(method, decision, reply);
  }
  // Of a call of the first officer, which waits for another one.
  template <class Call>
  grpc::Status confirmed(const std::string& operation, const Call& call) const {
    auto asked = std::async(std::launch::async, call);
    const v1::Approval shown = waiting();
    EXPECT_EQ(shown.operation(), operation);
    EXPECT_EQ(shown.quorum(), 2u);
    EXPECT_EQ(shown.officers_size(), 1);
    EXPECT_EQ(decide(*keys_a_, &Stub::Approve, shown.request()).error_code(),
              StatusCode::PERMISSION_DENIED);
    const grpc::Status decided = decide(*second_, &Stub::Approve, shown.request());
    EXPECT_TRUE(decided.ok()) << decided.error_message();
    return asked.get();
  }
  std::string log_of_a() const { return read_file(directory_of(Party::A) / "audit.log"); }

  std::string address_;
  std::unique_ptr<KeyClient> second_, third_;
};

TEST_F(OfficersTest, AnImportTakesTheOthersAndLeavesNothingBefore) {
  start_quorum();
  if (IsSkipped()) return;
  const std::string key(16, 'k');
  auto asked = std::async(std::launch::async, [&] {
    v1::ImportKeyRequest request;
    request.mutable_key()->set_label("mac");
    request.mutable_key()->set_key_class("mac");
    request.mutable_key()->set_algorithm("aes128");
    request.mutable_key()->set_cka_id("\x01z");
    request.set_bytes(key);
    KeyClient::Made made;
    made.status = keys_a_->call(&Stub::Import, request, made.key);
    return made;
  });
  const v1::Approval shown = waiting();
  EXPECT_EQ(shown.operation(), "import");
  EXPECT_EQ(shown.label(), "mac");
  EXPECT_EQ(shown.bytes(), 16u);
  EXPECT_EQ(keys_a_->show("mac").status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(keys_b_->show("mac").status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(log_of_a().find("\"begin\""), std::string::npos);
  ASSERT_TRUE(decide(*third_, &Stub::Approve, shown.request()).ok());
  const KeyClient::Made made = asked.get();
  ASSERT_OK(made);
  EXPECT_EQ(made.key.id(), shown.key());
  EXPECT_EQ(shown.details(),
            "mac aes128, joint nonces, fingerprint " + made.key.fingerprint() + ", CKA_ID 017a");
  EXPECT_EQ(keys_b_->sign("mac", "text").reply.tag(), openssl_cmac(key, "text"));
  // The other party's officers are its own matter.
  ASSERT_OK(keys_b_->import("other", "mac", "aes128", key));
  EXPECT_EQ(audit_problems(), std::vector<std::string>());
}

TEST_F(OfficersTest, KeysAreSuspendedByOneAndResumedAndDestroyedByTwo) {
  start_quorum();
  if (IsSkipped()) return;
  ASSERT_OK(keys_a_->create("data"));
  ASSERT_OK(keys_a_->named(&Stub::Suspend, "data"));
  const grpc::Status resumed =
      confirmed("resume", [&] { return keys_a_->named(&Stub::Resume, "data").status; });
  EXPECT_TRUE(resumed.ok()) << resumed.error_message();
  EXPECT_EQ(keys_a_->show("data").key.state(), "active");
  // What is for good, too; but a version that has a newer one is its officer's matter.
  const grpc::Status deactivated =
      confirmed("deactivate", [&] { return keys_a_->named(&Stub::Deactivate, "data").status; });
  EXPECT_TRUE(deactivated.ok()) << deactivated.error_message();
  EXPECT_EQ(keys_a_->show("data").key.state(), "deactivated");
  ASSERT_OK(keys_a_->named(&Stub::Rotate, "data"));
  ASSERT_OK(keys_a_->named(&Stub::Rotate, "data"));
  EXPECT_EQ(keys_a_->show("data").key.version(), 3u);

  v1::KeyName name;
  name.set_key("data");
  v1::DestroyReply destroyed;
  const auto destroy = [&] { return keys_a_->call(&Stub::Destroy, name, destroyed); };
  auto denied = std::async(std::launch::async, destroy);
  ASSERT_TRUE(decide(*second_, &Stub::Deny, waiting().request()).ok());
  EXPECT_EQ(denied.get().error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(keys_a_->show("data").key.state(), "active");
  const grpc::Status done = confirmed("destroy", destroy);
  EXPECT_TRUE(done.ok()) << done.error_message();
  EXPECT_EQ(destroyed.key().state(), "destroyed");
}

TEST_F(OfficersTest, SharesAreRestoredAndPeersResumedByTwo) {
  const crypto::BoxPrivateKey box = crypto::random_box_key();
  std::filesystem::create_directory(dir_ / "backups");
  start_quorum("backup_directory: '" + (dir_ / "backups").string() +
               "' backup_to { name: 'safe' key: '" + hex_of(crypto::public_key_of(box)) + "' }");
  if (IsSkipped()) return;
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  std::string file;
  for (const auto& entry : std::filesystem::directory_iterator(dir_ / "backups"))
    file = read_file(entry.path());
  ASSERT_OK(keys_a_->named(&Stub::Refresh, "data"));
  const auto content = custody::open_backup(std::as_bytes(std::span(file)), box);
  v1::RestoreKeyRequest restore;
  restore.set_backup(std::string(reinterpret_cast<const char*>(content.data()), content.size()));
  v1::Key restored;
  auto asked = std::async(std::launch::async,
                          [&] { return keys_a_->call(&Stub::Restore, restore, restored); });
  const v1::Approval shown = waiting();
  EXPECT_EQ(shown.operation(), "restore");
  EXPECT_EQ(shown.key(), made.key.id());
  EXPECT_EQ(shown.details(), "aead aes128, joint nonces, version 1, epoch " + made.key.epochs(0) +
                                 ", fingerprint " + made.key.fingerprint());
  EXPECT_EQ(shown.details().find(hex_of(custody::backup_from(content).share)), std::string::npos);
  EXPECT_EQ(keys_a_->show("data").key.epochs_size(), 1);
  ASSERT_TRUE(decide(*second_, &Stub::Approve, shown.request()).ok());
  const grpc::Status status = asked.get();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(restored.id(), made.key.id());

  v1::ResumePeerReply reply;
  const grpc::Status peer = confirmed("resume_peer", [&] {
    return keys_a_->call(&Stub::ResumePeer, v1::ResumePeerRequest(), reply);
  });
  EXPECT_TRUE(peer.ok()) << peer.error_message();

  // A backup says of the key how often it was used, and this party has nothing that says more.
  ASSERT_TRUE(becomes_true([&] { return keys_a_->encrypt("data", "text").status.ok(); }));
  for (const auto& entry : std::filesystem::directory_iterator(dir_ / "backups"))
    std::filesystem::remove(entry.path());
  ASSERT_OK(keys_a_->named(&Stub::Refresh, "data"));
  for (const auto& entry : std::filesystem::directory_iterator(dir_ / "backups"))
    file = read_file(entry.path());
  const auto later = custody::open_backup(std::as_bytes(std::span(file)), box);
  restore.set_backup(std::string(reinterpret_cast<const char*>(later.data()), later.size()));
  keys_a_.reset();
  second_.reset();
  third_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  std::filesystem::remove(directory_of(Party::A) / "custody" / (made.key.id() + ".key"));
  a_->start();
  keys_a_ = std::make_unique<KeyClient>(a_->socket());
  second_ = officer("client");
  auto lost = std::async(std::launch::async,
                         [&] { return keys_a_->call(&Stub::Restore, restore, restored); });
  const v1::Approval of_lost = waiting();
  EXPECT_TRUE(of_lost.details().ends_with(", counts 1024 uses in place of 0")) << of_lost.details();
  ASSERT_TRUE(decide(*second_, &Stub::Deny, of_lost.request()).ok());
  EXPECT_EQ(lost.get().error_code(), StatusCode::PERMISSION_DENIED);

  // The certificate tells whose backup it is, as long as it is there.
  auto without = std::async(std::launch::async,
                            [&] { return keys_a_->call(&Stub::Restore, restore, restored); });
  const v1::Approval of_certified = waiting();
  std::filesystem::remove(directory_of(Party::A) / "custody" / (made.key.id() + ".certificate"));
  ASSERT_TRUE(decide(*second_, &Stub::Approve, of_certified.request()).ok());
  const grpc::Status refused = without.get();
  EXPECT_EQ(refused.error_code(), StatusCode::FAILED_PRECONDITION) << refused.error_message();
  EXPECT_NE(refused.error_message().find("neither record nor certificate"), std::string::npos)
      << refused.error_message();
}

// What they have agreed to is what they knew of.
TEST_F(OfficersTest, ACheckThatFailsWhilePeersAreResumedStays) {
  start_quorum();
  if (IsSkipped()) return;
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  LocalPeers peers(*a_, {});
  service::Keys& keys = *peers.peer().keys();
  const auto resume = [&] {
    return std::async(std::launch::async, [&] {
      keys.resume_peer({.caller = {.user = 1, .groups = {}, .name = {}},
                        .is_officer = true,
                        .is_gone = {},
                        .may_manage_keys = [](const service::Caller&) { return true; }});
    });
  };
  const auto approve = [&] {
    ASSERT_TRUE(becomes_true([&] { return !keys.operations().empty(); }));
    keys.decide({.user = 2, .groups = {}, .name = {}}, keys.operations().at(0).id, true);
  };
  const std::filesystem::path mark = directory_of(Party::A) / "custody" / "peer-cheated";
  keys.peer_cheated();
  auto first = resume();
  ASSERT_TRUE(becomes_true([&] { return !keys.operations().empty(); }));
  keys.peer_cheated();
  approve();
  EXPECT_THROW(first.get(), service::KeyFailed);
  EXPECT_TRUE(keys.counts().has_peer_cheated);
  EXPECT_TRUE(std::filesystem::exists(mark));
  auto second = resume();
  approve();
  EXPECT_NO_THROW(second.get());
  EXPECT_FALSE(keys.counts().has_peer_cheated);
  EXPECT_FALSE(std::filesystem::exists(mark));
}

// A refresh has left a wrong share on a disk, so that both parties have suspended the key with two
// epochs on record.
class EpochsTest : public OfficersTest {
 protected:
  void start_with_wrong_shares(const std::vector<std::string>& labels) {
    CustodySetup setup;
    setup.custody_a = "quorum: 2";
    start_officers(setup);
    if (IsSkipped() || HasFatalFailure()) return;
    for (const std::string& label : labels) ASSERT_OK(keys_a_->create(label));
    keys_a_.reset();
    keys_b_.reset();
    second_.reset();
    third_.reset();
    EXPECT_EQ(a_->stop().status, 0);
    EXPECT_EQ(b_->stop().status, 0);
    for (const Party party : {Party::A, Party::B}) add_epoch(party);
    a_->start();
    b_->start();
    ASSERT_TRUE(is_stocked());
    keys_a_ = std::make_unique<KeyClient>(a_->socket());
    keys_b_ = std::make_unique<KeyClient>(b_->socket());
    second_ = officer("client");
    for (const KeyClient* const client : {keys_a_.get(), keys_b_.get()})
      for (const std::string& label : labels)
        ASSERT_TRUE(becomes_true([&] {
          const v1::Key key = client->show(label).key;
          return key.state() == "suspended" && key.peer_state() == "suspended";
        })) << client->show(label).key.ShortDebugString();
  }
  void add_epoch(Party party) const {
    const auto fingerprint = [&](Party of) {
      return net::text_of(
          engine::read_identity((dir_ / (std::string(1, letter(of)) + ".pem")).string())
              .fingerprint());
    };
    custody::KeyFiles files(
        directory_of(party) / "custody",
        {party, party == Party::A ? "bob" : "alice", fingerprint(peer_of(party))},
        StoreKey::read(dir_ / (std::string(1, letter(party)) + ".store_key")));
    const std::uint64_t link = files.begin_link();
    custody::Epoch wrong{2, {}};
    for (const custody::KeyRecord& record : files.records()) {
      custody::KeyRecord without = record;
      without.held.clear();
      files.store_epoch(link, without, wrong, custody::Share(16, std::byte{1}));
    }
  }
  static grpc::Status resume(const KeyClient& client, const std::string& key,
                             const std::string& epoch, v1::Key& reply) {
    v1::ResumeEpochRequest request;
    request.set_key(key);
    request.set_epoch(epoch);
    return client.call(&Stub::ResumeEpoch, request, reply);
  }
};

TEST_F(EpochsTest, OfficersKeepTheOneThatFits) {
  start_with_wrong_shares({"data", "other"});
  if (IsSkipped()) return;
  const v1::Key shown = keys_a_->show("data").key;
  ASSERT_EQ(shown.epochs_size(), 2);
  const std::string& fits = shown.epochs(0);
  v1::Key resumed;
  const grpc::Status at_a =
      confirmed("resume", [&] { return resume(*keys_a_, "data", fits, resumed); });
  ASSERT_TRUE(at_a.ok()) << at_a.error_message();
  EXPECT_EQ(resumed.epochs_size(), 1);
  EXPECT_EQ(resumed.epochs(0), fits);
  EXPECT_NE(log_of_a().find("keeps epoch " + fits + ", drops " + shown.epochs(1)),
            std::string::npos);
  const grpc::Status at_b = resume(*keys_b_, "data", fits, resumed);
  ASSERT_TRUE(at_b.ok()) << at_b.error_message();
  EXPECT_TRUE(becomes_true([&] { return keys_a_->encrypt("data", "text").status.ok(); }));

  // What the peer has no share of is not kept: no epoch would be left.
  const v1::Key other = keys_a_->show("other").key;
  ASSERT_TRUE(resume(*keys_b_, "other", other.epochs(1), resumed).ok());
  ASSERT_TRUE(becomes_true([&] { return keys_a_->show("other").key.peer_state() == "active"; }));
  const grpc::Status refused = resume(*keys_a_, "other", other.epochs(0), resumed);
  EXPECT_EQ(refused.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(refused.error_message().find("would be lost"), std::string::npos)
      << refused.error_message();
  EXPECT_EQ(keys_a_->show("other").key.epochs_size(), 2);
  keys_b_.reset();
  EXPECT_EQ(b_->stop().status, 0);
  EXPECT_TRUE(becomes_true([&] { return !a_->client().peer().is_connected(); }));
  EXPECT_EQ(resume(*keys_a_, "other", other.epochs(1), resumed).error_code(),
            StatusCode::UNAVAILABLE);
}

// Who confirms that an epoch is kept has seen which others are dropped for it. It was confirmed a
// second time meanwhile, and the key was used, refreshed and suspended again.
TEST_F(EpochsTest, WhatWasShownToOfficersIsLookedAtAgain) {
  start_with_wrong_shares({"data"});
  if (IsSkipped()) return;
  const v1::Key shown = keys_a_->show("data").key;
  ASSERT_EQ(shown.epochs_size(), 2);
  const std::string& fits = shown.epochs(0);
  v1::Key resumed, of_late;
  auto late =
      std::async(std::launch::async, [&] { return resume(*keys_a_, "data", fits, of_late); });
  const std::string first = waiting().request();
  auto at_a =
      std::async(std::launch::async, [&] { return resume(*keys_a_, "data", fits, resumed); });
  v1::ApprovalsReply listed;
  ASSERT_TRUE(becomes_true([&] {
    return keys_a_->call(&Stub::Approvals, {}, listed).ok() && listed.approvals_size() == 2;
  }));
  const int second = listed.approvals(0).request() == first ? 1 : 0;
  ASSERT_TRUE(decide(*second_, &Stub::Approve, listed.approvals(second).request()).ok());
  const grpc::Status done = at_a.get();
  ASSERT_TRUE(done.ok()) << done.error_message();
  ASSERT_TRUE(resume(*keys_b_, "data", fits, resumed).ok());
  ASSERT_TRUE(becomes_true([&] { return keys_a_->named(&Stub::Refresh, "data").status.ok(); }));
  v1::Key now;
  ASSERT_TRUE(becomes_true([&] {
    now = keys_a_->show("data").key;
    return now.epochs_size() == 1 && now.epochs(0) != fits;
  })) << now.ShortDebugString();
  ASSERT_OK(keys_a_->named(&Stub::Suspend, "data"));
  ASSERT_TRUE(decide(*second_, &Stub::Approve, first).ok());
  const grpc::Status refused = late.get();
  EXPECT_EQ(refused.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(refused.error_message().find("has other epochs by now"), std::string::npos)
      << refused.error_message();
  const v1::Key after = keys_a_->show("data").key;
  EXPECT_EQ(after.state(), "suspended");
  ASSERT_EQ(after.epochs_size(), 1);
  EXPECT_EQ(after.epochs(0), now.epochs(0));
}

// What the peer has changes while officers are waited for, and no epoch would be left of the key.
TEST_F(EpochsTest, WhatThePeerHasIsLookedAtOnceOfficersHaveConfirmed) {
  start_with_wrong_shares({"data"});
  if (IsSkipped()) return;
  const v1::Key shown = keys_a_->show("data").key;
  ASSERT_EQ(shown.epochs_size(), 2);
  v1::Key at_a, at_b;
  auto late = std::async(std::launch::async,
                         [&] { return resume(*keys_a_, "data", shown.epochs(0), at_a); });
  const std::string asked = waiting().request();
  ASSERT_TRUE(resume(*keys_b_, "data", shown.epochs(1), at_b).ok());
  ASSERT_TRUE(becomes_true([&] { return keys_a_->show("data").key.peer_state() == "active"; }));
  ASSERT_TRUE(decide(*second_, &Stub::Approve, asked).ok());
  const grpc::Status refused = late.get();
  EXPECT_EQ(refused.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(refused.error_message().find("would be lost"), std::string::npos)
      << refused.error_message();
  const v1::Key after = keys_a_->show("data").key;
  EXPECT_EQ(after.state(), "suspended");
  EXPECT_EQ(after.epochs_size(), 2);
}

}  // namespace
}  // namespace tinyot::test
