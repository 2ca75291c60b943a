// The calls of tinyot.v1.Keys (tinyot/v1/keys.proto), for each interface through which they come:
// each has the status, and the details Error, that the .proto says.
#pragma once

#include <grpcpp/support/status.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "service/access.h"
#include "service/key_call.h"
#include "service/peer.h"
#include "tinyot/v1/keys.pb.h"

namespace grpc {
class ServerContext;
}  // namespace grpc

namespace tinyot::service {

// Of the exception that is being handled, with its details.
grpc::Status status_of_failure();

// Who makes a call of gRPC, and what this client may do, which may change while a call waits.
struct KeyCallers {
  std::function<Caller(const grpc::ServerContext&)> caller_of;
  Access& access;  // outlives the services
};

// Thread-safe.
class KeyCalls {
 public:
  // `peers` outlive it.
  explicit KeyCalls(const std::vector<std::unique_ptr<Peer>>& peers) : peers_(peers) {}

  grpc::Status encrypt(const KeyCall& call, const v1::EncryptRequest& request,
                       v1::EncryptReply& reply) const;
  grpc::Status decrypt(const KeyCall& call, const v1::DecryptRequest& request,
                       v1::DecryptReply& reply) const;
  grpc::Status sign(const KeyCall& call, const v1::SignRequest& request,
                    v1::SignReply& reply) const;
  grpc::Status verify(const KeyCall& call, const v1::VerifyRequest& request,
                      v1::VerifyReply& reply) const;
  grpc::Status list(const KeyCall& call, const v1::ListKeysRequest& request,
                    v1::ListKeysReply& reply) const;
  grpc::Status show(const KeyCall& call, const v1::KeyName& request, v1::Key& reply) const;
  grpc::Status create(const KeyCall& call, const v1::CreateKeyRequest& request,
                      v1::Key& reply) const;
  grpc::Status import(const KeyCall& call, const v1::ImportKeyRequest& request,
                      v1::Key& reply) const;
  grpc::Status derive(const KeyCall& call, const v1::DeriveKeyRequest& request,
                      v1::Key& reply) const;
  grpc::Status rotate(const KeyCall& call, const v1::KeyName& request, v1::Key& reply) const;
  grpc::Status refresh(const KeyCall& call, const v1::KeyName& request, v1::Key& reply) const;
  grpc::Status certificate(const KeyCall& call, const v1::KeyName& request,
                           v1::CertificateReply& reply) const;
  grpc::Status suspend(const KeyCall& call, const v1::KeyName& request, v1::Key& reply) const;
  grpc::Status resume(const KeyCall& call, const v1::KeyName& request, v1::Key& reply) const;
  grpc::Status resume_epoch(const KeyCall& call, const v1::ResumeEpochRequest& request,
                            v1::Key& reply) const;
  grpc::Status deactivate(const KeyCall& call, const v1::KeyName& request, v1::Key& reply) const;
  grpc::Status destroy(const KeyCall& call, const v1::KeyName& request,
                       v1::DestroyReply& reply) const;
  grpc::Status restore(const KeyCall& call, const v1::RestoreKeyRequest& request,
                       v1::Key& reply) const;
  grpc::Status rebind(const KeyCall& call, const v1::KeyName& request,
                      v1::RebindReply& reply) const;
  grpc::Status backups(const KeyCall& call, const v1::KeyName& request,
                       v1::BackupsReply& reply) const;
  grpc::Status resume_peer(const KeyCall& call, const v1::ResumePeerRequest& request,
                           v1::ResumePeerReply& reply) const;
  grpc::Status approvals(const KeyCall& call, const v1::ApprovalsRequest& request,
                         v1::ApprovalsReply& reply) const;
  grpc::Status approve(const KeyCall& call, const v1::ApprovalRequest& request,
                       v1::ApprovalReply& reply) const;
  grpc::Status deny(const KeyCall& call, const v1::ApprovalRequest& request,
                    v1::ApprovalReply& reply) const;

 private:
  Peer& peer_named(const std::string& name) const;
  Keys& keys_of(const std::string& peer) const;
  void make(const KeyCall& call, const v1::CreateKeyRequest& request,
            config::KeyOperation operation, custody::KeyAttributes attributes,
            std::vector<std::byte> info, KeyPayload payload, v1::Key& reply) const;
  // Of the key that `reply` describes.
  void add_certificate(const KeyCall& call, v1::Key& reply) const;
  template <class Step>
  grpc::Status alone(const v1::KeyName& request, v1::Key& reply, const Step& step) const;
  grpc::Status decided(const KeyCall& call, const v1::ApprovalRequest& request,
                       bool is_approved) const;

  const std::vector<std::unique_ptr<Peer>>& peers_;
};

}  // namespace tinyot::service
