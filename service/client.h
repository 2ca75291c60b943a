// A party's daemon, as its clients see it through its interface (tinyot/v1/party.proto). gRPC is
// included by the implementation alone.
//
// Fails, all calls: Error with the message and the class of the daemon's error, or of class Network
// if the daemon cannot be reached or does not answer.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "circuitgen/formats/circuit_file.h"
#include "service/server_address.h"
#include "tinyot/error.h"
#include "tinyot/values.h"

namespace tinyot::service {

struct RemoteJob {
  enum class State { Unknown, WaitingForPeer, Queued, Running, Done, Failed, Cancelled };
  struct JobFailure {
    ErrorClass error_class;
    std::string message;
  };
  std::string id, peer, circuit;
  std::uint64_t lanes = 1, ands = 0;  // ANDs of all lanes
  State state = State::Unknown;
  std::optional<JobFailure> failure;  // of a failed job
  std::string session;                // that it was evaluated in; may be empty
  double submitted_at_s = 0, evaluation_s = 0, total_s = 0;
  // Of a job that is done: the phase, half round trips of A and of B, and whether its run was
  // prepared before its inputs.
  std::string online;
  std::array<std::uint64_t, 2> half_round_trips{};
  bool was_prepared = false;
};

// Without a peer: the only job of this id.
struct JobName {
  std::string id, peer;
};

struct RemoteOutput {
  std::string name;
  circuit::ValueFormat format;
  std::string type;  // "i32"; empty if it has none
  LaneMatrix values;
};

struct RemoteResult {
  RemoteJob job;  // has ended
  std::vector<RemoteOutput> outputs;
};

struct NewRemoteJob {
  std::string id, peer;                             // no peer: the only one
  std::string circuit;                              // the name of a built-in circuit, or a file
  std::optional<circuit::CircuitFileOptions> file;  // what is said of a file
  std::uint64_t lanes = 1;
  const Values& inputs;     // those given
  std::string online = {};  // the phase; empty: as the daemons' configuration says
};

// A session with a peer, and what is left of it.
struct RemoteSession {
  std::string peer, session;
  bool is_current = false;
  std::uint64_t ands_left = 0, inputs_left = 0, low_ands = 0, high_ands = 0;
  double budget_spent = 0;
  std::uint64_t store_bytes = 0;
  bool is_refilling = false;
};

// Runs of a circuit that are prepared before their inputs.
struct RemotePrepared {
  std::string circuit;
  std::uint64_t lanes = 1, in_stock = 0, kept = 0, configured = 0;
  std::string reason;  // why fewer are kept than configured
};

struct RemotePeer {
  std::string name, party;
  bool is_connected = false;
  std::string last_error;
  std::uint64_t jobs_waiting = 0, jobs_running = 0, sessions_revoked = 0;
  std::string refills_stopped;  // the reason; empty if they are not
  double sessions_risk = 0;
  std::vector<RemotePrepared> prepared;
  std::string jobs_held;  // why no job begins; empty if they do
};

class DaemonConnection {
 public:
  // Connects with the first call. Fails: UsageError for a malformed address, or a file of TLS that
  // cannot be used.
  explicit DaemonConnection(ServerAddress address);
  ~DaemonConnection();

  RemoteJob submit(const NewRemoteJob& job);
  RemoteJob status(const JobName& job);
  RemoteJob cancel(const JobName& job);

  struct Wait {
    std::optional<std::chrono::seconds> limit;
    std::stop_token stop;
  };
  // Waits until the job has ended. Empty if the limit has passed, or a stop was requested.
  std::optional<RemoteResult> result(const JobName& job, const Wait& wait);
  // Fails if this client may not read results, to be known before a job is submitted for its
  // result.
  void require_results();
  // The daemon drops a job that has ended, and its outputs.
  void forget(const JobName& job);

  // Of a peer, or of all.
  std::vector<RemoteSession> stock(const std::string& peer);
  std::vector<RemotePeer> peers();
  // Returns the session that has ended.
  std::string retire(const std::string& peer);
  void resume_refills(const std::string& peer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot::service
