// Both parties' peers in one process, as a daemon has them, with stores and a link: what one of
// them does to a job the other one learns, and what it counts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "service/configuration.h"
#include "service/peer.h"
#include "service/submission.h"
#include "tests/support/becomes_true.h"
#include "tests/support/files.h"
#include "tests/support/ports.h"
#include "tests/support/sockets.h"

namespace tinyot::test {
namespace {

using service::JobState;
using service::SharedJob;

// What a daemon has, with one peer.
class Node {
 public:
  struct Setup {
    std::string peer = {}, policy = {}, daemon = {};  // further fields; rules; further fields
    std::optional<StoreKey> store_key = {};
    std::chrono::seconds until_matched{600};
  };
  Node(Party me, const std::filesystem::path& directory, const std::string& port,
       const Setup& setup)
      : config_(config_of(me, directory, port, setup)),
        jobs_({.jobs = 10,
               .bytes = 1 << 20,
               .until_matched = setup.until_matched,
               .results_kept = std::chrono::seconds(600)}),
        shared_{config_, setup.store_key, jobs_, metrics_, service::RefillSlots(1)} {
    metrics_.add_peer("peer");
    peer_ = std::make_unique<service::Peer>(config_.peer(0), shared_);
  }

  service::Jobs& jobs() { return jobs_; }
  service::Peer& peer() { return *peer_; }
  JobState state(const SharedJob& job) const { return jobs_.status(*job).state; }
  service::JobError error(const SharedJob& job) const { return jobs_.status(*job).error; }

  // As the interface does it. The inputs are zero.
  SharedJob submit(const std::string& id, const std::string& name = "millionaires",
                   const std::string& online = {}) {
    v1::NewJob job;
    job.set_id(id);
    job.set_circuit(name);
    job.set_online(online);
    engine::LoadedCircuit circuit = service::circuit_of(job, {});
    EXPECT_EQ(peer_->too_large(circuit), std::nullopt);
    service::wire::Terms terms = service::terms_of(circuit, online);
    Values inputs;
    for (const circuit::InputBundle& bundle : circuit.info().inputs)
      if (gives(bundle.source, peer_->settings().me))
        inputs.set(bundle.name, LaneMatrix(1, bundle.bits));
    SharedJob added = jobs_.add({.id = id,
                                 .peer = "peer",
                                 .circuit = std::move(circuit),
                                 .terms = std::move(terms),
                                 .inputs = std::make_shared<const Values>(std::move(inputs))},
                                {.job = job, .circuit_file = {}});
    peer_->submit(added);
    return added;
  }

