#include "service/failed_call.h"

#include "service/names.h"

namespace tinyot::service {
namespace {

constexpr const char* kErrorType = "type.googleapis.com/tinyot.v1.Error";

}  // namespace

grpc::Status failed_call(grpc::StatusCode code, ErrorClass error_class,
                         const std::string& message) {
  v1::Error error;
  error.set_error_class(class_of(error_class));
  error.set_message(message);
  v1::FailedCall failed;
  failed.set_code(code);
  failed.set_message(message);
  v1::FailedCall::Detail& detail = *failed.add_details();
  detail.set_type_url(kErrorType);
  detail.set_value(error.SerializeAsString());
  return {code, message, failed.SerializeAsString()};
}

std::optional<v1::Error> error_in(const grpc::Status& status) {
  v1::FailedCall failed;
  if (!failed.ParseFromString(status.error_details())) return std::nullopt;
  for (const v1::FailedCall::Detail& detail : failed.details())
    if (v1::Error error; detail.type_url() == kErrorType && error.ParseFromString(detail.value()))
      return error;
  return std::nullopt;
}

}  // namespace tinyot::service
