// Daemons that are stopped or killed, and started again, while jobs wait, run or have a result.
#include <signal.h>

#include "offline/silent/parameter_sets.h"
#include "storage/store.h"
#include "tests/reliability/ledger.h"
#include "tests/service/daemons.h"
#include "tests/service/link_relay.h"
#include "tests/support/small_disk.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

class RestartTest : public DaemonTest {
 protected:
  // Both with a store key.
  Setup kept() {
    Setup setup;
    for (const char* party : {"a", "b"}) {
      const fs::path key = dir_ / (std::string("key_") + party);
      write_private_file(key, std::string(32, *party));
      (*party == 'a' ? setup.daemon_a : setup.daemon_b) = "store_key: '" + key.string() + "' ";
    }
    return setup;
  }
  fs::path jobs_of_a() const { return a_->stores() / "bob" / "jobs"; }
  static void restart(Daemon& daemon) {
    daemon.kill();
    daemon.start();
  }
  void expect_result(const std::string& id, bool a_has_more, bool forget = true) {
    for (const Daemon* daemon : {a_.get(), b_.get()}) {
      Client::Result result = daemon->client().result(id, forget);
      ASSERT_TRUE(result.status.ok()) << result.status.error_message();
      ASSERT_EQ(result.job.state(), v1::DONE) << result.job.error().message();
      EXPECT_EQ(result.outputs["a_has_more"], std::string(1, a_has_more ? 1 : 0));
    }
  }
  std::uint64_t reused() const {
    Ledger ledger;
    for (const Daemon* daemon : {a_.get(), b_.get()})
      for (const auto& file : fs::directory_iterator(daemon->ledgers())) ledger.read(file.path());
    return ledger.reused();
  }
  static bool has_taken_material(const Daemon& daemon) {
    for (const auto& file : fs::directory_iterator(daemon.ledgers()))
      if (fs::file_size(file.path()) > 0) return true;
    return false;
  }
  // The status of a job that has ended.
  static v1::Job end_of(const Daemon& daemon, const std::string& id) {
    return daemon.client().result(id, false).job;
  }
};

