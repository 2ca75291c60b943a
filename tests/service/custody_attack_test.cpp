// Attacks on keys of custody: by clients that have some rights, by another party that is allowed
// something, and by a party whose daemon is a program of the attacker.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "base/error.h"
#include "base/hex.h"
#include "circuitgen/evaluate.h"
#include "circuitgen/generators/registry.h"
#include "crypto/sealed_box.h"
#include "custody/backups.h"
#include "custody/coded.h"
#include "daemon_loop.h"
#include "hostile_follower.h"
#include "service/key_certificate.h"
#include "service/key_work.h"
#include "system/descriptor.h"
#include "tests/support/openssl_mechanisms.h"
#include "tests/support/small_disk.h"

namespace tinyot {
namespace {

using service::AskedKey;
using service::KeyTerms;
using test::CustodyAttackTest;
using test::HostileFollowerTest;
using test::KeyClient;
using Stub = v1::Keys::Stub;
namespace config = service::config;
namespace wire = service::wire;

// The rule names neither the parent nor any key like it.
TEST_F(CustodyAttackTest, DerivingTakesARuleForTheParent) {
  CustodySetup setup;
  setup.policy_a =
      "allow { user: 'ME' key: '*' may: [CREATE] }\n"
      "allow { peer: true key: 'team-a/*' may: [DERIVE, SIGN] }\n";
  start_custody(setup);
  ASSERT_OK(keys_a_->create("team-b/root", "kdf"));
  const grpc::Status derived = keys_b_->derive("team-a/child", "team-b/root").status;
  EXPECT_EQ(derived.error_code(), grpc::StatusCode::PERMISSION_DENIED) << code_of(derived);
  EXPECT_FALSE(keys_b_->sign("team-a/child", "text").status.ok());
}

TEST_F(CustodyAttackTest, AssociatedDataCountsForTheMostBytes) {
  CustodySetup setup;
  setup.policy_a =
      "allow { user: 'ME' key: '*' may: [CREATE] }\n"
      "allow { peer: true key: '*' may: [ENCRYPT] bytes_max: 16 }\n";
  start_custody(setup);
  ASSERT_OK(keys_a_->create("data"));
  const auto sealed = keys_b_->encrypt("data", "text", std::string(256, 'a'));
  EXPECT_EQ(sealed.status.error_code(), grpc::StatusCode::PERMISSION_DENIED)
      << code_of(sealed.status);
}

TEST_F(CustodyAttackTest, AClientLearnsNothingOfKeysThatNoRuleNamesForIt) {
  CustodySetup setup;
  setup.policy_a =
      "allow { user: 'ME' key: 'mine/*' may: [CREATE, ENCRYPT] }\n"
      "allow { peer: true key: '*' may: [CREATE] }\n";
  setup.rights_a = "USE_KEYS";
  start_custody(setup);
  const auto made = keys_b_->create("secret/x");
  ASSERT_OK(made);
  const auto there = keys_a_->encrypt("secret/x", "text"),
             not_there = keys_a_->encrypt("secret/y", "text");
  EXPECT_EQ(there.status.error_code(), not_there.status.error_code())
      << code_of(there.status) << " / " << code_of(not_there.status);
  // The label of a key of which the client knows the id, as from a ciphertext.
  const auto by_id = keys_a_->encrypt(made.key.id(), "text");
  EXPECT_EQ(by_id.status.error_message().find("secret/x"), std::string::npos)
      << by_id.status.error_message();
}

// An edit of the policy gives nobody the requests anew that a rate has counted.
TEST_F(CustodyAttackTest, ReloadForgetsNoRequestOfARate) {
  const std::string rate = " key: '*' may: [SIGN] rate { requests: 2 seconds: 86400 } }\n",
                    rules = "allow { user: 'ME' key: '*' may: [CREATE] }\nallow { user: 'ME'" +
                            rate + "allow { peer: true" + rate;
  CustodySetup setup;
  setup.policy_a = rules;
  start_custody(setup);
  ASSERT_OK(keys_a_->create("mac", "mac"));
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  test::LoopNotices notices(dir_ / "notices");
  a_->start();
  ::unsetenv("NOTIFY_SOCKET");
  keys_a_ = std::make_unique<KeyClient>(a_->socket());
  ASSERT_TRUE(test::becomes_true(
      [&] { return a_->client().peer().is_connected() && b_->client().peer().is_connected(); }));
  for (const KeyClient* const client : {keys_a_.get(), keys_b_.get()})
    ASSERT_OK(client->sign("mac", "first"));
  write_policy("A", "allow { user: 'ME' key: 'other' may: [VERIFY] }\n" + rules);
  ASSERT_TRUE(notices.reload(*a_));
  for (const KeyClient* const client : {keys_a_.get(), keys_b_.get()}) {
    ASSERT_OK(client->sign("mac", "second"));
    const auto third = client->sign("mac", "third");
    EXPECT_EQ(third.status.error_code(), grpc::StatusCode::PERMISSION_DENIED)
        << code_of(third.status);
    EXPECT_NE(third.status.error_message().find("2 requests in 86400 s"), std::string::npos)
        << code_of(third.status);
  }
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
}

// By the party that leads, so that nothing of the peer's would have it settle the key.
TEST_F(CustodyAttackTest, ARestoredKeyOfTheLeadingPartyIsSettledAtOnce) {
  const crypto::BoxPrivateKey box = crypto::random_box_key();
  const std::filesystem::path backups = dir_ / "backups";
  std::filesystem::create_directory(backups);
  CustodySetup setup;
  setup.custody_a = "backup_directory: '" + backups.string() + "' backup_to { name: 'safe' key: '" +
                    hex_of(crypto::public_key_of(box)) + "' }";
  start_custody(setup);
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  std::filesystem::path first;
  for (const auto& entry : std::filesystem::directory_iterator(backups)) first = entry.path();
  const std::string file = test::read_file(first);
  ASSERT_OK(keys_a_->encrypt("data", "text"));
  b_->kill();
  b_->start();
  ASSERT_TRUE(test::becomes_true([&] { return keys_a_->encrypt("data", "text").status.ok(); }));
  ASSERT_TRUE(
      test::becomes_true([&] { return keys_a_->named(&Stub::Refresh, "data").status.ok(); }));
  const auto content = custody::open_backup(std::as_bytes(std::span(file)), box);
  v1::RestoreKeyRequest request;
  request.set_backup(std::string(reinterpret_cast<const char*>(content.data()), content.size()));
  v1::Key restored;
  const grpc::Status status = keys_a_->call(&Stub::Restore, request, restored);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_NE(test::read_file(directory_of(Party::A) / "audit.log").find(", version 1, epoch 1-"),
            std::string::npos)
      << "what has been restored";
  EXPECT_TRUE(test::becomes_true([&] { return keys_a_->show("data").key.state() == "active"; }))
      << keys_a_->show("data").key.state();
  // All uses count that there may have been, as the peer knows them after its end.
  const auto bound = keys_a_->show("data").key.use_bound();
  EXPECT_EQ(bound, 2048u);
  ASSERT_OK(keys_a_->encrypt("data", "text"));
  EXPECT_EQ(keys_a_->show("data").key.use_bound(), bound + 1024);
}

// Recipients have public keys, so whoever writes to the medium of backups can make one: of a key
// that he knows as a whole, with the other party. An empty disk has nothing that says otherwise.
TEST_F(CustodyAttackTest, ABackupIsOfTheKeyThatItsFingerprintNames) {
  const crypto::BoxPrivateKey box = crypto::random_box_key();
  const std::filesystem::path backups = dir_ / "backups";
  std::filesystem::create_directory(backups);
  CustodySetup setup;
  setup.custody_a = "backup_directory: '" + backups.string() + "' backup_to { name: 'safe' key: '" +
                    hex_of(crypto::public_key_of(box)) + "' }";
  start_custody(setup);
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  // Once the backup has been made.
  ASSERT_OK(keys_a_->named(&Stub::Deactivate, "data"));
  const auto content = [&] {
    const std::string file = test::read_file(std::filesystem::directory_iterator(backups)->path());
    return custody::open_backup(std::as_bytes(std::span(file)), box);
  };
  const SecretVector<std::byte> right = content();
  custody::BackedUpShare forged = custody::backup_from(right);
  forged.record.check[0] ^= std::byte{1};
  std::filesystem::remove_all(backups);
  std::filesystem::create_directory(backups);
  custody::Backups(backups, {{"safe", crypto::public_key_of(box)}})
      .write({Party::A, "bob", {}}, forged.record, forged.epoch, forged.share);
  const SecretVector<std::byte> wrong = content();
  const auto lose = [&](bool with_certificate) {
    keys_a_.reset();
    EXPECT_EQ(a_->stop().status, 0);
    const std::filesystem::path record = directory_of(Party::A) / "custody" / made.key.id();
    std::filesystem::remove(record.string() + ".key");
    if (with_certificate) std::filesystem::remove(record.string() + ".certificate");
    a_->start();
    keys_a_ = std::make_unique<KeyClient>(a_->socket());
  };
  const auto restored = [&](const SecretVector<std::byte>& backup, const std::string& fingerprint) {
    v1::RestoreKeyRequest request;
    request.set_backup(std::string(reinterpret_cast<const char*>(backup.data()), backup.size()));
    request.set_fingerprint(fingerprint);
    v1::Key key;
    return keys_a_->call(&Stub::Restore, request, key);
  };
  const auto expect_refused = [&](const grpc::Status& status, const std::string& why) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << code_of(status);
    EXPECT_NE(status.error_message().find(why), std::string::npos) << code_of(status);
  };
  // This party's own signature is in the certificate.
  lose(false);
  expect_refused(restored(wrong, {}), "neither record nor certificate");
  grpc::Status status = restored(right, {});
  EXPECT_TRUE(status.ok()) << code_of(status);
  lose(true);
  for (const auto& backup : {wrong, right})
    expect_refused(restored(backup, {}), "neither record nor certificate");
  expect_refused(restored(wrong, made.key.fingerprint()), "it is of another key");
  EXPECT_EQ(restored(right, "7").error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  status = restored(right, made.key.fingerprint());
  EXPECT_TRUE(status.ok()) << code_of(status);
  // Neither the backup nor the peer knows that it was deactivated, but the log does.
  EXPECT_TRUE(test::becomes_true([&] {
    return keys_a_->show("data").key.state() == "deactivated";
  })) << keys_a_->show("data").key.state();
  EXPECT_EQ(keys_b_->show("data").key.state(), "active");
}

// The record of before is genuine, but the log tells what an officer has done since.
TEST_F(CustodyAttackTest, ARecordThatIsSetBackIsDeactivatedAgain) {
  start_custody({});
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  const std::filesystem::path record =
      directory_of(Party::A) / "custody" / (made.key.id() + ".key");
  const std::string before = test::read_file(record);
  ASSERT_OK(keys_a_->named(&Stub::Deactivate, "data"));
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  test::write_file(record, before);
  a_->start();
  keys_a_ = std::make_unique<KeyClient>(a_->socket());
  EXPECT_EQ(keys_a_->show("data").key.state(), "deactivated");
}

// How often the files of a directory are replaced from now on.
class Replacements {
 public:
  explicit Replacements(const std::filesystem::path& directory)
      : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(::inotify_add_watch(events_.get(), directory.c_str(), IN_MOVED_TO), 0);
  }
  // Since it was called last.
  int of(const std::string& file) const {
    int count = 0;
    alignas(inotify_event) std::array<char, 4096> events{};
    for (ssize_t size = 0; (size = ::read(events_.get(), events.data(), events.size())) > 0;)
      for (const char* at = events.data(); at < events.data() + size;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(at);
        count += static_cast<int>(file == event->name);
        at += sizeof *event + event->len;
      }
    return count;
  }

