// Keys of custody for the programs of this party's organisation (tinyot/v1/keys.proto): a service
// beside that of api.h, on the same ports.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "service/access.h"
#include "service/peer.h"

namespace grpc {
class Service;
class ServerContext;
class Status;
}  // namespace grpc

namespace tinyot::service {

// Who makes a call; and whether it may manage keys, which is no call of its own.
struct KeyCallers {
  std::function<Caller(const grpc::ServerContext&)> caller_of;
  std::function<bool(const Caller&)> is_officer;
};

// `peers` outlive it.
std::unique_ptr<grpc::Service> make_keys_service(const std::vector<std::unique_ptr<Peer>>& peers,
                                                 KeyCallers callers);

// Of the exception that is being handled, with its details.
grpc::Status status_of_failure();

}  // namespace tinyot::service
