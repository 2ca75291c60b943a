// What the calls about keys do with their messages.
#include "service/keys_api.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "tests/support/layers.h"
#include "tinyot/v1/keys.grpc.pb.h"

namespace tinyot::test {
namespace {

using Service = v1::Keys::Service;

class KeysApiTest : public ::testing::Test {
 protected:
  // Whether the field of the message is wiped when the call returns, whatever comes of it: there is
  // no peer.
  template <class Request, class Reply>
  void expect_wiped(grpc::Status (Service::*call)(grpc::ServerContext*, const Request*, Reply*),
                    Request request, const std::string& (Request::*field)() const) {
    const auto service = service::make_keys_service(peers_, {});
    auto* const keys = dynamic_cast<Service*>(service.get());
    ASSERT_NE(keys, nullptr);
    const std::size_t bytes = (request.*field)().size();
    grpc::ServerContext context;
    Reply reply;
    EXPECT_EQ((keys->*call)(&context, &request, &reply).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ((request.*field)(), std::string(bytes, '\0'));
  }

  const std::vector<std::unique_ptr<service::Peer>> peers_;
};

// gRPC frees a message as it is.
TEST_F(KeysApiTest, SecretsInMessagesAreWiped) {
  const std::string secret(300, 's');
  v1::EncryptRequest encrypt;
  encrypt.set_plaintext(secret);
  expect_wiped(&Service::Encrypt, encrypt, &v1::EncryptRequest::plaintext);
  v1::DecryptRequest decrypt;
  decrypt.set_ciphertext(secret);
  expect_wiped(&Service::Decrypt, decrypt, &v1::DecryptRequest::ciphertext);
  v1::SignRequest sign;
  sign.set_message(secret);
  expect_wiped(&Service::Sign, sign, &v1::SignRequest::message);
  v1::VerifyRequest verify;
  verify.set_message(secret);
  expect_wiped(&Service::Verify, verify, &v1::VerifyRequest::message);
  v1::ImportKeyRequest import;
  import.set_bytes(secret);
  expect_wiped(&Service::Import, import, &v1::ImportKeyRequest::bytes);
  v1::RestoreKeyRequest restore;
  restore.set_backup(secret);
  expect_wiped(&Service::Restore, restore, &v1::RestoreKeyRequest::backup);
}

}  // namespace
}  // namespace tinyot::test
