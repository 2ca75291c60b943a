#include "circuitgen/generators/key_uses.h"

#include <algorithm>

#include "circuitgen/generators/cmac.h"
#include "circuitgen/generators/gcm.h"
#include "circuitgen/generators/kept_keys.h"

namespace tinyot::circuit {
namespace {

constexpr std::uint32_t kFirstInput = 2;  // after the two bundles of a kept key

CircuitParameter requester_parameter() {
  return CircuitParameter::choice("by", {"A", "B"}, "the party that asks");
}
Party requester_of(const CircuitArguments& arguments) {
  return arguments.choice("by") == "A" ? Party::A : Party::B;
}
Receiver receiver_of(Party requester) { return requester == Party::A ? Receiver::A : Receiver::B; }
CircuitParameter bytes_parameter() {
  return CircuitParameter::number("bytes", 32, 0, kKeyUseBytesMax, "length of the message");
}

struct GcmUse {
  KeyAlgorithm algorithm;
  GcmLengths lengths;
};

AesGcm gcm_of(Builder& builder, const GcmUse& use) {
  KeptCipher kept = kept_cipher(builder, use.algorithm);
  return AesGcm(std::move(kept.cipher), std::move(kept.zero_block),
                input_bytes(builder, kFirstInput, 12), use.lengths);
}

void emit_gcm(Builder& builder, const GcmUse& use, bool opens) {
  AesGcm gcm = gcm_of(builder, use);
  const std::uint32_t text = kFirstInput + (opens ? 2 : 1);
  const GcmBundles inputs{.text = text, .aad = use.lengths.bytes > 0 ? text + 1 : text};
  if (opens)
    open_gcm(builder, gcm, use.lengths, inputs, kFirstInput + 1);
  else
    seal_gcm(builder, gcm, use.lengths, inputs);
}

CircuitInfo gcm_info(const CircuitArguments& arguments, const GcmUse& use, bool opens) {
  const Party requester = requester_of(arguments);
  const Receiver receiver = receiver_of(requester);
  const InputSource aad_source =
      arguments.choice("shown") == "yes" ? InputSource::Public : source_of(requester);
  CircuitInfo info{arguments.spec(), kept_key_inputs(use.algorithm), {}};
  info.inputs.push_back(
      {"nonce", 96, opens ? source_of(requester) : InputSource::Public, ValueFormat::Bytes, false});
  if (opens) {
    info.inputs.push_back(bytes_input("tag", 16, requester));
    info.outputs.push_back({"valid", 1, receiver, ValueFormat::Integer});
  }
  const std::uint64_t bytes = use.lengths.bytes, aad = use.lengths.aad;
  if (bytes > 0) {
    info.inputs.push_back(bytes_input(opens ? "ciphertext" : "message", bytes, requester));
    info.outputs.push_back(bytes_output(opens ? "message" : "ciphertext", bytes, receiver));
  }
  if (aad > 0)
    info.inputs.push_back({"aad", bundle_bits(8 * aad), aad_source, ValueFormat::Bytes, false});
  if (!opens) info.outputs.push_back(bytes_output("tag", 16, receiver));
  return info;
}

CircuitFamily gcm_family(bool opens) {
  CircuitFamily family;
  family.name = opens ? "key_open" : "key_seal";
  family.description = opens ? "AES-GCM opened with a kept key" : "AES-GCM sealed with a kept key";
  family.parameters = {
      CircuitParameter::choice("algorithm", {"aes128", "aes256"}, "algorithm of the key"),
      requester_parameter(), bytes_parameter(),
      CircuitParameter::number("aad", 0, 0, kKeyUseBytesMax, "length of the associated data"),
      CircuitParameter::choice("shown", {"no", "yes"}, "whether both give the associated data")};
  family.make = [opens](const CircuitArguments& arguments) {
    const GcmUse use{algorithm_of(arguments), {arguments.number("bytes"), arguments.number("aad")}};
    return std::make_unique<GeneratedCircuit>(
        gcm_info(arguments, use, opens), [=](Builder& builder) { emit_gcm(builder, use, opens); });
  };
  return family;
}

ByteWords mac_of(Builder& builder, KeyAlgorithm algorithm, std::uint32_t bundle,
                 std::uint64_t bytes) {
  if (algorithm == KeyAlgorithm::HmacSha256) {
    const HmacKey key = kept_hmac_key(builder);
    Sha256 inner = key.inner();
    for (std::uint64_t k = 0; k < bytes; ++k) inner.update(input_byte(builder, bundle, k));
    return key.finish(std::move(inner));
  }
  const KeptCipher kept = kept_cipher(builder, algorithm);
  const ByteWords message = bytes > 0 ? input_bytes(builder, bundle, bytes) : ByteWords();
  const AesState tag = cmac(kept.cipher, kept.zero_block, message);
  return ByteWords(tag.begin(), tag.end());
}

CircuitFamily mac_family(bool verifies) {
  CircuitFamily family;
  family.name = verifies ? "key_verify" : "key_sign";
  family.description =
      verifies ? "a tag of CMAC or HMAC verified with a kept key" : "CMAC or HMAC with a kept key";
  family.parameters = {algorithm_parameter(), requester_parameter(), bytes_parameter()};
  family.make = [verifies](const CircuitArguments& arguments) {
    const KeyAlgorithm algorithm = algorithm_of(arguments);
    const Party requester = requester_of(arguments);
    const std::uint64_t bytes = arguments.number("bytes");
    const std::uint32_t tag_bytes =
        algorithm == KeyAlgorithm::HmacSha256 ? Sha256::kDigestBytes : 16;
    CircuitInfo info{arguments.spec(), kept_key_inputs(algorithm), {}};
    if (verifies) {
      info.inputs.push_back(bytes_input("tag", tag_bytes, requester));
      info.outputs.push_back({"valid", 1, receiver_of(requester), ValueFormat::Integer});
    } else {
      info.outputs.push_back(bytes_output("tag", tag_bytes, receiver_of(requester)));
    }
    if (bytes > 0) info.inputs.push_back(bytes_input("message", bytes, requester));
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) {
      const ByteWords tag =
          mac_of(builder, algorithm, verifies ? kFirstInput + 1 : kFirstInput, bytes);
      if (verifies)
        builder.output_bit(0, 0, is_equal(builder, tag, kFirstInput));
      else
        output_bytes(builder, 0, 0, tag);
    });
  };
  return family;
}

}  // namespace

std::vector<CircuitFamily> key_use_families() {
  return {gcm_family(false), gcm_family(true), mac_family(false), mac_family(true)};
}

}  // namespace tinyot::circuit
