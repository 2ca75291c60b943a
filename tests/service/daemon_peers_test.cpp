// Peers that go away, come back, stop, run out of stock, or cheat.
#include <algorithm>
#include <thread>

#include "offline/parameters.h"
#include "service/daemon.h"
#include "storage/store.h"
#include "tests/service/daemons.h"
#include "tests/service/link_relay.h"
#include "tests/support/small_disk.h"

namespace tinyot::test {
namespace {

TEST_F(DaemonTest, RefillsBelowLowWatermark) {
  start();
  for (int i = 0; i < 8; ++i) {
    const std::string id = "aes-" + std::to_string(i);
    ASSERT_TRUE(a_->client()
                    .submit({id,
                             "aes128",
                             "",
                             {{"key_a", std::string(32, '0')}, {"message", std::string(32, '0')}}})
                    .ok());
    ASSERT_TRUE(b_->client().submit({id, "aes128", "", {{"key_b", std::string(32, '0')}}}).ok());
    ASSERT_EQ(b_->client().result(id).job.state(), v1::DONE);
  }
  EXPECT_TRUE(is_stocked(40000));
  EXPECT_TRUE(becomes_true(
      [&] { return std::stoi(a_->metric("tinyot_refills_total{outcome=\"done\"")) >= 2; }));
  EXPECT_EQ(a_->client().stock().sessions_size(), 1);
  EXPECT_LE(a_->client().ands_left(), 60000u);
}

// A job that takes more than is left, though not below the low watermark, waits for a refill.
TEST_F(DaemonTest, LargeJobWaitsForRefill) {
  start();
  const std::string most = "random:width=1000,depth=55";
  for (const std::string id : {"large-1", "large-2"}) {
    ASSERT_TRUE(a_->client().submit({id, most, "", {{"a", "0"}}}).ok());
    ASSERT_TRUE(b_->client().submit({id, most, "", {{"b", "0"}}}).ok());
  }
  for (const std::string id : {"large-1", "large-2"})
    EXPECT_EQ(a_->client().result(id, false).job.state(), v1::DONE)
        << a_->client().status(id).error().message();
}

TEST_F(DaemonTest, JobsWaitForPeerThatStartsLater) {
  make({});
  a_->start();
  EXPECT_FALSE(a_->client().peer().is_connected());
  ASSERT_TRUE(a_->client().submit(millionaires_a("early", 7)).ok());
  b_->start();
  ASSERT_TRUE(b_->client().submit(millionaires_b("early", 8)).ok());
  EXPECT_EQ(a_->client().result("early").job.state(), v1::DONE);
}

TEST_F(DaemonTest, SurvivesKillsOfEitherParty) {
  start();
  evaluate("before");
  for (Daemon* const killed : {a_.get(), b_.get()}) {
    Daemon* const other = killed == a_.get() ? b_.get() : a_.get();
    killed->kill();
    EXPECT_TRUE(becomes_true([&] { return !other->client().peer().is_connected(); }));
    killed->start();
    ASSERT_TRUE(is_stocked());
    evaluate(killed == a_.get() ? "after-a" : "after-b");
  }
  // The session has gone on.
  EXPECT_EQ(a_->client().stock().sessions_size(), 1);
}

TEST_F(DaemonTest, KilledDuringRefillContinues) {
  Setup setup;
  setup.low = "low { ands: 400000 }";
  setup.high = "high { ands: 500000 }";
  make(setup);
  a_->start();
  b_->start();
  ASSERT_TRUE(becomes_true([&] {
    return a_->client().ands_left() > 0 || b_->client().ands_left() > 0 ||
           (a_->client().stock().sessions_size() > 0 &&
            a_->client().stock().sessions(0).is_refilling());
  }));
  b_->kill();
  b_->start();
  EXPECT_TRUE(is_stocked(400000));
  evaluate("after");
}

TEST_F(DaemonTest, StopsGracefully) {
  Setup setup;
  setup.low = "low { ands: 100000 }";
  setup.high = "high { ands: 150000 }";
  start(setup);
  const std::string slow = "random:width=2,depth=20000";
  ASSERT_TRUE(a_->client().submit({"runs", slow, "", {{"a", "1"}}}).ok());
  ASSERT_TRUE(b_->client().submit({"runs", slow, "", {{"b", "1"}}}).ok());
  ASSERT_TRUE(b_->client().submit(millionaires_b("waits", 1)).ok());
  ASSERT_TRUE(becomes_true([&] { return b_->client().status("runs").state() == v1::RUNNING; }));
  Client::Result waits, runs;
  const Client waiting(b_->socket().string()), running(b_->socket().string());
  std::thread waiter([&] { waits = waiting.result("waits"); });
  std::thread runner([&] { runs = running.result("runs"); });
  const Ended ended = b_->stop();
  waiter.join();
  runner.join();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(runs.job.state(), v1::DONE) << runs.job.error().message();
  EXPECT_EQ(waits.job.state(), v1::FAILED);
  EXPECT_NE(waits.job.error().message().find("stopping"), std::string::npos);
  EXPECT_EQ(a_->client().result("runs").job.state(), v1::DONE);
  b_->start();
  ASSERT_TRUE(is_stocked());
  evaluate("after");
}

TEST_F(DaemonTest, RetiredSessionIsReplaced) {
  start();
  evaluate("before");
  const std::string first = a_->client().stock().sessions(0).session();
  ASSERT_TRUE(b_->client().retire("alice").ok());
  ASSERT_TRUE(becomes_true([&] {
    const v1::StockReply stock = a_->client().stock();
    return stock.sessions_size() == 1 && stock.sessions(0).session() != first &&
           stock.sessions(0).ands_left() > 0;
  }));
  ASSERT_TRUE(is_stocked());
  evaluate("after");
  EXPECT_EQ(b_->client().stock().sessions_size(), 1);
  EXPECT_EQ(b_->metric("tinyot_sessions_ended_total{peer=\"alice\",reason=\"retired\""), "1");
}

// A refill that one party cannot store is not begun: no session, and none of one's sigma.
TEST_F(DaemonTest, FullDiskSpendsNothing) {
  make(Setup());
  const SmallDisk disk(b_->stores(), 1 << 20);
  if (!disk.is_mounted()) GTEST_SKIP() << "cannot mount a small disk";
  a_->start();
  b_->start();
  ASSERT_TRUE(becomes_true([&] {
    const auto reason_at = [](const Daemon& daemon) {
      return daemon.client().peer().refills_stopped();
    };
    return reason_at(*b_).find("disk full") != std::string::npos &&
           reason_at(*a_).find("the peer declines: disk full") != std::string::npos;
  }));
  // The peer is told no path.
  const std::string told = a_->client().peer().refills_stopped();
  EXPECT_EQ(told.find(b_->stores().string()), std::string::npos) << told;
  EXPECT_NE(told.find("its directory"), std::string::npos) << told;
  EXPECT_EQ(a_->metric("tinyot_refills_total{outcome=\"failed\""), "0");
  for (const Daemon* const daemon : {a_.get(), b_.get()})
    EXPECT_EQ(daemon->client().stock().sessions_size(), 0);
  ASSERT_TRUE(disk.resize(64 << 20));
  ASSERT_TRUE(is_stocked());
  // Once the refill has ended: its unit is outstanding until then.
  for (const Daemon* const daemon : {a_.get(), b_.get()})
    EXPECT_TRUE(becomes_true([&] {
      const v1::StockReply stock = daemon->client().stock();
      return stock.sessions_size() == 1 && stock.sessions(0).budget_spent() == 0;
    }));
  evaluate("after");
}

// The peer of a party that cannot record what a job takes does not see that on the connection.
TEST_F(DaemonTest, PeerIsToldThatAJobHasFailed) {
  start();
  for (int worker = 0; worker < 4; ++worker)  // in the place of the files
    std::filesystem::create_directory(b_->ledgers() / ("alice-" + std::to_string(worker)));
  ASSERT_TRUE(a_->client().submit(millionaires_a("job", 2)).ok());
  ASSERT_TRUE(b_->client().submit(millionaires_b("job", 1)).ok());
  const v1::Job of_a = a_->client().result("job").job, of_b = b_->client().result("job").job;
  EXPECT_EQ(of_b.state(), v1::FAILED);
  EXPECT_EQ(of_b.error().error_class(), v1::STORE) << of_b.error().message();
  EXPECT_EQ(of_a.state(), v1::FAILED);
  EXPECT_EQ(of_a.error().message(),
            "the peer refuses the job: it has failed at the other party, whose log has the reason");
}

// Whether the first unit of a refill has begun: its risk is outstanding until it ends.
bool is_in_unit(const v1::StockReply& stock) {
  return stock.sessions_size() == 1 && stock.sessions(0).is_refilling() &&
         stock.sessions(0).budget_spent() > 0;
}

// A refill of a minute breaks off, at once or, as the retirement is durable before it is confirmed,
// by a kill; then the session ends.
TEST_F(DaemonTest, RetirementEndsSessionDuringRefill) {
  Setup setup;
  setup.low = "low { ands: 200000 }";
  setup.high = "high { ands: 200000 }";
  setup.daemon_a = setup.daemon_b = "refill_bytes_per_s: 300000";
  make(setup);
  a_->start();
  b_->start();
  for (const bool is_killed : {false, true}) {
    std::string session;
    ASSERT_TRUE(becomes_true([&] {
      const v1::StockReply stock = a_->client().stock();
      if (!is_in_unit(stock)) return false;
      session = stock.sessions(0).session();
      return true;
    }));
    ASSERT_TRUE(a_->client().retire("bob").ok());
    if (is_killed) {
      a_->kill();
      a_->start();
    }
    EXPECT_TRUE(becomes_true([&] {
      const v1::StockReply stock = a_->client().stock();
      return std::ranges::none_of(stock.sessions(), [&](const v1::SessionStock& other) {
        return other.session() == session;
      });
    }));
    if (is_killed) continue;
    for (const char* const bytes : {"tinyot_sent_bytes_total{", "tinyot_received_bytes_total{"})
      EXPECT_GT(std::stod(a_->metric(bytes + std::string("peer=\"bob\",phase=\"refill\""))), 1000);
    EXPECT_EQ(a_->metric("tinyot_refills_total{outcome=\"cancelled\""), "1");
    EXPECT_EQ(a_->metric("tinyot_refills_total{outcome=\"failed\""), "0");
  }
  EXPECT_FALSE(std::filesystem::exists(a_->stores() / "bob" / "000001"));
}

TEST_F(DaemonTest, StopBreaksOffRefillThatTakesLong) {
  Setup setup;
  setup.low = "low { ands: 400000 }";
  setup.high = "high { ands: 400000 }";
  setup.daemon_a = setup.daemon_b = "refill_bytes_per_s: 100000";
  make(setup);
  a_->start();
  // In this process, with a shorter time for the unit.
  std::jthread b([&](const std::stop_token& stop) {
    EXPECT_NO_THROW(service::serve(
        b_->configuration(), "test", stop, [] { return false; }, std::chrono::milliseconds(500)));
  });
  {
    const Client client(b_->socket().string());
    ASSERT_TRUE(becomes_true([&] { return is_in_unit(client.stock()); }));
  }
  ASSERT_TRUE(a_->client().submit(millionaires_a("kept", 20)).ok());
  b.request_stop();
  // The peer knows at once, and keeps its job for the daemon's return.
  EXPECT_TRUE(
      becomes_true([&] { return !a_->client().peer().is_connected(); }, std::chrono::seconds(20)));
  b.join();
  EXPECT_EQ(a_->client().status("kept").state(), v1::WAITING_FOR_PEER);
}

// A session whose budget is spent is used up, and further material is that of a new one.
TEST_F(DaemonTest, SpentBudgetBeginsNewSession) {
  start();
  const std::string first = a_->client().stock().sessions(0).session();
  a_->stop();
  {
    storage::Store store =
        storage::Store::open(a_->stores() / "bob" / "000001", {.purpose = storage::Purpose::Make});
    const auto params = offline::SecurityParameters::make({.profile = Profile::Fast});
    store.begin_unit({0, params.plan(1 << 10).front(), params.risk_limit()});
  }
  a_->start();
  ASSERT_TRUE(is_stocked());
  EXPECT_GE(a_->client().stock().sessions(0).budget_spent(), 1);
  const double risk = std::stod(a_->metric("tinyot_sessions_risk{peer=\"bob\"}"));
  EXPECT_GT(risk, 0);
  EXPECT_EQ(a_->client().peer().sessions_risk(), risk);
  evaluate("in-the-first");
  const std::string most = "random:width=1000,depth=45";
  for (const std::string id : {"large-1", "large-2"}) {
    ASSERT_TRUE(a_->client().submit({id, most, "", {{"a", "0"}}}).ok());
    ASSERT_TRUE(b_->client().submit({id, most, "", {{"b", "0"}}}).ok());
    ASSERT_EQ(a_->client().result(id, false).job.state(), v1::DONE)
        << a_->client().status(id).error().message();
  }
  EXPECT_EQ(a_->client().status("large-1").session(), first);
  EXPECT_NE(a_->client().status("large-2").session(), first);
  // The first session ends at both.
  for (const Daemon* daemon : {a_.get(), b_.get()})
    EXPECT_TRUE(becomes_true([&] {
      const v1::StockReply stock = daemon->client().stock();
      return stock.sessions_size() == 1 && stock.sessions(0).session() != first;
    }));
  EXPECT_EQ(a_->metric("tinyot_sessions_ended_total{peer=\"bob\",reason=\"replaced\""), "1");
}

// Of a link of ten megabytes a second, a refill takes what it is allowed to.
TEST_F(DaemonTest, RefillKeepsToItsRate) {
  Setup setup;
  setup.low = "low { ands: 100000 }";
  setup.high = "high { ands: 100000 }";
  setup.daemon_a = setup.daemon_b = "refill_bytes_per_s: 10000000";
  const auto begin = std::chrono::steady_clock::now();
  start(setup);
  ASSERT_TRUE(becomes_true([&] { return a_->client().ands_left() == 100000; }));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double sent =
      std::stod(a_->metric("tinyot_sent_bytes_total{peer=\"bob\",phase=\"refill\""));
  EXPECT_LT(sent / seconds, 12e6) << sent << " bytes in " << seconds << " s";
}

// Parties whose configurations differ: each names the field to its clients.
class DisagreementTest : public DaemonTest {
 protected:
  void expect_reported(const Setup& setup, const std::string& field) {
    make(setup);
    for (Daemon* daemon : {a_.get(), b_.get()}) daemon->start();
    const std::string part = "disagree on " + field;
    for (const Daemon* daemon : {a_.get(), b_.get()})
      EXPECT_TRUE(becomes_true(
          [&] { return daemon->client().peer().last_error().find(part) != std::string::npos; },
          std::chrono::seconds(60)))
          << part << ": " << daemon->client().peer().last_error();
    a_.reset();
    b_.reset();
  }
};

TEST_F(DisagreementTest, DifferentConfigurationsAreReported) {
  Setup setup;
  setup.peer_b = "sigma: 64";
  expect_reported(setup, "sigma");
}

// Of both levels, the ANDs and the inputs count: the parties would never agree on a refill.
TEST_F(DisagreementTest, DifferentLevelsOfInputsAreReported) {
  const auto levels = [](const std::string& low, const std::string& high) {
    return "low { ands: 20000 inputs: " + low + " } high { ands: 60000 inputs: " + high + " }";
  };
  Setup setup;
  setup.low = setup.high = {};
  setup.peer_a = levels("1000", "3000");
  setup.peer_b = levels("1001", "3000");
  expect_reported(setup, "low");
  setup.peer_b = levels("1000", "3001");
  expect_reported(setup, "high");
}

// Otherwise the leading party would name a worker that there is not.
TEST_F(DisagreementTest, DifferentNumbersOfEvaluationsAreReported) {
  Setup setup;
  setup.peer_b = "evaluations: 3";
  expect_reported(setup, "evaluations");
}

TEST_F(DaemonTest, UnknownKeyIsRejected) {
  const auto make_key = [&](const std::string& name) {
    Process(TINYOT_BINARY, {"keygen", "--out", (dir_ / name).string(), "--quiet"}).end();
    return (dir_ / name).string();
  };
  const std::string a = make_key("a.key"), b = make_key("b.key"), other = make_key("other.key");
  Setup setup;
  setup.peer_a = "key: '" + a + "' peer_key: '@" + b + ".crt'";
  setup.peer_b = "key: '" + other + "' peer_key: '@" + a + ".crt'";
  make(setup);
  a_->start();
  b_->start();
  EXPECT_TRUE(becomes_true([&] { return !b_->client().peer().last_error().empty(); }));
  EXPECT_FALSE(a_->client().peer().is_connected());
  b_->stop();
  setup.peer_b = "key: '" + b + "' peer_key: '@" + a + ".crt'";
  a_->stop();
  start(setup);
  evaluate("with-keys");
}

TEST_F(DaemonTest, ConnectsAgainAfterCut) {
  LinkRelay relay(port_);
  Setup setup;
  setup.port_b = relay.port();
  start(setup);
  evaluate("before");
  relay.cut();
  ASSERT_TRUE(is_stocked());
  EXPECT_TRUE(becomes_true([&] { return b_->client().peer().is_connected(); }));
  evaluate("after");
}

// Bytes of an evaluation are changed on the way, as a cheating peer would send them: the session is
// revoked at both, a new one begins, and the daemon's other jobs go on.
TEST_F(DaemonTest, CheatingCostsTheSession) {
  LinkRelay relay(port_);
  Setup setup;
  setup.port_b = relay.port();
  start(setup);
  evaluate("before");
  const std::string first = a_->client().stock().sessions(0).session();
  relay.change_evaluations();
  ASSERT_TRUE(a_->client().submit(millionaires_a("cheated", 1)).ok());
  ASSERT_TRUE(b_->client().submit(millionaires_b("cheated", 1)).ok());
  std::vector<v1::ErrorClass> classes;
  for (const Daemon* daemon : {a_.get(), b_.get()}) {
    const Client::Result result = daemon->client().result("cheated");
    EXPECT_EQ(result.job.state(), v1::FAILED);
    EXPECT_TRUE(result.outputs.empty());
    classes.push_back(result.job.error().error_class());
  }
  EXPECT_NE(std::ranges::find(classes, v1::PEER_CHEATED), classes.end());
  relay.pass_on();
  ASSERT_TRUE(becomes_true([&] {
    for (const Daemon* daemon : {a_.get(), b_.get()}) {
      const v1::StockReply stock = daemon->client().stock();
      if (stock.sessions_size() != 1 || stock.sessions(0).session() == first) return false;
    }
    return true;
  }));
  ASSERT_TRUE(is_stocked());
  evaluate("after");
  EXPECT_GE(a_->client().peer().sessions_revoked() + b_->client().peer().sessions_revoked(), 1u);
}

// Of two peers one cheats: the session with the other one and its jobs go on.
TEST_F(DaemonTest, CheatingPeerDoesNotConcernOthers) {
  LinkRelay relay(port_);
  const std::string port = reserved_port(),
                    levels = " POLICY profile: 'fast' low { ands: 20000 } high { ands: 60000 } ";
  Setup setup;
  setup.port_b = relay.port();
  setup.other_peers_a =
      "peer { name: 'carol' party: A listen: '127.0.0.1:" + port + "'" + levels + "}";
  Daemon c(dir_ / "c", "",
           "peer { name: 'alice' party: B connect: '127.0.0.1:" + port + "'" + levels + "}",
           kPolicy);
  c.start();
  start(setup);
  ASSERT_TRUE(becomes_true([&] { return c.client().ands_left() > 0; }));
  const std::string session = c.client().stock().sessions(0).session();
  const auto with = [](Client::NewJob job, const std::string& peer) {
    job.peer = peer;
    return job;
  };
  // A connection of each, then jobs of both peers side by side.
  for (const std::string id : {"first", "second"}) {
    ASSERT_TRUE(a_->client().submit(with(millionaires_a("bob-" + id, 2), "bob")).ok());
    ASSERT_TRUE(b_->client().submit(millionaires_b("bob-" + id, 1)).ok());
    ASSERT_TRUE(a_->client().submit(with(millionaires_a("carol-" + id, 2), "carol")).ok());
    ASSERT_TRUE(c.client().submit(millionaires_b("carol-" + id, 1)).ok());
    EXPECT_EQ(a_->client().result("carol-" + id).job.state(), v1::DONE);
    EXPECT_EQ(c.client().result("carol-" + id).outputs.at("a_has_more"), std::string(1, 1));
    EXPECT_EQ(a_->client().result("bob-" + id).job.state(), id == "first" ? v1::DONE : v1::FAILED);
    relay.change_evaluations();
  }
  relay.pass_on();
  EXPECT_EQ(c.client().stock().sessions(0).session(), session);
  EXPECT_EQ(a_->client().peer(1).sessions_revoked(), 0u);
  EXPECT_EQ(a_->metric("tinyot_cheating_detected_total{peer=\"carol\""), "0");
  EXPECT_TRUE(is_stocked());
}

TEST_F(DaemonTest, OtherBytesOnThePortHarmNothing) {
  start();
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(24, '\0'),
                                   std::string(1000, '\xff'), std::string("tinyotd1"),
                                   std::string("tinyotd1") + std::string(7, '\0') + "\x80" +
                                       std::string(8, '\0') + std::string(100, 'x')}) {
    const Socket socket = connect_to(port_);
    ASSERT_TRUE(socket.send_all(bytes));
  }
  evaluate("after");
  ASSERT_TRUE(is_stocked());
}

}  // namespace
}  // namespace tinyot::test
