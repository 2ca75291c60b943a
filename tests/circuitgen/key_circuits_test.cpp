// The circuits of custody against OpenSSL: check values, loading, derivation and uses.
#include <gtest/gtest.h>

#include <memory>

#include "byte_strings.h"
#include "circuitgen/cost.h"
#include "circuitgen/generators/key_uses.h"
#include "circuits.h"
#include "tests/support/openssl_mechanisms.h"
#include "tests/support/refusal.h"

namespace tinyot {
namespace {

using test::openssl_block;
using test::openssl_cmac;
using test::openssl_hmac;
using test::openssl_kdf;
using test::openssl_seal;
using test::openssl_sha256;
using test::refusal;

// ---- The circuits ----

struct Kind {
  std::string algorithm, key_class;
  std::size_t key_bytes;
};
const std::vector<Kind> kKinds = {{"aes128", "aead", 16},    {"aes128", "mac", 16},
                                  {"aes128", "kdf", 16},     {"aes256", "aead", 32},
                                  {"aes256", "mac", 32},     {"aes256", "kdf", 32},
                                  {"hmac_sha256", "mac", 32}};

std::string check_of(const Kind& kind, const std::string& key) {
  const std::string text = "tinyot key check";
  if (kind.algorithm == "hmac_sha256") return openssl_sha256(text + key).substr(0, 16);
  const std::string digest = openssl_sha256(text);
  if (kind.key_class == "aead")
    return openssl_block(key, digest.substr(0, 12) + std::string(4, '\0'));
  return openssl_cmac(key, digest.substr(0, 16));
}

std::vector<std::string> evaluated(const std::string& spec,
                                   const std::vector<NamedString>& values) {
  const auto circuit = find_key_circuit(spec);
  ENSURE(circuit != nullptr);
  return evaluate_strings(*circuit, values);
}

std::string spec_of(const std::string& family, const Kind& kind) {
  return family + ":algorithm=" + kind.algorithm + ",class=" + kind.key_class;
}

std::vector<std::string> loaded(const Kind& kind, const std::string& key,
                                const std::string& check) {
  std::mt19937_64 rng(5);
  std::vector<NamedString> values = shares_of("key", key, rng);
  values.push_back({"check", check});
  return evaluated(spec_of("key_load", kind), values);
}

// What stays of a key, as the inputs of a use.
std::vector<NamedString> kept(const std::string& algorithm, const std::string& key) {
  const Kind kind{algorithm, "mac", key.size()};
  const std::vector<std::string> outputs = loaded(kind, key, check_of(kind, key));
  if (algorithm == "hmac_sha256") return {{"inner", outputs[1]}, {"outer", outputs[2]}};
  return {{"round_keys", outputs[1]}, {"zero_block", outputs[2]}};
}

std::string use_spec(const std::string& family, const std::string& algorithm,
                     const std::string& requester, std::size_t bytes,
                     const std::string& more = "") {
  return family + ":algorithm=" + algorithm + ",by=" + requester +
         ",bytes=" + std::to_string(bytes) + more;
}

std::string signature(const std::string& algorithm, const std::string& key,
                      const std::string& message, const std::string& requester = "A") {
  std::vector<NamedString> values = kept(algorithm, key);
  values.push_back({"message", message});
  return evaluated(use_spec("key_sign", algorithm, requester, message.size()), values)[0];
}

bool verifies(const std::string& algorithm, const std::string& key, const std::string& message,
              const std::string& tag) {
  std::vector<NamedString> values = kept(algorithm, key);
  values.push_back({"message", message});
  values.push_back({"tag", tag});
  return evaluated(use_spec("key_verify", algorithm, "B", message.size()), values)[0] ==
         std::string(1, '\1');
}

std::string aead_of(const std::string& key) { return "aes" + std::to_string(8 * key.size()); }

std::string sealed(const std::string& key, const std::string& nonce, const std::string& aad,
                   const std::string& message, const std::string& requester = "A",
                   const std::string& shown = "no") {
  std::vector<NamedString> values = kept(aead_of(key), key);
  values.insert(values.end(), {{"nonce", nonce}, {"message", message}, {"aad", aad}});
  std::string result;
  for (const std::string& output :
       evaluated(use_spec("key_seal", aead_of(key), requester, message.size(),
                          ",aad=" + std::to_string(aad.size()) + ",shown=" + shown),
                 values))
    result += output;
  return result;
}

// Validity and message.
std::string opened(const std::string& key, const std::string& nonce, const std::string& aad,
                   const std::string& ciphertext_and_tag, const std::string& shown = "no") {
  const std::size_t bytes = ciphertext_and_tag.size() - 16;
  std::vector<NamedString> values = kept(aead_of(key), key);
  values.insert(values.end(), {{"nonce", nonce},
                               {"tag", ciphertext_and_tag.substr(bytes)},
                               {"ciphertext", ciphertext_and_tag.substr(0, bytes)},
                               {"aad", aad}});
  std::string result;
  for (const std::string& output :
       evaluated(use_spec("key_open", aead_of(key), "B", bytes,
                          ",aad=" + std::to_string(aad.size()) + ",shown=" + shown),
                 values))
    result += output;
  return result;
}

TEST(KeyCheck, IsThatOfTheClass) {
  std::mt19937_64 rng(1);
  for (const Kind& kind : kKinds) {
    const std::string key = random_string(kind.key_bytes, rng);
    EXPECT_EQ(to_hex(evaluated(spec_of("key_check", kind), shares_of("key", key, rng))[0]),
              to_hex(check_of(kind, key)))
        << kind.algorithm << " " << kind.key_class;
  }
}

TEST(KeyCheck, OfAeadIsNoBlockOfGcm) {
  // Counter mode of GCM begins at 1, and H is the encryption of zeros.
  const std::string c0 = openssl_sha256("tinyot key check").substr(0, 12) + std::string(4, '\0');
  EXPECT_NE(c0, std::string(16, '\0'));
  std::mt19937_64 rng(2);
  const std::string key = random_string(16, rng);
  const std::string sealed_zeros = openssl_seal(key, c0.substr(0, 12), "", std::string(64, '\0'));
  EXPECT_EQ(sealed_zeros.find(check_of({"aes128", "aead", 16}, key)), std::string::npos);
}

// CMAC(c0 || X) is CMAC(E_k(c0) ^ X): of class mac, E_k(c0) must not be known.
TEST(KeyCheck, OfOtherClassesForgesNoCmac) {
  std::mt19937_64 rng(3);
  const std::string key = random_string(16, rng), digest = openssl_sha256("tinyot key check");
  const std::string c0 = digest.substr(0, 12) + std::string(4, '\0');
  const auto forged = [&](const std::string& check) {
    std::string first = random_string(16, rng), both = c0 + first;
    for (std::size_t k = 0; k < 16; ++k) first[k] = static_cast<char>(first[k] ^ check[k]);
    return openssl_cmac(key, both) == openssl_cmac(key, first);
  };
  EXPECT_TRUE(forged(check_of({"aes128", "aead", 16}, key))) << "this is why there are classes";
  EXPECT_FALSE(forged(check_of({"aes128", "mac", 16}, key)));
  EXPECT_FALSE(forged(check_of({"aes128", "kdf", 16}, key)));
}

TEST(KeyLoad, SaysWhetherTheCheckIsRight) {
  std::mt19937_64 rng(4);
  for (const Kind& kind : kKinds) {
    const std::string key = random_string(kind.key_bytes, rng), check = check_of(kind, key);
    EXPECT_EQ(loaded(kind, key, check)[0], std::string(1, '\1'));
    for (std::size_t bit = 0; bit < 128; bit += 9) {
      std::string wrong = check;
      wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ (1 << bit % 8));
      EXPECT_EQ(loaded(kind, key, wrong)[0], std::string(1, '\0')) << bit;
    }
    std::string other = key;
    other.back() = static_cast<char>(other.back() ^ 1);
    EXPECT_EQ(loaded(kind, other, check)[0], std::string(1, '\0'));
  }
}

TEST(KeyLoad, RefusesOtherClassesOfHmac) {
  for (const char* key_class : {"aead", "kdf"})
    EXPECT_EQ(refusal([&] {
                find_key_circuit(spec_of("key_load", {"hmac_sha256", key_class, 32}));
              }),
              "a key of hmac_sha256 is of class mac");
}

TEST(KeySign, ComputesTheVectorsOfRfc4493) {
  const std::string key = from_hex("2b7e151628aed2a6abf7158809cf4f3c");
  const std::string message = from_hex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
      "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710");
  const auto tag = [&](std::size_t bytes) {
    return to_hex(signature("aes128", key, message.substr(0, bytes)));
  };
  EXPECT_EQ(tag(0), "bb1d6929e95937287fa37d129b756746");
  EXPECT_EQ(tag(16), "070a16b46b4d4144f79bdd9dd04a287c");
  EXPECT_EQ(tag(40), "dfa66747de9ae63030ca32611497c827");
  EXPECT_EQ(tag(64), "51f0bebf7e3b9d92fc49741779363cfe");
}