 private:
  const system::Descriptor events_;
};

// The worker takes the lock of the parent, shared, and that of the child, alone: of one key. It
// waits for ever, whatever is cancelled, and the daemon cannot stop.
TEST_F(HostileFollowerTest, AsksForAKeyThatIsDerivedFromItself) {
  start_hostile();
  const auto made = keys_a_->create("root", "kdf");
  ASSERT_OK(made);
  take_over();
  KeyTerms terms;
  terms.request = service::random_request();
  terms.making = service::random_request();
  terms.operation = config::DERIVE;
  terms.key = custody::key_id_from(made.key.id()).value();
  terms.attributes = custody::KeyAttributes{.id = terms.key,
                                            .label = "child",
                                            .key_class = custody::KeyClass::Mac,
                                            .algorithm = custody::KeyAlgorithm::Aes128,
                                            .origin = custody::KeyOrigin::Derived,
                                            .parent = terms.key};
  if (!is_accepted(message_of(asked(terms)))) return;
  ADD_FAILURE() << "the request was accepted";
  const wire::KeyStart start = peer_->next(wire::Message::kKeyStart).key_start();
  (void)peer_->evaluator(start.group(), start.session());
  a_->kill();
}

// Unlike a request of this party's own, it was not compared with what the stock may have. It would
// stay at the head of the queue; and its circuit is counted, for half a minute or more, under the
// lock of the Scheduler.
TEST_F(HostileFollowerTest, AsksForMoreMaterialThanThereMayBe) {
  start_hostile();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  KeyTerms terms = use_terms(config::ENCRYPT, made.key.id(), 1);
  terms.aad_bytes = 65535;  // as many as the policy allows
  EXPECT_EQ(refusal_of(message_of(asked(terms))), "it takes more material than the stock may have");
  a_->kill();
}

// What it has signed is answered once, and within its time; a number that waits is not one anew.
TEST_F(HostileFollowerTest, AsksAgainOrTooLate) {
  KeyClient::Made made;
  ASSERT_NO_FATAL_FAILURE(start_with_approvals("", made));
  const AskedKey right = asked(use_terms(config::ENCRYPT, made.key.id(), 4));
  peer_->send(message_of(right));
  (void)peer_->next(wire::Message::kKeyWaits);
  EXPECT_EQ(refusal_of(message_of(right)), "there was a request with this number before");
  AskedKey late = asked(use_terms(config::ENCRYPT, made.key.id(), 4));
  late.expires = late.begun;
  EXPECT_EQ(refusal_of(message_of(late)), "it has expired");
  AskedKey other = asked(use_terms(config::ENCRYPT, std::string(32, '7'), 4));
  EXPECT_NE(refusal_of(message_of(other)).find("key"), std::string::npos);
  // The first one still waits.
  v1::ApprovalsReply approvals;
  const grpc::Status status = keys_a_->call(&Stub::Approvals, {}, approvals);
  ASSERT_TRUE(status.ok()) << code_of(status);
  EXPECT_EQ(approvals.approvals_size(), 1);
}

// An officer can see, and so approve or deny, what waits.
TEST_F(HostileFollowerTest, ShowsMoreThanAListOfApprovalsHasRoomFor) {
  KeyClient::Made made;
  ASSERT_NO_FATAL_FAILURE(start_with_approvals("bytes_max: 65536", made));
  KeyTerms terms = use_terms(config::ENCRYPT, made.key.id(), 16);
  terms.shown_aad.emplace(4096, std::byte{'a'});
  terms.aad_bytes = 4096;
  peer_->send(message_of(asked(terms)));
  (void)peer_->next(wire::Message::kKeyWaits);
  // 256 requests of 16 KiB each would be more than a reply may have.
  v1::ApprovalsReply approvals;
  const grpc::Status status = keys_a_->call(&Stub::Approvals, {}, approvals);
  ASSERT_TRUE(status.ok()) << code_of(status);
  ASSERT_EQ(approvals.approvals_size(), 1);
  EXPECT_EQ(approvals.approvals(0).aad_bytes(), 4096u);
  EXPECT_EQ(approvals.approvals(0).shown_aad(), std::string(256, 'a'));
  EXPECT_EQ(approvals.approvals(0).details(), "aead aes128, joint nonces");
}

// An officer approves a key for what it is for, and for what it is made of.
TEST_F(HostileFollowerTest, AsksForAKeyWhoseMakingAnOfficerApproves) {
  CustodySetup setup;
  setup.policy_a =
      "allow { user: 'ME' key: '*' may: [CREATE] }\n"
      "allow { peer: true key: '*' may: [DERIVE] approval: true }\n";
  start_hostile({}, setup);
  const auto made = keys_a_->create("root", "kdf");
  ASSERT_OK(made);
  take_over();
  KeyTerms terms;
  terms.request = service::random_request();
  terms.making = service::random_request();
  terms.operation = config::DERIVE;
  terms.attributes = custody::KeyAttributes{.id = {},
                                            .label = "child",
                                            .key_class = custody::KeyClass::Mac,
                                            .algorithm = custody::KeyAlgorithm::Aes128,
                                            .origin = custody::KeyOrigin::Derived,
                                            .parent = custody::key_id_from(made.key.id()).value(),
                                            .cka_id = "z"};
  terms.context = {std::byte{7}, std::byte{0xe7}};
  terms.key = custody::Custodian::derived_id(*terms.attributes, terms.context);
  terms.attributes->id = terms.key;
  peer_->send(message_of(asked(terms)));
  (void)peer_->next(wire::Message::kKeyWaits);
  v1::ApprovalsReply approvals;
  ASSERT_TRUE(keys_a_->call(&Stub::Approvals, {}, approvals).ok());
  ASSERT_EQ(approvals.approvals_size(), 1);
  EXPECT_EQ(approvals.approvals(0).label(), "child");
  EXPECT_EQ(approvals.approvals(0).details(), "mac aes128, joint nonces, version 1, from root (" +
                                                  made.key.id() + "), context '07e7', CKA_ID 7a");
  a_->kill();
}

// The id of a request is used once: otherwise the log of a party that is honest does not hold.
TEST_F(HostileFollowerTest, UsesTheIdOfAnEndedRequestOfTheOtherParty) {
  start_hostile();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  const std::string log = test::read_file(directory_of(Party::A) / "audit.log");
  const std::size_t at = log.find("\"request\":\"") + 11;
  KeyTerms terms = use_terms(config::ENCRYPT, made.key.id(), 4);
  ASSERT_TRUE(parse_hex(log.substr(at, 32), terms.request));
  EXPECT_FALSE(is_accepted(message_of(asked(terms))));
  end(terms.request);
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  EXPECT_EQ(problems_of_a(), std::vector<std::string>());
}

// An officer approves what was shown. What waits is lost as the daemon ends, and another request
// may then have its number, since the party that asks chooses it.
TEST_F(HostileFollowerTest, AsksForSomethingElseThanAnOfficerWasShownBeforeARestart) {
  KeyClient::Made made;
  ASSERT_NO_FATAL_FAILURE(start_with_approvals({}, made));
  const auto shown = [&] {
    v1::ApprovalsReply approvals;
    EXPECT_TRUE(keys_a_->call(&Stub::Approvals, {}, approvals).ok());
    EXPECT_EQ(approvals.approvals_size(), 1);
    return approvals.approvals_size() == 1 ? approvals.approvals(0) : v1::Approval();
  };
  const auto approve = [&](const std::string& number) {
    v1::ApprovalRequest decision;
    decision.set_request(number);
    v1::ApprovalReply reply;
    return keys_a_->call(&Stub::Approve, decision, reply);
  };
  KeyTerms terms = use_terms(config::ENCRYPT, made.key.id(), 4);
  peer_->send(message_of(asked(terms)));
  (void)peer_->next(wire::Message::kKeyWaits);
  const v1::Approval first = shown();
  EXPECT_EQ(first.bytes(), 4u);
  peer_->shut_down();
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  a_->start();
  keys_a_ = std::make_unique<KeyClient>(a_->socket());
  connect();
  terms.bytes = 64;
  peer_->send(message_of(asked(terms)));
  (void)peer_->next(wire::Message::kKeyWaits);
  EXPECT_EQ(approve(first.request()).error_code(), grpc::StatusCode::INVALID_ARGUMENT)
      << "another request";
  const v1::Approval second = shown();
  EXPECT_EQ(second.bytes(), 64u);
  const grpc::Status approved = approve(second.request());
  EXPECT_TRUE(approved.ok()) << code_of(approved);
  a_->kill();
}

TEST_F(HostileFollowerTest, RepeatsARequestAfterARestart) {
  start_hostile();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  const KeyTerms terms = use_terms(config::ENCRYPT, made.key.id(), 4);
  const wire::Message message = message_of(asked(terms));
  EXPECT_TRUE(is_accepted(message));
  end(terms.request);
  peer_->shut_down();
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  a_->start();
  connect();
  EXPECT_FALSE(is_accepted(message));
  end(terms.request);
  EXPECT_EQ(a_->stop().status, 0);
  EXPECT_EQ(problems_of_a(), std::vector<std::string>());
}

// Numbers are remembered for some time only: a request of before, and one that could be repeated
// long afterwards, is not taken up.
TEST_F(HostileFollowerTest, AsksAtAnotherTime) {
  using std::chrono::minutes;
  start_hostile();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  const auto with_times = [&](minutes of_number, minutes of_begin) {
    const auto now = std::chrono::system_clock::now();
    AskedKey request = asked(use_terms(config::ENCRYPT, made.key.id(), 4));
    request.begun = now + of_begin;
    const auto ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>((now + of_number).time_since_epoch())
            .count());
    for (std::size_t i = 0; i < 6; ++i)
      request.terms.request[i] = static_cast<std::byte>(ms >> (8 * (5 - i)));
    const bool is_taken_up = is_accepted(message_of(request));
    if (is_taken_up) end(request.terms.request);
    return is_taken_up;
  };
  for (const minutes far : {minutes(-11), minutes(11), minutes(-24 * 60), minutes(24 * 60)}) {
    EXPECT_FALSE(with_times(far, far)) << far.count();
    EXPECT_FALSE(with_times(minutes(0), far)) << far.count();
    EXPECT_FALSE(with_times(far, minutes(0))) << far.count();
  }
  for (const minutes near : {minutes(-9), minutes(9)})
    EXPECT_TRUE(with_times(near, near)) << near.count();
  peer_->shut_down();
  EXPECT_EQ(a_->stop().status, 0);
  EXPECT_EQ(problems_of_a(), std::vector<std::string>());
}

