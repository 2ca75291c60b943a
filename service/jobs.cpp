#include "service/jobs.h"

#include <algorithm>

#include "base/bit_vector.h"
#include "service/event_log.h"
#include "service/job_message.h"
#include "service/policy.h"
#include "service/submission.h"

namespace tinyot::service {
namespace {

double seconds_between(Jobs::Clock::time_point begin, Jobs::Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

// Of a job that has begun in an earlier process.
constexpr const char* kStopped =
    "the daemon stopped after the job had begun, before its result was on the disk: it may have "
    "been evaluated, and is not repeated; submit it under another id";

// A time before this process, which may be in the future if the clock has been set back.
Jobs::Clock::time_point as_steady(std::chrono::system_clock::time_point at) {
  using Duration = std::chrono::system_clock::duration;
  const auto elapsed = std::max(std::chrono::system_clock::now() - at, Duration::zero());
  return Jobs::Clock::now() - std::chrono::duration_cast<Jobs::Clock::duration>(elapsed);
}

JobStatus status_of(JobStatus status, const JobResult& result) {
  status.state = JobState::Done;
  status.evaluation_s = result.evaluation_s;
  status.session = result.session;
  status.phase = result.phase;
  status.half_round_trips = result.half_round_trips;
  status.was_prepared = result.was_prepared;
  return status;
}

}  // namespace

// One thread at a time changes the file of a job, and what it then says to others.
class Jobs::Change {
 public:
  // Waits for the change before. Is not allowed once the job has ended.
  Change(const Jobs& jobs, Job& job) : jobs_(jobs), job_(job) {
    std::unique_lock lock(jobs_.mutex_);
    jobs_.changed_.wait(lock, [&] { return !job_.is_changing_; });
    is_allowed_ = !has_ended(job_.status_.state);
    if (is_allowed_) job_.is_changing_ = true;
  }
  ~Change() {
    if (!is_allowed_) return;
    const std::lock_guard lock(jobs_.mutex_);
    job_.is_changing_ = false;
    jobs_.changed_.notify_all();
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

  bool is_allowed() const { return is_allowed_; }

 private:
  const Jobs& jobs_;
  Job& job_;
  bool is_allowed_ = false;
};

std::uint64_t bytes_of_values(std::uint64_t lanes, std::uint64_t bits) {
  // Memory for secrets is aligned to 64 bytes; so many are added to find it again.
  constexpr std::uint64_t kAlignment = 64, kOfAllocation = 32;
  const std::uint64_t bytes = lanes * bytes_for(bits);
  return sizeof(LaneMatrix) + (bytes + kAlignment - 1) / kAlignment * kAlignment + kOfAllocation;
}

std::uint64_t bytes_of(const Values& values) {
  std::uint64_t bytes = 0;
  for (const std::string& name : values.names())
    bytes += bytes_of_values(values.at(name).lanes(), values.at(name).bits());
  return bytes;
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

std::vector<Jobs::Restored> Jobs::keep(const std::string& peer, Party me,
                                       std::unique_ptr<JobFiles> files) {
  std::vector<Restored> all;
  for (JobFiles::Kept& kept : files->load()) all.push_back(restored(peer, me, std::move(kept)));
  const std::lock_guard lock(mutex_);
  files_[peer] = std::move(files);
  // Whatever the limits are now: new jobs wait until there is room.
  for (const Restored& each : all) insert(each.job);
  return all;
}

Jobs::Restored Jobs::restored(const std::string& peer, Party me, JobFiles::Kept kept) {
  const record::Job& record = kept.job;
  JobRequest request{
      .id = kept.id, .peer = peer, .circuit = {}, .terms = record.terms(), .inputs = {}};
  std::optional<JobError> failure;
  if (!kept.damage.empty()) {
    failure = {ErrorClass::Store, "the job is lost: " + kept.damage};
  } else if (kept.has_begun) {
    failure = {ErrorClass::Network, kStopped};
  } else if (!record.has_ended()) {
    try {
      request.circuit_bytes = kept.circuit_file.size();
      request.circuit = circuit_of(record.submitted(), std::move(kept.circuit_file));
      const wire::Terms terms = terms_of(*request.circuit, record.submitted().online());
      if (!same_terms(terms, record.terms()))
        throw UsageError("the daemon's circuit is no longer that of the job: another " +
                         difference(terms, record.terms()));
      request.output_bytes = bytes_of_outputs(*request.circuit, me);
      request.inputs = std::make_shared<const Values>(std::move(kept.values));
    } catch (const std::exception&) {
      failure = current_error();
      request.circuit.reset();
      request.circuit_bytes = 0;
    }
  }
  SharedJob job(new Job(std::move(request)));
  job->number_ = kept.number;
  job->is_accepted_ = true;
  job->status_ = status_from(record);
  if (!kept.damage.empty()) job->status_.submitted_at = std::chrono::system_clock::now();
  job->submitted_ = as_steady(job->status_.submitted_at);
  job->ands_ = record.ands();
  if (record.has_ended()) {
    job->ended_ = as_steady(time_from(record.ended_at_s()));
    job->ands_ = record.ended().ands();
    job->outputs_ = outputs_from(record);
    job->result_.session = job->status_.session;
    job->result_.outputs = std::move(kept.values);
  }
  job->bytes_ = bytes_of(job->result_.outputs) + job->request_.circuit_bytes +
                job->request_.output_bytes +
                (job->request_.inputs ? bytes_of(*job->request_.inputs) : 0);
  return {std::move(job), std::move(failure)};
}

bool Jobs::are_kept(const std::string& peer) const {
  const std::lock_guard lock(mutex_);
  return files_of(peer) != nullptr;
}

JobFiles* Jobs::files_of(const std::string& peer) const {
  const auto found = files_.find(peer);
  return found == files_.end() ? nullptr : found->second.get();
}

void Jobs::insert(const SharedJob& job) {
  jobs_.insert_or_assign(key_of(*job), job);
  bytes_ += job->bytes_;
  Held& held = held_[job->request().peer];
  ++held.jobs;
  held.bytes += job->bytes_;
}

SharedJob Jobs::add(JobRequest request, const JobOrigin& origin) {
  SharedJob job(new Job(std::move(request)));
  job->bytes_ =
      bytes_of(*job->request_.inputs) + job->request_.circuit_bytes + job->request_.output_bytes;
  job->status_.submitted_at = std::chrono::system_clock::now();
  JobFiles* files = nullptr;
  {
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
    insert(job);
    files = files_of(job->request().peer);
    job->is_accepted_ = files == nullptr;
  }
  if (files == nullptr) return job;
  std::uint64_t number = 0;
  try {
    number = files->add(record_of(job->request_, origin, job->status_.submitted_at),
                        origin.circuit_file, *job->request_.inputs);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    drop(jobs_.find(key_of(*job)));
    throw;
  }
  const std::lock_guard lock(mutex_);
  job->number_ = number;
  job->is_accepted_ = true;
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
  return found == jobs_.end() || !found->second->is_accepted_ ? nullptr : found->second;
}

std::vector<SharedJob> Jobs::named(const std::string& id) const {
  std::vector<SharedJob> jobs;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, job] : jobs_)
    if (job->id() == id && job->is_accepted_) jobs.push_back(job);
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

void Jobs::begin(Job& job) {
  const Change change(*this, job);
  if (!change.is_allowed() || job.number_ == 0) return;
  JobFiles* files = nullptr;
  {
    const std::lock_guard lock(mutex_);
    files = files_of(job.request().peer);
  }
  if (files != nullptr) files->begin(job.number_);
}

// With the change of the caller.
void Jobs::write_end(Job& job, const JobStatus& status, const Values& outputs) {
  JobFiles* files = nullptr;
  {
    const std::lock_guard lock(mutex_);
    files = files_of(job.request().peer);
  }
  if (files == nullptr || job.number_ == 0) return;
  const bool is_written =
      files->end(job.number_, job.id(), record_of_end(job, status, outputs), outputs);
  const std::lock_guard lock(mutex_);
  job.is_unwritten_ = !is_written;
}

// One that has ended, whose file nobody changes from now on; null if there is none.
SharedJob Jobs::take_unwritten() {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, job] : jobs_) {
    if (!job->is_unwritten_ || !has_ended(job->status_.state) || job->is_changing_ ||
        job->is_leaving_)
      continue;
    job->is_changing_ = true;
    return job;
  }
  return nullptr;
}

void Jobs::write_again() {
  for (bool is_written = true; is_written;) {
    const SharedJob job = take_unwritten();
    if (!job) return;
    write_end(*job, job->status_, job->result_.outputs);  // which change no more
    {
      const std::lock_guard lock(mutex_);
      job->is_changing_ = false;
      is_written = !job->is_unwritten_;
    }
    changed_.notify_all();
    if (is_written)
      log_event(LogLevel::Info, "job is on the disk now",
                {{"peer", job->request().peer}, {"job", job->id()}});
  }
}

std::uint64_t Jobs::unwritten(const std::string& peer) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint64_t>(std::ranges::count_if(jobs_, [&](const auto& each) {
    const Job& job = *each.second;
    return job.request().peer == peer && job.is_unwritten_ && !job.is_leaving_;
  }));
}

