#include "service/kms.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "kubernetes/kms_v2.grpc.pb.h"
#include "service/event_log.h"
#include "service/foreign_text.h"
#include "service/message_field.h"

namespace tinyot::service {
namespace {

using custody::KeyState;

constexpr std::size_t kNonceBytes = std::tuple_size_v<custody::Nonce>, kTagBytes = 16;
constexpr std::size_t kCiphertextMax = 1023;  // "less than 1 kB"
constexpr std::size_t kPlaintextMax = kCiphertextMax - kNonceBytes - kTagBytes;
constexpr std::size_t kSeedBytes = 32;  // of API servers
// How long API servers wait, unless they say it; and nobody waits for longer than a request may
// take (request_timeout_s).
constexpr Keys::Clock::duration kUsualWait = std::chrono::seconds(3),
                                kWaitMax = std::chrono::hours(1);

// Before the caller's deadline, so that it gets the reason.
Keys::Clock::time_point until_of(const grpc::ServerContext& call) {
  const auto now = Keys::Clock::now(), deadline = call.deadline();
  const auto wait = deadline == Keys::Clock::time_point::max() ? kUsualWait
                    : deadline > now                           ? deadline - now
                                                               : Keys::Clock::duration::zero();
  return now + std::min(wait, kWaitMax) * 9 / 10;
}

KeyTerms terms_of(config::KeyOperation operation, const custody::KeyId& key, std::size_t bytes) {
  KeyTerms terms;
  terms.operation = operation;
  terms.key = key;
  terms.bytes = static_cast<std::uint32_t>(bytes);
  const std::string text = "tinyot kms v2" + custody::text_of(key);
  const auto shown = std::as_bytes(std::span(text));
  terms.shown_aad.emplace(shown.begin(), shown.end());
  terms.aad_bytes = static_cast<std::uint32_t>(text.size());
  return terms;
}

class KmsService final : public v2::KeyManagementService::Service {
 public:
  KmsService(std::string label, Peer& peer, DaemonMetrics& metrics, KeyCallers callers)
      : label_(std::move(label)), peer_(peer), keys_(*peer.keys()), metrics_(metrics),
        callers_(std::move(callers)) {}

  grpc::Status Status(grpc::ServerContext* call, const v2::StatusRequest*,
                      v2::StatusResponse* reply) override {
    return answered("status", {}, [&] {
      const custody::KeyId key = newest(callers_.caller_of(*call));
      std::string fault = peer_.lacking();
      fault = fault.empty() ? keys_.why_impossible(terms_of(config::ENCRYPT, key, kSeedBytes))
                            : peer_.name() + ": " + fault;
      note_health(fault);
      reply->set_version("v2");
      reply->set_healthz(fault.empty() ? "ok" : fault);
      reply->set_key_id(custody::text_of(key));
      return grpc::Status::OK;
    });
  }

  grpc::Status Encrypt(grpc::ServerContext* call, const v2::EncryptRequest* request,
                       v2::EncryptResponse* reply) override {
    return answered("encrypt", request->uid(), [&] {
      custody::UsePayload payload;
      payload.text = take_secret(request->plaintext());
      if (payload.text.size() > kPlaintextMax)
        throw UsageError("a plaintext has at most " + std::to_string(kPlaintextMax) +
                         " bytes, not " + std::to_string(payload.text.size()));
      const Caller caller = callers_.caller_of(*call);
      const custody::KeyId key = newest(caller);
      const custody::UseResult sealed =
          use(*call, caller, config::ENCRYPT, key, std::move(payload));
      const auto append = [&](const auto& part) {
        reply->mutable_ciphertext()->append(reinterpret_cast<const char*>(part.data()),
                                            part.size());
      };
      append(sealed.nonce);
      append(sealed.text);
      append(sealed.tag);
      reply->set_key_id(custody::text_of(key));
      return grpc::Status::OK;
    });
  }

