#include "crypto/ml_kem.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstring>

#include "base/declassify.h"
#include "base/error.h"
#include "base/secret.h"

namespace tinyot::crypto {
namespace {

constexpr const char* kName = "ML-KEM-768";
// Parameters that OpenSSL 3.0 has no names for: the random bytes of a key pair and of a secret.
constexpr const char* kKeySeed = "seed";
constexpr const char* kSecretSeed = "ikme";

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)>;

void require(bool done, const char* what) {
  if (done) return;
  ERR_clear_error();  // so that this thread's TLS does not find it
  throw Error(ErrorClass::Other, std::string("OpenSSL cannot ") + what);
}

// A parameter and the end of the list.
struct Parameter {
  template <std::size_t n>
  Parameter(const char* name, std::array<std::uint8_t, n>& bytes)
      : list{OSSL_PARAM_construct_octet_string(name, bytes.data(), n), OSSL_PARAM_construct_end()} {
  }
  OSSL_PARAM list[2];
};

using Coefficients = std::array<std::uint32_t, kKemCoefficients>;

Coefficients decoded(const KemVector& vector) {
  Coefficients coefficients;
  for (std::size_t pair = 0; pair < kKemCoefficients / 2; ++pair) {
    const std::uint32_t low = vector.bytes[3 * pair], middle = vector.bytes[3 * pair + 1],
                        high = vector.bytes[3 * pair + 2];
    coefficients[2 * pair] = low | (middle & 0xF) << 8;
    coefficients[2 * pair + 1] = middle >> 4 | high << 4;
  }
  return coefficients;
}

KemVector encoded(const Coefficients& coefficients) {
  KemVector vector;
  for (std::size_t pair = 0; pair < kKemCoefficients / 2; ++pair) {
    const std::uint32_t both = coefficients[2 * pair] | coefficients[2 * pair + 1] << 12;
    for (std::size_t byte = 0; byte < 3; ++byte)
      vector.bytes[3 * pair + byte] = static_cast<std::uint8_t>(both >> (8 * byte));
  }
  return vector;
}

// Of a number below 2 q.
std::uint32_t reduced_once(std::uint32_t x) {
  const std::uint32_t difference = x - kKemModulus;
  return difference + (kKemModulus & (0 - (difference >> 31)));
}

// Of a number below 2^31, without a division, whose time may depend on the number.
std::uint32_t reduced(std::uint32_t x) {
  constexpr int kShift = 43;
  constexpr std::uint64_t kReciprocal = (std::uint64_t{1} << kShift) / kKemModulus;
  // The quotient or 1 less, since kReciprocal is less than 1 too small and x is below 2^kShift / q.
  const auto quotient = static_cast<std::uint32_t>((x * kReciprocal) >> kShift);
  return reduced_once(x - quotient * kKemModulus);
}

// A coefficient is made of so many parts of 16 bits, little-endian.
constexpr std::size_t kParts = 8;
using WideCoefficients = std::array<std::uint8_t, kKemCoefficients * kParts * 2>;

// 2^(16 i) modulo q.
constexpr auto kPartWeights = [] {
  std::array<std::uint32_t, kParts> weights{};
  std::uint32_t weight = 1;
  for (std::uint32_t& each : weights) {
    each = weight;
    weight = (weight << 16) % kKemModulus;
  }
  return weights;
}();
static_assert(std::uint64_t{kParts} * 0xFFFF * (kKemModulus - 1) < std::uint64_t{1} << 31);

KemVector reduced(const WideCoefficients& wide) {
  Coefficients coefficients;
  for (std::size_t i = 0; i < kKemCoefficients; ++i) {
    std::uint32_t sum = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::size_t at = 2 * (kParts * i + part);
      sum += (wide[at] | std::uint32_t{wide[at + 1]} << 8) * kPartWeights[part];
    }
    coefficients[i] = reduced(sum);
  }
  return encoded(coefficients);
}

KeyContext context_of(EVP_PKEY& key) {
  return {EVP_PKEY_CTX_new_from_pkey(nullptr, &key, nullptr), &EVP_PKEY_CTX_free};
}

}  // namespace

std::string ml_kem_shortage() {
  static const bool has_it = [] {
    EVP_KEM* const kem = EVP_KEM_fetch(nullptr, kName, nullptr);
    EVP_KEM_free(kem);
    if (kem == nullptr) ERR_clear_error();
    return kem != nullptr;
  }();
  if (has_it) return {};
  return std::string("OpenSSL ") + ::OpenSSL_version(OPENSSL_VERSION_STRING) + " has no " + kName +
         ", which 3.5 has";
}