void Jobs::publish_end(Job& job, JobStatus status) {
  job.request_.inputs.reset();
  job.ended_ = Clock::now();
  job.status_ = std::move(status);
  const std::uint64_t bytes = bytes_of(job.result_.outputs) + job.request_.circuit_bytes;
  if (const auto found = jobs_.find(key_of(job));
      found != jobs_.end() && found->second.get() == &job) {
    bytes_ += bytes - job.bytes_;
    held_[job.request().peer].bytes += bytes - job.bytes_;
  }
  job.bytes_ = bytes;
  changed_.notify_all();
}

bool Jobs::end(Job& job, JobState state, JobError error) {
  const Change change(*this, job);
  if (!change.is_allowed()) return false;
  JobStatus ended = status(job);
  ended.state = state;
  ended.error = std::move(error);
  ended.total_s = seconds_between(job.submitted_, Clock::now());
  write_end(job, ended, {});
  const std::lock_guard lock(mutex_);
  publish_end(job, std::move(ended));
  return true;
}

void Jobs::keep_result(Job& job, const JobResult& result) {
  const Change change(*this, job);
  if (!change.is_allowed() || job.total_s_) return;
  JobStatus done = status_of(status(job), result);
  done.total_s = seconds_between(job.submitted_, Clock::now());
  write_end(job, done, result.outputs);
  job.total_s_ = done.total_s;
}

