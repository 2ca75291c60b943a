// What an operator has to mend is found by `serve --check` and by the start, in the same words and
// with a status after which systemd does not start the daemon again.
#include <sys/stat.h>

#include <chrono>
#include <regex>

#include "base/secret_text.h"
#include "engine/key_file.h"
#include "tests/service/daemons.h"
#include "tests/support/small_disk.h"
#include "tests/support/sockets.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;
using net::Identity;
using std::chrono::days;

constexpr int kUsage = 2, kNetwork = 3;  // the unit has RestartPreventExitStatus=2

class StartCheckTest : public DaemonTest {
 protected:
  StartCheckTest() {
    write("policy", "allow { circuit: 'aes128' }");
    write_pair("server", Identity::generate());
    write_pair("clients", Identity::generate());
  }

  std::string path(const std::string& name) const { return (dir_ / name).string(); }
  void write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    write_file(dir_ / name, text);
    ::chmod(path(name).c_str(), mode);
  }
  // An ordinary certificate and its key in files of their own.
  void write_pair(const std::string& name, const Identity& identity) const {
    const SecretVector<char> pem = identity.private_pem();
    const std::string both(pem.begin(), pem.end());
    write(name + ".key", both.substr(0, both.find("-----BEGIN CERTIFICATE")));
    write(name + ".crt", identity.certificate_pem(), 0644);
  }
  static Identity identity(std::chrono::seconds from, days valid) {
    return Identity::generate(Identity::Clock::now() + from, valid);
  }

  // The fields of a configuration that can start, some of them changed.
  using Fields = std::map<std::string, std::string>;
  std::string configuration(const Fields& changes = {}) const {
    Fields fields = {{"directory", path("stores")},
                     {"socket", path("socket")},
                     {"ledger", path("ledgers")},
                     {"store_key", path("store.key")},
                     {"tls.listen", tls_address_},
                     {"tls.certificate", path("server.crt")},
                     {"tls.key", path("server.key")},
                     {"tls.clients", path("clients.crt")},
                     {"policy", path("policy")},
                     {"listen", "127.0.0.1:" + port_},
                     {"key", path("party.pem")},
                     {"peer_key", "@" + path("peer.pem.crt")},
                     {"metrics", metrics_}};
    for (const auto& [name, value] : changes) fields[name] = value;
    std::string text, tls, peer;
    for (const auto& [name, value] : fields) {
      const std::string field = name.substr(name.find('.') + 1) + ": '" + value + "'\n";
      if (name.starts_with("tls."))
        tls += field;
      else
        (Fields{{"policy", ""}, {"listen", ""}, {"key", ""}, {"peer_key", ""}}.contains(name)
             ? peer
             : text) += field;
    }
    return text + "tls {\n" + tls +
           "}\npeer { name: 'bob' party: A profile: 'fast' low { ands: 10 }\n" +
           "high { ands: 20 }\n" + peer + "}\n";
  }
  void write_parties() const {
    write("store.key", "0123456789abcdef0123456789abcdef");
    for (const char* name : {"party.pem", "peer.pem"}) {
      fs::remove(dir_ / name);
      fs::remove(dir_ / (std::string(name) + ".crt"));
      engine::write_identity(Identity::generate(), dir_ / name);
    }
  }

  Ended serve(const std::string& text, const Arguments& more = {}) const {
    write("conf", text);
    Arguments arguments = {"serve", "--config", path("conf")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Process(TINYOT_BINARY, arguments).end();
  }
  // Without the time.
  static std::string error_in(const Ended& ended) {
    const std::size_t at = ended.err.find("ERROR tinyot: ");
    return at == std::string::npos ? ended.err : ended.err.substr(at);
  }
  std::string with_custody(const std::string& fields) const {
    std::string text = configuration();
    text.resize(text.rfind('}'));
    return text + "sigma: 64 custody { policy: '" + path("keys") + "' " + fields + " } }\n";
  }
  void expect_refused(const Fields& changes, const std::string& message) const {
    expect_text_refused(configuration(changes), message);
  }
  void expect_text_refused(const std::string& text, const std::string& message) const {
    const Ended check = serve(text, {"--check"});
    EXPECT_EQ(check.status, kUsage) << message << check.out;
    EXPECT_NE(check.err.find(path("conf") + ": " + message), std::string::npos) << check.err;
    const Ended start = serve(text);
    EXPECT_EQ(start.status, kUsage) << message;
    EXPECT_EQ(error_in(start), error_in(check));
    EXPECT_FALSE(fs::exists(dir_ / "stores")) << "nothing is made";
    EXPECT_FALSE(fs::exists(dir_ / "ledgers"));
  }

  std::string tls_address_ = "127.0.0.1:" + reserved_port(),
              metrics_ = "127.0.0.1:" + reserved_port();
};

