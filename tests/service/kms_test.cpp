// Kubernetes' interface of two daemons, as API servers call it.
#include "service/kms.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <future>

#include "kubernetes/kms_v2.grpc.pb.h"
#include "tests/service/custody_daemons.h"
#include "tests/support/openssl_mechanisms.h"

namespace tinyot {
namespace {

using grpc::StatusCode;
using test::becomes_true;
using test::CustodyTest;
using test::KeyClient;
using Stub = v1::Keys::Stub;

class KmsClient {
 public:
  explicit KmsClient(const std::filesystem::path& socket)
      : channel_(
            grpc::CreateChannel("unix:" + socket.string(), grpc::InsecureChannelCredentials())),
        stub_(v2::KeyManagementService::NewStub(channel_)) {}

  template <class Reply>
  struct Answer {
    grpc::Status status;
    Reply reply;
  };
  using Sealed = Answer<v2::EncryptResponse>;
  using Opened = Answer<v2::DecryptResponse>;
  using Health = Answer<v2::StatusResponse>;

  Health status() const {
    Health health;
    const auto context = call();
    health.status = stub_->Status(context.get(), {}, &health.reply);
    return health;
  }
  // No seconds: without a deadline.
  Sealed encrypt(const std::string& text, const std::string& uid = "uid-1",
                 std::chrono::seconds wait = std::chrono::seconds(60)) const {
    v2::EncryptRequest request;
    request.set_plaintext(text);
    request.set_uid(uid);
    Sealed sealed;
    const auto context = call(wait);
    sealed.status = stub_->Encrypt(context.get(), request, &sealed.reply);
    return sealed;
  }
  Opened decrypt(const v2::DecryptRequest& request) const {
    Opened opened;
    const auto context = call();
    opened.status = stub_->Decrypt(context.get(), request, &opened.reply);
    return opened;
  }
  Opened decrypt(const v2::EncryptResponse& sealed) const { return decrypt(request_of(sealed)); }

  static v2::DecryptRequest request_of(const v2::EncryptResponse& sealed) {
    v2::DecryptRequest request;
    request.set_ciphertext(sealed.ciphertext());
    request.set_key_id(sealed.key_id());
    request.set_uid("uid-2");
    return request;
  }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  // As API servers: calls wait for the connection.
  static std::unique_ptr<grpc::ClientContext> call(
      std::chrono::seconds wait = std::chrono::seconds(60)) {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_wait_for_ready(true);
    if (wait.count() > 0) context->set_deadline(std::chrono::system_clock::now() + wait);
    return context;
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v2::KeyManagementService::Stub> stub_;
};

#define ASSERT_OK(of) ASSERT_TRUE((of).status.ok()) << (of).status.error_message()

class KmsTest : public CustodyTest {
 protected:
  // Both parties have a cluster, with secrets under one key.
  void start_kms(CustodySetup setup) {
    setup.custody_a += kms_of("a");
    setup.custody_b += kms_of("b");
    start_custody(setup);
    if (HasFatalFailure()) return;
    kms_a_ = std::make_unique<KmsClient>(socket_of("a"));
    kms_b_ = std::make_unique<KmsClient>(socket_of("b"));
  }
  void start_kms() { start_kms({}); }

  std::filesystem::path socket_of(const std::string& party) const {
    return dir_ / ("kms-" + party);
  }
  std::string kms_of(const std::string& party) const {
    return " kms { socket: '" + socket_of(party).string() + "' label: 'secrets' }";
  }
  std::string requests_done_for_a(const std::string& operation) const {
    return b_->metric("tinyot_key_requests_total{by=\"peer\",operation=\"" + operation +
                      "\",outcome=\"done\"");
  }
  // A call on the connection of a daemon that was killed may fail: API servers ask again.
  void expect_answered(const KmsClient& kms) const {
    EXPECT_TRUE(becomes_true([&] { return kms.status().status.ok(); }))
        << kms.status().status.error_message();
  }
  void expect_healthy(const KmsClient& kms) const {
    EXPECT_TRUE(becomes_true([&] { return kms.status().reply.healthz() == "ok"; }))
        << kms.status().reply.healthz() << kms.status().status.error_message();
  }

