// SIGHUP: policies and certificates are read again while the daemon goes on, or all stay.
#include "service/reload.h"

#include <signal.h>

#include "base/secret_text.h"
#include "engine/key_file.h"
#include "net/tls/identity.h"
#include "service/client.h"
#include "service/configuration.h"
#include "system/clock.h"
#include "tests/service/daemon_loop.h"
#include "tests/support/certificates.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

const std::string kOneCircuit =
    "allow { circuit: 'millionaires' parameter { name: 'bits' max: 64 } lanes_max: 16\n"
    "        rate { jobs: 2 seconds: 86400 } }\n";
const std::string kAes = "allow { circuit: 'aes128' }\n";

class ReloadTest : public DaemonLoopTest {
 protected:
  std::string path(const std::string& name) const { return (dir_ / name).string(); }
  // Whether the policy of A refuses a job of the circuit.
  bool refuses(const std::string& circuit, const std::string& id) const {
    const grpc::Status status = a_->client().submit(
        {id, circuit, "", {{"key_a", std::string(32, '0')}, {"message", std::string(32, '0')}}});
    EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::PERMISSION_DENIED)
        << status.error_message();
    return !status.ok();
  }
  void keygen(const std::string& name) const {
    ASSERT_EQ(Process(TINYOT_BINARY, {"keygen", "--output", path(name)}).end().status, 0);
  }
  static std::string keys(const std::string& mine, const std::string& peers) {
    return "key: '" + mine + "' peer_key: '@" + peers + ".crt'";
  }
};