// What is signed besides the request's fields is written to the log, twice as long.
TEST_F(HostileFollowerTest, SignsMoreThanARequest) {
  start_hostile();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  const KeyTerms terms = use_terms(config::ENCRYPT, made.key.id(), 4);
  wire::Message message = message_of(asked(terms));
  wire::KeyRequest& request = *message.mutable_key_request();
  // An unknown field of 50,000 bytes.
  std::string said = request.said();
  said += std::string("\xfa\x3e\xd0\x86\x03", 5) + std::string(50000, 'x');
  request.set_said(said);
  const net::Signature signature =
      net::sign(*identity_, service::kCustodyDomain, std::as_bytes(std::span(said)));
  request.set_signature(
      std::string(reinterpret_cast<const char*>(signature.bytes.data()), signature.bytes.size()));
  const auto before = std::filesystem::file_size(directory_of(Party::A) / "audit.log");
  peer_->send(message);
  // Without an answer if it is malformed; so another one follows.
  const KeyTerms other = use_terms(config::ENCRYPT, made.key.id(), 4);
  peer_->send(message_of(asked(other)));
  service::keys::Said answer;
  const std::string last(reinterpret_cast<const char*>(other.request.data()), other.request.size());
  while (answer.answer().request() != last)
    ASSERT_TRUE(answer.ParseFromString(peer_->next(wire::Message::kKeyAnswer).key_answer().said()));
  peer_->shut_down();
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  EXPECT_LT(std::filesystem::file_size(directory_of(Party::A) / "audit.log"), before + 20000);
}

