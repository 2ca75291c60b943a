// Runs that two daemons prepare before their inputs are known: jobs take them, each is used once,
// and a peer that ends connections or claims what is not so causes neither a wait nor endless work.
#include <algorithm>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "crypto/ml_kem.h"
#include "service/prepared_stock.h"
#include "storage/store.h"
#include "tests/reliability/ledger.h"
#include "tests/service/link_relay.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

constexpr const char* kKeyA = "000102030405060708090a0b0c0d0e0f";
constexpr const char* kMessage = "00112233445566778899aabbccddeeff";
constexpr const char* kZero = "00000000000000000000000000000000";
const std::string kCiphertext("\x69\xc4\xe0\xd8\x6a\x7b\x04\x30\xd8\xcd\xb7\x80\x70\xb4\xc5\x5a",
                              16);

std::string aes(std::size_t count) {
  return "prepared { circuit: 'aes128' count: " + std::to_string(count) + " }";
}

// Prepared runs of the first circuit.
v1::PreparedRuns prepared(const Daemon& daemon) {
  const v1::PeerState peer = daemon.client().peer();
  return peer.prepared_size() > 0 ? peer.prepared(0) : v1::PreparedRuns();
}

std::string outcome(const Daemon& daemon, const std::string& outcome,
                    const std::string& circuit = "aes128") {
  // Prometheus sorts labels by name.
  const std::string peer = daemon.configuration().parent_path().filename() == "a" ? "bob" : "alice";
  return daemon.metric("tinyot_prepared_runs_total{circuit=\"" + circuit +
                       "\",lanes=\"1\",outcome=\"" + outcome + "\",peer=\"" + peer + "\"}");
}

class PreparedRunsTest : public DaemonTest {
 protected:
  static Setup setup_with(const std::string& both) {
    Setup setup;
    setup.material = AndMaterial::Garbling;
    setup.peer_a = setup.peer_b = both;
    return setup;
  }
  ::testing::AssertionResult are_in_stock(std::size_t count) const {
    return becomes_true(
        [&] { return prepared(*a_).in_stock() == count && prepared(*b_).in_stock() == count; });
  }
  void submit_aes(const std::string& id) {
    ASSERT_TRUE(
        a_->client().submit({id, "aes128", "", {{"key_a", kKeyA}, {"message", kMessage}}}).ok());
    ASSERT_TRUE(b_->client().submit({id, "aes128", "", {{"key_b", kZero}}}).ok());
  }
  v1::Job expect_aes(const std::string& id) {
    EXPECT_EQ(a_->client().result(id).job.state(), v1::DONE);
    const Client::Result result = b_->client().result(id);
    EXPECT_EQ(result.job.state(), v1::DONE) << result.job.error().message();
    EXPECT_EQ(result.outputs.size(), 1u);
    for (const auto& [name, bits] : result.outputs) EXPECT_EQ(bits, kCiphertext) << name;
    return result.job;
  }
  // The daemons do not connect, and both say what differs.
  void expect_disagreement(const Setup& setup, const std::vector<std::string>& parts) {
    make(setup);
    a_->start();
    b_->start();
    for (const Daemon* daemon : {a_.get(), b_.get()})
      EXPECT_TRUE(becomes_true([&] {
        const std::string error = daemon->client().peer().last_error();
        return std::ranges::all_of(
            parts, [&](const std::string& part) { return error.find(part) != std::string::npos; });
      }));
  }
  std::uint64_t reused() const {
    Ledger ledger;
    for (const Daemon* daemon : {a_.get(), b_.get()})
      for (const auto& file : std::filesystem::directory_iterator(daemon->ledgers()))
        ledger.read(file.path());
    EXPECT_GT(ledger.served('A'), 0u);
    return ledger.reused();
  }
};

TEST_F(PreparedRunsTest, JobTakesOneAndItIsMadeAgain) {
  start(setup_with(aes(2)));
  ASSERT_TRUE(are_in_stock(2));
  submit_aes("first");
  const v1::Job job = expect_aes("first");
  EXPECT_EQ(job.online(), "garbled");
  EXPECT_TRUE(job.was_prepared());
  EXPECT_EQ(job.half_round_trips_a(), 2u);
  EXPECT_EQ(job.half_round_trips_b(), 3u);
  ASSERT_TRUE(are_in_stock(2));
  for (const Daemon* daemon : {a_.get(), b_.get()}) {
    EXPECT_EQ(outcome(*daemon, "made"), "3");
    EXPECT_EQ(outcome(*daemon, "used"), "1");
    EXPECT_EQ(outcome(*daemon, "wasted"), "0");
    EXPECT_EQ(prepared(*daemon).kept(), 2u);
    EXPECT_EQ(prepared(*daemon).reason(), "");
  }
  EXPECT_EQ(b_->metric("tinyot_online_evaluations_total{online=\"garbled\""), "1");
  EXPECT_EQ(b_->metric("tinyot_online_half_round_trips_total{online=\"garbled\""), "3");
  EXPECT_EQ(reused(), 0u);
}

