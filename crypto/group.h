// The group of the base OTs and of EQ: ristretto255 (libsodium). Points are 32 canonical bytes;
// other encodings are rejected on receipt.
//
// Timing: constant in scalars and points, except is_valid.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "crypto/rng.h"

namespace tinyot::crypto {

struct Point {
  std::array<std::uint8_t, 32> bytes;
};

struct Scalar {
  std::array<std::uint8_t, 32> bytes;
};

// A canonical encoding of an element other than the identity.
bool is_valid(const Point& point);

// Not zero.
Scalar random_scalar(Rng& rng);
Point random_point(Rng& rng);
// A point of unknown discrete logarithm, from a uniform string of 64 bytes.
Point hash_to_group(std::span<const std::uint8_t, 64> uniform);

Point times_base(const Scalar& scalar);
Point times(const Scalar& scalar, const Point& point);
Point operator+(const Point& a, const Point& b);
Point operator-(const Point& a, const Point& b);

}  // namespace tinyot::crypto