// What B signs with the key, of which it does its part: the tag.
std::string signed_by(custody::KeySession& session, const wire::KeyStart& start,
                      const KeyTerms& terms, const std::string& text) {
  custody::UsePayload payload;
  const auto bytes = std::as_bytes(std::span(text));
  payload.text.assign(bytes.begin(), bytes.end());
  const auto result = session.use({.request = terms.request,
                                   .key = terms.key,
                                   .use = custody::KeyUse::Sign,
                                   .requester = Party::B,
                                   .bytes = terms.bytes},
                                  &payload, start.is_loaded());
  return std::string(reinterpret_cast<const char*>(result.tag.data()), result.tag.size());
}

// A request that is in both logs once gives two results. The connection ends once this party has
// its result and before the last check of the other one, which takes that for a lost connection.
TEST_F(HostileFollowerTest, GetsTwoResultsOfOneRequest) {
  start_hostile("interactive");
  const std::string key(16, 'k');
  const auto made = keys_a_->import("mac", "mac", "aes128", key);
  ASSERT_OK(made);
  take_over();
  custody::KeyFiles files = files_of_b();
  const custody::Backups backups;
  const std::uint64_t link = files.begin_link();
  std::atomic<int> digests = 0, last = -1;
  const test::OnSend on_send = [&](const test::Outgoing& message) {
    if (message.tag == test::kMacDigest && ++digests == last) throw NetworkError("enough");
  };
  struct Connection {
    std::unique_ptr<Evaluator> evaluator;
    std::unique_ptr<service::KeyConnection> keys;
  };
  std::map<std::uint64_t, Connection> connections;
  const auto use = [&](const wire::KeyStart& start, const KeyTerms& terms,
                       const std::string& text) {
    Connection& of = connections[start.group()];
    if (!of.evaluator) {
      of.evaluator = peer_->evaluator(start.group(), start.session(), on_send);
      of.keys = std::make_unique<service::KeyConnection>(*of.evaluator, files, backups, link);
    }
    digests = 0;
    return signed_by(of.keys->session, start, terms, text);
  };
  // So many digests are sent of a use of a key that has been loaded.
  for (int k = 0; k < 2; ++k) {
    const KeyTerms terms = use_terms(config::SIGN, made.key.id(), 5);
    EXPECT_EQ(use(begun(terms), terms, "first"), test::openssl_cmac(key, "first"));
    (void)peer_->next(wire::Message::kKeyEnd);
  }
  last = digests.load();
  const KeyTerms terms = use_terms(config::SIGN, made.key.id(), 5);
  const wire::KeyStart start = begun(terms);
  ASSERT_TRUE(start.is_loaded());
  // With the other party's shares of the tag, which it has sent before this digest.
  EXPECT_THROW(use(start, terms, "one  "), NetworkError);
  connections.clear();
  last = -1;
  const wire::Message next = peer_->next_of({wire::Message::kKeyStart, wire::Message::kKeyEnd});
  EXPECT_TRUE(next.has_key_end()) << "the request begins again";
  if (!next.has_key_start()) return;
  const bool has_second = use(next.key_start(), terms, "other") == test::openssl_cmac(key, "other");
  EXPECT_FALSE(has_second) << "a second result, of another text, and one begin: "
                           << lines_with("\"begin\",\"request\":\"" + hex_of(terms.request));
}

// Whether memory that a process writes alone has the bytes. Empty if this process may not read it.
std::optional<bool> is_in_memory_of(pid_t pid, std::span<const std::byte> bytes) {
  constexpr unsigned long kMappingMost = 1ul << 30;  // the shadow of a sanitizer is larger
  const std::string process = "/proc/" + std::to_string(pid);
  const system::Descriptor memory(::open((process + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  if (!memory.is_open()) return std::nullopt;
  std::ifstream maps(process + "/maps");
  std::vector<char> mapped;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char rights[8] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, rights) != 3 ||
        std::string_view(rights) != "rw-p" || end - begin > kMappingMost)
      continue;
    mapped.resize(end - begin);
    const ssize_t count =
        ::pread(memory.get(), mapped.data(), mapped.size(), static_cast<off_t>(begin));
    if (count > 0 && ::memmem(mapped.data(), static_cast<std::size_t>(count), bytes.data(),
                              bytes.size()) != nullptr)
      return true;
  }
  return false;
}

// The other party's share of the round keys of a key that is loaded.
std::vector<std::byte> loaded_by_the_other_party(const std::string& key,
                                                 const custody::KeyAttributes& attributes,
                                                 custody::KeySession& session) {
  const auto load = circuit::find_key_circuit(custody::load_circuit(attributes));
  LaneMatrix whole(1, 8 * key.size());
  EXPECT_TRUE(whole.assign(0, std::as_bytes(std::span(key))));
  const auto round_keys =
      circuit::evaluate(*load, 1, {whole, LaneMatrix(1, 8 * key.size()), LaneMatrix(1, 128)})[1];
  const LaneMatrix mine = session.load(attributes.id, true).values.at("round_keys").my_share();
  std::vector<std::byte> theirs;
  for (std::size_t k = 0; k < mine[0].bytes().size(); ++k)
    theirs.push_back(mine[0].bytes()[k] ^ round_keys[0].bytes()[k]);
  return theirs;
}

// Shares that are stolen in different epochs do not combine, those that are loaded either: who has
// read the memory of one party before a refresh finds nothing that fits in that of the other one.
TEST_F(HostileFollowerTest, FindsNothingInMemoryThatWasLoadedInAnEarlierEpoch) {
  start_hostile("interactive");
  const std::string key(16, 'k');
  const auto made = keys_a_->import("mac", "mac", "aes128", key);
  ASSERT_OK(made);
  take_over();
  custody::KeyFiles files = files_of_b();
  const custody::Backups backups;
  const std::uint64_t link = files.begin_link();
  const custody::KeyId id = custody::key_id_from(made.key.id()).value();
  const KeyTerms use = use_terms(config::SIGN, made.key.id(), 4);
  const wire::KeyStart first = begun(use);
  auto evaluator = peer_->evaluator(first.group(), first.session());
  service::KeyConnection connection(*evaluator, files, backups, link);
  (void)signed_by(connection.session, first, use, "tttt");
  (void)peer_->next(wire::Message::kKeyEnd);
  const std::vector<std::byte> theirs =
      loaded_by_the_other_party(key, files.record(id).attributes, connection.session);
  const auto is_there = [&] { return is_in_memory_of(a_->pid(), theirs); };
  if (!is_there()) GTEST_SKIP() << "this process may not read another one's memory";
  EXPECT_TRUE(*is_there()) << "what it is looked for";
  const KeyTerms refresh = use_terms(config::REFRESH, made.key.id(), 0);
  const wire::KeyStart second = begun(refresh);
  ASSERT_EQ(second.group(), first.group()) << "where the key is loaded";
  (void)connection.custodian.refresh(connection.peer, refresh.request, id);
  (void)peer_->next(wire::Message::kKeyEnd);
  EXPECT_TRUE(test::becomes_true([&] { return !*is_there(); })) << "after the refresh";
  a_->kill();
}

