#include "service/daemon_metrics.h"

#include <civetweb.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/error.h"
#include "online/online_phase.h"
#include "service/error_log.h"
#include "service/store_metrics.h"

namespace tinyot::service {
namespace {

using Labels = prometheus::Labels;
using CounterFamily = prometheus::Family<prometheus::Counter>;
using GaugeFamily = prometheus::Family<prometheus::Gauge>;

const prometheus::Histogram::BucketBoundaries kLatencyBuckets = {
    0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3,
    0.5,   1,     2,     3,     5,    10,   30,   60,   120, 300, 600};

Labels labels_of(const std::string& peer, const std::string& circuit, std::uint64_t lanes) {
  return {{"peer", peer}, {"circuit", circuit}, {"lanes", std::to_string(lanes)}};
}

double now_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

// Reads what a scrape asks for.
class PeerCollector {
 public:
  explicit PeerCollector(std::function<DaemonGauges()> gauges) : gauges_(std::move(gauges)) {}

  // Without those that cannot be read.
  std::vector<prometheus::MetricFamily> collect() const {
    std::vector<prometheus::MetricFamily> families;
    errors_.run([&] { families = read(); });
    return families;
  }

 private:
  std::vector<prometheus::MetricFamily> read() const {
    prometheus::Registry registry(prometheus::Registry::InsertBehavior::Merge);
    const auto set = [&](const std::string& name, const std::string& help, const Labels& labels,
                         double value) {
      prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels).Set(value);
    };
    const DaemonGauges all = gauges_();
    if (all.disk_available)
      set("tinyot_disk_available_bytes", "Free space where the stores are", {},
          static_cast<double>(*all.disk_available));
    for (const CertificateEnd& end : all.certificates)
      set("tinyot_certificate_seconds_left", "Time until a certificate expires",
          {{"use", end.use}, {"peer", end.peer}},
          std::chrono::duration<double>(end.at - std::chrono::system_clock::now()).count());
    for (const PeerGauges& of : all.peers) {
      const Labels peer = {{"peer", of.peer}};
      const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
      set("tinyot_peer_connected", "1 if the peer's daemon is connected", peer, of.is_connected);
      set("tinyot_refills_stopped",
          "1 if a limit has stopped the refills until the operator resumes them", peer,
          of.are_refills_stopped);
      set("tinyot_sessions_risk",
          "Probability that broken units of all sessions with the peer have given it", peer,
          of.risk);
      const auto jobs = [&](JobState state, std::uint64_t count) {
        set("tinyot_jobs", "Jobs that have not ended",
            {{"peer", of.peer}, {"state", name_of(state)}}, number(count));
      };
      jobs(JobState::WaitingForPeer, of.jobs.waiting);
      jobs(JobState::Queued, of.jobs.queued);
      jobs(JobState::Running, of.jobs.running);
      set("tinyot_jobs_unwritten", "Jobs that have ended, and whose end is not on the disk yet",
          peer, number(of.unwritten));
      set("tinyot_stock_ands", "ANDs that both parties have material for", peer, number(of.ands));
      set("tinyot_stock_inputs", "Inputs of each party that both have material for", peer,
          number(of.inputs));
      set("tinyot_low_watermark_ands", "ANDs in stock below which it is refilled", peer,
          number(of.low_ands));
      set("tinyot_high_watermark_ands", "ANDs in stock up to which it is refilled", peer,
          number(of.high_ands));
      set("tinyot_refill_disk_bytes", "Space that the material up to the high watermark takes",
          peer, number(of.refill_bytes));
      for (const PreparedCount& prepared : of.prepared) {
        const Labels labels = labels_of(of.peer, prepared.circuit, prepared.lanes);
        set("tinyot_prepared_runs", "Prepared runs that wait for a job", labels,
            number(prepared.in_stock));
        set("tinyot_prepared_runs_kept", "Prepared runs that both parties keep at present", labels,
            number(prepared.kept));
        set("tinyot_prepared_runs_configured", "Prepared runs that the configuration asks for",
            labels, number(prepared.configured));
      }
      if (of.keys) {
        for (const auto& [state, count] : of.keys->by_state)
          set("tinyot_keys", "Keys of custody", {{"peer", of.peer}, {"state", state}},
              number(count));
        set("tinyot_key_requests", "Requests for keys that have not ended", peer,
            number(of.keys->requests));
        set("tinyot_key_approvals_waiting",
            "Requests for keys that wait for an officer, and operations of officers", peer,
            number(of.keys->approvals));
        set("tinyot_keys_destroyed_by_peer",
            "Keys whose share the peer has destroyed, and this party not yet", peer,
            number(of.keys->destroyed_by_peer));
        set("tinyot_keys_suspended",
            "1 if the peer has failed a check, so that no key is used until an officer resumes "
            "them",
            peer, of.keys->has_peer_cheated);
      }
      for (const storage::Inventory& store : of.stores) add_store_metrics(store, peer, set);
    }
    return registry.Collect();
  }

