// The interface to the programs of this party's organisation (tinyot/v1/party.proto): gRPC on a
// Unix socket and, if configured, on TCP with mutual TLS; and that to Kubernetes (kms.h), which has
// sockets and servers of its own.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "config.pb.h"
#include "service/access.h"
#include "service/jobs.h"
#include "service/peer.h"
#include "service/start_check.h"

namespace tinyot::service {

using Peers = std::vector<std::unique_ptr<Peer>>;

class Api {
 public:
  // Serves from its construction on; `tls` has the files that the configuration names, if any.
  // Fails: NetworkError if it cannot serve a socket or the address.
  Api(const config::Daemon& config, std::optional<TlsFiles> tls, Jobs& jobs, const Peers& peers,
      DaemonMetrics& metrics);
  ~Api();

  // In place of the files, for connections from now on, and of what clients may do.
  void renew(std::optional<TlsFiles> tls, AccessRules access);

  // Of the interface on TCP, if there is one.
  std::vector<CertificateEnd> certificates() const;
  // For the protocol of gRPC that load balancers ask (grpc.health.v1).
  void set_ready(bool is_ready);

  // Ends calls whose clients are too slow; called now and then.
  void end_late_calls();
  // Later submissions fail.
  void refuse_jobs();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot::service
