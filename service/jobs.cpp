#include "service/jobs.h"

#include "base/bit_vector.h"

namespace tinyot::service {
namespace {

std::uint64_t bytes_of(const Values& values) {
  std::uint64_t bytes = 0;
  for (const std::string& name : values.names())
    bytes += bytes_of_values(values.at(name).lanes(), values.at(name).bits());
  return bytes;
}

double seconds_between(Jobs::Clock::time_point begin, Jobs::Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

std::uint64_t bytes_of_values(std::uint64_t lanes, std::uint64_t bits) {
  // Memory for secrets is aligned to 64 bytes; so many are added to find it again.
  constexpr std::uint64_t kAlignment = 64, kOfAllocation = 32;
  const std::uint64_t bytes = lanes * bytes_for(bits);
  return sizeof(LaneMatrix) + (bytes + kAlignment - 1) / kAlignment * kAlignment + kOfAllocation;
}

std::uint64_t bytes_of_outputs(const engine::LoadedCircuit& circuit, Party party) {
  std::uint64_t bytes = 0;
  for (const circuit::OutputBundle& bundle : circuit.info().outputs)
    if (circuit::receives(bundle.to, party)) bytes += bytes_of_values(circuit.lanes(), bundle.bits);
  return bytes;
}

JobError current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return {error.error_class(), error.what()};
  } catch (const std::exception& error) {
    return {ErrorClass::Other, error.what()};
  }
}

SharedJob Jobs::add(JobRequest request) {
  const SharedJob job(new Job(std::move(request)));
  job->bytes_ =
      bytes_of(*job->request_.inputs) + job->request_.circuit_bytes + job->request_.output_bytes;
  job->status_.submitted_at = std::chrono::system_clock::now();
  const std::lock_guard lock(mutex_);
  if (jobs_.contains(key_of(*job)))
    throw Refusal(Refused::Exists,
                  "there is a job " + job->id() + " with " + job->request().peer + " already");
  if (job->bytes_ > limits_.bytes)
    throw Refusal(Refused::TooLarge,
                  "the inputs, the outputs and the circuit file of the job take " +
                      std::to_string(job->bytes_) + " bytes, more than job_bytes_max, " +
                      std::to_string(limits_.bytes));
  if (!has_room_for(*job))
    throw Refusal(Refused::Full,
                  "the daemon has as many jobs as it may have (jobs_max and "
                  "job_bytes_max of its configuration): submit the job later");
  jobs_.emplace(key_of(*job), job);
  bytes_ += job->bytes_;
  Held& held = held_[job->request().peer];
  ++held.jobs;
  held.bytes += job->bytes_;
  return job;
}

bool Jobs::has_room_for(const Job& job) const {
  if (jobs_.size() >= limits_.jobs || bytes_ + job.bytes_ > limits_.bytes) return false;
  if (limits_.peers == 1) return true;
  const auto held = held_.find(job.request().peer);
  // The first one may take all.
  if (held == held_.end() || held->second.jobs == 0) return true;
  return held->second.jobs + 1 < limits_.jobs - jobs_.size() &&
         held->second.bytes + job.bytes_ <= limits_.bytes - bytes_ - job.bytes_;
}

SharedJob Jobs::find(const std::string& peer, const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find({peer, id});
  return found == jobs_.end() ? nullptr : found->second;
}

std::vector<SharedJob> Jobs::named(const std::string& id) const {
  std::vector<SharedJob> jobs;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, job] : jobs_)
    if (job->id() == id) jobs.push_back(job);
  return jobs;
}

JobStatus Jobs::status(const Job& job) const {
  const std::lock_guard lock(mutex_);
  return job.status_;
}

void Jobs::set_state(Job& job, JobState state) {
  const std::lock_guard lock(mutex_);
  if (!has_ended(job.status_.state)) job.status_.state = state;
}

std::shared_ptr<const Values> Jobs::inputs(const Job& job) const {
  const std::lock_guard lock(mutex_);
  return job.request_.inputs;
}

bool Jobs::end(Job& job, JobState state, JobError error) {
  if (has_ended(job.status_.state)) return false;
  job.request_.inputs.reset();
  job.ended_ = Clock::now();
  job.status_.state = state;
  job.status_.error = std::move(error);
  job.status_.total_s = seconds_between(job.submitted_, job.ended_);
  const std::uint64_t bytes = bytes_of(job.result_.outputs) + job.request_.circuit_bytes;
  if (const auto found = jobs_.find(key_of(job));
      found != jobs_.end() && found->second.get() == &job) {
    bytes_ += bytes - job.bytes_;
    held_[job.request().peer].bytes += bytes - job.bytes_;
  }
  job.bytes_ = bytes;
  changed_.notify_all();
  return true;
}

bool Jobs::finish(Job& job, JobResult result) {
  const std::lock_guard lock(mutex_);
  if (has_ended(job.status_.state)) return false;
  job.result_ = std::move(result);
  job.status_.evaluation_s = job.result_.evaluation_s;
  job.status_.session = job.result_.session;
  job.status_.phase = job.result_.phase;
  job.status_.half_round_trips = job.result_.half_round_trips;
  job.status_.was_prepared = job.result_.was_prepared;
  return end(job, JobState::Done, {});
}

bool Jobs::fail(Job& job, JobError error) {
  const std::lock_guard lock(mutex_);
  return end(job, JobState::Failed, std::move(error));
}

bool Jobs::cancel(Job& job) {
  const std::lock_guard lock(mutex_);
  return end(job, JobState::Cancelled, {ErrorClass::Cancelled, "the job was cancelled"});
}

bool Jobs::wait(const Job& job, Clock::time_point until) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, until, [&] { return has_ended(job.status_.state); });
}

const Values& Jobs::outputs(const Job& job) const {
  const std::lock_guard lock(mutex_);
  return job.result_.outputs;
}

void Jobs::drop(std::map<Key, SharedJob>::iterator at) {
  const Job& job = *at->second;
  bytes_ -= job.bytes_;
  Held& held = held_[job.request().peer];
  --held.jobs;
  held.bytes -= job.bytes_;
  jobs_.erase(at);
}

void Jobs::forget(const Job& job) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(key_of(job));
  if (found != jobs_.end() && found->second.get() == &job) drop(found);
}

std::vector<SharedJob> Jobs::expire() {
  std::vector<SharedJob> late;
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    const auto here = at++;
    const Job& job = *here->second;
    if (has_ended(job.status_.state)) {
      if (job.ended_ + limits_.results_kept <= now) drop(here);
    } else if (job.status_.state != JobState::Running &&
               job.submitted_ + limits_.until_matched <= now) {
      late.push_back(here->second);
    }
  }
  return late;
}

std::vector<SharedJob> Jobs::of_peer(const std::string& peer) const {
  std::vector<SharedJob> jobs;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, job] : jobs_)
    if (job->request().peer == peer && !has_ended(job->status_.state)) jobs.push_back(job);
  return jobs;
}

JobCounts Jobs::counts(const std::string& peer) const {
  JobCounts counts;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, job] : jobs_) {
    if (job->request().peer != peer) continue;
    counts.waiting += job->status_.state == JobState::WaitingForPeer;
    counts.queued += job->status_.state == JobState::Queued;
    counts.running += job->status_.state == JobState::Running;
  }
  return counts;
}

}  // namespace tinyot::service
