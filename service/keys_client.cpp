#include "service/keys_client.h"

#include <algorithm>

#include "base/error.h"
#include "service/client_channel.h"
#include "service/message_field.h"
#include "tinyot/v1/keys.grpc.pb.h"

namespace tinyot::service {
namespace {

RemoteKey key_from(const v1::Key& message) {
  return {message.id(),
          message.peer(),
          message.label(),
          message.version(),
          message.key_class(),
          message.algorithm(),
          message.nonces(),
          message.origin(),
          message.parent(),
          message.state(),
          message.fingerprint(),
          {message.epochs().begin(), message.epochs().end()},
          message.use_bound(),
          message.peer_state(),
          bytes_of_field(message.certificate()),
          message.needs_rebind(),
          message.needs_refresh(),
          message.certificate_problem()};
}

v1::KeyName message_of(const KeyName& name) {
  v1::KeyName message;
  message.set_peer(name.peer);
  message.set_key(name.key);
  return message;
}

std::string text_from(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

v1::CreateKeyRequest message_of(const NewRemoteKey& key) {
  v1::CreateKeyRequest message;
  message.set_peer(key.peer);
  message.set_label(key.label);
  message.set_key_class(key.key_class);
  message.set_algorithm(key.algorithm);
  message.set_nonces(key.nonces);
  message.set_request(text_from(key.request));
  return message;
}

// A secret field of a message, wiped at the end of its scope, also if the call fails.
class SecretField {
 public:
  explicit SecretField(std::string& field) : field_(field) {}
  SecretField(std::string& field, std::span<const std::byte> bytes) : field_(field) {
    // Not moved when it grows, which would leave a copy.
    field_.reserve(bytes.size());
    field_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  ~SecretField() { wipe_text(field_); }
  SecretField(const SecretField&) = delete;
  SecretField& operator=(const SecretField&) = delete;

 private:
  std::string& field_;
};

template <std::size_t Size>
std::array<std::byte, Size> array_from(const std::string& field, const std::string& what) {
  std::array<std::byte, Size> bytes{};
  if (field.size() != Size)
    throw Error(ErrorClass::Other, "the daemon sent a " + what + " of " +
                                       std::to_string(field.size()) + " bytes, not " +
                                       std::to_string(Size));
  std::ranges::copy(std::as_bytes(std::span(field)), bytes.begin());
  return bytes;
}

}  // namespace

struct KeysConnection::State {
  State(ServerAddress address, Wait waiting) : channel(std::move(address)), wait(waiting) {}

  template <class Request, class Reply>
  using Method = grpc::Status (v1::Keys::Stub::*)(grpc::ClientContext*, const Request&, Reply*);

  // Of the daemon alone.
  template <class Request, class Reply>
  Reply ask(Method<Request, Reply> method, const Request& request) {
    Reply reply;
    channel.call(*stub, method, request, reply);
    return reply;
  }
  // With the peer, or with other officers.
  template <class Request, class Reply>
  void ask_both(Method<Request, Reply> method, const Request& request, Reply& reply) {
    channel.call(*stub, method, request, reply, wait);
  }
  template <class Request>
  RemoteKey key_of_both(Method<Request, v1::Key> method, const Request& request) {
    v1::Key reply;
    ask_both(method, request, reply);
    return key_from(reply);
  }

  ClientChannel channel;
  const Wait wait;
  std::unique_ptr<v1::Keys::Stub> stub = channel.stub<v1::Keys>();  // ends first
};

KeysConnection::KeysConnection(ServerAddress address, Wait wait)
    : state_(std::make_unique<State>(std::move(address), wait)) {}

KeysConnection::~KeysConnection() = default;

RemoteKey KeysConnection::create(const NewRemoteKey& key) {
  return state_->key_of_both(&v1::Keys::Stub::Create, message_of(key));
}

RemoteKey KeysConnection::import(const NewRemoteKey& key, std::span<const std::byte> bytes) {
  v1::ImportKeyRequest request;
  *request.mutable_key() = message_of(key);
  const SecretField secret(*request.mutable_bytes(), bytes);
  return state_->key_of_both(&v1::Keys::Stub::Import, request);
}

RemoteKey KeysConnection::derive(const NewRemoteKey& key, const std::string& parent,
                                 std::span<const std::byte> context) {
  v1::DeriveKeyRequest request;
  *request.mutable_key() = message_of(key);
  request.set_parent(parent);
  request.set_context(text_from(context));
  return state_->key_of_both(&v1::Keys::Stub::Derive, request);
}

RemoteKey KeysConnection::rotate(const KeyName& name) {
  return state_->key_of_both(&v1::Keys::Stub::Rotate, message_of(name));
}

RemoteKey KeysConnection::refresh(const KeyName& name) {
  return state_->key_of_both(&v1::Keys::Stub::Refresh, message_of(name));
}

std::vector<std::byte> KeysConnection::certificate(const KeyName& name) {
  v1::CertificateReply reply;
  state_->ask_both(&v1::Keys::Stub::Certificate, message_of(name), reply);
  return bytes_of_field(reply.certificate());
}

EncryptedText KeysConnection::encrypt(const KeyName& name, std::span<const std::byte> text,
                                      const AssociatedData& associated,
                                      const std::optional<KeyNonce>& nonce) {
  v1::EncryptRequest request;
  request.set_peer(name.peer);
  request.set_key(name.key);
  request.set_associated_data(associated.bytes);
  request.set_shown(associated.is_shown);
  if (nonce) request.set_nonce(text_from(*nonce));
  const SecretField secret(*request.mutable_plaintext(), text);
  v1::EncryptReply reply;
  state_->ask_both(&v1::Keys::Stub::Encrypt, request, reply);
  return {reply.key(), array_from<12>(reply.nonce(), "nonce"), bytes_of_field(reply.ciphertext()),
          array_from<16>(reply.tag(), "tag")};
}

std::optional<SecretVector<std::byte>> KeysConnection::decrypt(const KeyName& name,
                                                               const EncryptedText& text,
                                                               const AssociatedData& associated) {
  v1::DecryptRequest request;
  request.set_peer(name.peer);
  request.set_key(name.key);
  request.set_nonce(text_from(text.nonce));
  request.set_ciphertext(text_from(text.ciphertext));
  request.set_tag(text_from(text.tag));
  request.set_associated_data(associated.bytes);
  request.set_shown(associated.is_shown);
  v1::DecryptReply reply;
  const SecretField secret(*reply.mutable_plaintext());
  state_->ask_both(&v1::Keys::Stub::Decrypt, request, reply);
  if (!reply.is_valid()) return std::nullopt;
  const auto bytes = std::as_bytes(std::span(reply.plaintext()));
  return SecretVector<std::byte>(bytes.begin(), bytes.end());
}

std::vector<std::byte> KeysConnection::sign(const KeyName& name,
                                            std::span<const std::byte> message) {
  v1::SignRequest request;
  request.set_peer(name.peer);
  request.set_key(name.key);
  const SecretField secret(*request.mutable_message(), message);
  v1::SignReply reply;
  state_->ask_both(&v1::Keys::Stub::Sign, request, reply);
  return bytes_of_field(reply.tag());
}

bool KeysConnection::verify(const KeyName& name, std::span<const std::byte> message,
                            std::span<const std::byte> tag) {
  v1::VerifyRequest request;
  request.set_peer(name.peer);
  request.set_key(name.key);
  request.set_tag(text_from(tag));
  const SecretField secret(*request.mutable_message(), message);
  v1::VerifyReply reply;
  state_->ask_both(&v1::Keys::Stub::Verify, request, reply);
  return reply.is_valid();
}

std::vector<RemoteKey> KeysConnection::list(const std::string& peer, bool with_destroyed) {
  v1::ListKeysRequest request;
  request.set_peer(peer);
  request.set_all(with_destroyed);
  std::vector<RemoteKey> keys;
  const v1::ListKeysReply reply = state_->ask(&v1::Keys::Stub::List, request);
  for (const v1::Key& key : reply.keys()) keys.push_back(key_from(key));
  return keys;
}

RemoteKey KeysConnection::show(const KeyName& name) {
  return key_from(state_->ask(&v1::Keys::Stub::Show, message_of(name)));
}

RemoteKey KeysConnection::suspend(const KeyName& name) {
  return key_from(state_->ask(&v1::Keys::Stub::Suspend, message_of(name)));
}

RemoteKey KeysConnection::resume(const KeyName& name) {
  return state_->key_of_both(&v1::Keys::Stub::Resume, message_of(name));
}

RemoteKey KeysConnection::resume(const KeyName& name, const std::string& epoch) {
  v1::ResumeEpochRequest request;
  request.set_peer(name.peer);
  request.set_key(name.key);
  request.set_epoch(epoch);
  return state_->key_of_both(&v1::Keys::Stub::ResumeEpoch, request);
}

RemoteKey KeysConnection::deactivate(const KeyName& name) {
  return state_->key_of_both(&v1::Keys::Stub::Deactivate, message_of(name));
}

DestroyedKey KeysConnection::destroy(const KeyName& name) {
  v1::DestroyReply reply;
  state_->ask_both(&v1::Keys::Stub::Destroy, message_of(name), reply);
  return {key_from(reply.key()), {reply.backups().begin(), reply.backups().end()}};
}

RemoteKey KeysConnection::restore(const std::string& peer, std::span<const std::byte> backup,
                                  const std::string& fingerprint) {
  v1::RestoreKeyRequest request;
  request.set_peer(peer);
  request.set_fingerprint(fingerprint);
  const SecretField secret(*request.mutable_backup(), backup);
  return state_->key_of_both(&v1::Keys::Stub::Restore, request);
}

std::vector<RemoteKey> KeysConnection::rebind(const KeyName& name) {
  std::vector<RemoteKey> keys;
  v1::RebindReply reply;
  state_->ask_both(&v1::Keys::Stub::Rebind, message_of(name), reply);
  for (const v1::Key& key : reply.keys()) keys.push_back(key_from(key));
  return keys;
}

std::vector<std::string> KeysConnection::backups(const KeyName& name) {
  const v1::BackupsReply reply = state_->ask(&v1::Keys::Stub::Backups, message_of(name));
  return {reply.files().begin(), reply.files().end()};
}

void KeysConnection::resume_peer(const std::string& peer) {
  v1::ResumePeerRequest request;
  request.set_peer(peer);
  v1::ResumePeerReply reply;
  state_->ask_both(&v1::Keys::Stub::ResumePeer, request, reply);
}

std::vector<WaitingRequest> KeysConnection::approvals(const std::string& peer) {
  v1::ApprovalsRequest request;
  request.set_peer(peer);
  std::vector<WaitingRequest> waiting;
  const v1::ApprovalsReply reply = state_->ask(&v1::Keys::Stub::Approvals, request);
  for (const v1::Approval& one : reply.approvals())
    waiting.push_back({one.request(),
                       one.peer(),
                       one.is_own(),
                       one.client(),
                       one.operation(),
                       one.key(),
                       one.label(),
                       one.bytes(),
                       one.aad_bytes(),
                       one.shown_aad(),
                       one.expires_unix_ms(),
                       one.quorum(),
                       {one.officers().begin(), one.officers().end()},
                       one.details()});
  return waiting;
}

void KeysConnection::approve(const std::string& peer, const std::string& request) {
  v1::ApprovalRequest message;
  message.set_peer(peer);
  message.set_request(request);
  (void)state_->ask(&v1::Keys::Stub::Approve, message);
}

void KeysConnection::deny(const std::string& peer, const std::string& request) {
  v1::ApprovalRequest message;
  message.set_peer(peer);
  message.set_request(request);
  (void)state_->ask(&v1::Keys::Stub::Deny, message);
}

}  // namespace tinyot::service
