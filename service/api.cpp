#include "service/api.h"

#include <grpc/support/log.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "base/error.h"
#include "service/access.h"
#include "service/call_deadlines.h"
#include "service/client_port.h"
#include "service/event_log.h"
#include "service/failed_call.h"
#include "service/job_message.h"
#include "service/keys_api.h"
#include "service/keys_socket.h"
#include "service/kms.h"
#include "service/names.h"
#include "service/offer.h"
#include "service/outputs.h"
#include "service/server_credentials.h"
#include "service/submission.h"
#include "tinyot/v1/party.grpc.pb.h"

namespace tinyot::service {
namespace {

constexpr std::chrono::milliseconds kServerStopTime{2000}, kCancelInterval{200};
constexpr int kThreadsMax = 1024, kHandshakeTime_ms = 5000;
// Of Kubernetes, which asks for little at a time.
constexpr int kKmsThreadsMax = 128, kKmsMessageBytesMax = 64 << 10;
// Connections without a call, those whose client no longer answers, and those on which calls are
// refused are closed.
constexpr int kIdleTime_ms = 300'000, kPingInterval_ms = 60'000, kRefusingTime_ms = 2000;
// Of calls that send small jobs, at least so many.
constexpr std::uint64_t kCallsMin = 64;

grpc::Status no_job(const std::string& id) {
  return failed_call(grpc::StatusCode::NOT_FOUND, ErrorClass::Usage,
                     "there is no job '" + id + "'");
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
        budget_((config.has_store_key() ? 3 : 2) * config.job_bytes_max() +
                kCallsMin * Submission::kCallBytes) {
    // Messages of submissions arrive here before they are parsed, as of generated code.
    using Handler = grpc::internal::ClientStreamingHandler<PartyService, grpc::ByteBuffer, v1::Job>;
    MarkMethodStreamed(kSubmitMethod, new Handler(&PartyService::receive_submission, this));
  }

  // Ends calls whose clients are too slow.
  void end_late_calls() {
    if (const std::size_t ended = deadlines_.end_late(CallDeadlines::Clock::now()))
      log_event(LogLevel::Warning, "client too slow", {{"calls", ended}});
  }

  grpc::Status Status(grpc::ServerContext*, const v1::StatusRequest* request,
                      v1::Job* reply) override {
    return answered([&] {
      const SharedJob job = job_named(request->id(), request->peer());
      if (!job) return no_job(request->id());
      describe(*job, reply);
      return grpc::Status::OK;
    });
  }

  grpc::Status Result(grpc::ServerContext* context, const v1::ResultRequest* request,
                      grpc::ServerWriter<v1::ResultPart>* parts) override {
    return answered([&] {
      const SharedJob job = job_named(request->id(), request->peer());
      if (!job) return no_job(request->id());
      while (!jobs_.wait(*job, Jobs::Clock::now() + kCancelInterval)) {
        if (context->IsCancelled()) return grpc::Status::CANCELLED;
        if (is_stopping_ && jobs_.are_kept(job->request().peer) &&
            jobs_.status(*job).state != JobState::Running)
          return failed_call(grpc::StatusCode::UNAVAILABLE, ErrorClass::Network,
                             "the daemon is stopping, and keeps the job: ask again once it runs");
      }
      v1::ResultPart first, outputs;
      describe(*job, first.mutable_job());
      // What it holds is not counted once the result is no longer kept.
      CallDeadlines::Call call(
          deadlines_, [context] { context->TryCancel(); },
          std::chrono::seconds(config_.result_timeout_s()), Jobs::Clock::now());
      const auto write = [&](const v1::ResultPart& part) {
        call.begin_message(Jobs::Clock::now());
        return parts->Write(part);
      };
      if (!write(first) || !write_outputs(jobs_.outputs(*job), job->outputs(), outputs, write))
        return grpc::Status::CANCELLED;
      if (request->forget()) jobs_.forget(*job);
      return grpc::Status::OK;
    });
  }

  grpc::Status Cancel(grpc::ServerContext*, const v1::CancelRequest* request,
                      v1::Job* reply) override {
    return answered([&] {
      const SharedJob job = job_named(request->id(), request->peer());
      if (!job) return no_job(request->id());
      find_peer(job->request().peer)->cancel(job);
      describe(*job, reply);
      return grpc::Status::OK;
    });
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
    return answered([&] {
      for (const auto& peer : peers_) describe(peer->status(), *reply->add_peers());
      return grpc::Status::OK;
    });
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
  static constexpr int kSubmitMethod = 0;  // its place in the service

  grpc::Status receive_submission(grpc::ServerContext* context,
                                  grpc::ServerReader<grpc::ByteBuffer>* parts, v1::Job* reply) {
    return answered([&] {
      Submission submission(config_.job_bytes_max(), budget_);
      {
        CallDeadlines::Call call(
            deadlines_, [context] { context->TryCancel(); },
            std::chrono::seconds(config_.job_timeout_s()), Jobs::Clock::now());
        for (grpc::ByteBuffer part; parts->Read(&part); part.Clear()) {
          submission.add(part);
          call.begin_message(Jobs::Clock::now());
        }
      }
      // A client that has gone, or was too slow, has not sent everything.
      if (context->IsCancelled()) return grpc::Status::CANCELLED;
      return submit(submission, reply);
    });
  }

  // Turns errors into statuses.
  template <class Work>
  static grpc::Status answered(const Work& work) {
    try {
      return work();
    } catch (const UsageError& error) {
      return failed_call(grpc::StatusCode::INVALID_ARGUMENT, ErrorClass::Usage, error.what());
    } catch (const DiskFull& error) {
      return failed_call(grpc::StatusCode::RESOURCE_EXHAUSTED, ErrorClass::Store, error.what());
    } catch (const StoreError& error) {
      return failed_call(grpc::StatusCode::FAILED_PRECONDITION, ErrorClass::Store, error.what());
    } catch (const MemoryBudget::Exhausted& error) {
      return failed_call(grpc::StatusCode::RESOURCE_EXHAUSTED, ErrorClass::Other, error.what());
    } catch (const Jobs::Refusal& error) {
      const bool exists = error.why() == Jobs::Refused::Exists;
      return failed_call(
          exists ? grpc::StatusCode::ALREADY_EXISTS : grpc::StatusCode::RESOURCE_EXHAUSTED,
          error.why() == Jobs::Refused::Full ? ErrorClass::Other : ErrorClass::Usage, error.what());
    } catch (const std::exception& error) {
      return failed_call(grpc::StatusCode::INTERNAL, ErrorClass::Other, error.what());
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
    if (name.empty()) throw UsageError("give one of the peers: " + known);
    throw UsageError("there is no peer '" + name + "'; the configuration has " + known);
  }

  // No peer: that of the only job of this id. Null if there is none. Fails: UsageError.
  SharedJob job_named(const std::string& id, const std::string& peer) const {
    if (!peer.empty()) return jobs_.find(peer_named(peer).name(), id);
    const std::vector<SharedJob> found = jobs_.named(id);
    if (found.size() <= 1) return found.empty() ? nullptr : found.front();
    std::string peers;
    for (const SharedJob& job : found) peers += (peers.empty() ? "" : ", ") + job->request().peer;
    throw UsageError("there are jobs " + id + " with several peers: name one of " + peers);
  }

  grpc::Status submit(Submission& submission, v1::Job* reply) {
    Peer& peer = peer_named(submission.job().peer());
    if (is_stopping_)
      return failed_call(grpc::StatusCode::UNAVAILABLE, ErrorClass::Network,
                         "the daemon is stopping: submit the job again");
    // Of a circuit by name no gate has been generated yet; a file has to be read for its digest.
    engine::LoadedCircuit circuit = submission.circuit();
    peer.check_phase(submission.job().online());
    wire::Terms terms = terms_of(circuit, submission.job().online());
    require_offerable(submission.job().id(), terms);
    if (const auto reason = peer.refusal(submission.job().id(), terms))
      return failed_call(grpc::StatusCode::PERMISSION_DENIED, ErrorClass::Usage, *reason);
    auto inputs = std::make_shared<const Values>(submission.inputs(circuit, peer.settings().me));
    if (const auto reason = peer.too_large(circuit))
      return failed_call(grpc::StatusCode::RESOURCE_EXHAUSTED, ErrorClass::Store, *reason);
    const std::uint64_t output_bytes = bytes_of_outputs(circuit, peer.settings().me);
    // Its file is made in memory before it is written.
    if (jobs_.are_kept(peer.name()))
      submission.take(submission.circuit_bytes() + bytes_of(*inputs));
    SharedJob job;
    try {
      job = jobs_.add({submission.job().id(), peer.name(), std::move(circuit), std::move(terms),
                       std::move(inputs), submission.circuit_bytes(), output_bytes},
                      {submission.job(), submission.circuit_file()});
    } catch (const StoreError& error) {
      peer.note_unkept(submission.job().id(), error.what());
      if (dynamic_cast<const DiskFull*>(&error) != nullptr)
        throw DiskFull(
            "the disk of the daemon is full, so it cannot keep the job: submit it again later");
      throw;
    }
    peer.submit(job);
    describe(*job, reply);
    return grpc::Status::OK;
  }

  void describe(const Job& job, v1::Job* reply) const {
    *reply = message_of(job, jobs_.status(job));
  }

  static void describe(const PeerStatus& status, v1::PeerState& state) {
    state.set_name(status.name);
    state.set_party(name_of(status.party));
    state.set_is_connected(status.link.is_up);
    state.set_last_error(status.link.last_error);
    state.set_sessions_revoked(status.stock.revoked);
    state.set_refills_stopped(why_no_refill_begins(status.refills));
    state.set_sessions_risk(status.stock.risk);
    state.set_jobs_held(status.jobs_held);
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
  // The largest job has its inputs twice: as they were sent, and as values; and sealed if they are
  // written to the disk.
  MemoryBudget budget_;
  CallDeadlines deadlines_;
};

// Of the calls on connections beyond those that the daemon serves.
class RefusingService final : public grpc::CallbackGenericService {
 public:
  explicit RefusingService(std::uint32_t connections_max)
      : refusal_(
            failed_call(grpc::StatusCode::RESOURCE_EXHAUSTED, ErrorClass::Other,
                        "the daemon has " + std::to_string(connections_max) +
                            " connections of clients, as many as it may have "
                            "(client_connections_max of its configuration): try again later")) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Refusal(refusal_);
  }

 private:
  class Refusal final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Refusal(const grpc::Status& status) { Finish(status); }
    void OnDone() override { delete this; }
  };
  const grpc::Status refusal_;
};

mode_t mode_of(const std::string& octal) {
  return static_cast<mode_t>(std::stoul(octal, nullptr, 8));
}

using Acceptor = grpc::experimental::ExternalConnectionAcceptor;
using Credentials = std::shared_ptr<grpc::ServerCredentials>;

std::unique_ptr<Acceptor> add_acceptor(grpc::ServerBuilder& builder,
                                       const Credentials& credentials) {
  using Builder = grpc::ServerBuilder::experimental_type;
  return builder.experimental().AddExternalConnectionAcceptor(
      Builder::ExternalConnectionType::FROM_FD, credentials);
}

std::function<void(int)> handing_on_to(std::unique_ptr<Acceptor> acceptor, int listener) {
  return [acceptor = std::shared_ptr<Acceptor>(std::move(acceptor)), listener](int connection) {
    Acceptor::NewConnectionParameters parameters;
    parameters.listener_fd = listener;
    parameters.fd = connection;
    acceptor->HandleNewConnection(&parameters);
  };
}

void set_limits(grpc::ServerBuilder& builder, int threads_max, int message_bytes_max) {
  grpc::ResourceQuota quota;
  quota.SetMaxThreads(threads_max);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(message_bytes_max);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, threads_max);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleTime_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingInterval_ms);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTime_ms);
}