  std::unique_ptr<KmsClient> kms_a_, kms_b_;
};

const std::string kSeed = "thirty-two bytes of a key's seed";

TEST_F(KmsTest, WhatOnePartyEncryptsBothDecrypt) {
  start_kms();
  ASSERT_OK(keys_a_->create("secrets", "aead", "aes256"));
  const auto sealed = kms_a_->encrypt(kSeed);
  ASSERT_OK(sealed);
  EXPECT_EQ(sealed.reply.ciphertext().size(), 12 + kSeed.size() + 16);
  EXPECT_TRUE(sealed.reply.annotations().empty());
  for (const KmsClient* const kms : {kms_a_.get(), kms_b_.get()}) {
    const auto status = kms->status();
    ASSERT_OK(status);
    EXPECT_EQ(status.reply.version(), "v2");
    EXPECT_EQ(status.reply.key_id(), sealed.reply.key_id());
    const auto opened = kms->decrypt(sealed.reply);
    ASSERT_OK(opened);
    EXPECT_EQ(opened.reply.plaintext(), kSeed);
  }
  expect_healthy(*kms_a_);
  expect_healthy(*kms_b_);
}

TEST_F(KmsTest, CiphertextsAreThoseOfOpenSsl) {
  CustodySetup setup;
  setup.ands = "2000000";  // for all of it, so that nothing waits for a refill
  start_kms(setup);
  ASSERT_TRUE(is_stocked(1'900'000));
  const std::string key(32, 'k');
  ASSERT_OK(keys_b_->import("secrets", "aead", "aes256", key));
  for (const std::string& text : {kSeed, std::string(), std::string(995, 's')}) {
    const auto sealed = kms_a_->encrypt(text);
    ASSERT_OK(sealed);
    EXPECT_LT(sealed.reply.ciphertext().size(), 1024u);
    EXPECT_EQ(sealed.reply.ciphertext().substr(12),
              test::openssl_seal(key, sealed.reply.ciphertext().substr(0, 12),
                                 "tinyot kms v2" + sealed.reply.key_id(), text));
    const auto opened = kms_b_->decrypt(sealed.reply);
    ASSERT_OK(opened);
    EXPECT_EQ(opened.reply.plaintext(), text);
  }
}

TEST_F(KmsTest, RotationAloneChangesTheKeyId) {
  start_kms();
  const auto first = keys_a_->create("secrets");
  ASSERT_OK(first);
  const auto old = kms_a_->encrypt(kSeed);
  ASSERT_OK(old);
  ASSERT_OK(keys_b_->named(&Stub::Refresh, "secrets"));
  EXPECT_EQ(kms_a_->status().reply.key_id(), first.key.id());
  a_->kill();
  b_->kill();
  a_->start();
  expect_answered(*kms_a_);
  EXPECT_EQ(kms_a_->status().reply.key_id(), first.key.id()) << "while the peer is away";
  b_->start();
  expect_answered(*kms_b_);
  expect_healthy(*kms_a_);
  EXPECT_EQ(kms_a_->status().reply.key_id(), first.key.id());

  // The peer deactivates its share alone.
  const auto second = keys_b_->named(&Stub::Rotate, "secrets");
  ASSERT_OK(second);
  EXPECT_EQ(keys_a_->show(first.key.id()).key.state(), "active");
  for (const KmsClient* const kms : {kms_a_.get(), kms_b_.get()}) {
    EXPECT_EQ(kms->status().reply.key_id(), second.key.id());
    const auto sealed = kms->encrypt(kSeed);
    ASSERT_OK(sealed);
    EXPECT_EQ(sealed.reply.key_id(), second.key.id());
    const auto opened = kms->decrypt(old.reply);
    ASSERT_OK(opened);
    EXPECT_EQ(opened.reply.plaintext(), kSeed);
  }
  // No other version takes the place of one that is suspended.
  ASSERT_OK(keys_a_->named(&Stub::Suspend, second.key.id()));
  EXPECT_EQ(kms_a_->status().reply.key_id(), second.key.id());
  EXPECT_EQ(kms_a_->encrypt(kSeed).status.error_code(), StatusCode::FAILED_PRECONDITION);
}

TEST_F(KmsTest, VersionsThatAreBeingMadeAreNotSeen) {
  start_kms();
  const auto first = keys_a_->create("secrets");
  ASSERT_OK(first);
  expect_healthy(*kms_a_);
  KeyClient::Made second;
  std::jthread rotation([&] { second = keys_b_->named(&Stub::Rotate, "secrets"); });
  EXPECT_TRUE(becomes_true([&] {
    const v2::StatusResponse status = kms_a_->status().reply;
    EXPECT_FALSE(status.healthz().ends_with(" is pending, and does not encrypt"))
        << status.healthz();
    return status.key_id() != first.key.id();
  }));
  rotation.join();
  ASSERT_OK(second);
  EXPECT_EQ(kms_a_->status().reply.key_id(), second.key.id());
}

TEST_F(KmsTest, DecryptsVersionsOfItsLabelAlone) {
  start_kms();
  ASSERT_EQ(kms_a_->status().status.error_code(), StatusCode::NOT_FOUND) << "there is no key yet";
  ASSERT_EQ(kms_a_->encrypt(kSeed).status.error_code(), StatusCode::NOT_FOUND);
  ASSERT_OK(keys_a_->create("secrets"));
  const auto other = keys_a_->create("other");
  ASSERT_OK(other);
  const auto sealed =
      keys_a_->encrypt("other", kSeed, "tinyot kms v2" + other.key.id(), /*shown=*/true);
  ASSERT_OK(sealed);
  v2::DecryptRequest request;
  request.set_ciphertext(sealed.reply.nonce() + sealed.reply.ciphertext() + sealed.reply.tag());
  for (const std::string& id : {other.key.id(), std::string(32, '0')}) {
    request.set_key_id(id);
    const auto opened = kms_a_->decrypt(request);
    EXPECT_EQ(opened.status.error_code(), StatusCode::NOT_FOUND);
    EXPECT_EQ(opened.status.error_message(),
              "there is no version " + id +
                  " of key 'secrets' with bob that a rule of the key policy names");
  }
}

TEST_F(KmsTest, WrongTagsHaveAnErrorOfTheirOwn) {
  start_kms();
  ASSERT_OK(keys_a_->create("secrets"));
  const auto old = kms_a_->encrypt(kSeed);
  ASSERT_OK(old);
  const auto rotated = keys_a_->named(&Stub::Rotate, "secrets");
  ASSERT_OK(rotated);
  std::vector<v2::DecryptRequest> wrong;
  for (const std::size_t at : {0, 12, 59}) {
    wrong.push_back(KmsClient::request_of(old.reply));
    wrong.back().mutable_ciphertext()->at(at) ^= 1;
  }
  wrong.push_back(KmsClient::request_of(old.reply));
  wrong.back().set_key_id(rotated.key.id());
  for (const v2::DecryptRequest& request : wrong) {
    const auto opened = kms_a_->decrypt(request);
    EXPECT_EQ(opened.status.error_code(), StatusCode::DATA_LOSS) << opened.status.error_message();
    EXPECT_TRUE(opened.reply.plaintext().empty());
  }
}

TEST_F(KmsTest, MalformedCallsAreRefusedBeforeAnythingIsAsked) {
  start_kms();
  ASSERT_OK(keys_a_->create("secrets"));
  const auto sealed = kms_a_->encrypt(kSeed);
  ASSERT_OK(sealed);
  const auto log = [&] {
    return test::read_file(directory_of(Party::A) / "audit.log").find("\"decrypt\"");
  };
  const auto refused = [&](const auto& answer, const std::string& why) {
    EXPECT_EQ(answer.status.error_code(), StatusCode::INVALID_ARGUMENT) << why;
    EXPECT_EQ(test::class_of(answer.status), v1::USAGE);
    EXPECT_NE(answer.status.error_message().find(why), std::string::npos)
        << answer.status.error_message();
  };
  refused(kms_a_->encrypt(std::string(996, 's')), "at most 995 bytes, not 996");
  refused(kms_a_->encrypt(kSeed, std::string(401, 'u')), "uid");
  refused(kms_a_->encrypt(kSeed, "line\n"), "uid");
  const auto with = [&](const auto& change) {
    v2::DecryptRequest request = KmsClient::request_of(sealed.reply);
    change(request);
    return kms_a_->decrypt(request);
  };
  using Request = v2::DecryptRequest;
  refused(with([](Request& request) { request.mutable_ciphertext()->resize(27); }), "not 27");
  refused(with([](Request& request) { request.mutable_ciphertext()->resize(1024); }), "not 1024");
  refused(with([](Request& request) { request.clear_ciphertext(); }), "not 0");
  refused(with([](Request& request) { (*request.mutable_annotations())["a.b"] = "c"; }),
          "annotations");
  refused(with([](Request& request) { request.set_uid("\x7f"); }), "uid");
  for (const std::string& id : {std::string(), std::string(31, '0'), std::string(32, 'x')})
    refused(with([&](Request& request) { request.set_key_id(id); }), "32 hex digits");
  EXPECT_EQ(with([](Request& request) {
              request.mutable_ciphertext()->resize(1 << 20);
            }).status.error_code(),
            StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(log(), std::string::npos);
  ASSERT_OK(with([](Request&) {}));
  EXPECT_NE(log(), std::string::npos);
}

TEST_F(KmsTest, StatusTakesNothingAndAsksNobody) {
  start_kms();
  ASSERT_OK(keys_a_->create("secrets"));
  ASSERT_OK(kms_a_->encrypt(kSeed));
  expect_healthy(*kms_a_);
  const auto all = [&] {
    return std::tuple(a_->client().ands_left(), b_->client().ands_left(),
                      a_->metric("tinyot_key_requests_total"), requests_done_for_a("encrypt"),
                      test::read_file(directory_of(Party::A) / "audit.log"),
                      test::read_file(directory_of(Party::B) / "audit.log"));
  };
  // The key's making and its first use have ended at both parties, and the refill of the latter.
  const auto has_ended = [&](Party party) {
    const std::string log = test::read_file(directory_of(party) / "audit.log"),
                      end = "\"event\":\"end\"";
    const std::size_t first = log.find(end);
    return first != std::string::npos && log.find(end, first + 1) != std::string::npos;
  };
  ASSERT_TRUE(becomes_true([&] {
    return has_ended(Party::A) && has_ended(Party::B) && !requests_done_for_a("encrypt").empty() &&
           !a_->client().stock().sessions(0).is_refilling();
  }));
  const auto before = all();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(kms_a_->status().reply.healthz(), "ok");
  EXPECT_EQ(all(), before);
}

TEST_F(KmsTest, StatusSaysWhatIsWrong) {
  start_kms();
  ASSERT_OK(keys_a_->create("secrets"));
  const std::string key = keys_a_->show("secrets").key.id();
  const auto becomes = [&](const KmsClient& kms, const std::string& health) {
    return becomes_true([&] { return kms.status().reply.healthz() == health; });
  };
  expect_healthy(*kms_a_);
  ASSERT_OK(keys_b_->named(&Stub::Suspend, "secrets"));
  EXPECT_TRUE(becomes(*kms_a_, "key " + key + " is suspended at bob"));
  EXPECT_TRUE(becomes(*kms_b_, "key " + key + " is suspended, and does not encrypt"));
  ASSERT_OK(keys_b_->named(&Stub::Resume, "secrets"));
  expect_healthy(*kms_a_);
  // Each takes ANDs, until a refill begins.
  EXPECT_TRUE(becomes_true([&] {
    EXPECT_TRUE(kms_a_->encrypt(kSeed).status.ok());
    return kms_a_->status().reply.healthz() == "bob: less than the low watermark in stock";
  }));
  expect_healthy(*kms_a_);
  b_->kill();
  EXPECT_TRUE(becomes_true([&] {
    return kms_a_->status().reply.healthz().starts_with("bob: not connected");
  })) << kms_a_->status().reply.healthz();
  EXPECT_EQ(kms_a_->encrypt(kSeed).status.error_code(), StatusCode::UNAVAILABLE);
  b_->start();
  expect_healthy(*kms_a_);
  ASSERT_OK(kms_a_->encrypt(kSeed));
}

TEST_F(KmsTest, KeysOfOtherClassesAreNotHealthy) {
  start_kms();
  const auto made = keys_a_->create("secrets", "mac");
  ASSERT_OK(made);
  EXPECT_TRUE(becomes_true([&] {
    return kms_a_->status().reply.healthz() ==
           "key " + made.key.id() + " is of class mac, which does not encrypt";
  })) << kms_a_->status().reply.healthz();
}

TEST_F(KmsTest, StatusKnowsWhenThePartiesSharesDoNotBelongTogether) {
  start_kms();
  const auto made = keys_a_->create("secrets");
  ASSERT_OK(made);
  const std::filesystem::path custody = directory_of(Party::A) / "custody",
                              before = dir_ / "before";
  const auto restart_a = [&](const auto& meanwhile) {
    a_->kill();
    meanwhile();
    a_->start();
  };
  const auto becomes = [&](const std::string& health) {
    return becomes_true([&] { return kms_a_->status().reply.healthz() == health; });
  };
  const std::string key = "key " + made.key.id();
  restart_a(
      [&] { std::filesystem::copy(custody, before, std::filesystem::copy_options::recursive); });
  expect_healthy(*kms_a_);
  ASSERT_OK(keys_b_->named(&Stub::Refresh, "secrets"));
  // A's disk is set back.
  restart_a([&] {
    std::filesystem::remove_all(custody);
    std::filesystem::copy(before, custody, std::filesystem::copy_options::recursive);
  });
  EXPECT_TRUE(becomes("the parties have no shares of " + key + " that belong together"))
      << kms_a_->status().reply.healthz();
  EXPECT_FALSE(kms_a_->encrypt(kSeed).status.ok());
  // B's share is lost.
  b_->kill();
  std::filesystem::remove(directory_of(Party::B) / "custody" / (made.key.id() + ".key"));
  b_->start();
  EXPECT_TRUE(becomes("bob has no share of " + key)) << kms_a_->status().reply.healthz();
  EXPECT_FALSE(kms_a_->encrypt(kSeed).status.ok());
  // The peer has failed a check.
  restart_a([&] { test::write_file(custody / "peer-cheated", ""); });
  EXPECT_TRUE(
      becomes("bob has failed a check: all keys with it are suspended until an officer "
              "resumes them"))
      << kms_a_->status().reply.healthz();
  EXPECT_EQ(kms_a_->encrypt(kSeed).status.error_code(), StatusCode::ABORTED);
}

// The request waits for an officer of the peer.
TEST_F(KmsTest, CallersThatStillWaitGetTheError) {
  CustodySetup setup;
  setup.policy_b =
      "allow { peer: true user: 'ME' key: '*' may: [CREATE, DECRYPT] }\n"
      "allow { peer: true key: '*' may: ENCRYPT approval: true }\n";
  start_kms(setup);
  ASSERT_OK(keys_a_->create("secrets"));
  const auto expect_late = [&](std::chrono::seconds wait) {
    const auto sealed = kms_a_->encrypt(kSeed, "uid", wait);
    EXPECT_EQ(sealed.status.error_code(), StatusCode::DEADLINE_EXCEEDED);
    EXPECT_EQ(sealed.status.error_message(),
              "bob did not answer in time: its officers may have to approve it");
  };
  expect_late(std::chrono::seconds(5));
  expect_late(std::chrono::seconds(0));
  EXPECT_TRUE(becomes_true([&] { return keys_b_->waiting() == 0; })) << "the peer has been told";
}

// As of the other interfaces.
TEST_F(KmsTest, WhoHasLostTheRightWaitsNoLonger) {
  CustodySetup setup;
  setup.policy_a =
      "allow { user: 'ME' key: '*' may: CREATE }\n"
      "allow { user: 'ME' key: '*' may: ENCRYPT approval: true }\n";
  start_kms(setup);
  ASSERT_OK(keys_a_->create("secrets"));
  auto waiting = std::async(std::launch::async, [&] { return kms_a_->encrypt(kSeed).status; });
  ASSERT_TRUE(becomes_true([&] { return keys_a_->waiting() == 1; }));
  std::string configuration = test::read_file(a_->configuration());
  const std::string rights = "USE_KEYS, MANAGE_KEYS";
  configuration.replace(configuration.find(rights), rights.size(), "RESUME");
  test::write_file(a_->configuration(), configuration);
  ASSERT_EQ(::kill(a_->pid(), SIGHUP), 0);
  const grpc::Status ended = waiting.get();
  EXPECT_EQ(ended.error_code(), StatusCode::DEADLINE_EXCEEDED);
  EXPECT_NE(ended.error_message().find("has lost its right"), std::string::npos)
      << ended.error_message();
}

TEST_F(KmsTest, ClientsNeedTheRight) {
  CustodySetup setup;
  setup.rights_a = "MANAGE_KEYS";
  start_kms(setup);
  ASSERT_OK(keys_a_->create("secrets"));
  const auto sealed = kms_b_->encrypt(kSeed);
  ASSERT_OK(sealed);
  EXPECT_EQ(kms_a_->status().status.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(kms_a_->encrypt(kSeed).status.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(kms_a_->decrypt(sealed.reply).status.error_code(), StatusCode::PERMISSION_DENIED);
}

TEST_F(KmsTest, ClientsNeedARule) {
  CustodySetup setup;
  setup.policy_a =
      "allow { peer: true user: 'ME' key: '*' may: [CREATE, DECRYPT] }\n"
      "allow { peer: true key: '*' may: ENCRYPT }\n";
  setup.policy_b =
      "allow { peer: true key: '*' may: [CREATE, ENCRYPT, DECRYPT] }\n"
      "allow { user: 'ME' key: 'another' may: [ENCRYPT, DECRYPT] }\n";
  start_kms(setup);
  ASSERT_OK(keys_a_->create("secrets"));
  EXPECT_EQ(kms_a_->encrypt(kSeed).status.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(kms_b_->encrypt(kSeed).status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(kms_b_->status().status.error_code(), StatusCode::NOT_FOUND);
}

TEST_F(KmsTest, SocketsServeOneInterfaceEach) {
  start_kms();
  const auto code_at = [](const std::shared_ptr<grpc::Channel>& channel, auto stub_of, auto call) {
    const auto stub = stub_of(channel, grpc::StubOptions());
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    return call(*stub, context).error_code();
  };
  const auto list = [](v1::Keys::Stub& stub, grpc::ClientContext& context) {
    v1::ListKeysReply reply;
    return stub.List(&context, {}, &reply);
  };
  const auto peers = [](v1::Party::Stub& stub, grpc::ClientContext& context) {
    v1::PeersReply reply;
    return stub.Peers(&context, {}, &reply);
  };
  const auto status = [](v2::KeyManagementService::Stub& stub, grpc::ClientContext& context) {
    v2::StatusResponse reply;
    return stub.Status(&context, {}, &reply);
  };
  EXPECT_EQ(code_at(kms_a_->channel(), v1::Keys::NewStub, list), StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(code_at(kms_a_->channel(), v1::Party::NewStub, peers), StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(code_at(KmsClient(a_->socket()).channel(), v2::KeyManagementService::NewStub, status),
            StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(std::filesystem::status(socket_of("a")).permissions(), std::filesystem::perms(0660));
}

// The daemon has another peer, whom its configuration names first, and which has no keys here.
TEST_F(KmsTest, SocketIsOfTheKeysWithItsPeer) {
  CustodySetup setup;
  test::write_file(dir_ / "carol.policy", "");
  write_policy("carol", kAll);
  setup.daemon_a = "\npeer { name: 'carol' party: A listen: '127.0.0.1:" + test::reserved_port() +
                   "' policy: '" + (dir_ / "carol.policy").string() +
                   "' profile: 'fast' low { ands: 1000 } high { ands: 2000 } sigma: 64 key: '" +
                   (dir_ / "A.pem").string() + "' peer_key: '@" + (dir_ / "B.pem.crt").string() +
                   "' custody { policy: '" + policy_of("carol").string() + "' } }";
  setup.custody_a = kms_of("a");
  make_custody(setup);
  a_->start();
  b_->start();
  ASSERT_TRUE(becomes_true([&] { return b_->client().ands_left() >= 100'000; }));
  ASSERT_OK(KeyClient(b_->socket()).create("secrets", "aead", "aes256"));
  const KmsClient kms(socket_of("a"));
  ASSERT_TRUE(
      becomes_true([&] { return kms.status().reply.healthz() == "ok"; }, std::chrono::seconds(60)))
      << kms.status().reply.healthz();
  const auto sealed = kms.encrypt(kSeed);
  ASSERT_OK(sealed);
  EXPECT_EQ(kms.decrypt(sealed.reply).reply.plaintext(), kSeed);
}

TEST_F(KmsTest, CallsAreCountedAndLoggedWithoutWhatTheyCarry) {
  start_kms();
  ASSERT_OK(keys_a_->create("secrets"));
  const auto sealed = kms_a_->encrypt(kSeed);
  ASSERT_OK(sealed);
  ASSERT_OK(kms_a_->decrypt(sealed.reply));
  v2::DecryptRequest wrong = KmsClient::request_of(sealed.reply);
  wrong.mutable_ciphertext()->append(kSeed);
  wrong.set_uid("uid-of-a-failure");
  EXPECT_FALSE(kms_a_->decrypt(wrong).status.ok());
  ASSERT_OK(kms_a_->status());
  for (const auto& [call, outcome] : {std::pair("encrypt", "done"),
                                      {"decrypt", "done"},
                                      {"decrypt", "failed"},
                                      {"status", "done"}})
    EXPECT_EQ(a_->metric("tinyot_kms_calls_total{call=\"" + std::string(call) + "\",outcome=\"" +
                         outcome + "\",peer=\"bob\"}"),
              "1")
        << call << " " << outcome;
  keys_a_.reset();
  kms_a_.reset();
  const std::string log = a_->stop().err;
  EXPECT_NE(log.find("uid-of-a-failure"), std::string::npos);
  EXPECT_EQ(log.find("uid-1"), std::string::npos) << "what succeeds is in the audit log alone";
  EXPECT_EQ(log.find(kSeed), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(socket_of("a")));
}

}  // namespace
}  // namespace tinyot