// On triples, and on material for garbling if the configuration says so.
TEST_F(PreparedRunsTest, JobTakesAMaskedRun) {
  Setup setup = setup_with(aes(1));
  setup.material = AndMaterial::Triples;
  start(setup);
  ASSERT_TRUE(are_in_stock(1));
  submit_aes("first");
  const v1::Job job = expect_aes("first");
  EXPECT_EQ(job.online(), "masked");
  EXPECT_TRUE(job.was_prepared());
  EXPECT_EQ(job.half_round_trips_a(), 63u);
  ASSERT_TRUE(are_in_stock(1));
  EXPECT_EQ(outcome(*a_, "made"), "2");
  EXPECT_EQ(outcome(*b_, "used"), "1");
  EXPECT_EQ(reused(), 0u);
  // The material of a prepared run that is lost is counted.
  a_->kill();
  EXPECT_TRUE(becomes_true(
      [&] { return b_->metric("tinyot_prepared_wasted_ands_total{peer=\"alice\"}") == "6400"; }));
}

TEST_F(PreparedRunsTest, ConfigurationNamesTheirPhase) {
  start(setup_with(aes(1) + " online: 'masked'"));
  ASSERT_TRUE(are_in_stock(1));
  submit_aes("first");
  const v1::Job job = expect_aes("first");
  EXPECT_EQ(job.online(), "masked");
  EXPECT_TRUE(job.was_prepared());
}

// More jobs at once than there are prepared runs or workers.
TEST_F(PreparedRunsTest, NoneIsUsedTwice) {
  Setup setup = setup_with(aes(3));
  setup.high = "high { ands: 200000 }";
  start(setup);
  ASSERT_TRUE(are_in_stock(3));
  constexpr int kJobs = 12;
  for (int i = 0; i < kJobs; ++i) submit_aes("job-" + std::to_string(i));
  std::uint64_t were_prepared = 0;
  for (int i = 0; i < kJobs; ++i)
    were_prepared += expect_aes("job-" + std::to_string(i)).was_prepared();
  EXPECT_GE(were_prepared, 3u);
  ASSERT_TRUE(are_in_stock(3));
  for (const Daemon* daemon : {a_.get(), b_.get()}) {
    EXPECT_EQ(outcome(*daemon, "used"), std::to_string(were_prepared));
    EXPECT_EQ(outcome(*daemon, "made"), std::to_string(were_prepared + 3));
  }
  EXPECT_EQ(reused(), 0u);
}

TEST_F(PreparedRunsTest, JobThatNamesThePhaseIsEvaluatedInIt) {
  start(setup_with(aes(1)));
  ASSERT_TRUE(are_in_stock(1));
  const auto submit = [&](const std::string& id, const std::string& at_a, const std::string& at_b) {
    for (const Daemon* daemon : {a_.get(), b_.get()}) {
      v1::SubmitRequest request;
      request.mutable_job()->set_id(id);
      request.mutable_job()->set_circuit("aes128");
      request.mutable_job()->set_online(daemon == a_.get() ? at_a : at_b);
      const auto give = [&](const std::string& name, const std::string& value) {
        v1::Input& input = *request.add_inputs();
        input.set_name(name);
        input.add_numbers(value);
      };
      if (daemon == b_.get()) {
        give("key_b", kZero);
      } else {
        give("key_a", kKeyA);
        give("message", kMessage);
      }
      ASSERT_TRUE(daemon->client().submit({request}).ok());
    }
  };
  submit("interactive", "interactive", "interactive");
  const v1::Job job = expect_aes("interactive");
  EXPECT_EQ(job.online(), "interactive");
  EXPECT_FALSE(job.was_prepared());
  EXPECT_GT(job.half_round_trips_b(), 10u);
  submit("garbled", "garbled", "garbled");
  EXPECT_EQ(expect_aes("garbled").online(), "garbled");
  submit("differ", "garbled", "interactive");
  const v1::Job failed = a_->client().result("differ").job;
  EXPECT_EQ(failed.error().error_class(), v1::DISAGREEMENT);
  EXPECT_NE(failed.error().message().find("this party has garbled, the peer has interactive"),
            std::string::npos)
      << failed.error().message();
}

// Of each circuit as many as both keep; both say what differs.
TEST_F(PreparedRunsTest, DifferentConfigurationsAreSaid) {
  Setup setup = setup_with("");
  setup.peer_a = aes(3) + " prepared { circuit: 'hamming' count: 1 }";
  setup.peer_b = "prepared { circuit: 'millionaires' count: 1 } " + aes(1);
  start(setup);
  ASSERT_TRUE(becomes_true([&] {
    return prepared(*a_).in_stock() == 1 && b_->client().peer().prepared(1).in_stock() == 1;
  }));
  EXPECT_EQ(prepared(*a_).kept(), 1u);
  EXPECT_EQ(prepared(*a_).configured(), 3u);
  EXPECT_NE(prepared(*a_).reason().find("the peer"), std::string::npos);
  EXPECT_EQ(a_->client().peer().prepared(1).kept(), 0u);
  EXPECT_EQ(a_->metric("tinyot_prepared_runs_kept{circuit=\"aes128\""), "1");
  EXPECT_EQ(a_->metric("tinyot_prepared_runs_configured{circuit=\"aes128\""), "3");
  submit_aes("job");
  EXPECT_TRUE(expect_aes("job").was_prepared());
  const std::string a = a_->stop().err, b = b_->stop().err;
  for (const std::string part :
       {"this party keeps 3, the peer 1", "hamming", "millionaires", "prepared runs differ"})
    EXPECT_NE(a.find(part), std::string::npos) << a;
  EXPECT_NE(b.find("hamming"), std::string::npos) << b;
}

