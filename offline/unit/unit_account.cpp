#include "offline/unit/unit_account.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "base/cause.h"
#include "base/error.h"

namespace tinyot::offline {
namespace {

std::string power_of_two(const Risk& risk) {
  if (risk == Risk{}) return "0";
  char text[32];
  std::snprintf(text, sizeof text, "2^%.1f", std::log2(as_double(risk)));
  return text;
}

}  // namespace

UnitAccount::UnitAccount(material::Sink& sink, const SecurityParameters& params,
                         std::uint64_t unit_bytes_max)
    : sink_(sink), params_(params), unit_bytes_max_(unit_bytes_max),
      outstanding_(sink.outstanding()) {}

// Why a unit with the larger bucket would take too much memory; empty if it does not.
std::string UnitAccount::memory_excess(const UnitPlan& plan, const UnitPlan& larger) const {
  if (larger.bucket == plan.bucket) return {};
  const std::uint64_t bytes = params_.unit_bytes(larger);
  if (bytes <= unit_bytes_max_) return {};
  return "a unit with bucket " + larger.bucket.text() + " needs " + std::to_string(bytes) +
         " bytes of memory, and the job's limit leaves " + std::to_string(unit_bytes_max_);
}

// Called under mutex_; does not change the sink. Returns the plan that may be begun now.
std::optional<UnitAccount::Begun> UnitAccount::enter(std::uint64_t number, const UnitPlan& plan,
                                                     bool may_grow) {
  const auto within = params_.within(plan, outstanding_);
  if (!within || (within->bucket > plan.bucket && !may_grow)) return std::nullopt;
  if (const std::string excess = memory_excess(plan, *within); !excess.empty())
    throw StoreError("the broken attempts of this session need a larger bucket: " + excess +
                     "; continue with more memory, or use the material that the store has, and "
                     "begin a new session in a new store");
  const Begun begun{number, *within, outstanding_};
  const Risk risk = params_.risk(*within);
  in_flight_[number] = risk;
  outstanding_ += risk;
  ++next_;
  return begun;
}

void UnitAccount::check_running() const {
  if (failure_) std::rethrow_exception(failure_);
  if (stopped_) throw WorkerStopped();
}

// A failure of the sink is recorded and wakes the units that wait for others in flight.
template <class Body>
void UnitAccount::use_sink(Body body) {
  const std::lock_guard lock(sink_mutex_);
  {
    const std::lock_guard state(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }
  try {
    body();
  } catch (...) {
    {
      const std::lock_guard state(mutex_);
      failure_ = std::current_exception();
    }
    changed_.notify_all();
    throw;
  }
}

std::optional<UnitAccount::Begun> UnitAccount::begin(std::uint64_t number, const UnitPlan& plan) {
  std::optional<Begun> begun;
  {
    Lock lock(mutex_);
    const auto is_over = [&] { return failure_ || stopped_ || number >= end_; };
    while (!begun) {
      changed_.wait(lock, [&] { return is_over() || next_ == number; });
      check_running();
      if (number >= end_) return std::nullopt;
      begun = enter(number, plan, in_flight_.empty());
      if (begun) break;
      if (in_flight_.empty())
        throw StoreError(
            "the broken attempts of this session leave no room for another unit: their risks sum "
            "to " +
            power_of_two(outstanding_) + ", and sigma = " + std::to_string(params_.sigma()) +
            " allows " + power_of_two(params_.risk_limit()) +
            "; use the material that the store has, and begin a new session in a new store");
      changed_.wait(lock, [&, seen = outstanding_] { return is_over() || outstanding_ != seen; });
    }
  }
  add(number, begun->plan);
  return begun;
}

std::optional<UnitAccount::Begun> UnitAccount::try_begin(std::uint64_t number,
                                                         const UnitPlan& plan) {
  std::optional<Begun> begun;
  {
    const Lock lock(mutex_);
    if (stopped_ || failure_ || number >= end_ || next_ != number) return std::nullopt;
    if (!(begun = enter(number, plan, false))) return std::nullopt;
  }
  add(number, begun->plan);
  return begun;
}

void UnitAccount::add(std::uint64_t number, const UnitPlan& plan) {
  use_sink([&] { sink_.begin_unit({number, plan, params_.risk(plan)}); });
  changed_.notify_all();
}

UnitPlan UnitAccount::settle_on(const Begun& begun, const Risk& peers) {
  const auto settled = params_.within(begun.plan, std::max(begun.outstanding, peers));
  if (!settled)
    throw Disagreement("the risks of broken attempts sum to " + power_of_two(begun.outstanding) +
                       " here and to " + power_of_two(peers) + " at the peer; no bucket up to " +
                       params_.bucket_limit(begun.plan).text() + " keeps that within sigma = " +
                       std::to_string(params_.sigma()) + ": begin a new session in new stores");
  if (settled->bucket == begun.plan.bucket) return *settled;
  if (const std::string excess = memory_excess(begun.plan, *settled); !excess.empty())
    throw Disagreement("the risks of broken attempts sum to " + power_of_two(begun.outstanding) +
                       " here and to " + power_of_two(peers) + " at the peer: " + excess +
                       "; continue with more memory, or begin a new session in new stores");
  // The entry is replaced by the unit that is made. Until then the old entry covers it: the risk of
  // a larger bucket is smaller.
  use_sink([&] {
    sink_.withdraw_unit(begun.number);
    sink_.begin_unit({begun.number, *settled, params_.risk(*settled)});
    const std::lock_guard state(mutex_);
    outstanding_ -= in_flight_.at(begun.number);
    outstanding_ += in_flight_[begun.number] = params_.risk(*settled);
  });
  changed_.notify_all();
  return *settled;
}

void UnitAccount::withdraw(const Begun& begun) {
  use_sink([&] {
    sink_.withdraw_unit(begun.number);
    const std::lock_guard state(mutex_);
    outstanding_ -= in_flight_.at(begun.number);
    in_flight_.erase(begun.number);
  });
  changed_.notify_all();
}

void UnitAccount::end_before(std::uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    end_ = std::min(end_, number);
  }
  changed_.notify_all();
}

void UnitAccount::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

void UnitAccount::revoke() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    failure_ = std::make_exception_ptr(WorkerStopped());
  }
  changed_.notify_all();
}

Risk UnitAccount::outstanding() const {
  const std::lock_guard lock(mutex_);
  return outstanding_;
}

void UnitAccount::pour(material::Batch batch) {
  use_sink([&] { sink_.pour(std::move(batch)); });
}

void UnitAccount::add_reference_bits(material::Batch bits) {
  use_sink([&] { sink_.add_reference_bits(std::move(bits)); });
}

void UnitAccount::finish_unit() {
  use_sink([&] {
    sink_.finish_unit();
    const std::lock_guard state(mutex_);
    ENSURE(!in_flight_.empty());
    outstanding_ -= in_flight_.begin()->second;
    in_flight_.erase(in_flight_.begin());
  });
  changed_.notify_all();
}

}  // namespace tinyot::offline
