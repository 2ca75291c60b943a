// SHA-256 digests and their comparison.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tinyot::crypto {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};
};

// Fixed length, no early exit.
bool equal_constant_time(const Digest& a, const Digest& b);

// SHA-256 by itself, for what others verify with their own programs. Protocols use RandomOracle.
Digest sha256(std::span<const std::byte> message);

// The bytes of an object as a span, for hashing and sending.
template <class T>
std::span<const std::byte> bytes_of(const T& object) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&object, 1));
}
template <class T>
std::span<std::byte> writable_bytes_of(T& object) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_writable_bytes(std::span(&object, 1));
}

}  // namespace tinyot::crypto