TEST_F(PreparedRunsTest, ParametersOfTheLinkAreCompared) {
  Setup setup = setup_with("");
  setup.peer_b = "online: 'garbled'";
  expect_disagreement(setup, {"online", "auto", "garbled"});
}

TEST_F(PreparedRunsTest, BaseOtsOfRefillsAreCompared) {
  if (!crypto::has_ml_kem()) GTEST_SKIP() << crypto::ml_kem_shortage();
  Setup setup = setup_with("");
  setup.peer_a = "base_ot: 'ml-kem'";
  setup.peer_b = "base_ot: 'ristretto'";
  expect_disagreement(setup, {"base-ot", "ml-kem", "ristretto"});
}

TEST_F(PreparedRunsTest, MemoryAndPolicyOfEitherPartyLimitThem) {
  Setup setup = setup_with(aes(4));
  setup.peer_b += " prepared_bytes_max: 1";
  start(setup);
  evaluate("job");
  EXPECT_TRUE(becomes_true([&] { return !prepared(*a_).reason().empty(); }));
  EXPECT_NE(prepared(*a_).reason().find("prepared_bytes_max"), std::string::npos);
  EXPECT_NE(prepared(*b_).reason().find("prepared_bytes_max"), std::string::npos);
  EXPECT_EQ(outcome(*a_, "made"), "0");
}

TEST_F(PreparedRunsTest, PolicyThatForbidsTheCircuitForbidsThem) {
  Setup setup = setup_with(aes(1));
  setup.policy_b = "allow { circuit: 'millionaires' }";
  start(setup);
  evaluate("job");
  EXPECT_TRUE(becomes_true([&] {
    return prepared(*a_).reason().find("no rule for aes128") != std::string::npos;
  })) << prepared(*a_).reason();
  EXPECT_EQ(outcome(*a_, "made"), "0");
  EXPECT_EQ(outcome(*b_, "made"), "0");
}

TEST_F(PreparedRunsTest, LostWithTheirConnectionsAndMadeAgain) {
  LinkRelay relay(port_);
  Setup setup = setup_with(aes(2));
  setup.port_b = relay.port();
  start(setup);
  ASSERT_TRUE(are_in_stock(2));
  relay.cut();
  for (const Daemon* daemon : {a_.get(), b_.get()})
    EXPECT_TRUE(becomes_true([&] { return outcome(*daemon, "wasted") == "2"; }));
  EXPECT_EQ(a_->metric("tinyot_prepared_wasted_ands_total{peer=\"bob\"}"), "12800");
  ASSERT_TRUE(are_in_stock(2));
  submit_aes("job");
  EXPECT_TRUE(expect_aes("job").was_prepared());
  EXPECT_EQ(reused(), 0u);
}

// The link stands, and no job uses the connection on which they wait: both parties notice its end.
TEST_F(PreparedRunsTest, LostWithAnIdleConnectionAndMadeAgain) {
  LinkRelay relay(port_);
  Setup setup = setup_with(aes(2));
  setup.port_b = relay.port();
  start(setup);
  ASSERT_TRUE(are_in_stock(2));
  relay.cut_evaluations();
  for (const Daemon* daemon : {a_.get(), b_.get()}) {
    EXPECT_TRUE(becomes_true([&] { return outcome(*daemon, "wasted") == "2"; }));
    EXPECT_TRUE(daemon->client().peer().is_connected());
  }
  EXPECT_EQ(a_->metric("tinyot_prepared_wasted_ands_total{peer=\"bob\"}"), "12800");
  EXPECT_EQ(b_->metric("tinyot_prepared_wasted_ands_total{peer=\"alice\"}"), "12800");
  ASSERT_TRUE(are_in_stock(2));
  submit_aes("job");
  EXPECT_TRUE(expect_aes("job").was_prepared());
  EXPECT_EQ(reused(), 0u);
}

