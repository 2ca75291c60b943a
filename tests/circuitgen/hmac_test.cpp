// HMAC, HKDF and the key schedule of TLS 1.3: the vectors of the standards, and random inputs
// against Crypto++.
#include "circuitgen/generators/hmac.h"

#include <cryptopp/hkdf.h>
#include <cryptopp/hmac.h>
#include <cryptopp/sha.h>
#include <gtest/gtest.h>

#include "byte_strings.h"
#include "circuitgen/cost.h"
#include "circuits.h"

namespace tinyot {
namespace {

std::string size(const std::string& text) { return std::to_string(text.size()); }

std::string hmac(const std::string& key, const std::string& message) {
  std::mt19937_64 rng(8);
  std::vector<NamedString> values = shares_of("key", key, rng);
  values.push_back({"message", message});
  return evaluate_strings("hmac_sha256:key_bytes=" + size(key) + ",bytes=" + size(message),
                          values)[0];
}

std::string hkdf(const std::string& key, const std::string& salt, const std::string& info,
                 std::size_t bytes) {
  std::mt19937_64 rng(9);
  std::vector<NamedString> values = shares_of("key", key, rng);
  values.push_back({"salt", salt});
  values.push_back({"info", info});
  return evaluate_strings("hkdf_sha256:key_bytes=" + size(key) + ",salt=" + size(salt) +
                              ",info=" + size(info) + ",bytes=" + std::to_string(bytes),
                          values)[0];
}

std::uint64_t ands(const std::string& spec) { return cost_of(*find_circuit(spec)).ands; }

// Test cases 1 to 4, 6 and 7 of RFC 4231.
TEST(Hmac, ComputesTheVectorsOfRfc4231) {
  const auto mac = [](const std::string& key, const std::string& message) {
    return to_hex(hmac(key, message));
  };
  const std::string long_key(131, '\xaa');
  EXPECT_EQ(mac(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(mac("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(mac(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(
      mac(from_hex("0102030405060708090a0b0c0d0e0f10111213141516171819"), std::string(50, '\xcd')),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  EXPECT_EQ(mac(long_key, "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(mac(long_key,
                "This is a test using a larger than block-size key and a larger than block-size "
                "data. The key needs to be hashed before being used by the HMAC algorithm."),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(Hmac, AgreesWithCryptoppOnLengthsAroundBlocks) {
  std::mt19937_64 rng(32);
  for (const std::size_t key_bytes : {1, 63, 64, 65, 128}) {
    for (const std::size_t bytes : {0, 1, 55, 56, 63, 64, 65, 120}) {
      const std::string key = random_string(key_bytes, rng), message = random_string(bytes, rng);
      std::string wanted(32, '\0');
      CryptoPP::HMAC<CryptoPP::SHA256>(data_of(key), key_bytes)
          .CalculateDigest(data_of(wanted), data_of(message), bytes);
      EXPECT_EQ(to_hex(hmac(key, message)), to_hex(wanted)) << key_bytes << " " << bytes;
    }
  }
}

// Four compressions, two of them of the key and once for all lanes.
TEST(Hmac, CompressesTheKeyOnceForAllLanes) {
  const CircuitCost cost = cost_of(*find_circuit("hmac_sha256:bytes=55"));
  const std::uint64_t block = ands("sha256:bytes=128") - ands("sha256:bytes=64");
  EXPECT_GE(cost.ands, 4 * block - 4000);
  EXPECT_LE(cost.ands, 4 * block);
  EXPECT_LE(cost.invariant_ands, 2 * block);
  EXPECT_GE(cost.invariant_ands, 2 * block - 2000);
  EXPECT_LE(ands("hmac_sha256:bytes=119") - cost.ands, block + 10);
}

// Test cases 1 to 3 of RFC 5869.
TEST(Hkdf, DerivesTheVectorsOfRfc5869) {
  const auto sequence = [](unsigned first, unsigned last) {
    std::string bytes;
    for (unsigned value = first; value <= last; ++value) bytes.push_back(static_cast<char>(value));
    return bytes;
  };
  const std::string key(22, '\x0b');
  EXPECT_EQ(to_hex(hkdf(key, sequence(0, 0x0c), sequence(0xf0, 0xf9), 42)),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  EXPECT_EQ(to_hex(hkdf(sequence(0, 0x4f), sequence(0x60, 0xaf), sequence(0xb0, 0xff), 82)),
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
            "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71"
            "cc30c58179ec3e87c14c01d5c1f3434f1d87");
  EXPECT_EQ(to_hex(hkdf(key, "", "", 42)),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(Hkdf, AgreesWithCryptoppOnAllLengths) {
  std::mt19937_64 rng(33);
  const std::array<std::size_t, 4> sizes[] = {
      {1, 0, 1, 1}, {32, 1, 0, 32}, {65, 64, 30, 33}, {31, 65, 33, 64}, {64, 32, 100, 65}};
  for (const auto& [key_bytes, salt_bytes, info_bytes, bytes] : sizes) {
    const std::string key = random_string(key_bytes, rng), salt = random_string(salt_bytes, rng),
                      info = random_string(info_bytes, rng);
    std::string wanted(bytes, '\0');
    CryptoPP::HKDF<CryptoPP::SHA256>().DeriveKey(data_of(wanted), bytes, data_of(key), key.size(),
                                                 data_of(salt), salt.size(), data_of(info),
                                                 info.size());
    EXPECT_EQ(to_hex(hkdf(key, salt, info, bytes)), to_hex(wanted)) << bytes;
  }
}

TEST(Hkdf, OutputsGoToTheGivenReceiver) {
  const auto receiver = [](const std::string& to) {
    return find_circuit("hkdf_sha256:to=" + to)->info().outputs[0].to;
  };
  EXPECT_EQ(receiver("both"), Receiver::Both);
  EXPECT_EQ(receiver("a"), Receiver::A);
  EXPECT_EQ(receiver("B"), Receiver::B);
  EXPECT_EQ(receiver("none"), Receiver::None);
}

std::vector<std::string> tls13_keys(const std::string& parameters, const std::string& dhe,
                                    const std::string& transcript_a,
                                    const std::string& transcript_b) {
  std::mt19937_64 rng(10);
  std::vector<NamedString> values = shares_of("dhe", dhe, rng);
  values.push_back({"transcript_a", transcript_a});
  values.push_back({"transcript_b", transcript_b});
  std::vector<std::string> result = evaluate_strings("tls13_keys:" + parameters, values);
  for (std::string& value : result) value = to_hex(value);
  return result;
}

// Section 3 of RFC 8448, "Simple 1-RTT Handshake".
const char* const kDhe = "8bd4054fb55b9d63fdfbacf9f04b9f0d35e6d63f537563efd46272900f89492d";

TEST(Tls13Keys, DerivesTheHandshakeKeysOfRfc8448) {
  const std::string hash =
      from_hex("860c06edc07858ee8e78f0e7428c58edd6b43f2ca3e6e95f02ed063cf0e1cad8");
  const std::vector<std::string> wanted = {
      "01",
      "b3eddb126e067f35a780b3abf45e2d8f3b1a950738f52e9600746a0e27a55a21",
      "b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38",
      "dbfaa693d1762c5b666af5d950258d01",
      "3fce516009c21727d0f2e4e86ee403bc",
      "5bd3c71b836e0b76bb73265f",
      "5d313eb2671276ee13000b30"};
  EXPECT_EQ(tls13_keys("stage=handshake", from_hex(kDhe), hash, hash), wanted);
}

TEST(Tls13Keys, DerivesTheApplicationKeysOfRfc8448) {
  const std::string hash =
      from_hex("9608102a0f1ccc6db6250b7b7e417b1a000eaada3daae4777a7686c9ff83df13");
  const std::vector<std::string> wanted = {
      "01",
      "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5",
      "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643",
      "17422dda596ed5d9acd890e3c63f5051",
      "9f02283b6c9c07efc26bb9f2ac92e356",
      "5b78923dee08579033e523d9",
      "cf782b88dd83549aadf1e984"};
  EXPECT_EQ(tls13_keys("stage=application", from_hex(kDhe), hash, hash), wanted);
}

TEST(Tls13Keys, OutputsZerosIfTheTranscriptsDiffer) {
  std::string mine(32, 'h'), other = mine;
  other[31] ^= 1;
  const std::string secret(64, '0'), key(64, '0'), iv(24, '0');
  EXPECT_EQ(tls13_keys("key_bytes=32,dhe_bytes=48", std::string(48, 'd'), mine, other),
            (std::vector<std::string>{"00", secret, secret, key, key, iv, iv}));
}

// HKDF-Expand-Label of Crypto++'s HMAC.
std::string expand_label(const std::string& secret, const std::string& label, std::size_t bytes) {
  const std::string info =
      std::string({'\0', static_cast<char>(bytes), static_cast<char>(6 + label.size())}) +
      "tls13 " + label + std::string("\0\1", 2);
  std::string block(32, '\0');
  CryptoPP::HMAC<CryptoPP::SHA256>(data_of(secret), secret.size())
      .CalculateDigest(data_of(block), data_of(info), info.size());
  return block.substr(0, bytes);
}

TEST(Tls13Keys, DerivesKeysOf32BytesFromSecretsOfAnyLength) {
  const std::string hash(32, 'h');
  for (const std::size_t dhe_bytes : {48, 66}) {
    const std::vector<std::string> keys =
        tls13_keys("key_bytes=32,dhe_bytes=" + std::to_string(dhe_bytes),
                   std::string(dhe_bytes, 'd'), hash, hash);
    for (const std::size_t side : {0, 1}) {
      const std::string traffic = from_hex(keys[1 + side]);
      EXPECT_EQ(keys[3 + side], to_hex(expand_label(traffic, "key", 32)));
      EXPECT_EQ(keys[5 + side], to_hex(expand_label(traffic, "iv", 12)));
    }
  }
}

TEST(Tls13Keys, CompressesEachSecretBlockOnce) {
  const std::uint64_t block = ands("sha256:bytes=128") - ands("sha256:bytes=64");
  EXPECT_LE(ands("tls13_keys"), 20 * block + 255 + 8 * (64 + 32 + 24));
  EXPECT_GE(ands("tls13_keys"), 20 * (block - 2000));
  EXPECT_LE(ands("tls13_keys:stage=application"), 28 * block + 255 + 8 * (64 + 32 + 24));
}

}  // namespace
}  // namespace tinyot
