// What the calls about keys do with their messages.
#include "service/key_calls.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "service/failed_call.h"
#include "service/key_failed.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using service::KeyCalls;

class KeyCallsTest : public ::testing::Test {
 protected:
  // Whether the field of the message is wiped when the call returns, whatever comes of it: there is
  // no peer.
  template <class Request, class Reply>
  void expect_wiped(grpc::Status (KeyCalls::*call)(const service::KeyCall&, const Request&, Reply&)
                        const,
                    const Request& request, const std::string& (Request::*field)() const) {
    const std::size_t bytes = (request.*field)().size();
    Reply reply;
    EXPECT_EQ((KeyCalls(peers_).*call)({}, request, reply).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ((request.*field)(), std::string(bytes, '\0'));
  }

  const std::vector<std::unique_ptr<service::Peer>> peers_{};
};

// A message is freed as it is.
TEST_F(KeyCallsTest, SecretsInMessagesAreWiped) {
  const std::string secret(300, 's');
  v1::EncryptRequest encrypt;
  encrypt.set_plaintext(secret);
  expect_wiped(&KeyCalls::encrypt, encrypt, &v1::EncryptRequest::plaintext);
  v1::DecryptRequest decrypt;
  decrypt.set_ciphertext(secret);
  expect_wiped(&KeyCalls::decrypt, decrypt, &v1::DecryptRequest::ciphertext);
  v1::SignRequest sign;
  sign.set_message(secret);
  expect_wiped(&KeyCalls::sign, sign, &v1::SignRequest::message);
  v1::VerifyRequest verify;
  verify.set_message(secret);
  expect_wiped(&KeyCalls::verify, verify, &v1::VerifyRequest::message);
  v1::ImportKeyRequest import;
  import.set_bytes(secret);
  expect_wiped(&KeyCalls::import, import, &v1::ImportKeyRequest::bytes);
  v1::RestoreKeyRequest restore;
  restore.set_backup(secret);
  expect_wiped(&KeyCalls::restore, restore, &v1::RestoreKeyRequest::backup);
}

// Clients decide by the code and the class what to do next.
TEST_F(KeyCallsTest, FailuresHaveTheirCodeAndClass) {
  using custody::KeyError;
  using custody::KeyProblem;
  using enum grpc::StatusCode;
  using service::KeyFailed;
  using service::KeyFailure;
  struct Case {
    std::function<void()> fail;
    grpc::StatusCode code;
    v1::ErrorClass error_class;
  };
  const auto thrown = [](const auto& error) { return [=] { throw error; }; };
  const auto failed = [&](KeyFailure why) { return thrown(KeyFailed(why, "why")); };
  const auto problem = [&](KeyProblem of) { return thrown(KeyError(of, "why")); };
  for (const auto& [fail, code, error_class] :
       std::vector<Case>{{failed(KeyFailure::Refused), PERMISSION_DENIED, v1::DISAGREEMENT},
                         {failed(KeyFailure::Full), RESOURCE_EXHAUSTED, v1::STORE},
                         {failed(KeyFailure::Unavailable), UNAVAILABLE, v1::NETWORK},
                         {failed(KeyFailure::TimedOut), DEADLINE_EXCEEDED, v1::NETWORK},
                         {failed(KeyFailure::Cheated), ABORTED, v1::PEER_CHEATED},
                         {failed(KeyFailure::NotSigned), FAILED_PRECONDITION, v1::DISAGREEMENT},
                         {problem(KeyProblem::Unknown), NOT_FOUND, v1::USAGE},
                         {problem(KeyProblem::Use), INVALID_ARGUMENT, v1::USAGE},
                         {problem(KeyProblem::Exists), ALREADY_EXISTS, v1::USAGE},
                         {problem(KeyProblem::State), FAILED_PRECONDITION, v1::STORE},
                         {thrown(UsageError("why")), INVALID_ARGUMENT, v1::USAGE},
                         {thrown(DiskFull("why")), RESOURCE_EXHAUSTED, v1::STORE},
                         {thrown(OutOfMaterial("why")), UNAVAILABLE, v1::STORE},
                         {thrown(StoreError("why")), FAILED_PRECONDITION, v1::STORE},
                         {thrown(PeerCheated("why")), ABORTED, v1::PEER_CHEATED},
                         {thrown(Disagreement("why")), FAILED_PRECONDITION, v1::DISAGREEMENT},
                         {thrown(NetworkError("why")), UNAVAILABLE, v1::NETWORK},
                         {thrown(std::runtime_error("why")), INTERNAL, v1::INTERNAL}}) {
    grpc::Status status;
    try {
      fail();
    } catch (...) {
      status = service::status_of_failure();
    }
    EXPECT_EQ(status.error_code(), code);
    const auto error = service::error_in(status);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->error_class(), error_class);
    EXPECT_EQ(error->message(), status.error_message());
    EXPECT_NE(status.error_message().find("why"), std::string::npos);
  }
}

// Of another server, or of a later version.
TEST_F(KeyCallsTest, DetailsThatAreNotUnderstoodAreNone) {
  const auto with = [](const std::string& details) {
    return service::error_in({grpc::StatusCode::ABORTED, "why", details});
  };
  EXPECT_EQ(with("").has_value(), false);
  EXPECT_EQ(with("\xff").has_value(), false);
  v1::FailedCall failed;
  v1::FailedCall::Detail& detail = *failed.add_details();
  detail.set_type_url("type.googleapis.com/another.Error");
  EXPECT_FALSE(with(failed.SerializeAsString()).has_value());
  detail.set_type_url("type.googleapis.com/tinyot.v1.Error");
  EXPECT_TRUE(with(failed.SerializeAsString()).has_value());
  detail.set_value("\xff");
  EXPECT_FALSE(with(failed.SerializeAsString()).has_value());
}

// What is no number of a request is refused before any peer is looked for.
TEST_F(KeyCallsTest, MalformedNamesAreRefused) {
  const KeyCalls calls(peers_);
  v1::ApprovalRequest approval;
  v1::ApprovalReply reply;
  for (const std::string& wrong : {std::string(), std::string(31, 'a'), std::string(32, 'x')}) {
    approval.set_request(wrong);
    for (const auto call : {&KeyCalls::approve, &KeyCalls::deny})
      EXPECT_NE((calls.*call)({}, approval, reply).error_message().find("32 hex digits"),
                std::string::npos)
          << wrong;
  }
  approval.set_request(std::string(32, 'a'));
  EXPECT_NE(calls.approve({}, approval, reply).error_message().find("custody { } with no peer"),
            std::string::npos);
}

}  // namespace
}  // namespace tinyot::test
