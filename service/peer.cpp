#include "service/peer.h"

#include "base/error.h"
#include "engine/endpoint.h"
#include "service/configuration.h"
#include "service/event_log.h"

namespace tinyot::service {
namespace {

constexpr auto kConnectTime = std::chrono::seconds(10);

engine::Work work_of(const config::Level& level) {
  return {level.ands(), level.has_inputs() ? level.inputs() : engine::default_inputs(level.ands())};
}

engine::Endpoint endpoint_from(const config::Peer& peer) {
  engine::Endpoint endpoint{
      .listen = peer.has_listen(),
      .address = net::parse_address(peer.has_listen() ? peer.listen() : peer.connect()),
      .timeouts = {kConnectTime, std::chrono::seconds(peer.idle_timeout_s())},
  };
  try {
    if (peer.has_key()) engine::authenticate(endpoint, peer.key(), peer.peer_key());
    engine::require_authenticated(endpoint);
  } catch (const UsageError& error) {
    throw UsageError("peer " + peer.name() + ": " + error.what());
  }
  return endpoint;
}

engine::Endpoint logging(engine::Endpoint endpoint,
                         std::function<void(const std::string&)> rejected) {
  endpoint.rejected = [rejected = std::move(rejected)](const std::string& text, Remedy) {
    rejected(text);
  };
  return endpoint;
}

std::filesystem::path ledger_of(const config::Daemon& daemon, const config::Peer& peer) {
  if (!daemon.has_ledger()) return {};
  return std::filesystem::path(daemon.ledger()) / (peer.name() + "-");
}

}  // namespace

Peer::Peer(const config::Peer& config, Shared& shared)
    : config_(config), shared_(shared), me_(party_of(config.party())),
      profile_(profile_of(config.profile())), low_(work_of(config.low())),
      high_(work_of(config.high())),
      port_(logging(endpoint_from(config), [this](const std::string& text) { rejected(text); }),
            [this](std::uint64_t group) {
              // The peer has begun a new link, so it has lost this one.
              const Lock lock(mutex_);
              if (link_ && link_->group() != group) link_->shut_down();
            }),
      sessions_(std::filesystem::path(shared.config.directory()) / config.name(), shared.store_key,
                {.sessions_per_day = config.sessions_per_day(), .sigma = config.sigma()}),
      policy_(read_policy(config.policy())), connections_(config.evaluations()) {
  if (policy_.is_empty())
    log_event(LogLevel::Warning, "policy allows nothing",
              {{"peer", name()}, {"policy", config.policy()}});
  evaluations_ = std::make_unique<Evaluations>(
      config.evaluations(), me_, port_, sessions_, ledger_of(shared.config, config),
      [this](std::size_t worker, const Evaluations::Order& order, Evaluations::Outcome outcome) {
        ended(worker, order, std::move(outcome));
      });
  stocker_ = std::jthread([this](const std::stop_token& stop) { keep_stocked(stop); });
  linker_ = std::jthread([this](const std::stop_token& stop) { keep_linked(stop); });
}

Peer::~Peer() {
  linker_.request_stop();
  stocker_.request_stop();
  const Lock lock(mutex_);
  refill_break_.request_stop();
}

void Peer::check(const config::Peer& config) {
  (void)endpoint_from(config);
  (void)read_policy(config.policy());
}

std::optional<std::string> Peer::refusal(const std::string& job, const wire::Terms& terms) {
  const Lock lock(mutex_);
  const auto reason = policy_.refusal(terms, Clock::now());
  if (reason) log_refusal(job, *reason, submission_lines_);
  return reason;
}

std::optional<std::string> Peer::too_large(const engine::LoadedCircuit& circuit) const {
  const std::string limit = ", more than the stock may have (high { } of the configuration: " +
                            std::to_string(high_.ands) + " and " + std::to_string(high_.inputs) +
                            ")";
  const circuit::CircuitCost* const cost = circuit.cost_within_ands(high_.ands);
  if (cost == nullptr)
    return "the job takes more than " + std::to_string(high_.ands) + " ANDs" + limit;
  const std::uint64_t ands = cost->ands_of(circuit.lanes());
  const MaterialCounts needed =
      online::material_for(circuit.info(), ands, MaterialForm::Triples, circuit.lanes());
  const std::uint64_t inputs =
      std::max(needed[MaterialKind::AuthBitsA], needed[MaterialKind::AuthBitsB]);
  if (ands <= high_.ands && inputs <= high_.inputs) return std::nullopt;
  return "the job takes " + std::to_string(ands) + " ANDs and " + std::to_string(inputs) +
         " inputs of a party" + limit;
}

void Peer::submit(const SharedJob& job) {
  const Lock lock(mutex_);
  if (!link_) return;  // it is offered once connected
  to_offer_.push_back(job);
  offer_waiting();
  if (const auto offered = offers_.find(job->id()); offered != offers_.end())
    match(job, offered->second.terms);
}

void Peer::cancel(const SharedJob& job) {
  const Lock lock(mutex_);
  if (!shared_.jobs.cancel(*job)) return;
  shared_.metrics.evaluation(name(), JobOutcome::Cancelled);
  leave_queue(*job);
  matched_.erase(job->id());
  forget_offer(job->id());
  std::erase(to_offer_, job);
  evaluations_->cancel(*job);
  withdraw(*job);
}

void Peer::give_up(const SharedJob& job) {
  const Lock lock(mutex_);
  // Since it was found late, it may have begun: its outputs may be on their way.
  if (const JobState state = shared_.jobs.status(*job).state;
      state != JobState::WaitingForPeer && state != JobState::Queued)
    return;
  const bool is_queued = leave_queue(*job);
  std::string why = is_queued ? "no material or no free connection for the job"
                              : "the peer has not submitted the job";
  why += " within " + std::to_string(shared_.config.job_timeout_s()) + " s";
  if (!link_)
    why += "; " + name() + " is not connected" + (last_error_.empty() ? "" : ": " + last_error_);
  fail(job, {is_queued ? ErrorClass::Store : ErrorClass::Network, why});
  withdraw(*job);
}

PeerStatus Peer::status() {
  const Lock lock(mutex_);
  PeerStatus status;
  status.name = name();
  status.last_error = last_error_;
  status.party = me_;
  status.is_connected = link_ != nullptr;
  status.is_refilling = is_refilling_;
  status.revoked = revoked_;
  status.refills_stopped = refills_stopped_;
  if (refills_stopped_.empty() && !peers_refusal_.empty())
    status.refills_stopped = "the peer declines: " + peers_refusal_;
  status.stock = sessions_.stock();
  status.risk = as_double(sessions_.record().total(sessions_.open_risk()));
  for (const SessionStock& session : common_of(status.stock)) {
    if (session.left.ands == 0) continue;
    status.current = session.number;
    break;
  }
  return status;
}

PeerGauges Peer::gauges() {
  PeerGauges gauges;
  gauges.peer = name();
  gauges.low_ands = low_.ands;
  gauges.high_ands = high_.ands;
  {
    const Lock lock(mutex_);
    gauges.is_connected = link_ != nullptr;
    gauges.are_refills_stopped = !refills_stopped_.empty();
    gauges.risk = as_double(sessions_.record().total(sessions_.open_risk()));
    const engine::Work left = left_at_both();
    gauges.ands = left.ands;
    gauges.inputs = left.inputs;
  }
  gauges.jobs = shared_.jobs.counts(name());
  gauges.stores = sessions_.inventories();
  return gauges;
}

std::string Peer::retire() {
  const Lock lock(mutex_);
  const auto stock = sessions_.stock();
  if (stock.empty()) throw StoreError("there is no session with " + name());
  const std::uint64_t below = stock.back().number + 1;
  sessions_.record().set_retired_below(below);
  evaluations_->close_below(below);
  connections_.assign(connections_.size(), {});
  refill_break_.request_stop();
  is_to_look_ = true;
  changed_.notify_all();
  send_stock();
  return stock.back().id;
}

void Peer::resume_refills() {
  const Lock lock(mutex_);
  sessions_.record().resume(sessions_.open_risk());
  local_failure_.reset();
  refills_stopped_.clear();
  refill_pause_ = {};
  next_refill_ = {};
  is_to_look_ = true;
  changed_.notify_all();
  log_event(LogLevel::Info, "refills resumed", {{"peer", name()}});
}

void Peer::stop_beginning() {
  {
    const Lock lock(mutex_);
    is_stopping_ = true;
    refill_stop_.request_stop();
    queue_.clear();
    for (const SharedJob& job : shared_.jobs.of_peer(name()))
      if (shared_.jobs.status(*job).state != JobState::Running)
        fail(job, {ErrorClass::Network, "the daemon is stopping: submit the job again"});
  }
  // Without the link, the peer keeps its jobs, and begins none with this party.
  linker_.request_stop();
}

bool Peer::is_busy() {
  const Lock lock(mutex_);
  return is_refilling_ || shared_.jobs.counts(name()).running > 0;
}

}  // namespace tinyot::service