// Nor of a key that an officer has suspended, or once a check has failed, on any connection.
TEST_F(HostileFollowerTest, FindsNothingInMemoryOfKeysThatAreSuspended) {
  start_hostile("interactive");
  const std::string key(16, 'k');
  const auto made = keys_a_->import("mac", "mac", "aes128", key);
  ASSERT_OK(made);
  take_over();
  custody::KeyFiles files = files_of_b();
  const custody::Backups backups;
  const std::uint64_t link = files.begin_link();
  const custody::KeyId id = custody::key_id_from(made.key.id()).value();
  struct Connection {
    std::unique_ptr<Evaluator> evaluator;
    std::unique_ptr<service::KeyConnection> keys;
  };
  std::map<std::uint64_t, Connection> connections;
  // What the other party has in its memory after a use.
  const auto loaded = [&] {
    const KeyTerms terms = use_terms(config::SIGN, made.key.id(), 4);
    const wire::KeyStart start = begun(terms);
    Connection& of = connections[start.group()];
    if (!of.evaluator) {
      of.evaluator = peer_->evaluator(start.group(), start.session());
      of.keys = std::make_unique<service::KeyConnection>(*of.evaluator, files, backups, link);
    }
    (void)signed_by(of.keys->session, start, terms, "tttt");
    (void)peer_->next(wire::Message::kKeyEnd);
    return loaded_by_the_other_party(key, files.record(id).attributes, of.keys->session);
  };
  const auto is_there = [&](const std::vector<std::byte>& theirs) {
    return is_in_memory_of(a_->pid(), theirs).value_or(true);
  };
  const auto first = loaded();
  if (!is_in_memory_of(a_->pid(), first))
    GTEST_SKIP() << "this process may not read another one's memory";
  EXPECT_TRUE(is_there(first)) << "what it is looked for";
  ASSERT_OK(keys_a_->named(&Stub::Suspend, "mac"));
  EXPECT_TRUE(test::becomes_true([&] { return !is_there(first); }, std::chrono::seconds(30)))
      << "after an officer has suspended it";
  ASSERT_OK(keys_a_->named(&Stub::Resume, "mac"));
  const auto second = loaded();
  EXPECT_TRUE(is_there(second));
  peer_->send_stock({});  // so that the other party has some made
  const wire::Refill order = peer_->next(wire::Message::kRefill).refill();
  peer_->answer_refill(order, true);
  EXPECT_ANY_THROW((void)peer_->refill(order, [](const test::Outgoing& message) {
    if (message.tag == test::kLeakyTripleG) message.payload.at(0) ^= std::byte{1};
  }));
  EXPECT_TRUE(test::becomes_true([&] { return !is_there(second); }, std::chrono::seconds(30)))
      << "after a check has failed";
  a_->kill();
}

// The peer takes its time between the two epochs of a refresh. What is restored then would be one
// epoch more than a record has.
TEST_F(HostileFollowerTest, NothingIsRestoredIntoARefresh) {
  const crypto::BoxPrivateKey box = crypto::random_box_key();
  const std::filesystem::path backups = dir_ / "backups";
  std::filesystem::create_directory(backups);
  CustodySetup setup;
  setup.custody_a = "backup_directory: '" + backups.string() + "' backup_to { name: 'safe' key: '" +
                    hex_of(crypto::public_key_of(box)) + "' }";
  start_hostile({}, setup);
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  const std::string file = test::read_file(std::filesystem::directory_iterator(backups)->path());
  const auto content = custody::open_backup(std::as_bytes(std::span(file)), box);
  v1::RestoreKeyRequest restore;
  restore.set_backup(std::string(reinterpret_cast<const char*>(content.data()), content.size()));
  ASSERT_OK(keys_a_->named(&Stub::Refresh, "data"));
  take_over();
  v1::Key restored;
  EXPECT_TRUE(is_accepted(message_of(asked(use_terms(config::REFRESH, made.key.id(), 0)))));
  const wire::KeyStart start = peer_->next(wire::Message::kKeyStart).key_start();
  const auto evaluator = peer_->evaluator(start.group(), start.session());
  grpc::Status status;
  EXPECT_TRUE(test::becomes_true([&] {
    status = keys_a_->call(&Stub::Restore, restore, restored);
    return status.error_message().find("is being changed or settled") != std::string::npos;
  })) << code_of(status);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << code_of(status);
  a_->kill();
}

// It may have stored another epoch in a refresh that broke off, and dropped the one of before.
TEST_F(HostileFollowerTest, SaysNothingAnewAfterARefreshThatBreaksOff) {
  start_hostile();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  const custody::KeyHave active = have_of(made.key.id());
  say(made.key.id(), active);
  EXPECT_TRUE(is_accepted(message_of(asked(use_terms(config::REFRESH, made.key.id(), 0)))));
  const wire::KeyStart start = peer_->next(wire::Message::kKeyStart).key_start();
  peer_->evaluator(start.group(), start.session()).reset();
  (void)peer_->next(wire::Message::kKeyEnd);
  ASSERT_OK(keys_a_->named(&Stub::Suspend, "data"));
  v1::ResumeEpochRequest request;
  request.set_key("data");
  request.set_epoch(made.key.epochs(0));
  v1::Key resumed;
  const auto resume = [&] { return keys_a_->call(&Stub::ResumeEpoch, request, resumed); };
  const grpc::Status refused = resume();
  EXPECT_NE(refused.error_message().find("changed or settled: wait until it is done"),
            std::string::npos)
      << code_of(refused);
  say(made.key.id(), active);
  EXPECT_TRUE(test::becomes_true([&] { return resume().ok(); }, std::chrono::seconds(30)));
  a_->kill();
}

// What waits for a refresh goes on once the refresh is not made: no key is kept by one that never
// begins.
TEST_F(HostileFollowerTest, TakesARefreshBackForWhichAUseWaits) {
  start_hostile();
  const auto used = keys_a_->create("used", "mac"), other = keys_a_->create("other", "mac");
  ASSERT_OK(used);
  ASSERT_OK(other);
  take_over();
  const auto next_start = [&] {
    return peer_->next(wire::Message::kKeyStart).key_start().request();
  };
  const KeyTerms first = use_terms(config::SIGN, used.key.id(), 4),
                 refresh = use_terms(config::REFRESH, used.key.id(), 0),
                 second = use_terms(config::SIGN, used.key.id(), 4),
                 of_other = use_terms(config::SIGN, other.key.id(), 4);
  EXPECT_TRUE(is_accepted(message_of(asked(first))));
  EXPECT_EQ(next_start(), bytes_of(first.request));
  EXPECT_TRUE(is_accepted(message_of(asked(refresh))));
  EXPECT_TRUE(is_accepted(message_of(asked(second))));
  peer_->send(message_of(asked(of_other)));
  EXPECT_EQ(next_start(), bytes_of(of_other.request)) << "the second use does not wait";
  end(refresh.request);
  // Before anything that has begun ends, since the program does not take part in it.
  const wire::Message next = peer_->next_of({wire::Message::kKeyStart, wire::Message::kKeyEnd});
  EXPECT_EQ(next.key_start().request(), bytes_of(second.request)) << next.ShortDebugString();
  a_->kill();
}

