// What gRPC asks of the interface's ports: the certificate of TLS, which can be replaced while it
// is served, and whether a client may make a call (access.h). Handlers learn from it whose call
// they are given.
#pragma once

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_context.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "net/tls/server_certificate.h"
#include "service/access.h"
#include "service/start_check.h"

namespace tinyot::service {

// Thread-safe.
class ServerTls {
 public:
  // The files have been checked.
  explicit ServerTls(TlsFiles files);

  // The certificate of connections from now on, and the authorities of calls from now on. The files
  // have been checked.
  void replace(TlsFiles files);
  // Whether an authority admits the certificate, which a client has connected with, now.
  bool admits(const std::string& chain) const;
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
  std::shared_ptr<const net::ClientAuthorities> authorities_;
  std::uint64_t version_ = 1;
};

// Of a client, in PEM with those between it and its authority. Empty without TLS.
struct ClientCertificate {
  std::string name, chain;  // `name` is its common name
};

// Why a call of this method, such as "/tinyot.v1.Party/Submit", is refused; empty if it may be
// made. Called on threads of gRPC; must not throw.
using CallCheck = std::function<std::optional<std::string>(const std::string& method,
                                                           const ClientCertificate& certificate)>;

// Of TLS with a certificate on both sides: of the client one that an authority has signed.
std::shared_ptr<grpc::ServerCredentials> tls_credentials(std::shared_ptr<const ServerTls> tls,
                                                         CallCheck check);
// Of connections of Unix sockets; `caller`: the number, of LocalCallers, of whoever connects to the
// port.
std::shared_ptr<grpc::ServerCredentials> local_credentials(CallCheck check, std::size_t caller);

// Who makes the call, by what its connection is, and by nothing that the call says: the port of a
// Unix socket, or the certificate of TLS. An unknown one on a port without these credentials.
Caller caller_in(const grpc::ServerContextBase& call, const LocalCallers& local);

}  // namespace tinyot::service
