// Keys: certificates of keys, which the peer is asked for over the link, and their files.
//
//  1. Who has none, and has the key active, sends its statement.
//  2. The peer, if the key is active there and is the same one, writes both statements to its disk,
//     and sends its own.
//  3. The first one writes both, too. Whatever ends it before, it is asked for again: the key is
//     there.
#include <fcntl.h>

#include <algorithm>

#include "base/error.h"
#include "custody/coded.h"
#include "service/foreign_text.h"
#include "service/keys_work.h"
#include "service/message_field.h"
#include "system/file.h"

namespace tinyot::service {
namespace {

using custody::KeyState;

constexpr std::chrono::milliseconds kLookAgain{200};

SignedMessage message_in(const wire::KeyCertificate& from) {
  return {bytes_of_field(from.said()),
          {bytes_of_field(from.public_key()), bytes_of_field(from.signature())}};
}

wire::Message certificate_message(const custody::KeyId& key, const SignedMessage& statement) {
  wire::Message message;
  wire::KeyCertificate& to = *message.mutable_key_certificate();
  custody::put_bytes(key.bytes, *to.mutable_key());
  custody::put_bytes(statement.message, *to.mutable_said());
  custody::put_bytes(statement.signature.public_key, *to.mutable_public_key());
  custody::put_bytes(statement.signature.bytes, *to.mutable_signature());
  return message;
}

void require_active(const custody::KeyRecord& record) {
  if (record.state != KeyState::Active)
    throw custody::KeyError(custody::KeyProblem::State, "key " + text_of(record.attributes.id) +
                                                            " is " + name_of(record.state) +
                                                            ": only an active one is certified");
}

}  // namespace

std::filesystem::path Keys::certificate_of(const custody::KeyId& key) const {
  return directory_ / (text_of(key) + ".certificate");
}

// One that is damaged, or of former keys of the parties, is as none.
std::optional<KeyCertificate> Keys::kept_certificate(const custody::KeyRecord& record) {
  const std::filesystem::path path = certificate_of(record.attributes.id);
  const std::lock_guard lock(certificates_mutex_);
  if (!std::filesystem::exists(path)) return std::nullopt;
  const system::File file(path, O_RDONLY | O_NOFOLLOW);
  std::vector<std::byte> bytes(kCertificateBytesMax + 1);
  bytes.resize(file.read_at(0, bytes));
  try {
    KeyCertificate certificate = certificate_from(bytes);
    if (is_of_same_key(verify_certificate(certificate, parties_).own,
                       statement_of(record, Clock::now())))
      return certificate;
  } catch (const BadKeyMessage&) {
  }
  return std::nullopt;
}

void Keys::keep_certificate(const custody::KeyId& key, const KeyCertificate& certificate) {
  const std::lock_guard lock(certificates_mutex_);
  system::replace_file(certificate_of(key), file_of(certificate));
}

SignedMessage Keys::own_statement(const custody::KeyRecord& record) const {
  return signed_statement(statement_of(record, Clock::now()), parties_, identity_);
}

// Fails: BadKeyMessage unless the peer has signed that it has the same key.
SignedMessage Keys::peers_statement(const wire::KeyCertificate& message,
                                    const custody::KeyRecord& record) const {
  SignedMessage signed_by_peer = message_in(message);
  const KeyStatement statement = statement_from(signed_by_peer, parties_);
  const auto now = Clock::now();
  if (!is_of_same_key(statement, statement_of(record, now)))
    throw BadKeyMessage{"it has signed something else than this party has"};
  if (statement.time > now + kClockDifferenceMax)
    throw BadKeyMessage{"the clocks of the parties differ by more than 10 minutes"};
  return signed_by_peer;
}

std::vector<std::byte> Keys::certificate(const custody::KeyId& id,
                                         const std::function<bool()>& is_gone) {
  const custody::KeyRecord record = files_.record(id);
  if (const auto kept = kept_certificate(record)) return file_of(*kept);
  custody::require_bound(record);
  require_active(record);
  const auto asked = std::make_shared<Certifying>();
  asked->own = own_statement(record);
  const auto until = Clock::now() + request_time_;
  const auto is_over = [&] { return asked->certificate || asked->failure; };
  {
    Lock lock(mutex_);
    require_open();
    const auto at = certifying_.emplace(id, asked);
    link_.send(certificate_message(id, asked->own));
    while (!is_over() && Clock::now() < until && !(is_gone && is_gone()))
      changed_.wait_until(lock, std::min(until, Clock::now() + kLookAgain), is_over);
    certifying_.erase(at);
  }
  if (asked->failure) std::rethrow_exception(asked->failure->error);
  if (!asked->certificate)
    throw KeyFailed(KeyFailure::TimedOut,
                    settings_.name + " has not signed the certificate in time: ask for it again");
  keep_certificate(id, *asked->certificate);
  return file_of(*asked->certificate);
}

void Keys::end_certifying(const Failure& failure) {
  for (const auto& [id, asked] : certifying_)
    if (!asked->certificate && !asked->failure) asked->failure = failure;
  changed_.notify_all();
}

void Keys::certified(const wire::KeyCertificate& message) {
  custody::KeyId key;
  if (!custody::take_bytes(message.key(), key.bytes))
    throw NetworkError("`key_certificate` names an invalid key");
  const Lock lock(mutex_);
  if (!message.is_answer()) {
    if (tasks_.size() >= 4 * kRequestsMax)
      throw NetworkError("the peer asks for certificates faster than a party may");
    put_on_desk([this, message, key] { answer_certificate(message, key); });
    return;
  }
  const auto [first, last] = certifying_.equal_range(key);
  if (first == last) return;  // too late
  std::optional<SignedMessage> peers;
  std::string why = foreign_text(message.reason());
  if (why.empty()) {
    try {
      peers = peers_statement(message, files_.record(key));
    } catch (const BadKeyMessage& bad) {
      why = bad.why;
    } catch (const custody::KeyError& error) {
      why = error.what();
    }
  }
  for (auto at = first; at != last; ++at) {
    Certifying& asked = *at->second;
    if (peers)
      asked.certificate = KeyCertificate{parties_, asked.own, *peers};
    else
      asked.failure = failed(KeyFailure::NotSigned,
                             settings_.name + " has signed no certificate of it: " + why);
  }
  changed_.notify_all();
}

// What this party has on its disk it does not sign again. Fails: KeyError, BadKeyMessage,
// StoreError.
KeyCertificate Keys::certificate_for_peer(const wire::KeyCertificate& message,
                                          const custody::KeyId& key) {
  {
    const Lock lock(mutex_);
    if (has_peer_cheated_) throw BadKeyMessage{"keys are suspended, since a check has failed"};
  }
  require_confirmed(key);
  const custody::KeyRecord record = files_.record(key);
  custody::require_bound(record);
  SignedMessage peers = peers_statement(message, record);
  if (const auto kept = kept_certificate(record)) return *kept;
  require_active(record);
  KeyCertificate certificate{parties_, own_statement(record), std::move(peers)};
  keep_certificate(key, certificate);
  return certificate;
}

void Keys::answer_certificate(const wire::KeyCertificate& message, const custody::KeyId& key) {
  wire::Message answer;
  std::string reason;
  try {
    answer = certificate_message(key, certificate_for_peer(message, key).own);
  } catch (const BadKeyMessage& bad) {
    reason = bad.why;
  } catch (const custody::KeyError& error) {
    reason = error.what();
  } catch (const std::exception& error) {
    errors_.write(error.what());
    reason = "its store cannot be used";
  }
  wire::KeyCertificate& to = *answer.mutable_key_certificate();
  if (!reason.empty()) {
    custody::put_bytes(key.bytes, *to.mutable_key());
    to.set_reason(foreign_text(reason));
    log_refusal("certificate", reason);
  }
  to.set_is_answer(true);
  link_.send(answer);
}

}  // namespace tinyot::service
