// A daemon of a party for tests of its clients: it answers as it is told, and keeps what it was
// sent.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "service/submission.h"
#include "tinyot/v1/party.grpc.pb.h"

namespace tinyot::test {

class FakeDaemon final : public v1::Party::Service {
 public:
  // Listens at "unix:PATH"; or at "127.0.0.1:0" with credentials of TLS.
  explicit FakeDaemon(const std::string& address,
                      const std::shared_ptr<grpc::ServerCredentials>& credentials =
                          grpc::InsecureServerCredentials());
  ~FakeDaemon() override;

  int port() const { return port_; }

  // What the daemon answers; set before a client is started.
  grpc::Status answer;  // of all calls; their replies are below
  v1::Job job;
  std::vector<v1::Output> outputs;
  v1::StockReply stock_reply;
  v1::PeersReply peers_reply;
  v1::RetireReply retire_reply;
  bool holds_results = false;  // Result waits until the job is cancelled or the call ends

  // What it was sent; read after a client has ended.
  std::vector<v1::SubmitRequest> parts;
  // Of Status, Result and Cancel: the name of the call, the id, and the peer if there is one.
  std::vector<std::string> ids;
  std::string stock_peer, retired_peer;
  bool forgot = false;

  // The submission, as the real daemon reads it.
  std::unique_ptr<service::Submission> submission() const;
  void wait_until_result_is_wanted();

  grpc::Status Submit(grpc::ServerContext*, grpc::ServerReader<v1::SubmitRequest>* reader,
                      v1::Job* reply) override;
  grpc::Status Status(grpc::ServerContext*, const v1::StatusRequest* request,
                      v1::Job* reply) override;
  grpc::Status Result(grpc::ServerContext* context, const v1::ResultRequest* request,
                      grpc::ServerWriter<v1::ResultPart>* writer) override;
  grpc::Status Cancel(grpc::ServerContext*, const v1::CancelRequest* request,
                      v1::Job* reply) override;
  grpc::Status Stock(grpc::ServerContext*, const v1::StockRequest* request,
                     v1::StockReply* reply) override;
  grpc::Status Peers(grpc::ServerContext*, const v1::PeersRequest*, v1::PeersReply* reply) override;
  grpc::Status Retire(grpc::ServerContext*, const v1::RetireRequest* request,
                      v1::RetireReply* reply) override;

 private:
  template <class Request>
  void note(const std::string& call, const Request& request);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_result_wanted_ = false;
  int port_ = 0;
  mutable service::MemoryBudget budget_{std::uint64_t{1} << 32};
  std::unique_ptr<grpc::Server> server_;
};

// The status of a call that the daemon refuses.
grpc::Status refused(grpc::StatusCode code, v1::ErrorClass error_class, const std::string& message);

}  // namespace tinyot::test
