// Keys and channels as users see them: keygen, --key and --peer-key, admission, and what a store
// records about its peer.
#include <sys/stat.h>

#include <regex>

#include "tests/support/command_test.h"
#include "tests/support/layers.h"
#include "tests/support/small_disk.h"

namespace tinyot::test {
namespace {

constexpr auto kInTime = std::chrono::seconds(15);
const Arguments kSmallJob = {"--ands", "2^10", "--profile", "fast"};

class KeysTest : public CommandTest {
 protected:
  // Generates a key in a file with this name, and returns its fingerprint.
  std::string keygen(const std::string& name) const {
    const Ended ended = tinyot({"keygen", "--out", path(name), "--format", "json"});
    EXPECT_TRUE(ended_with(ended, 0));
    return json_of(ended)["fingerprint"];
  }

  // A key for each party, and a third one.
  void keygen_all() {
    for (const char* name : {"a", "b", "c"})
      fingerprints_[*name] = keygen(name + std::string(".pem"));
  }

  // The options for a party's own key and for the pinned one.
  Arguments keys(char mine, char peers) const {
    return {"--key", path(std::string(1, mine) + ".pem"), "--peer-key", fingerprints_.at(peers)};
  }

  void preprocess_with_keys() {
    keygen_all();
    const BothEnded ended =
        both("preprocess", kSmallJob + keys('a', 'b'), kSmallJob + keys('b', 'a'));
    ASSERT_TRUE(ended_with(ended.a, 0));
    ASSERT_TRUE(ended_with(ended.b, 0));
  }

  Arguments run(char party) const {
    return {"--circuit", circuit_file("adder64.txt"), "--input", party == 'A' ? "0=1" : "1=2"};
  }

