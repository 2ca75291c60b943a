#include "circuitgen/generators/cmac.h"

#include <algorithm>

namespace tinyot::circuit {
namespace {

// 2.x in GF(2^128), where bit 0 is the lowest of the last byte (section 5.3).
AesState doubled(const AesState& x) {
  AesState z;
  for (std::size_t k = 0; k < 16; ++k) {
    for (std::size_t i = 1; i < 8; ++i) z[k][i] = x[k][i - 1];
    if (k < 15) z[k][0] = x[k + 1][7];
  }
  z[15][0] = x[0][7];
  for (const std::size_t i : {1, 2, 7}) z[15][i] ^= x[0][7];
  return z;
}

}  // namespace

// Section 6.2: the last block is masked by 2L, or padded and masked by 4L.
AesState cmac(const AesCipher& cipher, const AesState& zero_block,
              std::span<const ByteWord> message) {
  AesState state;
  while (message.size() > 16) {
    for (std::size_t k = 0; k < 16; ++k) state[k] ^= message[k];
    state = cipher.encrypt(std::move(state));
    message = message.subspan(16);
  }
  AesState mask = doubled(zero_block);
  if (message.size() < 16) {
    mask = doubled(mask);
    mask[message.size()] ^= ByteWord::constant(0x80);
  }
  for (std::size_t k = 0; k < 16; ++k) {
    state[k] ^= mask[k];
    if (k < message.size()) state[k] ^= message[k];
  }
  return cipher.encrypt(std::move(state));
}

}  // namespace tinyot::circuit