// What is loaded here may be forgotten there, and only then is it forgotten here. The share itself
// is this party's own.
TEST_F(HostileFollowerTest, SaysThatAKeyIsSuspended) {
  start_hostile("interactive");
  const auto made = keys_a_->create("mac", "mac");
  ASSERT_OK(made);
  take_over();
  custody::KeyFiles files = files_of_b();
  const custody::Backups backups;
  const custody::KeyId id = custody::key_id_from(made.key.id()).value();
  const custody::KeyHave active = files.have(id).value();
  custody::KeyHave suspended = active;
  suspended.state = custody::KeyState::Suspended;
  std::unique_ptr<Evaluator> evaluator;
  std::unique_ptr<service::KeyConnection> connection;
  const auto sign = [&] {
    const KeyTerms terms = use_terms(config::SIGN, made.key.id(), 4);
    const wire::KeyStart start = begun(terms);
    if (!evaluator) {
      evaluator = peer_->evaluator(start.group(), start.session());
      connection =
          std::make_unique<service::KeyConnection>(*evaluator, files, backups, files.begin_link());
    }
    (void)signed_by(connection->session, start, terms, "tttt");
    (void)peer_->next(wire::Message::kKeyEnd);
    return start.is_loaded();
  };
  EXPECT_FALSE(sign());
  say(made.key.id(), active);
  EXPECT_TRUE(sign()) << "it is there, and active at both";
  for (const custody::KeyHave& have : {suspended, destroyed(active)}) {
    say(made.key.id(), have);
    say(made.key.id(), active);
    if (have.state == custody::KeyState::Destroyed) break;
    connection->session.forget(id);
    EXPECT_FALSE(sign()) << "it was suspended there";
    EXPECT_TRUE(sign());
  }
  const v1::Key key = keys_a_->show("mac").key;
  EXPECT_EQ(key.epochs_size(), 1) << "the share is there, whatever the peer says";
  a_->kill();
}

// While it waits for material, the other party's policy changes: an officer sees it before it runs.
TEST_F(HostileFollowerTest, BeginsNothingThatNeedsAnApprovalSince) {
  start_hostile();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  peer_->shut_down();
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  test::LoopNotices notices(dir_ / "notices");
  a_->start();
  ::unsetenv("NOTIFY_SOCKET");
  peer_->connect();  // without stock
  const KeyTerms terms = use_terms(config::ENCRYPT, made.key.id(), 4);
  EXPECT_TRUE(is_accepted(message_of(asked(terms))));
  write_policy("A", "allow { peer: true key: '*' may: [ENCRYPT] approval: true }\n");
  ASSERT_TRUE(notices.reload(*a_));
  peer_->send_stock({session()});
  const wire::Message next = peer_->next_of({wire::Message::kKeyStart, wire::Message::kKeyEnd});
  ASSERT_TRUE(next.has_key_end()) << "the request begins";
  EXPECT_EQ(next.key_end().reason(), "it needs an approval since then");
  peer_->shut_down();
  EXPECT_EQ(a_->stop().status, 0);
}

// A refresh waits for the uses that have begun, and other keys do not wait for it.
TEST_F(HostileFollowerTest, RefreshesAKeyThatIsUsed) {
  start_hostile();
  const auto used = keys_a_->create("used"), other = keys_a_->create("other");
  ASSERT_OK(used);
  ASSERT_OK(other);
  take_over();
  const KeyTerms use = use_terms(config::ENCRYPT, used.key.id(), 4),
                 refresh = use_terms(config::REFRESH, used.key.id(), 0),
                 of_other = use_terms(config::ENCRYPT, other.key.id(), 4);
  EXPECT_TRUE(is_accepted(message_of(asked(use))));
  EXPECT_EQ(peer_->next(wire::Message::kKeyStart).key_start().request(), bytes_of(use.request));
  EXPECT_TRUE(is_accepted(message_of(asked(refresh))));
  peer_->send(message_of(asked(of_other)));
  const std::string next = peer_->next(wire::Message::kKeyStart).key_start().request();
  EXPECT_NE(next, bytes_of(refresh.request)) << "the key changes while it is used";
  EXPECT_EQ(next, bytes_of(of_other.request));
  a_->kill();
}

