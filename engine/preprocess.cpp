#include "engine/preprocess.h"

#include "base/error.h"
#include "base/secret.h"
#include "engine/connection.h"
#include "engine/estimate.h"
#include "engine/peer_identity.h"
#include "engine/plan.h"
#include "engine/synchronise.h"
#include "offline/preprocessor.h"
#include "storage/background_sink.h"
#include "storage/session_file.h"

namespace tinyot::engine {
namespace {

// Discards the material.
class NoSink final : public MaterialSink {
 public:
  void pour(MaterialBatch) override {}
  void finish_unit() override {}
};

// The store and session file that this job continues, if any.
struct Begun {
  std::optional<storage::SessionFile> session_file;
  std::optional<storage::Store> store;

  // Of the session; null if there is none yet.
  const storage::Manifest* manifest() const {
    return store ? &store->manifest() : session_file ? &session_file->manifest : nullptr;
  }
};

class PreprocessRun {
 public:
  // `job` is planned.
  PreprocessRun(const PreprocessRequest& job, Begun begun, Observer& observer,
                std::stop_token cancel)
      : job_(job), params_(SecurityParameters::make(job.parameters)),
        requests_(requests_of(params_, job)), work_(work_of(requests_)),
        estimate_(estimate_job(params_, work_.ands, work_.inputs, job.threads)),
        security_(security_of(params_, estimate_)), observer_(observer), cancel_(std::move(cancel)),
        session_file_(std::move(begun.session_file)), store_(std::move(begun.store)) {}

  PreprocessResult run();

 private:
  void check_existing() const;
  // Makes the store after the handshake, so that nothing is left behind if the peer never connects.
  void connect();
  void connect_workers();
  void begin_session(const storage::Manifest& manifest, const Delta& global_key);
  void check_delta(offline::Preprocessor& preprocessor);
  ReferenceBits reference_bits() const;
  void make_units();
  void check_disk() const;
  void erase_keys() const noexcept;
  PreprocessResult result_of(double wall_s) const;

