// `tinyot client` against a daemon that answers as it is told.
#include <signal.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/descriptor.h"
#include "base/error.h"
#include "tests/support/layers.h"
#include "tests/tools/command_test.h"
#include "tests/tools/fake_daemon.h"
#include "tools/circuit_spec.h"

namespace tinyot::test {
namespace {

constexpr std::size_t kPartBytesMax = std::size_t{1} << 20;
const std::string kPlaintext = "00112233445566778899aabbccddeeff",
                  kKey = "000102030405060708090a0b0c0d0e0f";

std::string bits_of(const LaneValues& values) {
  std::string bits;
  for (const BitVector& value : values)
    bits.append(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
  return bits;
}

v1::Output output_of(const std::string& name, std::uint32_t bits_per_lane,
                     const std::string& bits) {
  v1::Output output;
  output.set_name(name);
  output.set_bits_per_lane(bits_per_lane);
  output.set_bits(bits);
  return output;
}

class ClientTest : public CommandTest {
 protected:
  ClientTest() { server_.emplace("unix:" + path("socket")); }

  Arguments client(const std::string& verb, const Arguments& more = {}) const {
    return Arguments{"client", verb, "--server", "unix:" + path("socket"), "--quiet"} + more;
  }
  Ended ask(const std::string& verb, const Arguments& more = {}) const {
    return tinyot(client(verb, more));
  }
  Json json(const std::string& verb, const Arguments& more = {}) const {
    const Ended ended = ask(verb, more + Arguments{"--format", "json"});
    EXPECT_TRUE(ended_with(ended, 0));
    EXPECT_EQ(ended.err, "");
    return json_of(ended);
  }
  // A list of numbers in a file, for --input NAME=@FILE.
  std::string input_file(const std::string& name, const std::string& text) const {
    write_file(path(name), text);
    return "@" + path(name);
  }
  // The input that a party sent, as the daemon reads it.
  std::string sent(const CircuitSpec& spec, const std::string& input, Party party) const {
    const auto submission = server_->submission();
    const LoadedCircuit circuit = submission->circuit();
    const NamedCircuit named(spec);
    EXPECT_EQ(circuit.fingerprint(), named.fingerprint());
    EXPECT_EQ(circuit.lanes(), named.lanes());
    const auto values = submission->inputs(circuit, party);
    return bits_of(values[named.input_index(input)].value());
  }

  std::optional<FakeDaemon> server_;
};

const Arguments kAesRun = {"--job", "j1", "--circuit", "aes128", "--input", "key_b=" + kKey};

TEST_F(ClientTest, RunSubmitsTheJobAndPrintsItsOutputsAsRunDoes) {
  const std::string ciphertext = "69c4e0d86a7b0430d8cdb78070b4c55a";
  const NamedCircuit aes({.name = "aes128"});
  server_->outputs = {output_of(
      "ciphertext", 128, bits_of({parse_value(ciphertext, 128, ValueFormat::Bytes, false)}))};
  const Ended ended = ask("run", kAesRun + Arguments{"--peer", "bank"});
  EXPECT_TRUE(ended_with(ended, 0));
  EXPECT_EQ(ended.out,
            "job j1 with bank: aes128, 6,400 ANDs, done in 250.0 ms, 1.5 s after its submission\n"
            "ciphertext = " +
                ciphertext + "\n");
  ASSERT_FALSE(server_->parts.empty());
  const v1::NewJob& job = server_->parts[0].job();
  EXPECT_EQ(job.id(), "j1");
  EXPECT_EQ(job.peer(), "bank");
  EXPECT_EQ(job.circuit(), "aes128");
  EXPECT_FALSE(job.is_file());
  EXPECT_FALSE(job.has_roles());
  EXPECT_EQ(job.lanes(), 1u);
  EXPECT_EQ(sent({.name = "aes128"}, "key_b", Party::B),
            bits_of({parse_value(kKey, 128, ValueFormat::Bytes, false)}));
  EXPECT_FALSE(server_->forgot);

  const Json report = json("run", kAesRun);
  EXPECT_EQ(report["command"], "client run");
  EXPECT_EQ(report["job"], "j1");
  EXPECT_EQ(report["state"], "done");
  EXPECT_EQ(report["session"], "5e551011");
  EXPECT_EQ(report["outputs"], Json({{"ciphertext", ciphertext}}));
}

TEST_F(ClientTest, SendsBlocksAndParametersOfACircuit) {
  const std::string other(32, '7');
  server_->job.set_lanes(2);
  const Arguments run = {
      "--job",    "j1", "--circuit", "aes128",        "--sbox",  "shallow",
      "--blocks", "2",  "--input",   "key_a=" + kKey, "--input", "message=" + kPlaintext + other};
  EXPECT_TRUE(ended_with(ask("run", run), 0));
  const CircuitSpec spec{.name = "aes128:sbox=shallow", .blocks = 2};
  EXPECT_EQ(sent(spec, "key_a", Party::A),
            bits_of({parse_value(kKey, 128, ValueFormat::Bytes, false)}));
  EXPECT_EQ(sent(spec, "message", Party::A),
            bits_of({parse_value(kPlaintext + other, 256, ValueFormat::Bytes, false)}));
  // The outputs of blocks are one string.
  server_->outputs = {
      output_of("ciphertext", 128, std::string(16, '\x01') + std::string(16, '\x02'))};
  server_->parts.clear();
  std::string wanted;
  for (int i = 0; i < 16; ++i) wanted += "01";
  for (int i = 0; i < 16; ++i) wanted += "02";
  EXPECT_EQ(json("run", run)["outputs"]["ciphertext"], wanted);
}

TEST_F(ClientTest, SendsCircuitFileWithItsRolesAndLanes) {
  const std::string adder = circuit_file("adder64.txt");
  server_->job.set_lanes(3);
  server_->outputs = {output_of("0", 64, std::string(7, '\0') + "\x80" + std::string(16, '\0'))};
  const Json report =
      json("run", {"--job", "j1", "--circuit", adder, "--lanes", "3", "--owner", "0=B", "--owner",
                   "1=A", "--to", "A", "--input", "1=1,0x8000000000000000,0b11"});
  EXPECT_EQ(report["outputs"]["0"],
            Json({"0x8000000000000000", "0x0000000000000000", "0x0000000000000000"}));
  const v1::NewJob& job = server_->parts.at(0).job();
  EXPECT_EQ(job.circuit(), "adder64");
  EXPECT_TRUE(job.is_file());
  EXPECT_EQ(job.roles().receiver(), "A");
  const CircuitSpec spec{.name = adder, .owners = {"0=B", "1=A"}, .receiver = "A", .lanes = 3};
  EXPECT_EQ(sent(spec, "1", Party::A), std::string("\x01\0\0\0\0\0\0\0"
                                                   "\0\0\0\0\0\0\0\x80"
                                                   "\x03\0\0\0\0\0\0\0",
                                                   24));
}

TEST_F(ClientTest, PadsValuesOfOddWidthToBytesAndSendsWidths) {
  const std::string lt = circuit_file("lt16.lps");
  EXPECT_TRUE(ended_with(ask("submit", {"--job", "j1", "--circuit", lt, "--bundles", "13,19",
                                        "--lanes", "2", "--input", "0=0x1fff,1"}),
                         0));
  const CircuitSpec spec{.name = lt, .bundles = "13,19", .lanes = 2};
  EXPECT_EQ(sent(spec, "0", Party::A), std::string("\xff\x1f\x01\x00", 4));
}

TEST_F(ClientTest, SendsInputsAndFilesInParts) {
  // Two lanes of 1.5 MiB each, on one input.
  constexpr std::size_t kBytes = 3 << 19;
  const std::string name = "hamming:bits=" + std::to_string(8 * kBytes);
  std::string text, bytes;
  for (const char digit : {'3', 'a'}) {
    text += "0x" + std::string(2 * kBytes, digit) + "\n";
    bytes += std::string(kBytes, digit == '3' ? '\x33' : '\xaa');
  }
  ASSERT_TRUE(ended_with(ask("submit", {"--job", "j1", "--circuit", name, "--lanes", "2", "--input",
                                        "a=" + input_file("bits", text)}),
                         0));
  EXPECT_EQ(server_->parts.size(), 4u);
  EXPECT_EQ(sent({.name = name, .lanes = 2}, "a", Party::A), bytes);

  server_->parts.clear();
  const std::string sha = circuit_file("sha256.txt");
  ASSERT_GT(std::filesystem::file_size(sha), kPartBytesMax);
  ASSERT_TRUE(ended_with(ask("submit", {"--job", "j2", "--circuit", sha, "--input", "0=1"}), 0));
  EXPECT_EQ(server_->submission()->circuit().digest(), NamedCircuit({.name = sha}).digest());
  for (const v1::SubmitRequest& part : server_->parts) {
    std::size_t bits = 0;
    for (const v1::Input& input : part.inputs()) bits += input.bits().size();
    EXPECT_LE(bits + part.circuit_part().size(), kPartBytesMax);
  }
}

TEST_F(ClientTest, ReadsInputsFromFilesAndStandardInput) {
  const Ended ended =
      tinyot(client("submit", {"--job", "j1", "--circuit", "aes128", "--input",
                               "key_a=" + input_file("key", kKey + "\n"), "--input", "message=-"}),
             kPlaintext + "\n");
  EXPECT_TRUE(ended_with(ended, 0));
  EXPECT_EQ(sent({.name = "aes128"}, "message", Party::A),
            bits_of({parse_value(kPlaintext, 128, ValueFormat::Bytes, false)}));
}

TEST_F(ClientTest, SubmitStatusAndCancelPrintTheJob) {
  EXPECT_EQ(ask("submit", kAesRun).out,
            "job j1 with bank: aes128, 6,400 ANDs, waiting for the peer to submit it\n");
  const Json submitted = json("submit", kAesRun);
  EXPECT_EQ(submitted["command"], "client submit");
  EXPECT_EQ(submitted["state"], "waiting_for_peer");
  EXPECT_FALSE(submitted.contains("evaluation_s"));

  server_->job.set_state(v1::RUNNING);
  server_->job.set_lanes(4);
  EXPECT_EQ(ask("status", {"j1"}).out, "job j1 with bank: aes128, 4 lanes, 6,400 ANDs, running\n");
  EXPECT_EQ(ask("cancel", {"j1"}).out,
            "job j1 with bank: aes128, 4 lanes, 6,400 ANDs, cancelled\n");
  EXPECT_EQ(json("cancel", {"--job", "j1"})["state"], "cancelled");
  EXPECT_EQ(server_->ids, (std::vector<std::string>{"status j1", "cancel j1", "cancel j1"}));

  server_->job.set_state(v1::FAILED);
  server_->job.mutable_error()->set_error_class(v1::STORE);
  server_->job.mutable_error()->set_message("out of material");
  const Json failed = json("status", {"j1"});
  EXPECT_EQ(failed["state"], "failed");
  EXPECT_EQ(failed["failure"], Json({{"class", "store"}, {"message", "out of material"}}));
}

TEST_F(ClientTest, ResultPrintsNumbersOrAsTheCircuitSays) {
  server_->outputs = {output_of("ciphertext", 128, "\x01" + std::string(15, '\0'))};
  EXPECT_EQ(json("result", {"j1"})["outputs"]["ciphertext"], "0x00000000000000000000000000000001");
  EXPECT_EQ(json("result", {"j1", "--output-base", "10"})["outputs"]["ciphertext"], "1");
  EXPECT_EQ(json("result", {"j1", "--circuit", "aes128"})["outputs"]["ciphertext"],
            "01000000000000000000000000000000");
  EXPECT_TRUE(
      ended_with(ask("result", {"j1", "--circuit", "sha256"}), 2, "no output 'ciphertext'"));
  EXPECT_TRUE(ended_with(ask("result", {"j1", "--circuit", "aes128", "--blocks", "2"}), 2,
                         "unlike that of the circuit given"));
  EXPECT_TRUE(ended_with(ask("result", {"j1", "--lanes", "2"}), 2, "give --circuit"));

  server_->job.set_lanes(2);
  server_->outputs = {output_of("sum", 9, std::string("\xff\x01\x02\x00", 4)),
                      output_of("nothing", 0, "")};
  const Ended ended = ask("result", {"j1"});
  EXPECT_TRUE(ended_with(ended, 0));
  EXPECT_NE(ended.out.find("\nsum = 0x1ff\n0x002\n"), std::string::npos) << ended.out;
  EXPECT_EQ(json("result", {"j1"})["outputs"]["sum"], Json({"0x1ff", "0x002"}));
}

TEST_F(ClientTest, LargeOutputsArriveInParts) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i % 251);
  server_->outputs = {output_of("x", 8 * 5000, bytes), output_of("y", 8, "\x2a")};
  const Json outputs = json("result", {"j1"})["outputs"];
  EXPECT_EQ(outputs["y"], "0x2a");
  EXPECT_EQ(parse_value(outputs["x"].get<std::string>(), 8 * 5000, ValueFormat::Integer, false)
                .bytes()
                .size(),
            bytes.size());
  EXPECT_EQ(bits_of({parse_value(outputs["x"].get<std::string>(), 8 * 5000, ValueFormat::Integer,
                                 false)}),
            bytes);
}

TEST_F(ClientTest, RejectsOutputsOfAnotherLength) {
  server_->outputs = {output_of("x", 16, "abc")};
  EXPECT_TRUE(ended_with(ask("result", {"j1"}), 1, "3 bytes for output x, not 2"));
}

TEST_F(ClientTest, WritesOutputsToPrivateFiles) {
  server_->outputs = {output_of("ciphertext", 128, std::string(16, '\x10'))};
  std::string wanted;
  for (int i = 0; i < 16; ++i) wanted += "10";
  const Json report = json("run", kAesRun + Arguments{"--output", "ciphertext=@" + path("out")});
  EXPECT_EQ(report["outputs"], Json::object());
  EXPECT_EQ(read_file(path("out")), wanted + "\n");
  struct stat status {};
  ASSERT_EQ(::stat(path("out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);

  EXPECT_TRUE(ended_with(ask("run", kAesRun + Arguments{"--output", "text=@" + path("out")}), 2,
                         "no output 'text'"));
  // The other outputs are printed all the same.
  const Ended ended = ask("result", {"j1", "--output", "text=@" + path("text")});
  EXPECT_EQ(ended.status, 2);
  EXPECT_NE(ended.err.find("--output text: this party does not learn it"), std::string::npos);
  EXPECT_NE(ended.out.find("\nciphertext = 0x1010"), std::string::npos) << ended.out;
}

TEST_F(ClientTest, ForgetsTheJobOnceItsOutputsAreWritten) {
  server_->outputs = {output_of("x", 8, "a")};
  EXPECT_TRUE(ended_with(ask("result", {"j1", "--forget", "--circuit", "aes128"}), 2, "no output"));
  EXPECT_FALSE(server_->forgot);
  EXPECT_TRUE(ended_with(ask("result", {"j1", "--forget"}), 0));
  EXPECT_TRUE(server_->forgot);
}

TEST_F(ClientTest, StockPeersAndRetire) {
  v1::SessionStock& stock = *server_->stock_reply.add_sessions();
  stock.set_peer("bank");
  stock.set_session("5e551011");
  stock.set_is_current(true);
  stock.set_ands_left(1234567);
  stock.set_inputs_left(1000);
  stock.set_low_ands(1000000);
  stock.set_high_ands(4000000);
  stock.set_budget_spent(0.25);
  stock.set_bytes(98765432);
  stock.set_is_refilling(true);
  EXPECT_EQ(ask("stock").out,
            "bank: session 5e551011 (current), 1,234,567 ANDs and 1,000 inputs of each party left, "
            "refilled below 1,000,000 up to 4,000,000 ANDs, refilling, 98.8 MB\n");
  EXPECT_EQ(server_->stock_peer, "");
  const Json report = json("stock", {"--peer", "bank"});
  EXPECT_EQ(server_->stock_peer, "bank");
  EXPECT_EQ(report["sessions"],
            Json::parse(R"([{"peer": "bank", "session": "5e551011", "is_current": true,
                             "ands_left": 1234567, "inputs_left": 1000, "low_ands": 1000000,
                             "high_ands": 4000000, "budget_spent": 0.25, "store_bytes": 98765432,
                             "is_refilling": true}])"));

  v1::PeerState& peer = *server_->peers_reply.add_peers();
  peer.set_name("bank");
  peer.set_party("A");
  peer.set_is_connected(true);
  peer.set_jobs_waiting(1);
  peer.set_last_error("connection refused");
  EXPECT_EQ(ask("peers").out,
            "bank: this is party A, connected, 1 job waiting, 0 running; last error: connection "
            "refused\n");
  EXPECT_EQ(json("peers")["peers"][0]["last_error"], "connection refused");

  server_->retire_reply.set_session("0ld");
  EXPECT_EQ(ask("retire", {"--peer", "bank"}).out,
            "session 0ld with bank has ended; a new one begins\n");
  EXPECT_EQ(server_->retired_peer, "bank");
  EXPECT_EQ(json("retire", {"--peer", "bank"})["session"], "0ld");
  EXPECT_TRUE(ended_with(ask("retire"), 2, "--peer is missing"));
}

const std::tuple<grpc::StatusCode, v1::ErrorClass, int> kClasses[] = {
    {grpc::StatusCode::INTERNAL, v1::INTERNAL, 1},
    {grpc::StatusCode::INVALID_ARGUMENT, v1::USAGE, 2},
    {grpc::StatusCode::UNAVAILABLE, v1::NETWORK, 3},
    {grpc::StatusCode::ABORTED, v1::PEER_CHEATED, 4},
    {grpc::StatusCode::FAILED_PRECONDITION, v1::STORE, 5},
    {grpc::StatusCode::ABORTED, v1::DISAGREEMENT, 6},
    {grpc::StatusCode::UNKNOWN, v1::ERROR_CLASS_UNSPECIFIED, 1}};

TEST_F(ClientTest, RefusedCallsExitWithTheirClass) {
  for (const auto& [code, error_class, status] : kClasses) {
    server_->answer = refused(code, error_class, "the reason");
    for (const char* verb : {"submit", "run"})
      EXPECT_TRUE(ended_with(ask(verb, kAesRun), status, " tinyot: the reason\n")) << verb;
    for (const char* verb : {"status", "result", "cancel"})
      EXPECT_TRUE(ended_with(ask(verb, {"j1"}), status, " tinyot: the reason\n")) << verb;
    for (const char* verb : {"stock", "peers"})
      EXPECT_TRUE(ended_with(ask(verb), status, " tinyot: the reason\n")) << verb;
    const Ended ended = ask("retire", {"--peer", "bank", "--format", "json"});
    EXPECT_TRUE(ended_with(ended, status, " tinyot: the reason\n"));
    EXPECT_EQ(json_of(ended)["error"]["message"], "the reason");
  }
  server_->answer = {grpc::StatusCode::RESOURCE_EXHAUSTED, "no details"};
  EXPECT_TRUE(ended_with(ask("peers"), 1, "no details"));
  server_->answer = {grpc::StatusCode::UNIMPLEMENTED, ""};
  EXPECT_TRUE(ended_with(ask("peers"), 1, "is not a daemon of this version"));
}

TEST_F(ClientTest, FailedAndCancelledJobsExitWithTheirClass) {
  server_->job.set_state(v1::FAILED);
  for (const auto& [code, error_class, status] : kClasses) {
    server_->job.mutable_error()->set_error_class(error_class);
    server_->job.mutable_error()->set_message("it failed");
    EXPECT_TRUE(ended_with(ask("run", kAesRun), status, " tinyot: it failed\n"));
    EXPECT_TRUE(ended_with(ask("result", {"j1", "--format", "json"}), status, "it failed"));
  }
  server_->job.clear_error();
  server_->job.set_state(v1::CANCELLED);
  EXPECT_TRUE(ended_with(ask("run", kAesRun), 1, "the job was cancelled"));
  EXPECT_TRUE(ended_with(ask("result", {"j1"}), 1, "the job was cancelled"));
}

TEST_F(ClientTest, SaysWhatToCheckIfTheDaemonIsNotReached) {
  for (const bool is_there : {false, true}) {
    const std::string name = path(is_there ? "old-socket" : "none");
    // A socket on which no daemon listens any more.
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    if (is_there) {
      ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    const std::string message =
        "no connection to the daemon at unix:" + name +
        (is_there ? " (Connection refused)" : " (No such file or directory)") +
        "; check that tinyot serve is running, that its socket is " + name;
    for (const Arguments& call : {Arguments{"peers"}, Arguments{"submit"} + kAesRun,
                                  Arguments{"run"} + kAesRun, Arguments{"result", "j1"}})
      EXPECT_TRUE(ended_with(
          tinyot(Arguments{"client"} + call + Arguments{"--server", "unix:" + name}), 3, message));
  }
  EXPECT_TRUE(ended_with(tinyot({"client", "peers", "--server", "127.0.0.1:" + port_, "--tls-ca",
                                 "none", "--tls-certificate", "none", "--tls-key", "none"}),
                         2, "cannot read none"));
}

TEST_F(ClientTest, SignalCancelsTheJobThatIsWaitedFor) {
  for (const int signal : {SIGINT, SIGTERM}) {
    FakeDaemon& server = server_.emplace("unix:" + path("socket"));
    server.job.set_state(v1::QUEUED);
    server.holds_results = true;
    Process run(TINYOT_BINARY, client("run", kAesRun + Arguments{"--format", "json"}));
    server.wait_until_result_is_wanted();
    run.signal(signal);
    const Ended ended = run.end();
    EXPECT_TRUE(ended_with(ended, 128 + signal));
    EXPECT_EQ(json_of(ended)["state"], "cancelled");
    EXPECT_EQ(server.ids, (std::vector<std::string>{"result j1", "cancel j1"}));
  }
}

TEST_F(ClientTest, SignalWhileAskingForAResultLeavesTheJob) {
  server_->job.set_state(v1::QUEUED);
  server_->holds_results = true;
  Process result(TINYOT_BINARY, client("result", {"j1"}));
  server_->wait_until_result_is_wanted();
  result.signal(SIGINT);
  EXPECT_EQ(result.end().status, 128 + SIGINT);
  EXPECT_EQ(server_->ids, std::vector<std::string>{"result j1"});
}

TEST_F(ClientTest, LimitOfWaitLeavesTheJobAndSaysHowToGoOn) {
  server_->job.set_state(v1::QUEUED);
  server_->holds_results = true;
  const std::string go_on = " --server unix:" + path("socket"),
                    message =
                        "no result after 1 s: job j1 is queued: both parties have submitted "
                        "it; tinyot client result j1" +
                        go_on + " waits for its result, tinyot client cancel j1" + go_on +
                        " cancels it";
  EXPECT_TRUE(ended_with(ask("run", kAesRun + Arguments{"--wait", "1"}), 3, message));
  EXPECT_TRUE(ended_with(ask("result", {"j1", "--wait", "1"}), 3, message));
  EXPECT_EQ(server_->job.state(), v1::QUEUED);
}

TEST_F(ClientTest, RejectsMalformedCommandLinesBeforeACall) {
  const Arguments tls = {"--tls-ca", "a", "--tls-certificate", "b", "--tls-key", "c"};
  const auto server = [](const std::string& address) {
    return Arguments{"client", "peers", "--server", address};
  };
  const std::pair<Arguments, std::string> refusals[] = {
      {server("localhost:7000"), "requires --tls-ca, --tls-certificate and --tls-key"},
      {server("localhost:7000") + Arguments{"--tls-ca", "a"},
       "--tls-certificate, --tls-key: TLS takes"},
      {server("unix:") + tls, "lacks the path"},
      {server("unix:/x") + tls, "not for a socket"},
      {server("localhost"), "localhost"},
      {{"client", "run"}, "these are missing: --job, --circuit"},
      {{"client", "status"}, "--job is missing"},
      {client("run", kAesRun + Arguments{"--wait", "0"}), "--wait is out of range"},
      {client("run", kAesRun + Arguments{"--output", "ciphertext=out"}), "NAME=@FILE"},
      {client("run", {"--job", "j1", "--circuit", "aes129"}), "neither a known circuit"},
      {client("run", kAesRun + Arguments{"--input", "keyb=00"}), "no input 'keyb'"},
      {{"client", "go"}, "there is no 'tinyot client go'"},
  };
  for (const auto& [arguments, message] : refusals)
    EXPECT_TRUE(ended_with(tinyot(arguments), 2, message)) << message;
  EXPECT_TRUE(server_->parts.empty());
}

TEST_F(ClientTest, ErrorsContainNoInput) {
  const std::string secret = "c0ffee5ec2e7c0ffee5ec2e7c0ffee5e";
  server_->answer = refused(grpc::StatusCode::PERMISSION_DENIED, v1::USAGE, "not allowed");
  for (const std::string& input : {"key_b=" + secret, "key_b=" + secret + "00",
                                   "key_b=" + secret.substr(1) + "g", "key_x=" + secret, secret}) {
    for (const char* verb : {"run", "submit"}) {
      const Ended ended =
          ask(verb, {"--job", "j1", "--circuit", "aes128", "--input", input, "--format", "json"});
      EXPECT_EQ(ended.status, 2) << ended.err;
      for (const std::string& text : {ended.out, ended.err})
        EXPECT_EQ(text.find(secret.substr(0, 16)), std::string::npos) << text;
    }
  }
  EXPECT_TRUE(ended_with(
      Process("/bin/sh", {"-c", std::string("TINYOT_INPUT=key_b=1 exec '") + TINYOT_BINARY +
                                    "' client submit --job j1 --circuit aes128"})
          .end(),
      2, "--input is not taken from the environment"));
}

// Certificates of a CA of the test, for 127.0.0.1.
class ClientTlsTest : public CommandTest {
 protected:
  void SetUp() override {
    const std::string script =
        "set -e; cd '" + dir_.string() +
        "'; new() { openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
        "-subj \"/CN=$1\" -keyout \"$1.key\" \"${@:2}\" 2>/dev/null; }; "
        "new ca -x509 -days 2 -out ca.pem; new other -x509 -days 2 -out other.pem; "
        "echo subjectAltName=IP:127.0.0.1 >ext; "
        "for name in server client; do new $name -out $name.csr; "
        "openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 "
        "-extfile ext -out $name.pem 2>/dev/null; done";
    if (Process("/bin/bash", {"-c", script}).end().status != 0)
      GTEST_SKIP() << "no openssl command";
    grpc::SslServerCredentialsOptions options(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = read_file(path("ca.pem"));
    options.pem_key_cert_pairs.push_back(
        {read_file(path("server.key")), read_file(path("server.pem"))});
    server_.emplace("127.0.0.1:0", grpc::SslServerCredentials(options));
  }
  Ended peers(const std::string& ca, const std::string& name) const {
    return tinyot({"client", "peers", "--server", "127.0.0.1:" + std::to_string(server_->port()),
                   "--tls-ca", path(ca + ".pem"), "--tls-certificate", path(name + ".pem"),
                   "--tls-key", path(name + ".key")});
  }

  std::optional<FakeDaemon> server_;
};

TEST_F(ClientTlsTest, AuthenticatesBothSides) {
  server_->peers_reply.add_peers()->set_name("bank");
  const Ended ended = peers("ca", "client");
  EXPECT_TRUE(ended_with(ended, 0));
  EXPECT_NE(ended.out.find("bank"), std::string::npos);
  EXPECT_TRUE(ended_with(peers("other", "client"), 3, "no connection to the daemon at 127.0.0.1:"));
  EXPECT_TRUE(ended_with(peers("ca", "other"), 3, "no connection to the daemon at 127.0.0.1:"));
}

}  // namespace
}  // namespace tinyot::test
