#include "circuitgen/generators/gcm.h"

#include <utility>

namespace tinyot::circuit {
namespace {

std::uint64_t hashed_blocks(const GcmLengths& lengths) {
  return (lengths.aad + 15) / 16 + (lengths.bytes + 15) / 16 + 1;
}

void absorb_aad(AesGcm& gcm, Builder& builder, std::uint32_t bundle, std::uint64_t aad) {
  for (std::uint64_t k = 0; k < aad; ++k) gcm.absorb(input_byte(builder, bundle, k), k + 1 == aad);
}

}  // namespace

AesGcm::AesGcm(AesCipher cipher, std::optional<AesState> h, ByteWords nonce,
               const GcmLengths& lengths)
    : lengths_(lengths), cipher_(std::move(cipher)), blocks_(cipher_, std::move(nonce)),
      mask_(blocks_.block(1)), hash_(h ? *h : cipher_.encrypt({}), hashed_blocks(lengths)) {}

void AesGcm::absorb(const ByteWord& byte, bool is_last) {
  block_[filled_++] = byte;
  if (filled_ < 16 && !is_last) return;
  hash_.add(std::exchange(block_, {}));
  filled_ = 0;
}

AesState AesGcm::tag() {
  for (std::size_t k = 0; k < 16; ++k) {
    const std::uint64_t bits = 8 * (k < 8 ? lengths_.aad : lengths_.bytes);
    block_[k] = ByteWord::constant(bits >> (8 * (7 - k % 8)) & 0xff);
  }
  hash_.add(block_);
  AesState tag = hash_.digest();
  for (std::size_t k = 0; k < 16; ++k) tag[k] ^= mask_[k];
  return tag;
}

void seal_gcm(Builder& builder, AesGcm& gcm, const GcmLengths& lengths, GcmBundles inputs) {
  absorb_aad(gcm, builder, inputs.aad, lengths.aad);
  AesState key_stream;
  for (std::uint64_t k = 0; k < lengths.bytes; ++k) {
    if (k % 16 == 0) key_stream = gcm.next_key_stream();
    const ByteWord byte = input_byte(builder, inputs.text, k) ^ key_stream[k % 16];
    builder.output_bits(0, 8 * k, byte);
    gcm.absorb(byte, k + 1 == lengths.bytes);
  }
  output_bytes(builder, lengths.bytes > 0 ? 1 : 0, 0, gcm.tag());
}

void open_gcm(Builder& builder, AesGcm& gcm, const GcmLengths& lengths, GcmBundles inputs,
              std::uint32_t tag) {
  absorb_aad(gcm, builder, inputs.aad, lengths.aad);
  ByteWords message;
  AesState key_stream;
  for (std::uint64_t k = 0; k < lengths.bytes; ++k) {
    if (k % 16 == 0) key_stream = gcm.next_key_stream();
    const ByteWord byte = input_byte(builder, inputs.text, k);
    message.push_back(byte ^ key_stream[k % 16]);
    gcm.absorb(byte, k + 1 == lengths.bytes);
  }
  const Bit valid = is_equal(builder, gcm.tag(), tag);
  builder.output_bit(0, 0, valid);
  for (std::uint64_t k = 0; k < lengths.bytes; ++k) {
    for (Bit& bit : message[k].bits()) bit &= valid;
    builder.output_bits(1, 8 * k, message[k]);
  }
}

}  // namespace tinyot::circuit
