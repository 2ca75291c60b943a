#include "tests/cli/fake_keys.h"

#include <chrono>
#include <stdexcept>

namespace tinyot::test {
FakeKeys::FakeKeys(const std::string& address) {
  key.set_id("000102030405060708090a0b0c0d0e0f");
  key.set_peer("bank");
  key.set_label("payments/card");
  key.set_version(2);
  key.set_key_class("aead");
  key.set_algorithm("aes256");
  key.set_nonces("joint");
  key.set_origin("generated");
  key.set_state("active");
  key.set_fingerprint(std::string(64, 'f'));
  key.add_epochs("1-" + std::string(32, 'e'));
  key.set_use_bound(1024);
  key.set_peer_state("active");
  encrypted.set_key(key.id());
  encrypted.set_nonce(std::string(12, 'n'));
  encrypted.set_tag(std::string(16, 't'));
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  if (!server_) throw std::runtime_error("the fake daemon cannot listen at " + address);
}

FakeKeys::~FakeKeys() {
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  server_->Wait();
}

template <class Request, class Reply>
grpc::Status FakeKeys::answered(const std::string& call, const Request& request, const Reply& with,
                                Reply* reply) {
  calls.push_back(call + " " + request.ShortDebugString());
  *reply = with;
  return answer;
}

grpc::Status FakeKeys::Encrypt(Context, const v1::EncryptRequest* request,
                               v1::EncryptReply* reply) {
  encrypt_request = *request;
  return answered("Encrypt", *request, encrypted, reply);
}

grpc::Status FakeKeys::Decrypt(Context, const v1::DecryptRequest* request,
                               v1::DecryptReply* reply) {
  decrypt_request = *request;
  return answered("Decrypt", *request, decrypted, reply);
}

grpc::Status FakeKeys::Sign(Context, const v1::SignRequest* request, v1::SignReply* reply) {
  sign_request = *request;
  return answered("Sign", *request, signed_reply, reply);
}

grpc::Status FakeKeys::Verify(Context, const v1::VerifyRequest* request, v1::VerifyReply* reply) {
  verify_request = *request;
  return answered("Verify", *request, verified, reply);
}

grpc::Status FakeKeys::List(Context, const v1::ListKeysRequest* request, v1::ListKeysReply* reply) {
  return answered("List", *request, list, reply);
}

grpc::Status FakeKeys::Show(Context, Name name, v1::Key* reply) {
  return answered("Show", *name, key, reply);
}

grpc::Status FakeKeys::Create(Context, const v1::CreateKeyRequest* request, v1::Key* reply) {
  create_request = *request;
  return answered("Create", *request, key, reply);
}

grpc::Status FakeKeys::Import(Context, const v1::ImportKeyRequest* request, v1::Key* reply) {
  import_request = *request;
  return answered("Import", *request, key, reply);
}

grpc::Status FakeKeys::Derive(Context, const v1::DeriveKeyRequest* request, v1::Key* reply) {
  derive_request = *request;
  return answered("Derive", *request, key, reply);
}

grpc::Status FakeKeys::Rotate(Context, Name name, v1::Key* reply) {
  return answered("Rotate", *name, key, reply);
}

grpc::Status FakeKeys::Refresh(Context, Name name, v1::Key* reply) {
  return answered("Refresh", *name, key, reply);
}

grpc::Status FakeKeys::Certificate(Context, Name name, v1::CertificateReply* reply) {
  return answered("Certificate", *name, certificate, reply);
}

grpc::Status FakeKeys::Rebind(Context, Name name, v1::RebindReply* reply) {
  return answered("Rebind", *name, rebound, reply);
}

grpc::Status FakeKeys::Suspend(Context, Name name, v1::Key* reply) {
  return answered("Suspend", *name, key, reply);
}

grpc::Status FakeKeys::Resume(Context, Name name, v1::Key* reply) {
  return answered("Resume", *name, key, reply);
}

grpc::Status FakeKeys::ResumeEpoch(Context, const v1::ResumeEpochRequest* request, v1::Key* reply) {
  return answered("ResumeEpoch", *request, key, reply);
}

grpc::Status FakeKeys::Deactivate(Context, Name name, v1::Key* reply) {
  return answered("Deactivate", *name, key, reply);
}

grpc::Status FakeKeys::Destroy(Context, Name name, v1::DestroyReply* reply) {
  return answered("Destroy", *name, destroyed, reply);
}

grpc::Status FakeKeys::Restore(Context, const v1::RestoreKeyRequest* request, v1::Key* reply) {
  restore_request = *request;
  return answered("Restore", *request, key, reply);
}

grpc::Status FakeKeys::Backups(Context, Name name, v1::BackupsReply* reply) {
  return answered("Backups", *name, backups, reply);
}

grpc::Status FakeKeys::ResumePeer(Context, const v1::ResumePeerRequest* request,
                                  v1::ResumePeerReply* reply) {
  return answered("ResumePeer", *request, v1::ResumePeerReply(), reply);
}

grpc::Status FakeKeys::Approvals(Context, const v1::ApprovalsRequest* request,
                                 v1::ApprovalsReply* reply) {
  return answered("Approvals", *request, approvals, reply);
}

grpc::Status FakeKeys::Approve(Context, const v1::ApprovalRequest* request,
                               v1::ApprovalReply* reply) {
  return answered("Approve", *request, v1::ApprovalReply(), reply);
}

grpc::Status FakeKeys::Deny(Context, const v1::ApprovalRequest* request, v1::ApprovalReply* reply) {
  return answered("Deny", *request, v1::ApprovalReply(), reply);
}

}  // namespace tinyot::test
