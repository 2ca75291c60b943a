// The interface to the programs of this party's organisation (tinyot/v1/party.proto): gRPC on a
// Unix socket and, if configured, on TCP with mutual TLS.
#pragma once

#include <memory>
#include <vector>

#include "config.pb.h"
#include "service/jobs.h"
#include "service/peer.h"

namespace tinyot::service {

using Peers = std::vector<std::unique_ptr<Peer>>;

class Api {
 public:
  // Serves from its construction on. Fails: NetworkError if an address or the socket is in use.
  Api(const config::Daemon& config, Jobs& jobs, const Peers& peers);
  ~Api();

  // Later submissions fail.
  void refuse_jobs();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot::service
