#include "service/keys.h"

#include <algorithm>

#include "base/error.h"
#include "base/hex.h"
#include "custody/coded.h"
#include "custody/self_test.h"
#include "engine/key_file.h"
#include "service/configuration.h"
#include "service/event_log.h"
#include "service/foreign_text.h"
#include "service/keys_work.h"
#include "system/file.h"

namespace tinyot::service {
namespace {

using custody::KeyProblem;
using custody::KeyState;

constexpr std::uint64_t kUsesAtOnce = 1024;
// Encryptions under one key with random nonces (NIST SP 800-38D, section 8.3).
constexpr std::uint64_t kEncryptionsMax = std::uint64_t{1} << 32;
constexpr std::chrono::milliseconds kLookInterval{200};
// Until a line is written again for which the disk had no room.
constexpr std::chrono::seconds kWritePause{5};
constexpr std::size_t kShownToOfficers = 256;
constexpr const char* kCheatedFile = "peer-cheated";

custody::Backups backups_of(const config::Custody& custody) {
  std::vector<custody::BackupRecipient> recipients;
  for (const config::BackupRecipient& to : custody.backup_to()) {
    custody::BackupRecipient& recipient = recipients.emplace_back();
    recipient.name = to.name();
    if (!parse_hex(to.key(), recipient.key))
      throw UsageError("custody: backup_to " + to.name() + ": key is not 64 hex digits");
  }
  return {custody.backup_directory(), std::move(recipients)};
}

std::filesystem::path audit_log_of(const config::Custody& custody,
                                   const std::filesystem::path& directory) {
  return custody.has_audit_log() ? std::filesystem::path(custody.audit_log())
                                 : directory / "audit.log";
}

// Its text may name what is on the disk.
template <class Failure>
bool is_of_the_store(const std::optional<Failure>& failure) {
  try {
    if (failure && failure->error) std::rethrow_exception(failure->error);
  } catch (const custody::KeyError&) {
    return false;
  } catch (const OutOfMaterial&) {
    return false;
  } catch (const StoreError&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

// What several officers have confirmed, in the line that says that it is done.
std::string outcome_of(const std::optional<custody::RequestId>& agreed) {
  return agreed ? "operation " + hex_of(*agreed) : "";
}

std::string fingerprint_text(const custody::KeyAttributes& about,
                             const custody::CheckValue& check) {
  return "fingerprint " + hex_of(crypto::bytes_of(custody::fingerprint_of(about, check)));
}

std::string kind_text(const custody::KeyAttributes& about) {
  return custody::name_of(about.key_class) + " " + custody::name_of(about.algorithm) + ", " +
         custody::name_of(about.nonces) + " nonces";
}

std::string cka_id_text(const custody::KeyAttributes& about) {
  return about.cka_id.empty() ? "" : ", CKA_ID " + hex_of(std::as_bytes(std::span(about.cka_id)));
}

KeyParties parties_of(const config::Peer& peer) {
  return {engine::read_identity(peer.key()).fingerprint(), engine::peer_key_from(peer.peer_key())};
}

}  // namespace

KeyPolicy Keys::read_policy(const config::Peer& peer) {
  KeyPolicy policy(read_key_policy(peer.custody().policy()));
  if (policy.is_empty())
    log_event(LogLevel::Warning, "key policy allows nothing",
              {{"peer", peer.name()}, {"policy", peer.custody().policy()}});
  return policy;
}

Keys::Keys(const config::Peer& peer, const PeerSettings& settings, Shared& shared, Link& link,
           Scheduler& scheduler)
    : settings_(settings), shared_(shared), link_(link), scheduler_(scheduler),
      identity_(engine::read_identity(peer.key())), parties_(parties_of(peer)),
      request_time_(peer.custody().request_timeout_s()),
      approval_time_(peer.custody().approval_timeout_s()), keys_max_(peer.custody().keys_max()),
      directory_(std::filesystem::path(shared.config.directory()) / peer.name() / "custody"),
      files_(directory_,
             {settings.me, settings.name, net::text_of(parties_.peer), net::text_of(parties_.own)},
             shared.store_key.value()),
      backups_(service::backups_of(peer.custody())),
      audit_(audit_log_of(peer.custody(), directory_.parent_path()),
             [](const std::string& text) {
               custody::RequestId id{};
               return parse_hex(text, id) && time_of(id) + kRemembered > Clock::now();
             }),
      quorum_(settings.name, peer.custody().quorum(), approval_time_, audit_),
      policy_(read_policy(peer)),
      has_peer_cheated_(std::filesystem::exists(directory_ / kCheatedFile)),
      errors_("custody goes on after an error", settings.name) {
  custody::require_mechanisms();
  for (const std::string& text : audit_.take_requests()) {
    custody::RequestId id{};
    if (parse_hex(text, id)) seen_.emplace(id, time_of(id) + kRemembered);
  }
  for (const custody::KeyRecord& record : files_.records())
    errors_.run([&] { deactivate_as_logged(record.attributes.id); });
  const auto records = files_.records();
  if (const auto unbound = std::ranges::count_if(
          records, [](const custody::KeyRecord& record) { return !is_bound(record); });
      unbound > 0)
    log_event(LogLevel::Warning, "keys are bound to former TLS keys",
              {{"peer", settings.name}, {"keys", static_cast<std::uint64_t>(unbound)}});
  for (const custody::KeyRecord& record : records)
    if (record.has_peer_destroyed && is_bound(record)) log_destroyed_by_peer(record.attributes.id);
  note_missing_backups(records);
  for (std::size_t i = 0; i < settings.evaluations; ++i)
    desk_.emplace_back([this](const std::stop_token& stop) { work_at_desk(stop); });
}

// Such as those of keys that were made before there was a recipient.
void Keys::note_missing_backups(const std::vector<custody::KeyRecord>& records) const {
  const auto missing = std::ranges::count_if(records, [&](const custody::KeyRecord& record) {
    return record.state == KeyState::Active && !backups_.are_complete(files_.owner(), record);
  });
  if (missing > 0)
    log_event(LogLevel::Warning, "keys without a backup: refresh them",
              {{"peer", settings_.name}, {"keys", static_cast<std::uint64_t>(missing)}});
}

void Keys::set_policy(KeyPolicy policy) {
  const Lock lock(mutex_);
  policy.take_counts_of(policy_);
  policy_ = std::move(policy);
}

void Keys::stop_beginning() {
  quorum_.stop();
  const Lock lock(mutex_);
  is_stopping_ = true;
  end_waiting(KeyFailure::Unavailable, "the daemon is stopping: repeat the request");
}

std::size_t Keys::requests_of(bool own) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      requests_, [&](const auto& each) { return each.second->is_own() == own; }));
}

