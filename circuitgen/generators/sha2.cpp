#include "circuitgen/generators/sha2.h"

#include <cstdint>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

// Section 4.2.3 and 5.3.5: the first 64 bits of the fractional parts of square roots and cube roots
// of primes. SHA-256 has the first 32 bits, of the first 64 constants.
constexpr std::array<std::uint64_t, 8> kInitial = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
constexpr std::array<std::uint64_t, 80> kRound = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

template <std::size_t n>
Word<n> sha2_constant(std::uint64_t value) {
  return Word<n>::constant(value >> (64 - n));
}

// The sum of three or more summands, the deepest ones last.
template <std::size_t n, class... More>
Word<n> sum_of(const Word<n>& x, const Word<n>& y, const Word<n>& z, const More&... more) {
  Word<n> sum, carries;
  carry_save(sum.bits(), carries.bits(), x, y, z);
  if constexpr (sizeof...(more) == 0) {
    return sum + carries;
  } else {
    return sum_of(sum, carries, more...);
  }
}

// Sections 4.1.2 and 4.1.3.
template <std::size_t n>
struct Sha2Sigmas;
template <>
struct Sha2Sigmas<32> {
  static constexpr std::size_t kRounds = 64, kBig0[] = {2, 13, 22}, kBig1[] = {6, 11, 25},
                               kSmall0[] = {7, 18, 3}, kSmall1[] = {17, 19, 10};
};
template <>
struct Sha2Sigmas<64> {
  static constexpr std::size_t kRounds = 80, kBig0[] = {28, 34, 39}, kBig1[] = {14, 18, 41},
                               kSmall0[] = {1, 8, 7}, kSmall1[] = {19, 61, 6};
};

template <std::size_t n>
Word<n> big_sigma(const Word<n>& x, const std::size_t (&by)[3]) {
  return rotated_right(x, by[0]) ^ rotated_right(x, by[1]) ^ rotated_right(x, by[2]);
}
template <std::size_t n>
Word<n> small_sigma(const Word<n>& x, const std::size_t (&by)[3]) {
  return rotated_right(x, by[0]) ^ rotated_right(x, by[1]) ^ shifted_right(x, by[2]);
}

// One AND per bit each: (e & f) ^ (~e & g), and (a & b) ^ (a & c) ^ (b & c).
template <std::size_t n>
Word<n> choose(const Word<n>& e, const Word<n>& f, const Word<n>& g) {
  return g ^ (e & (f ^ g));
}
template <std::size_t n>
Word<n> majority(const Word<n>& a, const Word<n>& b, const Word<n>& c) {
  const Word<n> b_differs = b ^ c;
  return c ^ ((a ^ c) & b_differs);
}

// The first bit of byte `k` of a sequence of words: big-endian.
template <std::size_t n>
std::size_t first_bit_of(std::uint64_t k) {
  return n - 8 - 8 * (k % (n / 8));
}

template <std::size_t n>
CircuitFamily sha2_family() {
  const std::string bits = std::to_string(8 * n);
  CircuitFamily family;
  family.name = "sha" + bits;
  family.description = "SHA-" + bits + " of A's message; both learn the digest";
  family.parameters = {
      CircuitParameter::number("bytes", 64, 0, kMessageBytesMax, "length of the message")};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t bytes = arguments.number("bytes");
    CircuitInfo info{arguments.spec(), {}, {bytes_output("digest", n, Receiver::Both)}};
    if (bytes > 0) info.inputs.push_back(bytes_input("message", bytes, Party::A));
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) {
      Sha2<n> hash;
      for (std::uint64_t k = 0; k < bytes; ++k) hash.update(input_byte(builder, 0, k));
      output_bytes(builder, 0, 0, std::move(hash).digest());
    });
  };
  return family;
}

}  // namespace

// The last sixteen words of the schedule are stored, word t at t % 16.
template <std::size_t n>
void sha2_compress(Sha2State<n>& hash, Sha2Block<n> words) {
  using S = Sha2Sigmas<n>;
  Sha2State<n> s = hash;
  for (std::size_t t = 0; t < S::kRounds; ++t) {
    Word<n>& word = words[t % 16];
    if (t >= 16) {
      const Word<n> sigma1 = small_sigma(words[(t + 14) % 16], S::kSmall1),
                    sigma0 = small_sigma(words[(t + 1) % 16], S::kSmall0);
      word = sum_of(word, sigma0, words[(t + 9) % 16], sigma1);
    }
    const Word<n> chosen = choose(s[4], s[5], s[6]), sigma1 = big_sigma(s[4], S::kBig1);
    const Word<n> t1 = sum_of(s[7], word, sha2_constant<n>(kRound[t]), sigma1, chosen);
    const Word<n> most = majority(s[0], s[1], s[2]), sigma0 = big_sigma(s[0], S::kBig0);
    const Word<n> a = sum_of(sigma0, most, t1);
    const Word<n> e = s[3] + t1;
    s = {a, s[0], s[1], s[2], e, s[4], s[5], s[6]};
  }
  for (std::size_t i = 0; i < 8; ++i) hash[i] += s[i];
}
template void sha2_compress<32>(Sha2State<32>&, Sha2Block<32>);
template void sha2_compress<64>(Sha2State<64>&, Sha2Block<64>);

template <std::size_t n>
Sha2<n>::Sha2() {
  for (std::size_t i = 0; i < 8; ++i) state_[i] = sha2_constant<n>(kInitial[i]);
}

template <std::size_t n>
Sha2<n>::Sha2(const ByteWords& state, std::uint64_t bytes) : bytes_(bytes) {
  ENSURE(state.size() == kDigestBytes && bytes % kBlockBytes == 0);
  for (std::size_t k = 0; k < kDigestBytes; ++k)
    for (std::size_t i = 0; i < 8; ++i) state_[8 * k / n][first_bit_of<n>(k) + i] = state[k][i];
}

template <std::size_t n>
void Sha2<n>::update(const ByteWord& byte) {
  const std::size_t k = bytes_++ % kBlockBytes;
  for (std::size_t i = 0; i < 8; ++i) block_[8 * k / n][first_bit_of<n>(k) + i] = byte[i];
  if (k + 1 == kBlockBytes) sha2_compress<n>(state_, std::exchange(block_, {}));
}

// A 1, zeros, and the length in bits in two words (section 5.1).
template <std::size_t n>
ByteWords Sha2<n>::digest() && {
  const std::uint64_t bits = 8 * bytes_;
  update(ByteWord::constant(0x80));
  constexpr std::size_t kLengthBytes = n / 4;
  while (bytes_ % kBlockBytes != kBlockBytes - kLengthBytes) update(ByteWord());
  for (std::size_t k = kLengthBytes; k-- > 0;)
    update(ByteWord::constant(k < 8 ? bits >> (8 * k) & 0xff : 0));
  return state();
}

template <std::size_t n>
ByteWords Sha2<n>::state() const {
  ENSURE(bytes_ % kBlockBytes == 0);
  ByteWords result;
  for (std::size_t k = 0; k < kDigestBytes; ++k)
    result.emplace_back(state_[8 * k / n].bits().subspan(first_bit_of<n>(k), 8));
  return result;
}

template class Sha2<32>;
template class Sha2<64>;

CircuitFamily sha256_family() { return sha2_family<32>(); }
CircuitFamily sha512_family() { return sha2_family<64>(); }

}  // namespace tinyot::circuit
