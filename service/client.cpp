#include "service/client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/bit_vector.h"
#include "base/error.h"
#include "base/secret.h"
#include "service/client_channel.h"
#include "service/names.h"
#include "system/input_file.h"
#include "tinyot/v1/party.grpc.pb.h"

namespace tinyot::service {
namespace {

constexpr std::size_t kPartBytesMax = std::size_t{1} << 20;

[[noreturn]] void fail(ErrorClass error_class, const std::string& message) {
  throw Error(error_class, message);
}

// The states have the order of the interface.
RemoteJob::State state_from(v1::State state) {
  static_assert(v1::CANCELLED == static_cast<int>(RemoteJob::State::Cancelled));
  return v1::WAITING_FOR_PEER <= state && state <= v1::CANCELLED
             ? static_cast<RemoteJob::State>(state)
             : RemoteJob::State::Unknown;
}

RemoteJob job_from(const v1::Job& message) {
  RemoteJob job;
  job.id = message.id();
  job.peer = message.peer();
  job.circuit = message.circuit();
  job.lanes = message.lanes();
  job.ands = message.ands();
  job.state = state_from(message.state());
  if (message.has_error())
    job.failure = {class_from(message.error().error_class()), message.error().message()};
  job.session = message.session();
  job.submitted_at_s = message.submitted_at_s();
  job.evaluation_s = message.evaluation_s();
  job.total_s = message.total_s();
  job.online = message.online();
  job.half_round_trips = {message.half_round_trips_a(), message.half_round_trips_b()};
  job.was_prepared = message.was_prepared();
  return job;
}

v1::NewJob message_of(const NewRemoteJob& job) {
  v1::NewJob message;
  message.set_id(job.id);
  message.set_peer(job.peer);
  message.set_lanes(job.lanes);
  message.set_circuit(job.circuit);
  message.set_online(job.online);
  if (!job.file) return message;
  message.set_circuit(std::filesystem::path(job.circuit).stem().string());
  message.set_is_file(true);
  v1::FileRoles& roles = *message.mutable_roles();
  for (const auto& [number, owner] : job.file->sources)
    (*roles.mutable_owners())[number] = name_of(owner);
  if (job.file->other_receivers)
    roles.set_receiver(std::string(circuit::name_of(*job.file->other_receivers)));
  roles.mutable_bundles()->Add(job.file->bundles.begin(), job.file->bundles.end());
  return message;
}

using Requests = grpc::ClientWriter<v1::SubmitRequest>;

// False if the daemon has ended the call; then its status says why.
bool send_file(const std::string& path, Requests& requests) {
  system::InputFile file(path);
  v1::SubmitRequest request;
  for (std::string& part = *request.mutable_circuit_part();;) {
    part.resize(kPartBytesMax);
    part.resize(file.read(part));
    if (part.empty()) return true;
    if (!requests.Write(request)) return false;
  }
}

// Each value is padded to whole bytes. As send_file.
bool send_input(const std::string& name, const LaneMatrix& values, Requests& requests) {
  v1::SubmitRequest request;
  v1::Input& input = *request.add_inputs();
  input.set_name(name);
  std::string& bits = *input.mutable_bits();
  std::span<const std::byte> bytes = values.bytes();
  // Not moved when it grows, which would leave a copy.
  bits.reserve(std::min(bytes.size(), kPartBytesMax));
  do {
    const std::size_t count = std::min(kPartBytesMax, bytes.size());
    bits.assign(reinterpret_cast<const char*>(bytes.data()), count);
    bytes = bytes.subspan(count);
    const bool is_sent = requests.Write(request);
    wipe_text(bits);
    if (!is_sent) return false;
  } while (!bytes.empty());
  return true;
}

bool send_all(const NewRemoteJob& job, Requests& requests) {
  v1::SubmitRequest first;
  *first.mutable_job() = message_of(job);
  if (!requests.Write(first)) return false;
  if (job.file && !send_file(job.circuit, requests)) return false;
  for (const std::string& name : job.inputs.names())
    if (!send_input(name, job.inputs.at(name), requests)) return false;
  return true;
}

// Collects the parts of a result.
class ResultParts {
 public:
  void add(v1::ResultPart& part) {
    if (part.has_job()) job_ = job_from(part.job());
    for (v1::Output& output : *part.mutable_outputs()) {
      const auto known = std::ranges::find(outputs_, output.name(), &Bits::name);
      Bits& bits =
          known != outputs_.end()
              ? *known
              : outputs_.emplace_back(Bits{
                    output.name(), output.bits_per_lane(), format_of(output), output.type(), {}});
      bits.bytes.insert(bits.bytes.end(), output.bits().begin(), output.bits().end());
      wipe_text(*output.mutable_bits());
    }
  }
  RemoteResult take() const {
    if (!job_) fail(ErrorClass::Other, "the daemon sent no job with its result");
    RemoteResult result{*job_, {}};
    for (const Bits& bits : outputs_) result.outputs.push_back(output_of(bits));
    return result;
  }

