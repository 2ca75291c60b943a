#include "circuitgen/generators/aes_gcm.h"

#include "circuitgen/generators/aes.h"
#include "circuitgen/generators/ghash.h"

namespace tinyot::circuit {
namespace {

// Opening holds 8 wires per byte until the tag is checked.
constexpr std::uint64_t kOpenedBytesMax = std::uint64_t{1} << 20;

enum class GcmDirection { Seal, Open };

struct GcmShape {
  std::uint32_t key_bytes;
  std::uint64_t bytes;
  std::uint64_t aad;
  AesSbox sbox;

  std::uint64_t hashed_blocks() const { return (aad + 15) / 16 + (bytes + 15) / 16 + 1; }
};

// Section 7.1, steps 1 to 6, in a stream: absorb the associated data, then one block of the message
// after the other. The counter of the tag is 1, that of the first block 2.
class GcmState {
 public:
  GcmState(Builder& builder, const GcmShape& shape)
      : cipher_(shared_bytes(builder, 0, 1, shape.key_bytes), shape.sbox),
        blocks_(cipher_, input_bytes(builder, 2, 12)), mask_(blocks_.block(1)),
        hash_(cipher_.encrypt({}), shape.hashed_blocks()) {}

  AesState next_key_stream() { return blocks_.block(++counter_); }

  // The string is padded to whole blocks at its last byte.
  void absorb(const ByteWord& byte, bool last) {
    block_[filled_++] = byte;
    if (filled_ < 16 && !last) return;
    hash_.add(std::exchange(block_, {}));
    filled_ = 0;
  }

  AesState tag(const GcmShape& shape) {
    for (std::size_t k = 0; k < 16; ++k) {
      const std::uint64_t bits = 8 * (k < 8 ? shape.aad : shape.bytes);
      block_[k] = ByteWord::constant(bits >> (8 * (7 - k % 8)) & 0xff);
    }
    hash_.add(block_);
    AesState tag = hash_.digest();
    for (std::size_t k = 0; k < 16; ++k) tag[k] ^= mask_[k];
    return tag;
  }

 private:
  AesCipher cipher_;
  AesCounter blocks_;
  AesState mask_;
  Ghash hash_;
  std::uint32_t counter_ = 1;
  AesState block_;
  std::size_t filled_ = 0;
};

void absorb_aad(GcmState& state, Builder& builder, std::uint32_t bundle, std::uint64_t aad) {
  for (std::uint64_t k = 0; k < aad; ++k)
    state.absorb(input_byte(builder, bundle, k), k + 1 == aad);
}

void seal_gcm(Builder& builder, const GcmShape& shape) {
  GcmState state(builder, shape);
  const std::uint32_t message = 3, aad = shape.bytes > 0 ? 4 : 3;
  absorb_aad(state, builder, aad, shape.aad);
  AesState key_stream;
  for (std::uint64_t k = 0; k < shape.bytes; ++k) {
    if (k % 16 == 0) key_stream = state.next_key_stream();
    const ByteWord byte = input_byte(builder, message, k) ^ key_stream[k % 16];
    builder.output_bits(0, 8 * k, byte);
    state.absorb(byte, k + 1 == shape.bytes);
  }
  output_bytes(builder, shape.bytes > 0 ? 1 : 0, 0, state.tag(shape));
}

void open_gcm(Builder& builder, const GcmShape& shape) {
  GcmState state(builder, shape);
  const std::uint32_t tag = 3, ciphertext = 4, aad = shape.bytes > 0 ? 5 : 4;
  absorb_aad(state, builder, aad, shape.aad);
  ByteWords message;
  AesState key_stream;
  for (std::uint64_t k = 0; k < shape.bytes; ++k) {
    if (k % 16 == 0) key_stream = state.next_key_stream();
    const ByteWord byte = input_byte(builder, ciphertext, k);
    message.push_back(byte ^ key_stream[k % 16]);
    state.absorb(byte, k + 1 == shape.bytes);
  }
  Bits differences;
  const AesState expected = state.tag(shape);
  for (std::size_t k = 0; k < 16; ++k) {
    const ByteWord difference = input_byte(builder, tag, k) ^ expected[k];
    differences.insert(differences.end(), difference.bits().begin(), difference.bits().end());
  }
  const Bit valid = ~any(differences);
  builder.output_bit(0, 0, valid);
  for (std::uint64_t k = 0; k < shape.bytes; ++k) {
    for (Bit& bit : message[k].bits()) bit &= valid;
    builder.output_bits(1, 8 * k, message[k]);
  }
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
  if (shape.bytes > 0) {
    info.inputs.push_back(bytes_input(open ? "ciphertext" : "message", shape.bytes, Party::A));
    info.outputs.push_back(bytes_output(open ? "message" : "ciphertext", shape.bytes, Receiver::B));
  }
  if (shape.aad > 0) info.inputs.push_back(bytes_input("aad", shape.aad, Party::A));
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
    const GcmShape shape{key_bits / 8, arguments.number("bytes"), arguments.number("aad"),
                         sbox_of(arguments)};
    return std::make_unique<GeneratedCircuit>(
        gcm_info(arguments, shape, direction), [shape, direction](Builder& builder) {
          direction == GcmDirection::Open ? open_gcm(builder, shape) : seal_gcm(builder, shape);
        });
  };
  return family;
}

}  // namespace

std::vector<CircuitFamily> aes_gcm_families(std::uint32_t key_bits) {
  return {gcm_family(key_bits, GcmDirection::Seal), gcm_family(key_bits, GcmDirection::Open)};
}

}  // namespace tinyot::circuit
