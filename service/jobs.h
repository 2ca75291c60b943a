// The jobs of a daemon's clients, from their submission until their results are dropped.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/loaded_circuit.h"
#include "peer.pb.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"
#include "tinyot/values.h"

namespace tinyot::service {

struct JobError {
  ErrorClass error_class = ErrorClass::Other;
  std::string message;
};
// The current exception, in a catch block.
JobError current_error();

// What the values of a bundle take in memory.
std::uint64_t bytes_of_values(std::uint64_t lanes, std::uint64_t bits);
// What the outputs that a party learns will take.
std::uint64_t bytes_of_outputs(const engine::LoadedCircuit& circuit, Party party);

enum class JobState { WaitingForPeer, Queued, Running, Done, Failed, Cancelled };
constexpr bool has_ended(JobState state) { return state >= JobState::Done; }

struct JobRequest {
  std::string id, peer;
  engine::LoadedCircuit circuit;
  wire::Terms terms;
  std::shared_ptr<const Values> inputs;
  std::uint64_t circuit_bytes = 0;  // of a circuit file, which the circuit keeps
  std::uint64_t output_bytes = 0;   // of its outputs, which come before the inputs are dropped
};

struct JobStatus {
  JobState state = JobState::WaitingForPeer;
  JobError error;  // of a failed job
  // Of a job that is done.
  std::string session;
  OnlinePhase phase = OnlinePhase::Interactive;
  std::array<std::uint64_t, 2> half_round_trips{};
  bool was_prepared = false;
  std::chrono::system_clock::time_point submitted_at{};
  double evaluation_s = 0;  // of a job that is done
  double total_s = 0;       // of a job that has ended, since its submission
};

// Of a job that is done.
struct JobResult {
  Values outputs;       // that this party learns
  std::string session;  // that it was evaluated in
  std::uint64_t and_rounds = 0;
  OnlinePhase phase = OnlinePhase::Interactive;
  // Until A and B have their outputs; after the inputs, if the run was prepared before them.
  std::array<std::uint64_t, 2> half_round_trips{};
  bool was_prepared = false;
  double evaluation_s = 0;
};

class Jobs;

// A job as submitted. Its inputs are dropped when it ends.
class Job {
 public:
  const JobRequest& request() const { return request_; }
  const std::string& id() const { return request_.id; }
  std::uint64_t ands() const { return request_.circuit.cost().ands_of(request_.circuit.lanes()); }

 private:
  friend class Jobs;
  using Clock = std::chrono::steady_clock;
  explicit Job(JobRequest request) : request_(std::move(request)) {}

  JobRequest request_;
  JobStatus status_;
  JobResult result_;
  std::uint64_t bytes_ = 0;
  Clock::time_point submitted_ = Clock::now(), ended_{};
};
using SharedJob = std::shared_ptr<Job>;

// Of jobs that have not ended.
struct JobCounts {
  std::uint64_t waiting = 0, queued = 0, running = 0;
};

// What a daemon may hold.
struct JobLimits {
  std::uint64_t jobs, bytes;  // of jobs; of their circuit files, inputs and results
  std::chrono::seconds until_matched, results_kept;
  // That share them: with several, a peer's jobs take no more than what is still free, so that the
  // jobs of a peer that never answers leave room for those of the others.
  std::size_t peers = 1;
};

// Thread-safe.
class Jobs {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Refused { Exists, Full, TooLarge };
  class Refusal : public std::runtime_error {
   public:
    Refusal(Refused why, const std::string& text) : std::runtime_error(text), why_(why) {}
    Refused why() const { return why_; }

   private:
    Refused why_;
  };

  explicit Jobs(const JobLimits& limits) : limits_(limits) {}

  // Fails: Refusal.
  SharedJob add(JobRequest request);
  // Null if there is none. A peer's jobs have ids of their own.
  SharedJob find(const std::string& peer, const std::string& id) const;
  // Of all peers.
  std::vector<SharedJob> named(const std::string& id) const;
  JobStatus status(const Job& job) const;
  void set_state(Job& job, JobState state);
  // Null once the job has ended.
  std::shared_ptr<const Values> inputs(const Job& job) const;
  // Of a job that has ended nothing changes any more; these return whether it had not.
  bool finish(Job& job, JobResult result);
  bool fail(Job& job, JobError error);
  bool cancel(Job& job);

  // Waits until the job has ended; false at `until`.
  bool wait(const Job& job, Clock::time_point until) const;
  // Outputs of a job that is done, by output bundle; they stay as long as the job is shared.
  const Values& outputs(const Job& job) const;
  void forget(const Job& job);

  // Drops results that have been kept long enough, and returns the jobs that have waited for too
  // long.
  std::vector<SharedJob> expire();
  std::vector<SharedJob> of_peer(const std::string& peer) const;  // that have not ended
  JobCounts counts(const std::string& peer) const;

 private:
  using Key = std::pair<std::string, std::string>;  // peer, id
  static Key key_of(const Job& job) { return {job.request().peer, job.id()}; }
  // Of a peer.
  struct Held {
    std::uint64_t jobs = 0, bytes = 0;
  };

  // All under the lock.
  bool end(Job& job, JobState state, JobError error);
  void drop(std::map<Key, SharedJob>::iterator at);
  bool has_room_for(const Job& job) const;

  const JobLimits limits_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<Key, SharedJob> jobs_;
  std::uint64_t bytes_ = 0;           // of all of them
  std::map<std::string, Held> held_;  // by peer
};

}  // namespace tinyot::service
