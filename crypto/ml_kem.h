// ML-KEM-768 (FIPS 203) by OpenSSL, and sums of the vectors in its encapsulation keys: what endemic
// OT needs of a key encapsulation (offline/base_ot/kem_ot.h).
//
// An encapsulation key is a vector t of 3 polynomials with 256 coefficients modulo q = 3329 each,
// and the seed rho of a matrix. To a vector of uniform coefficients anybody can encapsulate, and
// nobody knows a decapsulation key.
//
// OpenSSL has ML-KEM from 3.5 on. Which OpenSSL is in use is asked when the program runs: it may be
// another one than that of the build. Vectors do not depend on it.
//
// Timing: constant in coefficients, secrets and seeds, except is_valid. ML-KEM is OpenSSL's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "crypto/digest.h"
#include "crypto/rng.h"

namespace tinyot::crypto {

// Why the OpenSSL in use has no ML-KEM-768; empty if it has it.
std::string ml_kem_shortage();
inline bool has_ml_kem() { return ml_kem_shortage().empty(); }

inline constexpr std::size_t kKemCoefficients = 768;
inline constexpr std::uint32_t kKemModulus = 3329;

// Encoded as in FIPS 203 (ByteEncode of 12 bits): coefficient i has bits 12 i to 12 i + 11.
struct KemVector {
  std::array<std::uint8_t, kKemCoefficients * 12 / 8> bytes;
};

// All coefficients are below q.
bool is_valid(const KemVector& vector);

// Shapes: valid vectors.
KemVector operator+(const KemVector& a, const KemVector& b);
KemVector operator-(const KemVector& a, const KemVector& b);

// Each coefficient is a number of 128 bits modulo q, so that it is within 2^-116 of uniform.
// Differs from FIPS 203, which rejects numbers of 12 bits from q on: how many it rejects would show
// in the time, and so which of two vectors has been hashed.
KemVector random_vector(Rng& rng);
// From SHAKE-128 of the digest.
KemVector hash_to_vector(const Digest& digest);

struct KemPublicKey {
  KemVector t;
  std::array<std::uint8_t, 32> rho;
};
struct KemCiphertext {
  std::array<std::uint8_t, 1088> bytes;
};
struct KemSecret {
  std::array<std::uint8_t, 32> bytes;
};

// Fails, as all that follows: Error where ml_kem_shortage() is not empty.
class KemKeyPair {
 public:
  explicit KemKeyPair(Rng& rng);
  ~KemKeyPair();
  KemKeyPair(KemKeyPair&&) noexcept;
  KemKeyPair& operator=(KemKeyPair&&) noexcept;

  const KemPublicKey& public_key() const { return public_key_; }
  // Of a ciphertext that has not been made for the key: a secret that looks random.
  KemSecret decapsulate(const KemCiphertext& ciphertext) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  KemPublicKey public_key_;
};

struct Encapsulated {
  KemCiphertext ciphertext;
  KemSecret secret;
};
// Shapes: a valid vector in the key.
Encapsulated encapsulate(const KemPublicKey& key, Rng& rng);

}  // namespace tinyot::crypto
