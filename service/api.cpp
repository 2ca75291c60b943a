#include "service/api.h"

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/error.h"
#include "service/event_log.h"
#include "service/names.h"
#include "service/offer.h"
#include "service/outputs.h"
#include "service/submission.h"
#include "system/errno_text.h"
#include "tinyot/v1/party.grpc.pb.h"

namespace tinyot::service {
namespace {

constexpr std::chrono::milliseconds kServerStopTime{2000}, kCancelInterval{200};
constexpr int kThreadsMax = 1024, kMessageBytesMax = 2 << 20, kHandshakeTime_ms = 5000;
// Of calls that send small jobs: so many MiB, so many calls.
constexpr std::uint64_t kCallsBytes = 64 << 20;

grpc::Status failure(grpc::StatusCode code, ErrorClass error_class, const std::string& message) {
  v1::Error error;
  error.set_error_class(class_of(error_class));
  error.set_message(message);
  return {code, message, error.SerializeAsString()};
}

grpc::Status no_job(const std::string& id) {
  return failure(grpc::StatusCode::NOT_FOUND, ErrorClass::Usage, "there is no job '" + id + "'");
}

std::shared_ptr<grpc::ServerCredentials> credentials_from(const TlsFiles& tls) {
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = tls.clients;
  options.pem_key_cert_pairs.push_back({std::string(view_of(tls.key)), tls.certificate});
  auto credentials = grpc::SslServerCredentials(options);
  std::string& key = options.pem_key_cert_pairs.front().private_key;
  wipe(key.data(), key.size());
  return credentials;
}

std::string why_no_refill_begins(const Refills::Status& refills) {
  if (!refills.stopped.empty() || refills.declined_by_peer.empty()) return refills.stopped;
  return "the peer declines: " + refills.declined_by_peer;
}

class PartyService final : public v1::Party::Service {
 public:
  PartyService(const config::Daemon& config, Jobs& jobs, const service::Peers& peers,
               const std::atomic<bool>& is_stopping)
      : config_(config), jobs_(jobs), peers_(peers), is_stopping_(is_stopping),
        budget_(2 * config.job_bytes_max() + kCallsBytes) {}

  grpc::Status Submit(grpc::ServerContext* context, grpc::ServerReader<v1::SubmitRequest>* parts,
                      v1::Job* reply) override {
    return answered([&] {
      Submission submission(config_.job_bytes_max(), budget_);
      for (;;) {
        v1::SubmitRequest part;
        if (!parts->Read(&part)) break;
        submission.add(std::move(part));
      }
      // A client that has gone has not sent everything.
      if (context->IsCancelled()) return grpc::Status::CANCELLED;
      return submit(submission, reply);
    });
  }

  grpc::Status Status(grpc::ServerContext*, const v1::StatusRequest* request,
                      v1::Job* reply) override {
    const SharedJob job = jobs_.find(request->id());
    if (!job) return no_job(request->id());
    describe(*job, reply);
    return grpc::Status::OK;
  }

  grpc::Status Result(grpc::ServerContext* context, const v1::ResultRequest* request,
                      grpc::ServerWriter<v1::ResultPart>* parts) override {
    const SharedJob job = jobs_.find(request->id());
    if (!job) return no_job(request->id());
    while (!jobs_.wait(*job, Jobs::Clock::now() + kCancelInterval))
      if (context->IsCancelled()) return grpc::Status::CANCELLED;
    v1::ResultPart first, outputs;
    describe(*job, first.mutable_job());
    const auto write = [&](const v1::ResultPart& part) { return parts->Write(part); };
    if (!write(first) ||
        !write_outputs(jobs_.outputs(*job), job->request().circuit.info().outputs, outputs, write))
      return grpc::Status::CANCELLED;
    if (request->forget()) jobs_.forget(*job);
    return grpc::Status::OK;
  }

  grpc::Status Cancel(grpc::ServerContext*, const v1::CancelRequest* request,
                      v1::Job* reply) override {
    const SharedJob job = jobs_.find(request->id());
    if (!job) return no_job(request->id());
    find_peer(job->request().peer)->cancel(job);
    describe(*job, reply);
    return grpc::Status::OK;
  }

  grpc::Status Stock(grpc::ServerContext*, const v1::StockRequest* request,
                     v1::StockReply* reply) override {
    return answered([&] {
      if (!request->peer().empty()) (void)peer_named(request->peer());
      for (const auto& peer : peers_)
        if (request->peer().empty() || peer->name() == request->peer()) add_stock(*peer, *reply);
      return grpc::Status::OK;
    });
  }

