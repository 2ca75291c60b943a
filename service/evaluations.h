// The evaluations with one peer, several at a time. Each worker has a connection of its own, which
// it keeps from one job to the next of the same session. A connection knows its session: no job of
// another session is evaluated on it, and none at all once the session has been retired or revoked.
// The runs that a connection has prepared are lost with it; a worker without a job notices the end
// of its connection within a second.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "service/daemon_metrics.h"
#include "service/error_log.h"
#include "service/jobs.h"
#include "service/key_work.h"
#include "service/peer_settings.h"
#include "service/sessions.h"
#include "service/stream_port.h"
#include "tinyot/run.h"

namespace tinyot::service {

// Opens the streams of a group, one after the other.
engine::PeerOptions options_for(StreamPort& port, std::uint64_t group,
                                const std::stop_token& cancel);

// ANDs that a connection reserves at a time for short jobs: a twentieth of a second's making, and
// ten blocks of AES.
inline constexpr std::uint64_t kReserveAheadAnds = std::uint64_t{1} << 16;

class Evaluations {
 public:
  // A job of this party, or work of custody, on a connection and the material of a session; or a
  // run to be prepared.
  struct Order {
    SharedJob job = {};
    SharedKeyWork key = {};
    std::shared_ptr<const Values> inputs = {};
    std::uint64_t group = 0, session = 0;
    const PreparedCircuit* circuit = nullptr;  // null: the job takes no prepared run
    std::uint64_t prepared = 0;                // the number of the run that the job takes
    bool is_cancelled = false;

    bool is_preparation() const { return !job && !key; }
  };
  // A run that is prepared, on the connection of a worker.
  struct PreparedRun {
    std::size_t worker = 0;
    std::uint64_t group = 0, session = 0;
    const PreparedCircuit* circuit = nullptr;
    std::uint64_t number = 0;
  };
  struct Outcome {
    JobResult result;            // if there is no error
    std::uint64_t prepared = 0;  // the number of the run that has been prepared
    // Of which material has been taken for the run that was to be prepared, or skipped for it.
    std::uint64_t spent_ands = 0;
    // Whether a job has run meanwhile, which may have taken what was skipped.
    bool beside_job = false;
    std::optional<JobError> error;
    // Of a job: its store or its disk has failed at this party, which the peer cannot see.
    bool is_to_be_told = false;
    Traffic traffic;
  };
  // Both are called on the worker's thread. A connection has been lost: prepared runs may have been
  // lost with it.
  using Ended = std::function<void(std::size_t worker, const Order&, Outcome)>;
  using Lost = std::function<void()>;

  // `ledger`: the path of the ledgers without the worker's number, or empty.
  Evaluations(const PeerSettings& settings, StreamPort& port, Sessions& sessions, Jobs& jobs,
              std::filesystem::path ledger, Ended ended, Lost lost);
  ~Evaluations() { stop(); }
  // Cancels what is running; on return nothing of the above is called any more.
  void stop();

  // Of the leading party: the group of the connection on which the worker, which is free, begins
  // its next order. It is that of the last order if the session is the same, and nothing has closed
  // the connection since.
  std::uint64_t group_for(std::size_t worker, std::uint64_t session);
  // The same, if it is that of the last order.
  std::optional<std::uint64_t> kept_group(std::size_t worker, std::uint64_t session);

  // An order on another connection takes the place of one that the worker has not begun yet: the
  // leading party, whose orders these are, has given it up.
  // Returns why the order is refused: the worker has one on this connection that it has not begun
  // yet, or the connection belongs to another session, and is then closed, or has no such prepared
  // run. Empty if it is accepted.
  std::optional<std::string> begin(std::size_t worker, Order order);
  // Also ends the wait for the peer's end of a job that has failed here.
  void cancel(const Job& job);
  void cancel(const KeyWork& work);

  // Those that no job has taken, on connections that are not about to be closed.
  std::vector<PreparedRun> prepared();
  // Of these and of those that are being prepared: of the circuit.
  std::size_t count(const PreparedCircuit& circuit);
  // Closes the connection as soon as no job is evaluated on it.
  void close(std::uint64_t group);
  // The circuits of those that have been lost with their connections since the last call.
  std::vector<const PreparedCircuit*> take_lost();

  // Closes the connections of older sessions, each as soon as no job is evaluated on it.
  void close_below(std::uint64_t session);
  // Closes the connections of a session at once, and cancels its jobs; they fail with `reason`.
  void end_session(std::uint64_t session, const std::string& reason);

 private:
  struct Connection {
    std::uint64_t group = 0, session = 0;  // both 0: there is none
  };
  struct Worker {
    Connection agreed;               // by group_for(), for orders to come
    std::optional<Order> next;       // to be begun
    std::vector<Order> given_up;     // by the leading party, before they were begun
    const Order* running = nullptr;  // null: idle
    std::stop_source cancel;         // of the connection
    // Of the connection; 0: there is none. Both are set when its first order is begun.
    std::uint64_t group = 0, session = 0;
    bool is_to_close = false;   // once nothing runs
    std::string ended_because;  // the session has ended, so the running job is cancelled
    const Job* told = nullptr;  // has failed; the peer, which is told so, may not have ended it yet
    std::vector<PreparedRun> prepared;        // of the connection
    std::shared_ptr<net::ByteStream> stream;  // the three are of the worker's thread
    std::unique_ptr<Evaluator> evaluator;
    std::shared_ptr<KeyConnection> keys;  // goes before the evaluator
    Traffic traffic;                      // of the connection
    std::jthread thread;
  };

  void work(std::size_t index, const std::stop_token& stop);
  void end_given_up(std::size_t index);
  void await_peers_end(Worker& worker, net::ByteStream& stream, const std::stop_token& stop);
  // What a connection leaves behind. The peer sees its end once both are destroyed.
  struct Closed {
    std::shared_ptr<net::ByteStream> stream;
    std::unique_ptr<Evaluator> evaluator;
  };
  // Waits for an order or for the end of the connection. Returns the connection if it has been
  // lost.
  Closed wait_for_order(std::unique_lock<std::mutex>& lock, Worker& worker,
                        const std::stop_token& stop);
  // Ends the connection. Under the lock; what it returns is destroyed without it.
  Closed close(Worker& worker);
  // Under the lock.
  static void close_soon(Worker& worker);
  template <class IsFor>
  void cancel_orders(const IsFor& is_for);
  Outcome evaluate(Worker& worker, const Order& order);
  static std::vector<PreparedRun>::const_iterator find_prepared(const Worker& worker,
                                                                const Order& order);
  static bool may_have_prepared(const Worker& worker, const Order& order);
  void take_prepared(Worker& worker, const Order& order);
  void prepare(Worker& worker, const PreparedCircuit& prepared, Outcome& outcome);
  bool is_anything_running();
  RunResult run(Worker& worker, const Order& order);
  static Traffic take_traffic(Worker& worker, const std::vector<PhaseCost>& phases);
  void connect(Worker& worker, const Order& order);
  std::optional<std::filesystem::path> ledger_of(const Worker& worker) const;

  const PeerSettings& settings_;
  StreamPort& port_;
  Sessions& sessions_;
  Jobs& jobs_;
  const std::filesystem::path ledger_;  // followed by the worker's number
  const Ended ended_;
  const Lost call_lost_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Worker> workers_;
  std::vector<const PreparedCircuit*> lost_;
  ErrorLog errors_;
};

}  // namespace tinyot::service