// Of a circuit file, whatever each party calls it; not for a job of the same gates with other
// roles.
TEST_F(PreparedRunsTest, CircuitOfAFileIsInStock) {
  const std::string gates = "2 4\n2 1 1\n1 1\n2 1 0 1 2 AND\n1 1 2 3 INV\n";
  const std::string fingerprint =
      text_of(engine::LoadedCircuit::from_text(gates, "file", {}, 1).fingerprint());
  Setup setup = setup_with("");
  setup.policy_a = setup.policy_b = "allow { digest: '" + fingerprint + "' }";
  const TestDirectory files;
  const std::string at_a = files / "a.txt", at_b = files / "b.txt";
  std::ofstream(at_a) << gates;
  std::ofstream(at_b) << "# mine\r\n" << gates;
  setup.peer_a = "prepared { circuit: 'nand' file: '" + at_a + "' count: 2 }";
  setup.peer_b = "prepared { circuit: 'of-b' file: '" + at_b + "' count: 2 }";
  start(setup);
  ASSERT_TRUE(are_in_stock(2));
  EXPECT_EQ(prepared(*a_).circuit(), "nand");
  EXPECT_EQ(prepared(*b_).circuit(), "of-b");
  const auto submit = [&](const Daemon& daemon, const std::string& input, const std::string& text) {
    v1::SubmitRequest part;
    part.mutable_job()->set_id("file");
    part.mutable_job()->set_circuit("another");
    part.mutable_job()->set_is_file(true);
    part.set_circuit_part(text);
    v1::Input& value = *part.add_inputs();
    value.set_name(input);
    value.add_numbers("1");
    const grpc::Status status = daemon.client().submit({part});
    EXPECT_TRUE(status.ok()) << status.error_message();
  };
  submit(*a_, "0", gates);
  submit(*b_, "1", "# another text\n" + gates);
  for (const Daemon* daemon : {a_.get(), b_.get()}) {
    const Client::Result result = daemon->client().result("file");
    EXPECT_EQ(result.job.state(), v1::DONE) << result.job.error().message();
    EXPECT_TRUE(result.job.was_prepared());
    EXPECT_EQ(result.outputs.at("0"), std::string(1, '\0'));
  }
  EXPECT_EQ(outcome(*a_, "used", "nand"), "1");
  EXPECT_EQ(outcome(*b_, "used", "of-b"), "1");
  ASSERT_TRUE(are_in_stock(2));
  EXPECT_EQ(reused(), 0u);
}

// What has been sent to prepare a run is not the job's.
TEST_F(PreparedRunsTest, TrafficOfThePreparationIsItsOwn) {
  start(setup_with(aes(1)));
  ASSERT_TRUE(are_in_stock(1));
  const auto sent = [](const Daemon& daemon, const std::string& phase) {
    const std::string peer =
        daemon.configuration().parent_path().filename() == "a" ? "bob" : "alice";
    return std::stod(
        daemon.metric("tinyot_sent_bytes_total{peer=\"" + peer + "\",phase=\"" + phase + "\"}"));
  };
  // Rows of 6,400 ANDs, with strings of 18 bytes, and their openings.
  constexpr double kRows = 6400 * (32 + 18);
  EXPECT_TRUE(becomes_true([&] { return sent(*b_, "preparation") > kRows; }));
  EXPECT_LT(sent(*b_, "preparation"), 1.1 * kRows);
  EXPECT_GT(sent(*a_, "preparation"), 6400 / 4);
  EXPECT_LT(sent(*a_, "preparation"), 2 * 6400 / 4);
  EXPECT_EQ(sent(*b_, "evaluation"), 0);
  submit_aes("job");
  EXPECT_TRUE(expect_aes("job").was_prepared());
  // Labels of 384 bits.
  EXPECT_TRUE(becomes_true([&] { return sent(*b_, "evaluation") > 16 * 384; }));
  EXPECT_LT(sent(*b_, "evaluation"), 0.1 * kRows);
  EXPECT_LT(sent(*a_, "evaluation"), 2000);
}

TEST_F(PreparedRunsTest, RetirementDropsThem) {
  start(setup_with(aes(2)));
  ASSERT_TRUE(are_in_stock(2));
  const std::string retired = a_->client().stock().sessions(0).session();
  ASSERT_TRUE(b_->client().retire("alice").ok());
  for (const Daemon* daemon : {a_.get(), b_.get()})
    EXPECT_TRUE(becomes_true([&] { return outcome(*daemon, "wasted") == "2"; }));
  ASSERT_TRUE(are_in_stock(2));
  submit_aes("job");
  const v1::Job job = expect_aes("job");
  EXPECT_NE(job.session(), retired);
  EXPECT_EQ(reused(), 0u);
}

// A policy of one party alone has jobs wait; the refusals cost no runs that are made.
TEST_F(PreparedRunsTest, RateOfOneParty) {
  Setup setup = setup_with("prepared { circuit: 'millionaires' count: 3 } evaluations: 1");
  setup.policy_b = "allow { circuit: 'millionaires' rate { jobs: 2 seconds: 4 } }";
  start(setup);
  ASSERT_TRUE(are_in_stock(3));
  for (const char* job : {"first", "second"}) evaluate(job);
  ASSERT_TRUE(are_in_stock(3));
  for (const Daemon* daemon : {a_.get(), b_.get()}) {
    EXPECT_EQ(outcome(*daemon, "used", "millionaires"), "2");
    for (const char* lost : {"wasted", "failed"})
      EXPECT_EQ(outcome(*daemon, lost, "millionaires"), "0") << lost;
  }
}

// A peer that follows and does not keep to the protocol. A leads.
class PreparingFollowerTest : public ScriptedPeerTest {
 protected:
  static constexpr const char* kCircuit = "millionaires";