  grpc::Status Decrypt(grpc::ServerContext* call, const v2::DecryptRequest* request,
                       v2::DecryptResponse* reply) override {
    return answered("decrypt", request->uid(), [&] {
      if (!request->annotations().empty()) throw UsageError("there are no annotations");
      const auto ciphertext = std::as_bytes(std::span(request->ciphertext()));
      if (ciphertext.size() < kNonceBytes + kTagBytes || ciphertext.size() > kCiphertextMax)
        throw UsageError("a ciphertext has " + std::to_string(kNonceBytes + kTagBytes) + " to " +
                         std::to_string(kCiphertextMax) + " bytes, not " +
                         std::to_string(ciphertext.size()));
      const Caller caller = callers_.caller_of(*call);
      custody::UsePayload payload;
      const auto text =
          ciphertext.subspan(kNonceBytes, ciphertext.size() - kNonceBytes - kTagBytes);
      const auto tag = ciphertext.last(kTagBytes);
      std::ranges::copy(ciphertext.first(kNonceBytes), payload.nonce.begin());
      payload.text.assign(text.begin(), text.end());
      payload.tag.assign(tag.begin(), tag.end());
      const custody::UseResult opened = use(*call, caller, config::DECRYPT,
                                            version(caller, request->key_id()), std::move(payload));
      if (!opened.is_valid)
        return grpc::Status(grpc::StatusCode::DATA_LOSS,
                            "the tag is wrong: the ciphertext is not what Encrypt has given for "
                            "this key_id");
      reply->mutable_plaintext()->assign(reinterpret_cast<const char*>(opened.text.data()),
                                         opened.text.size());
      return grpc::Status::OK;
    });
  }

 private:
  template <class Matches>
  custody::KeyId newest_that(const Caller& caller, const Matches& matches,
                             const std::string& what) const {
    std::optional<custody::KeyAttributes> newest;
    for (const Keys::View& view : keys_.list(&caller, label_)) {
      const custody::KeyAttributes& key = view.record.attributes;
      if (matches(view.record) && (!newest || newest->version < key.version)) newest = key;
    }
    if (!newest)
      throw custody::KeyError(custody::KeyProblem::Unknown,
                              "there is no " + what + " '" + label_ + "' with " + peer_.name() +
                                  " that a rule of the key policy names");
    return newest->id;
  }

  // Fails: KeyError(Unknown).
  custody::KeyId newest(const Caller& caller) const {
    return newest_that(
        caller, [](const custody::KeyRecord& record) { return record.state != KeyState::Pending; },
        "key");
  }
  // Fails: KeyError(Unknown), UsageError.
  custody::KeyId version(const Caller& caller, const std::string& key_id) const {
    const auto id = custody::key_id_from(key_id);
    if (!id) throw UsageError("a key_id has 32 hex digits");
    return newest_that(
        caller, [&](const custody::KeyRecord& record) { return record.attributes.id == *id; },
        "version " + custody::text_of(*id) + " of key");
  }

  custody::UseResult use(const grpc::ServerContext& call, const Caller& caller,
                         config::KeyOperation operation, const custody::KeyId& key,
                         custody::UsePayload payload) const {
    KeyTerms terms = terms_of(operation, key, payload.text.size());
    const KeyCall by{.caller = caller, .is_gone = [&] {
                       return call.IsCancelled() || !callers_.access.may_use_or_manage_keys(caller);
                     }};
    return std::move(keys_.ask(by, std::move(terms), {std::move(payload), {}}, until_of(call)).use);
  }

  template <class Work>
  grpc::Status answered(const char* method, const std::string& uid, const Work& work) {
    grpc::Status status;
    try {
      if (foreign_text(uid) != uid) throw UsageError("a uid has up to 400 printable characters");
      status = work();
    } catch (const std::exception&) {
      status = status_of_failure();
    }
    metrics_.kms_call(peer_.name(), method, status.ok());
    if (!status.ok()) note_failure(method, uid, status.error_message());
    return status;
  }

  void note_failure(const char* method, const std::string& uid, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (const auto suppressed = lines_.admit(LogRate::Clock::now()))
      log_event(LogLevel::Warning, "kms call failed",
                {{"peer", peer_.name()},
                 {"label", label_},
                 {"call", method},
                 {"uid", foreign_text(uid)},
                 {"reason", foreign_text(reason)},
                 {"suppressed", *suppressed}});
  }

  // A line as it changes.
  void note_health(const std::string& fault) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(fault_, fault) == fault) return;
    log_event(fault.empty() ? LogLevel::Info : LogLevel::Warning,
              fault.empty() ? "kms is healthy" : "kms is not healthy",
              {{"peer", peer_.name()}, {"label", label_}, {"reason", foreign_text(fault)}});
  }

  const std::string label_;
  Peer& peer_;
  Keys& keys_;
  DaemonMetrics& metrics_;
  const KeyCallers callers_;
  std::mutex mutex_;
  LogRate lines_;
  std::string fault_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_kms_service(std::string label, Peer& peer,
                                                DaemonMetrics& metrics, KeyCallers callers) {
  return std::make_unique<KmsService>(std::move(label), peer, metrics, std::move(callers));
}

}  // namespace tinyot::service
