// What a scrape of a daemon says: every number under its own name and labels.
#include "service/daemon_metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tests/support/ports.h"
#include "tests/support/sockets.h"

namespace tinyot::test {
namespace {

using service::DaemonGauges;
using service::DaemonMetrics;
using service::PeerGauges;

// The metrics of a server, scraped as Prometheus does.
class DaemonMetricsTest : public ::testing::Test {
 protected:
  using Scrape = std::map<std::string, double>;  // by name with labels

  DaemonMetricsTest() { metrics_.add_peer("bob"); }

  std::string answer_to(const std::string& path) const {
    const Socket socket = connect_to(port_);
    EXPECT_TRUE(socket.send_all("GET " + path + " HTTP/1.0\r\n\r\n"));
    std::string text;
    char buffer[65536];
    for (ssize_t count; (count = ::read(socket.get(), buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(count));
    return text;
  }
  Scrape scrape() const {
    std::istringstream lines(answer_to("/metrics"));
    Scrape found;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("tinyot_")) continue;
      const std::size_t space = line.rfind(' ');
      const std::string name = line.substr(7, space - 7);
      EXPECT_TRUE(found.emplace(name, std::stod(line.substr(space))).second) << line;
    }
    return found;
  }
  static void expect(const Scrape& found, const Scrape& values) {
    for (const auto& [name, value] : values)
      if (const auto at = found.find(name); at == found.end())
        ADD_FAILURE() << "there is no " << name;
      else
        EXPECT_EQ(at->second, value) << name;
  }
  static double now_s() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  DaemonMetrics metrics_{"7.8"};
  service::Health health_{service::Health::Clock::now()};
  DaemonGauges gauges_;
  bool can_be_read_ = true;
  const std::string port_ = reserved_port();
  service::MetricsServer server_{metrics_,
                                 {"127.0.0.1", port_},
                                 [this] {
                                   if (!can_be_read_) throw std::runtime_error("no store");
                                   return gauges_;
                                 },
                                 health_};
};

TEST_F(DaemonMetricsTest, GaugesAreThoseOfTheirPeer) {
  PeerGauges bob;
  bob.peer = "bob";
  bob.is_connected = true;
  bob.risk = 0.25;
  bob.jobs = {.waiting = 11, .queued = 12, .running = 13};
  bob.unwritten = 14;
  bob.ands = 15;
  bob.inputs = 16;
  bob.low_ands = 17;
  bob.high_ands = 18;
  bob.refill_bytes = 19;
  bob.prepared = {{.circuit = "aes128",
                   .lanes = 2,
                   .in_stock = 21,
                   .kept = 22,
                   .configured = 23,
                   .reason = {}}};
  bob.keys = {.by_state = {{"active", 31}, {"destroyed", 32}},
              .requests = 33,
              .approvals = 34,
              .has_peer_cheated = true,
              .destroyed_by_peer = 35};
  PeerGauges carol;
  carol.peer = "carol";
  carol.are_refills_stopped = true;
  gauges_.peers = {bob, carol};
  gauges_.disk_available = 41;
  const Scrape found = scrape();
  const std::string of = "{peer=\"bob\"}", aes = "{circuit=\"aes128\",lanes=\"2\",peer=\"bob\"}";
  expect(found, {{"build_info{version=\"7.8\"}", 1},
                 {"disk_available_bytes", 41},
                 {"peer_connected" + of, 1},
                 {"refills_stopped" + of, 0},
                 {"sessions_risk" + of, 0.25},
                 {"jobs{peer=\"bob\",state=\"waiting\"}", 11},
                 {"jobs{peer=\"bob\",state=\"queued\"}", 12},
                 {"jobs{peer=\"bob\",state=\"running\"}", 13},
                 {"jobs_unwritten" + of, 14},
                 {"stock_ands" + of, 15},
                 {"stock_inputs" + of, 16},
                 {"low_watermark_ands" + of, 17},
                 {"high_watermark_ands" + of, 18},
                 {"refill_disk_bytes" + of, 19},
                 {"prepared_runs" + aes, 21},
                 {"prepared_runs_kept" + aes, 22},
                 {"prepared_runs_configured" + aes, 23},
                 {"keys{peer=\"bob\",state=\"active\"}", 31},
                 {"keys{peer=\"bob\",state=\"destroyed\"}", 32},
                 {"key_requests" + of, 33},
                 {"key_approvals_waiting" + of, 34},
                 {"keys_suspended" + of, 1},
                 {"keys_destroyed_by_peer" + of, 35},
                 {"peer_connected{peer=\"carol\"}", 0},
                 {"refills_stopped{peer=\"carol\"}", 1}});
  EXPECT_FALSE(found.contains("keys_suspended{peer=\"carol\"}")) << "it has no custody";
}

TEST_F(DaemonMetricsTest, CertificatesHaveTheTimeThatIsLeft) {
  const auto now = std::chrono::system_clock::now();
  gauges_.certificates = {{"party", "bob", now + std::chrono::hours(1)},
                          {"peer", "bob", now + std::chrono::hours(2)},
                          {"interface", "", now + std::chrono::hours(3)},
                          {"clients", "", now - std::chrono::hours(4)}};
  Scrape found = scrape();
  const auto left = [&](const std::string& peer, const std::string& use) {
    return found["certificate_seconds_left{peer=\"" + peer + "\",use=\"" + use + "\"}"];
  };
  EXPECT_NEAR(left("bob", "party"), 3600, 600);
  EXPECT_NEAR(left("bob", "peer"), 7200, 600);
  EXPECT_NEAR(left("", "interface"), 10800, 600);
  EXPECT_NEAR(left("", "clients"), -14400, 600);
}

// So that the first event is an increase, which an alert needs.
TEST_F(DaemonMetricsTest, CountersOfAPeerBeginAtZero) {
  const std::string of = "{peer=\"bob\"}";
  Scrape zeros;
  for (const std::string name : {"cheating_detected_total", "sessions_begun_total",
                                 "refilled_ands_total", "ands_evaluated_total", "and_rounds_total",
                                 "prepared_wasted_ands_total", "evaluation_latency_seconds_count"})
    zeros[name + of] = 0;
  const auto add = [&](const std::string& name, const std::string& label, const auto& values) {
    for (const auto value : values)
      zeros[name + (label < "peer" ? "{" + label + "=\"" + name_of(value) + "\",peer=\"bob\"}"
                                   : "{peer=\"bob\"," + label + "=\"" + name_of(value) + "\"}")] =
          0;
  };
  add("evaluations_total", "outcome", service::kJobOutcomes);
  add("refusals_total", "by", service::kRefusedBy);
  add("sessions_ended_total", "reason", service::kSessionEnds);
  add("refills_total", "outcome", service::kRefillOutcomes);
  add("sent_bytes_total", "phase", service::kTrafficOf);
  add("received_bytes_total", "phase", service::kTrafficOf);
  for (const std::string phase : {"interactive", "garbled", "masked"})
    for (const std::string name : {"online_evaluations_total", "online_half_round_trips_total"})
      zeros[name + "{online=\"" + phase + "\",peer=\"bob\"}"] = 0;
  expect(scrape(), zeros);
}

TEST_F(DaemonMetricsTest, EventsAreCountedUnderTheirNames) {
  const std::string of = "{peer=\"bob\"}";
  metrics_.evaluation("bob", service::JobOutcome::FailedStore);
  metrics_.latency("bob", 0.25);
  service::JobResult result;
  result.and_rounds = 3;
  result.phase = OnlinePhase::Garbled;
  result.half_round_trips = {5, 7};
  metrics_.evaluated("bob", 11, result, Party::A);
  metrics_.evaluated("bob", 11, result, Party::B);
  metrics_.traffic("bob", service::TrafficOf::Refill, {13, 17});
  metrics_.refusal("bob", service::RefusedBy::Peer);
  metrics_.cheating("bob");
  metrics_.session_begun("bob");
  metrics_.session_ended("bob", service::SessionEnd::Revoked);
  metrics_.refill("bob", service::RefillOutcome::Failed, 19);
  metrics_.wasted("bob", 23);
  metrics_.kms_call("bob", "decrypt", false);
  metrics_.key_request("bob", "sign", service::RefusedBy::ThisParty, true, 0.5);
  metrics_.key_request("bob", "sign", service::RefusedBy::ThisParty, false, 0.5);
  metrics_.key_request("bob", "sign", service::RefusedBy::Peer, true, 0.5);
  const auto key_requests = [](const std::string& by, const std::string& outcome) {
    return "key_requests_total{by=\"" + by + "\",operation=\"sign\",outcome=\"" + outcome +
           "\",peer=\"bob\"}";
  };
  const Scrape found = scrape();
  expect(found, {{"evaluations_total{outcome=\"failed_store\",peer=\"bob\"}", 1},
                 {"evaluations_total{outcome=\"done\",peer=\"bob\"}", 0},
                 {"evaluation_latency_seconds_count" + of, 1},
                 {"evaluation_latency_seconds_sum" + of, 0.25},
                 {"ands_evaluated_total" + of, 22},
                 {"and_rounds_total" + of, 6},
                 {"online_evaluations_total{online=\"garbled\",peer=\"bob\"}", 2},
                 {"online_half_round_trips_total{online=\"garbled\",peer=\"bob\"}", 12},
                 {"sent_bytes_total{peer=\"bob\",phase=\"refill\"}", 13},
                 {"received_bytes_total{peer=\"bob\",phase=\"refill\"}", 17},
                 {"refusals_total{by=\"peer\",peer=\"bob\"}", 1},
                 {"refusals_total{by=\"this_party\",peer=\"bob\"}", 0},
                 {"cheating_detected_total" + of, 1},
                 {"sessions_begun_total" + of, 1},
                 {"sessions_ended_total{peer=\"bob\",reason=\"revoked\"}", 1},
                 {"refills_total{outcome=\"failed\",peer=\"bob\"}", 1},
                 {"refilled_ands_total" + of, 19},
                 {"prepared_wasted_ands_total" + of, 23},
                 {"kms_calls_total{call=\"decrypt\",outcome=\"failed\",peer=\"bob\"}", 1},
                 {key_requests("this_party", "done"), 1},
                 {key_requests("this_party", "failed"), 1},
                 {key_requests("peer", "done"), 1},
                 {"key_request_latency_seconds_count{operation=\"sign\",peer=\"bob\"}", 1}});
}

TEST_F(DaemonMetricsTest, HalfRoundTripsAreThoseOfThisParty) {
  service::JobResult result;
  result.half_round_trips = {5, 7};
  metrics_.evaluated("bob", 1, result, Party::B);
  expect(scrape(), {{"online_half_round_trips_total{online=\"interactive\",peer=\"bob\"}", 7}});
}

TEST_F(DaemonMetricsTest, TimesOfSuccessAreOfSuccesses) {
  const std::string of = "{peer=\"bob\"}", refill = "last_refill_success_timestamp_seconds" + of,
                    evaluation = "last_evaluation_success_timestamp_seconds" + of;
  const double before = now_s() - 1;
  metrics_.refill("bob", service::RefillOutcome::Failed, 0);
  metrics_.refill("bob", service::RefillOutcome::Cancelled, 0);
  metrics_.evaluation("bob", service::JobOutcome::FailedNetwork);
  Scrape found = scrape();
  EXPECT_FALSE(found.contains(refill));
  EXPECT_FALSE(found.contains(evaluation));
  metrics_.refill("bob", service::RefillOutcome::Done, 0);
  metrics_.latency("bob", 1);
  found = scrape();
  for (const std::string& name : {refill, evaluation}) {
    EXPECT_GE(found[name], before) << name;
    EXPECT_LE(found[name], now_s()) << name;
  }
}

// Stores that cannot be read hide no counter.
TEST_F(DaemonMetricsTest, CountersAreServedAlsoIfGaugesCannotBeRead) {
  gauges_.disk_available = 41;
  metrics_.cheating("bob");
  can_be_read_ = false;
  const Scrape found = scrape();
  EXPECT_FALSE(found.contains("disk_available_bytes"));
  expect(found, {{"cheating_detected_total{peer=\"bob\"}", 1}});
  can_be_read_ = true;
  expect(scrape(), {{"disk_available_bytes", 41}});
}

TEST_F(DaemonMetricsTest, HealthIsServedWithItsStatus) {
  EXPECT_TRUE(answer_to("/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(answer_to("/readyz").starts_with("HTTP/1.1 503 "));
  health_.passed({{"bob", ""}, {"carol", "not connected"}}, service::Health::Clock::now());
  EXPECT_TRUE(answer_to("/readyz").starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(answer_to("/readyz?peer=carol").starts_with("HTTP/1.1 503 "));
  health_.passed({}, service::Health::Clock::now() - service::Health::kLoopTime);
  EXPECT_TRUE(answer_to("/healthz").starts_with("HTTP/1.1 503 "));
}

}  // namespace
}  // namespace tinyot::test