  std::function<DaemonGauges()> gauges_;
  mutable ErrorLog errors_{"metrics cannot be read"};
};

}  // namespace

struct DaemonMetrics::State {
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();

  CounterFamily& counters(const std::string& name, const std::string& help) {
    return prometheus::BuildCounter().Name("tinyot_" + name).Help(help).Register(*registry);
  }
  GaugeFamily& gauges(const std::string& name, const std::string& help) {
    return prometheus::BuildGauge().Name("tinyot_" + name).Help(help).Register(*registry);
  }

  prometheus::Counter& add(const std::string& peer, const PreparedCircuit& circuit,
                           PreparedOutcome outcome) {
    Labels labels = labels_of(peer, circuit.terms.circuit(), circuit.circuit.lanes());
    labels["outcome"] = name_of(outcome);
    return prepared.Add(labels);
  }

  GaugeFamily& build = gauges("build_info", "1, with the version of the program");
  GaugeFamily& started = gauges("daemon_start_time_seconds", "Time at which the daemon started");
  CounterFamily& evaluations = counters("evaluations_total", "Jobs that have ended, by outcome");
  prometheus::Family<prometheus::Histogram>& latencies =
      prometheus::BuildHistogram()
          .Name("tinyot_evaluation_latency_seconds")
          .Help("From the submission by both parties until the result is there")
          .Register(*registry);
  CounterFamily& ands = counters("ands_evaluated_total", "ANDs evaluated, of all lanes");
  CounterFamily& rounds = counters("and_rounds_total", "Rounds of ANDs evaluated");
  CounterFamily& of_phase =
      counters("online_evaluations_total", "Jobs that are done, by online phase");
  CounterFamily& half_round_trips =
      counters("online_half_round_trips_total",
               "Half round trips until this party had its outputs, by online phase");
  CounterFamily& sent = counters("sent_bytes_total", "Bytes sent to the peer");
  CounterFamily& received = counters("received_bytes_total", "Bytes received from the peer");
  CounterFamily& refusals =
      counters("refusals_total", "Jobs refused by a policy, for their terms or for want of disk");
  CounterFamily& cheating = counters("cheating_detected_total", "Checks that the peer failed");
  CounterFamily& begun = counters("sessions_begun_total", "Sessions begun");
  CounterFamily& ended = counters("sessions_ended_total", "Sessions ended, by reason");
  CounterFamily& refills = counters("refills_total", "Refills, by outcome");
  CounterFamily& refilled = counters("refilled_ands_total", "ANDs that refills have made");
  CounterFamily& prepared =
      counters("prepared_runs_total", "Runs prepared before their inputs, by outcome");
  CounterFamily& wasted_ands =
      counters("prepared_wasted_ands_total",
               "ANDs whose material was lost with prepared runs that no job had taken");
  CounterFamily& key_requests =
      counters("key_requests_total", "Requests for keys that have ended, by outcome");
  CounterFamily& kms_calls =
      counters("kms_calls_total", "Calls of Kubernetes' API servers that have ended, by outcome");
  prometheus::Family<prometheus::Histogram>& key_latencies =
      prometheus::BuildHistogram()
          .Name("tinyot_key_request_latency_seconds")
          .Help("From a request of this party's client for a key until it is done")
          .Register(*registry);
  GaugeFamily& last_refill =
      gauges("last_refill_success_timestamp_seconds", "Time at which the last refill succeeded");
  GaugeFamily& last_evaluation = gauges("last_evaluation_success_timestamp_seconds",
                                        "Time at which the last evaluation succeeded");
};

Traffic traffic_of(const std::vector<PhaseCost>& phases) {
  Traffic traffic;
  for (const PhaseCost& phase : phases) {
    traffic.sent += phase.bytes_sent;
    traffic.received += phase.bytes_received;
  }
  return traffic;
}

DaemonMetrics::DaemonMetrics(const std::string& version) : state_(std::make_unique<State>()) {
  state_->build.Add({{"version", version}}).Set(1);
  state_->started.Add({}).Set(now_s());
}

