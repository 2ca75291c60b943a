#include "service/evaluations.h"

#include "base/error.h"
#include "engine/connection.h"

namespace tinyot::service {

engine::PeerOptions options_for(StreamPort& port, std::uint64_t group,
                                const std::stop_token& cancel) {
  engine::PeerOptions options = port.options();
  const auto number = std::make_shared<std::uint32_t>(0);
  options.open_stream = [&port, group, cancel, number] {
    return port.open({group, (*number)++}, cancel);
  };
  return options;
}

Evaluations::Evaluations(std::size_t workers, Party me, StreamPort& port, Sessions& sessions,
                         std::filesystem::path ledger, Ended ended)
    : me_(me), port_(port), sessions_(sessions), ledger_(std::move(ledger)),
      ended_(std::move(ended)), workers_(workers) {
  for (std::size_t i = 0; i < workers; ++i)
    workers_[i].thread = std::jthread([this, i](const std::stop_token& stop) { work(i, stop); });
}

void Evaluations::stop() {
  {
    const std::lock_guard lock(mutex_);
    for (Worker& worker : workers_) {
      worker.thread.request_stop();
      worker.cancel.request_stop();
    }
  }
  for (Worker& worker : workers_)
    if (worker.thread.joinable()) worker.thread.join();
}

std::uint64_t Evaluations::group_for(std::size_t index, std::uint64_t session) {
  const std::lock_guard lock(mutex_);
  Connection& agreed = workers_[index].agreed;
  if (agreed.group == 0 || agreed.session != session) agreed = {port_.new_group(), session};
  return agreed.group;
}

std::optional<std::string> Evaluations::begin(std::size_t index, Order order) {
  {
    const std::lock_guard lock(mutex_);
    Worker& worker = workers_[index];
    if (worker.next) return "two jobs on one connection";
    if (worker.group == order.group && worker.session != order.session) {
      const std::string refusal =
          "the connection belongs to session " + std::to_string(worker.session) +
          ", and the job is to use session " + std::to_string(order.session);
      worker.is_to_close = true;
      changed_.notify_all();
      return refusal;
    }
    worker.next = std::move(order);
  }
  changed_.notify_all();
  return std::nullopt;
}

void Evaluations::cancel(const Job& job) {
  const std::lock_guard lock(mutex_);
  for (Worker& worker : workers_) {
    if (worker.running.get() == &job) worker.cancel.request_stop();
    // Its worker has not begun it yet: it will connect and close, so that the peer need not wait.
    if (worker.next && worker.next->job.get() == &job) worker.next->inputs.reset();
  }
}

void Evaluations::close_below(std::uint64_t session) {
  {
    const std::lock_guard lock(mutex_);
    for (Worker& worker : workers_) {
      if (worker.agreed.session < session) worker.agreed = {};
      if (worker.group != 0 && worker.session < session) worker.is_to_close = true;
    }
  }
  changed_.notify_all();
}

void Evaluations::end_session(std::uint64_t session, const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    for (Worker& worker : workers_) {
      if (worker.agreed.session == session) worker.agreed = {};
      if (worker.group == 0 || worker.session != session) continue;
      worker.is_to_close = true;
      if (!worker.running) continue;
      worker.ended_because = reason;
      worker.cancel.request_stop();
    }
  }
  changed_.notify_all();
}

void Evaluations::close(Worker& worker) {
  worker.evaluator.reset();
  worker.group = worker.session = 0;
  worker.is_to_close = false;
  worker.ended_because.clear();
}

void Evaluations::work(std::size_t index, const std::stop_token& stop) {
  Worker& worker = workers_[index];
  for (;;) {
    Order order;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [&] { return worker.next || worker.is_to_close; });
      if (stop.stop_requested()) break;
      if (worker.is_to_close || worker.next->group != worker.group) {
        close(worker);
        if (!worker.next) continue;
        worker.cancel = {};
      }
      order = std::move(*worker.next);
      worker.next.reset();
      worker.running = order.job;
      worker.group = order.group;
      worker.session = order.session;
    }
    Outcome outcome = evaluate(worker, order);
    {
      const std::lock_guard lock(mutex_);
      worker.running.reset();
      if (outcome.error && !worker.ended_because.empty())
        outcome.error = {ErrorClass::Store, worker.ended_because};
      // The stop request came too late for this job, but would end the next one.
      if (outcome.error || worker.is_to_close || worker.cancel.stop_requested()) {
        close(worker);
        worker.agreed = {};
      }
    }
    ended_(index, order, std::move(outcome));
  }
  worker.evaluator.reset();
}

std::optional<std::filesystem::path> Evaluations::ledger_of(const Worker& worker) const {
  if (ledger_.empty()) return std::nullopt;
  return ledger_.string() + std::to_string(&worker - workers_.data());
}

void Evaluations::connect(Worker& worker, const Order& order) {
  const std::stop_token cancel = worker.cancel.get_token();
  RunRequest request{.party = me_,
                     .endpoint = engine::endpoint_with(options_for(port_, order.group, cancel)),
                     .stores = {sessions_.path_of(order.session)},
                     .store_key = sessions_.store_key(),
                     .ledger = ledger_of(worker),
                     .reserve_ahead_ands = kReserveAheadAnds};
  worker.evaluator = std::make_unique<Evaluator>(request, cancel);
  worker.traffic = {};
}

Evaluations::Outcome Evaluations::evaluate(Worker& worker, const Order& order) {
  Outcome outcome;
  try {
    if (order.session < sessions_.first_active_session())
      throw StoreError("session " + std::to_string(order.session) +
                       " was retired before the job began: submit the job again");
    if (!worker.evaluator) connect(worker, order);
    const JobRequest& job = order.job->request();
    if (!order.inputs) throw Cancelled();
    RunResult report = worker.evaluator->run(job.circuit.circuit(), *order.inputs, {},
                                             job.circuit.lanes(), job.id);
    outcome.result = {.outputs = std::move(report.outputs),
                      .session = short_name(report.session),
                      .and_rounds = report.and_rounds,
                      .evaluation_s = report.wall_s};
    const Traffic traffic = traffic_of(report.phases);
    outcome.traffic = {traffic.sent - worker.traffic.sent,
                       traffic.received - worker.traffic.received};
    worker.traffic = traffic;
  } catch (const std::exception&) {
    outcome.error = current_error();
  }
  return outcome;
}

}  // namespace tinyot::service