// Test cases 1 to 4, 6 and 7 of RFC 4231: shorter keys with zeros, longer ones hashed (RFC 2104).
TEST(KeySign, ComputesTheVectorsOfRfc4231) {
  const auto tag = [](std::string key, const std::string& message) {
    if (key.size() > 64) key = openssl_sha256(key);
    key.resize(32);
    return to_hex(signature("hmac_sha256", key, message));
  };
  const std::string long_key(131, '\xaa');
  EXPECT_EQ(tag(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(tag("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(tag(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(
      tag(from_hex("0102030405060708090a0b0c0d0e0f10111213141516171819"), std::string(50, '\xcd')),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  EXPECT_EQ(tag(long_key, "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(KeySeal, ComputesTestCasesOfGcm) {
  const std::string nonce = from_hex("cafebabefacedbaddecaf888");
  const std::string aad = from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  const std::string message = from_hex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
      "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
  const std::string key = from_hex("feffe9928665731c6d6a8f9467308308");
  // Test cases 4 and 16.
  EXPECT_EQ(to_hex(sealed(key, nonce, aad, message)),
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
            "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
            "5bc94fbc3221a5db94fae95ae7121a47");
  EXPECT_EQ(to_hex(sealed(key + key, nonce, aad, message, "B")),
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
            "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
            "76fc6ece0f4e1768cddf8853bb2d551b");
}

TEST(KeyUses, AgreeWithOpensslOnLengths) {
  std::mt19937_64 rng(6);
  for (const std::size_t key_bytes : {16, 32}) {
    for (const std::size_t bytes : {0, 1, 15, 16, 17, 32, 100}) {
      const std::size_t aad_bytes = bytes % 19;
      const std::string key = random_string(key_bytes, rng), nonce = random_string(12, rng),
                        aad = random_string(aad_bytes, rng), message = random_string(bytes, rng);
      const std::string wanted = openssl_seal(key, nonce, aad, message);
      for (const char* shown : {"no", "yes"}) {
        EXPECT_EQ(to_hex(sealed(key, nonce, aad, message, "B", shown)), to_hex(wanted));
        EXPECT_EQ(to_hex(opened(key, nonce, aad, wanted, shown)), to_hex('\1' + message));
      }
      std::string wrong = wanted;
      wrong[bytes / 2] = static_cast<char>(wrong[bytes / 2] ^ 0x10);
      EXPECT_EQ(opened(key, nonce, aad, wrong), std::string(1 + bytes, '\0'));
      const std::string algorithm = key_bytes == 16 ? "aes128" : "hmac_sha256";
      const std::string tag =
          key_bytes == 16 ? openssl_cmac(key, message) : openssl_hmac(key, message);
      EXPECT_EQ(to_hex(signature(algorithm, key, message, "B")), to_hex(tag)) << bytes;
      EXPECT_TRUE(verifies(algorithm, key, message, tag));
      for (const std::size_t byte : {std::size_t{0}, tag.size() - 1}) {
        std::string forged = tag;
        forged[byte] = static_cast<char>(forged[byte] ^ 0x80);
        EXPECT_FALSE(verifies(algorithm, key, message, forged));
      }
    }
    const std::string key = random_string(32, rng), message = random_string(40, rng);
    EXPECT_EQ(to_hex(signature("aes256", key, message)), to_hex(openssl_cmac(key, message)));
  }
}

TEST(KeyDerive, AgreesWithOpenssl) {
  std::mt19937_64 rng(7);
  for (const char* parent : {"aes128", "aes256"}) {
    for (const Kind& kind : kKinds) {
      const std::string key = random_string(parent == std::string("aes128") ? 16 : 32, rng);
      const std::string label = "tinyot derive", context = random_string(21, rng);
      const std::string info = label + std::string(1, '\0') + context;
      std::vector<NamedString> values = kept(parent, key);
      values.push_back({"info", info});
      const std::vector<std::string> outputs =
          evaluated(spec_of("key_derive", kind) + ",parent=" + parent +
                        ",info=" + std::to_string(info.size()),
                    values);
      const std::string wanted = openssl_kdf(key, label, context, kind.key_bytes);
      EXPECT_EQ(to_hex(outputs[0]), to_hex(wanted));
      EXPECT_EQ(to_hex(outputs[1]), to_hex(check_of(kind, wanted)));
    }
  }
}

TEST(KeyCircuits, AreNotAvailableToJobs) {
  for (const CircuitFamily& family : key_circuit_families()) {
    EXPECT_EQ(find_circuit(family.name), nullptr);
    for (const std::string& name : circuit_names()) EXPECT_NE(name, family.name);
  }
}

TEST(KeyCircuits, CostAsDocumented) {
  const auto ands = [](const std::string& spec) { return cost_of(*find_key_circuit(spec)).ands; };
  EXPECT_EQ(ands("key_check:algorithm=aes128,class=aead"), 6'400u);
  EXPECT_EQ(ands("key_check:algorithm=aes256,class=aead"), 8'832u);
  EXPECT_EQ(ands("key_check:algorithm=aes128,class=kdf"), 11'520u);
  EXPECT_EQ(ands("key_check:algorithm=aes256,class=mac"), 16'000u);
  EXPECT_EQ(ands("key_check:algorithm=hmac_sha256,class=mac"), 20'810u);
  EXPECT_EQ(ands("key_load:algorithm=aes128,class=aead"), 11'647u);
  EXPECT_EQ(ands("key_load:algorithm=aes256,class=aead"), 16'127u);
  EXPECT_EQ(ands("key_load:algorithm=hmac_sha256,class=mac"), 64'714u);
  EXPECT_EQ(ands("key_seal:algorithm=aes256,bytes=32"), 21'172u);
  EXPECT_EQ(ands("key_open:algorithm=aes256,bytes=32"), 21'555u);
  EXPECT_EQ(ands("key_sign:algorithm=aes128,bytes=16"), 5'120u);
  EXPECT_EQ(ands("key_verify:algorithm=aes128,bytes=16"), 5'247u);
  EXPECT_EQ(ands("key_sign:algorithm=hmac_sha256,bytes=32"), 44'114u);
}

}  // namespace
}  // namespace tinyot
