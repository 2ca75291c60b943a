#include "circuitgen/generators/aes_gcm.h"

#include "circuitgen/generators/gcm.h"

namespace tinyot::circuit {
namespace {

// Opening holds 8 wires per byte until the tag is checked.
constexpr std::uint64_t kOpenedBytesMax = std::uint64_t{1} << 20;

enum class GcmDirection { Seal, Open };

struct GcmShape {
  std::uint32_t key_bytes;
  GcmLengths text;
  AesSbox sbox;
};

AesGcm gcm_of(Builder& builder, const GcmShape& shape) {
  AesCipher cipher(shared_bytes(builder, 0, 1, shape.key_bytes), shape.sbox);
  return AesGcm(std::move(cipher), std::nullopt, input_bytes(builder, 2, 12), shape.text);
}

CircuitInfo gcm_info(const CircuitArguments& arguments, const GcmShape& shape,
                     GcmDirection direction) {
  const bool open = direction == GcmDirection::Open;
  CircuitInfo info{
      arguments.spec(),
      {key_input("key_a", shape.key_bytes, Party::A), key_input("key_b", shape.key_bytes, Party::B),
       bytes_input("nonce", 12, Party::A)},
      {}};
  if (open) {
    info.inputs.push_back(bytes_input("tag", 16, Party::A));
    info.outputs.push_back({"valid", 1, Receiver::B, ValueFormat::Integer});
  }
  if (shape.text.bytes > 0) {
    info.inputs.push_back(bytes_input(open ? "ciphertext" : "message", shape.text.bytes, Party::A));
    info.outputs.push_back(
        bytes_output(open ? "message" : "ciphertext", shape.text.bytes, Receiver::B));
  }
  if (shape.text.aad > 0) info.inputs.push_back(bytes_input("aad", shape.text.aad, Party::A));
  if (!open) info.outputs.push_back(bytes_output("tag", 16, Receiver::B));
  return info;
}

CircuitFamily gcm_family(std::uint32_t key_bits, GcmDirection direction) {
  const bool open = direction == GcmDirection::Open;
  const std::string cipher = "AES-" + std::to_string(key_bits) + "-GCM";
  CircuitFamily family;
  family.name = "aes" + std::to_string(key_bits) + (open ? "_gcm_open" : "_gcm");
  family.description =
      open ? cipher + ": B learns the message of A's ciphertext and tag, if the tag is right"
           : cipher + " of A's message under key_a ^ key_b; B learns the ciphertext and the tag";
  family.parameters = {
      CircuitParameter::number("bytes", 64, 0, open ? kOpenedBytesMax : kMessageBytesMax,
                               "length of the message"),
      CircuitParameter::number("aad", 0, 0, kMessageBytesMax, "length of the associated data"),
      sbox_parameter()};
  family.make = [key_bits, direction](const CircuitArguments& arguments) {
    const GcmShape shape{
        key_bits / 8, {arguments.number("bytes"), arguments.number("aad")}, sbox_of(arguments)};
    return std::make_unique<GeneratedCircuit>(
        gcm_info(arguments, shape, direction), [shape, direction](Builder& builder) {
          AesGcm gcm = gcm_of(builder, shape);
          const std::uint32_t text = direction == GcmDirection::Open ? 4 : 3,
                              aad = shape.text.bytes > 0 ? text + 1 : text;
          if (direction == GcmDirection::Open)
            open_gcm(builder, gcm, shape.text, {.text = text, .aad = aad}, 3);
          else
            seal_gcm(builder, gcm, shape.text, {.text = text, .aad = aad});
        });
  };
  return family;
}

}  // namespace

std::vector<CircuitFamily> aes_gcm_families(std::uint32_t key_bits) {
  return {gcm_family(key_bits, GcmDirection::Seal), gcm_family(key_bits, GcmDirection::Open)};
}

}  // namespace tinyot::circuit