std::unique_ptr<grpc::Server> started(grpc::ServerBuilder& builder) {
  auto server = builder.BuildAndStart();
  if (!server) throw NetworkError("cannot serve the interface");
  return server;
}

}  // namespace

struct Api::State {
  // Longer than the servers, which refer to them.
  std::unique_ptr<Access> access;
  LocalCallers local_callers;
  std::shared_ptr<ServerTls> tls;  // null without TLS
  std::vector<Credentials> credentials;

  // Of TLS, or of the clients on the socket that have this number.
  const Credentials& credentials_of(std::optional<std::size_t> number) {
    const auto by_number = [this, number](const std::string& method, const ClientCertificate&) {
      return access->refusal(local_callers.caller(*number), method);
    };
    const auto by_certificate =
        [this](const std::string& method,
               const ClientCertificate& certificate) -> std::optional<std::string> {
      const Caller caller{{}, {}, certificate.name};
      if (!tls->admits(certificate.chain)) return access->refuse_certificate(caller, method);
      return access->refusal(caller, method);
    };
    return credentials.emplace_back(number ? local_credentials(by_number, *number)
                                           : tls_credentials(tls, by_certificate));
  }
  // A Unix socket, whose clients are known by their users. Fails: NetworkError.
  ClientSocket socket_of(const std::string& path, const std::string& mode,
                         grpc::ServerBuilder& server, grpc::ServerBuilder& refusing) {
    system::Descriptor file = listen_on_file(path, mode_of(mode));
    files.push_back(path);
    const int listener = file.get();
    std::vector<std::function<void(int)>> by_caller;
    for (std::size_t caller = 0; caller < LocalCallers::kMax; ++caller)
      by_caller.push_back(handing_on_to(add_acceptor(server, credentials_of(caller)), listener));
    return {std::move(file),
            [this, by_caller = std::move(by_caller)](int connection) {
              const Caller caller = caller_of(connection);
              by_caller[local_callers.number_of(caller, access->names(caller))](connection);
            },
            handing_on_to(add_acceptor(refusing, grpc::InsecureServerCredentials()), listener)};
  }