 private:
  struct Bits {
    std::string name;
    std::uint32_t per_value;
    circuit::ValueFormat format;
    std::string type;
    SecretVector<char> bytes;
  };

  static circuit::ValueFormat format_of(const v1::Output& output) {
    using circuit::ValueFormat;
    if (output.format() == name_of(ValueFormat::Bytes) && output.bits_per_lane() % 8 == 0)
      return ValueFormat::Bytes;
    return output.format() == name_of(ValueFormat::MsbInteger) ? ValueFormat::MsbInteger
                                                               : ValueFormat::Integer;
  }

  RemoteOutput output_of(const Bits& bits) const {
    const std::size_t bytes = bytes_for(bits.per_value);
    if (bits.bytes.size() != job_->lanes * bytes)
      fail(ErrorClass::Other, "the daemon sent " + std::to_string(bits.bytes.size()) +
                                  " bytes for output " + bits.name + ", not " +
                                  std::to_string(job_->lanes * bytes));
    RemoteOutput output{bits.name, bits.format, bits.type, {job_->lanes, bits.per_value}};
    for (std::size_t lane = 0; lane < job_->lanes; ++lane)
      if (!output.values.assign(lane,
                                std::as_bytes(std::span(bits.bytes)).subspan(lane * bytes, bytes)))
        fail(ErrorClass::Other, "the daemon sent bits of output " + bits.name + " beyond the " +
                                    std::to_string(bits.per_value) + " of a value");
    return output;
  }

  std::optional<RemoteJob> job_;
  std::vector<Bits> outputs_;
};

}  // namespace

struct DaemonConnection::State {
  explicit State(ServerAddress address) : channel(std::move(address)) {}

