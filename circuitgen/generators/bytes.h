// Strings of bytes for generators of cryptographic functions: byte k is wires 8k..8k+7 of a bundle,
// lowest bit first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "circuitgen/generators/family.h"
#include "tinyot/circuit/operators.h"

namespace tinyot::circuit {

using ByteWord = Word<8>;
using ByteWords = std::vector<ByteWord>;

// The longest message of a circuit.
inline constexpr std::uint64_t kMessageBytesMax = std::uint64_t{1} << 24;

inline InputBundle bytes_input(std::string name, std::uint64_t bytes, Party owner) {
  return {std::move(name), bundle_bits(8 * bytes), source_of(owner), ValueFormat::Bytes, false};
}
// A share of a key: the same in all lanes.
inline InputBundle key_input(std::string name, std::uint64_t bytes, Party owner) {
  return {std::move(name), bundle_bits(8 * bytes), source_of(owner), ValueFormat::Bytes, true};
}
inline OutputBundle bytes_output(std::string name, std::uint64_t bytes, Receiver to) {
  return {std::move(name), bundle_bits(8 * bytes), to, ValueFormat::Bytes};
}

inline ByteWord input_byte(Builder& builder, std::uint32_t bundle, std::uint64_t k) {
  return ByteWord(builder.input_bits(bundle, 8 * k, 8));
}
inline ByteWords input_bytes(Builder& builder, std::uint32_t bundle, std::uint64_t bytes) {
  ByteWords result;
  for (std::uint64_t k = 0; k < bytes; ++k) result.push_back(input_byte(builder, bundle, k));
  return result;
}
// The XOR of two bundles.
inline ByteWords shared_bytes(Builder& builder, std::uint32_t bundle_a, std::uint32_t bundle_b,
                              std::uint64_t bytes) {
  ByteWords result;
  for (std::uint64_t k = 0; k < bytes; ++k) {
    const ByteWord of_b = input_byte(builder, bundle_b, k);
    result.push_back(input_byte(builder, bundle_a, k) ^ of_b);
  }
  return result;
}
// 1 if the bytes are those of a bundle: one AND less than it has bits.
inline Bit is_equal(Builder& builder, std::span<const ByteWord> bytes, std::uint32_t bundle) {
  Bits differences;
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    const ByteWord difference = input_byte(builder, bundle, k) ^ bytes[k];
    differences.insert(differences.end(), difference.bits().begin(), difference.bits().end());
  }
  return ~any(differences);
}
inline ByteWords constant_bytes(std::string_view text) {
  ByteWords result;
  for (const char c : text) result.push_back(ByteWord::constant(static_cast<unsigned char>(c)));
  return result;
}

inline void output_bytes(Builder& builder, std::uint32_t bundle, std::uint64_t first,
                         std::span<const ByteWord> bytes) {
  for (std::size_t k = 0; k < bytes.size(); ++k)
    builder.output_bits(bundle, 8 * (first + k), bytes[k]);
}

}  // namespace tinyot::circuit
