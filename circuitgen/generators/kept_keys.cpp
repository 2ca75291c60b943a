#include "circuitgen/generators/kept_keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "circuitgen/generators/cmac.h"
#include "circuitgen/generators/gcm.h"

namespace tinyot::circuit {
namespace {

constexpr std::string_view kCheckText = "tinyot key check";
// SHA-256 of it; a test computes it anew.
constexpr std::array<std::uint8_t, 16> kCheckDigest = {
    0x21, 0xdb, 0xf6, 0xe3, 0xce, 0x9f, 0x85, 0x8e, 0x37, 0xb5, 0xce, 0x58, 0x0a, 0x54, 0x0f, 0x10};
constexpr std::uint32_t kInfoBytesMax = 1 << 12;

enum class KeyCheck { Block, Mac, Hash };

struct KeyShape {
  KeyAlgorithm algorithm;
  KeyCheck check;
};

CircuitParameter class_parameter() {
  return CircuitParameter::choice("class", {"aead", "mac", "kdf"}, "what the key is for");
}

KeyShape shape_of(const CircuitArguments& arguments) {
  const KeyAlgorithm algorithm = algorithm_of(arguments);
  const std::string& key_class = arguments.choice("class");
  if (algorithm == KeyAlgorithm::HmacSha256) {
    if (key_class != "mac") throw UsageError("a key of hmac_sha256 is of class mac");
    return {algorithm, KeyCheck::Hash};
  }
  return {algorithm, key_class == "aead" ? KeyCheck::Block : KeyCheck::Mac};
}

AesState public_block(std::size_t bytes) {
  AesState block;
  for (std::size_t k = 0; k < bytes; ++k) block[k] = ByteWord::constant(kCheckDigest[k]);
  return block;
}

AesState hash_check(const ByteWords& key) {
  Sha256 hash;
  hash.update(constant_bytes(kCheckText));
  hash.update(key);
  const ByteWords digest = std::move(hash).digest();
  AesState check;
  std::copy_n(digest.begin(), check.size(), check.begin());
  return check;
}

AesState cipher_check(const AesCipher& cipher, KeyCheck check, const AesState& zero_block) {
  if (check == KeyCheck::Block) return cipher.encrypt(public_block(12));
  const AesState message = public_block(16);
  return cmac(cipher, zero_block, message);
}

AesState check_value(const ByteWords& key, const KeyShape& shape) {
  if (shape.check == KeyCheck::Hash) return hash_check(key);
  const AesCipher cipher(key, AesSbox::Small);
  return cipher_check(cipher, shape.check,
                      shape.check == KeyCheck::Mac ? cipher.encrypt({}) : AesState());
}

void emit_load(Builder& builder, const KeyShape& shape) {
  constexpr std::uint32_t kCheck = 2;
  const ByteWords key = shared_bytes(builder, 0, 1, key_bytes_of(shape.algorithm));
  if (shape.check == KeyCheck::Hash) {
    builder.output_bit(0, 0, is_equal(builder, hash_check(key), kCheck));
    const HmacKey states(key);
    output_bytes(builder, 1, 0, states.inner().state());
    output_bytes(builder, 2, 0, states.outer().state());
    return;
  }
  const AesCipher cipher(key, AesSbox::Small);
  const AesState zero_block = cipher.encrypt({});
  builder.output_bit(0, 0,
                     is_equal(builder, cipher_check(cipher, shape.check, zero_block), kCheck));
  for (std::size_t round = 0; round < cipher.round_keys().size(); ++round)
    output_bytes(builder, 1, 16 * round, cipher.round_keys()[round]);
  output_bytes(builder, 2, 0, zero_block);
}

void append_number(ByteWords& bytes, std::uint32_t number) {
  for (std::uint32_t k = 4; k-- > 0;) bytes.push_back(ByteWord::constant(number >> (8 * k) & 0xff));
}

// K(i) = CMAC(parent, i || info || L) for i = 1, 2, ...
void emit_derived(Builder& builder, KeyAlgorithm parent, const KeyShape& child,
                  std::uint32_t info_bytes) {
  const KeptCipher kept = kept_cipher(builder, parent);
  const ByteWords info = input_bytes(builder, 2, info_bytes);
  const std::uint32_t key_bytes = key_bytes_of(child.algorithm);
  ByteWords key;
  for (std::uint32_t i = 1; key.size() < key_bytes; ++i) {
    ByteWords message;
    append_number(message, i);
    message.insert(message.end(), info.begin(), info.end());
    append_number(message, 8 * key_bytes);
    const AesState part = cmac(kept.cipher, kept.zero_block, message);
    key.insert(key.end(), part.begin(), part.end());
  }
  output_bytes(builder, 0, 0, key);
  output_bytes(builder, 1, 0, check_value(key, child));
}

struct KeptBundle {
  const char* name;
  std::uint32_t bytes;
};
std::array<KeptBundle, 2> kept_bundles(KeyAlgorithm algorithm) {
  if (algorithm == KeyAlgorithm::HmacSha256)
    return {{{"inner", Sha256::kDigestBytes}, {"outer", Sha256::kDigestBytes}}};
  return {{{"round_keys", algorithm == KeyAlgorithm::Aes128 ? 11 * 16u : 15 * 16u},
           {"zero_block", 16}}};
}

std::vector<InputBundle> key_shares(KeyAlgorithm algorithm) {
  const std::uint32_t bytes = key_bytes_of(algorithm);
  return {key_input("key_a", bytes, Party::A), key_input("key_b", bytes, Party::B)};
}

}  // namespace

CircuitParameter algorithm_parameter(std::string name) {
  return CircuitParameter::choice(std::move(name), {"aes128", "aes256", "hmac_sha256"},
                                  "algorithm of the key");
}

KeyAlgorithm algorithm_of(const CircuitArguments& arguments, const std::string& name) {
  const std::string& choice = arguments.choice(name);
  if (choice == "aes128") return KeyAlgorithm::Aes128;
  return choice == "aes256" ? KeyAlgorithm::Aes256 : KeyAlgorithm::HmacSha256;
}

std::vector<InputBundle> kept_key_inputs(KeyAlgorithm algorithm) {
  std::vector<InputBundle> inputs;
  for (const KeptBundle& bundle : kept_bundles(algorithm))
    inputs.push_back(
        {bundle.name, 8 * bundle.bytes, InputSource::Shared, ValueFormat::Bytes, true});
  return inputs;
}

KeptCipher kept_cipher(Builder& builder, KeyAlgorithm algorithm) {
  std::vector<AesState> round_keys(kept_bundles(algorithm)[0].bytes / 16);
  AesState zero_block;
  for (std::size_t round = 0; round < round_keys.size(); ++round)
    for (std::size_t k = 0; k < 16; ++k)
      round_keys[round][k] = input_byte(builder, 0, 16 * round + k);
  for (std::size_t k = 0; k < 16; ++k) zero_block[k] = input_byte(builder, 1, k);
  return {AesCipher(std::move(round_keys), AesSbox::Small), std::move(zero_block)};
}

HmacKey kept_hmac_key(Builder& builder) {
  const auto state = [&](std::uint32_t bundle) {
    return Sha256(input_bytes(builder, bundle, Sha256::kDigestBytes), Sha256::kBlockBytes);
  };
  Sha256 inner = state(0);
  return HmacKey(std::move(inner), state(1));
}

CircuitFamily key_check_family() {
  CircuitFamily family;
  family.name = "key_check";
  family.description = "the check value of a key of custody";
  family.parameters = {algorithm_parameter(), class_parameter()};
  family.make = [](const CircuitArguments& arguments) {
    const KeyShape shape = shape_of(arguments);
    CircuitInfo info{
        arguments.spec(), key_shares(shape.algorithm), {bytes_output("check", 16, Receiver::Both)}};
    return std::make_unique<GeneratedCircuit>(std::move(info), [shape](Builder& builder) {
      output_bytes(builder, 0, 0,
                   check_value(shared_bytes(builder, 0, 1, key_bytes_of(shape.algorithm)), shape));
    });
  };
  return family;
}

CircuitFamily key_load_family() {
  CircuitFamily family;
  family.name = "key_load";
  family.description = "a key of custody, checked, for circuits that use it";
  family.parameters = {algorithm_parameter(), class_parameter()};
  family.make = [](const CircuitArguments& arguments) {
    const KeyShape shape = shape_of(arguments);
    CircuitInfo info{arguments.spec(),
                     key_shares(shape.algorithm),
                     {{"ok", 1, Receiver::Both, ValueFormat::Integer}}};
    info.inputs.push_back({"check", 128, InputSource::Public, ValueFormat::Bytes, true});
    for (const KeptBundle& bundle : kept_bundles(shape.algorithm))
      info.outputs.push_back(bytes_output(bundle.name, bundle.bytes, Receiver::None));
    return std::make_unique<GeneratedCircuit>(
        std::move(info), [shape](Builder& builder) { emit_load(builder, shape); });
  };
  return family;
}

CircuitFamily key_derive_family() {
  CircuitFamily family;
  family.name = "key_derive";
  family.description = "a key of custody that is derived from another one";
  family.parameters = {
      CircuitParameter::choice("parent", {"aes128", "aes256"}, "algorithm of the parent"),
      algorithm_parameter(), class_parameter(),
      CircuitParameter::number("info", 16, 1, kInfoBytesMax, "bytes of label and context")};
  family.make = [](const CircuitArguments& arguments) {
    const KeyAlgorithm parent = algorithm_of(arguments, "parent");
    const KeyShape child = shape_of(arguments);
    const auto info_bytes = static_cast<std::uint32_t>(arguments.number("info"));
    CircuitInfo info{arguments.spec(),
                     kept_key_inputs(parent),
                     {bytes_output("key", key_bytes_of(child.algorithm), Receiver::None),
                      bytes_output("check", 16, Receiver::Both)}};
    info.inputs.push_back({"info", 8 * info_bytes, InputSource::Public, ValueFormat::Bytes, true});
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) {
      emit_derived(builder, parent, child, info_bytes);
    });
  };
  return family;
}

}  // namespace tinyot::circuit