bool Jobs::finish(Job& job, JobResult result) {
  keep_result(job, result);
  const Change change(*this, job);
  if (!change.is_allowed()) return false;
  const std::lock_guard lock(mutex_);
  JobStatus done = status_of(job.status_, result);
  done.total_s = job.total_s_.value();
  job.result_ = std::move(result);
  publish_end(job, std::move(done));
  return true;
}

bool Jobs::fail(Job& job, JobError error) { return end(job, JobState::Failed, std::move(error)); }

bool Jobs::cancel(Job& job) {
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

// Those that are leaving.
void Jobs::remove(const std::vector<SharedJob>& jobs) {
  std::map<JobFiles*, std::vector<JobFiles::Place>> places;
  {
    const std::lock_guard lock(mutex_);
    for (const SharedJob& job : jobs)
      if (JobFiles* const files = files_of(job->request().peer); files && job->number_ != 0)
        places[files].push_back({job->id(), job->number_});
  }
  for (const auto& [files, of] : places) files->remove(of);
  const std::lock_guard lock(mutex_);
  for (const SharedJob& job : jobs) drop(jobs_.find(key_of(*job)));
}

void Jobs::forget(const Job& job) {
  SharedJob leaving;
  {
    std::unique_lock lock(mutex_);
    const auto found = jobs_.find(key_of(job));
    if (found == jobs_.end() || found->second.get() != &job || job.is_leaving_) return;
    leaving = found->second;
    leaving->is_leaving_ = true;
    changed_.wait(lock, [&] { return !job.is_changing_; });
  }
  remove({leaving});
}

std::vector<SharedJob> Jobs::expire() {
  std::vector<SharedJob> late, leaving;
  const auto now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, job] : jobs_) {
      if (!job->is_accepted_ || job->is_leaving_) continue;
      if (has_ended(job->status_.state)) {
        if (job->ended_ + limits_.results_kept > now || job->is_changing_) continue;
        job->is_leaving_ = true;
        leaving.push_back(job);
      } else if (job->status_.state != JobState::Running &&
                 job->submitted_ + limits_.until_matched <= now) {
        late.push_back(job);
      }
    }
  }
  remove(leaving);
  return late;
}

std::vector<SharedJob> Jobs::of_peer(const std::string& peer) const {
  std::vector<SharedJob> jobs;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, job] : jobs_)
    if (job->request().peer == peer && job->is_accepted_ && !has_ended(job->status_.state))
      jobs.push_back(job);
  return jobs;
}

JobCounts Jobs::counts(const std::string& peer) const {
  JobCounts counts;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, job] : jobs_) {
    if (job->request().peer != peer || !job->is_accepted_) continue;
    counts.waiting += job->status_.state == JobState::WaitingForPeer;
    counts.queued += job->status_.state == JobState::Queued;
    counts.running += job->status_.state == JobState::Running;
  }
  return counts;
}

}  // namespace tinyot::service