  const PreprocessRequest& job_;
  const SecurityParameters params_;
  std::vector<offline::UnitRequest> requests_;
  Work work_;
  JobEstimate estimate_;
  storage::Manifest security_;
  Observer& observer_;
  std::stop_token cancel_;
  std::optional<storage::SessionFile> session_file_;
  net::PhaseLog log_;
  std::optional<storage::Store> store_;
  std::optional<Connector> connector_;  // until all workers are connected
  std::unique_ptr<net::Channel> channel_;
  checks::SessionIds ids_;
  std::vector<std::unique_ptr<net::Channel>> more_channels_;  // of all workers but the first
  std::optional<checks::Session> session_;
  std::chrono::nanoseconds latency_{0};
  std::size_t waiting_ = 0;  // workers, beyond `threads`
  std::uint64_t ands_now_ = 0;
};

void PreprocessRun::connect() {
  connector_.emplace(job_.endpoint, cancel_);
  channel_ = connector_->open();
  const CancelsWaits guard(cancel_, *channel_);
  crypto::Rng rng = crypto::Rng::from_system();
  std::optional<SessionId> existing;
  if (store_ || session_file_)
    existing = session_id_of(store_ ? store_->manifest() : session_file_->manifest);
  const checks::SessionIds ids = checks::establish_session(
      *channel_, rng, job_.party, parameters_to_agree(job_, params_, security_), existing);
  const ScopedSecret<Delta> global_key(
      store_          ? store_->global_key()
      : session_file_ ? session_file_->global_key
                      : offline::draw_global_key(rng, job_.party, params_.profile()));
  session_.emplace(job_.party, ids, global_key, *channel_, std::move(rng), log_);
  const storage::Manifest manifest = new_manifest(job_, security_, ids.session, requests_.size());
  if (job_.session && !session_file_)
    within_session({}, *channel_, [&] { begin_session(manifest, global_key); });
  if (!store_)
    store_ = storage::Store::create(job_.store, manifest, global_key, estimate_.disk_bytes,
                                    job_.store_key);
  ids_ = ids;
}

// Inside the session: a peer that deviates revokes it.
void PreprocessRun::connect_workers() {
  const CancelsWaits guard(cancel_, *channel_);
  latency_ = latency_of(*channel_);
  waiting_ = waiting_workers(params_, work_.ands, job_.threads, latency_);
  for (std::uint64_t worker = 1; worker < job_.threads + waiting_; ++worker)
    more_channels_.push_back(connector_->open_worker(ids_, job_.party, worker));
  connector_.reset();
}

void PreprocessRun::begin_session(const storage::Manifest& manifest, const Delta& global_key) {
  ReferenceBits reference = offline::make_reference_bits(*session_, params_);
  session_file_.emplace();
  session_file_->manifest = manifest;
  session_file_->global_key = global_key;
  session_file_->reference = std::move(reference);
  storage::write_session_file(*job_.session, *session_file_, job_.store_key);
}

// The reference bits for the Delta-consistency check of this connection. Units have already been
// made under the session's keys, so no unit may be made without the check.
ReferenceBits PreprocessRun::reference_bits() const {
  std::optional<ReferenceBits> reference = store_->reference_bits();
  if (!reference || reference->bits_a.count != offline::kReferenceBits ||
      reference->bits_b.count != offline::kReferenceBits)
    throw StoreError(
        "the store in " + job_.store.string() +
            " does not have reference bits to check new units against, so no more units can be "
            "made for it: if it was begun with a session file, give that file; otherwise use what "
            "it has, and start a new session in a new store for more",
        Remedy::GiveSessionFile);
  return std::move(*reference);
}

void PreprocessRun::check_delta(offline::Preprocessor& preprocessor) {
  if (session_file_) return preprocessor.set_reference_bits(session_file_->reference);
  const ReferenceBits reference = reference_bits();
  preprocessor.set_reference_bits(reference);
}

void PreprocessRun::make_units() {
  offline::Preprocessor preprocessor(*session_, params_, more_channels_, offline::Pace(latency_),
                                     waiting_);
  // A party that crashed may have lost units that the other one has: both continue from the units
  // that both have.
  synchronise(*session_, *store_, SynchroniseFor::Making);
  const std::size_t already_made =
      std::min<std::size_t>(store_->manifest().units_made, requests_.size());
  const auto still_to_make = std::span(requests_).subspan(already_made);
  if (!still_to_make.empty() && (session_file_ || already_made > 0)) check_delta(preprocessor);
  std::uint64_t ands_before = 0;
  for (std::size_t u = 0; u < already_made; ++u) ands_before += requests_[u].plan.ands;
  observer_.began(work_.ands, ands_before);
  NoSink no_sink;
  offline::UnitAccount account(job_.stores ? static_cast<MaterialSink&>(*store_) : no_sink,
                               params_);
  storage::BackgroundSink sink(account);
  const std::size_t made = preprocessor.make_units(
      still_to_make, sink, account,
      {.wanted = [&] { return !cancel_.stop_requested(); },
       .observer =
           [&](std::size_t unit, std::string_view phase, std::uint64_t done, std::uint64_t total) {
             observer_.advanced(unit, still_to_make[unit].plan.ands, phase, done, total);
           },
       .check_failed = [&](const std::exception_ptr&) { erase_keys(); }});
  {
    const net::PhaseLog::Scope phase(log_, *channel_, "end of store", made);
    sink.flush();
  }
  const storage::BackgroundSink::Cost cost = sink.cost();
  log_.add({.name = "store, meanwhile", .wall_s = cost.wall_s, .cpu_s = cost.cpu_s, .items = made});
  for (const offline::UnitRequest& request : still_to_make.first(made))
    ands_now_ += request.plan.ands;
  if (!job_.stores) return;
  synchronise(*session_, *store_, SynchroniseFor::Making);
  if (store_->manifest().state == storage::SessionState::Complete)
    confirm_completion(*session_, *store_);
}

// A failed check is recorded before anything else is done about it, by the thread that finds it. No
// shard may be begun under a global key that the peer may have tried to guess.
void PreprocessRun::erase_keys() const noexcept {
  try {
    store_->erase_keys();
    if (session_file_) storage::erase_session_file(*job_.session);
  } catch (const std::exception&) {
    // Retried once the workers have stopped; the failed check is what to report.
  }
}

Begun open_existing(const PreprocessRequest& job) {
  Begun begun;
  std::error_code error;
  if (job.session && std::filesystem::exists(*job.session, error)) {
    begun.session_file = storage::read_session_file(*job.session, job.store_key);
    if (begun.session_file->reference.bits_a.count != offline::kReferenceBits)
      throw StoreError("the session file " + job.session->string() +
                       " does not hold the reference bits of a session; begin a new one");
  } else if (job.session && job.shard != 1) {
    throw StoreError("there is no session file " + job.session->string() +
                     " yet: begin shard 1, which makes it, and copy it here");
  }
  if (job.resume && (!job.session || storage::Store::exists(job.store)))
    begun.store = storage::Store::open(
        job.store, {.purpose = storage::Purpose::Make, .store_key = job.store_key});
  else
    storage::Store::check_absent(job.store);
  return begun;
}

void PreprocessRun::check_existing() const {
  if (session_file_) {
    const std::string name = "the session of " + job_.session->string();
    check_same_parameters(name, session_file_->manifest, job_, security_);
    check_peer(session_file_->manifest, job_.endpoint, name);
  }
  if (!store_) return;
  (void)store_->global_key();  // a revoked session is refused here
  const std::string name = "the store in " + job_.store.string();
  check_same_parameters(name, store_->manifest(), job_, security_);
  check_peer(store_->manifest(), job_.endpoint, name);
  if (store_->manifest().shard != job_.shard)
    throw StoreError(name + " is shard " + std::to_string(store_->manifest().shard) + ", not " +
                     std::to_string(job_.shard));
  if (job_.session &&
      (!session_file_ || session_file_->manifest.session_id != store_->manifest().session_id))
    throw StoreError(name + " does not belong to the session of " + job_.session->string());
  // Nothing is sent if it is certain that nothing can be made.
  const std::uint64_t made = store_->manifest().units_made;
  if (!session_file_ && made > 0 && made < requests_.size()) (void)reference_bits();
}

// The disk space for the missing units, in proportion to their number.
void PreprocessRun::check_disk() const {
  const std::uint64_t made =
      store_ ? std::min<std::uint64_t>(store_->manifest().units_made, requests_.size()) : 0;
  storage::require_free_space(job_.store,
                              estimate_.disk_bytes / requests_.size() * (requests_.size() - made),
                              "the material to be made");
}

PreprocessResult PreprocessRun::result_of(double wall_s) const {
  return {.store = store_->manifest(),
          .attempts = store_->attempts(),
          .ands = ands_now_,
          .threads = job_.threads,
          .latency_s = std::chrono::duration<double>(latency_).count(),
          .units_in_flight = job_.threads + waiting_,
          .wall_s = wall_s,
          .store_bytes = store_->store_bytes(),
          .phases = log_.phases()};
}

PreprocessResult PreprocessRun::run() {
  check_existing();
  const bool is_complete = store_ && store_->manifest().state == storage::SessionState::Complete;
  if (is_complete && store_->manifest().peer_complete) return result_of(0);
  if (job_.stores) check_disk();
  try {
    unless_cancelled(cancel_, [this] { connect(); });
  } catch (const NetworkError&) {
    // The peer may have been killed before its half was complete; then it waits for this party. A
    // peer that is not there does not need this party.
    if (!is_complete) throw;
    return result_of(0);
  }
  observer_.connected();
  auto start = std::chrono::steady_clock::now();
  try {
    within_session(std::span(&*store_, 1), *channel_, [&] {
      unless_cancelled(cancel_, [this] { connect_workers(); });
      start = std::chrono::steady_clock::now();
      make_units();
      channel_->flush();
    });
  } catch (...) {
    // No shard may be begun under a global key that the peer has tried to guess.
    if (session_file_ && store_->manifest().state == storage::SessionState::Revoked)
      storage::erase_session_file(*job_.session);
    throw;
  }
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result_of(wall_s);
}

}  // namespace

PreprocessResult preprocess(const PreprocessRequest& request, Observer& observer,
                            std::stop_token cancel) {
  Begun begun = open_existing(request);
  const PreprocessRequest whole = planned(request, begun.manifest());
  return PreprocessRun(whole, std::move(begun), observer, std::move(cancel)).run();
}

}  // namespace tinyot::engine
