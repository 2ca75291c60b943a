// Kubernetes' interface to key services (service/kubernetes/kms_v2.proto) for the keys of one
// label. Its API servers encrypt with them the seeds of the keys of their secrets.
//   key_id      the id of the label's newest version that has been settled, whatever its state is:
//               only rotation changes it
//   ciphertext  nonce (12 bytes), ciphertext, tag (16 bytes); of AES-GCM with the associated data
//               "tinyot kms v2" and key_id, which the peer sees
//   annotations none
//   healthz     "ok" if the next call should succeed: the peer is connected, the key is active at
//               both parties, and the stock is not below `low`. It takes no material, and nothing
//               is sent to the peer.
// Decrypt takes every version, also a deactivated one. Errors are those of tinyot.v1.Keys, and
// DATA_LOSS for a ciphertext with a wrong tag; they come while the caller still waits.
#pragma once

#include <memory>

#include "service/daemon_metrics.h"
#include "service/key_calls.h"
#include "service/peer.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace tinyot::service {

// `peer`, which has custody, and `metrics` outlive it.
std::unique_ptr<grpc::Service> make_kms_service(std::string label, Peer& peer,
                                                DaemonMetrics& metrics, KeyCallers callers);

}  // namespace tinyot::service
