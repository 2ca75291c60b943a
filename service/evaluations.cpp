#include "service/evaluations.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "engine/connection.h"
#include "service/held_stream.h"

namespace tinyot::service {

namespace {

constexpr auto kLookInterval = std::chrono::seconds(1);
constexpr auto kPeersEndTime = std::chrono::seconds(1);
constexpr std::chrono::milliseconds kPeersEndInterval{10};
constexpr const char* kGivenUp =
    "the leading party has given the job up before there was a connection for it: submit it again";

}  // namespace

engine::PeerOptions options_for(StreamPort& port, std::uint64_t group,
                                const std::stop_token& cancel) {
  engine::PeerOptions options = port.options();
  const auto number = std::make_shared<std::uint32_t>(0);
  options.open_stream = [&port, group, cancel, number] {
    return port.open({group, (*number)++}, cancel);
  };
  return options;
}

Evaluations::Evaluations(const PeerSettings& settings, StreamPort& port, Sessions& sessions,
                         Jobs& jobs, std::filesystem::path ledger, Ended ended, Lost lost)
    : settings_(settings), port_(port), sessions_(sessions), jobs_(jobs),
      ledger_(std::move(ledger)), ended_(std::move(ended)), call_lost_(std::move(lost)),
      workers_(settings.evaluations), errors_("end of a job failed", settings.name) {
  for (std::size_t i = 0; i < workers_.size(); ++i)
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

std::optional<std::uint64_t> Evaluations::kept_group(std::size_t index, std::uint64_t session) {
  const std::lock_guard lock(mutex_);
  const Connection& agreed = workers_[index].agreed;
  if (agreed.group == 0 || agreed.session != session) return std::nullopt;
  return agreed.group;
}

std::vector<Evaluations::PreparedRun>::const_iterator Evaluations::find_prepared(
    const Worker& worker, const Order& order) {
  return std::ranges::find_if(worker.prepared, [&](const PreparedRun& run) {
    return run.number == order.prepared && run.circuit == order.circuit;
  });
}

// The peer may have prepared a run, and begin a job with it, while this party is still about to.
bool Evaluations::may_have_prepared(const Worker& worker, const Order& order) {
  if (worker.group != order.group || worker.is_to_close) return false;
  return find_prepared(worker, order) != worker.prepared.end() ||
         (worker.running != nullptr && worker.running->is_preparation());
}

std::optional<std::string> Evaluations::begin(std::size_t index, Order order) {
  {
    const std::lock_guard lock(mutex_);
    Worker& worker = workers_[index];
    // Connections are known by their groups, also to the keys that are loaded on them.
    for (const Worker& other : workers_)
      if (&other != &worker &&
          (other.group == order.group || (other.next && other.next->group == order.group)))
        return "the connection belongs to another worker";
    if (worker.next) {
      if (worker.next->group == order.group) return "two jobs on one connection";
      worker.given_up.push_back(std::move(*worker.next));
      worker.next.reset();
    }
    // The leading party has given up a preparation on another connection.
    if (worker.running != nullptr && worker.running->is_preparation() &&
        worker.group != order.group)
      worker.cancel.request_stop();
    if (worker.group == order.group && worker.session != order.session) {
      const std::string refusal =
          "the connection belongs to session " + std::to_string(worker.session) +
          ", and the job is to use session " + std::to_string(order.session);
      worker.is_to_close = true;
      changed_.notify_all();
      return refusal;
    }
    if (order.job && order.circuit != nullptr && !may_have_prepared(worker, order))
      return "there is no such prepared run of the job's circuit on the connection";
    worker.next = std::move(order);
  }
  changed_.notify_all();
  return std::nullopt;
}

void Evaluations::cancel(const Job& job) {
  cancel_orders([&](const Order& order) { return order.job.get() == &job; });
  {
    const std::lock_guard lock(mutex_);
    for (Worker& worker : workers_)
      if (worker.told == &job) worker.told = nullptr;
  }
  changed_.notify_all();
}

void Evaluations::cancel(const KeyWork& work) {
  cancel_orders([&](const Order& order) { return order.key.get() == &work; });
}

template <class IsFor>
void Evaluations::cancel_orders(const IsFor& is_for) {
  const std::lock_guard lock(mutex_);
  for (Worker& worker : workers_) {
    if (worker.running != nullptr && is_for(*worker.running)) worker.cancel.request_stop();
    // Its worker has not begun it yet: it will connect and close, so that the peer need not wait.
    if (worker.next && is_for(*worker.next)) worker.next->is_cancelled = true;
  }
}

std::vector<Evaluations::PreparedRun> Evaluations::prepared() {
  std::vector<PreparedRun> all;
  const std::lock_guard lock(mutex_);
  for (const Worker& worker : workers_) {
    if (worker.is_to_close || worker.cancel.stop_requested()) continue;
    for (const PreparedRun& run : worker.prepared)
      if ((!worker.next || worker.next->prepared != run.number) &&
          (worker.running == nullptr || worker.running->prepared != run.number))
        all.push_back(run);
  }
  return all;
}

// A job may be ordered that takes the run which is being prepared.
std::size_t Evaluations::count(const PreparedCircuit& circuit) {
  std::ptrdiff_t count = 0;
  const std::lock_guard lock(mutex_);
  for (const Worker& worker : workers_) {
    for (const Order* const order : {worker.running, worker.next ? &*worker.next : nullptr})
      if (order != nullptr && order->is_preparation() && order->circuit == &circuit) ++count;
    // Until its order ends, there are those of a connection that is to be closed.
    if (worker.is_to_close && worker.running == nullptr) continue;
    count += std::ranges::count(worker.prepared, &circuit, &PreparedRun::circuit);
    if (worker.running != nullptr && worker.running->job &&
        find_prepared(worker, *worker.running) != worker.prepared.end() &&
        worker.running->circuit == &circuit)
      --count;
    if (worker.next && worker.next->job && worker.next->circuit == &circuit) --count;
  }
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(count, 0));
}

// No job waits for a run that is being prepared, but its connection and its memory would wait for
// the peer.
void Evaluations::close_soon(Worker& worker) {
  worker.is_to_close = true;
  if (worker.running != nullptr && worker.running->is_preparation()) worker.cancel.request_stop();
}

void Evaluations::close(std::uint64_t group) {
  {
    const std::lock_guard lock(mutex_);
    for (Worker& worker : workers_) {
      if (worker.agreed.group == group) worker.agreed = {};
      if (worker.group == group) close_soon(worker);
    }
  }
  changed_.notify_all();
}

std::vector<const PreparedCircuit*> Evaluations::take_lost() {
  const std::lock_guard lock(mutex_);
  return std::exchange(lost_, {});
}

void Evaluations::close_below(std::uint64_t session) {
  {
    const std::lock_guard lock(mutex_);
    for (Worker& worker : workers_) {
      if (worker.agreed.session < session) worker.agreed = {};
      if (worker.group != 0 && worker.session < session) close_soon(worker);
      if (worker.next && worker.next->is_preparation() && worker.next->session < session)
        worker.next->is_cancelled = true;
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
      if (worker.running == nullptr) continue;
      worker.ended_because = reason;
      worker.cancel.request_stop();
    }
  }
  changed_.notify_all();
}

Evaluations::Closed Evaluations::close(Worker& worker) {
  for (const PreparedRun& run : worker.prepared) lost_.push_back(run.circuit);
  worker.prepared.clear();
  worker.group = worker.session = 0;
  worker.is_to_close = false;
  worker.ended_because.clear();
  worker.keys.reset();
  return {std::move(worker.stream), std::move(worker.evaluator)};
}

Evaluations::Closed Evaluations::wait_for_order(std::unique_lock<std::mutex>& lock, Worker& worker,
                                                const std::stop_token& stop) {
  const auto is_over = [&] { return worker.next || worker.is_to_close; };
  while (worker.evaluator) {
    if (changed_.wait_for(lock, stop, kLookInterval, is_over) || stop.stop_requested()) return {};
    if (worker.evaluator->is_connected()) continue;
    worker.agreed = {};
    return close(worker);
  }
  changed_.wait(lock, stop, is_over);
  return {};
}

void Evaluations::work(std::size_t index, const std::stop_token& stop) {
  Worker& worker = workers_[index];
  for (;;) {
    Order order;
    Closed closed;
    {
      std::unique_lock lock(mutex_);
      closed = wait_for_order(lock, worker, stop);
      if (closed.evaluator) {
        lock.unlock();
        closed = {};
        errors_.run([&] { call_lost_(); });
        continue;
      }
      if (stop.stop_requested()) break;
      if (worker.is_to_close || worker.next->group != worker.group) {
        closed = close(worker);
        if (!worker.next) continue;
        worker.cancel = {};
      }
      order = std::move(*worker.next);
      worker.next.reset();
      worker.running = &order;
      worker.group = order.group;
      worker.session = order.session;
    }
    closed = {};
    end_given_up(index);
    Outcome outcome = evaluate(worker, order);
    {
      const std::lock_guard lock(mutex_);
      worker.running = nullptr;
      worker.told = outcome.is_to_be_told ? order.job.get() : nullptr;
      if (outcome.prepared != 0)
        worker.prepared.push_back(
            {index, worker.group, worker.session, order.circuit, outcome.prepared});
      // A check that has failed is told as such, though the session has been ended since.
      if (outcome.error && outcome.error->error_class != ErrorClass::PeerCheated &&
          !worker.ended_because.empty())
        outcome.error = {ErrorClass::Store, worker.ended_because};
      // The stop request came too late for this job, but would end the next one.
      if (outcome.error || worker.is_to_close || worker.cancel.stop_requested()) {
        closed = close(worker);
        worker.agreed = {};
      }
    }
    closed.evaluator.reset();
    if (!outcome.is_to_be_told) closed.stream.reset();
    errors_.run([&] { ended_(index, order, std::move(outcome)); });
    if (closed.stream) await_peers_end(worker, *closed.stream, stop);
  }
  worker.keys.reset();
  worker.evaluator.reset();
  worker.stream.reset();
}

// The peer is told on the link why the job has failed here, and ends the connection: if this party
// did, the peer could see that first. If it has failed there too, the peer says so on the link.
void Evaluations::await_peers_end(Worker& worker, net::ByteStream& stream,
                                  const std::stop_token& stop) {
  const auto until = std::chrono::steady_clock::now() + kPeersEndTime;
  std::unique_lock lock(mutex_);
  while (worker.told != nullptr && !stream.has_ended() &&
         std::chrono::steady_clock::now() < until && !stop.stop_requested())
    changed_.wait_for(lock, stop, kPeersEndInterval, [&] { return worker.told == nullptr; });
  worker.told = nullptr;
}

void Evaluations::end_given_up(std::size_t index) {
  std::vector<Order> orders;
  {
    const std::lock_guard lock(mutex_);
    orders.swap(workers_[index].given_up);
  }
  for (const Order& order : orders) {
    Outcome outcome;
    outcome.error = {ErrorClass::Network, kGivenUp};
    errors_.run([&] { ended_(index, order, std::move(outcome)); });
  }
}

std::optional<std::filesystem::path> Evaluations::ledger_of(const Worker& worker) const {
  if (ledger_.empty()) return std::nullopt;
  return ledger_.string() + std::to_string(&worker - workers_.data());
}

void Evaluations::connect(Worker& worker, const Order& order) {
  const std::stop_token cancel = worker.cancel.get_token();
  engine::PeerOptions peer = options_for(port_, order.group, cancel);
  peer.open_stream = [&worker, open = std::move(peer.open_stream)] {
    worker.stream = open();
    return std::make_unique<HeldStream>(worker.stream);
  };
  RunRequest request{.party = settings_.me,
                     .endpoint = engine::endpoint_with(std::move(peer)),
                     .stores = {sessions_.path_of(order.session)},
                     .store_key = sessions_.store_key(),
                     .ledger = ledger_of(worker),
                     .reserve_ahead_ands = kReserveAheadAnds,
                     .phase = settings_.online};
  worker.evaluator = std::make_unique<Evaluator>(request, cancel);
  worker.traffic = {};
}

// Whatever comes of the job, nothing else gets the run.
void Evaluations::take_prepared(Worker& worker, const Order& order) {
  const std::lock_guard lock(mutex_);
  const auto found = find_prepared(worker, order);
  if (found == worker.prepared.end())
    throw NetworkError("the connection on which the job's run was prepared has ended");
  worker.prepared.erase(found);
}

RunResult Evaluations::run(Worker& worker, const Order& order) {
  if (order.circuit != nullptr) {
    take_prepared(worker, order);
    return worker.evaluator->finish(order.prepared, *order.inputs);
  }
  const JobRequest& job = order.job->request();
  std::optional<OnlinePhase> phase;
  if (!job.terms.online().empty()) phase = requested_phase(job.terms.online());
  return worker.evaluator->run(job.circuit->circuit(), *order.inputs, {}, job.circuit->lanes(),
                               job.id, phase);
}

bool Evaluations::is_anything_running() {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(workers_, [](const Worker& worker) {
    return (worker.running != nullptr && !worker.running->is_preparation()) ||
           (worker.next && !worker.next->is_preparation());
  });
}

void Evaluations::prepare(Worker& worker, const PreparedCircuit& prepared, Outcome& outcome) {
  const engine::LoadedCircuit& circuit = prepared.circuit;
  const auto spent = [&] {
    const MaterialCounts all = worker.evaluator->spent();
    return all[MaterialKind::Triples] + all[MaterialKind::FullTriples];
  };
  const std::uint64_t before = spent();
  outcome.beside_job = is_anything_running();
  try {
    outcome.prepared =
        worker.evaluator->prepare(circuit.circuit(), {}, circuit.lanes(), {}, prepared.phase);
  } catch (...) {
    outcome.spent_ands = spent() - before;
    throw;
  }
  outcome.spent_ands = spent() - before;
  outcome.beside_job |= is_anything_running();
}

// What has been added since the last order of the connection.
Traffic Evaluations::take_traffic(Worker& worker, const std::vector<PhaseCost>& phases) {
  const Traffic traffic = traffic_of(phases), before = std::exchange(worker.traffic, traffic);
  return {traffic.sent - before.sent, traffic.received - before.received};
}

Evaluations::Outcome Evaluations::evaluate(Worker& worker, const Order& order) {
  Outcome outcome;
  try {
    if (order.session < sessions_.first_active_session())
      throw StoreError("session " + std::to_string(order.session) +
                       " was retired before the job began: submit the job again");
    if (order.job) jobs_.begin(*order.job);
    // The peer, which has ended the session or the link too, will not connect for a preparation.
    if (order.is_cancelled && order.is_preparation()) throw Cancelled();
    if (!worker.evaluator && !(order.job && order.circuit != nullptr)) connect(worker, order);
    if (order.is_cancelled || (order.job && !order.inputs)) throw Cancelled();
    if (order.key) {
      order.key->run(*worker.evaluator, worker.keys);
      outcome.traffic = take_traffic(worker, worker.evaluator->phases());
      return outcome;
    }
    if (!order.job) {
      prepare(worker, *order.circuit, outcome);
      outcome.traffic = take_traffic(worker, worker.evaluator->phases());
      return outcome;
    }
    RunResult report = run(worker, order);
    outcome.result = {.outputs = std::move(report.outputs),
                      .session = short_name(report.session),
                      .and_rounds = report.and_rounds,
                      .phase = report.phase,
                      .half_round_trips = report.half_round_trips,
                      .was_prepared = order.circuit != nullptr,
                      .evaluation_s = report.wall_s};
    outcome.traffic = take_traffic(worker, report.phases);
  } catch (const std::exception&) {
    outcome.error = current_error();
    outcome.is_to_be_told = order.job && outcome.error->error_class == ErrorClass::Store;
  }
  return outcome;
}

}  // namespace tinyot::service
