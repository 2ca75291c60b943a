#include "circuitgen/generators/aes_ctr.h"

#include "circuitgen/generators/aes.h"

namespace tinyot::circuit {
namespace {

void encrypt_ctr(Builder& builder, std::uint32_t key_bytes, std::uint64_t bytes,
                 std::uint32_t counter, AesSbox sbox) {
  const AesCipher cipher(shared_bytes(builder, 0, 1, key_bytes), sbox);
  AesCounter blocks(cipher, input_bytes(builder, 2, 12));
  AesState key_stream;
  for (std::uint64_t k = 0; k < bytes; ++k) {
    if (k % 16 == 0) key_stream = blocks.block(counter + static_cast<std::uint32_t>(k / 16));
    builder.output_bits(0, 8 * k, input_byte(builder, 3, k) ^ key_stream[k % 16]);
  }
}

}  // namespace

CircuitFamily aes_ctr_family(std::uint32_t key_bits) {
  CircuitFamily family;
  family.name = "aes" + std::to_string(key_bits) + "_ctr";
  family.description = "AES-" + std::to_string(key_bits) +
                       " in counter mode of A's message under key_a ^ key_b; B learns the result";
  family.parameters = {
      CircuitParameter::number("bytes", 64, 1, kMessageBytesMax, "length of the message"),
      CircuitParameter::number("counter", 1, 0, UINT32_MAX, "counter of the first block"),
      sbox_parameter()};
  family.make = [key_bits](const CircuitArguments& arguments) {
    const std::uint32_t key_bytes = key_bits / 8;
    const std::uint64_t bytes = arguments.number("bytes");
    const auto counter = static_cast<std::uint32_t>(arguments.number("counter"));
    const AesSbox sbox = sbox_of(arguments);
    CircuitInfo info{
        arguments.spec(),
        {key_input("key_a", key_bytes, Party::A), key_input("key_b", key_bytes, Party::B),
         bytes_input("nonce", 12, Party::A), bytes_input("message", bytes, Party::A)},
        {bytes_output("ciphertext", bytes, Receiver::B)}};
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) {
      encrypt_ctr(builder, key_bytes, bytes, counter, sbox);
    });
  };
  return family;
}

}  // namespace tinyot::circuit