// The key is there, and is used, whatever the peer says of it.
TEST_F(HostileFollowerTest, SignsSomethingElse) {
  start_hostile();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  const std::filesystem::path file =
      directory_of(Party::A) / "custody" / (made.key.id() + ".certificate");
  std::filesystem::remove(file);
  const custody::KeyId key = custody::key_id_from(made.key.id()).value();
  const auto message_of = [&](const service::SignedMessage& said) {
    wire::Message message;
    wire::KeyCertificate& to = *message.mutable_key_certificate();
    custody::put_bytes(key.bytes, *to.mutable_key());
    custody::put_bytes(said.message, *to.mutable_said());
    custody::put_bytes(said.signature.public_key, *to.mutable_public_key());
    custody::put_bytes(said.signature.bytes, *to.mutable_signature());
    return message;
  };
  const auto answered = [&](const auto& answer_to) {
    KeyClient::Made asked;
    std::jthread client([&] {
      v1::KeyName name;
      name.set_key("data");
      v1::CertificateReply reply;
      asked.status = keys_a_->call(&Stub::Certificate, name, reply);
    });
    const wire::KeyCertificate question =
        peer_->next(wire::Message::kKeyCertificate).key_certificate();
    EXPECT_FALSE(question.is_answer());
    const auto bytes = [](const std::string& field) {
      const auto of = std::as_bytes(std::span(field));
      return std::vector<std::byte>(of.begin(), of.end());
    };
    const service::SignedMessage said{bytes(question.said()),
                                      {bytes(question.public_key()), bytes(question.signature())}};
    wire::Message answer = message_of(answer_to(said));
    answer.mutable_key_certificate()->set_is_answer(true);
    peer_->send(answer);
    client.join();
    return asked.status;
  };
  const auto signed_by_peer = [&](service::KeyStatement statement,
                                  const std::function<void(service::KeyStatement&)>& change) {
    change(statement);
    return service::signed_statement(statement, parties_, *identity_);
  };
  service::KeyStatement of_a;
  const auto changed = [&](const std::function<void(service::KeyStatement&)>& change) {
    return answered([&](const service::SignedMessage& said) {
      of_a = service::statement_from(said, parties_);
      return signed_by_peer(of_a, change);
    });
  };
  const std::string refusal = "bob has signed no certificate of it: ";
  // The daemon's own statement; another key's fingerprint; of the future; a wrong signature.
  const auto reflected = answered([](const service::SignedMessage& said) { return said; });
  EXPECT_EQ(reflected.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << code_of(reflected);
  EXPECT_EQ(reflected.error_message(),
            refusal + "the signature is not that of " + net::text_of(parties_.own));
  EXPECT_EQ(
      changed([](service::KeyStatement& said) { said.fingerprint.bytes[0] ^= 1; }).error_message(),
      refusal + "it has signed something else than this party has");
  EXPECT_EQ(changed([](service::KeyStatement& said) {
              said.time += std::chrono::hours(1);
            }).error_message(),
            refusal + "the clocks of the parties differ by more than 10 minutes");
  const auto wrong = answered([&](const service::SignedMessage& said) {
    auto of_peer = signed_by_peer(service::statement_from(said, parties_), [](auto&) {});
    of_peer.signature.bytes[3] ^= std::byte{1};
    return of_peer;
  });
  EXPECT_EQ(wrong.error_message(), reflected.error_message());
  EXPECT_FALSE(std::filesystem::exists(file));
  // It asks for one of something else.
  const wire::Message own = message_of(
      signed_by_peer(of_a, [](service::KeyStatement& said) { ++said.attributes.version; }));
  peer_->send(own);
  const wire::KeyCertificate refused =
      peer_->next(wire::Message::kKeyCertificate).key_certificate();
  EXPECT_TRUE(refused.is_answer());
  EXPECT_TRUE(refused.said().empty());
  EXPECT_EQ(refused.reason(), "it has signed something else than this party has");
  EXPECT_FALSE(std::filesystem::exists(file));
  // Late, and of no key.
  wire::Message late = own;
  late.mutable_key_certificate()->set_is_answer(true);
  peer_->send(late);
  late.mutable_key_certificate()->set_key(std::string(16, 'x'));
  peer_->send(late);
  // They have been read once the next question is answered. Then what is right.
  peer_->send(own);
  (void)peer_->next(wire::Message::kKeyCertificate);
  const auto right = changed([](auto&) {});
  EXPECT_TRUE(right.ok()) << code_of(right);
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_EQ(keys_a_->show("data").key.state(), "active");
  peer_->shut_down();
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
}

// Clients of A that name the label would use a weaker algorithm, or none, without a word of theirs.
TEST_F(HostileFollowerTest, MakesAVersionOfAnotherKind) {
  start_hostile();
  ASSERT_OK(keys_a_->create("data", "aead", "aes256"));
  take_over();
  const auto refusal = [&](const std::function<void(custody::KeyAttributes&)>& change,
                           config::KeyOperation operation = config::CREATE) {
    KeyTerms terms;
    terms.request = service::random_request();
    terms.making = service::random_request();
    terms.operation = operation;
    terms.key = service::made_id(terms.making);
    custody::KeyAttributes& version = terms.attributes.emplace();
    version.id = terms.key;
    version.label = "data";
    version.version = 2;
    change(version);
    peer_->send(message_of(asked(terms)));
    service::keys::Said said;
    EXPECT_TRUE(said.ParseFromString(peer_->next(wire::Message::kKeyAnswer).key_answer().said()));
    EXPECT_FALSE(said.answer().is_accepted());
    return said.answer().reason();
  };
  const std::string why = "the keys data are of class aead, aes256, with joint nonces";
  using custody::KeyAttributes;
  EXPECT_TRUE(refusal([](KeyAttributes& key) {
                key.algorithm = custody::KeyAlgorithm::Aes128;
              }).starts_with(why));
  EXPECT_TRUE(
      refusal([](KeyAttributes& key) { key.key_class = custody::KeyClass::Mac; }).starts_with(why));
  EXPECT_TRUE(refusal([](KeyAttributes& key) {
                key.nonces = custody::NonceMode::Caller;
              }).starts_with(why));
  // One that it has as a whole: the other party's clients would seal for it.
  EXPECT_EQ(refusal([](KeyAttributes& key) { key.origin = custody::KeyOrigin::Imported; },
                    config::IMPORT),
            "the next key data is generated, not imported: choose another label");
  peer_->shut_down();
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
}

// Each request is the next key of its label as long as the other one has stored nothing.
TEST_F(HostileFollowerTest, MakesTwoKeysOfALabelAtOnce) {
  start_hostile();
  ASSERT_OK(keys_a_->create("data"));
  take_over();
  const custody::Backups backups;
  struct Making {
    KeyTerms terms;
    std::unique_ptr<custody::KeyFiles> files;
    std::unique_ptr<Evaluator> evaluator;
  };
  std::vector<Making> both;
  for (const auto algorithm : {custody::KeyAlgorithm::Aes256, custody::KeyAlgorithm::Aes128}) {
    KeyTerms terms;
    terms.request = service::random_request();
    terms.making = service::random_request();
    terms.operation = config::CREATE;
    terms.key = service::made_id(terms.making);
    terms.attributes =
        custody::KeyAttributes{.id = terms.key, .label = "new", .algorithm = algorithm};
    EXPECT_TRUE(is_accepted(message_of(asked(terms))));
    const wire::KeyStart start = peer_->next(wire::Message::kKeyStart).key_start();
    both.push_back(
        {terms,
         std::make_unique<custody::KeyFiles>(
             dir_ / ("files " + custody::name_of(algorithm)),
             custody::KeyFiles::Owner{Party::B, "alice", net::text_of(parties_.peer)}, *store_key_),
         peer_->evaluator(start.group(), start.session())});
  }
  const auto make = [&](const Making& of) {
    service::KeyConnection connection(*of.evaluator, *of.files, backups, of.files->begin_link());
    (void)connection.custodian.create(connection.peer, of.terms.making, *of.terms.attributes);
  };
  make(both[0]);
  EXPECT_ANY_THROW(make(both[1]));
  v1::ListKeysReply listed;
  EXPECT_TRUE(keys_a_->call(&Stub::List, {}, listed).ok());
  EXPECT_EQ(std::ranges::count(listed.keys(), "new", &v1::Key::label), 1);
  EXPECT_EQ(keys_a_->show("new").key.algorithm(), "aes256");
  a_->kill();
}

// All keys are looked at once it has told of all that it has: a few bytes, under the lock that all
// requests take.
TEST_F(HostileFollowerTest, EndsWhatItTellsTwice) {
  start_hostile();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  wire::Message last;
  last.mutable_key_haves()->set_is_last(true);
  peer_->send(last);
  EXPECT_TRUE(is_accepted(message_of(asked(use_terms(config::ENCRYPT, made.key.id(), 4)))));
  peer_->send(last);
  expect_link_ends();
  a_->kill();
}

// The leading party begins the steps: it knows what else is done with a key.
TEST_F(HostileFollowerTest, BeginsAStepOfAKey) {
  start_hostile();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  wire::Message message;
  wire::KeyStart& start = *message.mutable_key_start();
  custody::put_bytes(custody::key_id_from(made.key.id()).value().bytes, *start.mutable_key());
  start.set_group(1);
  start.set_session(session());
  peer_->send(message);
  expect_link_ends();
  a_->kill();
}

// Each change of its word was a synced write, under the lock that all requests take.
TEST_F(HostileFollowerTest, ChangesItsWordOfAShareAllTheTime) {
  start_hostile();
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  const custody::KeyHave active = have_of(made.key.id());
  const Replacements replacements(directory_of(Party::A) / "custody");
  for (int i = 0; i < 200; ++i) {
    say(made.key.id(), destroyed(active));
    say(made.key.id(), active);
  }
  say(made.key.id(), destroyed(active));
  // What it has said is read once it has an answer to the next.
  EXPECT_FALSE(is_accepted(message_of(asked(use_terms(config::SIGN, made.key.id(), 4)))));
  const auto destroyed_by_peer = [&](const std::string& keys) {
    return test::becomes_true(
        [&] { return a_->metric("tinyot_keys_destroyed_by_peer{peer=\"bob\"") == keys; });
  };
  EXPECT_TRUE(destroyed_by_peer("1"));
  EXPECT_LT(replacements.of(made.key.id() + ".key"), 100);
  EXPECT_EQ(keys_a_->show("data").key.state(), "suspended");
  say(made.key.id(), active);
  EXPECT_TRUE(destroyed_by_peer("0"));
  EXPECT_EQ(keys_a_->show("data").key.state(), "suspended");
  peer_->shut_down();
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
}

// What was begun has an end in the log, with what the peer has signed, once there is room for it.
TEST_F(HostileFollowerTest, EndsARequestWhileTheDiskOfTheLogIsFull) {
  const std::filesystem::path log = dir_ / "disk" / "audit.log", daemon_log = dir_ / "log";
  const test::SmallDisk disk(log.parent_path(), 1 << 20);
  if (!disk.is_mounted()) GTEST_SKIP() << "this process may not mount";
  CustodySetup setup;
  setup.custody_a = "audit_log: '" + log.string() + "'";
  setup.daemon_a = "log { file: '" + daemon_log.string() + "' }";
  start_hostile({}, setup);
  const auto made = keys_a_->create("data");
  ASSERT_OK(made);
  take_over();
  // More than the last block of the log has room for.
  std::vector<custody::RequestId> requests;
  for (int i = 0; i < 20; ++i) {
    const KeyTerms terms = use_terms(config::ENCRYPT, made.key.id(), 4);
    EXPECT_TRUE(is_accepted(message_of(asked(terms))));
    requests.push_back(terms.request);
  }
  const std::filesystem::path filler = log.parent_path() / "filler";
  std::ofstream(filler) << std::string(1 << 20, 'x');
  for (const custody::RequestId& request : requests) end(request);
  EXPECT_TRUE(test::becomes_true([&] {
    return test::read_file(daemon_log).find("custody goes on after an error") != std::string::npos;
  }));
  std::filesystem::remove(filler);
  for (const custody::RequestId& request : requests)
    EXPECT_TRUE(test::becomes_true([&] {
      return test::read_file(log).find("\"event\":\"end\",\"request\":\"" + hex_of(request)) !=
             std::string::npos;
    }));
  peer_->shut_down();
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  EXPECT_EQ(service::verify_audit(log, {parties_.peer, parties_.own}).problems,
            std::vector<std::string>());
}

// A check that fails as material is made says as much of the peer as one of a use.
TEST_F(HostileFollowerTest, CheatsInARefill) {
  start_hostile();
  ASSERT_OK(keys_a_->create("data"));
  take_over();
  peer_->send_stock({});  // so that the other party has some made
  const wire::Refill order = peer_->next(wire::Message::kRefill).refill();
  peer_->answer_refill(order, true);
  EXPECT_ANY_THROW((void)peer_->refill(order, [](const test::Outgoing& message) {
    if (message.tag == test::kLeakyTripleG) message.payload.at(0) ^= std::byte{1};
  }));
  EXPECT_TRUE(
      test::becomes_true([&] { return a_->metric("tinyot_keys_suspended{peer=\"bob\"") == "1"; },
                         std::chrono::seconds(30)));
  peer_->shut_down();
  const auto sealed = keys_a_->encrypt("data", "text");
  EXPECT_EQ(sealed.status.error_code(), grpc::StatusCode::ABORTED) << code_of(sealed.status);
  keys_a_.reset();
  const test::Ended ended = a_->stop();
  EXPECT_NE(ended.err.find("\"keys suspended\""), std::string::npos) << ended.err;
}

// Party A's daemon has ended, and a program of the attacker has all that it had.
class HostileLeaderTest : public CustodyAttackTest {
 protected:
  void take_over() {
    keys_a_.reset();
    EXPECT_EQ(a_->stop().status, 0);
    const std::string key = (dir_ / "A.pem").string();
    identity_ = engine::read_identity(key);
    parties_ = {identity_->fingerprint(),
                engine::read_identity((dir_ / "B.pem").string()).fingerprint()};
    peer_ = std::make_unique<test::ScriptedPeer>(
        test::ScriptedPeer::Setup{.me = Party::A,
                                  .port = port_,
                                  .stores = a_->stores() / "bob",
                                  .low = {100000, 20000},
                                  .high = {300000, 60000},
                                  .key = key,
                                  .peer_key = "@" + (dir_ / "B.pem.crt").string(),
                                  .sigma = "64",
                                  .store_key = StoreKey::read(dir_ / "A.store_key")});
    peer_->connect();
  }
  // Of the next request of the other party, which this one accepts.
  std::string accepted() {
    const wire::KeyRequest request = peer_->next(wire::Message::kKeyRequest).key_request();
    const auto id = service::request_in(request.said());
    service::SignedMessage asked;
    const auto said = std::as_bytes(std::span(request.said()));
    asked.message.assign(said.begin(), said.end());
    service::AnsweredKey answered;
    answered.request = id.value();
    answered.is_accepted = true;
    answered.head.sequence = 1;
    wire::Message message;
    *message.mutable_key_answer() =
        service::message_of(answered, asked, parties_, identity_.value());
    peer_->send(message);
    return {reinterpret_cast<const char*>(id->data()), id->size()};
  }

  std::optional<net::Identity> identity_;
  service::KeyParties parties_;
  std::unique_ptr<test::ScriptedPeer> peer_;
};

// The link ends, and so does the request, which does not run.
TEST_F(HostileLeaderTest, BeginsARequestOnAWorkerThatThereIsNot) {
  start_custody();
  ASSERT_OK(keys_a_->create("data"));
  take_over();
  KeyClient::Sealed sealed;
  std::jthread client([&] {
    while (sealed.status = keys_b_->encrypt("data", "text").status,
           sealed.status.error_message().find("is not connected") != std::string::npos) {
    }
  });
  wire::Message message;
  message.mutable_key_start()->set_request(accepted());
  message.mutable_key_start()->set_worker(99);
  message.mutable_key_start()->set_group(1);
  message.mutable_key_start()->set_session(1);
  peer_->send(message);
  client.join();
  EXPECT_EQ(sealed.status.error_code(), grpc::StatusCode::UNAVAILABLE) << code_of(sealed.status);
}

// It may have begun the request, so this party withdraws nothing when its client goes.
TEST_F(HostileLeaderTest, IsToldOfNoClientThatGoesOnceItHasAccepted) {
  CustodySetup setup;
  setup.custody_b = "request_timeout_s: 6";
  start_custody(setup);
  ASSERT_OK(keys_a_->create("mac", "mac"));
  take_over();
  grpc::Status ended;
  std::jthread client([&] {
    while (ended = keys_b_->sign("mac", "text", std::chrono::seconds(2)).status,
           ended.error_message().find("is not connected") != std::string::npos) {
    }
  });
  const std::string request = accepted();
  const wire::KeyEnd end = peer_->next(wire::Message::kKeyEnd).key_end();
  EXPECT_EQ(end.request(), request);
  EXPECT_NE(end.reason().find("expired"), std::string::npos) << end.reason();
  client.join();
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << code_of(ended);
}

// Officers there may take a day to approve what nobody waits for.
TEST_F(HostileLeaderTest, IsToldOfAClientThatHasGoneOnceItsOfficersAreAsked) {
  start_custody();
  ASSERT_OK(keys_a_->create("data"));
  take_over();
  const auto refresh = [&] {
    v1::KeyName name;
    name.set_key("data");
    v1::Key reply;
    grpc::Status ended;
    while (ended = keys_b_->call(&Stub::Refresh, name, reply, std::chrono::seconds(2)),
           ended.error_message().find("is not connected") != std::string::npos) {
    }
    EXPECT_EQ(ended.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << code_of(ended);
  };
  std::jthread client(refresh);
  const wire::KeyRequest request = peer_->next(wire::Message::kKeyRequest).key_request();
  client.join();
  refresh();  // meanwhile the daemon sees that the first one has gone
  const auto id = service::request_in(request.said()).value();
  const std::string number(reinterpret_cast<const char*>(id.data()), id.size());
  wire::Message waits;
  waits.mutable_key_waits()->set_request(number);
  peer_->send(waits);
  const wire::KeyEnd end = peer_->next(wire::Message::kKeyEnd).key_end();
  EXPECT_EQ(end.request(), number);
  EXPECT_NE(end.reason().find("client has gone"), std::string::npos) << end.reason();
}

// What an officer has set is there again when the key is settled.
TEST(RestoredKey, IsDeactivatedAgainAfterItWasSuspended) {
  const test::TestDirectory directory("/dev/shm");
  const std::string bytes(32, 's');
  custody::KeyFiles files(directory.path() / "custody", {Party::A, "bob", "peer"},
                          StoreKey(std::as_bytes(std::span(bytes))));
  const std::uint64_t link = files.begin_link();
  custody::KeyRecord record;
  record.attributes.label = "data";
  record.attributes.algorithm = custody::KeyAlgorithm::Aes128;
  const custody::KeyId id = record.attributes.id;
  const custody::Epoch first{1, {}}, second{2, {}};
  const custody::Share share(16);
  files.store_epoch(link, record, first, share);
  files.keep_only(link, id, first);
  files.set_state(id, custody::KeyState::Deactivated);
  files.restore({Party::A, "bob", files.record(id), second, share});
  // The officer suspends it and resumes it, or a check fails meanwhile.
  files.set_state(id, custody::KeyState::Suspended);
  files.set_state(id, files.record(id).state_resumed);
  files.keep_only(link, id, second);
  files.keep_only(link, id, second);
  EXPECT_EQ(custody::name_of(files.record(id).state), "deactivated");
}

}  // namespace
}  // namespace tinyot
