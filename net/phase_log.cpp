#include "net/phase_log.h"

#include "system/clock.h"

namespace tinyot::net {

PhaseLog::Scope::Scope(PhaseLog& log, Channel& channel, std::string_view name, std::uint64_t items)
    : log_(log), channel_(channel), name_(name), items_(items), counters_(channel.counters()),
      wall_(std::chrono::steady_clock::now()), cpu_s_(system::thread_cpu_seconds()) {
  channel.set_phase(name);
  advance(0);
}

PhaseLog::Scope::~Scope() {
  PhaseCost& cost = log_.find(name_);
  const ChannelCounters& now = channel_.counters();
  cost.wall_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count();
  cost.cpu_s += system::thread_cpu_seconds() - cpu_s_;
  cost.bytes_sent += now.bytes_sent - counters_.bytes_sent;
  cost.bytes_received += now.bytes_received - counters_.bytes_received;
  cost.rounds += now.rounds - counters_.rounds;
  cost.items += items_;
}

void PhaseLog::Scope::advance(std::uint64_t done) const {
  if (log_.observer_) log_.observer_(name_, done, items_);
}

void PhaseLog::add(const PhaseLog& other) {
  for (const PhaseCost& cost : other.phases_) add(cost);
}

void PhaseLog::add(const PhaseCost& more) {
  PhaseCost& cost = find(more.name);
  cost.wall_s += more.wall_s;
  cost.cpu_s += more.cpu_s;
  cost.bytes_sent += more.bytes_sent;
  cost.bytes_received += more.bytes_received;
  cost.rounds += more.rounds;
  cost.items += more.items;
}

PhaseCost& PhaseLog::find(const std::string& name) {
  for (PhaseCost& cost : phases_)
    if (cost.name == name) return cost;
  phases_.push_back({.name = name});
  return phases_.back();
}

}  // namespace tinyot::net
