#include "custody/self_test.h"

#include <map>

#include "base/error.h"
#include "base/hex.h"
#include "circuitgen/evaluate.h"
#include "circuitgen/generators/registry.h"
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
Bundles kept(const KeyAttributes& attributes, const Bytes& key) {
  return evaluated(load_circuit(attributes), {{"key_a", key}});
}

void require_that(bool is_right, const std::string& mechanism) {
  if (!is_right)
    throw Error(ErrorClass::Other,
                "the self-test of " + mechanism + " has failed: no key is used by this program");
}

// Of GCM all, of a tag alone without nonce, associated data and ciphertext.
struct Vector {
  std::string mechanism;
  KeyAttributes attributes;  // class and algorithm
  Bytes key, text, tag;
  Bytes nonce = {}, aad = {}, ciphertext = {};

  bool is_gcm() const { return attributes.key_class == KeyClass::Aead; }
  std::string circuit(KeyUse use) const {
    return circuit_of({.use = use,
                       .bytes = static_cast<std::uint32_t>(text.size()),
                       .aad_bytes = static_cast<std::uint32_t>(aad.size())},
                      attributes);
  }
};

KeyAttributes attributes_of(KeyClass key_class, KeyAlgorithm algorithm) {
  KeyAttributes attributes;
  attributes.key_class = key_class;
  attributes.algorithm = algorithm;
  return attributes;
}

Vector gcm_vector(const std::string& mechanism, KeyAlgorithm algorithm, const std::string& key,
                  const std::string& ciphertext, const std::string& tag) {
  return {
      .mechanism = mechanism,
      .attributes = attributes_of(KeyClass::Aead, algorithm),
      .key = from_hex(key),
      .text = from_hex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95"
                       "956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"),
      .tag = from_hex(tag),
      .nonce = from_hex("cafebabefacedbaddecaf888"),
      .aad = from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
      .ciphertext = from_hex(ciphertext)};
}

Vector mac_vector(const std::string& mechanism, KeyAlgorithm algorithm, Bytes key, Bytes text,
                  const std::string& tag) {
  return {.mechanism = mechanism,
          .attributes = attributes_of(KeyClass::Mac, algorithm),
          .key = std::move(key),
          .text = std::move(text),
          .tag = from_hex(tag)};
}

std::vector<Vector> vectors() {
  const std::string half = "feffe9928665731c6d6a8f9467308308";
  const Bytes block = from_hex("6bc1bee22e409f96e93d7e117393172a");
  // HMAC pads a key with zeros to a block.
  Bytes jefe = from_text("Jefe");
  jefe.resize(32);
  return {
      gcm_vector("aes128-gcm", KeyAlgorithm::Aes128, half,
                 "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466"
                 "931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
                 "5bc94fbc3221a5db94fae95ae7121a47"),
      gcm_vector("aes256-gcm", KeyAlgorithm::Aes256, half + half,
                 "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590d"
                 "bb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
                 "76fc6ece0f4e1768cddf8853bb2d551b"),
      mac_vector("aes128-cmac", KeyAlgorithm::Aes128, from_hex("2b7e151628aed2a6abf7158809cf4f3c"),
                 block, "070a16b46b4d4144f79bdd9dd04a287c"),
      mac_vector("aes256-cmac", KeyAlgorithm::Aes256,
                 from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"),
                 block, "28a7023f452e8f82bd4bf28d8c37c35c"),
      mac_vector("hmac-sha256", KeyAlgorithm::HmacSha256, std::move(jefe),
                 from_text("what do ya want for nothing?"),
                 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")};
}

void require_gcm(const Vector& vector) {
  Bundles inputs = kept(vector.attributes, vector.key);
  inputs["nonce"] = vector.nonce;
  inputs["aad"] = vector.aad;
  inputs["message"] = vector.text;
  Bundles sealed = evaluated(vector.circuit(KeyUse::Encrypt), inputs);
  require_that(sealed["ciphertext"] == vector.ciphertext && sealed["tag"] == vector.tag,
               vector.mechanism);
  inputs["ciphertext"] = sealed["ciphertext"];
  inputs["tag"] = sealed["tag"];
  Bundles opened = evaluated(vector.circuit(KeyUse::Decrypt), inputs);
  require_that(opened["valid"] == Bytes{std::byte{1}} && opened["message"] == vector.text,
               vector.mechanism);
  inputs["tag"].back() ^= std::byte{1};
  opened = evaluated(vector.circuit(KeyUse::Decrypt), inputs);
  require_that(
      opened["valid"] == Bytes{std::byte{0}} && opened["message"] == Bytes(vector.text.size()),
      vector.mechanism);
}

void require_mac(const Vector& vector) {
  const std::string sign = vector.circuit(KeyUse::Sign), verify = vector.circuit(KeyUse::Verify);
  Bundles inputs = kept(vector.attributes, vector.key);
  inputs["message"] = vector.text;
  inputs["tag"] = vector.tag;
  require_that(evaluated(sign, inputs)["tag"] == vector.tag, vector.mechanism);
  require_that(evaluated(verify, inputs)["valid"] == Bytes{std::byte{1}}, vector.mechanism);
  inputs["tag"].front() ^= std::byte{1};
  require_that(evaluated(verify, inputs)["valid"] == Bytes{std::byte{0}}, vector.mechanism);
}

}  // namespace

void require_mechanisms() {
  for (const Vector& vector : vectors())
    vector.is_gcm() ? require_gcm(vector) : require_mac(vector);
}

}  // namespace tinyot::custody