std::size_t Keys::requests_of_client(const std::string& client) const {
  return static_cast<std::size_t>(std::ranges::count_if(requests_, [&](const auto& each) {
    return each.second->is_own() && each.second->asked.client == client;
  }));
}

// Which have no file yet.
std::size_t Keys::keys_being_made() const {
  return static_cast<std::size_t>(std::ranges::count_if(requests_, [&](const auto& each) {
    const KeyTerms& terms = each.second->terms();
    return makes_key(terms.operation) && !files_.find(terms.key);
  }));
}

// Those that are not being evaluated.
void Keys::end_waiting(KeyFailure failure, const std::string& why) {
  std::vector<SharedRequest> waiting;
  for (const auto& [id, request] : requests_)
    if (!request->is_running) waiting.push_back(request);
  for (const SharedRequest& request : waiting) finish(request, failed(failure, why));
  end_certifying(failed(failure, why));
}

bool Keys::is_busy() {
  const Lock lock(mutex_);
  return std::ranges::any_of(requests_, [](const auto& each) { return each.second->is_running; });
}

void Keys::give_up() {
  const Lock lock(mutex_);
  const std::string why = "the daemon has stopped before it was done";
  while (!requests_.empty())
    finish(SharedRequest(requests_.begin()->second), failed(KeyFailure::Unavailable, why));
}

void Keys::stop() {
  {
    const Lock lock(mutex_);
    if (!ends_.empty()) put_on_desk([this] { write_ends(); });
  }
  for (std::jthread& thread : desk_) thread.request_stop();
  for (std::jthread& thread : desk_)
    if (thread.joinable()) thread.join();
}