DaemonMetrics::~DaemonMetrics() = default;

void DaemonMetrics::add_peer(const std::string& peer) {
  const auto add = [&](CounterFamily& family, const char* label, const auto& values) {
    for (const auto value : values) family.Add({{"peer", peer}, {label, name_of(value)}});
  };
  add(state_->evaluations, "outcome", kJobOutcomes);
  add(state_->refusals, "by", kRefusedBy);
  add(state_->ended, "reason", kSessionEnds);
  add(state_->refills, "outcome", kRefillOutcomes);
  add(state_->sent, "phase", kTrafficOf);
  add(state_->received, "phase", kTrafficOf);
  for (const online::OnlinePhaseEntry* phase : online::online_phases())
    for (CounterFamily* const family : {&state_->of_phase, &state_->half_round_trips})
      family->Add({{"peer", peer}, {"online", std::string(phase->name)}});
  for (CounterFamily* const family : {&state_->ands, &state_->rounds, &state_->cheating,
                                      &state_->begun, &state_->refilled, &state_->wasted_ands})
    family->Add({{"peer", peer}});
  state_->latencies.Add({{"peer", peer}}, kLatencyBuckets);
}

void DaemonMetrics::add_prepared(const std::string& peer, const PreparedCircuit& circuit) {
  for (const PreparedOutcome outcome : kPreparedOutcomes) state_->add(peer, circuit, outcome);
}

void DaemonMetrics::prepared(const std::string& peer, const PreparedCircuit& circuit,
                             PreparedOutcome outcome) {
  state_->add(peer, circuit, outcome).Increment();
}

void DaemonMetrics::wasted(const std::string& peer, std::uint64_t ands) {
  state_->wasted_ands.Add({{"peer", peer}}).Increment(static_cast<double>(ands));
}

void DaemonMetrics::key_request(const std::string& peer, const std::string& operation,
                                RefusedBy asked_by, bool is_done, double seconds) {
  state_->key_requests
      .Add({{"peer", peer},
            {"operation", operation},
            {"by", name_of(asked_by)},
            {"outcome", is_done ? "done" : "failed"}})
      .Increment();
  if (is_done && asked_by == RefusedBy::ThisParty)
    state_->key_latencies.Add({{"peer", peer}, {"operation", operation}}, kLatencyBuckets)
        .Observe(seconds);
}

void DaemonMetrics::kms_call(const std::string& peer, const std::string& method, bool is_done) {
  state_->kms_calls
      .Add({{"peer", peer}, {"call", method}, {"outcome", is_done ? "done" : "failed"}})
      .Increment();
}

void DaemonMetrics::evaluation(const std::string& peer, JobOutcome outcome) {
  state_->evaluations.Add({{"peer", peer}, {"outcome", name_of(outcome)}}).Increment();
}

void DaemonMetrics::latency(const std::string& peer, double seconds) {
  state_->latencies.Add({{"peer", peer}}, kLatencyBuckets).Observe(seconds);
  state_->last_evaluation.Add({{"peer", peer}}).Set(now_s());
}

void DaemonMetrics::evaluated(const std::string& peer, std::uint64_t ands, const JobResult& result,
                              Party me) {
  state_->ands.Add({{"peer", peer}}).Increment(static_cast<double>(ands));
  state_->rounds.Add({{"peer", peer}}).Increment(static_cast<double>(result.and_rounds));
  const Labels labels = {{"peer", peer}, {"online", std::string(name_of(result.phase))}};
  state_->of_phase.Add(labels).Increment();
  const std::uint64_t half_round_trips = result.half_round_trips[me == Party::A ? 0 : 1];
  state_->half_round_trips.Add(labels).Increment(static_cast<double>(half_round_trips));
}

void DaemonMetrics::traffic(const std::string& peer, TrafficOf use, const Traffic& traffic) {
  const Labels labels = {{"peer", peer}, {"phase", name_of(use)}};
  state_->sent.Add(labels).Increment(static_cast<double>(traffic.sent));
  state_->received.Add(labels).Increment(static_cast<double>(traffic.received));
}

void DaemonMetrics::refusal(const std::string& peer, RefusedBy by) {
  state_->refusals.Add({{"peer", peer}, {"by", name_of(by)}}).Increment();
}

void DaemonMetrics::cheating(const std::string& peer) {
  state_->cheating.Add({{"peer", peer}}).Increment();
}

void DaemonMetrics::session_begun(const std::string& peer) {
  state_->begun.Add({{"peer", peer}}).Increment();
}