  // What a scrape shows; empty if there is no such line.
  std::string metric(const std::string& line_begin) {
    const service::Health health{service::Health::Clock::now()};
    const std::string port = reserved_port();
    const service::MetricsServer server(
        metrics_, {"127.0.0.1", port},
        [&] {
          service::DaemonGauges gauges;
          gauges.peers.push_back(peer_->gauges());
          return gauges;
        },
        health);
    const Socket socket = connect_to(port);
    EXPECT_TRUE(socket.send_all("GET /metrics HTTP/1.0\r\n\r\n"));
    std::string text;
    char buffer[65536];
    for (ssize_t count; (count = ::read(socket.get(), buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(count));
    const std::size_t at = text.find("\ntinyot_" + line_begin);
    if (at == std::string::npos) return {};
    const std::size_t end = text.find('\n', at + 1), space = text.rfind(' ', end);
    return text.substr(space + 1, end - space - 1);
  }
  std::string ended(const std::string& outcome) {
    return metric("evaluations_total{outcome=\"" + outcome + "\"");
  }

 private:
  static service::config::Daemon config_of(Party me, const std::filesystem::path& directory,
                                           const std::string& port, const Setup& setup) {
    const std::string policy = directory.string() + ".policy";
    write_file(policy, setup.policy.empty()
                           ? "allow { circuit: 'millionaires' } "
                             "allow { circuit: 'hamming' parameter { name: 'bits' max: 5000 } }"
                           : setup.policy);
    return service::parse_configuration(
        "directory: '" + directory.string() + "' " + setup.daemon + " peer { name: 'peer' party: " +
            name_of(me) + (me == Party::A ? " listen" : " connect") + ": '127.0.0.1:" + port +
            "' " + (setup.peer.find("profile:") == std::string::npos ? "profile: 'fast' " : "") +
            "policy: '" + policy + "' " + setup.peer + " }",
        "conf");
  }

  const service::config::Daemon config_;
  service::Jobs jobs_;
  service::DaemonMetrics metrics_{"test"};
  service::Shared shared_;
  std::unique_ptr<service::Peer> peer_;
};

class PeersTest : public ::testing::Test {
 protected:
  static constexpr const char* kLevels =
      " low { ands: 20000 inputs: 1000 } high { ands: 60000 inputs: 3000 } ";

  void start(const std::string& fields = {}, const std::string& levels = kLevels) {
    Node::Setup setup;
    setup.peer = levels + fields;
    for (const Party party : {Party::A, Party::B}) nodes_[index_of(party)] = make(party, setup);
  }
  std::unique_ptr<Node> make(Party party, const Node::Setup& setup) {
    return std::make_unique<Node>(party, directory_ / std::string(1, letter(party)), port_, setup);
  }
  static std::size_t index_of(Party party) { return party == Party::A ? 0 : 1; }
  Node& a() { return *nodes_[0]; }
  Node& b() { return *nodes_[1]; }
  // Up to the low watermark.
  ::testing::AssertionResult are_stocked() {
    return becomes_true(
        [&] {
          for (const auto& node : nodes_) {
            node->peer().keep_up();
            if (node->peer().gauges().ands < 20000) return false;
          }
          return true;
        },
        std::chrono::seconds(60));
  }
  ::testing::AssertionResult is(Node& node, const SharedJob& job, JobState state) {
    return becomes_true([&] { return node.state(job) == state; }, std::chrono::seconds(60));
  }
  void evaluate(const std::string& id, const std::string& circuit = "millionaires") {
    const SharedJob at_a = a().submit(id, circuit), at_b = b().submit(id, circuit);
    EXPECT_TRUE(is(a(), at_a, JobState::Done)) << a().error(at_a).message;
    EXPECT_TRUE(is(b(), at_b, JobState::Done)) << b().error(at_b).message;
  }

  const TestDirectory directory_;
  const std::string port_ = reserved_port();
  std::unique_ptr<Node> nodes_[2];
};

TEST_F(PeersTest, OutcomesAreCountedAndTimed) {
  start();
  ASSERT_TRUE(are_stocked());
  evaluate("done");
  const SharedJob cancelled = a().submit("cancelled");
  a().peer().cancel(cancelled);
  const SharedJob at_a = a().submit("differs"), at_b = b().submit("differs", "hamming");
  EXPECT_TRUE(is(a(), at_a, JobState::Failed));
  EXPECT_TRUE(is(b(), at_b, JobState::Failed));
  const SharedJob waits = a().submit("waits");
  for (Node* const node : {&a(), &b()}) {
    EXPECT_EQ(node->ended("done"), "1");
    EXPECT_EQ(node->ended("cancelled"), node == &a() ? "1" : "0");
    EXPECT_EQ(node->ended("failed_disagreement"), "1");
    EXPECT_EQ(node->ended("failed_network"), "0");
    EXPECT_EQ(node->metric("evaluation_latency_seconds_count{"), "1");
    EXPECT_EQ(node->metric("ands_evaluated_total{"), "32");
    EXPECT_EQ(node->metric("and_rounds_total{"), "32");
    const service::PeerGauges gauges = node->peer().gauges();
    EXPECT_EQ(gauges.jobs.waiting, node == &a() ? 1u : 0u);
    EXPECT_EQ(gauges.jobs.queued + gauges.jobs.running + gauges.unwritten, 0u);
    EXPECT_EQ(gauges.high_ands, 60000u);
    EXPECT_EQ(gauges.low_ands, 20000u);
    EXPECT_GE(gauges.ands, 60000u - 65536u / 2);
    EXPECT_LE(gauges.ands, 60000u);
    EXPECT_GT(gauges.inputs, 2000u);
    EXPECT_LE(gauges.inputs, 3000u);
    EXPECT_EQ(node->metric("refilled_ands_total{"), "60000");
    EXPECT_EQ(node->metric("refills_total{outcome=\"done\""), "1");
  }
  // What one party has sent the other one has received.
  for (const std::string use : {"refill", "evaluation"}) {
    const auto bytes = [&](Node& node, const std::string& direction) {
      return std::stod(
          node.metric(direction + "_bytes_total{peer=\"peer\",phase=\"" + use + "\"}"));
    };
    EXPECT_GT(bytes(a(), "sent"), use == "refill" ? 60000 : 32);
    EXPECT_EQ(bytes(a(), "sent"), bytes(b(), "received"));
    EXPECT_EQ(bytes(b(), "sent"), bytes(a(), "received"));
  }
  // From its submission to its end.
  const service::JobStatus status = a().jobs().status(*a().jobs().find("peer", "done"));
  EXPECT_GT(status.evaluation_s, 0);
  EXPECT_GE(status.total_s, status.evaluation_s);
  const double before = a().jobs().status(*waits).total_s;
  EXPECT_EQ(before, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  a().peer().cancel(waits);
  EXPECT_GE(a().jobs().status(*waits).total_s, 0.002);
}

// Of a job, not of an earlier one of the same id.
TEST_F(PeersTest, LatencyIsThatOfTheJob) {
  start();
  ASSERT_TRUE(are_stocked());
  const auto forget = [&] {
    for (Node* const node : {&a(), &b()}) node->jobs().forget(*node->jobs().find("peer", "job"));
  };
  const auto all = [&] { return std::stod(a().metric("evaluation_latency_seconds_sum{")); };
  evaluate("job");
  forget();
  const double before = all();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto begin = std::chrono::steady_clock::now();
  evaluate("job");
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(all() - before, 0);
  EXPECT_LT(all() - before, time.count() + 0.05);
}

// Of jobs that say nothing else.
TEST_F(PeersTest, PhaseIsThatOfTheConfiguration) {
  for (const OnlinePhase phase : {OnlinePhase::Interactive, OnlinePhase::Masked}) {
    start("online: '" + std::string(name_of(phase)) + "'");
    ASSERT_TRUE(are_stocked());
    const std::string id(name_of(phase));
    evaluate(id);
    for (Node* const node : {&a(), &b()})
      EXPECT_EQ(node->jobs().status(*node->jobs().find("peer", id)).phase, phase);
    for (auto& node : nodes_) node.reset();
  }
}

// A peer's jobs would fill the memory otherwise, and their outputs stay there.
TEST_F(PeersTest, NothingOfAForgottenJobStays) {
  start();
  ASSERT_TRUE(are_stocked());
  std::vector<std::weak_ptr<service::Job>> all;
  const auto forget = [&](Node& node, const std::string& id) {
    SharedJob job = node.jobs().find("peer", id);
    all.push_back(job);
    node.jobs().forget(*job);
  };
  evaluate("done");
  const SharedJob at_a = a().submit("differs"), at_b = b().submit("differs", "hamming");
  EXPECT_TRUE(is(a(), at_a, JobState::Failed));
  EXPECT_TRUE(is(b(), at_b, JobState::Failed));
  for (Node* const node : {&a(), &b()}) {
    for (const char* const id : {"done", "differs"}) forget(*node, id);
    node->peer().cancel(node->submit("cancelled"));
    forget(*node, "cancelled");
  }
  ASSERT_EQ(all.size(), 6u);
  // Those that this test has itself.
  std::ptrdiff_t expected[] = {0, 1, 0, 0, 1, 0};
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_TRUE(
        becomes_true([&] { return all[i].use_count() == expected[i]; }, std::chrono::seconds(20)))
        << i << ": " << all[i].use_count();
}

// A refill would be refused by the store of a session with other parameters.
TEST_F(PeersTest, SessionOfOtherParametersIsNotFilled) {
  constexpr std::uint64_t kBefore = 300;
  const auto sessions = [&](Node& node) {
    node.peer().keep_up();
    return node.peer().status().stock.sessions;
  };
  start("", "low { ands: 200 inputs: 20 } high { ands: 300 inputs: 30 } ");
  ASSERT_TRUE(becomes_true(
      [&] { return a().peer().gauges().ands == kBefore && b().peer().gauges().ands == kBefore; },
      std::chrono::seconds(60)));
  // Each is of one parameter, with more than all sessions before have.
  std::size_t count = 1;
  for (const auto& [change, levels] :
       {std::pair("material: 'garbling'",
                  "low { ands: 2000 inputs: 500 } high { ands: 3000 inputs: 600 } "),
        std::pair("material: 'garbling' sigma: 64",
                  "low { ands: 5000 inputs: 1500 } high { ands: 6000 inputs: 2000 } ")}) {
    for (auto& node : nodes_) node.reset();
    start(change, levels);
    ++count;
    for (Node* const node : {&a(), &b()}) {
      ASSERT_TRUE(becomes_true(
          [&] {
            const auto all = sessions(*node);
            return all.size() == count && all.back().left.ands >= 2000;
          },
          std::chrono::seconds(30)))
          << change << ": " << node->peer().status().refills.stopped;
      EXPECT_EQ(sessions(*node).front().left.ands, kBefore);
    }
  }
}

// What would have them disagree later: on a refill, which sessions there are, or who may name what.
TEST_F(PeersTest, PartiesCompareTheirConfigurations) {
  const auto expect_difference = [&](const std::string& name, const Node::Setup& of_b) {
    const auto node = [&](Party party, Node::Setup setup) {
      setup.peer += kLevels;
      return std::make_unique<Node>(party, directory_ / (letter(party) + (" of " + name)), port_,
                                    setup);
    };
    const auto first = node(Party::A, {}), second = node(Party::B, of_b);
    for (Node* const each : {first.get(), second.get()})
      EXPECT_TRUE(becomes_true(
          [&] {
            return each->peer().status().link.last_error.find("disagree on " + name) !=
                   std::string::npos;
          },
          std::chrono::seconds(20)))
          << name << ": " << each->peer().status().link.last_error;
  };
  expect_difference("profile", {.peer = "material: 'triples' profile: 'wan'"});
  expect_difference("sigma", {.peer = "sigma: 64"});
  expect_difference("material", {.peer = "material: 'garbling'"});
  expect_difference("online", {.peer = "online: 'masked'"});
  expect_difference("refill_threads", {.daemon = "refill_threads: 2"});
  expect_difference("evaluations", {.peer = "evaluations: 5"});
}

class LonePeerTest : public PeersTest {
 protected:
  std::unique_ptr<Node> node(const std::string& fields = {}, const std::string& levels = kLevels,
                             const std::string& policy = {}) {
    return make(Party::A, {.peer = levels + fields,
                           .policy = policy,
                           .store_key = StoreKey(std::vector<std::byte>(32, std::byte{7}))});
  }
  // Of a job that waits as the configuration changes.
  service::JobStatus restored(const std::string& fields, const std::string& levels = kLevels,
                              const std::string& policy = {}) {
    {
      const auto before = node();
      before->submit("job", "hamming:bits=2000", "masked");
    }
    const auto after = node(fields, levels, policy);
    const SharedJob job = after->jobs().find("peer", "job");
    const service::JobStatus status = after->jobs().status(*job);
    after->jobs().forget(*job);
    return status;
  }
};

TEST_F(LonePeerTest, JobNamesAPhaseThatThePartiesUse) {
  const auto refusal = [](Node& of, const std::string& online) -> std::string {
    try {
      of.peer().check_phase(online);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  const auto any = node();
  for (const char* const online : {"", "interactive", "masked"})
    EXPECT_EQ(refusal(*any, online), "") << online;
  for (const char* const online : {"auto", "garbled", "mask"})
    EXPECT_NE(refusal(*any, online), "") << online;
}

TEST_F(LonePeerTest, JobNamesThePhaseOfTheConfiguration) {
  const auto masked = node("online: 'masked'");
  EXPECT_NO_THROW(masked->peer().check_phase(""));
  EXPECT_NO_THROW(masked->peer().check_phase("masked"));
  EXPECT_THROW(masked->peer().check_phase("interactive"), UsageError);
}

// A job that takes more than all that there ever is would wait for nothing, and refill for ever.
TEST_F(LonePeerTest, JobTakesAtMostWhatTheStockMayHave) {
  const auto lone = node();
  const auto refusal = [&](const std::string& name) {
    v1::NewJob job;
    job.set_circuit(name);
    return lone->peer().too_large(service::circuit_of(job, {})).value_or("");
  };
  EXPECT_EQ(refusal("random:width=1000,depth=60"), "");
  EXPECT_NE(refusal("random:width=1001,depth=60").find("more than 60000 ANDs"), std::string::npos);
  EXPECT_EQ(refusal("hamming:bits=3000"), "");
  EXPECT_NE(refusal("hamming:bits=3001").find("3001 inputs of a party"), std::string::npos)
      << refusal("hamming:bits=3001");
}

// As if its client had submitted it to the daemon of now.
TEST_F(LonePeerTest, JobOfAnEarlierProcessIsOneOfTheConfigurationOfNow) {
  EXPECT_EQ(restored("").state, JobState::WaitingForPeer);
  const auto fails = [&](const service::JobStatus& status, const std::string& part) {
    EXPECT_EQ(status.state, JobState::Failed);
    EXPECT_EQ(status.error.error_class, ErrorClass::Disagreement);
    EXPECT_NE(status.error.message.find(part), std::string::npos) << status.error.message;
  };
  fails(restored("online: 'interactive'"), "online: interactive");
  fails(restored("", kLevels, "allow { circuit: 'aes128' }"), "no rule for hamming");
  fails(restored("", " low { ands: 20000 inputs: 1000 } high { ands: 60000 inputs: 1999 } "),
        "more than the stock may have");
}

}  // namespace
}  // namespace tinyot::test
