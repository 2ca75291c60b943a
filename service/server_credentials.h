// What gRPC asks of the interface's ports: the certificate of TLS, which can be replaced while it
// is served, and whether a client may make a call (access.h).
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "service/start_check.h"

namespace tinyot::service {

// Thread-safe.
class ServerTls {
 public:
  explicit ServerTls(TlsFiles files) : files_(std::move(files)) {}

  // Of connections from now on. The files have been checked.
  void replace(TlsFiles files);
  std::uint64_t version() const;
  // Calls `use` with the files, and returns their version.
  template <class Use>
  std::uint64_t with_files(const Use& use) const {
    const std::lock_guard lock(mutex_);
    use(files_);
    return version_;
  }

 private:
  mutable std::mutex mutex_;
  TlsFiles files_;
  std::uint64_t version_ = 1;
};

// Why a call of this method, such as "/tinyot.v1.Party/Submit", is refused; empty if it may be
// made. `name` is the common name in the client's certificate, empty without TLS. Called on threads
// of gRPC; must not throw.
using CallCheck =
    std::function<std::optional<std::string>(const std::string& method, const std::string& name)>;

// Of TLS with a certificate on both sides: of the client one that an authority has signed.
std::shared_ptr<grpc::ServerCredentials> tls_credentials(std::shared_ptr<const ServerTls> tls,
                                                         CallCheck check);
// Of connections of Unix sockets.
std::shared_ptr<grpc::ServerCredentials> local_credentials(CallCheck check);

}  // namespace tinyot::service
