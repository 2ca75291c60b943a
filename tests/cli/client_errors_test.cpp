// `tinyot client`: errors, interrupted waits, malformed command lines, and TLS.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "system/descriptor.h"
#include "tests/cli/client_test.h"
#include "tests/support/certificates.h"

namespace tinyot::test {
namespace {

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
  server_->answer = {grpc::StatusCode::PERMISSION_DENIED, "user 7 may not"};
  EXPECT_TRUE(ended_with(ask("peers"), 2, " tinyot: user 7 may not\n"));
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
    const Ended submitted = ask("submit", kAesRun + Arguments{"--format", "json"});
    EXPECT_TRUE(ended_with(submitted, status, " tinyot: it failed\n"));
    EXPECT_EQ(json_of(submitted)["error"]["message"], "it failed");
  }
  server_->job.clear_error();
  server_->job.set_state(v1::CANCELLED);
  EXPECT_TRUE(ended_with(ask("run", kAesRun), 1, "the job was cancelled"));
  EXPECT_TRUE(ended_with(ask("result", {"j1"}), 1, "the job was cancelled"));
}

TEST_F(ClientTest, PeerOfAJobIsPassedOn) {
  server_->job.set_id("j1");
  server_->job.set_state(v1::DONE);
  for (const char* const verb : {"status", "result", "cancel"})
    EXPECT_TRUE(ended_with(ask(verb, {"j1", "--peer", "bank"}), 0)) << verb;
  EXPECT_EQ(server_->ids,
            (std::vector<std::string>{"status j1 bank", "result j1 bank", "cancel j1 bank"}));
}

TEST_F(ClientTest, SaysWhatToCheckIfTheDaemonIsNotReached) {
  for (const bool is_there : {false, true}) {
    const std::string name = path(is_there ? "old-socket" : "none");
    // A socket on which no daemon listens any more.
    const system::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    if (is_there) {
      ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    const std::string message =
        "no connection to the daemon at unix:" + name +
        (is_there ? " (Connection refused)" : " (No such file or directory)") +
        "; check that tinyot serve is running, that this is its socket";
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
    EXPECT_EQ(server.ids, (std::vector<std::string>{"result j1 bank", "cancel j1 bank"}));
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
      {server("unix:"), "lacks the path"},
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
    if (!make_certificates(dir_)) GTEST_SKIP() << "no openssl command";
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