  void SetUp() override {
    Setup setup;
    setup.material = AndMaterial::Garbling;
    setup.peer_a = "prepared { circuit: 'millionaires' count: 2 } idle_timeout_s: 600";
    start_with_stock(Party::B, setup, {.low = 1000, .high = 200000});
    peer_->send_stock({1});
  }
  void keep(std::uint32_t runs) {
    wire::Message message = peer_->next(wire::Message::kKept);
    message.mutable_kept()->mutable_circuits(0)->set_runs(runs);
    peer_->send(message);
  }
  wire::Prepare asked() { return peer_->next(wire::Message::kPrepare).prepare(); }
  void answer(const wire::Prepare& order, bool begins, const std::string& reason = "") {
    wire::Message message;
    wire::PrepareAnswer& answer = *message.mutable_prepare_answer();
    answer.set_group(order.group());
    answer.set_begins(begins);
    answer.set_reason(reason);
    peer_->send(message);
  }
  wire::Prepare agreed() {
    const wire::Prepare order = asked();
    answer(order, true);
    return order;
  }
  // The daemon's job, without a prepared run.
  void expect_evaluated(const std::string& job, std::uint32_t other_than) {
    peer_->send(submitted(job));
    const wire::Start start = peer_->next(wire::Message::kStart).start();
    EXPECT_EQ(start.prepared(), 0u);
    EXPECT_NE(start.worker(), other_than);
    ScriptedPeer::Worker worker(*peer_, start.group(), start.session());
    EXPECT_TRUE(worker.run(job, kCircuit).is_done);
    EXPECT_EQ(honest().client().result(job).job.state(), v1::DONE);
  }
};

// The daemon's peer forgets it with the link.
TEST_F(PreparingFollowerTest, IsToldOnEachLinkHowManyAreKept) {
  for (int link = 0; link < 3; ++link) {
    if (link > 0) peer_->connect();
    EXPECT_EQ(peer_->next(wire::Message::kKept).kept().circuits(0).runs(), 2u) << link;
  }
}

TEST_F(PreparingFollowerTest, NoJobWaitsForOneThatNeverBegins) {
  keep(2);
  expect_evaluated("job", agreed().worker());
}

TEST_F(PreparingFollowerTest, NoJobWaitsForAnAnswer) {
  keep(2);
  expect_evaluated("job", asked().worker());
}

// Each link begins anew, with all workers.
TEST_F(PreparingFollowerTest, NoWorkerWaitsForAnAnswerOfAnEarlierLink) {
  for (int link = 0; link < 6; ++link) {
    if (link > 0) {
      peer_->connect();
      peer_->send_stock({1});
    }
    keep(2);
    (void)asked();
  }
}

// Of what the daemon has not asked now.
TEST_F(PreparingFollowerTest, AnswerToAnotherOrderIsOfNoEffect) {
  keep(1);
  const wire::Prepare order = asked();
  for (const bool begins : {false, true}) {
    wire::Prepare other = order;
    other.set_group(order.group() + 1);
    answer(other, begins);
  }
  answer(order, true);
  ScriptedPeer::Worker worker(*peer_, order.group(), order.session());
  worker.begin_to_prepare(kCircuit);
  EXPECT_TRUE(worker.end().is_done);
  EXPECT_TRUE(becomes_true([&] { return prepared(honest()).in_stock() == 1; }));
}

// Each one takes the material of both parties.
TEST_F(PreparingFollowerTest, BrokenOnesAreRepeatedAfterPausesOnly) {
  keep(2);
  for (const std::string broken : {"1", "2"}) {
    const wire::Prepare order = agreed();
    ScriptedPeer::Worker worker(*peer_, order.group(), order.session(),
                                [](const Outgoing& message) {
                                  if (message.tag == kMacDigest) throw NetworkError("cut");
                                });
    worker.begin_to_prepare(kCircuit);
    EXPECT_FALSE(worker.end().is_done);
    EXPECT_TRUE(becomes_true([&] { return outcome(honest(), "wasted", kCircuit) == broken; }));
    EXPECT_TRUE(becomes_true([&] {
      const wire::KeptCircuit kept = peer_->next(wire::Message::kKept).kept().circuits(0);
      return kept.runs() == 0 && kept.reason().find("has to wait") != std::string::npos;
    }));
  }
  expect_evaluated("job", 99);
  EXPECT_EQ(outcome(honest(), "made", kCircuit), "0");
}

TEST_F(PreparingFollowerTest, FalseDigestRevokesTheSession) {
  keep(1);
  const wire::Prepare order = agreed();
  FalseDigest lie;
  lie.arm();
  ScriptedPeer::Worker worker(*peer_, order.group(), order.session(), std::ref(lie));
  worker.begin_to_prepare(kCircuit);
  (void)worker.end();
  EXPECT_TRUE(becomes_true([&] { return sessions_ended("revoked") == "1"; }));
  EXPECT_EQ(outcome(honest(), "wasted", kCircuit), "1");
  EXPECT_EQ(honest().metric("tinyot_cheating_detected_total{peer=\"bob\"}"), "1");
}

// The job has failed, and its run is used up.
TEST_F(PreparingFollowerTest, CutInTheSecondStageLosesTheOthersOfTheConnection) {
  keep(1);
  const wire::Prepare order = agreed();
  std::atomic<bool> is_cut = false;
  ScriptedPeer::Worker worker(*peer_, order.group(), order.session(), [&](const Outgoing& message) {
    if (is_cut && message.tag == kMacDigest) throw NetworkError("cut");
  });
  worker.begin_to_prepare(kCircuit);
  EXPECT_TRUE(worker.end().is_done);
  EXPECT_TRUE(becomes_true([&] { return prepared(honest()).in_stock() == 1; }));
  is_cut = true;
  peer_->send(submitted("job"));
  const wire::Start start = peer_->next(wire::Message::kStart).start();
  EXPECT_EQ(start.prepared(), 1u);
  EXPECT_EQ(start.group(), order.group());
  worker.begin_to_finish(1, kCircuit);
  EXPECT_FALSE(worker.end().is_done);
  EXPECT_EQ(honest().client().result("job").job.error().error_class(), v1::NETWORK);
  EXPECT_EQ(outcome(honest(), "used", kCircuit), "1");
  // The next one is of another connection.
  const wire::Prepare next = asked();
  EXPECT_NE(next.group(), order.group());
}

