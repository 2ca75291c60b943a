// Jobs of two daemons: what both submit is evaluated, everything else ends with a stated error.
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <optional>
#include <thread>

#include "engine/loaded_circuit.h"
#include "system/descriptor.h"
#include "tests/service/daemon_loop.h"
#include "tests/service/daemons.h"
#include "tests/service/link_relay.h"
#include "tests/support/certificates.h"

namespace tinyot::test {
namespace {

std::string fingerprint_of(const std::string& circuit_file,
                           const circuit::CircuitFileOptions& options = {}) {
  return text_of(engine::LoadedCircuit::from_text(circuit_file, "file", options, 1).fingerprint());
}

TEST_F(DaemonTest, EvaluatesWhatBothSubmit) {
  start();
  evaluate("job-1", 20, 10);
  evaluate("job-2", 10, 20);
  const Client& a = a_->client();
  ASSERT_TRUE(a.submit({"aes",
                        "aes128",
                        "bob",
                        {{"key_a", "000102030405060708090a0b0c0d0e0f"},
                         {"message", "00112233445566778899aabbccddeeff"}}})
                  .ok());
  ASSERT_TRUE(
      b_->client()
          .submit({"aes", "aes128", "alice", {{"key_b", "00000000000000000000000000000000"}}})
          .ok());
  EXPECT_TRUE(a.result("aes").outputs.empty());
  const Client::Result result = b_->client().result("aes", false);
  ASSERT_EQ(result.outputs.size(), 1u);
  EXPECT_EQ(result.outputs.at("ciphertext"),
            "\x69\xc4\xe0\xd8\x6a\x7b\x04\x30\xd8\xcd\xb7\x80\x70"
            "\xb4\xc5\x5a");
  EXPECT_EQ(result.job.ands(), 6400u);
  EXPECT_FALSE(result.job.session().empty());
  EXPECT_GT(result.job.evaluation_s(), 0);
  EXPECT_EQ(b_->client().status("aes").state(), v1::DONE);
  // A result that is kept can be read again; A's has been forgotten.
  EXPECT_EQ(b_->client().result("aes").outputs, result.outputs);
  EXPECT_EQ(a.result("aes").status.error_code(), grpc::StatusCode::NOT_FOUND);
}

// Whether all threads of a process have stopped.
bool is_stopped(pid_t pid) {
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    const std::string stat = read_file(task.path() / "stat");
    if (stat.substr(stat.rfind(')') + 2, 1) != "T") return false;
  }
  return true;
}

// B is stopped until A has given up its connection for a job. Jobs after it are evaluated on
// connections of their own, and B learns that the first one has been given up.
TEST_F(DaemonTest, JobsAfterAStallAreEvaluated) {
  Setup setup;
  setup.peer_a = setup.peer_b = "evaluations: 1";
  setup.policy_b =
      std::string(kPolicy) + "allow { circuit: 'minimum' parameter { name: 'count' max: 9 } }";
  start(setup);
  ASSERT_TRUE(becomes_true([&] { return a_->get("/readyz").find(" 200 ") != std::string::npos; }));
  ASSERT_TRUE(b_->client().submit(millionaires_b("stalled", 10)).ok());
  // A has the offer: it has answered a later one.
  ASSERT_TRUE(
      b_->client().submit({"refused", "minimum:count=2", "alice", {{"values_b", "1"}}}).ok());
  ASSERT_EQ(b_->client().result("refused").job.state(), v1::FAILED);
  ASSERT_EQ(::kill(b_->pid(), SIGSTOP), 0);
  ASSERT_TRUE(becomes_true([&] { return is_stopped(b_->pid()); }));
  EXPECT_TRUE(a_->client().submit(millionaires_a("stalled", 20)).ok());
  EXPECT_EQ(a_->client().result("stalled").job.state(), v1::FAILED);
  ASSERT_EQ(::kill(b_->pid(), SIGCONT), 0);
  for (const char* id : {"next", "second", "third"}) evaluate(id);
  EXPECT_EQ(b_->client().result("stalled").job.state(), v1::FAILED);
}

TEST_F(DaemonTest, InputsAsBitsInPartsAndLanes) {
  start();
  const auto part = [](const std::string& bits) {
    v1::SubmitRequest request;
    v1::Input& input = *request.add_inputs();
    input.set_name("a");
    input.set_bits(bits);
    return request;
  };
  v1::SubmitRequest first = part(std::string("\x05\0\0\0\x06", 5));
  first.mutable_job()->set_id("lanes");
  first.mutable_job()->set_circuit("millionaires");
  first.mutable_job()->set_lanes(2);
  ASSERT_TRUE(a_->client().submit({first, part(std::string("\0\0\0", 3))}).ok());
  Client::NewJob job = millionaires_b("lanes", 5);
  job.lanes = 2;
  ASSERT_TRUE(b_->client().submit(job).ok());
  EXPECT_EQ(a_->client().result("lanes").outputs.at("a_has_more"), std::string("\0\1", 2));
}

// Under other names and with other comments at the two parties.
TEST_F(DaemonTest, CircuitFileByItsFingerprint) {
  const std::string file = "1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n";
  Setup setup;
  setup.policy_a = setup.policy_b = "allow { digest: '" + fingerprint_of(file) + "' }";
  start(setup);
  const auto request = [&](const std::string& id, const std::string& input, const std::string& text,
                           const std::string& name) {
    v1::SubmitRequest part;
    part.mutable_job()->set_id(id);
    part.mutable_job()->set_circuit(name);
    part.mutable_job()->set_is_file(true);
    part.set_circuit_part(text);
    v1::Input& value = *part.add_inputs();
    value.set_name(input);
    value.add_numbers("1");
    return part;
  };
  ASSERT_TRUE(a_->client().submit({request("file", "0", file, "and")}).ok());
  ASSERT_TRUE(b_->client().submit({request("file", "1", "# mine\r\n" + file, "other")}).ok());
  EXPECT_EQ(a_->client().result("file").outputs.at("0"), std::string("\1", 1));
  // Another file, and other owners than the policy allows.
  std::string other = file;
  other.replace(other.find("AND"), 3, "XOR");
  const grpc::Status status = a_->client().submit({request("other", "0", other, "and")});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_NE(status.error_message().find(fingerprint_of(other)), std::string::npos)
      << status.error_message();
  v1::SubmitRequest roles = request("roles", "1", file, "and");
  (*roles.mutable_job()->mutable_roles()->mutable_owners())[0] = "B";
  (*roles.mutable_job()->mutable_roles()->mutable_owners())[1] = "A";
  EXPECT_EQ(a_->client().submit({roles}).error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

// Its gates would take hours to count.
TEST_F(DaemonTest, HugeCircuitIsNotCounted) {
  const std::string huge = "random:width=4096,depth=1073741824";
  Setup setup;
  setup.policy_a = std::string(kPolicy) +
                   "allow { circuit: 'random' parameter { name: 'width' max: 4096 }\n"
                   "        parameter { name: 'depth' max: 1073741824 } }\n";
  start(setup);
  v1::SubmitRequest first, inputs;
  first.mutable_job()->set_id("huge");
  first.mutable_job()->set_circuit(huge);
  inputs.add_inputs()->set_name("a");
  inputs.mutable_inputs(0)->set_bits(std::string(4096 / 8, '\0'));
  const grpc::Status allowed = a_->client().submit({first, inputs});
  EXPECT_EQ(allowed.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << allowed.error_message();
  EXPECT_NE(allowed.error_message().find("more than 60000 ANDs"), std::string::npos)
      << allowed.error_message();
  if (HasFailure()) a_->kill();  // it may still be counting
  EXPECT_EQ(b_->client().submit({"huge", huge, "", {}}).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

// However many inputs a circuit file has and however long its name is, the daemons' messages about
// it have a bounded length: a longer one would be a violation of the protocol and end the link.
TEST_F(DaemonTest, FileWithManyInputsAndALongNameIsEvaluated) {
  constexpr int kInputs = 6000;
  std::string file = "1 " + std::to_string(kInputs + 1) + "\n" + std::to_string(kInputs);
  for (int i = 0; i < kInputs; ++i) file += " 1";
  file += "\n1 1\n2 1 0 1 " + std::to_string(kInputs) + " AND\n";
  Setup setup;
  setup.policy_a = setup.policy_b = "allow { digest: '" + fingerprint_of(file) + "' }";
  setup.low = "low { ands: 1000 inputs: 8000 }";
  setup.high = "high { ands: 2000 inputs: 8000 }";
  start(setup);
  for (const Daemon* daemon : {a_.get(), b_.get()}) {
    v1::SubmitRequest request;
    request.mutable_job()->set_id("many");
    request.mutable_job()->set_circuit(std::string(1 << 16, 'n'));
    request.mutable_job()->set_is_file(true);
    request.set_circuit_part(file);
    for (int i = 0; i < kInputs; ++i) {
      if ((i == 1) != (daemon == b_.get())) continue;
      v1::Input& value = *request.add_inputs();
      value.set_name(std::to_string(i));
      value.add_numbers("1");
    }
    const grpc::Status status = daemon->client().submit({request});
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  for (const Daemon* daemon : {a_.get(), b_.get()})
    EXPECT_EQ(daemon->client().result("many").outputs.at("0"), std::string("\1", 1));
}

TEST_F(DaemonTest, BadRequestsAreRefusedWithTheirClass) {
  start();
  const Client& a = a_->client();
  const auto refused = [&](const Client::NewJob& job, grpc::StatusCode code,
                           v1::ErrorClass error_class, const std::string& part) {
    const grpc::Status status = a.submit(job);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_EQ(class_of(status), error_class);
    EXPECT_NE(status.error_message().find(part), std::string::npos) << status.error_message();
  };
  using enum grpc::StatusCode;
  refused({"x", "no-such", "", {}}, INVALID_ARGUMENT, v1::USAGE, "no circuit 'no-such'");
  refused({"x", "millionaires", "carol", {{"a", "1"}}}, INVALID_ARGUMENT, v1::USAGE, "no peer");
  refused({"../x", "millionaires", "", {{"a", "1"}}}, INVALID_ARGUMENT, v1::USAGE, "id of a job");
  refused({"x", "millionaires", "", {}}, INVALID_ARGUMENT, v1::USAGE, "input a");
  refused({"x", "millionaires", "", {{"a", "1"}, {"b", "1"}}}, INVALID_ARGUMENT, v1::USAGE,
          "does not belong");
  refused({"x", "millionaires", "", {{"a", "4294967296"}}}, INVALID_ARGUMENT, v1::USAGE, "input a");
  refused({"x", "sort", "", {{"a", "1"}}}, PERMISSION_DENIED, v1::USAGE, "no rule for sort");
  refused({"x", "millionaires:bits=65", "", {{"a", "1"}}}, PERMISSION_DENIED, v1::USAGE, "no rule");
  refused({"x", "millionaires", "", {{"a", "1"}}, 17}, PERMISSION_DENIED, v1::USAGE, "16 lanes");
  refused({"x", "random:width=4096", "", {{"a", "1"}}}, RESOURCE_EXHAUSTED, v1::STORE, "high");
  // None of them is there, and none has taken material.
  EXPECT_EQ(a.result("x").status.error_code(), NOT_FOUND);
  EXPECT_EQ(a.cancel("x").error_code(), NOT_FOUND);
  ASSERT_TRUE(a.submit(millionaires_a("y", 1)).ok());
  refused(millionaires_a("y", 2), ALREADY_EXISTS, v1::USAGE, "a job y with bob already");
  EXPECT_EQ(a.ands_left(), 60000u);
}

TEST_F(DaemonTest, SecretsAreNotInErrors) {
  start();
  const grpc::Status status =
      a_->client().submit({"x", "millionaires", "", {{"a", "0x5ec4e7777777"}}});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message().find("5ec4e7"), std::string::npos) << status.error_message();
}

TEST_F(DaemonTest, DifferentJobsUnderOneIdEndBoth) {
  start();
  ASSERT_TRUE(a_->client().submit(millionaires_a("same", 1)).ok());
  ASSERT_TRUE(b_->client().submit({"same", "hamming", "", {{"b", "0"}}}).ok());
  for (const Daemon* daemon : {a_.get(), b_.get()}) {
    const v1::Job job = daemon->client().result("same").job;
    EXPECT_EQ(job.state(), v1::FAILED);
    EXPECT_EQ(job.error().error_class(), v1::DISAGREEMENT);
    EXPECT_NE(job.error().message().find("circuit"), std::string::npos) << job.error().message();
  }
  EXPECT_EQ(a_->client().ands_left(), 60000u);
}

// The policy of a party also holds for what its peer asks for.
// The same id with two peers is two jobs.
TEST_F(DaemonTest, IdsOfJobsBelongToAPeer) {
  Setup setup;
  setup.other_peers_a = "peer { name: 'carol' party: A listen: '127.0.0.1:" + reserved_port() +
                        "' POLICY profile: 'fast' " + setup.low + " " + setup.high + " }";
  start(setup);
  const Client& client = a_->client();
  for (const char* const peer : {"carol", "bob"})
    ASSERT_TRUE(client.submit({"m1", "millionaires", peer, {{"a", "20"}}}).ok()) << peer;
  EXPECT_EQ(client.submit({"m1", "millionaires", "bob", {{"a", "20"}}}).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
  ASSERT_TRUE(b_->client().submit(millionaires_b("m1", 10)).ok());
  const grpc::Status unnamed = client.result("m1").status;
  EXPECT_EQ(unnamed.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(unnamed.error_message().find("name one of bob, carol"), std::string::npos)
      << unnamed.error_message();
  EXPECT_EQ(client.result("m1", true, std::chrono::seconds(60), "bob").job.state(), v1::DONE);
  EXPECT_EQ(client.status("m1").peer(), "carol");
  EXPECT_EQ(client.status("m1", "carol").state(), v1::WAITING_FOR_PEER);
  EXPECT_EQ(client.status("m1", "bob").id(), "");
  EXPECT_TRUE(client.cancel("m1", "carol").ok());
  EXPECT_EQ(client.status("m1").state(), v1::CANCELLED);
}

TEST_F(DaemonTest, PolicyOfEitherPartyRefuses) {
  Setup setup;
  setup.policy_b = "allow { circuit: 'millionaires' rate { jobs: 2 seconds: 3600 } }";
  start(setup);
  ASSERT_TRUE(a_->client().submit({"hamming", "hamming", "", {{"a", "0"}}}).ok());
  const v1::Job job = a_->client().result("hamming").job;
  EXPECT_EQ(job.state(), v1::FAILED);
  EXPECT_EQ(job.error().error_class(), v1::DISAGREEMENT);
  EXPECT_NE(job.error().message().find("the policy has no rule for hamming"), std::string::npos);
  EXPECT_EQ(a_->metric("tinyot_refusals_total{by=\"peer\""), "1");
  EXPECT_EQ(b_->metric("tinyot_refusals_total{by=\"this_party\""), "1");
  EXPECT_EQ(b_->client().ands_left(), 60000u);

  evaluate("first");
  evaluate("second");
  ASSERT_TRUE(a_->client().submit(millionaires_a("third", 1)).ok());
  EXPECT_EQ(b_->client().submit(millionaires_b("third", 1)).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(a_->client().result("third").job.state(), v1::FAILED);
}

TEST_F(DaemonTest, CancelledJobIsNotEvaluated) {
  start();
  ASSERT_TRUE(a_->client().submit(millionaires_a("gone", 1)).ok());
  ASSERT_TRUE(a_->client().cancel("gone").ok());
  EXPECT_EQ(a_->client().status("gone").state(), v1::CANCELLED);
  ASSERT_TRUE(b_->client().submit(millionaires_b("gone", 1)).ok());
  // A's job has not been forgotten, so B's cannot be matched with another one of that name.
  const v1::Job job = b_->client().result("gone").job;
  EXPECT_EQ(job.state(), v1::FAILED);
  EXPECT_NE(job.error().message().find("has ended"), std::string::npos) << job.error().message();
  evaluate("next");
}

TEST_F(DaemonTest, CancelsEvaluationInProgress) {
  LinkRelay relay(port_);
  Setup setup;
  setup.port_b = relay.port();
  start(setup);
  relay.lose_evaluations();
  ASSERT_TRUE(a_->client().submit(millionaires_a("slow", 1)).ok());
  ASSERT_TRUE(b_->client().submit(millionaires_b("slow", 1)).ok());
  for (const Daemon* daemon : {a_.get(), b_.get()})
    ASSERT_TRUE(
        becomes_true([&] { return daemon->client().status("slow").state() == v1::RUNNING; }));
  ASSERT_TRUE(b_->client().cancel("slow").ok());
  EXPECT_EQ(b_->client().result("slow").job.state(), v1::CANCELLED);
  EXPECT_EQ(a_->client().result("slow").job.error().error_class(), v1::NETWORK);
  relay.pass_on();
  evaluate("next");
}

TEST_F(DaemonTest, JobWithoutCounterpartEndsAfterItsTime) {
  Setup setup;
  setup.daemon_a = "job_timeout_s: 1";
  start(setup);
  ASSERT_TRUE(a_->client().submit(millionaires_a("alone", 1)).ok());
  const v1::Job job = a_->client().result("alone").job;
  EXPECT_EQ(job.state(), v1::FAILED);
  EXPECT_EQ(job.error().error_class(), v1::NETWORK);
  EXPECT_NE(job.error().message().find("within 1 s"), std::string::npos) << job.error().message();
}

TEST_F(DaemonTest, LimitsOfJobsAndResults) {
  Setup setup;
  setup.daemon_a = "jobs_max: 2 result_timeout_s: 1";
  start(setup);
  ASSERT_TRUE(a_->client().submit(millionaires_a("1", 1)).ok());
  ASSERT_TRUE(a_->client().submit(millionaires_a("2", 1)).ok());
  const grpc::Status status = a_->client().submit(millionaires_a("3", 1));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  ASSERT_TRUE(b_->client().submit(millionaires_b("1", 1)).ok());
  ASSERT_EQ(b_->client().result("1").job.state(), v1::DONE);
  // Its result is dropped, and there is room for another job.
  EXPECT_TRUE(becomes_true([&] { return a_->client().submit(millionaires_a("3", 1)).ok(); }));
}

system::Descriptor connection_to(const std::filesystem::path& path) {
  system::Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(path);
  (void)::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return client;
}

// UBSan takes an object for invalid if it has no descriptor left to look at it.
#if !defined(__SANITIZE_ADDRESS__)
// The service manager, too, is told that the daemon runs, although it can open nothing.
TEST_F(DaemonLoopTest, GoesOnAfterDescriptorsHaveRunOut) {
  start();
  rlimit before{};
  ASSERT_EQ(::prlimit(a_->pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::prlimit(a_->pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  system::Descriptor waiting = connection_to(a_->socket());
  EXPECT_TRUE(passes_loop());
  waiting.close();
  ASSERT_EQ(::prlimit(a_->pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  evaluate("after");
  const Ended ended = a_->stop();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.err.find("interface accepts no connection"), std::string::npos) << ended.err;
}
#endif

// As if there were none, they would be made again under the same numbers.
TEST_F(DaemonLoopTest, GoesOnAfterStoresCouldNotBeRead) {
  start();
  ASSERT_TRUE(becomes_true([&] { return a_->metric("tinyot_sessions_begun_total") == "1"; }));
  const std::filesystem::path stores = a_->stores() / "bob", moved = a_->stores() / "moved";
  std::filesystem::rename(stores, moved);
  EXPECT_TRUE(passes_loop());
  EXPECT_EQ(a_->metric("tinyot_peer_connected"), "");
  EXPECT_EQ(a_->client().peer().name(), "");
  ASSERT_TRUE(a_->client().submit(millionaires_a("meanwhile", 20)).ok());
  ASSERT_TRUE(b_->client().submit(millionaires_b("meanwhile", 10)).ok());
  EXPECT_TRUE(passes_loop());
  EXPECT_FALSE(std::filesystem::exists(stores));
  std::filesystem::rename(moved, stores);
  EXPECT_EQ(a_->client().result("meanwhile").job.state(), v1::DONE);
  evaluate("after");
  EXPECT_EQ(a_->metric("tinyot_sessions_begun_total"), "1");
  const Ended ended = a_->stop();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.err.find("daemon goes on after an error"), std::string::npos) << ended.err;
}

TEST_F(DaemonTest, RefusesClientsBeyondTheMost) {
  Setup setup;
  setup.daemon_a = "client_connections_max: 4";
  make(setup);
  a_->start();
  // It has done what is needed before a call, and waits.
  const auto open = [&] {
    system::Descriptor client = connection_to(a_->socket());
    system::write_all(client.get(), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") +
                                        std::string("\0\0\0\4\0\0\0\0\0", 9));
    char answer = 0;
    EXPECT_EQ(::read(client.get(), &answer, 1), 1);
    return client;
  };
  const auto peers = [&] {
    return Process(TINYOT_BINARY, {"client", "peers", "--server", "unix:" + a_->socket().string()})
        .end();
  };
  EXPECT_EQ(peers().status, 0);
  std::vector<system::Descriptor> clients;
  Ended refused;
  for (int i = 0; i < 8 && refused.status <= 0; ++i) {
    clients.push_back(open());
    refused = peers();
  }
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("client_connections_max"), std::string::npos) << refused.err;
  EXPECT_LE(clients.size(), 4u);
  clients.clear();
  EXPECT_TRUE(becomes_true([&] { return peers().status == 0; }));
  EXPECT_NE(a_->stop().err.find("client refused"), std::string::npos);
}

// Its result is larger than what a connection holds.
class WideCircuit {
 public:
  WideCircuit() {
    file_ = std::to_string(kBits) + " " + std::to_string(kBits + 2) + "\n2 1 1\n1 " +
            std::to_string(kBits) + "\n";
    for (int wire = 2; wire < kBits + 2; ++wire)
      file_ += "1 1 0 " + std::to_string(wire) + " INV\n";
  }
  std::string policy() const {
    return "allow { digest: '" + fingerprint_of(file_) + "' lanes_max: " + std::to_string(kLanes) +
           " }";
  }
  v1::SubmitRequest job(const std::string& id, const std::string& input) const {
    v1::SubmitRequest request;
    request.mutable_job()->set_id(id);
    request.mutable_job()->set_circuit("not");
    request.mutable_job()->set_is_file(true);
    request.mutable_job()->set_lanes(kLanes);
    request.set_circuit_part(file_);
    request.add_inputs()->set_name(input);
    request.mutable_inputs(0)->set_bits(std::string(kLanes, '\0'));
    return request;
  }

 private:
  static constexpr int kBits = 1 << 15, kLanes = 64;
  std::string file_;
};

// What is sent to its clients waits until they read it.
std::unique_ptr<v1::Party::Stub> stub_that_is_not_read(const Daemon& daemon) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1 << 14);
  return v1::Party::NewStub(grpc::CreateCustomChannel(
      "unix:" + daemon.socket().string(), grpc::InsecureChannelCredentials(), arguments));
}

// An evaluation is never repeated.
TEST_F(DaemonTest, ResultThatWasNotSentIsKept) {
  const WideCircuit wide;
  Setup setup;
  setup.policy_a = setup.policy_b = wide.policy();
  start(setup);
  ASSERT_TRUE(a_->client().submit({wide.job("result", "0")}).ok());
  ASSERT_TRUE(b_->client().submit({wide.job("result", "1")}).ok());
  const auto stub = stub_that_is_not_read(*a_);
  grpc::ClientContext reading;
  reading.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  v1::ResultRequest request;
  request.set_id("result");
  request.set_forget(true);
  const auto reader = stub->Result(&reading, request);
  v1::ResultPart part;
  ASSERT_TRUE(reader->Read(&part));
  EXPECT_EQ(part.job().state(), v1::DONE);
  reading.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  const Client::Result again = a_->client().result("result");
  EXPECT_EQ(again.job.state(), v1::DONE) << again.status.error_message();
  ASSERT_EQ(again.outputs.size(), 1u);
  // That one has been sent, and has been forgotten.
  EXPECT_EQ(a_->client().result("result").status.error_code(), grpc::StatusCode::NOT_FOUND);
}

// Nothing is missing of the job but the end of the call.
TEST_F(DaemonTest, JobOfAClientThatGoesBeforeItsEndIsNotSubmitted) {
  start();
  v1::SubmitRequest request;
  request.mutable_job()->set_id("job");
  request.mutable_job()->set_circuit("millionaires");
  request.add_inputs()->set_name("a");
  request.mutable_inputs(0)->add_numbers("1");
  const auto stub = stub_that_is_not_read(*a_);
  {
    grpc::ClientContext call;
    v1::Job ignored;
    const auto writer = stub->Submit(&call, &ignored);
    ASSERT_TRUE(writer->Write(request));
    // The daemon has it.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    call.TryCancel();
    EXPECT_EQ(writer->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_TRUE(a_->client().status("job").id().empty()) << "it waits for the peer";
  ASSERT_TRUE(a_->client().submit({request}).ok());
  EXPECT_EQ(a_->client().status("job").state(), v1::WAITING_FOR_PEER);
}

// They would hold memory, and one of the daemon's threads, for ever.
TEST_F(DaemonLoopTest, SlowClientsLoseTheirCalls) {
  const WideCircuit wide;
  Setup setup;
  setup.policy_a = setup.policy_b = wide.policy();
  setup.daemon_a = "result_timeout_s: 1";
  setup.daemon_b = "job_timeout_s: 1";
  start(setup);
  const auto in_a_minute = std::chrono::system_clock::now() + std::chrono::seconds(60);
  // It does not send what it has begun to send.
  const auto of_b = stub_that_is_not_read(*b_);
  grpc::ClientContext submitting;
  submitting.set_deadline(in_a_minute);
  v1::Job ignored;
  const auto writer = of_b->Submit(&submitting, &ignored);
  ASSERT_TRUE(writer->Write(wide.job("slow", "1")));
  EXPECT_EQ(writer->Finish().error_code(), grpc::StatusCode::CANCELLED);
  // It does not read what there is to read.
  ASSERT_TRUE(a_->client().submit({wide.job("result", "0")}).ok());
  ASSERT_TRUE(b_->client().submit({wide.job("result", "1")}).ok());
  const auto of_a = stub_that_is_not_read(*a_);
  grpc::ClientContext reading;
  reading.set_deadline(in_a_minute);
  v1::ResultRequest request;
  request.set_id("result");
  const auto reader = of_a->Result(&reading, request);
  EXPECT_TRUE(becomes_true([&] { return a_->client().status("result").id().empty(); }))
      << "the result is kept";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(passes_loop());
  for (v1::ResultPart part; reader->Read(&part);) {
  }
  const grpc::Status late = reader->Finish();
  EXPECT_EQ(late.error_code(), grpc::StatusCode::CANCELLED) << late.error_message();
  const Ended ended = a_->stop();
  EXPECT_NE(ended.err.find("client too slow"), std::string::npos) << ended.err;
}

TEST_F(DaemonTest, SocketHasItsMode) {
  Setup setup;
  setup.daemon_a = "socket_mode: '0600'";
  start(setup);
  struct stat file {};
  ASSERT_EQ(::stat(a_->socket().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(b_->socket().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0660u);
  ASSERT_EQ(::stat(a_->stores().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0700u);
}

TEST_F(DaemonTest, InterfaceOnTcpNeedsClientCertificate) {
  if (!make_certificates(dir_)) GTEST_SKIP() << "no openssl command";
  const std::string address = "127.0.0.1:" + reserved_port();
  const auto path = [&](const std::string& name) { return (dir_ / name).string(); };
  Setup setup;
  setup.daemon_a = "tls { listen: '" + address + "' certificate: '" + path("server.pem") +
                   "' key: '" + path("server.key") + "' clients: '" + path("ca.pem") + "' }";
  make(setup);
  a_->start();
  const auto peers = [&](const std::string& name) {
    Process client(TINYOT_BINARY,
                   {"client", "peers", "--server", address, "--tls-ca", path("ca.pem"),
                    "--tls-certificate", path(name + ".pem"), "--tls-key", path(name + ".key")});
    return client.end();
  };
  const Ended allowed = peers("client");
  EXPECT_EQ(allowed.status, 0) << allowed.err;
  EXPECT_NE(allowed.out.find("bob"), std::string::npos) << allowed.out;
  EXPECT_EQ(peers("other").status, 3);
}

TEST_F(DaemonTest, OneDaemonForDirectory) {
  start();
  Process second(TINYOT_BINARY, {"serve", "--config", a_->configuration().string()});
  const Ended ended = second.end();
  EXPECT_EQ(ended.status, 5);
  EXPECT_NE(ended.err.find("another daemon uses"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("if it is stopping"), std::string::npos) << ended.err;
  evaluate("still");
}

TEST_F(DaemonTest, PolicyWithAPartOfAFingerprintIsRefusedAtStart) {
  Setup setup;
  setup.policy_a = "allow { digest: '0c86258b71ad623f' }";
  make(setup);
  for (const Arguments& check : {Arguments{}, Arguments{"--check"}}) {
    Arguments arguments = {"serve", "--config", a_->configuration().string()};
    arguments.insert(arguments.end(), check.begin(), check.end());
    Process process(TINYOT_BINARY, arguments);
    const Ended ended = process.end();
    EXPECT_EQ(ended.status, 2) << ended.err;
    for (const char* part : {"rule 1", "64 hex digits, not 16", "tinyot circuit info FILE"})
      EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
  }
}

TEST_F(DaemonTest, BadConfigurationIsRefusedAtStart) {
  make({});
  const auto refused = [&](const std::string& text, const std::string& part) {
    const auto file = dir_ / "conf";
    write_file(file, text);
    Process process(TINYOT_BINARY, {"serve", "--config", file.string()});
    const Ended ended = process.end();
    EXPECT_EQ(ended.status, 2) << ended.err;
    EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
  };
  refused("directory: 'x'\nsocked: 'y'\n", "conf:2:7");
  refused("directory: 'x'", "there is no peer");
}

}  // namespace
}  // namespace tinyot::test
