// The metrics of a running daemon; doc/metrics.md lists them. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/tcp.h"
#include "service/health.h"
#include "service/jobs.h"
#include "service/names.h"
#include "service/prepared_stock.h"
#include "storage/inventory.h"
#include "tinyot/phase_cost.h"

namespace tinyot::service {

struct Traffic {
  std::uint64_t sent = 0, received = 0;  // bytes
};
Traffic traffic_of(const std::vector<PhaseCost>& phases);

struct KeyCounts {
  std::map<std::string, std::uint64_t> by_state;
  std::uint64_t requests = 0, approvals = 0;  // that wait for an officer of this party
  bool has_peer_cheated = false;
  std::uint64_t destroyed_by_peer = 0;  // and not here yet
};

// What is read at each scrape.
struct PeerGauges {
  std::string peer;
  bool is_connected = false, are_refills_stopped = false;
  double risk = 0;  // of all sessions, also of those that have ended
  JobCounts jobs;
  std::uint64_t unwritten = 0;         // jobs that have ended, which is not on the disk yet
  std::uint64_t ands = 0, inputs = 0;  // in stock
  std::uint64_t low_ands = 0, high_ands = 0;
  std::uint64_t refill_bytes = 0;  // on disk, of all that `high` has
  std::vector<storage::Inventory> stores;
  std::vector<PreparedCount> prepared;
  std::optional<KeyCounts> keys;  // with custody
};

// Until when a certificate is valid.
struct CertificateEnd {
  std::string use;   // "party", "peer", "interface" or "clients" (their authorities)
  std::string peer;  // of the first two
  std::chrono::system_clock::time_point at;
};

struct DaemonGauges {
  std::vector<PeerGauges> peers;
  std::vector<CertificateEnd> certificates;
  std::optional<std::uint64_t> disk_available;  // bytes where the stores are
};

class DaemonMetrics {
 public:
  explicit DaemonMetrics(const std::string& version);
  ~DaemonMetrics();

  // Its counters are 0 from now on, so that the first event is an increase.
  void add_peer(const std::string& peer);

  void add_prepared(const std::string& peer, const PreparedCircuit& circuit);  // as add_peer()

  void evaluation(const std::string& peer, JobOutcome outcome);
  void latency(const std::string& peer, double seconds);  // of an evaluation that is done
  // Of a job that is done: its ANDs in all lanes, and what its evaluation has come to.
  void evaluated(const std::string& peer, std::uint64_t ands, const JobResult& result, Party me);
  void traffic(const std::string& peer, TrafficOf use, const Traffic& traffic);
  void refusal(const std::string& peer, RefusedBy by);
  void cheating(const std::string& peer);
  void session_begun(const std::string& peer);
  void session_ended(const std::string& peer, SessionEnd reason);
  void refill(const std::string& peer, RefillOutcome outcome, std::uint64_t ands);
  void prepared(const std::string& peer, const PreparedCircuit& circuit, PreparedOutcome outcome);
  void wasted(const std::string& peer, std::uint64_t ands);  // for prepared runs
  // A request for a key has ended, after so long.
  void key_request(const std::string& peer, const std::string& operation, RefusedBy asked_by,
                   bool is_done, double seconds);
  // A call of Kubernetes' interface has ended.
  void kms_call(const std::string& peer, const std::string& method, bool is_done);

 private:
  friend class MetricsServer;
  struct State;
  std::unique_ptr<State> state_;
};

// Serves HTTP at an address for as long as it lives: /metrics, for which it reads `gauges` at each
// scrape; /healthz and /readyz (or /readyz?peer=NAME), with status 200 or 503.
class MetricsServer {
 public:
  // Fails: NetworkError.
  MetricsServer(const DaemonMetrics& metrics, const net::Address& address,
                std::function<DaemonGauges()> gauges, const Health& health);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot::service
