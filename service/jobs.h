// The jobs of a daemon's clients, from their submission until their results are dropped. Those of a
// peer are kept on the disk, too, if there is a place for them (job_files.h).
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
#include "service/job_files.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"
#include "tinyot/v1/party.pb.h"
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
std::uint64_t bytes_of(const Values& values);
// What the outputs that a party learns will take.
std::uint64_t bytes_of_outputs(const engine::LoadedCircuit& circuit, Party party);

enum class JobState { WaitingForPeer, Queued, Running, Done, Failed, Cancelled };
constexpr bool has_ended(JobState state) { return state >= JobState::Done; }

struct JobRequest {
  std::string id, peer;
  // Absent if a process before this one has ended the job, or has lost it.
  std::optional<engine::LoadedCircuit> circuit;
  wire::Terms terms;
  std::shared_ptr<const Values> inputs;
  std::uint64_t circuit_bytes = 0;  // of a circuit file, which the circuit keeps
  std::uint64_t output_bytes = 0;   // of its outputs, which come before the inputs are dropped
};

// Of which a later process makes the circuit of the job again.
struct JobOrigin {
  v1::NewJob job;
  std::string_view circuit_file;
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
  std::uint64_t ands() const {
    return request_.circuit ? request_.circuit->cost().ands_of(request_.circuit->lanes()) : ands_;
  }
  // Those of the circuit, of which this party may learn some alone.
  const std::vector<circuit::OutputBundle>& outputs() const {
    return request_.circuit ? request_.circuit->info().outputs : outputs_;
  }

 private:
  friend class Jobs;
  using Clock = std::chrono::steady_clock;
  explicit Job(JobRequest request) : request_(std::move(request)) {}

  JobRequest request_;
  JobStatus status_;
  JobResult result_;
  std::uint64_t bytes_ = 0;
  Clock::time_point submitted_ = Clock::now(), ended_{};
  // Without a circuit.
  std::uint64_t ands_ = 0;
  std::vector<circuit::OutputBundle> outputs_;
  // Of its file: the number of its keys, 0 without a file; whether a thread changes it; the total
  // time, once it has the result; whether that, or another end, could not be written. A job is
  // accepted once it has a file, and leaves before that goes.
  std::uint64_t number_ = 0;
  bool is_changing_ = false, is_accepted_ = false, is_leaving_ = false, is_unwritten_ = false;
  std::optional<double> total_s_;
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

  // From now on the jobs with the peer have files, of which those of an earlier process are added:
  // each waits again, has ended, or is about to fail for a reason that is returned with it. `me`:
  // this party.
  struct Restored {
    SharedJob job;
    std::optional<JobError> failure;
  };
  std::vector<Restored> keep(const std::string& peer, Party me, std::unique_ptr<JobFiles> files);
  bool are_kept(const std::string& peer) const;

  // The job is on the disk on return. Fails: Refusal; StoreError if it cannot be written.
  SharedJob add(JobRequest request, const JobOrigin& origin = {});
  // Null if there is none. A peer's jobs have ids of their own.
  SharedJob find(const std::string& peer, const std::string& id) const;
  // Of all peers.
  std::vector<SharedJob> named(const std::string& id) const;
  JobStatus status(const Job& job) const;
  void set_state(Job& job, JobState state);
  // Null once the job has ended.
  std::shared_ptr<const Values> inputs(const Job& job) const;
  // Before anything of the job is sent or any material is taken for it: from now on no later
  // process begins it. Fails: StoreError if that cannot be written.
  void begin(Job& job);
  // Writes the outputs to the disk, if they are to be kept there: finish() would do it under the
  // caller's locks.
  void keep_result(Job& job, const JobResult& result);
  // Of a job that has ended nothing changes any more; these return whether it had not. What they
  // say is on the disk before anyone is told, unless that cannot be written.
  bool finish(Job& job, JobResult result);
  // Writes what could not be written of jobs that have ended, until that fails again.
  void write_again();
  // How many there are.
  std::uint64_t unwritten(const std::string& peer) const;
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

  // What one thread at a time does to the file of a job that has not ended.
  class Change;

  bool end(Job& job, JobState state, JobError error);
  void write_end(Job& job, const JobStatus& status, const Values& outputs);
  SharedJob take_unwritten();
  void remove(const std::vector<SharedJob>& jobs);
  Restored restored(const std::string& peer, Party me, JobFiles::Kept kept);

  // All under the lock.
  JobFiles* files_of(const std::string& peer) const;
  void insert(const SharedJob& job);
  void publish_end(Job& job, JobStatus status);
  void drop(std::map<Key, SharedJob>::iterator at);
  bool has_room_for(const Job& job) const;

  const JobLimits limits_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<Key, SharedJob> jobs_;
  std::uint64_t bytes_ = 0;           // of all of them
  std::map<std::string, Held> held_;  // by peer
  std::map<std::string, std::unique_ptr<JobFiles>> files_;
};

}  // namespace tinyot::service
