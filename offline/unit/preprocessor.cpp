#include "offline/unit/preprocessor.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/cause.h"
#include "base/error.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kUnit = net::message_tag("unit.begin");
// time limit for reading the peer's abort or sending ours
constexpr auto kGrace = std::chrono::seconds(1);

material::ReferenceBits as_batches(const AuthBits& bits, Party me) {
  const bool is_a = me == Party::A;
  material::ReferenceBits reference{material::Batch(MaterialKind::AuthBitsA, me, kReferenceBits),
                                    material::Batch(MaterialKind::AuthBitsB, me, kReferenceBits)};
  copy_part(bits.mine, 0, (is_a ? reference.bits_a : reference.bits_b).mine[0]);
  copy_part(bits.peers, 0, (is_a ? reference.bits_b : reference.bits_a).peers[0]);
  return reference;
}

}  // namespace

// One call of make_units.
struct Preprocessor::Job {
  std::span<const UnitRequest> requests;
  material::Sink& sink;
  UnitAccount& account;
  const Hooks& hooks;
  CommitOrder turns = {};
  std::mutex mutex = {};
  struct Failure {
    std::size_t worker;
    std::exception_ptr error;
  };
  std::vector<Failure> failures = {};  // in order of occurrence
  std::size_t made = 0;                // changed only by the worker whose turn it is

  bool is_wanted(std::size_t unit) {
    return !turns.job_ends_before(unit) && (!hooks.wanted || hooks.wanted());
  }

  void end_before(std::size_t unit) {
    turns.end_job_before(unit);
    account.end_before(unit);
  }

  // Withdraws a unit that was entered but will not be made.
  void withdraw(const UnitAccount::Begun& begun) noexcept {
    try {
      account.withdraw(begun);
    } catch (...) {
      // The unit stays outstanding.
    }
  }

  // A failed check is recorded first. Then the other workers are stopped: waits for other workers
  // end at once, waits for the peer at a deadline.
  void fail(Preprocessor& preprocessor, std::size_t worker, std::exception_ptr error) {
    if (cause_of(error) >= Cause::Aborted) {
      if (hooks.check_failed) hooks.check_failed(error);
      account.revoke();
    }
    const std::lock_guard lock(mutex);
    const auto until = std::chrono::steady_clock::now() +
                       (cause_of(error) == Cause::Network ? kGrace : std::chrono::seconds(0));
    failures.push_back({worker, std::move(error)});
    turns.stop();
    account.stop();
    preprocessor.maker_->stop();
    if (failures.size() > 1) return;
    for (std::size_t other = 0; other < preprocessor.channels_.size(); ++other)
      if (other != worker) preprocessor.channels_[other]->set_deadline(until);
  }

  // After all workers have ended: sends or receives the abort if a failed check was the cause, and
  // throws the failure to report.
  void rethrow_failure(Preprocessor& preprocessor) {
    if (failures.empty()) return;
    const auto by_cause = [](const Failure& a, const Failure& b) {
      return cause_of(a.error) < cause_of(b.error);
    };
    std::exception_ptr worst = std::ranges::max_element(failures, by_cause)->error;
    const auto until = std::chrono::steady_clock::now() + kGrace;
    for (const auto& [worker, error] : failures) {
      net::Channel& channel = *preprocessor.channels_[worker];
      channel.set_deadline(until);
      // on channel 0, the session's own, its owner sends it
      if (cause_of(worst) == Cause::Cheated && worker > 0) channel.send_abort();
      if (cause_of(worst) == Cause::Network && cause_of(error) == Cause::Stopped &&
          channel.await_abort())
        worst = std::make_exception_ptr(PeerAborted());
    }
    std::rethrow_exception(worst);
  }
};

Preprocessor::Preprocessor(checks::Session& session, const SecurityParameters& params,
                           std::span<const std::unique_ptr<net::Channel>> more, PipelineDepth depth,
                           std::size_t waiting)
    : session_(session), params_(params), channels_{&session.channel()} {
  for (const auto& channel : more) channels_.push_back(channel.get());
  ENSURE(channels_.size() <= kWorkersMax && waiting < channels_.size());
  maker_ = params_.entry().make_unit_maker(
      session, params_,
      {.depth = depth, .workers = channels_.size(), .sending_max = channels_.size() - waiting});
}

void Preprocessor::set_reference_bits(const material::ReferenceBits& bits) {
  const bool is_a = session_.me() == Party::A;
  AuthBits reference{MacColumn(kReferenceBits), KeyColumn(kReferenceBits)};
  copy_part((is_a ? bits.bits_a : bits.bits_b).mine[0], 0, reference.mine);
  copy_part((is_a ? bits.bits_b : bits.bits_a).peers[0], 0, reference.peers);
  maker_->bits().set_reference_bits(std::move(reference));
  begins_session_ = false;
}