void Keys::put_on_desk(std::function<void()> task) {
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

// What has been begun is done before a stop: the ends of requests are evidence.
void Keys::work_at_desk(const std::stop_token& stop) {
  for (;;) {
    std::function<void()> task;
    {
      Lock lock(mutex_);
      changed_.wait(lock, stop, [&] { return !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    errors_.run(task);
  }
}

void Keys::keep_up() {
  std::vector<std::shared_ptr<Work>> late, to_queue;
  {
    const Lock lock(mutex_);
    const auto now = Clock::now();
    std::vector<SharedRequest> expired;
    for (const auto& [id, request] : requests_)
      if ((!request->is_own() || request->is_abandoned) && request->until <= now)
        expired.push_back(request);
    const std::string why = "it has expired";
    for (const SharedRequest& request : expired) {
      late.push_back(request);
      finish(request, failed(KeyFailure::TimedOut, why));
    }
    std::erase_if(seen_, [&](const auto& seen) { return seen.second <= now; });
    begin_noting();
    if (write_ends_at_ <= now) {
      write_ends_at_ = kAnyTime;
      put_on_desk([this] { write_ends(); });
    }
    if (!is_writing_what_failed_ && (has_peer_cheated_ || files_.has_unwritten())) {
      is_writing_what_failed_ = true;
      put_on_desk([this] { write_what_failed(); });
    }
    for (const custody::KeyId& key : std::exchange(to_settle_, {}))
      if (needs_settling(key)) settle_if_needed(key, to_queue);
  }
  queue(to_queue);
  for (const auto& work : late) scheduler_.cancel(work);
}

void Keys::require_open() const {
  if (has_peer_cheated_)
    throw KeyFailed(KeyFailure::Cheated,
                    settings_.name +
                        " has failed a check: all keys with it are suspended until an "
                        "officer resumes them");
  if (is_stopping_)
    throw KeyFailed(KeyFailure::Unavailable, "the daemon is stopping: repeat the request");
  if (!is_linked_) throw KeyFailed(KeyFailure::Unavailable, settings_.name + " is not connected");
}

KeyResult Keys::ask(const KeyCall& call, KeyTerms terms, KeyPayload payload,
                    Clock::time_point until) {
  const Caller& caller = call.caller;
  terms.requester = settings_.me;
  if (terms.shown_aad && terms.shown_aad->size() > kShownBytesMax)
    throw UsageError("associated data that is shown has at most " + std::to_string(kShownBytesMax) +
                     " bytes");
  if (terms.context.size() > kContextBytesMax)
    throw UsageError("the context of a derivation has at most " + std::to_string(kContextBytesMax) +
                     " bytes");
  const custody::KeyAttributes about = attributes_about(terms, files_);
  require_allowed(caller, terms, about);
  if (makes_key(terms.operation) && files_.have_former_peer())
    throw custody::KeyError(custody::KeyProblem::Unbound,
                            "keys are bound to a former TLS key of " + settings_.name +
                                ": no key is made with another one before an officer has bound "
                                "them to it");
  require_possible(terms, files_);
  require_payload(terms, payload, files_);
  if (terms.operation == config::IMPORT)
    await_officers_of_import(call, about, payload.imported.value());
  // A request that the peer ends may still be evaluated, with what it was given.
  const auto kept = std::make_shared<const KeyPayload>(std::move(payload));
  // What loses its connection is asked anew, once: with another number, in the logs as another
  // request, on fresh material and with another nonce.
  for (int attempt = 1;; ++attempt) {
    const SharedRequest request = make_own(caller, terms, about);
    request->payload = kept;
    request->is_gone = call.is_gone;
    request->client_until = until;
    Lock lock(mutex_);
    begin_own(request, lock);
    await(request, lock, [&] { return request->state == Request::State::Ended; });
    if (!request->failure) return std::move(request->result);
    lock.unlock();
    if (!request->may_be_asked_anew || attempt == Work::kAttemptsMax ||
        terms.operation == config::REFRESH)
      std::rethrow_exception(request->failure->error);
  }
}

void Keys::await_officers_of_import(const KeyCall& call, const custody::KeyAttributes& about,
                                    const custody::Share& key) {
  {
    const Lock lock(mutex_);
    require_open();
  }
  (void)quorum_.await(call, {.operation = "import",
                             .key = about.id,
                             .label = about.label,
                             .bytes = key.size(),
                             .details = kind_text(about) + ", " +
                                        fingerprint_text(about, custody::check_of(about, key)) +
                                        cka_id_text(about)});
}

Keys::SharedRequest Keys::make_own(const Caller& caller, const KeyTerms& terms,
                                   const custody::KeyAttributes& about) {
  AskedKey asked{.terms = terms,
                 .epoch = {},
                 .client = text_of(caller).substr(0, kClientNameMax),
                 .begun = Clock::now(),
                 .expires = Clock::now() + approval_time_,
                 .head = {},
                 .signed_by = {}};
  asked.terms.request = random_request();
  const custody::KeyId of_epoch = about.parent.value_or(about.id);
  if (const auto record = files_.find(of_epoch); record && record->held.size() == 1)
    asked.epoch = record->held.front().epoch;
  auto cost = circuits_.cost_of(circuits_of(asked.terms, files_), settings_.high.ands);
  if (!cost)
    throw KeyFailed(KeyFailure::Full, "it takes more than " + std::to_string(settings_.high.ands) +
                                          " ANDs, as many as the stock may have (high { } of the "
                                          "configuration): for more bytes, encrypt a data key");
  return std::make_shared<Request>(*this, std::move(*cost), std::move(asked), about, caller);
}

// First of all: a client that may not use a key learns nothing of its state.
void Keys::require_allowed(const Caller& caller, const KeyTerms& terms,
                           const custody::KeyAttributes& about) {
  const Lock lock(mutex_);
  std::string refusal = policy_.verdict(policy_terms(caller, terms, about), Clock::now()).refusal;
  if (refusal.empty()) refusal = refusal_of_nonces(terms, about).value_or("");
  if (refusal.empty()) return;
  log_refusal(name_of(terms.operation), refusal);
  throw KeyFailed(KeyFailure::Refused, refusal);
}

std::optional<std::string> Keys::refusal_of_nonces(const KeyTerms& terms,
                                                   const custody::KeyAttributes& about) const {
  if (about.nonces != custody::NonceMode::Caller ||
      (terms.operation != config::ENCRYPT && terms.operation != config::DECRYPT) ||
      !policy_.both_seal(about.id, about.label))
    return std::nullopt;
  return "the caller chooses the nonces of key " + text_of(about.id) +
         ", and the key policy allows both parties to encrypt or decrypt with it: who chooses "
         "nonces can open what the other one seals";
}

void Keys::begin_own(const SharedRequest& request, Lock& lock) {
  require_open();
  if (requests_of(true) >= kRequestsMax)
    throw KeyFailed(KeyFailure::Full, "there are " + std::to_string(kRequestsMax) +
                                          " requests of this party already: try again");
  if (requests_of_client(request->asked.client) >= kRequestsOfClientMax)
    throw KeyFailed(KeyFailure::Full, "there are " + std::to_string(kRequestsOfClientMax) +
                                          " requests of this client already: try again");
  if (makes_key(request->terms().operation) && !files_.find(request->terms().key) &&
      files_.records().size() + keys_being_made() >= keys_max_)
    throw KeyFailed(KeyFailure::Full, "there are " + std::to_string(keys_max_) +
                                          " keys, as many as keys_max of the configuration");
  const KeyPolicy::Verdict verdict = policy_.begin(request->policy_terms(), Clock::now());
  if (!verdict.refusal.empty()) throw KeyFailed(KeyFailure::Refused, verdict.refusal);
  requests_.emplace(request->id(), request);
  request->until = Clock::now() + request_time_;
  if (verdict.needs_approval) {
    request->number = random_request();
    request->state = Request::State::Waiting;
    request->until = request->asked.expires;
    log_event(LogLevel::Info, "key request waits for approval",
              {{"peer", settings_.name}, {"request", hex_of(request->number)}});
    await(request, lock, [&] { return request->state != Request::State::Waiting; });
    if (request->state == Request::State::Ended) return;
    // To the peer it begins now.
    request->asked.begun = Clock::now();
    request->asked.expires = request->asked.begun + approval_time_;
    request->until = request->asked.begun + request_time_;
  }
  seen_.emplace(request->id(), time_of(request->id()) + kRemembered);
  request->state = Request::State::New;
  lock.unlock();
  std::optional<Failure> failure;
  wire::Message message;
  try {
    note_use(request->terms());
    request->asked.head = audit_.append(request->line(AuditLine::Event::Begin));
    *message.mutable_key_request() = message_of(request->asked, parties_, identity_);
  } catch (const std::exception& error) {
    failure = Failure{std::current_exception(), error.what()};
  }
  lock.lock();
  if (!note_begun(request, request->asked.head)) return;
  if (failure) return finish(request, std::move(failure));
  const std::string& said = message.key_request().said();
  const auto bytes = std::as_bytes(std::span(said));
  request->asked.signed_by.message.assign(bytes.begin(), bytes.end());
  request->state = Request::State::Asked;
  link_.send(message);
}

// Whether a worker of the leading party may have begun it. To end it then would end the connection,
// and with it all keys that are loaded there.
bool Keys::may_have_begun(const Request& request) const {
  if (settings_.leads()) return request.is_running;
  return request.state == Request::State::Accepted ||
         (request.state == Request::State::Asked && !request.waits_at_peer);
}

// Until the condition holds, the request has expired, or its client has gone: what may have begun
// goes on without the client.
void Keys::await(const SharedRequest& request, Lock& lock, const std::function<bool()>& is_over) {
  const auto is_gone = [&] { return request->is_gone && request->is_gone(); };
  const auto until = [&] { return std::min(request->until, request->client_until); };
  while (Clock::now() < until() && !is_gone())
    if (changed_.wait_until(lock, std::min(until(), Clock::now() + kLookInterval), is_over)) return;
  lock.unlock();
  const std::string shortage = scheduler_.disk_shortage();
  lock.lock();
  if (is_over()) return;  // meanwhile
  const std::string why =
      Clock::now() < until()                      ? "the client has gone, or has lost its right"
      : request->state == Request::State::Waiting ? "no officer of this party approved it in time"
      : request->state == Request::State::Asked
          ? settings_.name + " did not answer in time: its officers may have to approve it"
      : request->is_running ? "it took too long"
                            : "there was no material or no free connection for it in time" +
                                  (shortage.empty() ? "" : "; " + shortage);
  const KeyFailure kind =
      request->state == Request::State::Waiting || request->state == Request::State::Asked
          ? KeyFailure::TimedOut
          : KeyFailure::Unavailable;
  if (Clock::now() < request->until && may_have_begun(*request)) {
    request->is_abandoned = true;
    request->is_gone = nullptr;
    throw KeyFailed(kind, why);
  }
  finish(request, failed(kind, why));
  lock.unlock();
  scheduler_.cancel(request);
  lock.lock();
}

// The bound is on the disk before the use is in a log.
void Keys::note_use(const KeyTerms& terms) {
  if (changes_key(terms.operation)) return;
  const std::lock_guard lock(uses_mutex_);
  const std::uint64_t bound = files_.record(terms.key).use_bound;
  Uses& uses = uses_[terms.key];
  // Since the start, or by a restored share: there may have been as many uses.
  if (uses.bound != bound) uses = {std::max(uses.count, bound), bound};
  if (terms.operation == config::ENCRYPT && uses.count >= kEncryptionsMax)
    throw custody::KeyError(KeyProblem::State,
                            "key " + custody::text_of(terms.key) +
                                " has been used 2^32 times, as often as nonces allow: rotate it");
  if (uses.count >= bound) {
    uses.bound = std::min(uses.count + kUsesAtOnce, std::max(bound, custody::kUseBoundMax));
    files_.raise_use_bound(terms.key, uses.bound);
  }
  ++uses.count;
}

void Keys::finish(const SharedRequest& request, std::optional<Failure> failure) {
  if (request->state == Request::State::Ended) return;
  const bool is_known_to_peer = !request->is_own() || (request->state != Request::State::New &&
                                                       request->state != Request::State::Waiting);
  request->state = Request::State::Ended;
  request->failure = std::move(failure);
  requests_.erase(request->id());
  const std::string reason = request->failure ? request->failure->text : "";
  shared_.metrics.key_request(
      settings_.name, name_of(request->terms().operation),
      request->is_own() ? RefusedBy::ThisParty : RefusedBy::Peer, !request->failure,
      std::chrono::duration<double>(Clock::now() - request->asked.begun).count());
  if (is_known_to_peer && !request->is_done_at_peer)
    send_end(*request,
             is_of_the_store(request->failure) ? "its store or its log cannot be used" : reason);
  if (request->failure)
    if (const auto suppressed = end_lines_.admit(LogRate::Clock::now()))
      log_event(LogLevel::Warning, "key request failed",
                {{"peer", settings_.name},
                 {"operation", name_of(request->terms().operation)},
                 {"key", custody::text_of(request->terms().key)},
                 {"request", hex_of(request->id())},
                 {"by", request->is_own() ? request->asked.client : settings_.name},
                 {"reason", foreign_text(reason)},
                 {"suppressed", *suppressed}});
  // What has waited for it, while it was waiting itself.
  if (request->changed_key() && !blocked_.empty())
    put_on_desk([this, blocked = std::exchange(blocked_, {})] { queue(blocked); });
  if (request->has_begun_line) log_end(*request);
  changed_.notify_all();
}

void Keys::log_end(const Request& request) {
  ends_.push_back(request.line(AuditLine::Event::End));
  put_on_desk([this] { write_ends(); });
}

// At the desk. What the disk has no room for is written later.
void Keys::write_ends() {
  for (;;) {
    AuditLine line;
    {
      const Lock lock(mutex_);
      if (ends_.empty()) return;
      line = std::move(ends_.front());
      ends_.pop_front();
    }
    try {
      audit_.append(line);
    } catch (const StoreError&) {
      const Lock lock(mutex_);
      ends_.push_front(std::move(line));
      if (!audit_.has_failed()) write_ends_at_ = Clock::now() + kWritePause;
      throw;
    }
  }
}

// Its first line is in the log, unless that failed. False if it has ended meanwhile.
bool Keys::note_begun(const SharedRequest& request, const AuditHead& head) {
  request->has_begun_line = head.sequence > 0;
  if (request->state != Request::State::Ended) return true;
  if (request->has_begun_line) log_end(*request);
  return false;
}

void Keys::log_refusal(const std::string& what, const std::string& reason) {
  if (const auto suppressed = refusal_lines_.admit(LogRate::Clock::now()))
    log_event(LogLevel::Warning, "key request refused",
              {{"peer", settings_.name},
               {"operation", what},
               {"reason", foreign_text(reason)},
               {"suppressed", *suppressed}});
}

// What custody does with a peer that has failed a check does not end with this process.
void Keys::peer_cheated() {
  const std::lock_guard one_by_one(cheated_mutex_);
  std::vector<std::shared_ptr<Work>> running;
  {
    const Lock lock(mutex_);
    has_peer_cheated_ = true;
    ++failed_checks_;
    for (const auto& [id, request] : requests_)
      if (request->is_running) running.push_back(request);
    for (const auto& [id, work] : settling_) running.push_back(work);
    for (const auto& connection : open_connections()) connection->session.forget_all();
    end_waiting(KeyFailure::Cheated, settings_.name + " has failed a check");
  }
  for (const auto& work : running) scheduler_.cancel(work);
  is_mark_written_ = false;
  write_mark();
  log_event(LogLevel::Error, "keys suspended",
            {{"peer", settings_.name}, {"reason", "a check with the peer has failed"}});
}

// Under cheated_mutex_.
void Keys::write_mark() {
  is_mark_written_ = errors_.run([&] { system::replace_file(directory_ / kCheatedFile, {}); });
}

// What counts in memory and could not be written is written once the disk takes it.
void Keys::write_what_failed() {
  {
    const std::lock_guard one_by_one(cheated_mutex_);
    if (!is_mark_written_) write_mark();
  }
  errors_.run([&] { files_.write_again(); });
  const Lock lock(mutex_);
  is_writing_what_failed_ = false;
}

// A check that fails meanwhile is one of which the officers do not know.
void Keys::resume_peer(const KeyCall& call) {
  const auto failed_checks = [&] {
    const Lock lock(mutex_);
    return failed_checks_;
  };
  const std::uint64_t known = failed_checks();
  const auto agreed = quorum_.await(call, {.operation = "resume_peer"});
  audit_.append({.event = AuditLine::Event::Alone,
                 .request = hex_of(random_request()),
                 .client = text_of(call.caller),
                 .operation = "resume_peer",
                 .key = {},
                 .outcome = outcome_of(agreed)});
  const std::lock_guard one_by_one(cheated_mutex_);
  if (failed_checks() != known)
    throw KeyFailed(KeyFailure::Cheated, settings_.name + " has failed another check meanwhile");
  is_mark_written_ = true;
  std::filesystem::remove(directory_ / kCheatedFile);
  system::sync_directory(directory_);
  const Lock lock(mutex_);
  has_peer_cheated_ = false;
  for (const custody::KeyRecord& record : files_.records()) to_settle_.insert(record.attributes.id);
}

custody::KeyRecord Keys::named(const std::string& name, const Caller* caller) {
  const auto id = custody::key_id_from(name);
  std::vector<custody::KeyRecord> records;
  if (!id)
    records = files_.labelled(name);
  else if (auto record = files_.find(*id))
    records.push_back(std::move(*record));
  const auto is_meant = [&](const custody::KeyRecord& record) {
    if (!id && record.state == KeyState::Destroyed) return false;
    const Lock lock(mutex_);
    return caller == nullptr ||
           policy_.names(*caller, record.attributes.id, record.attributes.label);
  };
  std::optional<custody::KeyRecord> best;
  const auto rank = [](const custody::KeyRecord& record) {
    return std::pair(record.state == KeyState::Active, record.attributes.version);
  };
  for (custody::KeyRecord& record : records)
    if (is_meant(record) && (!best || rank(*best) < rank(record))) best = std::move(record);
  if (!best)
    throw custody::KeyError(KeyProblem::Unknown,
                            "there is no key '" + foreign_text(name) + "' with " + settings_.name +
                                (caller != nullptr ? " that a rule of the key policy names" : ""));
  return *best;
}

Keys::View Keys::view(const custody::KeyId& id) {
  View view{files_.record(id), {}};
  const Lock lock(mutex_);
  if (const auto at = peers_.find(id); at != peers_.end() && at->second)
    view.peers = at->second->state;
  return view;
}

std::string Keys::why_impossible(const KeyTerms& use) {
  const std::string key = "key " + custody::text_of(use.key);
  const auto mine = files_.have(use.key);
  const Lock lock(mutex_);
  try {
    require_open();
    require_possible(use, files_);
  } catch (const std::exception& error) {
    return error.what();
  }
  const auto at = peers_.find(use.key);
  if (at == peers_.end() || !at->second) return settings_.name + " has no share of " + key;
  const custody::KeyHave& theirs = *at->second;
  if (theirs.state != mine->state)
    return key + " is " + custody::name_of(theirs.state) + " at " + settings_.name;
  const custody::SettleKind kind = custody::settle_step(mine, theirs).kind;
  if (kind == custody::SettleKind::Done || kind == custody::SettleKind::Load) return {};
  return "the parties have no shares of " + key + " that belong together";
}

std::vector<Keys::View> Keys::list(const Caller* caller, const std::string& label) {
  std::vector<View> views;
  for (const custody::KeyRecord& record :
       label.empty() ? files_.records() : files_.labelled(label)) {
    {
      const Lock lock(mutex_);
      if (caller != nullptr &&
          !policy_.names(*caller, record.attributes.id, record.attributes.label))
        continue;
    }
    views.push_back(view(record.attributes.id));
  }
  return views;
}

Keys::View Keys::step_alone(const Caller& officer, const char* operation, const custody::KeyId& id,
                            const std::function<void()>& step,
                            const std::optional<custody::RequestId>& agreed,
                            const std::string& details) {
  std::string outcome = outcome_of(agreed);
  if (!details.empty()) outcome += (outcome.empty() ? "" : ", ") + details;
  audit_.append({.event = AuditLine::Event::Alone,
                 .request = hex_of(random_request()),
                 .client = text_of(officer),
                 .operation = operation,
                 .key = custody::text_of(id),
                 .outcome = std::move(outcome)});
  try {
    step();
  } catch (...) {
    note_changed(id);  // what failed at the disk may count until a restart
    throw;
  }
  note_changed(id);
  log_event(LogLevel::Info, "key changed by an officer",
            {{"peer", settings_.name},
             {"operation", operation},
             {"key", custody::text_of(id)},
             {"client", text_of(officer)}});
  return view(id);
}

// The record may be one that somebody has set back.
void Keys::deactivate_as_logged(const custody::KeyId& id) {
  const auto record = files_.find(id);
  if (!record || record->state != KeyState::Active || !audit_.has_deactivated(custody::text_of(id)))
    return;
  files_.deactivate(id);
  log_event(LogLevel::Warning, "key deactivated as the audit log says",
            {{"peer", settings_.name}, {"key", custody::text_of(id)}});
}

// Nothing goes on with what is loaded of it, and the peer knows.
void Keys::note_changed(const custody::KeyId& id) {
  errors_.run([&] { deactivate_as_logged(id); });
  {
    const Lock lock(mutex_);
    forget(id);
  }
  announce(id);
}

Keys::View Keys::suspend(const Caller& officer, const custody::KeyId& id) {
  (void)files_.record(id);
  return step_alone(officer, "suspend", id, [&] { files_.set_state(id, KeyState::Suspended); });
}

custody::KeyRecord Keys::suspended(const custody::KeyId& id) {
  custody::KeyRecord record = files_.record(id);
  if (record.state != KeyState::Suspended)
    throw custody::KeyError(KeyProblem::State, "key " + custody::text_of(id) + " is " +
                                                   custody::name_of(record.state) +
                                                   ", and not suspended");
  if (record.has_peer_destroyed)
    throw custody::KeyError(KeyProblem::NotAtPeer,
                            settings_.name + " has destroyed its share of key " +
                                custody::text_of(id) + ": it cannot be used any more");
  return record;
}

// Otherwise no epoch would be left that both parties have.
void Keys::require_kept_at_peer(const custody::KeyId& id, const custody::Epoch& epoch) {
  const std::string key = "key " + custody::text_of(id);
  const auto mine = files_.have(id);
  if (!mine || std::ranges::find(mine->epochs, epoch) == mine->epochs.end())
    throw custody::KeyError(KeyProblem::NoEpoch,
                            key + " has no share of epoch " + custody::text_of(epoch));
  const Lock lock(mutex_);
  if (!is_linked_)
    throw KeyFailed(KeyFailure::Unavailable,
                    settings_.name + " is not connected, which has to say what it has of " + key);
  if (changed_since_.contains(id) || settling_.contains(id))
    throw custody::KeyError(KeyProblem::State,
                            key + " is being changed or settled: wait until it is done");
  const auto at = peers_.find(id);
  if (at == peers_.end() || !at->second ||
      std::ranges::find(at->second->epochs, epoch) == at->second->epochs.end())
    throw custody::KeyError(KeyProblem::NotAtPeer,
                            settings_.name + " has no share of " + key + " in epoch " +
                                custody::text_of(epoch) +
                                ": the key would be lost if it alone were kept");
}

// No step of the key is under way, and none begins meanwhile.
Keys::Alone Keys::alone_with(const custody::KeyId& id) {
  const auto of_key = [&] {
    const Lock lock(mutex_);
    return lock_of(id);
  }();
  std::unique_lock lock(*of_key, std::try_to_lock);
  if (!lock.owns_lock())
    throw custody::KeyError(KeyProblem::State,
                            "key " + custody::text_of(id) + " is being changed or settled");
  return {of_key, std::move(lock)};
}

// What is confirmed is looked at again, since time has passed.
Keys::View Keys::resume(const KeyCall& call, const custody::KeyId& id,
                        const std::optional<custody::Epoch>& only) {
  const auto dropped = [&] {
    std::string names;
    for (const custody::HeldEpoch& held : suspended(id).held)
      if (only && held.epoch != *only)
        names += (names.empty() ? "" : " and ") + custody::text_of(held.epoch);
    return names;
  };
  const std::string to_drop = dropped();
  if (only) require_kept_at_peer(id, *only);
  const auto agreed =
      quorum_.await(call, {.operation = "resume",
                           .key = id,
                           .label = suspended(id).attributes.label,
                           .details = only ? "keeps epoch " + custody::text_of(*only) +
                                                 (to_drop.empty() ? "" : ", drops " + to_drop)
                                           : ""});
  if (dropped() != to_drop)
    throw custody::KeyError(KeyProblem::State, "key " + custody::text_of(id) +
                                                   " has other epochs by now: look at it again");
  std::optional<Alone> alone;
  if (only) {
    alone.emplace(alone_with(id));
    require_kept_at_peer(id, *only);
  }
  return step_alone(
      call.caller, "resume", id, [&] { files_.resume(id, only); }, agreed,
      only ? "epoch " + custody::text_of(*only) : "");
}

void Keys::require_deactivatable(const custody::KeyId& id) const {
  const custody::KeyRecord record = files_.record(id);
  if (record.state != KeyState::Active && record.state != KeyState::Deactivated)
    throw custody::KeyError(KeyProblem::State, "key " + custody::text_of(id) + " is " +
                                                   custody::name_of(record.state) +
                                                   ": only an active one is deactivated");
}

// It is for good.
Keys::View Keys::deactivate(const KeyCall& call, const custody::KeyId& id) {
  require_deactivatable(id);
  const auto agreed = quorum_.await(
      call, {.operation = "deactivate", .key = id, .label = files_.record(id).attributes.label});
  require_deactivatable(id);
  return step_alone(
      call.caller, "deactivate", id, [&] { files_.deactivate(id); }, agreed);
}

Keys::View Keys::supersede(const Caller& officer, const custody::KeyId& id) {
  require_deactivatable(id);
  return step_alone(officer, "deactivate", id, [&] { files_.deactivate(id); });
}

Keys::View Keys::destroy(const KeyCall& call, const custody::KeyId& id) {
  const auto agreed = quorum_.await(
      call, {.operation = "destroy", .key = id, .label = files_.record(id).attributes.label});
  return step_alone(
      call.caller, "destroy", id, [&] { files_.destroy(id); }, agreed);
}

// Epoch and fingerprint name the share: the former is in the name of the backup, the latter in
// what both parties show of the key.
Keys::View Keys::restore(const KeyCall& call, custody::BackedUpShare backup,
                         const std::optional<crypto::Digest>& fingerprint) {
  const custody::KeyAttributes& about = backup.record.attributes;
  require_origin(backup, fingerprint);
  if (audit_.has_deactivated(custody::text_of(about.id)))
    backup.record.state = KeyState::Deactivated;
  const auto now = files_.find(about.id);
  const std::uint64_t uses = now ? now->use_bound : 0, uses_then = backup.record.use_bound;
  std::string details = kind_text(about) + ", version " + std::to_string(about.version) +
                        ", epoch " + custody::text_of(backup.epoch) + ", " +
                        fingerprint_text(about, backup.record.check) + cka_id_text(about);
  if (uses_then > uses)
    details +=
        ", counts " + std::to_string(uses_then) + " uses in place of " + std::to_string(uses);
  if (backup.record.state == KeyState::Deactivated) details += ", deactivated";
  static_cast<void>(alone_with(about.id));  // or officers would be asked for nothing
  const auto agreed = quorum_.await(call, {.operation = "restore",
                                           .key = about.id,
                                           .label = about.label,
                                           .bytes = backup.share.size(),
                                           .details = details});
  // The peer may have had the record removed since, on which this relied.
  const Alone alone = alone_with(about.id);
  require_origin(backup, fingerprint);
  return step_alone(
      call.caller, "restore", about.id, [&] { files_.restore(backup); }, agreed,
      agreed ? "" : details);
}

// The record of the key is compared by the files.
void Keys::require_origin(const custody::BackedUpShare& backup,
                          const std::optional<crypto::Digest>& fingerprint) {
  const custody::KeyAttributes& about = backup.record.attributes;
  const auto refuse = [&](const std::string& why) {
    throw custody::KeyError(KeyProblem::Differs,
                            "the backup of key " + text_of(about.id) + " has " +
                                fingerprint_text(about, backup.record.check) + why);
  };
  if (fingerprint && !crypto::equal_constant_time(
                         *fingerprint, custody::fingerprint_of(about, backup.record.check)))
    refuse(", and not the one that was said: it is of another key");
  if (!fingerprint && !files_.find(about.id) && !kept_certificate(backup.record))
    refuse(
        ", and this party has neither record nor certificate of it: say the key's fingerprint, as "
        "its certificate has it; who writes to the medium of backups may have made this one");
}

// One key after the other: whatever ends it, the rest is bound when it is called again.
std::vector<Keys::View> Keys::rebind(const KeyCall& call, const std::optional<custody::KeyId>& id) {
  const auto named = [](const std::string& former, const net::Fingerprint& now) {
    return (former.empty() ? "still " : former + ", now ") + net::text_of(now);
  };
  const auto records = [&] { return id ? std::vector{files_.record(*id)} : files_.records(); };
  std::optional<custody::RequestId> agreed;
  if (std::ranges::any_of(records(), [](const auto& record) { return !is_bound(record); }))
    agreed = quorum_.await(call, {.operation = "rebind",
                                  .key = id,
                                  .label = id ? files_.record(*id).attributes.label : "",
                                  .details = "this party has " + net::text_of(parties_.own) +
                                             "; the peer " + net::text_of(parties_.peer)});
  std::vector<View> due;
  for (const custody::KeyRecord& record : records()) {
    const custody::KeyId key = record.attributes.id;
    const bool was_bound = custody::is_bound(record);
    if (!was_bound)
      step_alone(
          call.caller, "rebind", key, [&] { files_.rebind(key); }, agreed,
          "this party " + named(record.former_own, parties_.own) + "; the peer " +
              named(record.former_peer, parties_.peer));
    {
      const Lock lock(mutex_);
      if (!was_bound) note_peers_share(key);  // what it has said meanwhile
    }
    View now = view(key);
    if (custody::needs_refresh(now.record)) due.push_back(std::move(now));
  }
  return due;
}

std::vector<std::filesystem::path> Keys::backups_of(const std::optional<custody::KeyId>& id) const {
  return id ? backups_.files_of(*id) : backups_.files();
}

std::string Keys::lacking() const {
  return audit_.has_failed()
             ? "no keys are used until a restart: their audit log could not be synced"
             : "";
}

KeyCounts Keys::counts() {
  KeyCounts counts;
  for (const custody::KeyRecord& record : files_.records()) {
    ++counts.by_state[is_bound(record) ? custody::name_of(record.state) : "unbound"];
    if (record.has_peer_destroyed) ++counts.destroyed_by_peer;
  }
  const Lock lock(mutex_);
  counts.requests = requests_.size();
  counts.approvals = static_cast<std::uint64_t>(std::ranges::count_if(
      requests_, [](const auto& each) { return each.second->state == Request::State::Waiting; }));
  counts.approvals += quorum_.waiting().size();
  counts.has_peer_cheated = has_peer_cheated_;
  return counts;
}

std::vector<Keys::Waiting> Keys::approvals() {
  std::vector<Waiting> all;
  const Lock lock(mutex_);
  for (const auto& [id, request] : requests_) {
    if (request->state != Request::State::Waiting) continue;
    Waiting& waiting = all.emplace_back(
        Waiting{request->number, request->terms(), request->about.label, request->asked.client,
                request->is_own(), request->until, details_of(request->terms(), request->about)});
    auto& shown = waiting.terms.shown_aad;
    if (shown && shown->size() > kShownToOfficers) shown->resize(kShownToOfficers);
  }
  return all;
}

std::string Keys::details_of(const KeyTerms& terms, const custody::KeyAttributes& about) const {
  std::string details = kind_text(about);
  if (!makes_key(terms.operation)) return details;
  details += ", version " + std::to_string(about.version);
  if (about.parent) {
    const auto parent = files_.find(*about.parent);
    const std::span context(terms.context);
    details += ", from " + (parent ? parent->attributes.label : std::string("a key")) + " (" +
               custody::text_of(*about.parent) + "), context '" +
               hex_of(context.first(std::min(context.size(), kShownToOfficers))) +
               (context.size() > kShownToOfficers ? "..." : "") + "'";
  }
  return details + cka_id_text(about);
}

void Keys::decide(const Caller& officer, const custody::RequestId& number, bool is_approved) {
  if (quorum_.decide(officer, number, is_approved)) return;
  SharedRequest request;
  {
    const Lock lock(mutex_);
    const auto at = std::ranges::find_if(requests_, [&](const auto& each) {
      return each.second->state == Request::State::Waiting && each.second->number == number;
    });
    if (at == requests_.end() || at->second->is_being_decided)
      throw UsageError("no request " + hex_of(number) + " waits for an approval");
    request = at->second;
    if (const auto* const by = std::get_if<Caller>(&request->by);
        by != nullptr && is_same_client(*by, officer))
      throw KeyFailed(KeyFailure::Refused, "who asks does not approve the request");
    request->is_being_decided = true;  // so that the log has one decision
    if (is_approved && request->is_own()) {
      // A request's number tells the peer when it was made, and this one begins now.
      requests_.erase(at);
      request->asked.terms.request = random_request();
      requests_.emplace(request->id(), request);
    }
  }
  std::exception_ptr failure;
  try {
    audit_.append({.event = AuditLine::Event::Alone,
                   .request = hex_of(random_request()),
                   .client = text_of(officer),
                   .operation = is_approved ? "approve" : "deny",
                   .key = custody::text_of(request->terms().key),
                   .outcome = "request " + hex_of(request->id())});
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  {
    const Lock lock(mutex_);
    request->is_being_decided = false;
    if (failure) std::rethrow_exception(failure);
    if (request->state != Request::State::Waiting)
      throw UsageError("request " + hex_of(number) + " has ended meanwhile: nothing is decided");
    if (!is_approved) {
      const std::string why = "an officer of " +
                              std::string(request->is_own() ? "this" : "the other") +
                              " party denied it";
      if (!request->is_own()) answer(*request, false, why, {});
      return finish(request, failed(KeyFailure::Refused, why));
    }
    request->is_approved = true;
    request->state = Request::State::New;
    changed_.notify_all();
  }
  if (!request->is_own()) accept(request);
}

}  // namespace tinyot::service