// As after a retirement: a job would be refused in it.
TEST_F(PreparingFollowerTest, SessionThatThePeerNoLongerHasIsDropped) {
  keep(1);
  const wire::Prepare order = agreed();
  ScriptedPeer::Worker worker(*peer_, order.group(), order.session());
  worker.begin_to_prepare(kCircuit);
  EXPECT_TRUE(worker.end().is_done);
  EXPECT_TRUE(becomes_true([&] { return prepared(honest()).in_stock() == 1; }));
  peer_->send_stock({});
  EXPECT_TRUE(becomes_true([&] { return outcome(honest(), "wasted", kCircuit) == "1"; }));
  EXPECT_EQ(prepared(honest()).in_stock(), 0u);
}

TEST_F(PreparingFollowerTest, RefusalCostsNothing) {
  keep(1);
  answer(asked(), false, "it is \n not prepared");
  const wire::Prepare again = asked();
  answer(again, false);
  expect_evaluated("job", 99);
  for (const char* lost : {"failed", "wasted"}) EXPECT_EQ(outcome(honest(), lost, kCircuit), "0");
  EXPECT_NE(honest().stop().err.find("it is ? not prepared"), std::string::npos);
}

TEST_F(PreparingFollowerTest, KeepsNoMoreThanItsConfigurationSays) {
  keep(1'000'000);
  std::vector<std::unique_ptr<ScriptedPeer::Worker>> workers;
  for (int i = 0; i < 2; ++i) {
    const wire::Prepare order = agreed();
    workers.push_back(
        std::make_unique<ScriptedPeer::Worker>(*peer_, order.group(), order.session()));
    workers.back()->begin_to_prepare(kCircuit);
    EXPECT_TRUE(workers.back()->end().is_done);
  }
  EXPECT_TRUE(becomes_true([&] { return prepared(honest()).in_stock() == 2; }));
  EXPECT_EQ(prepared(honest()).kept(), 2u);
  peer_->send(submitted("job"));
  const wire::Start start = peer_->next(wire::Message::kStart).start();
  EXPECT_EQ(start.prepared(), 1u);
}

// The follower begins another call than the one that the daemon is in.
TEST_F(PreparingFollowerTest, AnotherCallOnTheConnectionIsADisagreement) {
  keep(1);
  const wire::Prepare order = agreed();
  ScriptedPeer::Worker worker(*peer_, order.group(), order.session());
  EXPECT_FALSE(worker.run("", kCircuit).is_done);
  EXPECT_TRUE(becomes_true([&] { return outcome(honest(), "failed", kCircuit) == "1"; }));
  EXPECT_EQ(sessions_ended("revoked"), "0");
}

TEST_F(PreparingFollowerTest, SendsWhatItMayNot) {
  wire::Message message;
  message.mutable_prepare()->set_group(1);
  peer_->send(message);
  EXPECT_THROW(peer_->next(wire::Message::BODY_NOT_SET), NetworkError);
  EXPECT_FALSE(peer_->has_lost_patience());
}

// A peer that leads and does not keep to the protocol.
class PreparingLeaderTest : public ScriptedPeerTest {
 protected:
  static constexpr const char* kCircuit = "millionaires";

  void SetUp() override {
    start_preparing(
        "prepared { circuit: 'millionaires' count: 2 } prepared { circuit: 'millionaires:bits=65' "
        "count: 1 }");
  }
  void start_preparing(const std::string& prepared) {
    Setup setup;
    setup.material = AndMaterial::Garbling;
    setup.peer_b = prepared + " idle_timeout_s: 600";
    start_with_stock(Party::A, setup, {.low = 1000, .high = 200000});
    peer_->send_stock({1});
  }
  void order(std::uint32_t worker, std::uint64_t group, std::uint32_t circuit = 0,
             std::uint64_t session = 1) {
    wire::Message message;
    wire::Prepare& order = *message.mutable_prepare();
    order.set_worker(worker);
    order.set_group(group);
    order.set_session(session);
    order.set_circuit(circuit);
    peer_->send(message);
  }
  wire::PrepareAnswer answer() {
    return peer_->next(wire::Message::kPrepareAnswer).prepare_answer();
  }
  std::string refusal() {
    const wire::PrepareAnswer refusal = answer();
    EXPECT_FALSE(refusal.begins());
    return refusal.reason();
  }
  void begin_to_prepare(ScriptedPeer::Worker& worker, std::uint64_t group,
                        std::uint32_t number = 0) {
    order(number, group);
    const wire::PrepareAnswer begun = answer();
    EXPECT_TRUE(begun.begins()) << begun.reason();
    worker.begin_to_prepare(kCircuit);
  }
  void prepare(ScriptedPeer::Worker& worker, std::uint64_t group, std::uint32_t number = 0) {
    begin_to_prepare(worker, group, number);
    const ScriptedPeer::Worker::Outcome outcome = worker.end();
    EXPECT_TRUE(outcome.is_done) << outcome.error;
  }
  void start(const std::string& job, std::uint64_t prepared, std::uint64_t group = 1) {
    peer_->send(submitted(job));
    start_again(job, prepared, group);
  }
  void start_again(const std::string& job, std::uint64_t prepared, std::uint64_t group = 1) {
    wire::Message message;
    wire::Start& start = *message.mutable_start();
    start.set_job(job);
    start.set_group(group);
    start.set_session(1);
    start.set_prepared(prepared);
    peer_->send(message);
  }
  void expect_in_stock(std::size_t count) {
    EXPECT_TRUE(becomes_true([&] { return prepared(honest()).in_stock() == count; }));
  }
};