TEST_F(ReloadTest, PolicyChangesWhileCountsJobsAndResultsStay) {
  Setup setup;
  setup.policy_a = kOneCircuit;
  start(setup);
  for (const Daemon* daemon : {a_.get(), b_.get()})
    ASSERT_TRUE(
        daemon->client()
            .submit(daemon == a_.get() ? millionaires_a("done", 2) : millionaires_b("done", 1))
            .ok());
  ASSERT_EQ(a_->client().result("done", false).job.state(), v1::DONE);
  ASSERT_TRUE(a_->client().submit(millionaires_a("waits", 2)).ok());
  ASSERT_TRUE(refuses("aes128", "aes-1"));
  write_file(dir_ / "a" / "policy", kAes + kOneCircuit);
  ASSERT_TRUE(reloads());
  EXPECT_FALSE(refuses("aes128", "aes-2"));
  EXPECT_EQ(a_->client().result("done").outputs.size(), 1u);
  ASSERT_TRUE(b_->client().submit(millionaires_b("waits", 1)).ok());
  EXPECT_EQ(a_->client().result("waits").job.state(), v1::DONE);
  // The third one of the day.
  EXPECT_EQ(a_->client().submit(millionaires_a("third", 2)).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  const Ended ended = a_->stop();
  EXPECT_EQ(ended.status, 0);
  EXPECT_NE(ended.err.find("\"event\":\"configuration reloaded\""), std::string::npos) << ended.err;
}

// Nothing of a reload is taken over if a part of it cannot be.
TEST_F(ReloadTest, IsRefusedAsAWhole) {
  for (const char* const name : {"a.pem", "b.pem", "other.pem"}) keygen(name);
  Setup setup;
  setup.policy_a = kOneCircuit;
  setup.peer_a = keys(path("a.pem"), path("b.pem"));
  setup.peer_b = keys(path("b.pem"), path("a.pem"));
  start(setup);
  const std::string key = read_file(path("a.pem"));
  const auto refused = [&](const std::string& id) {
    ASSERT_TRUE(reloads());
    EXPECT_TRUE(refuses("aes128", id));
  };
  write_file(dir_ / "a" / "policy", kAes);
  fs::copy_file(path("other.pem"), path("a.pem"), fs::copy_options::overwrite_existing);
  refused("another-key");
  write_file(path("a.pem"), key);
  const std::string pin = read_file(path("b.pem.crt"));
  fs::copy_file(path("other.pem.crt"), path("b.pem.crt"), fs::copy_options::overwrite_existing);
  refused("another-pin");
  write_file(path("b.pem.crt"), pin);
  write_file(dir_ / "a" / "policy", kAes + "allow { circuit: 'no-such' }\n");
  refused("bad-rule");
  const std::string configuration = read_file(a_->configuration());
  write_file(dir_ / "a" / "policy", kAes);
  write_file(a_->configuration(), configuration + "socked: 'x'\n");
  refused("bad-field");
  evaluate("goes-on");
  write_file(a_->configuration(), configuration);
  ASSERT_TRUE(reloads());
  EXPECT_FALSE(refuses("aes128", "allowed"));
  const Ended ended = a_->stop();
  for (const char* const reason : {"bob: key names another key", "bob: peer_key names another key",
                                   "there is no circuit 'no-such'", "socked"})
    EXPECT_NE(ended.err.find(reason), std::string::npos) << ended.err;
}

// The link ends as the certificate does: jobs wait, and go on once it has been renewed.
TEST_F(ReloadTest, JobsWaitForARenewedCertificate) {
  for (const char* const name : {"a.pem", "b.pem"}) keygen(name);
  Setup setup;
  setup.peer_a = keys(path("a.pem"), path("b.pem"));
  setup.peer_b = keys(path("b.pem"), path("a.pem"));
  DaemonTest::start(setup);
  a_->stop();
  const auto day = std::chrono::days(1);
  const auto end = net::Identity::Clock::now() + std::chrono::seconds(10);
  write_file(
      path("a.pem"),
      std::string(view_of(
          net::Identity::renew(read_file(path("a.pem")), "a.pem", end - day, day).private_pem())));
  start_a();
  const std::string expired = "this party's certificate expired at " + system::utc_text(end);
  ASSERT_TRUE(becomes_true(
      [&] {
        return a_->get("/readyz").find("bob: not connected: " + expired) != std::string::npos;
      },
      std::chrono::seconds(60)));
  EXPECT_NE(a_->get("/readyz").find(" 503 "), std::string::npos);
  EXPECT_NE(a_->client().peer().last_error().find(expired), std::string::npos);
  ASSERT_TRUE(becomes_true([&] {
    return b_->client().peer().last_error().find("the peer's certificate") != std::string::npos;
  }));
  ASSERT_TRUE(a_->client().submit(millionaires_a("waits", 2)).ok());
  ASSERT_TRUE(b_->client().submit(millionaires_b("waits", 1)).ok());
  ASSERT_TRUE(passes_loop());
  for (const Daemon* const daemon : {a_.get(), b_.get()})
    EXPECT_EQ(daemon->client().status("waits").state(), v1::WAITING_FOR_PEER);
  ASSERT_EQ(Process(TINYOT_BINARY, {"keygen", "--renew", path("a.pem")}).end().status, 0);
  ASSERT_TRUE(reloads());
  for (const Daemon* const daemon : {a_.get(), b_.get()})
    EXPECT_EQ(daemon->client().result("waits").job.state(), v1::DONE);
  const std::string log_a = a_->stop().err, log_b = b_->stop().err;
  const std::string once = "\"event\":\"certificate has expired\"";
  EXPECT_EQ(log_a.find(once, log_a.find(once) + 1), std::string::npos) << log_a;
  for (const std::string& line :
       {"\"event\":\"peer not connected\",\"peer\":\"bob\",\"error\":\"" + expired,
        "\"event\":\"certificate has "
        "expired\",\"use\":\"party\",\"peer\":\"bob\",\"expired_at\":\"" +
            system::utc_text(end)})
    EXPECT_NE(log_a.find(line), std::string::npos) << log_a;
  EXPECT_NE(log_b.find("the peer's certificate has expired: valid from "), std::string::npos)
      << log_b;
}

// Such as of a certificate that is made again since its begin was wrong.
TEST_F(ReloadTest, ARenewedCertificateIsPresentedWhateverItsEnd) {
  keygen("b.pem");
  const auto from = net::Identity::Clock::now() - std::chrono::days(1);
  const std::chrono::days valid(100);
  engine::write_identity(net::Identity::generate(from, valid), path("a.pem"));
  Setup setup;
  setup.daemon_a = "log { file: '" + path("log") + "' }";
  setup.peer_a = keys(path("a.pem"), path("b.pem"));
  setup.peer_b = keys(path("b.pem"), path("a.pem"));
  start(setup);
  const std::string said = "this party's certificate has been renewed";
  ASSERT_TRUE(reloads());
  EXPECT_EQ(read_file(path("log")).find(said), std::string::npos) << "it is the same one";
  write_file(
      path("a.pem"),
      std::string(view_of(
          net::Identity::renew(read_file(path("a.pem")), "a.pem", from, valid).private_pem())));
  ASSERT_TRUE(reloads());
  EXPECT_TRUE(becomes_true([&] { return read_file(path("log")).find(said) != std::string::npos; }));
  evaluate("renewed");
}

TEST_F(ReloadTest, FieldsThatNeedARestartAreNamedAndStay) {
  Setup setup;
  setup.policy_a = kOneCircuit;
  start(setup);
  std::string text = read_file(a_->configuration());
  text.replace(text.find("high { ands: 60000 }"), 20, "high { ands: 70000 }");
  write_file(a_->configuration(), text + "jobs_max: 7\n");
  write_file(dir_ / "a" / "policy", kAes);
  ASSERT_TRUE(reloads());
  EXPECT_FALSE(refuses("aes128", "aes"));
  EXPECT_EQ(a_->client().stock().sessions(0).high_ands(), 60000u);
  const Ended ended = a_->stop();
  EXPECT_NE(ended.err.find("takes a restart"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("peer[0].high.ands: 60000 -> 70000"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("jobs_max"), std::string::npos) << ended.err;
}

// The link would go on without TLS, and the configuration would say that it has it.
TEST_F(ReloadTest, TlsWithAPeerBeginsWithARestartAlone) {
  for (const char* const name : {"a.pem", "b.pem"}) keygen(name);
  Setup setup;
  setup.policy_a = kOneCircuit;
  start(setup);
  std::string text = read_file(a_->configuration());
  text.replace(text.find("profile:"), 0, keys(path("a.pem"), path("b.pem")) + " ");
  write_file(a_->configuration(), text);
  write_file(dir_ / "a" / "policy", kAes);
  ASSERT_TRUE(reloads());
  EXPECT_TRUE(refuses("aes128", "aes"));
  const std::string log = a_->stop().err;
  EXPECT_NE(log.find("bob: key: TLS with the peer begins and ends with a restart alone"),
            std::string::npos)
      << log;
}

// The file of the log is opened last, and its place may have gone since it was looked at.
TEST_F(ReloadTest, LogThatCannotBeOpenedChangesNothing) {
  Setup setup;
  setup.policy_a = kOneCircuit;
  start(setup);
  fs::create_symlink(path("nowhere/log"), path("log"));
  write_file(a_->configuration(), read_file(a_->configuration()) +
                                      "access { user: '4000000' may: [SUBMIT] }\n"
                                      "log { file: '" +
                                      path("log") + "' }\n");
  write_file(dir_ / "a" / "policy", kAes);
  ASSERT_TRUE(reloads());
  EXPECT_TRUE(refuses("aes128", "aes"));
  evaluate("allowed");  // to this user, too
  const std::string log = a_->stop().err;
  EXPECT_NE(log.find("cannot write " + path("log")), std::string::npos) << log;
}

TEST(Reload, TellsWhatTakesARestart) {
  const std::string
      base =
          "directory: 'd' tls { listen: '127.0.0.1:1' certificate: 'c' key: 'k' clients: 'a' }\n",
      b = "peer { name: 'b' party: A listen: '127.0.0.1:2' profile: 'fast' "
          "low { ands: 1 } high { ands: 2 } policy: ",
      c = "peer { name: 'c' party: B connect: '127.0.0.1:3' profile: 'fast' "
          "low { ands: 1 } high { ands: 2 } policy: 'p' }\n";
  const auto fields = [&](const std::string& now) {
    return service::fields_for_restart(
        service::parse_configuration(base + b + "'p' }\n" + c, "before"),
        service::parse_configuration(now, "now"));
  };
  EXPECT_EQ(fields(base + c + b + "'other' }\n"), "");
  EXPECT_EQ(fields("directory: 'd' tls { listen: '127.0.0.1:1' certificate: 'x' key: 'y' "
                   "clients: 'z' }\n" +
                   b + "'p' }\n" + c),
            "");
  EXPECT_EQ(fields(base + "access { user: 'root' may: SUBMIT } log { level: ERROR }\n" + b +
                   "'p' }\n" + c),
            "");
  EXPECT_EQ(fields(base + b + "'p' key: 'k' peer_key: 'l' }\n" + c), "");
  EXPECT_NE(fields("directory: 'd'\n" + b + "'p' }\n" + c).find("deleted: tls"), std::string::npos);
  EXPECT_NE(fields(base + c).find("deleted: peer[0]"), std::string::npos);
  EXPECT_NE(fields(base + b + "'p' sigma: 50 }\n" + c).find("peer[0].sigma"), std::string::npos);
}

TEST(Reload, KeyPolicyIsReadAgain) {
  const auto configuration = [](const std::string& custody) {
    return service::parse_configuration(
        "directory: 'd' store_key: 's' peer { name: 'b' party: A listen: '127.0.0.1:2' "
        "profile: 'fast' policy: 'p' low { ands: 1 } high { ands: 2 } sigma: 64 key: 'k' "
        "peer_key: 'l' custody { " +
            custody + " } }",
        "conf");
  };
  const auto started = configuration("policy: 'before'");
  EXPECT_EQ(service::fields_for_restart(started, configuration("policy: 'now'")), "");
  EXPECT_NE(service::fields_for_restart(started, configuration("policy: 'now' keys_max: 7"))
                .find("peer[0].custody.keys_max"),
            std::string::npos);
}

TEST_F(ReloadTest, InterfaceTakesItsNewCertificateAndAuthority) {
  fs::create_directories(dir_ / "new");
  if (!make_certificates(dir_) || !make_certificates(dir_ / "new"))
    GTEST_SKIP() << "no openssl command";
  const std::string address = "127.0.0.1:" + reserved_port();
  Setup setup;
  setup.daemon_a = "tls { listen: '" + address + "' certificate: '" + path("server.pem") +
                   "' key: '" + path("server.key") + "' clients: '" + path("ca.pem") + "' }";
  make(setup);
  start_a();
  // A client's own files are those that it had at first.
  for (const char* const name : {"ca.pem", "client.pem", "client.key"})
    fs::copy_file(path(name), path(std::string("old-") + name));
  const auto status = [&](const std::string& ca, const std::string& client) {
    return Process(TINYOT_BINARY,
                   {"client", "peers", "--server", address, "--tls-ca", path(ca),
                    "--tls-certificate", path(client + ".pem"), "--tls-key", path(client + ".key")})
        .end()
        .status;
  };
  EXPECT_EQ(status("old-ca.pem", "old-client"), 0);
  service::DaemonConnection open(
      {address, service::ServerAddress::TlsFiles{path("old-ca.pem"), path("old-client.pem"),
                                                 path("old-client.key")}});
  EXPECT_EQ(open.peers().size(), 1u);
  const auto replace = [&](const std::string& name) {
    fs::copy_file(dir_ / "new" / name, dir_ / name, fs::copy_options::overwrite_existing);
  };
  const auto refusal = [&] {
    try {
      (void)open.peers();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing is refused");
  };
  // A certificate without its key is refused, and the old one stays.
  replace("server.pem");
  ASSERT_TRUE(reloads());
  EXPECT_EQ(status("old-ca.pem", "old-client"), 0);
  EXPECT_EQ(refusal(), "nothing is refused");
  replace("server.key");
  ASSERT_TRUE(reloads());
  EXPECT_EQ(refusal(), "nothing is refused") << "its authority is still there";
  replace("ca.pem");
  ASSERT_TRUE(reloads());
  // On the connection that is open.
  EXPECT_NE(refusal().find("the client 'client' may make no call any more"), std::string::npos)
      << refusal();
  EXPECT_EQ(status("new/ca.pem", "new/client"), 0);
  EXPECT_EQ(status("new/ca.pem", "old-client"), 3);
  EXPECT_EQ(status("old-ca.pem", "old-client"), 3);
  // The socket is no matter of certificates.
  EXPECT_EQ(a_->client().peer().name(), "bob");
}

}  // namespace
}  // namespace tinyot::test