  grpc::Status Peers(grpc::ServerContext*, const v1::PeersRequest*,
                     v1::PeersReply* reply) override {
    for (const auto& peer : peers_) {
      const PeerStatus status = peer->status();
      v1::PeerState& state = *reply->add_peers();
      state.set_name(status.name);
      state.set_party(name_of(status.party));
      state.set_is_connected(status.link.is_up);
      state.set_last_error(status.link.last_error);
      state.set_sessions_revoked(status.stock.revoked);
      state.set_refills_stopped(why_no_refill_begins(status.refills));
      state.set_sessions_risk(status.stock.risk);
      for (const PreparedCount& count : status.prepared) {
        v1::PreparedRuns& runs = *state.add_prepared();
        runs.set_circuit(count.circuit);
        runs.set_lanes(count.lanes);
        runs.set_in_stock(count.in_stock);
        runs.set_kept(count.kept);
        runs.set_configured(count.configured);
        runs.set_reason(count.reason);
      }
      state.set_jobs_running(status.jobs.running);
      state.set_jobs_waiting(status.jobs.waiting + status.jobs.queued);
    }
    return grpc::Status::OK;
  }

  grpc::Status Retire(grpc::ServerContext*, const v1::RetireRequest* request,
                      v1::RetireReply* reply) override {
    return answered([&] {
      reply->set_session(peer_named(request->peer()).retire());
      return grpc::Status::OK;
    });
  }

  grpc::Status Resume(grpc::ServerContext*, const v1::ResumeRequest* request,
                      v1::ResumeReply*) override {
    return answered([&] {
      peer_named(request->peer()).resume_refills();
      return grpc::Status::OK;
    });
  }

 private:
  // Turns errors into statuses.
  template <class Work>
  static grpc::Status answered(const Work& work) {
    try {
      return work();
    } catch (const UsageError& error) {
      return failure(grpc::StatusCode::INVALID_ARGUMENT, ErrorClass::Usage, error.what());
    } catch (const StoreError& error) {
      return failure(grpc::StatusCode::FAILED_PRECONDITION, ErrorClass::Store, error.what());
    } catch (const MemoryBudget::Exhausted& error) {
      return failure(grpc::StatusCode::RESOURCE_EXHAUSTED, ErrorClass::Other, error.what());
    } catch (const Jobs::Refusal& error) {
      return error.why() == Jobs::Refused::Exists
                 ? failure(grpc::StatusCode::ALREADY_EXISTS, ErrorClass::Usage, error.what())
                 : failure(grpc::StatusCode::RESOURCE_EXHAUSTED, ErrorClass::Other, error.what());
    } catch (const std::exception& error) {
      return failure(grpc::StatusCode::INTERNAL, ErrorClass::Other, error.what());
    }
  }

  Peer* find_peer(const std::string& name) const {
    const auto found = std::ranges::find_if(
        peers_, [&](const std::unique_ptr<Peer>& peer) { return peer->name() == name; });
    return found == peers_.end() ? nullptr : found->get();
  }

  // An empty name is that of the only peer. Fails: UsageError.
  Peer& peer_named(const std::string& name) const {
    if (name.empty() && peers_.size() == 1) return *peers_.front();
    if (Peer* const peer = find_peer(name)) return *peer;
    std::string known;
    for (const auto& peer : peers_) known += (known.empty() ? "" : ", ") + peer->name();
    throw UsageError(name.empty() ? "give one of the peers: " + known
                                  : "there is no peer '" + name + "'; there are " + known);
  }

  grpc::Status submit(Submission& submission, v1::Job* reply) {
    Peer& peer = peer_named(submission.job().peer());
    if (is_stopping_)
      return failure(grpc::StatusCode::UNAVAILABLE, ErrorClass::Network,
                     "the daemon is stopping: submit the job again");
    // Of a circuit by name no gate has been generated yet; a file has to be read for its digest.
    engine::LoadedCircuit circuit = submission.circuit();
    peer.check_phase(submission.job().online());
    wire::Terms terms = terms_of(circuit, submission.job().online());
    require_offerable(submission.job().id(), terms);
    if (const auto reason = peer.refusal(submission.job().id(), terms))
      return failure(grpc::StatusCode::PERMISSION_DENIED, ErrorClass::Usage, *reason);
    auto inputs = std::make_shared<const Values>(submission.inputs(circuit, peer.settings().me));
    if (const auto reason = peer.too_large(circuit))
      return failure(grpc::StatusCode::RESOURCE_EXHAUSTED, ErrorClass::Store, *reason);
    const SharedJob job =
        jobs_.add({submission.job().id(), peer.name(), std::move(circuit), std::move(terms),
                   std::move(inputs), submission.circuit_bytes()});
    peer.submit(job);
    describe(*job, reply);
    return grpc::Status::OK;
  }