  unsigned mode(const std::string& name) const {
    struct stat status {};
    return ::stat(path(name).c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
  }

  std::map<char, std::string> fingerprints_;
};

TEST_F(KeysTest, KeygenMakesPrivateKeyFile) {
  const Ended ended = tinyot({"keygen", "--out", path("k.pem")});
  ASSERT_TRUE(ended_with(ended, 0));
  static const std::regex kText(
      R"(fingerprint (sha256:[0-9a-f]{64}), valid \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d\n)"
      R"(private key: .*\ncertificate: .*\n)");
  std::smatch match;
  ASSERT_TRUE(std::regex_match(ended.out, match, kText)) << ended.out;
  EXPECT_EQ(mode("k.pem"), 0600u);
  EXPECT_EQ(mode("k.pem.crt"), 0644u);
  EXPECT_NE(read_file(path("k.pem")).find("PRIVATE KEY"), std::string::npos);
  EXPECT_EQ(read_file(path("k.pem.crt")).find("PRIVATE KEY"), std::string::npos);
  EXPECT_EQ(ended.out.find("BEGIN"), std::string::npos);
}

TEST_F(KeysTest, KeygenOverwritesNothing) {
  keygen("k.pem");
  const std::string key = read_file(path("k.pem")), certificate = read_file(path("k.pem.crt"));
  EXPECT_TRUE(
      ended_with(tinyot({"keygen", "--out", path("k.pem")}), 2, path("k.pem") + " already exists"));
  EXPECT_EQ(read_file(path("k.pem")), key);
  std::filesystem::remove(path("k.pem"));
  EXPECT_TRUE(ended_with(tinyot({"keygen", "--out", path("k.pem")}), 2,
                         path("k.pem.crt") + " already exists"));
  EXPECT_FALSE(std::filesystem::exists(path("k.pem")));
  EXPECT_EQ(read_file(path("k.pem.crt")), certificate);
}

TEST_F(KeysTest, KeygenWritesIntoDirectoryAndNamesUnwritablePath) {
  std::filesystem::create_directory(path("keys"));
  ASSERT_TRUE(ended_with(tinyot({"keygen", "--out", path("keys")}), 0, ""));
  EXPECT_EQ(mode("keys/tinyot-key.pem"), 0600u);
  EXPECT_TRUE(ended_with(tinyot({"keygen", "--out", path("keys")}), 2, "already exists"));
  EXPECT_TRUE(ended_with(tinyot({"keygen", "--out", path("none/k.pem")}), 2,
                         "cannot write " + path("none/k.pem")));
  EXPECT_TRUE(ended_with(tinyot({"keygen"}), 2, "--output or --renew is missing"));
}

// A part of a key would only be noticed when it is used.
TEST_F(KeysTest, NothingStaysOfAKeyThatTheDiskHasNoRoomFor) {
  const SmallDisk disk(path("disk"), 4096);
  if (!disk.is_mounted()) GTEST_SKIP() << "this process may not mount";
  write_file(path("disk/filler"), std::string(4096, '.'));
  EXPECT_TRUE(ended_with(tinyot({"keygen", "--out", path("disk/k.pem")}), 2,
                         "cannot write " + path("disk/k.pem") + ": No space left on device"));
  for (const char* const file : {"disk/k.pem", "disk/k.pem.crt"})
    EXPECT_FALSE(std::filesystem::exists(path(file))) << file;
}

// The stores of the key can still be used, and what the peer has pinned stays right.
TEST_F(KeysTest, RenewedCertificateHasTheSameKey) {
  const std::string fingerprint = keygen("k.pem"), before = read_file(path("k.pem"));
  ASSERT_EQ(::chmod(path("k.pem").c_str(), 0400), 0);
  ASSERT_EQ(::chmod(path("k.pem.crt").c_str(), 0640), 0);
  std::filesystem::create_symlink(path("k.pem"), path("link.pem"));
  write_file(path("k.pem.new"), "left by one that was broken off");
  for (const char* const file : {"k.pem", "link.pem"}) {
    const Ended ended = tinyot({"keygen", "--renew", path(file), "--format", "json"});
    ASSERT_TRUE(ended_with(ended, 0));
    EXPECT_EQ(json_of(ended)["fingerprint"], fingerprint);
  }
  const std::string after = read_file(path("k.pem"));
  EXPECT_NE(after, before);
  EXPECT_EQ(after.substr(0, after.find("-----BEGIN CERT")),
            before.substr(0, before.find("-----BEGIN CERT")));
  EXPECT_NE(after.find(read_file(path("k.pem.crt"))), std::string::npos);
  EXPECT_EQ(mode("k.pem"), 0400u);
  EXPECT_EQ(mode("k.pem.crt"), 0640u);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.pem")));
  for (const char* const file : {"k.pem.new", "k.pem.crt.new", "link.pem.crt"})
    EXPECT_FALSE(std::filesystem::exists(path(file))) << file;
  const std::string text = tinyot({"keygen", "--renew", path("k.pem")}).out;
  EXPECT_NE(text.find(fingerprint + ": stores can still be used, and the peer needs nothing\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("send"), std::string::npos) << text;
  EXPECT_TRUE(ended_with(tinyot({"keygen", "--renew", path("none.pem")}), 2, "cannot read"));
  EXPECT_TRUE(ended_with(tinyot({"keygen", "--renew", path("k.pem.crt")}), 2, ""));
  EXPECT_TRUE(ended_with(tinyot({"keygen", "--renew", path("k.pem"), "--output", path("l.pem")}), 2,
                         "exclude each other"));
}

TEST_F(KeysTest, NonLoopbackAddressesRequireKeys) {
  keygen_all();
  const Arguments begin = {"preprocess", "--party", "A", "--store", path("A")};
  for (const char* address : {"0.0.0.0:7766", "[::]:7766", "192.0.2.1:7766", "a.example:7766"}) {
    for (const char* way : {"--listen", "--connect"})
      EXPECT_TRUE(ended_with(tinyot(begin + kSmallJob + Arguments{way, address}, {}, kInTime), 2,
                             "tinyot keygen --output FILE"))
          << address;
  }
  const Arguments anywhere =
      begin + kSmallJob + Arguments{"--listen", "0.0.0.0:" + port_, "--connect-timeout", "1"};
  const Ended warned = tinyot(anywhere + Arguments{"--insecure-plaintext", "--quiet"}, {}, kInTime);
  EXPECT_TRUE(ended_with(warned, 3, "WARNING tinyot: --insecure-plaintext"));
  EXPECT_NE(warned.err.find("no peer connected"), std::string::npos) << warned.err;
  const Ended safe = tinyot(anywhere + keys('a', 'b'), {}, kInTime);
  EXPECT_TRUE(ended_with(safe, 3, "no peer connected"));
  EXPECT_EQ(safe.err.find("WARNING"), std::string::npos) << safe.err;
}

TEST_F(KeysTest, RejectsUnusableKeys) {
  keygen_all();
  std::filesystem::copy_file(path("a.pem"), path("open.pem"));
  ASSERT_EQ(::chmod(path("open.pem").c_str(), 0640), 0);
  write_file(path("noise"), random_hex(100));
  ASSERT_EQ(::chmod(path("noise").c_str(), 0600), 0);
  write_file(path("long"), std::string(1 << 17, '\n'));
  const std::string secret = read_file(path("a.pem")).substr(40, 24);
  const auto refuse = [&](const Arguments& more, const std::string& message) {
    const Ended ended = tinyot(as('A', "preprocess", kSmallJob + more), {}, kInTime);
    EXPECT_TRUE(ended_with(ended, 2, message));
    EXPECT_EQ(ended.err.find(secret), std::string::npos) << ended.err;
  };
  refuse({"--key", path("a.pem")}, "--key and --peer-key go together");
  refuse({"--peer-key", fingerprints_['b']}, "--key and --peer-key go together");
  refuse(keys('a', 'b') + Arguments{"--insecure-plaintext"}, "exclude each other");
  refuse(keys('a', 'a'), "this party's own");
  refuse({"--key", path("open.pem"), "--peer-key", fingerprints_['b']},
         "chmod 600 " + path("open.pem"));
  refuse({"--key", path("none"), "--peer-key", fingerprints_['b']}, "cannot read " + path("none"));
  refuse({"--key", path("noise"), "--peer-key", fingerprints_['b']},
         path("noise") +
             " holds no private key that can be read without a passphrase; make a key "
             "with tinyot keygen --output FILE\n");
  refuse({"--key", path("a.pem"), "--peer-key", "sha256:12"},
         "the peer's key must be a fingerprint");
  for (const char* file : {"noise", "long", "none"})
    refuse({"--key", path("a.pem"), "--peer-key", "@" + path(file)}, path(file));
}

// Both ways to name the peer, several workers, and the peer that the stores record.
TEST_F(KeysTest, PreprocessesAndRunsOverTls) {
  keygen_all();
  write_file(path("fingerprint"), fingerprints_['a'] + "\n");
  const BothEnded made = both("preprocess",
                              kSmallJob + Arguments{"--threads", "3", "--key", path("a.pem"),
                                                    "--peer-key", "@" + path("b.pem.crt")},
                              kSmallJob + Arguments{"--threads", "3", "--key", path("b.pem"),
                                                    "--peer-key", "@" + path("fingerprint")});
  ASSERT_TRUE(ended_with(made.a, 0));
  ASSERT_TRUE(ended_with(made.b, 0));
  EXPECT_EQ(store_info('A')["peer"], fingerprints_['b']);
  EXPECT_EQ(store_info('B')["peer"], fingerprints_['a']);
  const BothEnded ran = both("run", run('A') + keys('a', 'b'), run('B') + keys('b', 'a'));
  EXPECT_EQ(json_of(ran.a)["outputs"]["0"], "0x0000000000000003");
  EXPECT_EQ(json_of(ran.b)["outputs"]["0"], "0x0000000000000003");
}

TEST_F(KeysTest, RunsLiveOverTls) {
  keygen_all();
  const Arguments live = {"--live", "--profile", "fast"};
  const auto begin = [&](char party, const char* way) {
    return Arguments{"run",      "--party", std::string(1, party), way, "127.0.0.1:" + port_,
                     "--format", "json"} +
           live + run(party);
  };
  Process a(TINYOT_BINARY, begin('A', "--listen") + keys('a', 'b')),
      b(TINYOT_BINARY, begin('B', "--connect") + keys('b', 'a'));
  EXPECT_EQ(json_of(a.end())["outputs"]["0"], "0x0000000000000003");
  EXPECT_EQ(json_of(b.end())["outputs"]["0"], "0x0000000000000003");
}

// Nothing is sent before the store has accepted the peer.
TEST_F(KeysTest, StoreIsBoundToItsPeer) {
  preprocess_with_keys();
  const Listener unused;
  listener_ = 'A', peer_port_ = unused.port();
  const std::string refusal = "was made with the peer " + fingerprints_['a'];
  EXPECT_TRUE(
      ended_with(tinyot(as('B', "run", run('B') + keys('b', 'c')), {}, kInTime), 5, refusal));
  EXPECT_TRUE(ended_with(tinyot(as('B', "run", run('B')), {}, kInTime), 5, refusal));
  EXPECT_TRUE(ended_with(tinyot(as('B', "run", run('B')), {}, kInTime), 5,
                         "; give --key and that --peer-key\n"));
  for (const Arguments& other : {keys('b', 'c'), Arguments()})
    EXPECT_TRUE(ended_with(
        tinyot(as('B', "preprocess", kSmallJob + Arguments{"--resume"} + other), {}, kInTime), 5,
        refusal));
  EXPECT_FALSE(unused.accept(std::chrono::milliseconds(0)).valid()) << "it connected nevertheless";
  EXPECT_TRUE(
      ended_with(tinyot(as('B', "preprocess", kSmallJob + Arguments{"--resume"} + keys('b', 'a')),
                        {}, kInTime),
                 0));
}

// The first shard's session file names the peer for all shards.
TEST_F(KeysTest, ShardIsBoundToThePeerOfItsSessionFile) {
  keygen_all();
  const auto shard = [&](char party, int number) {
    const std::string name(1, party);
    return Arguments{"--ands",    "2^12",
                     "--unit",    "2^11",
                     "--profile", "fast",
                     "--quiet",   "--allow-weak",
                     "--session", path(name + ".session"),
                     "--shard",   std::to_string(number) + "/2",
                     "--store",   path(name + std::to_string(number))};
  };
  const auto begin = [&](char party, int number, const Arguments& keys) {
    return Arguments{"preprocess", "--party", std::string(1, party),
                     party == 'A' ? "--listen" : "--connect", "127.0.0.1:" + peer_port_} +
           shard(party, number) + keys;
  };
  Process first_a(TINYOT_BINARY, begin('A', 1, keys('a', 'b'))),
      first_b(TINYOT_BINARY, begin('B', 1, keys('b', 'a')));
  ASSERT_TRUE(ended_with(first_a.end(), 0));
  ASSERT_TRUE(ended_with(first_b.end(), 0));
  {
    const Listener other_peer;
    peer_port_ = other_peer.port();
    const std::string refusal =
        "the session of " + path("B.session") + " was made with the peer " + fingerprints_['a'];
    for (const Arguments& other : {keys('b', 'c'), Arguments()})
      EXPECT_TRUE(ended_with(tinyot(begin('B', 2, other), {}, kInTime), 5, refusal));
    EXPECT_FALSE(other_peer.accept(std::chrono::milliseconds(0)).valid())
        << "it connected before it refused";
  }
  EXPECT_FALSE(std::filesystem::exists(path("B2")));
  peer_port_ = port_;
  Process second_a(TINYOT_BINARY, begin('A', 2, keys('a', 'b'))),
      second_b(TINYOT_BINARY, begin('B', 2, keys('b', 'a')));
  EXPECT_TRUE(ended_with(second_a.end(), 0));
  EXPECT_TRUE(ended_with(second_b.end(), 0));
}

TEST_F(KeysTest, PlainStoreContinuesOverTls) {
  keygen_all();
  preprocess("2^10");
  EXPECT_EQ(store_info('A')["peer"], "B");
  const BothEnded ran = both("run", run('A') + keys('a', 'b'), run('B') + keys('b', 'a'));
  EXPECT_EQ(json_of(ran.a)["outputs"]["0"], "0x0000000000000003");
}

TEST_F(KeysTest, RejectsAnotherKeyNamingBothFingerprints) {
  keygen_all();
  const Arguments quick = kSmallJob + Arguments{"--connect-timeout", "2"};
  // B pins another key and rejects A, which continues to listen.
  BothEnded ended = both("preprocess", quick + keys('a', 'b'), quick + keys('b', 'c'));
  EXPECT_TRUE(ended_with(ended.b, 3,
                         "expected " + fingerprints_['c'] + ", but the peer has " +
                             fingerprints_['a'] + " in a certificate valid from "));
  EXPECT_TRUE(ended_with(ended.b, 3, "; check --peer-key\n"));
  EXPECT_TRUE(ended_with(ended.a, 3, "no peer connected"));
  // A pins another key.
  ended = both("preprocess", quick + keys('a', 'c'), quick + keys('b', 'a'));
  EXPECT_TRUE(ended_with(ended.a, 3,
                         "expected " + fingerprints_['c'] + ", but the peer has " +
                             fingerprints_['b'] + " in a certificate valid from "));
  EXPECT_TRUE(ended_with(ended.a, 3, "; check --peer-key\n"));
  EXPECT_TRUE(ended_with(ended.b, 3, fingerprints_['b']));
  for (const Ended& each : {ended.a, ended.b}) EXPECT_EQ(each.err.find("BEGIN"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("A")));
  EXPECT_FALSE(std::filesystem::exists(path("B")));
}

TEST_F(KeysTest, ReportsThatOneSideLacksTls) {
  keygen_all();
  const Arguments quick = kSmallJob + Arguments{"--connect-timeout", "2"};
  const std::string both_keys = "; give --key and --peer-key on both sides or on neither\n";
  BothEnded ended = both("preprocess", quick + keys('a', 'b'), quick);
  EXPECT_TRUE(ended_with(ended.a, 3, "the peer does not use TLS, and this side does" + both_keys));
  EXPECT_TRUE(ended_with(ended.b, 3));
  ended = both("preprocess", quick, quick + keys('b', 'a'));
  EXPECT_TRUE(ended_with(ended.a, 3, "the peer uses TLS, and this side does not" + both_keys));
  EXPECT_TRUE(ended_with(ended.b, 3));
}

// The peer is admitted in any order of arrival, and each other connection is logged in one line.
TEST_F(KeysTest, AdmitsThePeerAmongUnauthenticatedOnes) {
  keygen_all();
  Process a(TINYOT_BINARY, as('A', "preprocess", kSmallJob + keys('a', 'b')));
  const Socket garbage = connect_to(port_), silent = connect_to(port_);
  garbage.send_all("GET / HTTP/1.1\r\n\r\n");
  connect_to(port_).close();
  EXPECT_TRUE(ended_with(tinyot(as('B', "preprocess", kSmallJob + keys('c', 'a'))), 3));
  const Ended b = tinyot(as('B', "preprocess", kSmallJob + keys('b', 'a')));
  EXPECT_TRUE(ended_with(b, 0));
  const Ended of_a = a.end();
  EXPECT_TRUE(ended_with(of_a, 0, "does not use TLS"));
  EXPECT_TRUE(ended_with(of_a, 0, "the peer has " + fingerprints_['c']));
  EXPECT_TRUE(ended_with(of_a, 0, "closed the connection"));
}

TEST_F(KeysTest, AdmitsThePeerAmongOthersOverPlainTcp) {
  Process a(TINYOT_BINARY, as('A', "preprocess", kSmallJob));
  const Socket garbage = connect_to(port_), silent = connect_to(port_);
  garbage.send_all("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(ended_with(tinyot(as('B', "preprocess", kSmallJob)), 0));
  EXPECT_TRUE(ended_with(a.end(), 0, "rejected a connection"));

  port_ = peer_port_ = reserved_port();
  for (const char* name : {"A", "B"}) std::filesystem::remove_all(path(name));
  Process quiet(TINYOT_BINARY, as('A', "preprocess", kSmallJob + Arguments{"--quiet"}));
  connect_to(port_).send_all("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(ended_with(tinyot(as('B', "preprocess", kSmallJob)), 0));
  EXPECT_EQ(quiet.end().err, "");
}

}  // namespace
}  // namespace tinyot::test
