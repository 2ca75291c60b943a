#include "offline/preprocessor.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/cause.h"
#include "base/error.h"

namespace tinyot {
namespace {

constexpr MessageTag kUnit{0x1801, "unit.begin"};
constexpr auto kGrace = std::chrono::seconds(1);  // for an abort of the peer to be read, or ours to be sent

Anchor as_batches(const AuthBits& bits, Party me) {
  const bool is_a = me == Party::A;
  Anchor anchor{MaterialBatch(MaterialKind::AuthBitsA, me, kTieBits), MaterialBatch(MaterialKind::AuthBitsB, me, kTieBits)};
  copy_part(bits.mine, 0, (is_a ? anchor.bits_a : anchor.bits_b).mine[0]);
  copy_part(bits.peers, 0, (is_a ? anchor.bits_b : anchor.bits_a).peers[0]);
  return anchor;
}

}  // namespace

// One call of make_units.
struct Preprocessor::Job {
  std::span<const UnitRequest> requests;
  MaterialSink& sink;
  const Wanted& wanted;
  const Observer& observer;
  UnitTurns turns = {};
  std::mutex mutex = {};
  struct Failure {
    std::size_t worker;
    std::exception_ptr error;
  };
  std::vector<Failure> failures = {};  // in the order in which they came
  std::size_t made = 0;                // changed by turns

  // Stops the other workers: those that wait for one another at once, those that wait for the peer soon.
  void fail(Preprocessor& preprocessor, std::size_t worker, std::exception_ptr error) {
    const std::lock_guard lock(mutex);
    const auto until = std::chrono::steady_clock::now() + (cause_of(error) == Cause::Network ? kGrace : std::chrono::seconds(0));
    failures.push_back({worker, std::move(error)});
    turns.stop();
    preprocessor.maker_->stop();
    if (failures.size() > 1) return;
    for (std::size_t other = 0; other < preprocessor.channels_.size(); ++other)
      if (other != worker) preprocessor.channels_[other]->set_deadline(until);
  }

  // Once all workers have ended: tells the peer, or hears from it, if a check was the cause, and throws what is to be reported.
  void rethrow_failure(Preprocessor& preprocessor) {
    if (failures.empty()) return;
    const auto by_cause = [](const Failure& a, const Failure& b) { return cause_of(a.error) < cause_of(b.error); };
    std::exception_ptr worst = std::ranges::max_element(failures, by_cause)->error;
    const auto until = std::chrono::steady_clock::now() + kGrace;
    for (const auto& [worker, error] : failures) {
      Channel& channel = *preprocessor.channels_[worker];
      channel.set_deadline(until);
      if (cause_of(worst) == Cause::Cheated && worker > 0) channel.send_abort();  // on the session's own channel its owner does
      if (cause_of(worst) == Cause::Network && cause_of(error) == Cause::Stopped && channel.await_abort())
        worst = std::make_exception_ptr(PeerAborted());
    }
    std::rethrow_exception(worst);
  }
};

Preprocessor::Preprocessor(Session& session, const SecurityParameters& params, std::span<const std::unique_ptr<Channel>> more)
    : session_(session), maker_(make_unit_maker(session, params)), channels_{&session.channel()} {
  for (const auto& channel : more) channels_.push_back(channel.get());
  ENSURE(channels_.size() <= kWorkersMax);
}

void Preprocessor::set_anchor(const MaterialBatch& bits_a, const MaterialBatch& bits_b) {
  const bool is_a = session_.me() == Party::A;
  AuthBits anchor{AuthBitsMine(kTieBits), AuthBitsPeers(kTieBits)};
  copy_part((is_a ? bits_a : bits_b).mine[0], 0, anchor.mine);
  copy_part((is_a ? bits_b : bits_a).peers[0], 0, anchor.peers);
  maker_->set_anchor(std::move(anchor));
  begins_session_ = false;
}

Anchor make_anchor(Session& session, const SecurityParameters& params) {
  // A part of the session, so that nothing that is hashed here is hashed again for the units.
  Session part(session, "anchor", 0, session.channel(), session.log());
  return as_batches(make_unit_maker(part, params)->make_anchor(), session.me());
}

void Preprocessor::keep_anchor(MaterialSink& sink) const {
  const AuthBits* bits = maker_->anchor();
  if (bits == nullptr) return;
  Anchor anchor = as_batches(*bits, session_.me());
  sink.keep(std::move(anchor.bits_a));
  sink.keep(std::move(anchor.bits_b));
}

std::size_t Preprocessor::make_units(std::span<const UnitRequest> requests, MaterialSink& sink, const Wanted& wanted, const Observer& observer) {
  if (requests.empty()) return 0;
  maker_->prepare(requests.size());
  Job job{requests, sink, wanted, observer};
  {
    std::vector<std::jthread> threads;
    for (std::size_t worker = 1; worker < channels_.size(); ++worker) threads.emplace_back([this, &job, worker] { work(job, worker); });
    work(job, 0);
  }
  job.rethrow_failure(*this);
  return job.made;
}

void Preprocessor::work(Job& job, std::size_t worker) {
  std::size_t unit = worker;
  PhaseLog log([&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
    if (job.observer) job.observer(unit, phase, done, total);
  });
  try {
    for (; unit < job.requests.size(); unit += channels_.size()) {
      Session part(session_, "unit", unit, *channels_[worker], log);
      if (!make_unit(job, part, unit)) break;
    }
    channels_[worker]->flush();
  } catch (...) {
    job.fail(*this, worker, std::current_exception());
  }
  const std::lock_guard lock(job.mutex);
  session_.log().add(log);
}

// Role: both. Whether to make this unit: true if both parties want to.  Wire: 1 message each way.
// Fails: PeerCheated("unit number") if the peer is at another unit.
bool Preprocessor::agree_to_continue(Session& part, std::size_t unit, bool wanted) {
  struct Wish {
    std::uint64_t unit;
    std::uint64_t wanted;
  };
  send_object(part.channel(), kUnit, Wish{unit, wanted});
  const auto peers = recv_object<Wish>(part.channel(), kUnit);
  if (peers.unit != unit || peers.wanted > 1) throw PeerCheated("unit number");
  return wanted && peers.wanted == 1;
}

// False if the job ends before this unit.
bool Preprocessor::make_unit(Job& job, Session& part, std::size_t number) {
  const bool wanted = !job.turns.job_ends_before(number) && (!job.wanted || job.wanted());
  if (!agree_to_continue(part, number, wanted)) {
    job.turns.end_job_before(number);
    return false;
  }
  const UnitRequest& request = job.requests[number];
  const auto unit = maker_->make(part, number, request);
  part.channel().flush();  // the peer need not wait for our turn
  if (!job.turns.begin(number)) return false;
  const PhaseLog::Scope phase(part.log(), part.channel(), "fold and store", request.plan.ands);
  const SettledCheck settled = settle_part(session_, part);
  part.channel().flush();  // nor for our sink
  unit->pour(settled, job.sink);
  if (number == 0 && begins_session_) keep_anchor(job.sink);
  job.turns.check();
  job.sink.finish_unit();
  ++job.made;
  job.turns.end(number);
  return true;
}

}  // namespace tinyot
