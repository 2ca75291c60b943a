#include "service/peer.h"

#include <algorithm>

#include "base/error.h"
#include "custody/coded.h"
#include "engine/run_estimate.h"
#include "online/online_phase.h"
#include "service/configuration.h"
#include "service/error_log.h"
#include "service/event_log.h"

namespace tinyot::service {
namespace {

std::filesystem::path ledger_of(const config::Daemon& daemon, const config::Peer& peer) {
  if (!daemon.has_ledger()) return {};
  return std::filesystem::path(daemon.ledger()) / (peer.name() + "-");
}

Policy policy_of(const config::Peer& peer) {
  Policy policy(read_policy(peer.policy()));
  if (policy.is_empty())
    log_event(LogLevel::Warning, "policy allows nothing",
              {{"peer", peer.name()}, {"policy", peer.policy()}});
  return policy;
}

}  // namespace

Peer::Peer(const config::Peer& config, Shared& shared)
    : settings_(config), shared_(shared), link_(shared.config, config, settings_, *this),
      sessions_(std::filesystem::path(shared.config.directory()) / config.name(), shared.store_key,
                {.sessions_per_day = config.sessions_per_day(), .sigma = config.sigma()},
                shared.config.refill_threads()),
      evaluations_(
          settings_, link_.port(), sessions_, shared.jobs, ledger_of(shared.config, config),
          [this](std::size_t worker, const Evaluations::Order& order,
                 Evaluations::Outcome outcome) {
            if (outcome.error && outcome.error->error_class == ErrorClass::PeerCheated)
              peer_cheated();
            scheduler_.ended(worker, order, std::move(outcome));
          },
          [this] { scheduler_.dispatch(); }),
      stock_(settings_, shared, sessions_, evaluations_, link_),
      scheduler_(settings_, shared, policy_of(config), link_, stock_, evaluations_),
      refills_(settings_, shared, sessions_, stock_, scheduler_, link_,
               [this] { peer_cheated(); }) {
  restore_jobs(std::filesystem::path(shared.config.directory()) / config.name());
  if (config.has_custody())
    keys_ = std::make_unique<Keys>(config, settings_, shared, link_, scheduler_);
  link_.start();
}

// Inputs are not written without a key that seals them.
void Peer::restore_jobs(const std::filesystem::path& directory) {
  if (!shared_.store_key) return;
  const auto restored = shared_.jobs.keep(
      name(), settings_.me, std::make_unique<JobFiles>(directory, name(), *shared_.store_key));
  for (const auto& [job, failure] : restored) {
    if (failure)
      scheduler_.give_up_restored(job, *failure);
    else if (const auto reason = refusal_of_restored(*job))
      scheduler_.give_up_restored(job, {ErrorClass::Disagreement, *reason});
  }
  if (!restored.empty())
    log_event(LogLevel::Info, "jobs restored",
              {{"peer", name()},
               {"jobs", restored.size()},
               {"waiting", shared_.jobs.counts(name()).waiting}});
}

// As of a job that is submitted now, since the configuration may be another one.
std::optional<std::string> Peer::refusal_of_restored(const Job& job) {
  if (has_ended(shared_.jobs.status(job).state)) return std::nullopt;
  try {
    check_phase(job.request().terms.online());
  } catch (const UsageError& error) {
    return error.what();
  }
  if (auto reason = refusal(job.id(), job.request().terms)) return reason;
  return too_large(*job.request().circuit);
}

// A failure here must not keep what calls it from going on.
void Peer::peer_cheated() {
  ErrorLog errors("keys not suspended", name());
  if (keys_) errors.run([&] { keys_->peer_cheated(); });
}

// First the threads, which use several parts.
Peer::~Peer() {
  link_.request_stop();
  refills_.request_stop();
  link_.stop();
  refills_.stop();
  evaluations_.stop();
  if (keys_) keys_->stop();
}

void Peer::check(const config::Peer& config) {
  Link::check(config);
  (void)read_policy(config.policy());
  if (config.has_custody()) (void)KeyPolicy(read_key_policy(config.custody().policy()));
}

Peer::Renewal Peer::read_renewal(const config::Peer& config) const {
  std::optional<KeyPolicy> key_policy;
  if (keys_) key_policy = Keys::read_policy(config);
  return {policy_of(config), std::move(key_policy), link_.renewed(config)};
}

void Peer::renew(Renewal renewal) {
  scheduler_.set_policy(std::move(renewal.policy));
  if (keys_ && renewal.key_policy) keys_->set_policy(std::move(*renewal.key_policy));
  if (renewal.tls) link_.renew(std::move(renewal.tls));
}

void Peer::keep_up() {
  link_.end_expired();
  stock_.tell_room();
  scheduler_.dispatch();
  if (keys_) keys_->keep_up();
}

void Peer::check_phase(const std::string& online) const {
  if (online.empty()) return;
  const auto phase = requested_phase(online);
  if (!phase) throw UsageError("a job names one online phase, or none");
  (void)online::phases_on(settings_.material, phase);
  if (settings_.online && phase != settings_.online)
    throw UsageError("the configuration says online: " + std::string(name_of(*settings_.online)) +
                     " for jobs with " + settings_.name + ", and the job " + online);
}

std::optional<std::string> Peer::too_large(const engine::LoadedCircuit& circuit) const {
  const engine::Demand high = settings_.high;
  const std::string limit = ", more than the stock may have (high { } of the configuration: " +
                            std::to_string(high.ands) + " and " + std::to_string(high.inputs) + ")";
  const circuit::CircuitCost* const cost = circuit.cost_within_ands(high.ands);
  if (cost == nullptr)
    return "the job takes more than " + std::to_string(high.ands) + " ANDs" + limit;
  const engine::Demand needed = engine::demand_of_runs(circuit, settings_.material, 1);
  if (needed.ands <= high.ands && needed.inputs <= high.inputs) return std::nullopt;
  return "the job takes " + std::to_string(needed.ands) + " ANDs and " +
         std::to_string(needed.inputs) + " inputs of a party" + limit;
}

void Peer::link_is_up() {
  stock_.link_is_up();
  scheduler_.link_is_up();
  if (keys_) keys_->link_is_up();
}

void Peer::link_has_room() {
  scheduler_.link_has_room();
  if (keys_) keys_->link_has_room();
}

// First the scheduler, which begins nothing from then on.
void Peer::link_is_down() {
  scheduler_.link_is_down();
  stock_.link_is_down();
  refills_.link_is_down();
  if (keys_) keys_->link_is_down();
}

void Peer::received(const wire::Message& message) {
  switch (message.body_case()) {
    case wire::Message::kOffer:
      return scheduler_.offered(message.offer());
    case wire::Message::kWithdraw:
      return scheduler_.withdrawn(message.withdraw());
    case wire::Message::kRefuse:
      return scheduler_.refused(message.refuse());
    case wire::Message::kStart:
      if (!settings_.leads()) return scheduler_.started(message.start());
      break;
    case wire::Message::kStock:
      stock_.received(message.stock());
      return scheduler_.dispatch();
    case wire::Message::kRefill:
      if (!settings_.leads()) return refills_.ordered(message.refill());
      break;
    case wire::Message::kRefillAnswer:
      if (settings_.leads()) return refills_.answered(message.refill_answer());
      break;
    case wire::Message::kKept:
      return scheduler_.kept(message.kept());
    case wire::Message::kPrepare:
      if (!settings_.leads()) return scheduler_.prepare_ordered(message.prepare());
      break;
    case wire::Message::kPrepareAnswer:
      if (settings_.leads()) return scheduler_.prepare_answered(message.prepare_answer());
      break;
    case wire::Message::kKeyHaves:
    case wire::Message::kKeyRequest:
    case wire::Message::kKeyAnswer:
    case wire::Message::kKeyStart:
    case wire::Message::kKeyEnd:
    case wire::Message::kKeyWaits:
    case wire::Message::kKeyCertificate:
      if (received_about_keys(message)) return;
      break;
    case wire::Message::BODY_NOT_SET:
      break;
  }
  throw NetworkError("the peer sent a message that is not party " + name_of(peer_of(settings_.me)) +
                     "'s to send");
}

// Whether it was the peer's to send.
bool Peer::received_about_keys(const wire::Message& message) {
  if (!keys_) {
    if (!message.has_key_request()) return message.has_key_haves() || message.has_key_end();
    wire::Message reply;
    const auto id = request_in(message.key_request().said());
    if (!id) return false;
    custody::put_bytes(*id, *reply.mutable_key_end()->mutable_request());
    reply.mutable_key_end()->set_reason("the configuration has no custody { } for this peer");
    link_.send(reply);
    return true;
  }
  if (message.has_key_haves())
    keys_->told(message.key_haves());
  else if (message.has_key_request())
    keys_->requested(message.key_request());
  else if (message.has_key_answer())
    keys_->answered(message.key_answer());
  else if (message.has_key_waits())
    keys_->waits(message.key_waits());
  else if (message.has_key_certificate())
    keys_->certified(message.key_certificate());
  else if (message.has_key_end())
    keys_->ended(message.key_end());
  else if (!settings_.leads())
    keys_->started(message.key_start());
  else
    return false;
  return true;
}

PeerStatus Peer::status() {
  return {settings_.name,    settings_.me,        link_.status(),        stock_.status(),
          refills_.status(), scheduler_.counts(), scheduler_.prepared(), stock_.disk_shortage()};
}

std::string Peer::lacking() {
  if (const Link::Status link = link_.status(); !link.is_up)
    return "not connected" + (link.last_error.empty() ? "" : ": " + link.last_error);
  if (std::string shortage = stock_.disk_shortage(); !shortage.empty()) return shortage;
  if (std::string of_keys = keys_ ? keys_->lacking() : ""; !of_keys.empty()) return of_keys;
  const engine::Demand left = stock_.left_at_both();
  return left.ands < settings_.low.ands || left.inputs < settings_.low.inputs
             ? "less than the low watermark in stock"
             : "";
}

std::vector<CertificateEnd> Peer::certificates() const {
  const auto tls = link_.port().options().tls;
  if (!tls) return {};
  std::vector<CertificateEnd> ends = {{"party", settings_.name, tls->valid_until()}};
  if (const auto end = tls->peer_valid_until()) ends.push_back({"peer", settings_.name, *end});
  return ends;
}

PeerGauges Peer::gauges() {
  PeerGauges gauges;
  gauges.peer = settings_.name;
  gauges.low_ands = settings_.low.ands;
  gauges.high_ands = settings_.high.ands;
  gauges.refill_bytes =
      engine::bytes_on_disk(settings_.material, settings_.high.ands, settings_.high.inputs);
  gauges.is_connected = link_.status().is_up;
  gauges.are_refills_stopped = !refills_.status().stopped.empty();
  gauges.risk = stock_.status().risk;
  const engine::Demand left = stock_.left_at_both();
  gauges.ands = left.ands;
  gauges.inputs = left.inputs;
  gauges.jobs = scheduler_.counts();
  gauges.unwritten = shared_.jobs.unwritten(settings_.name);
  gauges.prepared = scheduler_.prepared();
  gauges.stores = sessions_.inventories();
  if (keys_) gauges.keys = keys_->counts();
  return gauges;
}

void Peer::stop_beginning() {
  if (keys_) keys_->stop_beginning();
  scheduler_.stop_beginning();
  refills_.stop_beginning();
  // Without the link, the peer keeps its jobs, and begins none with this party.
  link_.request_stop();
}

bool Peer::is_busy() {
  return refills_.is_refilling() || scheduler_.counts().running > 0 || (keys_ && keys_->is_busy());
}

void Peer::give_up_requests() {
  if (keys_) keys_->give_up();
}

}  // namespace tinyot::service
