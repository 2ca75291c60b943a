#include "tinyot/preprocess.h"

#include "base/error.h"
#include "base/secret.h"
#include "engine/base_ot_choice.h"
#include "engine/begun.h"
#include "engine/connection.h"
#include "engine/disk_space.h"
#include "engine/endpoint.h"
#include "engine/link_fit.h"
#include "engine/memory.h"
#include "engine/peer_identity.h"
#include "engine/plan.h"
#include "engine/store_info.h"
#include "engine/synchronise.h"
#include "engine/top_up.h"
#include "material/background_sink.h"
#include "offline/unit/preprocessor.h"
#include "storage/session_file.h"

namespace tinyot {
namespace engine {
namespace {

// With so many times what is wanted in this party's store, no more is made, whatever the peer has.
constexpr std::uint64_t kStockMax = 2;

// For how long a party waits for the peer only to tell it that the job cannot be stored.
constexpr auto kTimeToTellPeer = std::chrono::seconds(10);

// Discards the material.
class NoSink final : public material::Sink {
 public:
  void pour(material::Batch) override {}
  void finish_unit() override {}
};

class PreprocessRun {
 public:
  PreprocessRun(const PreprocessRequest& request, Begun begun, Observer& observer,
                std::stop_token cancel)
      : request_(request), plan_(plan_of(request, begun)), observer_(observer),
        cancel_(std::move(cancel)), session_file_(std::move(begun.session_file)),
        store_(std::move(begun.store)) {}

  PreprocessResult run();
  // Whether the connection only finished a job that was begun before, and another one has to ensure
  // what the request asks for.
  bool is_to_be_continued() const {
    return grows() && is_resumed_ && is_complete() && !cancel_.stop_requested();
  }

 private:
  bool grows() const { return request_.amount != Amount::Total; }
  bool is_complete() const { return store_ && store_->manifest().state == StoreState::Complete; }
  void check_existing() const;
  // The error if the disk has no room for these units, or for those that this connection is known
  // to add to the store before the peer is there.
  std::optional<DiskFull> shortage_of(std::span<const offline::UnitRequest> units) const;
  std::optional<DiskFull> shortage() const;
  void connect(const PeerOptions& peer);
  // Makes the store after the handshake, so that nothing is left behind if the peer never connects,
  // and only if both parties can store what is to be made.
  void begin_store();
  void agree_on_job();
  void plan_next_job(const StoreStatuses& statuses);
  void check_claim_of_peer(const MaterialCounts& left_at_both) const;
  void connect_workers();
  void begin_session(const storage::Manifest& manifest);
  void check_delta(offline::Preprocessor& preprocessor);
  material::ReferenceBits reference_bits() const;
  // The units of the job that the store lacks.
  std::span<const offline::UnitRequest> still_to_make() const;
  void keep_reference_bits();
  void make_units();
  void erase_keys() const noexcept;
  PreprocessResult result_of(double wall_s) const;

