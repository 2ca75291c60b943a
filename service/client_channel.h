// What the clients of a daemon's services have in common: the channel, and errors of calls.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "service/server_address.h"

namespace tinyot::service {

class ClientChannel {
 public:
  // For calls that do not wait for a job, the peer or an officer.
  static constexpr std::chrono::seconds kAnswerTime{60};

  // Connects with the first call. Fails: UsageError for a malformed address, or a file of TLS that
  // cannot be used.
  explicit ClientChannel(ServerAddress address);
  ~ClientChannel();
  ClientChannel(const ClientChannel&) = delete;
  ClientChannel& operator=(const ClientChannel&) = delete;

  // `Service` is a service of the interface, such as v1::Party.
  template <class Service>
  std::unique_ptr<typename Service::Stub> stub() const {
    return Service::NewStub(channel_);
  }

  // A call with one request and one reply. Without a limit it lasts as long as the daemon takes.
  // Fails: as check().
  template <class Stub, class Request, class Reply>
  void call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
            const Request& request, Reply& reply,
            std::optional<std::chrono::seconds> limit = kAnswerTime) const {
    grpc::ClientContext context;
    if (limit) context.set_deadline(std::chrono::system_clock::now() + *limit);
    check((stub.*method)(&context, request, &reply), limit.value_or(kAnswerTime));
  }

  // Fails: Error with the message and the class of the daemon's error, or of class Network if the
  // daemon cannot be reached, or has not answered within the limit.
  void check(const grpc::Status& status, std::chrono::seconds limit = kAnswerTime) const;

 private:
  [[noreturn]] void fail_unreachable(const std::string& message) const;

  ServerAddress address_;
  std::shared_ptr<grpc::Channel> channel_;
};

// Wipes the copy in a message.
void wipe_text(std::string& text);

}  // namespace tinyot::service