  void describe(const Job& job, v1::Job* reply) const {
    const JobStatus status = jobs_.status(job);
    reply->set_id(job.id());
    reply->set_peer(job.request().peer);
    reply->set_circuit(job.request().terms.circuit());
    reply->set_lanes(job.request().terms.lanes());
    reply->set_ands(job.ands());
    reply->set_state(state_of(status.state));
    if (status.state == JobState::Failed) {
      reply->mutable_error()->set_error_class(class_of(status.error.error_class));
      reply->mutable_error()->set_message(status.error.message);
    }
    reply->set_session(status.session);
    if (status.state == JobState::Done) {
      reply->set_online(std::string(name_of(status.phase)));
      reply->set_half_round_trips_a(status.half_round_trips[0]);
      reply->set_half_round_trips_b(status.half_round_trips[1]);
      reply->set_was_prepared(status.was_prepared);
    }
    reply->set_submitted_at_s(
        std::chrono::duration<double>(status.submitted_at.time_since_epoch()).count());
    reply->set_evaluation_s(status.evaluation_s);
    reply->set_total_s(status.total_s);
  }

  static void add_stock(Peer& peer, v1::StockReply& reply) {
    const PeerStatus status = peer.status();
    for (const SessionStock& session : status.stock.sessions) {
      v1::SessionStock& stock = *reply.add_sessions();
      stock.set_peer(status.name);
      stock.set_session(session.id);
      stock.set_is_current(session.number == status.stock.current);
      stock.set_ands_left(session.left.ands);
      stock.set_inputs_left(session.left.inputs);
      stock.set_low_ands(peer.settings().low.ands);
      stock.set_high_ands(peer.settings().high.ands);
      stock.set_budget_spent(session.budget_spent);
      stock.set_bytes(session.bytes);
      stock.set_is_refilling(status.refills.is_refilling);
    }
  }

  const config::Daemon& config_;
  Jobs& jobs_;
  const service::Peers& peers_;
  const std::atomic<bool>& is_stopping_;
  // The largest job has its inputs twice: as they were sent, and as values.
  MemoryBudget budget_;
};

// gRPC tells it in its log alone, which the process has once.
std::atomic<bool> has_failed_to_accept = false;

}  // namespace

struct Api::State {
  std::atomic<bool> is_stopping = false;
  std::unique_ptr<grpc::Service> service;
  std::unique_ptr<grpc::Server> server;
};

Api::Api(const config::Daemon& config, const std::optional<TlsFiles>& tls, Jobs& jobs,
         const Peers& peers)
    : state_(std::make_unique<State>()) {
  state_->service = std::make_unique<PartyService>(config, jobs, peers, state_->is_stopping);
  ::gpr_set_log_function([](gpr_log_func_args* line) {
    if (line->severity != GPR_LOG_SEVERITY_ERROR) return;
    log_event(LogLevel::Warning, "interface", {{"error", line->message}});
    if (std::string_view(line->message).starts_with("Failed accept")) has_failed_to_accept = true;
  });
  grpc::ServerBuilder builder;
  grpc::ResourceQuota quota;
  quota.SetMaxThreads(kThreadsMax);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(kMessageBytesMax);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTime_ms);
  builder.AddListeningPort("unix:" + config.socket(), grpc::InsecureServerCredentials());
  int port = 0;
  if (tls) builder.AddListeningPort(config.tls().listen(), credentials_from(*tls), &port);
  builder.RegisterService(state_->service.get());
  state_->server = builder.BuildAndStart();
  if (!state_->server || (tls && port == 0))
    throw NetworkError("cannot serve the interface at " + config.socket() +
                       (tls ? " and " + config.tls().listen() : ""));
  const auto mode = static_cast<mode_t>(std::stoul(config.socket_mode(), nullptr, 8));
  if (::chmod(config.socket().c_str(), mode) != 0)
    throw NetworkError("cannot change the mode of " + config.socket() + ": " +
                       system::errno_text());
}

Api::~Api() { state_->server->Shutdown(std::chrono::system_clock::now() + kServerStopTime); }

bool Api::accepts() const { return !has_failed_to_accept; }

void Api::refuse_jobs() { state_->is_stopping = true; }

}  // namespace tinyot::service
