#include "service/client_channel.h"

#include <grpc/grpc.h>

#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/secret_text.h"
#include "net/tcp.h"
#include "service/failed_call.h"
#include "service/names.h"
#include "system/input_file.h"

namespace tinyot::service {
namespace {

// After a connection that has failed, gRPC keeps its channel until it would connect again.
constexpr int kConnectAgainTime_ms = 100;
constexpr std::chrono::seconds kEndTime{1};
constexpr std::string_view kUnixPrefix = "unix:";

bool is_unix(const std::string& address) { return address.starts_with(kUnixPrefix); }

std::string pem_of(const std::string& file) {
  const SecretText text = system::read_secret(system::InputFile(file));
  return {text.begin(), text.end()};
}

std::shared_ptr<grpc::ChannelCredentials> credentials_for(const ServerAddress& address) {
  if (!address.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = pem_of(address.tls->ca);
  options.pem_cert_chain = pem_of(address.tls->certificate);
  options.pem_private_key = pem_of(address.tls->key);
  auto credentials = grpc::SslCredentials(options);
  wipe_text(options.pem_private_key);
  return credentials;
}

std::shared_ptr<grpc::Channel> channel_to(const ServerAddress& address) {
  // The library's own lines on stderr: each error is reported as the call's.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kConnectAgainTime_ms);
  return grpc::CreateCustomChannel(is_unix(address.text) ? address.text : "dns:///" + address.text,
                                   credentials_for(address), arguments);
}

}  // namespace

void wipe_text(std::string& text) {
  wipe(text.data(), text.size());
  text.clear();
}

ClientChannel::ClientChannel(ServerAddress address) : address_(std::move(address)) {
  if (!is_unix(address_.text))
    net::parse_address(address_.text);
  else if (address_.text.size() == kUnixPrefix.size())
    throw UsageError("the daemon's address unix: lacks the path of a socket");
  channel_ = channel_to(address_);
}

// gRPC frees what belongs to a channel on threads of its own. The process does not end before that:
// they would use what its end destroys.
ClientChannel::~ClientChannel() {
  channel_.reset();
  const auto until = std::chrono::steady_clock::now() + kEndTime;
  while (::grpc_is_initialized() != 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void ClientChannel::check(const grpc::Status& status, std::chrono::seconds limit) const {
  if (status.ok()) return;
  if (const auto error = error_in(status); error && !error->message().empty())
    throw Error(class_from(error->error_class()), error->message());
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      fail_unreachable(status.error_message());
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      throw Error(ErrorClass::Network, "the daemon at " + address_.text +
                                           " did not answer within " +
                                           std::to_string(limit.count()) + " s");
    case grpc::StatusCode::CANCELLED:
      throw Error(ErrorClass::Network, "the daemon at " + address_.text + " ended the call");
    case grpc::StatusCode::PERMISSION_DENIED:
      throw Error(ErrorClass::Usage, status.error_message());
    case grpc::StatusCode::UNIMPLEMENTED:
      throw Error(ErrorClass::Other, address_.text + " is not a daemon of this version of tinyot");
    default:
      throw Error(ErrorClass::Other,
                  "the daemon at " + address_.text + ": " + status.error_message());
  }
}

void ClientChannel::fail_unreachable(const std::string& message) const {
  std::string reason = message;
  for (const std::string& before :
       {std::string("last error: "), std::string("UNKNOWN: "), address_.text + ": "})
    if (const auto at = reason.find(before); at != std::string::npos)
      reason.erase(0, at + before.size());
  throw Error(ErrorClass::Network,
              "no connection to the daemon at " + address_.text + " (" + reason + ")",
              is_unix(address_.text) ? Remedy::CheckDaemonSocket : Remedy::CheckDaemonTls);
}

}  // namespace tinyot::service
