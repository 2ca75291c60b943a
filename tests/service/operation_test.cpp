// A daemon as its operator sees it: health, certificates, and who may do what.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <functional>

#include "engine/key_file.h"
#include "tests/service/daemon_loop.h"
#include "tests/support/certificates.h"

namespace tinyot::test {
namespace {

using net::Identity;

// The answer to grpc.health.v1.Health/Check as bytes: field 1, 1 for serving, 2 for not serving.
std::string grpc_health(const Daemon& daemon, const std::string& service) {
  grpc::GenericStub stub(
      grpc::CreateChannel("unix:" + daemon.socket().string(), grpc::InsecureChannelCredentials()));
  const std::string request =
      service.empty() ? "" : "\x0a" + std::string(1, static_cast<char>(service.size())) + service;
  const grpc::Slice slice(request);
  const grpc::ByteBuffer sent(&slice, 1);
  grpc::ByteBuffer received;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", sent, &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(&received, &status, nullptr);
  void* tag = nullptr;
  bool is_ok = false;
  queue.Next(&tag, &is_ok);
  EXPECT_TRUE(status.ok()) << status.error_message();
  grpc::Slice reply;
  EXPECT_TRUE(received.DumpToSingleSlice(&reply).ok());
  return {reinterpret_cast<const char*>(reply.begin()), reply.size()};
}

bool is_ok(const std::string& answer) { return answer.starts_with("HTTP/1.1 200 OK\r\n"); }

using OperationTest = DaemonLoopTest;

TEST_F(OperationTest, IsReadyOnceThereIsStock) {
  make({});
  start_a();
  ASSERT_TRUE(passes_loop());
  EXPECT_TRUE(is_ok(a_->get("/healthz")));
  EXPECT_NE(a_->get("/readyz").find("HTTP/1.1 503"), std::string::npos);
  EXPECT_NE(a_->get("/readyz").find("bob: not connected"), std::string::npos);
  for (const char* const service : {"", "tinyot.v1.Party"})
    EXPECT_EQ(grpc_health(*a_, service), "\x08\x02") << service;
  b_->start();
  ASSERT_TRUE(becomes_true([&] { return is_ok(a_->get("/readyz")); }));
  EXPECT_GE(std::stod(a_->metric("tinyot_stock_ands")), 20000);
  EXPECT_TRUE(is_ok(a_->get("/readyz?peer=bob")));
  EXPECT_FALSE(is_ok(a_->get("/readyz?peer=carol")));
  EXPECT_FALSE(is_ok(a_->get("/readyz/none")));
  for (const char* const service : {"", "tinyot.v1.Party"})
    EXPECT_TRUE(becomes_true([&] { return grpc_health(*a_, service) == "\x08\x01"; })) << service;
  ASSERT_TRUE(is_stocked(60000));
  // What jobs of this party wait for, and its material, as its clients see them too.
  ASSERT_TRUE(a_->client().submit(millionaires_a("waits", 2)).ok());
  EXPECT_EQ(a_->metric("tinyot_jobs{peer=\"bob\",state=\"waiting\"}"), "1");
  EXPECT_EQ(a_->metric("tinyot_jobs{peer=\"bob\",state=\"running\"}"), "0");
  const v1::StockReply stock = a_->client().stock();
  ASSERT_EQ(stock.sessions_size(), 1);
  const auto of_store = [&](const std::string& name) {
    const std::string text = a_->get("/metrics");
    const std::size_t at = text.find("\ntinyot_store_" + name + "{");
    return at == std::string::npos ? -1. : std::stod(text.substr(text.find(' ', at)));
  };
  EXPECT_TRUE(stock.sessions(0).is_current());
  EXPECT_EQ(static_cast<double>(stock.sessions(0).ands_left()), of_store("ands_left"));
  EXPECT_EQ(static_cast<double>(stock.sessions(0).inputs_left()), of_store("inputs_left"));
  EXPECT_NE(stock.sessions(0).inputs_left(), stock.sessions(0).ands_left());
  EXPECT_EQ(static_cast<double>(stock.sessions(0).bytes()), of_store("bytes"));
  EXPECT_EQ(std::stod(a_->metric("tinyot_stock_inputs{peer=\"bob\"}")), of_store("inputs_left"));
  b_->kill();
  EXPECT_TRUE(becomes_true([&] { return !is_ok(a_->get("/readyz")); }));
  EXPECT_TRUE(is_ok(a_->get("/healthz")));
  // A scrape of everything that the parts of this test do not need.
  EXPECT_GT(std::stod(a_->metric("tinyot_disk_available_bytes")), 0);
  EXPECT_GT(std::stod(a_->metric("tinyot_refill_disk_bytes{peer=\"bob\"}")), 60000 * 48);
  EXPECT_EQ(std::stod(a_->metric("tinyot_low_watermark_ands{peer=\"bob\"}")), 20000);
  EXPECT_EQ(std::stod(a_->metric("tinyot_high_watermark_ands{peer=\"bob\"}")), 60000);
}

// Evaluations in progress end first. Whoever asks meanwhile goes elsewhere.
TEST_F(OperationTest, IsNotReadyWhileItStops) {
  Setup setup;
  setup.high = "high { ands: 250000 }";
  start(setup);
  const auto within_a_minute = [](const std::function<bool()>& holds) {
    return becomes_true(holds, std::chrono::seconds(60));
  };
  ASSERT_TRUE(within_a_minute([&] { return grpc_health(*b_, "") == "\x08\x01"; }));
  const std::string slow = "random:width=2,depth=100000";
  ASSERT_TRUE(a_->client().submit({"runs", slow, "", {{"a", "1"}}}).ok());
  ASSERT_TRUE(b_->client().submit({"runs", slow, "", {{"b", "1"}}}).ok());
  ASSERT_TRUE(within_a_minute([&] { return b_->client().peer().jobs_running() == 1; }));
  EXPECT_EQ(b_->metric("tinyot_jobs{peer=\"alice\",state=\"running\"}"), "1");
  ::kill(b_->pid(), SIGTERM);
  ASSERT_TRUE(
      within_a_minute([&] { return b_->get("/readyz").find("stopping") != std::string::npos; }));
  EXPECT_FALSE(is_ok(b_->get("/readyz")));
  EXPECT_TRUE(is_ok(b_->get("/healthz")));
  EXPECT_TRUE(within_a_minute([&] { return grpc_health(*b_, "") == "\x08\x02"; }));
  grpc::Status refused;
  EXPECT_TRUE(within_a_minute([&] {
    refused = b_->client().submit(millionaires_b("late", 1));
    return refused.error_code() == grpc::StatusCode::UNAVAILABLE;
  }));
  EXPECT_EQ(refused.error_message(), "the daemon is stopping: submit the job again");
  EXPECT_EQ(b_->client().result("runs").job.state(), v1::DONE);
  EXPECT_EQ(b_->end().status, 0);
  EXPECT_FALSE(std::filesystem::exists(b_->socket())) << "nobody serves it any more";
}

// A's certificate expires soon, and is renewed while both daemons run.
TEST_F(OperationTest, CertificatesAreRenewedWithoutARestart) {
  const auto path = [&](const std::string& name) { return (dir_ / name).string(); };
  const auto days_left = [](const Daemon& daemon, const std::string& peer, const std::string& use) {
    const std::string value =
        daemon.metric("tinyot_certificate_seconds_left{peer=\"" + peer + "\",use=\"" + use + "\"}");
    return value.empty() ? 0 : std::stod(value) / 86400;
  };
  engine::write_identity(Identity::generate(Identity::Clock::now(), std::chrono::days(9)),
                         path("a.pem"));
  engine::write_identity(Identity::generate(), path("b.pem"));
  Setup setup;
  setup.peer_a = "key: '" + path("a.pem") + "' peer_key: '@" + path("b.pem.crt") + "'";
  setup.peer_b = "key: '" + path("b.pem") + "' peer_key: '@" + path("a.pem.crt") + "'";
  start(setup);
  EXPECT_NEAR(days_left(*a_, "bob", "party"), 9, 0.1);
  EXPECT_NEAR(days_left(*a_, "bob", "peer"), 3651, 2);
  EXPECT_NEAR(days_left(*b_, "alice", "peer"), 9, 0.1);
  ASSERT_EQ(Process(TINYOT_BINARY, {"keygen", "--renew", path("a.pem")}).end().status, 0);
  ASSERT_TRUE(reloads());
  EXPECT_GT(days_left(*a_, "bob", "party"), 3000);
  // The daemons connect again, so the peer sees it before any job.
  EXPECT_TRUE(becomes_true([&] { return days_left(*b_, "alice", "peer") > 3000; }));
  evaluate("renewed");
  EXPECT_EQ(a_->client().stock().sessions_size(), 1);
}

TEST_F(OperationTest, LogGoesToAFileThatIsRotated) {
  const std::filesystem::path file = dir_ / "log", rotated = dir_ / "log.1";
  Setup setup;
  setup.daemon_a = "log { file: '" + file.string() + "' }";
  setup.policy_a = "";
  make(setup);
  start_a();
  ASSERT_TRUE(passes_loop());
  // What is found at the start as well.
  EXPECT_NE(read_file(file).find("policy allows nothing"), std::string::npos);
  EXPECT_NE(read_file(file).find("\"event\":\"daemon started\""), std::string::npos);
  std::filesystem::rename(file, rotated);
  ASSERT_TRUE(reloads());
  EXPECT_EQ(read_file(rotated).find("reloaded"), std::string::npos);
  EXPECT_NE(read_file(file).find("configuration reloaded"), std::string::npos);
  // It is opened again even if the rest is refused.
  std::filesystem::rename(file, rotated);
  const std::string before = read_file(a_->configuration());
  write_file(a_->configuration(), before + "socked: 'x'\n");
  ASSERT_TRUE(reloads());
  EXPECT_NE(read_file(file).find("reload refused"), std::string::npos);
  // Back to stderr, and errors alone.
  std::string without = before;
  without.replace(without.find("log {"),
                  std::string("log { file: '" + file.string() + "' }").size(),
                  "log { level: ERROR }");
  write_file(a_->configuration(), without);
  ASSERT_TRUE(reloads());
  const std::string last = read_file(file);
  write_file(a_->configuration(), before + "socked: 'x'\n");
  ASSERT_TRUE(reloads());
  EXPECT_EQ(read_file(file), last);
  const Ended ended = a_->stop();
  EXPECT_NE(ended.err.find("reload refused"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("daemon stops"), std::string::npos) << ended.err;
}

// Three jobs for 25 rows, of which the last has fewer.
TEST_F(OperationTest, TablesGoThroughTheDaemons) {
  start();
  std::string table_a = "a\n", table_b = "b\n", expected = "a_has_more\n";
  for (int row = 0; row < 25; ++row) {
    const int a = 7 * row % 25, b = 11 * row % 25;
    table_a += std::to_string(a) + "\n";
    table_b += std::to_string(b) + "\n";
    expected += a > b ? "1\n" : "0\n";
  }
  write_file(dir_ / "a.csv", table_a);
  write_file(dir_ / "b.csv", table_b);
  write_file(dir_ / "short.csv", table_b.substr(0, table_b.rfind('\n', table_b.size() - 2) + 1));
  const auto run = [&](const Daemon& daemon, const std::string& table, const std::string& out) {
    return std::make_unique<Process>(
        TINYOT_BINARY,
        Arguments{"client", "run", "--server", "unix:" + daemon.socket().string(), "--job", "t",
                  "--circuit", "millionaires", "--rows", (dir_ / table).string(), "--out",
                  (dir_ / out).string(), "--column", "a_has_more=u1", "--rows-at-once", "10",
                  "--format", "json"});
  };
  const auto of_a = run(*a_, "a.csv", "out-a.csv"), of_b = run(*b_, "b.csv", "out-b.csv");
  for (Process* const process : {of_a.get(), of_b.get()}) {
    const Ended ended = process->end();
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_NE(ended.out.find("\"jobs\":3"), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find("\"rows\":25"), std::string::npos) << ended.out;
  }
  for (const char* const out : {"out-a.csv", "out-b.csv"}) {
    const std::string text = read_file(dir_ / out);
    EXPECT_EQ(text.substr(text.find('\n')), expected.substr(expected.find('\n'))) << out;
  }
  EXPECT_EQ(a_->client().status("t.25.1").id(), "");
  // Tables of different lengths have no job in common; a signal cancels those that wait.
  const auto waits = run(*b_, "short.csv", "out-short.csv");
  ASSERT_TRUE(becomes_true([&] { return b_->client().status("t.24.2").id() == "t.24.2"; }));
  waits->signal(SIGINT);
  EXPECT_EQ(waits->end().status, 128 + SIGINT);
  for (const char* const id : {"t.24.1", "t.24.2"})
    EXPECT_EQ(b_->client().status(id).state(), v1::CANCELLED) << id;
  EXPECT_FALSE(std::filesystem::exists(dir_ / "out-short.csv"));
}

TEST_F(OperationTest, ClientsMayDoWhatTheConfigurationSays) {
  make({});
  const std::string before = read_file(a_->configuration()), user = std::to_string(::getuid());
  const auto allow = [&](const std::string& rights) {
    write_file(a_->configuration(), before + "access { user: '" + user + "' " + rights + " }\n");
  };
  allow("may: SUBMIT");
  start_a();
  const auto denied = [](const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
  };
  const Client& client = a_->client();
  EXPECT_TRUE(client.submit(millionaires_a("1", 7)).ok());
  EXPECT_EQ(client.status("1").state(), v1::WAITING_FOR_PEER);
  const grpc::Status result = client.result("1").status;
  EXPECT_TRUE(denied(result)) << result.error_message();
  EXPECT_EQ(result.error_message(), "user " + user +
                                        " may not read results: no access { } of the configuration "
                                        "that names it has may: RESULTS");
  EXPECT_TRUE(denied(client.cancel("1")));
  EXPECT_TRUE(denied(client.retire("bob")));
  // No job is left that its client cannot do anything about.
  const Ended run =
      Process(TINYOT_BINARY, {"client", "run", "--server", "unix:" + a_->socket().string(), "--job",
                              "run", "--circuit", "millionaires", "--input", "a=7"})
          .end();
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("may: RESULTS; no job was submitted"), std::string::npos) << run.err;
  EXPECT_EQ(client.status("run").id(), "");
  // On the connection that is open.
  allow("may: CANCEL may: RETIRE");
  ASSERT_TRUE(reloads());
  EXPECT_TRUE(denied(client.submit(millionaires_a("2", 7))));
  EXPECT_TRUE(client.cancel("1").ok());
  EXPECT_EQ(client.retire("bob").error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  write_file(a_->configuration(),
             before + "access { user: '" + std::to_string(::getuid() + 1) + "' may: SUBMIT }\n");
  ASSERT_TRUE(reloads());
  EXPECT_EQ(client.peer().name(), "");
  write_file(a_->configuration(), before);
  ASSERT_TRUE(reloads());
  EXPECT_EQ(client.peer().name(), "bob");
  const Ended ended = a_->stop();
  EXPECT_NE(ended.err.find("\"event\":\"call refused\""), std::string::npos) << ended.err;
}

TEST_F(OperationTest, ClientsOnTcpAreNamedByTheirCertificates) {
  if (!make_certificates(dir_)) GTEST_SKIP() << "no openssl command";
  const std::string address = "127.0.0.1:" + reserved_port();
  const auto path = [&](const std::string& name) { return (dir_ / name).string(); };
  Setup setup;
  setup.daemon_a = "tls { listen: '" + address + "' certificate: '" + path("server.pem") +
                   "' key: '" + path("server.key") + "' clients: '" + path("ca.pem") +
                   "' }\naccess { client: 'client' may: RETIRE }";
  make(setup);
  a_->start();
  const auto call = [&](const std::string& name, Arguments arguments) {
    for (const std::string& more :
         {std::string("--server"), address, std::string("--tls-ca"), path("ca.pem"),
          std::string("--tls-certificate"), path(name + ".pem"), std::string("--tls-key"),
          path(name + ".key")})
      arguments.push_back(more);
    arguments.insert(arguments.begin(), "client");
    return Process(TINYOT_BINARY, arguments).end();
  };
  EXPECT_EQ(call("client", {"peers"}).status, 0);
  EXPECT_EQ(call("client", {"retire", "--peer", "bob"}).status, 5);  // there is no session
  const Ended resume = call("client", {"resume", "--peer", "bob"});
  EXPECT_EQ(resume.status, 2);
  EXPECT_NE(resume.err.find("the client 'client' may not resume refills"), std::string::npos)
      << resume.err;
  // The server's certificate is of the same authority, with another name.
  EXPECT_EQ(call("server", {"peers"}).status, 2);
  EXPECT_EQ(a_->client().peer().name(), "");
  EXPECT_GT(std::stod(a_->metric("tinyot_certificate_seconds_left{peer=\"\",use=\"interface\"}")),
            0);
}

}  // namespace
}  // namespace tinyot::test