  const PreprocessRequest& request_;
  JobPlan plan_;
  Observer& observer_;
  std::stop_token cancel_;
  std::optional<storage::SessionFile> session_file_;
  net::PhaseLog log_;
  std::optional<storage::Store> store_;
  bool is_new_ = false;
  bool is_resumed_ = false;             // this connection finishes a job that an earlier one began
  std::optional<Connector> connector_;  // until all workers are connected
  std::unique_ptr<net::Channel> channel_;
  checks::SessionIds ids_;
  std::vector<std::unique_ptr<net::Channel>> more_channels_;  // of all workers but the first
  std::optional<checks::Session> session_;
  std::chrono::nanoseconds latency_{0};
  offline::SecurityParameters params_ = plan_.params;  // fitted to the link
  std::size_t waiting_ = 0;                            // workers, beyond `threads`
  std::uint64_t ands_now_ = 0;
};

void PreprocessRun::connect(const PeerOptions& peer) {
  connector_.emplace(peer, cancel_);
  channel_ = connector_->open();
  const CancelsWaits guard(cancel_, *channel_);
  crypto::Rng rng = crypto::Rng::from_system();
  std::optional<SessionId> existing;
  if (store_ || session_file_)
    existing = session_id_of(store_ ? store_->manifest() : session_file_->manifest);
  checks::Agreement agreement;
  const checks::SessionIds ids = checks::establish_session(
      *channel_, rng, request_.party,
      parameters_to_agree(request_, plan_, store_ && !request_.session), existing, &agreement);
  const ScopedSecret<Delta> global_key(
      store_          ? store_->global_key()
      : session_file_ ? session_file_->global_key
                      : offline::draw_global_key(rng, request_.party, plan_.params.profile(),
                                                 plan_.params.material()));
  session_.emplace(request_.party, ids, global_key, *channel_, std::move(rng), log_, Revocations{},
                   agreed_base_ot(agreement));
  ids_ = ids;
}

void PreprocessRun::begin_store() {
  const CancelsWaits guard(cancel_, *channel_);
  const storage::Manifest manifest = new_manifest(plan_, ids_.session);
  const auto existing = store_ ? std::span(&*store_, 1) : std::span<storage::Store>();
  within_session(existing, *channel_, [&] {
    agree_on_space(*channel_, shortage());
    if (request_.session && !session_file_) begin_session(manifest);
  });
  is_new_ = !store_;
  if (!is_new_) return;
  if (request_.before_new_store) request_.before_new_store();
  store_ = storage::Store::create(request_.store, manifest, session_->global_key(),
                                  plan_.estimate.disk_bytes, request_.store_key);
}

// A party that crashed may have lost units that the other one has: both continue from the units
// that both have.
void PreprocessRun::agree_on_job() {
  const CancelsWaits guard(cancel_, *channel_);
  // Recorded before the peer can begin a job: a party that is killed before it has recorded the job
  // connects again, instead of ending because everything is complete.
  if (grows() && store_->manifest().peer_complete)
    store_->update_manifest([](storage::Manifest& manifest) { manifest.peer_complete = false; });
  const StoreStatuses statuses = synchronise(*session_, *store_, SynchroniseFor::Making);
  if (reconcile_last_job(*session_, *store_, plan_))
    is_resumed_ = !is_new_;
  else if (grows())
    plan_next_job(statuses);
}

void PreprocessRun::plan_next_job(const StoreStatuses& statuses) {
  const MaterialCounts left = left_at_both(*store_, statuses);
  plan_ = next_job(request_, left);
  if (plan_.units.empty()) return;
  if (request_.amount == Amount::Left) check_claim_of_peer(left);
  agree_on_space(*channel_, shortage_of(plan_.units));
  begin_next_job(*session_, *store_, plan_);
}

// A peer that claims again and again to have used what this party still has would have it store
// without end.
void PreprocessRun::check_claim_of_peer(const MaterialCounts& left_at_both) const {
  const AndMaterial form = plan_.params.material();
  const Demand own = capacity_of(store_->left(), form), both = capacity_of(left_at_both, form);
  const bool has_ands = both.ands < request_.ands && own.ands >= kStockMax * request_.ands,
             has_inputs =
                 both.inputs < inputs_of(request_) && own.inputs >= kStockMax * inputs_of(request_);
  if (has_ands || has_inputs)
    throw Disagreement("the peer claims to have less left than " + std::to_string(request_.ands) +
                       " ANDs and " + std::to_string(inputs_of(request_)) +
                       " inputs of a party, and this party has " + std::to_string(own.ands) +
                       " and " + std::to_string(own.inputs) +
                       ": no more is made; begin a new session if the peer has lost material");
}

// Inside the session: a peer that deviates revokes it. Both parties lack the same units.
void PreprocessRun::connect_workers() {
  const CancelsWaits guard(cancel_, *channel_);
  latency_ = latency_of(*channel_);
  params_ =
      fitted_to_link(plan_.params, plan_.demand.ands, request_.threads, request_.party, *channel_);
  waiting_ = waiting_workers(plan_.params, plan_.demand.ands, request_.threads, latency_);
  for (std::uint64_t worker = 1; worker < request_.threads + waiting_; ++worker)
    more_channels_.push_back(connector_->open_worker(ids_, request_.party, worker));
}

void PreprocessRun::begin_session(const storage::Manifest& manifest) {
  material::ReferenceBits reference = offline::make_reference_bits(*session_, plan_.params);
  session_file_.emplace();
  session_file_->manifest = manifest;
  session_file_->global_key = session_->global_key();
  session_file_->reference = std::move(reference);
  storage::write_session_file(*request_.session, *session_file_, request_.store_key);
}

// The reference bits for the Delta-consistency check of this connection. Units have already been
// made under the session's keys, so no unit may be made without the check.
material::ReferenceBits PreprocessRun::reference_bits() const {
  std::optional<material::ReferenceBits> reference = store_->reference_bits();
  if (!reference || reference->bits_a.count != offline::kReferenceBits ||
      reference->bits_b.count != offline::kReferenceBits)
    throw StoreError(
        "the store in " + request_.store.string() +
            " does not have reference bits to check new units against, so no more units can be "
            "made for it: if it was begun with a session file, give that file; otherwise use what "
            "it has, and start a new session in a new store for more",
        Remedy::GiveSessionFile);
  return std::move(*reference);
}

void PreprocessRun::check_delta(offline::Preprocessor& preprocessor) {
  if (session_file_) return preprocessor.set_reference_bits(session_file_->reference);
  const material::ReferenceBits reference = reference_bits();
  preprocessor.set_reference_bits(reference);
}

std::span<const offline::UnitRequest> PreprocessRun::still_to_make() const {
  if (is_complete()) return {};
  const storage::Manifest& manifest = store_->manifest();
  return std::span(plan_.units)
      .subspan(
          std::min<std::size_t>(manifest.units_made - manifest.units_before, plan_.units.size()));
}

// A shard keeps those of its session, so that the store that it is merged into can grow.
void PreprocessRun::keep_reference_bits() {
  for (const material::Batch* bits :
       {&session_file_->reference.bits_a, &session_file_->reference.bits_b}) {
    material::Batch copy(bits->kind, request_.party, bits->count);
    material::copy_objects(*bits, 0, bits->count, copy, 0);
    store_->add_reference_bits(std::move(copy));
  }
}

void PreprocessRun::make_units() {
  offline::Preprocessor preprocessor(*session_, params_, more_channels_,
                                     offline::PipelineDepth(latency_), waiting_);
  const auto units = still_to_make();
  const std::uint64_t already_made = store_->manifest().units_made;
  if (!units.empty() && (session_file_ || already_made > 0)) check_delta(preprocessor);
  if (session_file_ && already_made == 0) keep_reference_bits();
  observer_.began(plan_.demand.ands, plan_.demand.ands - demand_of(units).ands);
  NoSink no_sink;
  offline::UnitAccount account(
      request_.is_stored ? static_cast<material::Sink&>(*store_) : no_sink, plan_.params,
      unit_bytes_max(plan_.params, 1 + more_channels_.size(), request_.memory_bytes));
  material::BackgroundSink sink(account);
  const std::size_t made = preprocessor.make_units(
      units, sink, account,
      {.wanted = [&] { return !cancel_.stop_requested(); },
       .observer =
           [&](std::size_t unit, std::string_view phase, std::uint64_t done, std::uint64_t total) {
             observer_.advanced(unit, units[unit].plan.ands, phase, done, total);
           },
       .check_failed = [&](const std::exception_ptr&) { erase_keys(); }});
  {
    const net::PhaseLog::Scope phase(log_, *channel_, "end of store", made);
    sink.flush();
  }
  const material::BackgroundSink::Cost cost = sink.cost();
  log_.add({.name = "store, meanwhile", .wall_s = cost.wall_s, .cpu_s = cost.cpu_s, .items = made});
  ands_now_ = demand_of(units.first(made)).ands;
  if (!request_.is_stored) return;
  const std::uint64_t units_made = store_->manifest().units_made;
  synchronise(*session_, *store_, SynchroniseFor::Making);
  // A peer that claims this each time would have units made again without end, as if all were well.
  if (const std::uint64_t kept = store_->manifest().units_made; kept < units_made)
    throw Disagreement("the peer says that it has lost " + std::to_string(units_made - kept) +
                       " units that both parties have just made; they are dropped here, too");
  if (is_complete()) confirm_completion(*session_, *store_);
}

// A failed check is recorded before anything else is done about it, by the thread that finds it. No
// shard may be begun under a global key that the peer may have tried to guess.
void PreprocessRun::erase_keys() const noexcept {
  try {
    store_->erase_keys();
    if (session_file_) storage::erase_session_file(*request_.session);
  } catch (const std::exception&) {
    // Retried once the workers have stopped; the failed check is what to report.
  }
}

void PreprocessRun::check_existing() const {
  const auto check = [&](const std::string& name, const storage::Manifest& manifest) {
    const JobPlan wanted(resolve(request_, &manifest));
    check_same_parameters(name, manifest, wanted.request, wanted.security);
    check_peer(manifest, request_.endpoint, name);
  };
  if (session_file_) check("the session of " + request_.session->string(), session_file_->manifest);
  if (!store_) return;
  (void)store_->global_key();  // a revoked session is refused here
  const std::string name = "the store in " + request_.store.string();
  const storage::Manifest& manifest = store_->manifest();
  check(name, manifest);
  if (manifest.shard != request_.shard)
    throw StoreError(name + " is shard " + std::to_string(manifest.shard) + ", not " +
                     std::to_string(request_.shard));
  if (request_.session &&
      (!session_file_ || session_file_->manifest.session_id != manifest.session_id))
    throw StoreError(name + " does not belong to the session of " + request_.session->string());
  if (request_.amount == Amount::More && !is_complete())
    throw StoreError(name + " is not complete, so nothing can be added to it yet", Remedy::Resume);
  // Nothing is sent if it is certain that nothing can be made.
  if (!session_file_ && manifest.units_made > 0 && (grows() || !still_to_make().empty()))
    (void)reference_bits();
}

std::optional<DiskFull> PreprocessRun::shortage_of(
    std::span<const offline::UnitRequest> units) const {
  if (!request_.is_stored) return std::nullopt;
  return disk_shortage(request_.store, space_for(units, plan_.params.material()));
}

std::optional<DiskFull> PreprocessRun::shortage() const {
  // What a complete store gets is agreed on later.
  if (is_complete() && request_.amount != Amount::More) return std::nullopt;
  return shortage_of(store_ && !is_complete() ? still_to_make() : plan_.units);
}

PreprocessResult PreprocessRun::result_of(double wall_s) const {
  StoreInfo store = info_of(*store_);
  store.security.own = params_.own();
  return {.store = std::move(store),
          .ands = ands_now_,
          .base_ot = session_ ? std::optional(session_->base_ot()) : std::nullopt,
          .threads = request_.threads,
          .latency_s = std::chrono::duration<double>(latency_).count(),
          .units_in_flight = request_.threads + waiting_,
          .wall_s = wall_s,
          .phases = log_.phases()};
}

PreprocessResult PreprocessRun::run() {
  check_existing();
  const bool was_complete = is_complete();
  if (was_complete && store_->manifest().peer_complete && !grows()) return result_of(0);
  // A party that cannot store the material tells the peer so, if the peer is there.
  const std::optional<DiskFull> too_little = shortage();
  PeerOptions peer = options_of(request_.endpoint);
  if (too_little)
    peer.timeouts.connect =
        std::min<std::chrono::milliseconds>(peer.timeouts.connect, kTimeToTellPeer);
  try {
    unless_cancelled(cancel_, [&] { connect(peer); });
  } catch (const NetworkError&) {
    if (too_little) throw DiskFull(*too_little);
    // The peer may have been killed before its half was complete; then it waits for this party. A
    // peer that is not there does not need this party.
    if (!was_complete || grows()) throw;
    return result_of(0);
  }
  observer_.connected();
  auto start = std::chrono::steady_clock::now();
  try {
    unless_cancelled(cancel_, [this] { begin_store(); });
    within_session(std::span(&*store_, 1), *channel_, [&] {
      unless_cancelled(cancel_, [this] {
        agree_on_job();
        if (!still_to_make().empty()) connect_workers();
        connector_.reset();
      });
      start = std::chrono::steady_clock::now();
      make_units();
      channel_->flush();
    });
  } catch (const Error& error) {
    // No shard may be begun under a global key that the peer has tried to guess.
    const bool is_revoked = store_ && store_->manifest().state == StoreState::Revoked;
    if (session_file_ && is_revoked) storage::erase_session_file(*request_.session);
    const auto* const lost = dynamic_cast<const NetworkError*>(&error);
    if (lost == nullptr || lost->remedy() != Remedy::None || !store_ || is_revoked) throw;
    throw NetworkError(lost->what(), lost->phase(), Remedy::Resume);
  }
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result_of(wall_s);
}

}  // namespace
}  // namespace engine

PreprocessResult preprocess(const PreprocessRequest& request, Observer* observer,
                            std::stop_token cancel) {
  Observer none;
  // A store that is to grow while its last job is incomplete takes two connections: what hashes are
  // bound to would be the same for units of both jobs in one.
  std::optional<PreprocessResult> earlier;
  for (;;) {
    engine::PreprocessRun run(request, engine::open_existing(request),
                              observer != nullptr ? *observer : none, cancel);
    PreprocessResult result = run.run();
    if (earlier) {
      result.ands += earlier->ands;
      result.wall_s += earlier->wall_s;
      result.phases.insert(result.phases.begin(), earlier->phases.begin(), earlier->phases.end());
    }
    if (earlier || !run.is_to_be_continued()) return result;
    earlier = std::move(result);
  }
}

}  // namespace tinyot
