// What a process reveals: no core dumps, no secrets in its output whatever goes wrong, and to a
// cheating peer only that the session is aborted.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "storage/store.h"
#include "tests/support/command_test.h"
#include "tests/support/hex.h"
#include "tests/support/layers.h"
#include "tests/support/relay.h"

namespace tinyot::test {
namespace {

const Arguments kTwoUnits = {"--ands", "2^14", "--profile",   "fast",
                             "--unit", "2^13", "--allow-weak"};

std::string base64_of(const std::string& bytes) {
  std::string text(4 * (bytes.size() / 3 + 1) + 1, '\0');
  text.resize(static_cast<std::size_t>(EVP_EncodeBlock(
      reinterpret_cast<unsigned char*>(text.data()),
      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()))));
  // Without the characters that depend on what follows.
  return text.substr(0, 4 * (bytes.size() / 3));
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Everything that commands print, and the secrets that must not be in it.
class Prints {
 public:
  void add(const Ended& ended) { texts_.push_back(ended.out + ended.err); }
  void add(const BothEnded& ended) {
    add(ended.a);
    add(ended.b);
  }
  void keep_secret(const std::string& name, const std::string& bytes) {
    secrets_.emplace_back(name, bytes);
  }

  // Each secret is searched for raw; in hexadecimal of either case, byte by byte and as a number,
  // the whole or its first half; and in base64.
  void expect_clean() const {
    for (const auto& [name, bytes] : secrets_) {
      const std::string reversed(bytes.rbegin(), bytes.rend());
      for (const std::string& text : texts_) {
        EXPECT_EQ(text.find(bytes), std::string::npos) << name << ", raw, in " << text;
        EXPECT_EQ(text.find(base64_of(bytes)), std::string::npos)
            << name << ", in base64, in " << text;
        for (const std::string& whole : {bytes, reversed})
          EXPECT_EQ(lower(text).find(hex_of(whole).substr(0, whole.size())), std::string::npos)
              << name << ", in hexadecimal, in " << text;
      }
    }
  }
  std::size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  std::vector<std::pair<std::string, std::string>> secrets_;
};

class HygieneTest : public CommandTest {
 protected:
  std::string bytes_from_hex(const std::string& hex) const {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
      bytes += static_cast<char>(std::stoul(hex.substr(i, 2), nullptr, 16));
    return bytes;
  }

  // A file of secrets that only its owner may read.
  std::string private_file(const std::string& name, const std::string& text) const {
    write_file(path(name), text);
    ::chmod(path(name).c_str(), 0600);
    return path(name);
  }

  // Keys, store keys and inputs of both parties, as files, and the secrets in them.
  void make_files() {
    for (const std::string party : {"A", "B", "C"}) {
      EXPECT_TRUE(ended_with(tinyot({"keygen", "--out", path(party + ".pem")}), 0));
      prints_.keep_secret("TLS key of " + party, tls_seed(path(party + ".pem")));
      const std::string key = bytes_from_hex(random_hex(32)), input = random_hex(16);
      prints_.keep_secret("store key of " + party, key);
      prints_.keep_secret("input of " + party, bytes_from_hex(input));
      private_file(party + ".key", key);
      private_file(party + ".hex", input);
      private_file(party + ".bad", input.substr(1) + "g");
    }
  }

  static std::string tls_seed(const std::string& file) {
    FILE* stream = std::fopen(file.c_str(), "r");
    EVP_PKEY* key = PEM_read_PrivateKey(stream, nullptr, nullptr, nullptr);
    std::fclose(stream);
    std::string seed(32, '\0');
    std::size_t size = seed.size();
    EXPECT_EQ(
        EVP_PKEY_get_raw_private_key(key, reinterpret_cast<unsigned char*>(seed.data()), &size), 1);
    EVP_PKEY_free(key);
    return seed;
  }

  void keep_global_keys_secret(bool are_sealed = true) {
    for (const std::string party : {"A", "B"}) {
      const auto key =
          are_sealed ? std::optional(StoreKey::read(path(party + ".key"))) : std::nullopt;
      const Delta delta = Store::open(path(party), {.store_key = key}).global_key();
      prints_.keep_secret("global key of " + party,
                          std::string(reinterpret_cast<const char*>(&delta), sizeof delta));
    }
  }

  Arguments keys(const std::string& mine, const std::string& peers) const {
    return {"--key",
            path(mine + ".pem"),
            "--peer-key",
            "@" + path(peers + ".pem.crt"),
            "--store-key",
            "@" + path(mine + ".key"),
            "--connect-timeout",
            "2",
            "--idle-timeout",
            "2"};
  }
  Arguments aes(const std::string& file_a, const std::string& of_party) const {
    if (of_party == "A")
      return {"--circuit", "aes128",
              "--input",   "key_a=@" + path(file_a),
              "--input",   "message=@" + path(file_a)};
    return {"--circuit", "aes128", "--input", "key_b=@" + path(file_a)};
  }