TEST_F(PreparingLeaderTest, OneIsUsedOnce) {
  ScriptedPeer::Worker worker(*peer_, 1, 1);
  for (int i = 0; i < 2; ++i) prepare(worker, 1);
  expect_in_stock(2);
  start("first", 2);
  worker.begin_to_finish(2, kCircuit);
  EXPECT_TRUE(worker.end().is_done);
  EXPECT_EQ(honest().client().result("first").job.state(), v1::DONE);
  // Replayed, for another job, and one that never was.
  for (const std::uint64_t number : {2, 3}) {
    const std::string job = "again-" + std::to_string(number);
    start(job, number);
    EXPECT_NE(peer_->refusal(job).find("no such prepared run"), std::string::npos);
    EXPECT_EQ(state(job), v1::FAILED);
  }
  // Of this connection alone.
  start("other", 1, 2);
  EXPECT_NE(peer_->refusal("other").find("no such prepared run"), std::string::npos);
  start("last", 1);
  worker.begin_to_finish(1, kCircuit);
  EXPECT_TRUE(worker.end().is_done);
  EXPECT_EQ(honest().client().result("last").job.state(), v1::DONE);
  EXPECT_EQ(outcome(honest(), "used", kCircuit), "2");
}

// What the connection itself says has to be what has been named on the link.
TEST_F(PreparingLeaderTest, AnotherNumberOnTheConnectionIsADisagreement) {
  ScriptedPeer::Worker worker(*peer_, 1, 1);
  for (int i = 0; i < 2; ++i) prepare(worker, 1);
  expect_in_stock(2);
  start("job", 1);
  worker.begin_to_finish(2, kCircuit);
  EXPECT_FALSE(worker.end().is_done);
  const v1::Job job = honest().client().result("job").job;
  EXPECT_EQ(job.error().error_class(), v1::DISAGREEMENT) << job.error().message();
  EXPECT_TRUE(becomes_true([&] { return outcome(honest(), "wasted", kCircuit) == "1"; }));
  EXPECT_EQ(sessions_ended("revoked"), "0");
}

TEST_F(PreparingLeaderTest, RunOfAnotherCircuitServesNoJob) {
  ScriptedPeer::Worker worker(*peer_, 1, 1);
  prepare(worker, 1);
  expect_in_stock(1);
  peer_->send(submitted("job", "hamming"));
  start_again("job", 1);
  EXPECT_NE(peer_->refusal("job").find("no run is prepared for this job"), std::string::npos);
}

class TwoCircuitsTest : public PreparingLeaderTest {
 protected:
  void SetUp() override {
    start_preparing(
        "prepared { circuit: 'millionaires' count: 1 } prepared { circuit: 'hamming' count: 1 }");
  }
};

// Both are kept. What the job's client has submitted is evaluated, or nothing.
TEST_F(TwoCircuitsTest, RunOfOneServesNoJobOfTheOther) {
  ScriptedPeer::Worker worker(*peer_, 1, 1);
  prepare(worker, 1);
  expect_in_stock(1);
  peer_->send(submitted("job", "hamming"));
  start_again("job", 1);
  EXPECT_NE(peer_->refusal("job").find("no such prepared run of the job's circuit"),
            std::string::npos);
  EXPECT_EQ(state("job"), v1::FAILED);
}

TEST_F(PreparingLeaderTest, OrdersMoreThanThereMayBe) {
  ScriptedPeer::Worker worker(*peer_, 1, 1);
  for (int i = 0; i < 2; ++i) prepare(worker, 1);
  expect_in_stock(2);
  order(1, 2);
  EXPECT_NE(refusal().find("keeps no more"), std::string::npos);
  // The policy does not allow it.
  order(1, 2, 1);
  EXPECT_NE(refusal().find("no rule for millionaires:bits=65"), std::string::npos);
}

TEST_F(PreparingLeaderTest, OrdersInASessionThatThereIsNot) {
  order(0, 1, 0, 7);
  EXPECT_NE(refusal().find("no such session"), std::string::npos);
}

// Each costs this party material.
TEST_F(PreparingLeaderTest, ThatEndsConnectionsHasToWait) {
  {
    ScriptedPeer::Worker worker(*peer_, 1, 1);
    prepare(worker, 1);
    expect_in_stock(1);
  }
  ScriptedPeer::Worker worker(*peer_, 2, 1);
  begin_to_prepare(worker, 2);  // another connection takes the place of the first
  (void)worker.end();
  EXPECT_TRUE(becomes_true([&] { return outcome(honest(), "wasted", kCircuit) == "1"; }));
  order(1, 3);
  EXPECT_NE(refusal().find("has to wait"), std::string::npos);
}

