#include "tests/cli/fake_daemon.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "service/failed_call.h"
#include "service/names.h"

namespace tinyot::test {
namespace {

constexpr std::chrono::milliseconds kStopTime{500}, kLookInterval{20};
constexpr std::chrono::seconds kDeadline{60};
// Parts of outputs are small, so that several are needed.
constexpr std::size_t kPartBytes = 1000;

}  // namespace

FakeDaemon::FakeDaemon(const std::string& address,
                       const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  job.set_id("j1");
  job.set_peer("bank");
  job.set_circuit("aes128");
  job.set_lanes(1);
  job.set_ands(6400);
  job.set_state(v1::DONE);
  job.set_session("5e551011");
  job.set_submitted_at_s(1.5e9);
  job.set_evaluation_s(0.25);
  job.set_total_s(1.5);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, credentials, &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  if (!server_) throw std::runtime_error("the fake daemon cannot listen at " + address);
}

FakeDaemon::~FakeDaemon() {
  server_->Shutdown(std::chrono::system_clock::now() + kStopTime);
  server_->Wait();
}

std::unique_ptr<service::Submission> FakeDaemon::submission() const {
  auto all = std::make_unique<service::Submission>(std::size_t{1} << 30, budget_);
  for (v1::SubmitRequest part : parts) all->add(std::move(part));
  return all;
}

void FakeDaemon::wait_until_result_is_wanted() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kDeadline, [&] { return is_result_wanted_; }))
    throw std::runtime_error("no client wants a result");
}

template <class Request>
void FakeDaemon::note(const std::string& call, const Request& request) {
  const std::lock_guard lock(mutex_);
  ids.push_back(call + " " + request.id() + (request.peer().empty() ? "" : " " + request.peer()));
}

grpc::Status FakeDaemon::Submit(grpc::ServerContext*, grpc::ServerReader<v1::SubmitRequest>* reader,
                                v1::Job* reply) {
  if (!answer.ok()) return answer;
  for (v1::SubmitRequest part; reader->Read(&part);) parts.push_back(part);
  *reply = job;
  if (!job.has_error()) reply->set_state(v1::WAITING_FOR_PEER);
  return answer;
}

grpc::Status FakeDaemon::Status(grpc::ServerContext*, const v1::StatusRequest* request,
                                v1::Job* reply) {
  note("status", *request);
  *reply = job;
  return answer;
}

grpc::Status FakeDaemon::Result(grpc::ServerContext* context, const v1::ResultRequest* request,
                                grpc::ServerWriter<v1::ResultPart>* writer) {
  if (request->id().empty()) return {grpc::StatusCode::NOT_FOUND, "there is no job ''"};
  note("result", *request);
  if (request->forget()) forgot = true;
  std::unique_lock lock(mutex_);
  is_result_wanted_ = true;
  changed_.notify_all();
  while (holds_results && !context->IsCancelled()) changed_.wait_for(lock, kLookInterval);
  if (context->IsCancelled()) return grpc::Status::CANCELLED;
  if (!answer.ok()) return answer;
  v1::ResultPart first;
  *first.mutable_job() = job;
  writer->Write(first);
  for (const v1::Output& output : outputs) {
    std::size_t at = 0;
    do {
      v1::ResultPart part;
      v1::Output& piece = *part.add_outputs();
      piece = output;
      piece.set_bits(output.bits().substr(at, kPartBytes));
      writer->Write(part);
      at += kPartBytes;
    } while (at < output.bits().size());
  }
  return answer;
}

grpc::Status FakeDaemon::Cancel(grpc::ServerContext*, const v1::CancelRequest* request,
                                v1::Job* reply) {
  note("cancel", *request);
  const std::lock_guard lock(mutex_);
  if (job.state() != v1::DONE) job.set_state(v1::CANCELLED);
  *reply = job;
  return answer;
}

grpc::Status FakeDaemon::Stock(grpc::ServerContext*, const v1::StockRequest* request,
                               v1::StockReply* reply) {
  stock_peer = request->peer();
  *reply = stock_reply;
  return answer;
}

grpc::Status FakeDaemon::Peers(grpc::ServerContext*, const v1::PeersRequest*,
                               v1::PeersReply* reply) {
  *reply = peers_reply;
  return answer;
}

grpc::Status FakeDaemon::Retire(grpc::ServerContext*, const v1::RetireRequest* request,
                                v1::RetireReply* reply) {
  retired_peer = request->peer();
  *reply = retire_reply;
  return answer;
}

grpc::Status refused(grpc::StatusCode code, v1::ErrorClass error_class,
                     const std::string& message) {
  return service::failed_call(code, service::class_from(error_class), message);
}

}  // namespace tinyot::test