material::ReferenceBits make_reference_bits(checks::Session& session,
                                            const SecurityParameters& params) {
  // Its own session part, so that no hash input is repeated for the units.
  checks::Session part(session, "reference bits", 0, session.channel(), session.log());
  return as_batches(params.entry().make_unit_maker(part, params, {})->bits().make_reference_bits(),
                    session.me());
}

void Preprocessor::keep_reference_bits(material::Sink& sink) const {
  const AuthBits* bits = maker_->bits().reference();
  if (bits == nullptr) return;
  material::ReferenceBits reference = as_batches(*bits, session_.me());
  sink.add_reference_bits(std::move(reference.bits_a));
  sink.add_reference_bits(std::move(reference.bits_b));
}

std::size_t Preprocessor::make_units(std::span<const UnitRequest> requests, material::Sink& sink,
                                     const Wanted& wanted, const Observer& observer) {
  UnitAccount account(sink, params_);
  return make_units(requests, account, account, {.wanted = wanted, .observer = observer});
}

std::size_t Preprocessor::make_units(std::span<const UnitRequest> requests, material::Sink& sink,
                                     UnitAccount& account, const Hooks& hooks) {
  if (requests.empty()) return 0;
  maker_->bits().prepare(requests.size());
  Job job{requests, sink, account, hooks};
  {
    std::vector<std::jthread> threads;
    for (std::size_t worker = 1; worker < channels_.size(); ++worker)
      threads.emplace_back([this, &job, worker] { work(job, worker); });
    work(job, 0);
  }
  job.rethrow_failure(*this);
  return job.made;
}

void Preprocessor::work(Job& job, std::size_t worker) {
  std::size_t unit = worker;
  net::PhaseLog log([&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
    if (job.hooks.observer) job.hooks.observer(unit, phase, done, total);
  });
  std::optional<UnitAccount::Begun> begun;
  try {
    if (unit < job.requests.size()) maker_->bits().begin_worker(worker, *channels_[worker], log);
    for (; unit < job.requests.size(); unit += channels_.size()) {
      checks::Session part(session_, "unit", unit, *channels_[worker], log);
      if (!make_unit(job, part, unit, begun)) break;
    }
    channels_[worker]->flush();
  } catch (...) {
    job.fail(*this, worker, std::current_exception());
  }
  if (begun) job.withdraw(*begun);
  const std::lock_guard lock(job.mutex);
  session_.log().add(log);
}

// Role: both. Returns the plan of this unit; empty unless both parties make it.  Wire: 1 message
// each way, before any other of the unit. Fails: PeerCheated("unit number") if the peer sends
// another number; as UnitAccount::settle_on.
std::optional<UnitPlan> Preprocessor::agree_to_continue(
    Job& job, checks::Session& part, std::size_t unit,
    const std::optional<UnitAccount::Begun>& begun) {
  struct Beginning {
    std::uint64_t unit;
    std::uint64_t wanted;
    Risk outstanding;
  };
  net::send_object(part.channel(), kUnit,
                   Beginning{unit, begun.has_value(), begun ? begun->outstanding : Risk{}});
  const auto peers = net::recv_object<Beginning>(part.channel(), kUnit);
  if (peers.unit != unit || peers.wanted > 1) throw PeerCheated("unit number");
  if (begun && peers.wanted == 1) return job.account.settle_on(*begun, peers.outstanding);
  if (begun) job.account.withdraw(*begun);
  return std::nullopt;
}

// `begun` is this unit, if it has been entered already; on return, this worker's next unit, if
// entered. False if the job ends before this unit.
bool Preprocessor::make_unit(Job& job, checks::Session& part, std::size_t number,
                             std::optional<UnitAccount::Begun>& begun) {
  if (!begun && job.is_wanted(number)) begun = job.account.begin(number, job.requests[number].plan);
  if (!job.is_wanted(number) && begun) {
    job.account.withdraw(*begun);
    begun.reset();
  }
  if (!begun) job.end_before(number);
  UnitRequest request = job.requests[number];
  const auto plan = agree_to_continue(job, part, number, begun);
  begun.reset();
  if (!plan) {
    job.end_before(number);
    maker_->skip();
    return false;
  }
  request.plan = *plan;
  const auto unit = maker_->make(part, number, request);
  part.channel().flush();  // so that the peer does not have to wait for our turn
  // The next unit is entered before the sink is busy with writing this one.
  const std::size_t next = number + channels_.size();
  if (next < job.requests.size() && job.is_wanted(next))
    begun = job.account.try_begin(next, job.requests[next].plan);
  if (!job.turns.begin(number)) return false;
  const net::PhaseLog::Scope phase(part.log(), part.channel(), "fold and store", request.plan.ands);
  const checks::SettledCheck settled = checks::settle_part(session_, part);
  part.channel().flush();  // nor for our sink
  unit->pour(settled, job.sink);
  if (number == 0 && begins_session_) keep_reference_bits(job.sink);
  job.turns.check();
  job.sink.finish_unit();
  ++job.made;
  job.turns.end(number);
  return true;
}

}  // namespace tinyot::offline