  void all_goes_well() {
    prints_.add(both("preprocess", kTwoUnits + keys("A", "B"), kTwoUnits + keys("B", "A")));
    keep_global_keys_secret();
    const BothEnded ran =
        both("run", keys("A", "B") + aes("A.hex", "A"), keys("B", "A") + aes("B.hex", "B"));
    EXPECT_TRUE(ended_with(ran.a, 0));
    EXPECT_TRUE(ended_with(ran.b, 0));
    prints_.add(ran);
    for (const char* form : {"text", "json"}) {
      prints_.add(tinyot({"store", "info", path("A"), "--format", form}));
      prints_.add(tinyot(
          {"store", "verify", path("A"), "--store-key", "@" + path("A.key"), "--format", form}));
    }
  }

  void keys_are_wrong() {
    const BothEnded wrong_keys =
        both("run", keys("C", "B") + aes("A.hex", "A"), keys("B", "A") + aes("B.hex", "B"));
    EXPECT_NE(wrong_keys.a.status, 0);
    EXPECT_NE(wrong_keys.b.status, 0);
    prints_.add(wrong_keys);
    Arguments other = keys("A", "B") + aes("A.hex", "A");
    std::ranges::replace(other, "@" + path("A.key"), "@" + path("C.key"));
    const Ended sealed = tinyot(as('A', "run", other));
    EXPECT_TRUE(ended_with(sealed, 5, "store key"));
    prints_.add(sealed);
    const Ended malformed = tinyot(as('A', "run", keys("A", "B") + aes("A.bad", "A")));
    EXPECT_TRUE(ended_with(malformed, 2, "position 32"));
    prints_.add(malformed);
  }