TEST_F(StartCheckTest, AcceptsWhatStarts) {
  write_parties();
  const Ended check = serve(configuration(), {"--check"});
  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_EQ(check.out, path("conf") + ": the daemon can start, with 1 peer\n");
  EXPECT_EQ(check.err, "");
  EXPECT_FALSE(fs::exists(dir_ / "stores")) << "nothing is made";
  Process daemon(TINYOT_BINARY, {"serve", "--config", path("conf")});
  EXPECT_TRUE(becomes_true([&] { return Client(path("socket")).peer().name() == "bob"; }));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(StartCheckTest, RefusesFilesOfTls) {
  write_parties();
  expect_refused({{"tls.key", path("none.key")}},
                 "tls.key: cannot read " + path("none.key") + ": No such file or directory");
  expect_refused({{"tls.certificate", path("none.crt")}},
                 "tls.certificate: cannot read " + path("none.crt") + ": No such file");
  expect_refused({{"tls.clients", path("none.crt")}},
                 "tls.clients: cannot read " + path("none.crt") + ": No such file");
  write("readable.key", "", 0644);
  expect_refused({{"tls.key", path("readable.key")}},
                 "tls.key: " + path("readable.key") + " is readable by other users");
  write("empty", "");
  expect_refused({{"tls.key", path("empty")}}, "tls: " + path("empty") + " holds no private key");
  expect_refused({{"tls.certificate", path("empty")}},
                 "tls: " + path("empty") + " holds no certificate");
  expect_refused({{"tls.clients", path("policy")}},
                 "tls.clients: " + path("policy") + " holds no certificate");
  write_pair("other", Identity::generate());
  expect_refused({{"tls.key", path("other.key")}},
                 "tls: " + path("server.crt") +
                     " holds a certificate that does not belong to the private key in " +
                     path("other.key"));
  write("cut.crt",
        identity(days(-1), days(90)).certificate_pem() + "-----BEGIN CERTIFICATE-----\n");
  expect_refused({{"tls.clients", path("cut.crt")}},
                 "tls.clients: " + path("cut.crt") + " holds a certificate that cannot be read");
}

TEST_F(StartCheckTest, RefusesCertificatesThatAreNotValid) {
  write_parties();
  const auto refused = [&](const Identity& not_valid, const std::string& why) {
    write_pair("server", not_valid);
    expect_refused({}, "tls: " + path("server.crt") + " holds a certificate that " + why);
    write_pair("server", Identity::generate());
    write_pair("clients", not_valid);
    expect_refused({}, "tls.clients: " + path("clients.crt") +
                           " holds no certificate that is valid now: " + not_valid.dates());
    write_pair("clients", Identity::generate());
    write("party.pem", std::string(view_of(not_valid.private_pem())));
    expect_refused({}, "peer bob: " + path("party.pem") + " holds a certificate that " + why);
    write_parties();
  };
  refused(identity(days(-10), days(9)), "has expired: valid from ");
  refused(identity(days(1), days(9)), "is not valid yet: valid from ");
}

TEST_F(StartCheckTest, WarnsOfCertificatesThatExpireSoon) {
  write_parties();
  const Identity soon = identity(days(-1), days(30));
  write_pair("server", soon);
  write_pair("clients", soon);
  write("party.pem", std::string(view_of(soon.private_pem())));
  const Ended check = serve(configuration(), {"--check"});
  EXPECT_EQ(check.status, 0) << check.err;
  for (const std::string& field : {"tls.certificate: the certificate in " + path("server.crt"),
                                   "tls.clients: the certificate in " + path("clients.crt"),
                                   "peer bob: key: the certificate in " + path("party.pem")})
    EXPECT_NE(check.err.find(path("conf") + ": " + field + " expires in 28 days"),
              std::string::npos)
        << check.err;
}

// Each is served as a metric of its own, which an alert looks at.
TEST_F(StartCheckTest, CertificatesOfTheInterfaceAreWatched) {
  write_parties();
  write_pair("server", identity(days(-1), days(101)));
  write_pair("clients", identity(days(-1), days(201)));
  write("conf", configuration());
  Process daemon(TINYOT_BINARY, {"serve", "--config", path("conf")});
  std::string text;
  const auto days_left = [&](const std::string& use) {
    const std::string name = "\ntinyot_certificate_seconds_left{peer=\"\",use=\"" + use + "\"} ";
    const std::size_t at = text.find(name);
    return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size())) / 86400;
  };
  ASSERT_TRUE(becomes_true([&] {
    const Socket socket = connect_to(metrics_.substr(metrics_.find(':') + 1));
    if (!socket.send_all("GET /metrics HTTP/1.0\r\n\r\n")) return false;
    text.clear();
    char buffer[65536];
    for (ssize_t count; (count = ::read(socket.get(), buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(count));
    return days_left("clients") > 0;
  }));
  EXPECT_NEAR(days_left("interface"), 100, 1);
  EXPECT_NEAR(days_left("clients"), 200, 1);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

// Those of all peers count, whichever is named last.
TEST_F(StartCheckTest, WarnsOfPreparedRunsBeyondTheMemory) {
  write_parties();
  const auto check = [&](const std::string& count) {
    std::string text = configuration();
    text.replace(text.find("low { ands: 10 }\nhigh { ands: 20 }"), 34,
                 "material: 'garbling' low { ands: 10 } high { ands: 100000000 }");
    const std::size_t begin = text.find("peer {");
    std::string other = text.substr(begin);
    text.insert(text.rfind('}'),
                "prepared_bytes_max: 1000000000000000 prepared { circuit: "
                "'aes128' lanes: 500 count: " +
                    count + " }\n");
    other.insert(other.rfind('}'), "prepared { circuit: 'aes128' count: 1 }\n");
    other.replace(other.find("'bob'"), 5, "'carol'");
    other.replace(other.find(port_), port_.size(), reserved_port());
    return serve(text + other, {"--check"});
  };
  const std::string warning = path("conf") + ": prepared runs of all peers take ";
  const Ended one = check("1"), many = check("10000");
  for (const Ended& ended : {one, many}) EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(one.err.find(warning), std::string::npos) << one.err;
  EXPECT_NE(many.err.find(warning), std::string::npos) << many.err;
}

TEST_F(StartCheckTest, TellsTheHoursOfTheLastDays) {
  write_parties();
  const Identity soon = identity(std::chrono::hours(5) - days(1), days(1));
  write("party.pem", std::string(view_of(soon.private_pem())));
  const Ended check = serve(configuration(), {"--check"});
  EXPECT_NE(check.err.find(path("party.pem") + " expires in 4 hours"), std::string::npos)
      << check.err;
}

TEST_F(StartCheckTest, TellsTheSecondsOfTheLastMinutes) {
  write_parties();
  const Identity soon = identity(std::chrono::seconds(119) - days(1), days(1));
  write("party.pem", std::string(view_of(soon.private_pem())));
  const Ended check = serve(configuration(), {"--check"});
  EXPECT_TRUE(std::regex_search(check.err, std::regex("party.pem expires in [0-9]+ seconds")))
      << check.err;
}

TEST_F(StartCheckTest, WarnsOfAFullDisk) {
  write_parties();
  const SmallDisk disk(dir_ / "disk", 1 << 19);
  if (!disk.is_mounted()) GTEST_SKIP() << "this process may not mount";
  for (const std::string directory : {"disk", "disk/stores"}) {
    const Ended check = serve(configuration({{"directory", path(directory)}}), {"--check"});
    EXPECT_EQ(check.status, 0) << check.err;
    EXPECT_NE(check.err.find(path("conf") + ": directory: the disk is full: "), std::string::npos)
        << check.err;
  }
}

TEST_F(StartCheckTest, RefusesKeysOfPartiesAndStores) {
  write_parties();
  expect_refused({{"store_key", path("none")}}, "store_key: cannot open " + path("none"));
  write("short", "0123");
  expect_refused({{"store_key", path("short")}}, "store_key: the store key " + path("short"));
  write("open", std::string(32, 'k'), 0644);
  expect_refused({{"store_key", path("open")}},
                 "store_key: the store key " + path("open") + " is open to other users");
  expect_refused({{"key", path("none")}}, "peer bob: cannot read " + path("none"));
  ::chmod(path("party.pem").c_str(), 0644);
  expect_refused({}, "peer bob: " + path("party.pem") + " is readable by other users");
  ::chmod(path("party.pem").c_str(), 0600);
  expect_refused({{"peer_key", "@" + path("none")}}, "peer bob: cannot read " + path("none"));
  expect_refused({{"policy", path("none")}}, "cannot read " + path("none"));
}

TEST_F(StartCheckTest, RefusesDirectories) {
  write_parties();
  for (const std::string field : {"directory", "ledger"}) {
    expect_refused({{field, path("none/below")}},
                   field + ": there is neither " + path("none/below") + " nor the directory " +
                       path("none") + ", in which the daemon would make it");
    expect_refused({{field, path("policy")}},
                   field + ": cannot write the directory " + path("policy") + ": Not a directory");
  }
  expect_refused({{"socket", path("none/socket")}},
                 "socket: cannot write the directory " + path("none") + ": No such file");
  expect_refused({{"socket", path("policy")}},
                 "socket: " + path("policy") + " is there, and is not a socket");
  expect_refused({{"socket", path(std::string(100, 's'))}},
                 "socket: the path has more than the 107");
  expect_refused({{"tls.listen", "nowhere"}}, "tls.listen: ");
}

TEST_F(StartCheckTest, RefusesUsersThatThereAreNot) {
  write_parties();
  for (const std::string of : {"user", "group"})
    expect_text_refused(configuration() + "access { " + of + ": 'no-such' may: SUBMIT }\n",
                        "access: " + of + ": there is no " + of + " 'no-such'");
}

TEST_F(StartCheckTest, RefusesLogsThatCannotBeWritten) {
  write_parties();
  const auto refused = [&](const std::string& file, const std::string& message) {
    expect_text_refused(configuration() + "log { file: '" + file + "' }\n", "log.file: " + message);
  };
  refused("log", "give an absolute path, not log");
  refused(dir_.string(), dir_.string() + " is there, and is not a file");
  refused(path("none/log"), "cannot write " + path("none"));
}

TEST_F(StartCheckTest, RefusesWhatCustodyCannotUse) {
  write_parties();
  const std::string in_peer = "peer bob: custody.", directory = dir_.string();
  expect_text_refused(with_custody(""), in_peer + "policy: cannot read " + path("keys"));
  write("keys", "allow {");
  expect_text_refused(with_custody(""), in_peer + "policy: " + path("keys") + ":1:8: ");
  write("keys", "allow { user: 'no-such-user' key: 'a' may: SIGN }");
  expect_text_refused(with_custody(""),
                      in_peer + "policy: rule 1: user: there is no user 'no-such-user'");
  write("keys", "allow { peer: true key: 'a' may: SIGN }");
  expect_text_refused(with_custody("audit_log: '" + path("none/audit.log") + "'"),
                      in_peer + "audit_log: cannot write the directory " + path("none"));
  expect_text_refused(with_custody("audit_log: '" + directory + "'"),
                      in_peer + "audit_log: " + directory + " is there, and is not a file");
  const std::string to = "backup_to { name: 'safe' key: '" + std::string(64, 'a') + "' } ";
  expect_text_refused(with_custody(to + "backup_directory: '" + path("none") + "'"),
                      in_peer + "backup_directory: cannot write the directory " + path("none"));
  const auto kms = [&](const std::string& socket) {
    return "kms { socket: '" + path(socket) + "' label: 'a' }";
  };
  expect_text_refused(with_custody(kms("keys")),
                      in_peer + "kms.socket: " + path("keys") + " is there, and is not a socket");
  expect_text_refused(with_custody(kms(std::string(100, 's'))),
                      in_peer + "kms.socket: the path has more than the 107");
  const Ended check = serve(with_custody(kms("kms") + to + "backup_directory: '" + directory + "'" +
                                         " audit_log: '" + path("audit.log") + "'"),
                            {"--check"});
  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_EQ(check.err, "");
  EXPECT_FALSE(fs::exists(dir_ / "audit.log")) << "nothing is made";
}

TEST_F(StartCheckTest, WarnsOfKeyPolicyThatAllowsNothing) {
  write_parties();
  write("keys", "");
  const Ended check = serve(with_custody(""), {"--check"});
  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_NE(check.err.find(path("conf") + ": peer bob: custody.policy: " + path("keys") +
                           " allows nothing"),
            std::string::npos)
      << check.err;
}

// The service manager makes it at the start.
TEST_F(StartCheckTest, OnlyWarnsOfMissingRuntimeDirectory) {
  write_parties();
  const std::string socket = "/run/tinyot-test-" + std::to_string(::getpid()) + "/socket",
                    text = configuration({{"socket", socket}}),
                    message = path("conf") + ": socket: cannot write the directory ";
  const Ended check = serve(text, {"--check"});
  EXPECT_EQ(check.status, 0);
  EXPECT_NE(check.err.find(message), std::string::npos) << check.err;
  const Ended start = serve(text);
  EXPECT_EQ(start.status, kUsage);
  EXPECT_NE(start.err.find(message), std::string::npos) << start.err;
}

// It may be free after the next restart.
TEST_F(StartCheckTest, BusyAddressIsNamed) {
  write_parties();
  const Listener busy;
  tls_address_ = "127.0.0.1:" + busy.port();
  const Ended tls = serve(configuration());
  EXPECT_EQ(tls.status, kNetwork);
  EXPECT_NE(tls.err.find("tls.listen: cannot listen on " + tls_address_), std::string::npos)
      << tls.err;
  EXPECT_NE(tls.err.find("in use"), std::string::npos) << tls.err;
  metrics_.swap(tls_address_);
  const Ended metrics = serve(configuration());
  EXPECT_EQ(metrics.status, kNetwork);
  EXPECT_NE(metrics.err.find("metrics: cannot listen on " + metrics_), std::string::npos)
      << metrics.err;
  metrics_ = "127.0.0.1:" + reserved_port();
  make(Setup());
  a_->start();
  const Ended socket = serve(configuration(
      {{"socket", a_->socket().string()}, {"listen", "127.0.0.1:" + reserved_port()}}));
  EXPECT_EQ(socket.status, kNetwork);
  EXPECT_NE(socket.err.find("socket: another process serves " + a_->socket().string()),
            std::string::npos)
      << socket.err;
  write("keys", "");
  port_ = reserved_port();
  const Ended kms =
      serve(with_custody("kms { socket: '" + a_->socket().string() + "' label: 'a' }"));
  EXPECT_EQ(kms.status, kNetwork);
  EXPECT_NE(
      kms.err.find("peer bob: custody.kms.socket: another process serves " + a_->socket().string()),
      std::string::npos)
      << kms.err;
}

}  // namespace
}  // namespace tinyot::test
