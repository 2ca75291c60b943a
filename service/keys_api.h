// Keys of custody for the programs of this party's organisation (tinyot/v1/keys.proto): a service
// beside that of api.h, on the same ports.
#pragma once

#include <memory>

#include "service/key_calls.h"

namespace grpc {
class Service;
class ServerContext;
class Status;
}  // namespace grpc

namespace tinyot::service {

// `calls` outlive it.
std::unique_ptr<grpc::Service> make_keys_service(const KeyCalls& calls, KeyCallers callers);

}  // namespace tinyot::service
