// What the calls about keys do with their messages.
#include "service/key_calls.h"

#include <gtest/gtest.h>

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

  const std::vector<std::unique_ptr<service::Peer>> peers_;
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

}  // namespace
}  // namespace tinyot::test