// Runs that were used make up for as many that were lost: one used run would make the pause short
// again otherwise, whatever is lost with it.
TEST_F(PreparingLeaderTest, OneUsedRunDoesNotPayForAllThatAreLost) {
  // The pauses are 1, 2 and 4 s.
  const auto has_to_wait = [&] {
    return prepared(honest()).reason().find("has to wait") != std::string::npos;
  };
  constexpr int kCycles = 3;
  std::chrono::steady_clock::duration waited{};
  for (std::uint64_t cycle = 1; cycle <= kCycles; ++cycle) {
    ASSERT_TRUE(becomes_true([&] { return !has_to_wait(); }));
    ScriptedPeer::Worker worker(*peer_, cycle, 1);
    for (int i = 0; i < 2; ++i) prepare(worker, cycle);
    const std::string job = "job-" + std::to_string(cycle);
    start(job, 1, cycle);
    worker.begin_to_finish(1, kCircuit);
    EXPECT_TRUE(worker.end().is_done);
    EXPECT_EQ(honest().client().result(job).job.state(), v1::DONE);
    peer_->send_stock({});  // the other one is dropped
    const auto lost = std::chrono::steady_clock::now();
    ASSERT_TRUE(becomes_true([&] { return has_to_wait(); }));
    ASSERT_TRUE(becomes_true([&] { return !has_to_wait(); }));
    waited = std::chrono::steady_clock::now() - lost;
    peer_->send_stock({1});
  }
  EXPECT_EQ(outcome(honest(), "wasted", kCircuit), std::to_string(kCycles));
  EXPECT_GE(waited, std::chrono::seconds(3));
}

// A leader whose store is ahead takes material of the follower that no run gets.
TEST_F(PreparingLeaderTest, SkippedMaterialIsWasted) {
  constexpr std::uint64_t kSkipped = 40'000;
  {
    storage::Store store = storage::Store::open(peer_->store_of(1));
    MaterialCounts counts;
    counts[MaterialKind::FullTriples] = kSkipped;
    (void)store.grant({.counts = counts, .at_least = {}});
  }
  ScriptedPeer::Worker worker(*peer_, 1, 1);
  prepare(worker, 1);
  EXPECT_TRUE(becomes_true([&] { return outcome(honest(), "made", kCircuit) == "1"; }));
  order(0, 1);
  EXPECT_NE(refusal().find("has to wait"), std::string::npos);
  EXPECT_EQ(honest().metric("tinyot_prepared_wasted_ands_total{peer=\"alice\"}"),
            std::to_string(kSkipped));
  expect_in_stock(1);
}

// It would hold the session's store, and its memory, for as long as the peer likes.
TEST_F(PreparingLeaderTest, StalledPreparationEndsWithItsSession) {
  Gate gate;
  ScriptedPeer::Worker worker(*peer_, 1, 1, [&](const Outgoing& message) {
    if (message.tag == kMacDigest) gate.pass(message.ended);
  });
  begin_to_prepare(worker, 1);
  gate.wait_until_reached();
  ASSERT_TRUE(honest().client().retire("alice").ok());
  EXPECT_TRUE(becomes_true([&] { return !has_session(1); }));
  gate.open();
  (void)worker.end();
}

// Runs of a connection that is to be closed are in memory until the job on it has ended.
TEST_F(PreparingLeaderTest, StalledJobMakesNoRoomForMore) {
  Gate gate;
  std::atomic<bool> stalls = false;
  ScriptedPeer::Worker worker(*peer_, 1, 1, [&](const Outgoing& message) {
    if (stalls && message.tag == kMacDigest) gate.pass(message.ended);
  });
  for (int i = 0; i < 2; ++i) prepare(worker, 1);
  stalls = true;
  start("job", 1);
  worker.begin_to_finish(1, kCircuit);
  gate.wait_until_reached();
  peer_->send_stock({});  // the connection ends with the job
  peer_->send_stock({1});
  ScriptedPeer::Worker other(*peer_, 2, 1);
  prepare(other, 2, 1);
  order(2, 3);
  EXPECT_NE(refusal().find("keeps no more"), std::string::npos);
  gate.open();
  (void)worker.end();
}

TEST_F(PreparingLeaderTest, SendsWhatItMayNot) {
  const auto expect_link_ends = [&] {
    EXPECT_THROW(peer_->next(wire::Message::BODY_NOT_SET), NetworkError);
    EXPECT_FALSE(peer_->has_lost_patience());
    peer_->connect();
    EXPECT_TRUE(becomes_true([&] { return honest().client().peer().is_connected(); }));
  };
  order(0, 1, 2);
  expect_link_ends();
  order(99, 1);
  expect_link_ends();
  order(0, 0);
  expect_link_ends();
  wire::Message message;
  message.mutable_prepare_answer()->set_group(1);
  peer_->send(message);
  expect_link_ends();
  for (int i = 0; i <= service::kPreparedCircuitsMax; ++i) message.mutable_kept()->add_circuits();
  peer_->send(message);
  expect_link_ends();
}

}  // namespace
}  // namespace tinyot::test
