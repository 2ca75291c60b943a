#include "service/key_calls.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>

#include "base/error.h"
#include "base/hex.h"
#include "crypto/prg.h"
#include "service/failed_call.h"
#include "service/message_field.h"

namespace tinyot::service {
namespace {

using custody::KeyProblem;
using grpc::StatusCode;

grpc::Status status_of(const KeyFailed& error) {
  switch (error.why()) {
    case KeyFailure::Refused:
      return failed_call(StatusCode::PERMISSION_DENIED, ErrorClass::Disagreement, error.what());
    case KeyFailure::Full:
      return failed_call(StatusCode::RESOURCE_EXHAUSTED, ErrorClass::Store, error.what());
    case KeyFailure::Unavailable:
      return failed_call(StatusCode::UNAVAILABLE, ErrorClass::Network, error.what());
    case KeyFailure::TimedOut:
      return failed_call(StatusCode::DEADLINE_EXCEEDED, ErrorClass::Network, error.what());
    case KeyFailure::Cheated:
      return failed_call(StatusCode::ABORTED, ErrorClass::PeerCheated, error.what());
    case KeyFailure::NotSigned:
      return failed_call(StatusCode::FAILED_PRECONDITION, ErrorClass::Disagreement, error.what());
  }
  return failed_call(StatusCode::INTERNAL, ErrorClass::Other, error.what());
}

grpc::Status status_of(const custody::KeyError& error) {
  switch (error.problem()) {
    case KeyProblem::Unknown:
      return failed_call(StatusCode::NOT_FOUND, ErrorClass::Usage, error.what());
    case KeyProblem::Use:
      return failed_call(StatusCode::INVALID_ARGUMENT, ErrorClass::Usage, error.what());
    case KeyProblem::Exists:
      return failed_call(StatusCode::ALREADY_EXISTS, ErrorClass::Usage, error.what());
    default:
      return failed_call(StatusCode::FAILED_PRECONDITION, ErrorClass::Store, error.what());
  }
}

// Turns errors into statuses.
template <class Work>
grpc::Status answered(const Work& work) {
  try {
    work();
    return grpc::Status::OK;
  } catch (const KeyFailed& error) {
    return status_of(error);
  } catch (const custody::KeyError& error) {
    return status_of(error);
  } catch (const UsageError& error) {
    return failed_call(StatusCode::INVALID_ARGUMENT, ErrorClass::Usage, error.what());
  } catch (const DiskFull& error) {
    return failed_call(StatusCode::RESOURCE_EXHAUSTED, ErrorClass::Store, error.what());
  } catch (const OutOfMaterial& error) {
    return failed_call(StatusCode::UNAVAILABLE, ErrorClass::Store, error.what());
  } catch (const StoreError& error) {
    return failed_call(StatusCode::FAILED_PRECONDITION, ErrorClass::Store, error.what());
  } catch (const PeerCheated& error) {
    return failed_call(StatusCode::ABORTED, ErrorClass::PeerCheated, error.what());
  } catch (const Disagreement& error) {
    return failed_call(StatusCode::FAILED_PRECONDITION, ErrorClass::Disagreement, error.what());
  } catch (const Error& error) {
    return failed_call(StatusCode::UNAVAILABLE, error.error_class(), error.what());
  } catch (const std::exception& error) {
    return failed_call(StatusCode::INTERNAL, ErrorClass::Other, error.what());
  }
}

// A secret field is taken first of all (take_secret), whatever comes of the call.
template <class Bytes>
void put(const Bytes& bytes, std::string* to) {
  to->assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
template <std::size_t Size>
std::array<std::byte, Size> sized(const std::string& field, const char* name) {
  std::array<std::byte, Size> bytes{};
  if (field.size() != Size)
    throw UsageError(std::string(name) + " has " + std::to_string(Size) + " bytes, not " +
                     std::to_string(field.size()));
  std::ranges::copy(std::as_bytes(std::span(field)), bytes.begin());
  return bytes;
}
std::uint32_t length_of(const std::string& field) {
  constexpr std::size_t kMax = 1 << 24;  // custody says how much a use may have
  return static_cast<std::uint32_t>(std::min(field.size(), kMax));
}

template <class Enum>
Enum parse_enum(const std::string& text, std::initializer_list<Enum> values, Enum default_value,
                const char* what) {
  if (text.empty()) return default_value;
  std::string known;
  for (const Enum value : values) {
    if (custody::name_of(value) == text) return value;
    known += (known.empty() ? "" : ", ") + custody::name_of(value);
  }
  throw UsageError(std::string(what) + " is one of " + known + ", not '" + text + "'");
}

custody::KeyAttributes attributes_from(const v1::CreateKeyRequest& request,
                                       custody::KeyOrigin origin) {
  using circuit::KeyAlgorithm;
  using custody::KeyClass;
  using custody::NonceMode;
  custody::KeyAttributes attributes;
  attributes.label = request.label();
  attributes.key_class =
      parse_enum(request.key_class(), {KeyClass::Aead, KeyClass::Mac, KeyClass::Kdf},
                 KeyClass::Aead, "the class of a key");
  attributes.algorithm = parse_enum(
      request.algorithm(), {KeyAlgorithm::Aes128, KeyAlgorithm::Aes256, KeyAlgorithm::HmacSha256},
      KeyAlgorithm::Aes256, "the algorithm of a key");
  attributes.nonces = parse_enum(request.nonces(), {NonceMode::Joint, NonceMode::Caller},
                                 NonceMode::Joint, "nonces");
  attributes.origin = origin;
  attributes.cka_id = request.cka_id();
  return attributes;
}

std::int64_t unix_ms_of(Keys::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

void describe(const Keys::View& view, const std::string& peer, v1::Key& to) {
  const custody::KeyRecord& record = view.record;
  const custody::KeyAttributes& attributes = record.attributes;
  to.set_id(text_of(attributes.id));
  to.set_peer(peer);
  to.set_label(attributes.label);
  to.set_version(attributes.version);
  to.set_key_class(name_of(attributes.key_class));
  to.set_algorithm(custody::name_of(attributes.algorithm));
  to.set_nonces(name_of(attributes.nonces));
  to.set_origin(name_of(attributes.origin));
  to.set_cka_id(attributes.cka_id);
  if (attributes.parent) to.set_parent(text_of(*attributes.parent));
  to.set_state(name_of(record.state));
  to.set_fingerprint(hex_of(crypto::bytes_of(custody::fingerprint_of(attributes, record.check))));
  for (const custody::HeldEpoch& held : record.held) to.add_epochs(text_of(held.epoch));
  to.set_use_bound(record.use_bound);
  if (view.peers) to.set_peer_state(name_of(*view.peers));
  to.set_needs_rebind(!custody::is_bound(record));
  to.set_needs_refresh(custody::needs_refresh(record));
}

void describe(const Keys::Waiting& waiting, const std::string& peer, v1::Approval& to) {
  to.set_request(hex_of(waiting.number));
  to.set_peer(peer);
  to.set_is_own(waiting.is_own);
  to.set_client(waiting.client);
  to.set_operation(name_of(waiting.terms.operation));
  to.set_key(text_of(waiting.terms.key));
  to.set_label(waiting.label);
  to.set_bytes(waiting.terms.bytes);
  to.set_aad_bytes(waiting.terms.aad_bytes);
  if (waiting.terms.shown_aad) put(*waiting.terms.shown_aad, to.mutable_shown_aad());
  to.set_expires_unix_ms(unix_ms_of(waiting.expires));
  to.set_details(waiting.details);
}

void describe(const KeyQuorum::Waiting& waiting, const std::string& peer, v1::Approval& to) {
  to.set_request(hex_of(waiting.id));
  to.set_peer(peer);
  to.set_is_own(true);
  to.set_client(text_of(waiting.officers.front()));
  to.set_operation(waiting.step.operation);
  if (waiting.step.key) to.set_key(text_of(*waiting.step.key));
  to.set_label(waiting.step.label);
  to.set_bytes(waiting.step.bytes);
  to.set_details(waiting.step.details);
  for (const Caller& officer : waiting.officers) to.add_officers(text_of(officer));
  to.set_quorum(waiting.quorum);
  to.set_expires_unix_ms(unix_ms_of(waiting.expires));
}

KeyTerms use_terms(const KeyCall& call, Keys& keys, config::KeyOperation operation,
                   const std::string& key, const std::string& payload) {
  KeyTerms terms;
  terms.operation = operation;
  terms.key = keys.named(key, call.is_officer ? nullptr : &call.caller).attributes.id;
  terms.bytes = length_of(payload);
  return terms;
}

template <class Request>
void add_associated_data(const Request& request, KeyTerms& terms, KeyPayload& payload) {
  terms.aad_bytes = length_of(request.associated_data());
  if (request.shown())
    terms.shown_aad = bytes_of_field(request.associated_data());
  else
    payload.use.aad = bytes_of_field(request.associated_data());
}

KeyResult ask(const KeyCall& call, Keys& keys, KeyTerms terms, KeyPayload payload) {
  return keys.ask(call, std::move(terms), std::move(payload));
}

std::uint32_t newest_version(Keys& keys, const std::string& label) {
  std::uint32_t version = 0;
  for (const Keys::View& view : keys.list(nullptr, label))
    version = std::max(version, view.record.attributes.version);
  return version;
}

}  // namespace

grpc::Status status_of_failure() {
  return answered([] { throw; });
}

// An empty name is that of the only peer. Fails: UsageError.
Peer& KeyCalls::peer_named(const std::string& name) const {
  Peer* found = nullptr;
  for (const auto& peer : peers_) {
    if (peer->keys() == nullptr || (!name.empty() && peer->name() != name)) continue;
    if (found != nullptr) throw UsageError("there is custody with several peers: name one");
    found = peer.get();
  }
  if (found == nullptr)
    throw UsageError(name.empty() ? "the daemon's configuration has custody { } with no peer"
                                  : "the daemon's configuration has no peer '" + name +
                                        "' with custody { }");
  return *found;
}
Keys& KeyCalls::keys_of(const std::string& peer) const { return *peer_named(peer).keys(); }

void KeyCalls::make(const KeyCall& call, const v1::CreateKeyRequest& request,
                    config::KeyOperation operation, custody::KeyAttributes attributes,
                    std::vector<std::byte> info, KeyPayload payload, v1::Key& reply) const {
  Keys& keys = keys_of(request.peer());
  KeyTerms terms;
  terms.operation = operation;
  terms.making =
      request.request().empty() ? random_request() : sized<16>(request.request(), "request");
  // Repeated with the same request it is the same key.
  attributes.id = operation == config::DERIVE ? custody::Custodian::derived_id(attributes, info)
                                              : made_id(terms.making);
  terms.key = attributes.id;
  terms.attributes = std::move(attributes);
  terms.context = std::move(info);
  const custody::KeyId key = terms.key;
  (void)ask(call, keys, std::move(terms), std::move(payload));
  describe(keys.view(key), peer_named(request.peer()).name(), reply);
}

// The key is there, whatever comes of its certificate.
void KeyCalls::add_certificate(const KeyCall& call, v1::Key& reply) const {
  try {
    put(keys_of(reply.peer()).certificate(custody::key_id_from(reply.id()).value(), call.is_gone),
        reply.mutable_certificate());
  } catch (const std::exception& error) {
    reply.set_certificate_problem(error.what());
  }
}

template <class Step>
grpc::Status KeyCalls::alone(const v1::KeyName& request, v1::Key& reply, const Step& step) const {
  return answered([&] {
    Keys& keys = keys_of(request.peer());
    const custody::KeyId id = keys.named(request.key()).attributes.id;
    describe(step(keys, id), peer_named(request.peer()).name(), reply);
  });
}

grpc::Status KeyCalls::decided(const KeyCall& call, const v1::ApprovalRequest& request,
                               bool is_approved) const {
  return answered([&] {
    custody::RequestId id{};
    if (!parse_hex(request.request(), id))
      throw UsageError("a request has 32 hex digits, as `key approvals` prints them");
    keys_of(request.peer()).decide(call.caller, id, is_approved);
  });
}

grpc::Status KeyCalls::encrypt(const KeyCall& call, const v1::EncryptRequest& request,
                               v1::EncryptReply& reply) const {
  return answered([&] {
    KeyPayload payload;
    payload.use.text = take_secret(request.plaintext());
    Keys& keys = keys_of(request.peer());
    KeyTerms terms = use_terms(call, keys, config::ENCRYPT, request.key(), request.plaintext());
    add_associated_data(request, terms, payload);
    if (!request.nonce().empty()) terms.nonce = sized<12>(request.nonce(), "nonce");
    const custody::KeyId key = terms.key;
    const KeyResult result = ask(call, keys, std::move(terms), std::move(payload));
    reply.set_key(text_of(key));
    put(result.use.nonce, reply.mutable_nonce());
    put(result.use.text, reply.mutable_ciphertext());
    put(result.use.tag, reply.mutable_tag());
  });
}

grpc::Status KeyCalls::decrypt(const KeyCall& call, const v1::DecryptRequest& request,
                               v1::DecryptReply& reply) const {
  return answered([&] {
    KeyPayload payload;
    payload.use.text = take_secret(request.ciphertext());
    Keys& keys = keys_of(request.peer());
    KeyTerms terms = use_terms(call, keys, config::DECRYPT, request.key(), request.ciphertext());
    add_associated_data(request, terms, payload);
    payload.use.nonce = sized<12>(request.nonce(), "nonce");
    payload.use.tag = bytes_of_field(request.tag());
    const KeyResult result = ask(call, keys, std::move(terms), std::move(payload));
    reply.set_is_valid(result.use.is_valid);
    put(result.use.text, reply.mutable_plaintext());
  });
}

grpc::Status KeyCalls::sign(const KeyCall& call, const v1::SignRequest& request,
                            v1::SignReply& reply) const {
  return answered([&] {
    KeyPayload payload;
    payload.use.text = take_secret(request.message());
    Keys& keys = keys_of(request.peer());
    KeyTerms terms = use_terms(call, keys, config::SIGN, request.key(), request.message());
    reply.set_key(text_of(terms.key));
    put(ask(call, keys, std::move(terms), std::move(payload)).use.tag, reply.mutable_tag());
  });
}

grpc::Status KeyCalls::verify(const KeyCall& call, const v1::VerifyRequest& request,
                              v1::VerifyReply& reply) const {
  return answered([&] {
    KeyPayload payload;
    payload.use.text = take_secret(request.message());
    Keys& keys = keys_of(request.peer());
    KeyTerms terms = use_terms(call, keys, config::VERIFY, request.key(), request.message());
    payload.use.tag = bytes_of_field(request.tag());
    reply.set_is_valid(ask(call, keys, std::move(terms), std::move(payload)).use.is_valid);
  });
}

grpc::Status KeyCalls::list(const KeyCall& call, const v1::ListKeysRequest& request,
                            v1::ListKeysReply& reply) const {
  return answered([&] {
    if (!request.peer().empty()) (void)keys_of(request.peer());
    for (const auto& peer : peers_) {
      if (peer->keys() == nullptr || (!request.peer().empty() && peer->name() != request.peer()))
        continue;
      reply.add_peers(peer->name());
      for (const Keys::View& view : peer->keys()->list(call.is_officer ? nullptr : &call.caller))
        if (request.all() || view.record.state != custody::KeyState::Destroyed)
          describe(view, peer->name(), *reply.add_keys());
    }
  });
}

grpc::Status KeyCalls::show(const KeyCall& call, const v1::KeyName& request, v1::Key& reply) const {
  return answered([&] {
    Keys& keys = keys_of(request.peer());
    const custody::KeyRecord record =
        keys.named(request.key(), call.is_officer ? nullptr : &call.caller);
    describe(keys.view(record.attributes.id), peer_named(request.peer()).name(), reply);
  });
}

grpc::Status KeyCalls::create(const KeyCall& call, const v1::CreateKeyRequest& request,
                              v1::Key& reply) const {
  return answered([&] {
    make(call, request, config::CREATE, attributes_from(request, custody::KeyOrigin::Generated), {},
         {}, reply);
    add_certificate(call, reply);
  });
}

grpc::Status KeyCalls::import(const KeyCall& call, const v1::ImportKeyRequest& request,
                              v1::Key& reply) const {
  return answered([&] {
    KeyPayload payload;
    payload.imported = take_secret(request.bytes());
    make(call, request.key(), config::IMPORT,
         attributes_from(request.key(), custody::KeyOrigin::Imported), {}, std::move(payload),
         reply);
    add_certificate(call, reply);
  });
}

grpc::Status KeyCalls::derive(const KeyCall& call, const v1::DeriveKeyRequest& request,
                              v1::Key& reply) const {
  return answered([&] {
    Keys& keys = keys_of(request.key().peer());
    custody::KeyAttributes attributes = attributes_from(request.key(), custody::KeyOrigin::Derived);
    attributes.parent = keys.named(request.parent()).attributes.id;
    make(call, request.key(), config::DERIVE, std::move(attributes),
         bytes_of_field(request.context()), {}, reply);
    add_certificate(call, reply);
  });
}

grpc::Status KeyCalls::rotate(const KeyCall& call, const v1::KeyName& request,
                              v1::Key& reply) const {
  return answered([&] {
    Keys& keys = keys_of(request.peer());
    const custody::KeyRecord old = keys.named(request.key());
    if (old.attributes.origin == custody::KeyOrigin::Derived)
      throw UsageError("a derived key is rotated by deriving another one");
    v1::CreateKeyRequest next;
    next.set_peer(request.peer());
    custody::KeyAttributes attributes = old.attributes;
    attributes.origin = custody::KeyOrigin::Generated;
    attributes.version = newest_version(keys, old.attributes.label) + 1;
    make(call, next, config::CREATE, std::move(attributes), {}, {}, reply);
    for (const Keys::View& view : keys.list(nullptr, old.attributes.label)) {
      const custody::KeyRecord& record = view.record;
      if (record.state == custody::KeyState::Active && record.attributes.version < reply.version())
        keys.supersede(call.caller, record.attributes.id);
    }
    add_certificate(call, reply);
  });
}

grpc::Status KeyCalls::refresh(const KeyCall& call, const v1::KeyName& request,
                               v1::Key& reply) const {
  return answered([&] {
    Keys& keys = keys_of(request.peer());
    KeyTerms terms;
    terms.operation = config::REFRESH;
    terms.key = keys.named(request.key()).attributes.id;
    const custody::KeyId key = terms.key;
    (void)ask(call, keys, std::move(terms), {});
    describe(keys.view(key), peer_named(request.peer()).name(), reply);
  });
}

grpc::Status KeyCalls::certificate(const KeyCall& call, const v1::KeyName& request,
                                   v1::CertificateReply& reply) const {
  return answered([&] {
    Keys& keys = keys_of(request.peer());
    put(keys.certificate(keys.named(request.key()).attributes.id, call.is_gone),
        reply.mutable_certificate());
  });
}

grpc::Status KeyCalls::suspend(const KeyCall& call, const v1::KeyName& request,
                               v1::Key& reply) const {
  return alone(request, reply,
               [&](Keys& keys, const custody::KeyId& id) { return keys.suspend(call.caller, id); });
}
grpc::Status KeyCalls::resume(const KeyCall& call, const v1::KeyName& request,
                              v1::Key& reply) const {
  return alone(request, reply,
               [&](Keys& keys, const custody::KeyId& id) { return keys.resume(call, id); });
}
grpc::Status KeyCalls::resume_epoch(const KeyCall& call, const v1::ResumeEpochRequest& request,
                                    v1::Key& reply) const {
  return answered([&] {
    Keys& keys = keys_of(request.peer());
    const auto epoch = custody::epoch_from(request.epoch());
    if (!epoch)
      throw UsageError("an epoch is a number, '-' and 32 hex digits, as `key show` prints");
    const custody::KeyId id = keys.named(request.key()).attributes.id;
    describe(keys.resume(call, id, epoch), peer_named(request.peer()).name(), reply);
  });
}
grpc::Status KeyCalls::deactivate(const KeyCall& call, const v1::KeyName& request,
                                  v1::Key& reply) const {
  return alone(request, reply,
               [&](Keys& keys, const custody::KeyId& id) { return keys.deactivate(call, id); });
}

grpc::Status KeyCalls::destroy(const KeyCall& call, const v1::KeyName& request,
                               v1::DestroyReply& reply) const {
  return answered([&] {
    Keys& keys = keys_of(request.peer());
    const custody::KeyId id = keys.named(request.key()).attributes.id;
    describe(keys.destroy(call, id), peer_named(request.peer()).name(), *reply.mutable_key());
    for (const auto& file : keys.backups_of(id)) reply.add_backups(file.string());
  });
}

grpc::Status KeyCalls::restore(const KeyCall& call, const v1::RestoreKeyRequest& request,
                               v1::Key& reply) const {
  return answered([&] {
    const SecretVector<std::byte> content = take_secret(request.backup());
    Keys& keys = keys_of(request.peer());
    std::optional<crypto::Digest> fingerprint;
    if (!request.fingerprint().empty() &&
        !parse_hex(request.fingerprint(), crypto::writable_bytes_of(fingerprint.emplace())))
      throw UsageError("a fingerprint has 64 hex digits, as `key certificate` prints it");
    describe(keys.restore(call, custody::backup_from(content), fingerprint),
             peer_named(request.peer()).name(), reply);
  });
}

grpc::Status KeyCalls::rebind(const KeyCall& call, const v1::KeyName& request,
                              v1::RebindReply& reply) const {
  return answered([&] {
    Keys& keys = keys_of(request.peer());
    std::optional<custody::KeyId> id;
    if (!request.key().empty()) id = keys.named(request.key()).attributes.id;
    for (const Keys::View& view : keys.rebind(call, id))
      describe(view, peer_named(request.peer()).name(), *reply.add_keys());
  });
}

grpc::Status KeyCalls::backups(const KeyCall&, const v1::KeyName& request,
                               v1::BackupsReply& reply) const {
  return answered([&] {
    Keys& keys = keys_of(request.peer());
    std::optional<custody::KeyId> id;
    if (!request.key().empty()) {
      id = custody::key_id_from(request.key());
      if (!id) id = keys.named(request.key()).attributes.id;
    }
    for (const auto& file : keys.backups_of(id)) reply.add_files(file.string());
  });
}

grpc::Status KeyCalls::resume_peer(const KeyCall& call, const v1::ResumePeerRequest& request,
                                   v1::ResumePeerReply&) const {
  return answered([&] { keys_of(request.peer()).resume_peer(call); });
}

grpc::Status KeyCalls::approvals(const KeyCall&, const v1::ApprovalsRequest& request,
                                 v1::ApprovalsReply& reply) const {
  return answered([&] {
    if (!request.peer().empty()) (void)keys_of(request.peer());
    for (const auto& peer : peers_) {
      if (peer->keys() == nullptr || (!request.peer().empty() && peer->name() != request.peer()))
        continue;
      for (const Keys::Waiting& waiting : peer->keys()->approvals())
        describe(waiting, peer->name(), *reply.add_approvals());
      for (const KeyQuorum::Waiting& waiting : peer->keys()->operations())
        describe(waiting, peer->name(), *reply.add_approvals());
    }
  });
}

grpc::Status KeyCalls::approve(const KeyCall& call, const v1::ApprovalRequest& request,
                               v1::ApprovalReply&) const {
  return decided(call, request, true);
}
grpc::Status KeyCalls::deny(const KeyCall& call, const v1::ApprovalRequest& request,
                            v1::ApprovalReply&) const {
  return decided(call, request, false);
}

}  // namespace tinyot::service