  void the_store_is_corrupt() {
    // The largest file contains the material.
    std::filesystem::path data;
    for (const auto& entry : std::filesystem::directory_iterator(path("A")))
      if (data.empty() || entry.file_size() > std::filesystem::file_size(data)) data = entry.path();
    std::string bytes = read_file(data);
    for (std::size_t i = std::size_t{1} << 17; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>(~bytes[i]);
    std::fstream file(data, std::ios::binary | std::ios::in | std::ios::out);
    EXPECT_TRUE(file << bytes << std::flush);
    const Ended verified =
        tinyot({"store", "verify", path("A"), "--store-key", "@" + path("A.key")});
    EXPECT_EQ(verified.status, 5) << verified.out << verified.err;
    prints_.add(verified);
    prints_.add(
        both("run", keys("A", "B") + aes("A.hex", "A"), keys("B", "A") + aes("B.hex", "B")));
    prints_.add(tinyot({"store", "retire", path("B"), "--store-key", "@" + path("B.key")}));
  }

  // Bytes of B's openings arrive inverted.
  void a_party_cheats() {
    for (const char* party : {"A", "B"}) std::filesystem::remove_all(path(party));
    preprocess("2^14");
    keep_global_keys_secret(false);
    port_ = reserved_port();
    Relay relay(port_, {.change = inverting(2500, 2600)});
    peer_port_ = relay.port();
    const BothEnded ended = both("run", aes("A.hex", "A"), aes("B.hex", "B"));
    EXPECT_TRUE(ended_with(ended.a, 4, "the session is revoked"));
    EXPECT_TRUE(ended_with(ended.b, 3, "the peer aborted the session"));
    prints_.add(ended);
  }

  // A job over plain TCP in which bytes [from, to) sent by B arrive inverted.
  struct Garbled {
    BothEnded ended;
    std::string sent_by_a;
    std::uint64_t bytes_of_b = 0;
  };
  Garbled garbled_job(std::uint64_t from, std::uint64_t to) {
    for (const char* party : {"A", "B"}) std::filesystem::remove_all(path(party));
    port_ = reserved_port();
    Garbled garbled;
    Relay relay(port_, {.change = [&, invert = inverting(from, to)](const Relay::Chunk& chunk) {
                  if (chunk.direction == Direction::FromListening) garbled.sent_by_a += chunk.bytes;
                  return invert(chunk);
                }});
    peer_port_ = relay.port();
    const Arguments job = kTwoUnits + Arguments{"--idle-timeout", "3", "--connect-timeout", "5"};
    garbled.ended = both("preprocess", job, job);
    relay.cut();
    peer_port_ = port_;
    garbled.bytes_of_b = relay.bytes(Direction::FromConnecting);
    return garbled;
  }

  Prints prints_;
};

TEST_F(HygieneTest, PrintsNoSecretInAnyCase) {
  make_files();
  all_goes_well();
  keys_are_wrong();
  the_store_is_corrupt();
  a_party_cheats();
  EXPECT_EQ(prints_.size(), 18u);
  prints_.expect_clean();
}

// Whichever check has failed, the peer is told the same; the reason is only reported locally.
TEST_F(HygieneTest, CheaterLearnsOnlyThatTheSessionIsAborted) {
  const std::uint64_t sent = garbled_job(0, 0).bytes_of_b;
  std::set<std::string> reasons, told;
  // Most of what B sends belongs to one message, so many positions are detected by the same check.
  constexpr std::uint64_t kParts = 41, kStride = 17;
  for (std::uint64_t i = 1; i < kParts && reasons.size() < 2; ++i) {
    const std::uint64_t from = sent * (i * kStride % kParts) / kParts;
    const Garbled garbled = garbled_job(from, from + 200);
    if (garbled.ended.a.status != 4) continue;
    EXPECT_TRUE(ended_with(garbled.ended.b, 3, "the peer aborted the session"));
    reasons.insert(garbled.ended.a.err.substr(garbled.ended.a.err.find("tinyot: ")));
    told.insert(garbled.ended.b.err.substr(garbled.ended.b.err.find("tinyot: ")));
    // Length 0, the tag of aborts; then only the number of the message.
    ASSERT_GE(garbled.sent_by_a.size(), 16u);
    const std::string frame = garbled.sent_by_a.substr(garbled.sent_by_a.size() - 16);
    EXPECT_EQ(frame.substr(0, 12), std::string(8, '\0') + std::string(4, '\xff')) << hex_of(frame);
  }
  EXPECT_GE(reasons.size(), 2u);
  EXPECT_EQ(told.size(), 1u);
}

std::string limits_of(const Process& process) {
  return read_file("/proc/" + std::to_string(process.pid()) + "/limits");
}

std::string core_line(const std::string& limits) {
  const auto begin = limits.find("Max core file size");
  return begin == std::string::npos ? "" : limits.substr(begin, limits.find('\n', begin) - begin);
}

TEST_F(HygieneTest, ForbidsCoreDumps) {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  if (limit.rlim_max == 0) GTEST_SKIP() << "no process here may dump";
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_CORE, &limit);
  Process party(TINYOT_BINARY, as('A', "preprocess", kTwoUnits)), other("/bin/sleep", {"10"});
  ASSERT_TRUE(connect_to(port_, std::chrono::seconds(20)).valid()) << "the party does not listen";
  std::istringstream words(core_line(limits_of(party)).substr(std::strlen("Max core file size")));
  std::string soft, hard;
  words >> soft >> hard;
  EXPECT_EQ(soft + " " + hard, "0 0");
  EXPECT_EQ(core_line(limits_of(other)).find(" 0 "), std::string::npos);
  other.signal(SIGKILL);
  party.signal(SIGKILL);
}

// The /proc files of a process that is not dumpable belong to root, and debuggers of the same user
// cannot attach.
TEST_F(HygieneTest, ForbidsDebuggers) {
  constexpr uid_t kNobody = 65534;
  const bool am_root = ::geteuid() == 0;
  // Accessible to another user, wherever the program was built.
  const std::string program = path("tinyot");
  std::filesystem::copy_file(TINYOT_BINARY, program);
  std::filesystem::permissions(dir_, std::filesystem::perms(0755));
  const auto start = [&](const std::string& command, const Arguments& arguments) {
    if (!am_root) return std::make_unique<Process>(command, arguments);
    const std::string nobody = std::to_string(kNobody);
    const Arguments as_nobody = {"--reuid", nobody, "--regid", nobody, "--clear-groups", command};
    return std::make_unique<Process>("/usr/bin/setpriv", as_nobody + arguments);
  };
  const auto owner_of = [](const Process& process) {
    struct stat status {};
    return ::stat(("/proc/" + std::to_string(process.pid()) + "/limits").c_str(), &status) == 0
               ? status.st_uid
               : ~uid_t{0};
  };
  const auto party = start(program, as('A', "preprocess", kTwoUnits)),
             other = start("/bin/sleep", {"10"});
  // Once it listens, the process is the program itself, not the one that starts it.
  ASSERT_TRUE(connect_to(port_, std::chrono::seconds(20)).valid()) << "the party does not listen";
  if (owner_of(*other) != (am_root ? kNobody : ::geteuid()))
    GTEST_SKIP() << "no process of another user can be started here";
  EXPECT_EQ(owner_of(*party), 0u);
  other->signal(SIGKILL);
  party->signal(SIGKILL);
}

}  // namespace
}  // namespace tinyot::test
