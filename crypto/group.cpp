#include "crypto/group.h"

#include <sodium.h>

#include "base/declassify.h"
#include "base/error.h"
#include "base/secret.h"

namespace tinyot::crypto {
namespace {

void ensure_sodium() {
  static const bool ready = sodium_init() >= 0;
  ENSURE(ready);
}

}  // namespace

bool is_valid(const Point& point) {
  ensure_sodium();
  // libsodium ignores the highest bit, which is zero in a canonical encoding.
  return (point.bytes[31] & 0x80) == 0 &&
         crypto_core_ristretto255_is_valid_point(point.bytes.data()) == 1 &&
         sodium_is_zero(point.bytes.data(), 32) == 0;
}

Scalar random_scalar(Rng& rng) {
  std::array<std::uint8_t, 64> wide;
  Scalar scalar;
  do {
    wide = rng.object<std::array<std::uint8_t, 64>>();
    crypto_core_ristretto255_scalar_reduce(scalar.bytes.data(), wide.data());
  } while (declassified(sodium_is_zero(scalar.bytes.data(), 32)) != 0);
  wipe_object(wide);
  return scalar;
}

Point random_point(Rng& rng) { return hash_to_group(rng.object<std::array<std::uint8_t, 64>>()); }

Point hash_to_group(std::span<const std::uint8_t, 64> uniform) {
  ensure_sodium();
  Point point;
  crypto_core_ristretto255_from_hash(point.bytes.data(), uniform.data());
  return point;
}

Point times_base(const Scalar& scalar) {
  Point point;
  ENSURE(declassified(
             crypto_scalarmult_ristretto255_base(point.bytes.data(), scalar.bytes.data())) == 0);
  return point;
}

Point times(const Scalar& scalar, const Point& point) {
  Point product;
  // libsodium reports the identity as a failure; it is still a well-defined element, all zeros.
  if (declassified(crypto_scalarmult_ristretto255(product.bytes.data(), scalar.bytes.data(),
                                                  point.bytes.data())) != 0)
    product.bytes.fill(0);
  return product;
}

Point operator+(const Point& a, const Point& b) {
  Point sum;
  ENSURE(declassified(
             crypto_core_ristretto255_add(sum.bytes.data(), a.bytes.data(), b.bytes.data())) == 0);
  return sum;
}

Point operator-(const Point& a, const Point& b) {
  Point difference;
  ENSURE(declassified(crypto_core_ristretto255_sub(difference.bytes.data(), a.bytes.data(),
                                                   b.bytes.data())) == 0);
  return difference;
}

}  // namespace tinyot::crypto