void DaemonMetrics::session_ended(const std::string& peer, SessionEnd reason) {
  state_->ended.Add({{"peer", peer}, {"reason", name_of(reason)}}).Increment();
}

void DaemonMetrics::refill(const std::string& peer, RefillOutcome outcome, std::uint64_t ands) {
  state_->refills.Add({{"peer", peer}, {"outcome", name_of(outcome)}}).Increment();
  state_->refilled.Add({{"peer", peer}}).Increment(static_cast<double>(ands));
  if (outcome == RefillOutcome::Done) state_->last_refill.Add({{"peer", peer}}).Set(now_s());
}

struct MetricsServer::State {
  const DaemonMetrics::State& metrics;
  const std::function<std::vector<prometheus::MetricFamily>()> gauges;
  const Health& health;
  const std::string host;
  const int port;
  std::unique_ptr<mg_context, void (*)(mg_context*)> server{nullptr, mg_stop};

  std::string metrics_text() const {
    std::vector<prometheus::MetricFamily> all = metrics.registry->Collect();
    for (prometheus::MetricFamily& family : gauges()) all.push_back(std::move(family));
    return prometheus::TextSerializer().Serialize(all);
  }
};

namespace {

constexpr const char* kThreads = "4";
constexpr const char* kRequestTime_ms = "10000";

// The status of the request, for the library.
int answer(mg_connection* connection, int status, const char* reason, const std::string& text) {
  mg_printf(connection,
            "HTTP/1.1 %d %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: %zu\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
            status, reason, text.size());
  mg_write(connection, text.data(), text.size());
  return status;
}

int answer(mg_connection* connection, const Health::Answer& found) {
  return found.is_well ? answer(connection, 200, "OK", found.text)
                       : answer(connection, 503, "Service Unavailable", found.text);
}

// What the query of a request names; empty if there is none.
std::string peer_in(const mg_connection* connection) {
  const char* const query = mg_get_request_info(connection)->query_string;
  constexpr std::string_view kField = "peer=";
  const std::string_view text = query == nullptr ? "" : query;
  return text.starts_with(kField) ? std::string(text.substr(kField.size())) : "";
}

// The library is written in C: no exception may pass it.
template <class Work>
int guarded(mg_connection* connection, const Work& work) noexcept {
  try {
    return work();
  } catch (const std::exception&) {
    return mg_send_http_error(connection, 500, "%s", "the daemon could not answer");
  }
}

}  // namespace

MetricsServer::MetricsServer(const DaemonMetrics& metrics, const net::Address& address,
                             std::function<DaemonGauges()> gauges, const Health& health)
    : state_(new State{
          *metrics.state_,
          [of = std::make_shared<const PeerCollector>(std::move(gauges))] { return of->collect(); },
          health, address.host, std::stoi(address.port)}) {
  const std::string at = net::text_of(address);
  const char* options[] = {"listening_ports",    at.c_str(),      "num_threads", kThreads,
                           "request_timeout_ms", kRequestTime_ms, nullptr};
  const mg_callbacks callbacks{};
  state_->server.reset(mg_start(&callbacks, nullptr, options));
  if (!state_->server) throw NetworkError("cannot serve metrics at " + at);
  const auto serve = [&](const char* path, mg_request_handler handler) {
    mg_set_request_handler(state_->server.get(), path, handler, state_.get());
  };
  serve("/metrics$", [](mg_connection* connection, void* state) {
    return guarded(connection, [&] {
      return answer(connection, 200, "OK", static_cast<const State*>(state)->metrics_text());
    });
  });
  serve("/healthz$", [](mg_connection* connection, void* state) {
    return guarded(connection, [&] {
      return answer(connection,
                    static_cast<const State*>(state)->health.healthy(Health::Clock::now()));
    });
  });
  serve("/readyz$", [](mg_connection* connection, void* state) {
    return guarded(connection, [&] {
      return answer(connection,
                    static_cast<const State*>(state)->health.ready(peer_in(connection)));
    });
  });
}

// The library looks whether it is to end every two seconds, and when somebody connects.
MetricsServer::~MetricsServer() {
  const std::jthread connecting([this](const std::stop_token& has_ended) {
    char error[128];
    while (!has_ended.stop_requested()) {
      if (mg_connection* const connection =
              mg_connect_client(state_->host.c_str(), state_->port, 0, error, sizeof error))
        mg_close_connection(connection);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  state_->server.reset();
}

}  // namespace tinyot::service