TEST_F(RestartTest, WaitingJobRunsAfterTheDaemonWasKilled) {
  start(kept());
  ASSERT_TRUE(a_->client().submit(millionaires_a("job", 20)).ok());
  restart(*a_);
  EXPECT_EQ(a_->client().status("job").state(), v1::WAITING_FOR_PEER);
  EXPECT_EQ(a_->client().submit(millionaires_a("job", 1)).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
  ASSERT_TRUE(b_->client().submit(millionaires_b("job", 10)).ok());
  expect_result("job", true);
  EXPECT_TRUE(fs::is_empty(jobs_of_a()));
}

TEST_F(RestartTest, JobOfBothRunsAfterBothWereKilled) {
  start(kept());
  ASSERT_TRUE(a_->client().submit(millionaires_a("job", 10)).ok());
  a_->kill();
  ASSERT_TRUE(b_->client().submit(millionaires_b("job", 20)).ok());
  restart(*b_);
  a_->start();
  expect_result("job", false);
}

TEST_F(RestartTest, WaitingJobRunsAfterTheDaemonWasStopped) {
  start(kept());
  ASSERT_TRUE(b_->client().submit(millionaires_b("job", 10)).ok());
  EXPECT_EQ(b_->stop().status, 0);
  b_->start();
  ASSERT_TRUE(a_->client().submit(millionaires_a("job", 20)).ok());
  expect_result("job", true);
}

TEST_F(RestartTest, ResultIsFetchedAfterTheDaemonWasKilled) {
  start(kept());
  ASSERT_TRUE(a_->client().submit(millionaires_a("job", 20)).ok());
  ASSERT_TRUE(b_->client().submit(millionaires_b("job", 10)).ok());
  for (const Daemon* daemon : {a_.get(), b_.get()})
    ASSERT_EQ(end_of(*daemon, "job").state(), v1::DONE);
  v1::Job before = a_->client().status("job");
  restart(*a_);
  restart(*b_);
  v1::Job after = a_->client().status("job");
  EXPECT_NEAR(after.submitted_at_s(), before.submitted_at_s(), 1e-3);
  for (v1::Job* job : {&before, &after}) job->clear_submitted_at_s();
  EXPECT_EQ(after.DebugString(), before.DebugString());
  EXPECT_EQ(a_->client().submit(millionaires_a("job", 1)).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
  expect_result("job", true);
  // It has been forgotten.
  restart(*a_);
  EXPECT_EQ(a_->client().result("job").status.error_code(), grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(is_stocked());
  evaluate("job", 1, 2);
}

// An earlier release has made the session with a set that is retired. Its material serves jobs, and
// the next refill is of a new session.
TEST_F(RestartTest, SessionOfARetiredSetIsNotFilled) {
  start();
  for (const auto& [daemon, peer] : {std::pair{a_.get(), "bob"}, {b_.get(), "alice"}}) {
    EXPECT_EQ(daemon->stop().status, 0);
    storage::Store::open(daemon->stores() / peer / "000001", {.purpose = storage::Purpose::Make})
        .update_manifest([](storage::Manifest& manifest) {
          manifest.own = named_values(Profile::Fast, FastParameters{.abits = BitsFrom::Silent,
                                                                    .silent_set = LpnSet::S13});
        });
  }
  a_->start();
  b_->start();
  ASSERT_TRUE(is_stocked());
  ASSERT_EQ(a_->client().stock().sessions_size(), 1);
  const std::string retired = a_->client().stock().sessions(0).session();
  const std::string most = "random:width=1000,depth=55";
  ASSERT_TRUE(a_->client().submit({"most", most, "", {{"a", "1"}}}).ok());
  ASSERT_TRUE(b_->client().submit({"most", most, "", {{"b", "1"}}}).ok());
  EXPECT_EQ(a_->client().result("most").job.session(), retired);
  ASSERT_TRUE(is_stocked(60000));
  evaluate("next");
  const v1::StockReply stock = a_->client().stock();
  EXPECT_NE(stock.sessions(stock.sessions_size() - 1).session(), retired);
  const std::string log = a_->stop().err;
  EXPECT_NE(log.find("session of a retired parameter set"), std::string::npos) << log;
  EXPECT_NE(log.find("silent-set s13 is retired"), std::string::npos) << log;
  EXPECT_EQ(log.find("refill failed"), std::string::npos) << log;
}

// The connection of the evaluation is held, so that both daemons are in the middle of it.
class BegunJobTest : public RestartTest {
 protected:
  void begin() {
    relay_.emplace(port_);
    Setup setup = kept();
    setup.port_b = relay_->port();
    start(setup);
    relay_->lose_evaluations();
    ASSERT_TRUE(a_->client().submit(millionaires_a("job", 20)).ok());
    ASSERT_TRUE(b_->client().submit(millionaires_b("job", 10)).ok());
    for (const Daemon* daemon : {a_.get(), b_.get()})
      ASSERT_TRUE(becomes_true([&] { return has_taken_material(*daemon); }));
  }
  static void expect_not_repeated(const Daemon& daemon) {
    const v1::Job job = end_of(daemon, "job");
    EXPECT_EQ(job.state(), v1::FAILED);
    EXPECT_EQ(job.error().error_class(), v1::NETWORK);
    EXPECT_NE(job.error().message().find("stopped after the job had begun"), std::string::npos)
        << job.error().message();
  }
  void go_on() {
    relay_->pass_on();
    ASSERT_TRUE(is_stocked());
    evaluate("next");
    EXPECT_EQ(reused(), 0u);
  }

  std::optional<LinkRelay> relay_;
};

TEST_F(BegunJobTest, IsNotRepeatedByTheLeader) {
  begin();
  restart(*a_);
  expect_not_repeated(*a_);
  EXPECT_EQ(end_of(*b_, "job").state(), v1::FAILED);
  EXPECT_EQ(a_->client().submit(millionaires_a("job", 1)).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
  go_on();
}

TEST_F(BegunJobTest, IsNotRepeatedByTheFollower) {
  begin();
  restart(*b_);
  expect_not_repeated(*b_);
  EXPECT_EQ(end_of(*a_, "job").state(), v1::FAILED);
  go_on();
}

TEST_F(BegunJobTest, IsNotRepeatedByBoth) {
  begin();
  ::kill(b_->pid(), SIGSTOP);  // it does not see the end of the connection
  a_->kill();
  restart(*b_);
  a_->start();
  expect_not_repeated(*a_);
  expect_not_repeated(*b_);
  go_on();
  // What the first start has found is so for the next one.
  restart(*a_);
  expect_not_repeated(*a_);
}

TEST_F(RestartTest, JobThatThePolicyNoLongerAllowsFails) {
  start(kept());
  ASSERT_TRUE(a_->client().submit(millionaires_a("job", 20)).ok());
  a_->stop();
  write_file(dir_ / "a" / "policy", "allow { circuit: 'aes128' }");
  a_->start();
  const v1::Job job = end_of(*a_, "job");
  EXPECT_EQ(job.state(), v1::FAILED);
  EXPECT_EQ(job.error().error_class(), v1::DISAGREEMENT);
  EXPECT_NE(job.error().message().find("the policy has no rule for millionaires"),
            std::string::npos);
  // It is not offered.
  ASSERT_TRUE(b_->client().submit(millionaires_b("job", 10)).ok());
  EXPECT_EQ(end_of(*b_, "job").state(), v1::FAILED);
}

TEST_F(RestartTest, DamagedFileLosesItsJobOnly) {
  start(kept());
  ASSERT_TRUE(a_->client().submit(millionaires_a("damaged", 20)).ok());
  ASSERT_TRUE(a_->client().submit(millionaires_a("job", 20)).ok());
  a_->kill();
  const fs::path file = jobs_of_a() / "damaged.job";
  std::string bytes = read_file(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(file, bytes);
  a_->start();
  const v1::Job job = end_of(*a_, "damaged");
  EXPECT_EQ(job.state(), v1::FAILED);
  EXPECT_EQ(job.error().error_class(), v1::STORE);
  EXPECT_NE(job.error().message().find("the job is lost"), std::string::npos);
  ASSERT_TRUE(b_->client().submit(millionaires_b("job", 10)).ok());
  expect_result("job", true);
  const std::string log = a_->stop().err;
  EXPECT_NE(log.find("\"job lost\""), std::string::npos) << log;
  EXPECT_NE(log.find(file.string()), std::string::npos) << log;
}

TEST_F(RestartTest, WithoutAStoreKeyNothingIsWritten) {
  start();
  ASSERT_TRUE(a_->client().submit(millionaires_a("job", 20)).ok());
  EXPECT_FALSE(fs::exists(jobs_of_a()));
  EXPECT_FALSE(fs::exists(a_->stores() / "bob" / "job.keys"));
  const std::string log = a_->stop().err;
  EXPECT_NE(log.find("\"jobs and results are kept in memory alone\""), std::string::npos) << log;
  EXPECT_NE(log.find("the daemon is stopping: submit the job again"), std::string::npos) << log;
  a_->start();
  EXPECT_EQ(a_->client().result("job").status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(RestartTest, AnotherStoreKeyIsRefusedAtStart) {
  make(kept());
  a_->start();
  ASSERT_TRUE(a_->client().submit(millionaires_a("job", 20)).ok());
  a_->stop();
  write_private_file(dir_ / "key_a", std::string(32, 'x'));
  const Ended refused =
      Process(TINYOT_BINARY, {"serve", "--config", a_->configuration().string(), "--check"}).end();
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("the keys of the jobs with bob cannot be used"), std::string::npos)
      << refused.err;
  write_private_file(dir_ / "key_a", std::string(32, 'a'));
  a_->start();
  EXPECT_EQ(a_->client().status("job").state(), v1::WAITING_FOR_PEER);
}

TEST_F(RestartTest, ClientThatWaitsIsToldToAskAgain) {
  start(kept());
  ASSERT_TRUE(a_->client().submit(millionaires_a("job", 20)).ok());
  Client::Result result;
  std::jthread waiting(
      [&, client = Client(a_->socket().string())] { result = client.result("job"); });
  ASSERT_TRUE(becomes_true([&] { return a_->client().peer().jobs_waiting() == 1; }));
  a_->stop();
  waiting.join();
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::UNAVAILABLE)
      << result.status.error_message();
}

// The disk has room for the stores, not for the inputs of a large job.
TEST_F(RestartTest, FullDiskRefusesTheJob) {
  Setup setup = kept();
  setup.policy_a =
      "allow { circuit: 'hamming' parameter { name: 'bits' max: 32 } lanes_max: 1000000 }\n"
      "allow { circuit: 'millionaires' }";
  setup.low = "low { ands: 20000 inputs: 20000 }";
  setup.high = "high { ands: 40000000 inputs: 40000000 }";
  make(setup);
  const SmallDisk disk(a_->stores(), 1 << 20);
  if (!disk.is_mounted()) GTEST_SKIP() << "this process may not mount";
  a_->start();
  v1::SubmitRequest request;
  request.mutable_job()->set_id("large");
  request.mutable_job()->set_circuit("hamming:bits=32");
  request.mutable_job()->set_lanes(400000);
  request.add_inputs()->set_name("a");
  request.mutable_inputs(0)->set_bits(std::string(1600000, 'x'));
  const grpc::Status status = a_->client().submit({request});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
  EXPECT_EQ(status.error_message(),
            "the disk of the daemon is full, so it cannot keep the job: submit it again later");
  EXPECT_TRUE(fs::is_empty(jobs_of_a()));
  EXPECT_EQ(a_->client().result("large").status.error_code(), grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(a_->client().submit(millionaires_a("small", 1)).ok());
  restart(*a_);
  EXPECT_EQ(a_->client().status("small").state(), v1::WAITING_FOR_PEER);
}

// Jobs that could not be recorded wait at both parties, whose operators see why.
TEST_F(RestartTest, JobsWaitWhileADiskIsFull) {
  Setup setup = kept();
  setup.daemon_a += "job_timeout_s: 10 ";
  make(setup);
  const SmallDisk disk(b_->stores(), 64 << 20);
  if (!disk.is_mounted()) GTEST_SKIP() << "this process may not mount";
  a_->start();
  b_->start();
  ASSERT_TRUE(is_stocked(20000));
  ASSERT_TRUE(b_->client().submit(millionaires_b("waits", 1)).ok());
  ASSERT_TRUE(becomes_true([&] { return disk.resize(disk.used_bytes()); }));
  const auto is_held = [](const Daemon& daemon, const std::string& reason) {
    const std::string ready = daemon.get("/readyz");
    return ready.find(" 503 ") != std::string::npos && ready.find(reason) != std::string::npos;
  };
  ASSERT_TRUE(becomes_true([&] {
    return is_held(*a_, "bob: the peer's disk is full") &&
           is_held(*b_, "alice: the disk is full: ");
  }));
  EXPECT_EQ(a_->client().peer().jobs_held(), "the peer's disk is full");
  EXPECT_EQ(b_->client().submit(millionaires_b("refused", 1)).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(b_->metric("tinyot_refusals_total{by=\"this_party\",peer=\"alice\"}"), "1");
  ASSERT_TRUE(a_->client().submit(millionaires_a("refused", 2)).ok());
  const v1::Job late = a_->client().result("refused").job;
  EXPECT_EQ(late.state(), v1::FAILED);
  EXPECT_NE(late.error().message().find("within 10 s; the peer's disk is full"), std::string::npos)
      << late.error().message();
  ASSERT_TRUE(a_->client().submit(millionaires_a("waits", 2)).ok());
  EXPECT_TRUE(becomes_true([&] {
    return a_->client().status("waits").state() == v1::QUEUED &&
           b_->client().status("waits").state() == v1::QUEUED;
  }));
  ASSERT_TRUE(disk.resize(64 << 20));
  expect_result("waits", true);
  const std::string log_a = a_->stop().err, log_b = b_->stop().err;
  EXPECT_NE(log_a.find("\"the peer's disk is full; jobs wait\""), std::string::npos) << log_a;
  for (const char* const line :
       {"\"disk is full; jobs wait\"", "\"disk has room again\"",
        "\"job refused\",\"peer\":\"alice\",\"job\":\"refused\",\"reason\":\"disk full: "})
    EXPECT_NE(log_b.find(line), std::string::npos) << log_b;
}

}  // namespace
}  // namespace tinyot::test