  std::atomic<bool> is_stopping = false;
  std::optional<KeyCalls> key_calls;
  std::vector<std::unique_ptr<grpc::Service>> services;
  std::unique_ptr<grpc::CallbackGenericService> refusing_service;
  std::function<void()> end_late_calls;
  std::vector<std::unique_ptr<grpc::Server>> servers;  // the first is that of programs
  std::vector<std::filesystem::path> files;
  std::optional<ClientPort> port;
  std::optional<KeysSocket> keys_socket;
};

Api::Api(const config::Daemon& config, std::optional<TlsFiles> tls, Jobs& jobs, const Peers& peers,
         DaemonMetrics& metrics)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  const auto caller_of = [&state](const grpc::ServerContext& call) {
    return caller_in(call, state.local_callers);
  };
  auto service = std::make_unique<PartyService>(config, jobs, peers, state.is_stopping);
  state.end_late_calls = [of = service.get()] { of->end_late_calls(); };
  state.services.push_back(std::move(service));
  state.key_calls.emplace(peers);
  state.access = std::make_unique<Access>(AccessRules(config));
  const KeyCallers key_callers = {caller_of, *state.access};
  state.services.push_back(make_keys_service(*state.key_calls, key_callers));
  state.refusing_service = std::make_unique<RefusingService>(config.client_connections_max());
  ::gpr_set_log_function([](gpr_log_func_args* line) {
    static ErrorLog lines("interface", {}, LogLevel::Warning);  // gRPC has one log in a process
    if (line->severity == GPR_LOG_SEVERITY_ERROR) lines.write(line->message);
  });
  grpc::ServerBuilder builder, refusing;
  set_limits(builder, kThreadsMax, Submission::kMessageBytesMax);
  refusing.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, kRefusingTime_ms);
  refusing.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, kRefusingTime_ms);
  refusing.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTime_ms);
  for (const auto& each : state.services) builder.RegisterService(each.get());
  refusing.RegisterCallbackGenericService(state.refusing_service.get());
  std::vector<ClientSocket> sockets;
  sockets.push_back(state.socket_of(config.socket(), config.socket_mode(), builder, refusing));
  if (tls) {
    state.tls = std::make_shared<ServerTls>(std::move(*tls));
    const Credentials credentials = state.credentials_of({});
    for (system::Descriptor& listener :
         listen_on_address(net::parse_address(config.tls().listen()))) {
      const int of = listener.get();
      sockets.push_back({std::move(listener), handing_on_to(add_acceptor(builder, credentials), of),
                         handing_on_to(add_acceptor(refusing, credentials), of)});
    }
  }
  grpc::EnableDefaultHealthCheckService(true);  // of the servers that are built from now on
  state.servers.push_back(started(builder));
  grpc::EnableDefaultHealthCheckService(false);
  for (int i = 0; i < config.peer_size(); ++i)
    for (const config::Kms& kms : config.peer(i).custody().kms()) {
      state.services.push_back(make_kms_service(kms.label(), *peers.at(i), metrics, key_callers));
      grpc::ServerBuilder of_kms;
      set_limits(of_kms, kKmsThreadsMax, kKmsMessageBytesMax);
      of_kms.RegisterService(state.services.back().get());
      sockets.push_back(state.socket_of(kms.socket(), kms.socket_mode(), of_kms, refusing));
      state.servers.push_back(started(of_kms));
    }
  state.servers.push_back(started(refusing));
  set_ready(false);
  state.port.emplace(std::move(sockets), config.client_connections_max());
  if (config.has_pkcs11())
    state.keys_socket.emplace(config.pkcs11().socket(), mode_of(config.pkcs11().socket_mode()),
                              config.client_connections_max(), *state.key_calls, *state.access);
}

Api::~Api() {
  std::error_code error;
  for (const std::filesystem::path& file : state_->files) std::filesystem::remove(file, error);
  state_->port.reset();
  state_->keys_socket.reset();
  const auto until = std::chrono::system_clock::now() + kServerStopTime;
  for (const auto& server : state_->servers) server->Shutdown(until);
}

std::vector<CertificateEnd> Api::certificates() const {
  std::vector<CertificateEnd> ends;
  if (state_->tls)
    state_->tls->with_files([&](const TlsFiles& files) {
      ends = {{"interface", "", files.certificate_end}, {"clients", "", files.clients_end}};
    });
  return ends;
}

void Api::set_ready(bool is_ready) {
  auto* const health = state_->servers.front()->GetHealthCheckService();
  if (health == nullptr) return;
  for (const char* const service : {"", v1::Party::service_full_name()})
    health->SetServingStatus(service, is_ready);
}

void Api::renew(std::optional<TlsFiles> tls, AccessRules access) {
  if (tls && state_->tls) state_->tls->replace(std::move(*tls));
  state_->access->replace(std::move(access));
}

void Api::end_late_calls() { state_->end_late_calls(); }

void Api::refuse_jobs() { state_->is_stopping = true; }

}  // namespace tinyot::service
