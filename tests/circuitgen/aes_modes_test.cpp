// Counter mode and GCM: the vectors of the standards, and random inputs against Crypto++.
#include <cryptopp/aes.h>
#include <cryptopp/gcm.h>
#include <cryptopp/modes.h>
#include <gtest/gtest.h>

#include "byte_strings.h"
#include "circuitgen/cost.h"
#include "circuitgen/generators/field_product.h"
#include "circuits.h"

namespace tinyot {
namespace {

std::vector<NamedString> keyed(const std::string& key, std::vector<NamedString> values) {
  std::mt19937_64 rng(7);
  std::vector<NamedString> all = shares_of("key", key, rng);
  all.insert(all.end(), values.begin(), values.end());
  return all;
}

std::string cipher_of(const std::string& key) { return "aes" + std::to_string(8 * key.size()); }

std::string ctr(const std::string& key, const std::string& nonce, std::uint32_t counter,
                const std::string& message, const std::string& sbox = "small") {
  const std::string spec = cipher_of(key) + "_ctr:bytes=" + std::to_string(message.size()) +
                           ",counter=" + std::to_string(counter) + ",sbox=" + sbox;
  return evaluate_strings(spec, keyed(key, {{"nonce", nonce}, {"message", message}}))[0];
}

std::string parameters(const std::string& text, const std::string& aad) {
  return ":bytes=" + std::to_string(text.size()) + ",aad=" + std::to_string(aad.size());
}

// The ciphertext and the tag, or valid (a byte) and the message; in one string.
std::string seal(const std::string& key, const std::string& nonce, const std::string& aad,
                 const std::string& message) {
  const std::vector<NamedString> values = {{"nonce", nonce}, {"aad", aad}, {"message", message}};
  std::string result;
  for (const std::string& output :
       evaluate_strings(cipher_of(key) + "_gcm" + parameters(message, aad), keyed(key, values)))
    result += output;
  return result;
}

std::string open(const std::string& key, const std::string& nonce, const std::string& aad,
                 const std::string& sealed) {
  const std::string ciphertext = sealed.substr(0, sealed.size() - 16);
  const std::vector<NamedString> values = {{"nonce", nonce},
                                           {"tag", sealed.substr(sealed.size() - 16)},
                                           {"ciphertext", ciphertext},
                                           {"aad", aad}};
  std::string result;
  for (const std::string& output : evaluate_strings(
           cipher_of(key) + "_gcm_open" + parameters(ciphertext, aad), keyed(key, values)))
    result += output;
  return result;
}

// F.5.1 and F.5.5 of SP 800-38A: the counter crosses bytes.
TEST(AesCtr, EncryptsTheVectorsOfSp80038a) {
  const std::string nonce = from_hex("f0f1f2f3f4f5f6f7f8f9fafb");
  const std::string message = from_hex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
      "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710");
  const std::string key128 = from_hex("2b7e151628aed2a6abf7158809cf4f3c");
  const std::string key256 =
      from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
  for (const char* sbox : {"small", "shallow", "gf16"}) {
    EXPECT_EQ(to_hex(ctr(key128, nonce, 0xfcfdfeff, message, sbox)),
              "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
              "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee");
    EXPECT_EQ(to_hex(ctr(key256, nonce, 0xfcfdfeff, message, sbox)),
              "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
              "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6");
  }
}

TEST(AesCtr, AgreesWithCryptoppOnAllLengths) {
  std::mt19937_64 rng(21);
  for (const std::size_t key_bytes : {16, 32}) {
    for (const std::size_t bytes : {1, 15, 16, 17, 31, 32, 33, 100}) {
      const std::string key = random_string(key_bytes, rng), nonce = random_string(12, rng),
                        message = random_string(bytes, rng);
      const std::string block = nonce + from_hex("01fffffe");
      std::string wanted(bytes, '\0');
      CryptoPP::CTR_Mode<CryptoPP::AES>::Encryption cipher(data_of(key), key.size(),
                                                           data_of(block));
      cipher.ProcessData(data_of(wanted), data_of(message), bytes);
      const std::string ciphertext = ctr(key, nonce, 0x01fffffe, message);
      EXPECT_EQ(to_hex(ciphertext), to_hex(wanted)) << bytes;
      EXPECT_EQ(to_hex(ctr(key, nonce, 0x01fffffe, ciphertext)), to_hex(message)) << bytes;
    }
  }
}

TEST(AesCtr, CounterWrapsAfter32Bits) {
  std::mt19937_64 rng(22);
  const std::string key = random_string(16, rng), nonce = random_string(12, rng);
  const std::string both = ctr(key, nonce, 0xffffffff, std::string(32, '\0'));
  EXPECT_EQ(both.substr(16), ctr(key, nonce, 0, std::string(16, '\0')));
}

TEST(AesCtr, SharesSboxesBetweenBlocks) {
  const auto ands = [](const std::string& spec) { return cost_of(*find_circuit(spec)).ands; };
  EXPECT_EQ(ands("aes128_ctr:bytes=1"), 32u * (40 + 160));
  EXPECT_EQ(ands("aes128_ctr:bytes=64"), 32u * (40 + 160 + 3 * 133));
  EXPECT_EQ(ands("aes128_ctr:bytes=64,sbox=shallow"), 34u * (40 + 160 + 3 * 133));
  EXPECT_EQ(cost_of(*find_circuit("aes128_ctr:bytes=64,sbox=gf16")).products,
            37u * (40 + 160 + 3 * 133));
  EXPECT_EQ(ands("aes256_ctr:bytes=64"), 32u * (52 + 224 + 3 * 197));
  // The second lowest byte changes too, and with it another column of round 2.
  EXPECT_EQ(ands("aes128_ctr:bytes=32,counter=255"), 32u * (40 + 160 + 138));
  EXPECT_EQ(cost_of(*find_circuit("aes128_ctr:bytes=640")).and_depth, 60u);
}

// Test cases 1 to 4, 13, 14 and 16 of McGrew, Viega, "The Galois/Counter Mode of Operation (GCM)".
struct GcmVector {
  std::string key, nonce, aad, message, sealed;
};

std::vector<GcmVector> gcm_vectors() {
  const std::string zero_key(32, '0'), zero_nonce(24, '0'), zero_block(32, '0');
  const std::string key = "feffe9928665731c6d6a8f9467308308", nonce = "cafebabefacedbaddecaf888",
                    aad = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
  const std::string message =
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
      "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
  const std::string ciphertext =
      "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
      "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091";
  return {{zero_key, zero_nonce, "", "", "58e2fccefa7e3061367f1d57a4e7455a"},
          {zero_key, zero_nonce, "", zero_block,
           "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf"},
          {key, nonce, "", message + "1aafd255",
           ciphertext + "473f5985" + "4d5c2af327cd64a62cf35abd2ba6fab4"},
          {key, nonce, aad, message, ciphertext + "5bc94fbc3221a5db94fae95ae7121a47"},
          {zero_key + zero_key, zero_nonce, "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
          {zero_key + zero_key, zero_nonce, "", zero_block,
           "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"},
          {key + key, nonce, aad, message,
           "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
           "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
           "76fc6ece0f4e1768cddf8853bb2d551b"}};
}

// For all products of two powers of X, and so for all products.
TEST(FieldProduct, IsThatOfPolynomialsModuloX128) {
  const CircuitInfo info = test_info({128, 128}, {128, 128});
  const TestCircuit circuit(info, [&info](GateSink& sink) {
    Builder builder(sink, info);
    const FieldElement x(builder.input(0)), y(builder.input(1));
    Bits products = field_factors(x);
    const Bits factors = field_factors(y);
    for (std::size_t r = 0; r < products.size(); ++r) products[r] &= factors[r];
    builder.output(0, field_element(products));
    builder.output(1, field_square(x));
  });
  EXPECT_EQ(cost_of(circuit).ands, 698u);
  EXPECT_EQ(cost_of(circuit).and_depth, 1u);

  std::vector<BitVector> powers;
  for (std::size_t e = 0; e < 255; ++e) {
    BitVector power(128);
    if (e < 128) {
      power.put(e, true);
    } else {
      for (const std::size_t place : {0, 1, 2, 7}) power ^= powers[e - 128 + place];
    }
    powers.push_back(std::move(power));
  }
  std::vector<LaneValues> inputs(2);
  for (std::size_t lane = 0; lane < 128 * 128; ++lane) {
    inputs[0].push_back(powers[lane / 128]);
    inputs[1].push_back(powers[lane % 128]);
  }
  const std::vector<LaneValues> outputs = evaluate(circuit, inputs[0].size(), inputs);
  for (std::size_t lane = 0; lane < inputs[0].size(); ++lane) {
    ASSERT_EQ(bytes_of(outputs[0][lane]), bytes_of(powers[lane / 128 + lane % 128])) << lane;
    ASSERT_EQ(bytes_of(outputs[1][lane]), bytes_of(powers[2 * (lane / 128)])) << lane;
  }
}

TEST(AesGcm, SealsAndOpensTheVectorsOfMcGrewAndViega) {
  for (const GcmVector& v : gcm_vectors()) {
    const std::string key = from_hex(v.key), nonce = from_hex(v.nonce), aad = from_hex(v.aad);
    EXPECT_EQ(to_hex(seal(key, nonce, aad, from_hex(v.message))), v.sealed);
    EXPECT_EQ(to_hex(open(key, nonce, aad, from_hex(v.sealed))), "01" + v.message);
  }
}

// Lengths around blocks, and numbers of blocks for which GHASH uses 2, 4, 8 and 16 powers.
TEST(AesGcm, AgreesWithCryptoppOnAllLengths) {
  std::mt19937_64 rng(23);
  const std::pair<std::size_t, std::size_t> sizes[] = {
      {0, 0},  {0, 1},   {1, 0},    {15, 16},  {16, 15},  {17, 17},    {31, 0},
      {33, 1}, {992, 0}, {1008, 0}, {993, 20}, {2033, 1}, {4070, 100}, {4100, 0}};
  for (const auto& [bytes, aad_bytes] : sizes) {
    const std::string key = random_string(bytes % 2 == 0 ? 16 : 32, rng),
                      nonce = random_string(12, rng), aad = random_string(aad_bytes, rng),
                      message = random_string(bytes, rng);
    std::string wanted(bytes + 16, '\0');
    CryptoPP::GCM<CryptoPP::AES>::Encryption cipher;
    cipher.SetKeyWithIV(data_of(key), key.size(), data_of(nonce), nonce.size());
    cipher.EncryptAndAuthenticate(data_of(wanted), data_of(wanted) + bytes, 16, data_of(nonce),
                                  static_cast<int>(nonce.size()), data_of(aad), aad.size(),
                                  data_of(message), bytes);
    EXPECT_EQ(to_hex(seal(key, nonce, aad, message)), to_hex(wanted)) << bytes << " " << aad_bytes;
  }
}

TEST(AesGcm, OutputsZerosIfAnyBitIsWrong) {
  const GcmVector v = gcm_vectors()[3];
  const std::string key = from_hex(v.key), nonce = from_hex(v.nonce), aad = from_hex(v.aad),
                    sealed = from_hex(v.sealed);
  const auto changed = [](std::string text, std::size_t bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ 1 << bit % 8);
    return text;
  };
  const std::string nothing(1 + sealed.size() - 16, '\0');
  for (std::size_t bit = 0; bit < 8 * sealed.size(); bit += 37)
    EXPECT_EQ(open(key, nonce, aad, changed(sealed, bit)), nothing) << bit;
  for (const std::size_t bit : {0, 127, 159})
    EXPECT_EQ(open(key, nonce, changed(aad, bit), sealed), nothing) << bit;
  EXPECT_EQ(open(key, changed(nonce, 40), aad, sealed), nothing);
  EXPECT_EQ(open(changed(key, 40), nonce, aad, sealed), nothing);
}

TEST(AesGcm, MatchesTheDocumentedCost) {
  const auto ands = [](const std::string& spec) { return cost_of(*find_circuit(spec)).ands; };
  const std::uint64_t once = 32 * (40 + 160 + 160), product = 698, block = 32 * 133 + product;
  EXPECT_EQ(ands("aes128_gcm:bytes=0"), once) << "the block of lengths is public";
  EXPECT_EQ(ands("aes128_gcm"), once + 4 * block);
  EXPECT_EQ(ands("aes128_gcm:bytes=50,aad=17"), once + 4 * block + 2 * product);
  EXPECT_EQ(ands("aes128_gcm:bytes=1024"), once + 64 * block + 3 * product) << "H^3, H^5, H^7";
  EXPECT_EQ(ands("aes128_gcm_open"), ands("aes128_gcm") + 127 + 8 * 64);
  EXPECT_EQ(cost_of(*find_circuit("aes128_gcm")).and_depth, 60u + 3);
  EXPECT_LE(cost_of(*find_circuit("aes128_gcm:bytes=8192")).and_depth, 60u + 513 / 16 + 5);
}

// The key schedule and 16 powers of H, whatever the length.
TEST(AesGcm, HoldsFewWiresOfALongMessage) {
  const auto live = [](const std::string& spec) { return most_live_wires(*find_circuit(spec)); };
  const std::uint64_t of_8_kib = live("aes128_gcm:bytes=8192");
  EXPECT_LE(of_8_kib, 16 * 698 + 16'000u);
  EXPECT_EQ(live("aes128_gcm:bytes=32768,aad=8192"), of_8_kib);
  EXPECT_EQ(live("aes256_ctr:bytes=8192"), live("aes256_ctr:bytes=2048"));
}

TEST(AesGcm, ComputesKeyScheduleAndPowersOnceForAllLanes) {
  const CircuitCost cost = cost_of(*find_circuit("aes128_gcm:bytes=4096"));
  const std::uint64_t counters = 4 + 256 + 1;  // S-boxes of round 1 of the counter's bytes
  EXPECT_EQ(cost.invariant_ands, 32 * (40 + 160 + counters) + 7 * 698);
}

}  // namespace
}  // namespace tinyot
