#include "custody/self_test.h"

#include <map>

#include "base/error.h"
#include "base/hex.h"
#include "circuitgen/evaluate.h"
#include "circuitgen/generators/registry.h"
#include "custody/custodian.h"
#include "custody/key_session.h"

namespace tinyot::custody {
namespace {

using Bytes = std::vector<std::byte>;
using Bundles = std::map<std::string, Bytes>;

Bytes from_hex(const std::string& digits) {
  Bytes bytes(digits.size() / 2);
  ENSURE(parse_hex(digits, bytes));
  return bytes;
}

Bytes from_text(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bundles evaluated(const std::string& name, const Bundles& values) {
  const auto circuit = circuit::find_key_circuit(name);
  ENSURE(circuit);
  std::vector<LaneMatrix> inputs;
  for (const circuit::InputBundle& bundle : circuit->info().inputs) {
    LaneMatrix& input = inputs.emplace_back(1, bundle.bits);
    if (const auto value = values.find(bundle.name); value != values.end())
      ENSURE(input.assign(0, value->second));
  }
  const auto outputs = circuit::evaluate(*circuit, 1, inputs);
  Bundles results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto bytes = outputs[i][0].bytes();
    results[circuit->info().outputs[i].name] = {bytes.begin(), bytes.end()};
  }
  return results;
}

// What the uses of a key continue from; the share of B is zero.
Bundles kept(KeyClass key_class, KeyAlgorithm algorithm, const Bytes& key) {
  KeyAttributes attributes;
  attributes.key_class = key_class;
  attributes.algorithm = algorithm;
  return evaluated(load_circuit(attributes), {{"key_a", key}});
}

void require_that(bool is_right, const std::string& mechanism) {
  if (!is_right)
    throw Error(ErrorClass::Other,
                "the self-test of " + mechanism + " has failed: no key is used by this program");
}

struct GcmVector {
  KeyAlgorithm algorithm;
  const char *key, *ciphertext, *tag;
};
constexpr const char* kGcmNonce = "cafebabefacedbaddecaf888";
constexpr const char* kGcmText =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b5"
    "25"
    "b16aedf5aa0de657ba637b39";
constexpr const char* kGcmAad = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
constexpr GcmVector kGcm[] = {
    {KeyAlgorithm::Aes128, "feffe9928665731c6d6a8f9467308308",
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84a"
     "a05"
     "1ba30b396a0aac973d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {KeyAlgorithm::Aes256, "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828"
     "838"
     "c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"}};

void require_gcm(const GcmVector& vector) {
  const std::string mechanism = name_of(vector.algorithm) + " in GCM";
  const Bytes text = from_hex(kGcmText), aad = from_hex(kGcmAad);
  UseTerms terms{.use = KeyUse::Encrypt,
                 .bytes = static_cast<std::uint32_t>(text.size()),
                 .aad_bytes = static_cast<std::uint32_t>(aad.size())};
  KeyAttributes attributes;
  attributes.algorithm = vector.algorithm;
  Bundles inputs = kept(KeyClass::Aead, vector.algorithm, from_hex(vector.key));
  inputs["nonce"] = from_hex(kGcmNonce);
  inputs["aad"] = aad;
  inputs["message"] = text;
  Bundles sealed = evaluated(circuit_of(terms, attributes), inputs);
  require_that(
      sealed["ciphertext"] == from_hex(vector.ciphertext) && sealed["tag"] == from_hex(vector.tag),
      mechanism);
  terms.use = KeyUse::Decrypt;
  inputs["ciphertext"] = sealed["ciphertext"];
  inputs["tag"] = sealed["tag"];
  Bundles opened = evaluated(circuit_of(terms, attributes), inputs);
  require_that(opened["valid"] == Bytes{std::byte{1}} && opened["message"] == text, mechanism);
  inputs["tag"].back() ^= std::byte{1};
  opened = evaluated(circuit_of(terms, attributes), inputs);
  require_that(opened["valid"] == Bytes{std::byte{0}} && opened["message"] == Bytes(text.size()),
               mechanism);
}

void require_mac(KeyAlgorithm algorithm, const Bytes& key, const Bytes& message,
                 const std::string& tag) {
  const std::string mechanism =
      algorithm == KeyAlgorithm::HmacSha256 ? "HMAC-SHA-256" : name_of(algorithm) + " in CMAC";
  UseTerms terms{.use = KeyUse::Sign, .bytes = static_cast<std::uint32_t>(message.size())};
  KeyAttributes attributes;
  attributes.key_class = KeyClass::Mac;
  attributes.algorithm = algorithm;
  Bundles inputs = kept(KeyClass::Mac, algorithm, key);
  inputs["message"] = message;
  inputs["tag"] = from_hex(tag);
  require_that(evaluated(circuit_of(terms, attributes), inputs)["tag"] == inputs["tag"], mechanism);
  terms.use = KeyUse::Verify;
  const auto is_valid = [&] { return evaluated(circuit_of(terms, attributes), inputs)["valid"]; };
  require_that(is_valid() == Bytes{std::byte{1}}, mechanism);
  inputs["tag"].front() ^= std::byte{1};
  require_that(is_valid() == Bytes{std::byte{0}}, mechanism);
}

}  // namespace

void require_mechanisms() {
  for (const GcmVector& vector : kGcm) require_gcm(vector);
  const Bytes block = from_hex("6bc1bee22e409f96e93d7e117393172a");
  require_mac(KeyAlgorithm::Aes128, from_hex("2b7e151628aed2a6abf7158809cf4f3c"), block,
              "070a16b46b4d4144f79bdd9dd04a287c");
  require_mac(KeyAlgorithm::Aes256,
              from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"), block,
              "28a7023f452e8f82bd4bf28d8c37c35c");
  // HMAC pads a key with zeros to a block.
  Bytes key = from_text("Jefe");
  key.resize(32);
  require_mac(KeyAlgorithm::HmacSha256, key, from_text("what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace tinyot::custody