bool is_valid(const KemVector& vector) {
  return std::ranges::all_of(decoded(vector),
                             [](std::uint32_t coefficient) { return coefficient < kKemModulus; });
}

KemVector operator+(const KemVector& a, const KemVector& b) {
  Coefficients sum = decoded(a);
  const Coefficients other = decoded(b);
  for (std::size_t i = 0; i < kKemCoefficients; ++i) sum[i] = reduced_once(sum[i] + other[i]);
  return encoded(sum);
}

KemVector operator-(const KemVector& a, const KemVector& b) {
  Coefficients difference = decoded(a);
  const Coefficients other = decoded(b);
  for (std::size_t i = 0; i < kKemCoefficients; ++i)
    difference[i] = reduced_once(difference[i] + kKemModulus - other[i]);
  return encoded(difference);
}

KemVector random_vector(Rng& rng) { return reduced(rng.object<WideCoefficients>()); }

KemVector hash_to_vector(const Digest& digest) {
  WideCoefficients wide;
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  require(context && EVP_DigestInit_ex(context.get(), EVP_shake128(), nullptr) == 1 &&
              EVP_DigestUpdate(context.get(), digest.bytes.data(), digest.bytes.size()) == 1 &&
              EVP_DigestFinalXOF(context.get(), wide.data(), wide.size()) == 1,
          "hash with SHAKE-128");
  return reduced(wide);
}

struct KemKeyPair::State {
  Key key{nullptr, &EVP_PKEY_free};
};

KemKeyPair::KemKeyPair(Rng& rng) : state_(std::make_unique<State>()) {
  // Public in the constant-time test: rho, which is sent, comes from it within OpenSSL, and decides
  // branches there.
  auto seed = declassified(rng.object<std::array<std::uint8_t, 64>>());
  const Parameter seeded(kKeySeed, seed);
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, kName, nullptr), &EVP_PKEY_CTX_free);
  EVP_PKEY* key = nullptr;
  const bool made = context && EVP_PKEY_keygen_init(context.get()) == 1 &&
                    EVP_PKEY_CTX_set_params(context.get(), seeded.list) == 1 &&
                    EVP_PKEY_generate(context.get(), &key) == 1;
  state_->key.reset(key);
  wipe_object(seed);
  std::array<std::uint8_t, sizeof(KemPublicKey)> bytes;
  std::size_t size = bytes.size();
  require(
      made && EVP_PKEY_get_raw_public_key(key, bytes.data(), &size) == 1 && size == bytes.size(),
      "make a key of ML-KEM-768");
  std::memcpy(&public_key_, bytes.data(), bytes.size());
}

KemKeyPair::~KemKeyPair() = default;
KemKeyPair::KemKeyPair(KemKeyPair&&) noexcept = default;
KemKeyPair& KemKeyPair::operator=(KemKeyPair&&) noexcept = default;

KemSecret KemKeyPair::decapsulate(const KemCiphertext& ciphertext) const {
  const KeyContext context = context_of(*state_->key);
  KemSecret secret;
  std::size_t size = secret.bytes.size();
  require(context && EVP_PKEY_decapsulate_init(context.get(), nullptr) == 1 &&
              EVP_PKEY_decapsulate(context.get(), secret.bytes.data(), &size,
                                   ciphertext.bytes.data(), ciphertext.bytes.size()) == 1 &&
              size == secret.bytes.size(),
          "decapsulate with ML-KEM-768");
  return secret;
}

Encapsulated encapsulate(const KemPublicKey& key, Rng& rng) {
  const Key imported(
      EVP_PKEY_new_raw_public_key_ex(nullptr, kName, nullptr,
                                     reinterpret_cast<const unsigned char*>(&key), sizeof key),
      &EVP_PKEY_free);
  require(imported != nullptr, "use a key of ML-KEM-768");
  auto seed = rng.object<std::array<std::uint8_t, 32>>();
  const Parameter seeded(kSecretSeed, seed);
  const KeyContext context = context_of(*imported);
  Encapsulated made;
  std::size_t size = made.ciphertext.bytes.size(), secret_size = made.secret.bytes.size();
  const bool is_made = context && EVP_PKEY_encapsulate_init(context.get(), seeded.list) == 1 &&
                       EVP_PKEY_encapsulate(context.get(), made.ciphertext.bytes.data(), &size,
                                            made.secret.bytes.data(), &secret_size) == 1 &&
                       size == made.ciphertext.bytes.size() &&
                       secret_size == made.secret.bytes.size();
  wipe_object(seed);
  require(is_made, "encapsulate with ML-KEM-768");
  return made;
}

}  // namespace tinyot::crypto
