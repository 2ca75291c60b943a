#include "service/keys_api.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "tinyot/v1/keys.grpc.pb.h"

namespace tinyot::service {
namespace {

class KeysService final : public v1::Keys::Service {
 public:
  KeysService(const KeyCalls& calls, KeyCallers callers)
      : calls_(calls), callers_(std::move(callers)) {}

  grpc::Status Encrypt(grpc::ServerContext* context, const v1::EncryptRequest* request,
                       v1::EncryptReply* reply) override {
    return calls_.encrypt(call(context), *request, *reply);
  }
  grpc::Status Decrypt(grpc::ServerContext* context, const v1::DecryptRequest* request,
                       v1::DecryptReply* reply) override {
    return calls_.decrypt(call(context), *request, *reply);
  }
  grpc::Status Sign(grpc::ServerContext* context, const v1::SignRequest* request,
                    v1::SignReply* reply) override {
    return calls_.sign(call(context), *request, *reply);
  }
  grpc::Status Verify(grpc::ServerContext* context, const v1::VerifyRequest* request,
                      v1::VerifyReply* reply) override {
    return calls_.verify(call(context), *request, *reply);
  }
  grpc::Status List(grpc::ServerContext* context, const v1::ListKeysRequest* request,
                    v1::ListKeysReply* reply) override {
    return calls_.list(call(context), *request, *reply);
  }
  grpc::Status Show(grpc::ServerContext* context, const v1::KeyName* request,
                    v1::Key* reply) override {
    return calls_.show(call(context), *request, *reply);
  }
  grpc::Status Create(grpc::ServerContext* context, const v1::CreateKeyRequest* request,
                      v1::Key* reply) override {
    return calls_.create(call(context), *request, *reply);
  }
  grpc::Status Import(grpc::ServerContext* context, const v1::ImportKeyRequest* request,
                      v1::Key* reply) override {
    return calls_.import(call(context), *request, *reply);
  }
  grpc::Status Derive(grpc::ServerContext* context, const v1::DeriveKeyRequest* request,
                      v1::Key* reply) override {
    return calls_.derive(call(context), *request, *reply);
  }
  grpc::Status Rotate(grpc::ServerContext* context, const v1::KeyName* request,
                      v1::Key* reply) override {
    return calls_.rotate(call(context), *request, *reply);
  }
  grpc::Status Refresh(grpc::ServerContext* context, const v1::KeyName* request,
                       v1::Key* reply) override {
    return calls_.refresh(call(context), *request, *reply);
  }
  grpc::Status Certificate(grpc::ServerContext* context, const v1::KeyName* request,
                           v1::CertificateReply* reply) override {
    return calls_.certificate(call(context), *request, *reply);
  }
  grpc::Status Suspend(grpc::ServerContext* context, const v1::KeyName* request,
                       v1::Key* reply) override {
    return calls_.suspend(call(context), *request, *reply);
  }
  grpc::Status Resume(grpc::ServerContext* context, const v1::KeyName* request,
                      v1::Key* reply) override {
    return calls_.resume(call(context), *request, *reply);
  }
  grpc::Status ResumeEpoch(grpc::ServerContext* context, const v1::ResumeEpochRequest* request,
                           v1::Key* reply) override {
    return calls_.resume_epoch(call(context), *request, *reply);
  }
  grpc::Status Deactivate(grpc::ServerContext* context, const v1::KeyName* request,
                          v1::Key* reply) override {
    return calls_.deactivate(call(context), *request, *reply);
  }
  grpc::Status Destroy(grpc::ServerContext* context, const v1::KeyName* request,
                       v1::DestroyReply* reply) override {
    return calls_.destroy(call(context), *request, *reply);
  }
  grpc::Status Restore(grpc::ServerContext* context, const v1::RestoreKeyRequest* request,
                       v1::Key* reply) override {
    return calls_.restore(call(context), *request, *reply);
  }
  grpc::Status Rebind(grpc::ServerContext* context, const v1::KeyName* request,
                      v1::RebindReply* reply) override {
    return calls_.rebind(call(context), *request, *reply);
  }
  grpc::Status Backups(grpc::ServerContext* context, const v1::KeyName* request,
                       v1::BackupsReply* reply) override {
    return calls_.backups(call(context), *request, *reply);
  }
  grpc::Status ResumePeer(grpc::ServerContext* context, const v1::ResumePeerRequest* request,
                          v1::ResumePeerReply* reply) override {
    return calls_.resume_peer(call(context), *request, *reply);
  }
  grpc::Status Approvals(grpc::ServerContext* context, const v1::ApprovalsRequest* request,
                         v1::ApprovalsReply* reply) override {
    return calls_.approvals(call(context), *request, *reply);
  }
  grpc::Status Approve(grpc::ServerContext* context, const v1::ApprovalRequest* request,
                       v1::ApprovalReply* reply) override {
    return calls_.approve(call(context), *request, *reply);
  }
  grpc::Status Deny(grpc::ServerContext* context, const v1::ApprovalRequest* request,
                    v1::ApprovalReply* reply) override {
    return calls_.deny(call(context), *request, *reply);
  }

 private:
  KeyCall call(const grpc::ServerContext* context) const {
    Caller caller = callers_.caller_of(*context);
    const bool is_officer = callers_.access.may_manage_keys(caller);
    const auto is_gone = [this, context, caller] {
      return context->IsCancelled() || !callers_.access.may_use_or_manage_keys(caller);
    };
    return {std::move(caller), is_officer, is_gone,
            [this](const Caller& of) { return callers_.access.may_manage_keys(of); }};
  }

  const KeyCalls& calls_;
  const KeyCallers callers_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_keys_service(const KeyCalls& calls, KeyCallers callers) {
  return std::make_unique<KeysService>(calls, std::move(callers));
}

}  // namespace tinyot::service
