// Secrets are wiped: once a party has made material and used it in a run, its process no longer
// holds any of its keys or inputs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "crypto/openssl_memory.h"
#include "engine/key_file.h"
#include "net/tls/identity.h"
#include "storage/key_table.h"
#include "storage/store.h"
#include "tests/support/files.h"
#include "tests/support/hex.h"
#include "tests/support/layers.h"
#include "tests/support/memory_search.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tools/cli/subcommands.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kInputBytes = 32;

// To be searched: a sanitizer maps terabytes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsTooLarge = true;
#else
constexpr bool kIsTooLarge = false;
#endif

// As the command does, before OpenSSL allocates anything.
[[maybe_unused]] const bool kOpensslWipes = [] {
  crypto::wipe_what_openssl_frees();
  return true;
}();

Bytes random_bytes(std::size_t count) {
  Bytes bytes(count);
  std::random_device random;
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

class Memory : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::string of(char party, const std::string& name) const {
    return path(std::string(1, party) + name);
  }

  void know(std::vector<MaskedSecret> more) {
    secrets_.insert(secrets_.end(), more.begin(), more.end());
  }

  void SetUp() override {
    if (kIsTooLarge) GTEST_SKIP();
  }

  // Files of random keys and inputs, which this process has not read.
  void make_files() {
    for (const char party : {'A', 'B'}) {
      ASSERT_EQ(Process(TINYOT_BINARY, {"keygen", "--out", of(party, ".pem")}).end().status, 0);
      const std::string whose = std::string(" of ") + party;
      know(made_elsewhere("store key" + whose, kInputBytes, [&] {
        const Bytes key = random_bytes(kInputBytes);
        write_private_file(of(party, ".key"), std::string(key.begin(), key.end()));
        return key;
      }));
      know(made_elsewhere("input" + whose, kInputBytes, [&] {
        const Bytes value = random_bytes(kInputBytes);
        write_private_file(of(party, ".hex"), "0x" + hex_of(value) + "\n");
        return value;
      }));
      know(made_elsewhere("reversed input" + whose, kInputBytes, [&] {
        const std::string text = read_file(of(party, ".hex"));
        Bytes value;
        for (std::size_t i = 0; i < kInputBytes; ++i)
          value.insert(value.begin(), static_cast<unsigned char>(
                                          std::stoul(text.substr(2 + 2 * i, 2), nullptr, 16)));
        return value;
      }));
      know(made_elsewhere("half of the digits of the input" + whose, kInputBytes, [&] {
        const std::string text =
            read_file(of(party, ".hex")).substr(2 + kInputBytes / 2, kInputBytes);
        return Bytes(text.begin(), text.end());
      }));
      know(made_elsewhere("TLS key" + whose, 32, [&] { return tls_seed(of(party, ".pem")); }));
      know(made_elsewhere("text of the TLS key" + whose, 40, [&] {
        const std::string text = read_file(of(party, ".pem"));
        const std::string line = text.substr(text.find('\n') + 1 + 20, 40);
        return Bytes(line.begin(), line.end());
      }));
    }
  }

  static Bytes tls_seed(const std::string& file) {
    FILE* stream = std::fopen(file.c_str(), "r");
    EVP_PKEY* key = PEM_read_PrivateKey(stream, nullptr, nullptr, nullptr);
    Bytes seed(32);
    std::size_t size = seed.size();
    if (key == nullptr || EVP_PKEY_get_raw_private_key(key, seed.data(), &size) != 1 ||
        size != seed.size())
      throw std::runtime_error("no key in " + file);
    return seed;
  }

  // The global keys, and the keys of all batches that can be served.
  void learn_keys_of_stores() {
    for (const char party : {'A', 'B'}) {
      const std::string whose = std::string(" of ") + party;
      know(made_elsewhere("global key" + whose, sizeof(Delta), [&] {
        const Delta delta =
            Store::open(of(party, ""), {.store_key = StoreKey::read(of(party, ".key"))})
                .global_key();
        return as_bytes(delta);
      }));
      know(made_elsewhere("batch key" + whose, sizeof(SealKey), [&] {
        const Store store = Store::open(
            of(party, ""),
            {.purpose = Purpose::Inspect, .store_key = StoreKey::read(of(party, ".key"))});
        SessionId session;
        std::memcpy(session.bytes.data(), store.manifest().session_id.data(), sizeof session.bytes);
        const KeyTable table(directory_.path() / std::string(1, party) / "store.keys", session,
                             StoreKey::read(of(party, ".key")));
        Bytes keys;
        for (std::uint64_t slot = KeyTable::kFirstBatchSlot; slot < 40; ++slot) {
          try {
            const Bytes key = as_bytes(table.key(slot, "a batch"));
            keys.insert(keys.end(), key.begin(), key.end());
          } catch (const StoreError&) {
            break;
          }
        }
        return keys;
      }));
    }
  }

  template <class T>
  static Bytes as_bytes(const T& object) {
    const auto* first = reinterpret_cast<const unsigned char*>(&object);
    return {first, first + sizeof object};
  }

  // Both parties in this process: B on a thread whose stack disappears with it, A on the stack that
  // is searched.
  void both(int (*command)(const Arguments&), const Arguments& more_of_a,
            const Arguments& more_of_b) {
    const std::string port = reserved_port();
    const auto of_party = [&](char party, const Arguments& more) {
      Arguments all = {"--party",
                       std::string(1, party),
                       party == 'A' ? "--listen" : "--connect",
                       "127.0.0.1:" + port,
                       "--store",
                       of(party, ""),
                       "--store-key",
                       "@" + of(party, ".key"),
                       "--key",
                       of(party, ".pem"),
                       "--peer-key",
                       "@" + of(party == 'A' ? 'B' : 'A', ".pem.crt"),
                       "--quiet",
                       "--format",
                       "json"};
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    const Arguments a = of_party('A', more_of_a), b = of_party('B', more_of_b);
    std::thread other([&] { EXPECT_EQ(command(b), 0); });
    EXPECT_EQ(command(a), 0);
    other.join();
  }

  void expect_none_left() {
    for (const std::string& place : places_of(secrets_)) ADD_FAILURE() << place;
  }

  const TestDirectory directory_;
  std::vector<MaskedSecret> secrets_;
};

TEST_F(Memory, IsSearchedCompletely) {
  const auto secrets = made_elsewhere("number", 32, [&] {
    const Bytes value = random_bytes(32);
    write_private_file(path("number"), std::string(value.begin(), value.end()));
    return value;
  });
  EXPECT_TRUE(places_of(secrets).empty());
  std::ifstream file(path("number"), std::ios::binary);
  const auto heap = std::make_unique<std::array<char, 32>>();
  file.read(heap->data(), 32);
  EXPECT_FALSE(places_of(secrets).empty());
}

// Its functions for PEM and its decoders of keys leave copies, of which chance decides whether they
// are overwritten before a search.
TEST_F(Memory, OpensslWipesWhatItFrees) {
  const auto secrets = made_elsewhere("number", 32, [&] {
    const Bytes value = random_bytes(32);
    write_private_file(path("number"), std::string(value.begin(), value.end()));
    return value;
  });
  constexpr std::size_t kBytes = 10'000, kPlace = 5'000;
  void* block = OPENSSL_malloc(kBytes);
  ASSERT_NE(block, nullptr);
  const int file = ::open(path("number").c_str(), O_RDONLY);
  ASSERT_EQ(::read(file, static_cast<char*>(block) + kPlace, 32), 32);
  ::close(file);
  EXPECT_EQ(places_of(secrets).size(), 1u);
  void* const moved = OPENSSL_realloc(block, 5 * kBytes);
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(places_of(secrets).size(), 1u) << "where it was before";
  OPENSSL_free(moved);
  EXPECT_TRUE(places_of(secrets).empty());
}

// As programs write it; the number is also searched for as OpenSSL computes with it, with its last
// byte first.
TEST_F(Memory, HoldsNoP256KeyAfterReading) {
  for (const bool is_pkcs8 : {true, false}) {
    SCOPED_TRACE(is_pkcs8);
    const std::string file = path("p256.pem");
    know(made_elsewhere("P-256 key", 32, [&] {
      EVP_PKEY* const key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
      BIO* const text = BIO_new_file(file.c_str(), "w");
      BIGNUM* number = nullptr;
      Bytes secret(64);
      if ((is_pkcs8 ? PEM_write_bio_PrivateKey : PEM_write_bio_PrivateKey_traditional)(
              text, key, nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
          EVP_PKEY_get_bn_param(key, "priv", &number) != 1 ||
          BN_bn2binpad(number, secret.data(), 32) != 32 ||
          BN_bn2lebinpad(number, secret.data() + 32, 32) != 32)
        throw std::runtime_error("no P-256 key");
      BIO_free(text);
      fs::permissions(file, fs::perms(0600));
      return secret;
    }));
    {
      const SecretVector<char> pem = engine::read_private_file(file);
      const net::Identity identity = net::Identity::renew({pem.data(), pem.size()}, file);
      EXPECT_FALSE(places_of(secrets_).empty()) << "it is not the key that is searched for";
    }
    expect_none_left();
  }
}

class MemoryOf : public Memory, public ::testing::WithParamInterface<Arguments> {};

INSTANTIATE_TEST_SUITE_P(Profiles, MemoryOf,
                         ::testing::Values(Arguments{"--profile", "fast"},
                                           Arguments{"--profile", "nnob12", "--labit-columns",
                                                     "experiment"}),
                         [](const auto& profile) { return profile.param[1]; });

TEST_P(MemoryOf, HoldsNoSecretsAfterUse) {
  make_files();
  Arguments make = {"--ands", "2^11", "--inputs", "2^11"};
  make.insert(make.end(), GetParam().begin(), GetParam().end());
  both(preprocess_command, make, make);
  learn_keys_of_stores();
  expect_none_left();
  const Arguments circuit = {"--circuit", "hamming:bits=256", "--input"};
  Arguments a = circuit, b = circuit;
  a.push_back("a=@" + of('A', ".hex"));
  b.push_back("b=@" + of('B', ".hex"));
  both(run_command, a, b);
  expect_none_left();
  const Delta held =
      Store::open(of('A', ""), {.store_key = StoreKey::read(of('A', ".key"))}).global_key();
  EXPECT_FALSE(places_of(secrets_).empty())
      << "the keys searched for are not the actual ones: " << &held;
}

// Both parties learn both inputs of `bits` bits: what is read is also what is written.
std::string copies(std::uint32_t bits) {
  std::string gates;
  for (std::uint32_t bit = 0; bit < 2 * bits; ++bit)
    gates += "2 1 " + std::to_string(bit) + " " + std::to_string(bit) + " " +
             std::to_string(2 * bits + bit) + " AND\n";
  const std::string widths = "2 " + std::to_string(bits) + " " + std::to_string(bits) + "\n";
  return std::to_string(2 * bits) + " " + std::to_string(4 * bits) + "\n" + widths + widths + "\n" +
         gates;
}

TEST_F(Memory, HoldsNoRowsAfterUse) {
  constexpr std::size_t kRows = 1100;  // more than one block of a file
  make_files();
  const Arguments amount = {"--ands", "1.2M", "--inputs", "600k", "--profile", "fast"};
  both(preprocess_command, amount, amount);
  const auto evaluate = [&](std::uint32_t bits, const std::string& type) {
    write_private_file(path("copies.txt"), copies(bits));
    const Arguments circuit = {"--circuit", path("copies.txt"), "--column",       "0=" + type,
                               "--column",  "1=" + type,        "--rows-at-once", "1000"};
    Arguments a = circuit, b = circuit;
    fs::remove(of('A', ".out"));
    fs::remove(of('B', ".out"));
    a.insert(a.end(), {"--rows", of('A', ".csv"), "--out", of('A', ".out")});
    b.insert(b.end(), {"--rows", of('B', ".csv"), "--out", of('B', ".out")});
    both(run_command, a, b);
    expect_none_left();
  };
  // A table of rows that `make_row` returns, of which some are searched for: from the character
  // `from` on, `length` of them.
  const auto make_table = [&](char party, std::size_t from, std::size_t length,
                              const std::function<std::string()>& make_row) {
    know(made_elsewhere(std::string("text of a row of ") + party, length, [&] {
      std::string table = party == 'A' ? "0\n" : "1\n";
      Bytes searched;
      for (std::size_t row = 0; row < kRows; ++row) {
        const std::string text = make_row();
        table += text + "\n";
        if (row % (kRows / 3) == 0)
          searched.insert(searched.end(), text.begin() + static_cast<std::ptrdiff_t>(from),
                          text.begin() + static_cast<std::ptrdiff_t>(from + length));
      }
      write_private_file(of(party, ".csv"), table);
      return searched;
    }));
  };

  for (const char party : {'A', 'B'}) {
    make_table(party, 16, 32, [] { return hex_of(random_bytes(32)); });
    know(made_elsewhere(std::string("row of ") + party, kInputBytes, [&] {
      const std::string text = read_file(of(party, ".csv"));
      Bytes value;
      for (std::size_t i = 0; i < kInputBytes; ++i)
        value.insert(value.begin(), static_cast<unsigned char>(
                                        std::stoul(text.substr(2 + 2 * i, 2), nullptr, 16)));
      return value;
    }));
  }
  evaluate(256, "hex256");

  for (const char party : {'A', 'B'})
    make_table(party, 0, 16, [] {
      std::string number;
      for (const unsigned char byte : random_bytes(14)) number += static_cast<char>('1' + byte % 9);
      return number + ".5";
    });
  evaluate(64, "fix64.8");

  for (const char party : {'A', 'B'})
    make_table(party, 0, 24, [] { return hex_of(random_bytes(12)); });
  evaluate(192, "str24");
}

}  // namespace
}  // namespace tinyot::test
