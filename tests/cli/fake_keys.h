// The keys of a party's daemon for tests of its clients: it answers as it is told, and keeps what
// it was sent.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "tinyot/v1/keys.grpc.pb.h"

namespace tinyot::test {

class FakeKeys final : public v1::Keys::Service {
 public:
  // Listens at "unix:PATH".
  explicit FakeKeys(const std::string& address);
  ~FakeKeys() override;

  // What the daemon answers; set before a client is started.
  grpc::Status answer;  // of all calls; their replies are below
  v1::Key key;
  v1::EncryptReply encrypted;
  v1::DecryptReply decrypted;
  v1::SignReply signed_reply;
  v1::VerifyReply verified;
  v1::ListKeysReply list;
  v1::DestroyReply destroyed;
  v1::BackupsReply backups;
  v1::ApprovalsReply approvals;
  v1::CertificateReply certificate;
  v1::RebindReply rebound;

  // What it was sent; read after a client has ended. The call and the request in the text format of
  // Protocol Buffers, as "Show key: \"a\" ".
  std::vector<std::string> calls;
  v1::EncryptRequest encrypt_request;
  v1::DecryptRequest decrypt_request;
  v1::SignRequest sign_request;
  v1::VerifyRequest verify_request;
  v1::CreateKeyRequest create_request;
  v1::ImportKeyRequest import_request;
  v1::DeriveKeyRequest derive_request;
  v1::RestoreKeyRequest restore_request;

  using Context = grpc::ServerContext*;
  using Name = const v1::KeyName*;
  grpc::Status Encrypt(Context, const v1::EncryptRequest* request,
                       v1::EncryptReply* reply) override;
  grpc::Status Decrypt(Context, const v1::DecryptRequest* request,
                       v1::DecryptReply* reply) override;
  grpc::Status Sign(Context, const v1::SignRequest* request, v1::SignReply* reply) override;
  grpc::Status Verify(Context, const v1::VerifyRequest* request, v1::VerifyReply* reply) override;
  grpc::Status List(Context, const v1::ListKeysRequest* request, v1::ListKeysReply* reply) override;
  grpc::Status Show(Context, Name name, v1::Key* reply) override;
  grpc::Status Create(Context, const v1::CreateKeyRequest* request, v1::Key* reply) override;
  grpc::Status Import(Context, const v1::ImportKeyRequest* request, v1::Key* reply) override;
  grpc::Status Derive(Context, const v1::DeriveKeyRequest* request, v1::Key* reply) override;
  grpc::Status Rotate(Context, Name name, v1::Key* reply) override;
  grpc::Status Refresh(Context, Name name, v1::Key* reply) override;
  grpc::Status Certificate(Context, Name name, v1::CertificateReply* reply) override;
  grpc::Status Rebind(Context, Name name, v1::RebindReply* reply) override;
  grpc::Status Suspend(Context, Name name, v1::Key* reply) override;
  grpc::Status Resume(Context, Name name, v1::Key* reply) override;
  grpc::Status ResumeEpoch(Context, const v1::ResumeEpochRequest* request, v1::Key* reply) override;
  grpc::Status Deactivate(Context, Name name, v1::Key* reply) override;
  grpc::Status Destroy(Context, Name name, v1::DestroyReply* reply) override;
  grpc::Status Restore(Context, const v1::RestoreKeyRequest* request, v1::Key* reply) override;
  grpc::Status Backups(Context, Name name, v1::BackupsReply* reply) override;
  grpc::Status ResumePeer(Context, const v1::ResumePeerRequest* request,
                          v1::ResumePeerReply*) override;
  grpc::Status Approvals(Context, const v1::ApprovalsRequest* request,
                         v1::ApprovalsReply* reply) override;
  grpc::Status Approve(Context, const v1::ApprovalRequest* request, v1::ApprovalReply*) override;
  grpc::Status Deny(Context, const v1::ApprovalRequest* request, v1::ApprovalReply*) override;

 private:
  template <class Request, class Reply>
  grpc::Status answered(const std::string& call, const Request& request, const Reply& with,
                        Reply* reply);

  std::unique_ptr<grpc::Server> server_;
};

}  // namespace tinyot::test