  // A call with one request and one reply.
  template <class Request, class Reply>
  Reply call(grpc::Status (v1::Party::Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
             const Request& request) {
    Reply reply;
    channel.call(*stub, method, request, reply);
    return reply;
  }

  ClientChannel channel;
  std::unique_ptr<v1::Party::Stub> stub = channel.stub<v1::Party>();  // ends first
};

DaemonConnection::DaemonConnection(ServerAddress address)
    : state_(std::make_unique<State>(std::move(address))) {}

DaemonConnection::~DaemonConnection() = default;

RemoteJob DaemonConnection::submit(const NewRemoteJob& job) {
  grpc::ClientContext context;
  v1::Job reply;
  const auto requests = state_->stub->Submit(&context, &reply);
  try {
    if (send_all(job, *requests)) requests->WritesDone();
  } catch (...) {
    context.TryCancel();
    requests->Finish();
    throw;
  }
  state_->channel.check(requests->Finish());
  return job_from(reply);
}

RemoteJob DaemonConnection::status(const JobName& job) {
  v1::StatusRequest request;
  request.set_id(job.id);
  request.set_peer(job.peer);
  return job_from(state_->call(&v1::Party::Stub::Status, request));
}

RemoteJob DaemonConnection::cancel(const JobName& job) {
  v1::CancelRequest request;
  request.set_id(job.id);
  request.set_peer(job.peer);
  return job_from(state_->call(&v1::Party::Stub::Cancel, request));
}

std::optional<RemoteResult> DaemonConnection::result(const JobName& job, const Wait& wait) {
  grpc::ClientContext context;
  if (wait.limit) context.set_deadline(std::chrono::system_clock::now() + *wait.limit);
  const std::stop_callback on_stop(wait.stop, [&] { context.TryCancel(); });
  v1::ResultRequest request;
  request.set_id(job.id);
  request.set_peer(job.peer);
  const auto replies = state_->stub->Result(&context, request);
  ResultParts parts;
  for (v1::ResultPart part; replies->Read(&part);) parts.add(part);
  const grpc::Status status = replies->Finish();
  const bool is_late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED,
             is_stopped =
                 wait.stop.stop_requested() && status.error_code() == grpc::StatusCode::CANCELLED;
  if (is_late || is_stopped) return std::nullopt;
  state_->channel.check(status);
  return parts.take();
}

// Rights are looked at before the job, which no daemon has: an id is not empty.
void DaemonConnection::require_results() {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + ClientChannel::kAnswerTime);
  const auto replies = state_->stub->Result(&context, v1::ResultRequest());
  for (v1::ResultPart part; replies->Read(&part);) {
  }
  const grpc::Status status = replies->Finish();
  if (status.error_code() != grpc::StatusCode::NOT_FOUND) state_->channel.check(status);
}

void DaemonConnection::forget(const JobName& job) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + ClientChannel::kAnswerTime);
  v1::ResultRequest request;
  request.set_id(job.id);
  request.set_peer(job.peer);
  request.set_forget(true);
  const auto replies = state_->stub->Result(&context, request);
  ResultParts parts;  // wipes them
  for (v1::ResultPart part; replies->Read(&part);) parts.add(part);
  state_->channel.check(replies->Finish());
}

std::vector<RemoteSession> DaemonConnection::stock(const std::string& peer) {
  v1::StockRequest request;
  request.set_peer(peer);
  std::vector<RemoteSession> sessions;
  const v1::StockReply reply = state_->call(&v1::Party::Stub::Stock, request);
  for (const v1::SessionStock& session : reply.sessions())
    sessions.push_back({session.peer(), session.session(), session.is_current(),
                        session.ands_left(), session.inputs_left(), session.low_ands(),
                        session.high_ands(), session.budget_spent(), session.bytes(),
                        session.is_refilling()});
  return sessions;
}

std::vector<RemotePeer> DaemonConnection::peers() {
  std::vector<RemotePeer> peers;
  const v1::PeersReply reply = state_->call(&v1::Party::Stub::Peers, v1::PeersRequest());
  for (const v1::PeerState& peer : reply.peers()) {
    peers.push_back({peer.name(),
                     peer.party(),
                     peer.is_connected(),
                     peer.last_error(),
                     peer.jobs_waiting(),
                     peer.jobs_running(),
                     peer.sessions_revoked(),
                     peer.refills_stopped(),
                     peer.sessions_risk(),
                     {},
                     peer.jobs_held()});
    for (const v1::PreparedRuns& runs : peer.prepared())
      peers.back().prepared.push_back({runs.circuit(), runs.lanes(), runs.in_stock(), runs.kept(),
                                       runs.configured(), runs.reason()});
  }
  return peers;
}

std::string DaemonConnection::retire(const std::string& peer) {
  v1::RetireRequest request;
  request.set_peer(peer);
  return state_->call(&v1::Party::Stub::Retire, request).session();
}

void DaemonConnection::resume_refills(const std::string& peer) {
  v1::ResumeRequest request;
  request.set_peer(peer);
  (void)state_->call(&v1::Party::Stub::Resume, request);
}

}  // namespace tinyot::service
