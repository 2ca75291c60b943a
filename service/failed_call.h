// The status of a call that has failed, with its details (tinyot/v1/party.proto, FailedCall).
#pragma once

#include <grpcpp/support/status.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "tinyot/v1/party.pb.h"

namespace tinyot::service {

grpc::Status failed_call(grpc::StatusCode code, ErrorClass error_class, const std::string& message);

// Empty if the status has no such details.
std::optional<v1::Error> error_in(const grpc::Status& status);

}  // namespace tinyot::service
