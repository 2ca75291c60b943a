#include "circuitgen/generators/sha256.h"

#include <cstdint>

namespace tinyot::circuit {
namespace {

using W32 = Word<32>;

constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 24;

constexpr std::array<std::uint32_t, 8> kInitial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// The sum of three or more summands, the deepest ones last.
template <class... More>
W32 sum_of(const W32& x, const W32& y, const W32& z, const More&... more) {
  W32 sum, carries;
  carry_save(sum.bits(), carries.bits(), x, y, z);
  if constexpr (sizeof...(more) == 0) {
    return sum + carries;
  } else {
    return sum_of(sum, carries, more...);
  }
}

W32 big_sigma_0(const W32& x) {
  return rotated_right(x, 2) ^ rotated_right(x, 13) ^ rotated_right(x, 22);
}
W32 big_sigma_1(const W32& x) {
  return rotated_right(x, 6) ^ rotated_right(x, 11) ^ rotated_right(x, 25);
}
W32 small_sigma_0(const W32& x) {
  return rotated_right(x, 7) ^ rotated_right(x, 18) ^ shifted_right(x, std::size_t{3});
}
W32 small_sigma_1(const W32& x) {
  return rotated_right(x, 17) ^ rotated_right(x, 19) ^ shifted_right(x, std::size_t{10});
}

// One AND per bit each: (e & f) ^ (~e & g), and (a & b) ^ (a & c) ^ (b & c).
W32 choose(const W32& e, const W32& f, const W32& g) { return g ^ (e & (f ^ g)); }
W32 majority(const W32& a, const W32& b, const W32& c) { return c ^ ((a ^ c) & (b ^ c)); }

// The first bit of byte `k` of a word: big-endian.
std::size_t first_bit_of(std::uint64_t k) { return 24 - 8 * (k % 4); }

// Byte `k` of the padded message: a 1 and zeros after the message, its length in bits at the end.
Bits padded_byte(Builder& builder, std::uint64_t bytes, std::uint64_t k,
                 std::uint64_t padded_bytes) {
  if (k < bytes) return builder.input_bits(0, 8 * k, 8);
  std::uint64_t value = k == bytes ? 0x80 : 0;
  if (padded_bytes - k <= 8) value |= (8 * bytes) >> (8 * (padded_bytes - k - 1)) & 0xff;
  const Word<8> byte = Word<8>::constant(value);
  return Bits(byte.bits().begin(), byte.bits().end());
}

void hash(Builder& builder, std::uint64_t bytes) {
  const std::uint64_t padded_bytes = (bytes + 9 + 63) / 64 * 64;
  Sha256State state;
  for (std::size_t i = 0; i < 8; ++i) state[i] = W32::constant(kInitial[i]);
  for (std::uint64_t first = 0; first < padded_bytes; first += 64) {
    Sha256Block words;
    for (std::uint64_t k = first; k < first + 64; ++k) {
      Bits byte = padded_byte(builder, bytes, k, padded_bytes);
      for (std::size_t i = 0; i < 8; ++i)
        words[(k - first) / 4][first_bit_of(k) + i] = std::move(byte[i]);
    }
    sha256_compress(state, std::move(words));
  }
  for (std::size_t k = 0; k < 32; ++k)
    builder.output_bits(0, 8 * k, state[k / 4].bits().subspan(first_bit_of(k), 8));
}

}  // namespace

// The last sixteen words of the schedule are stored, word t at t % 16.
void sha256_compress(Sha256State& hash, Sha256Block words) {
  Sha256State s = hash;
  for (std::size_t t = 0; t < 64; ++t) {
    W32& word = words[t % 16];
    if (t >= 16) {
      word = sum_of(word, small_sigma_0(words[(t + 1) % 16]), words[(t + 9) % 16],
                    small_sigma_1(words[(t + 14) % 16]));
    }
    const W32 t1 =
        sum_of(s[7], word, W32::constant(kRound[t]), big_sigma_1(s[4]), choose(s[4], s[5], s[6]));
    const W32 a = sum_of(big_sigma_0(s[0]), majority(s[0], s[1], s[2]), t1);
    const W32 e = s[3] + t1;
    s = {a, s[0], s[1], s[2], e, s[4], s[5], s[6]};
  }
  for (std::size_t i = 0; i < 8; ++i) hash[i] += s[i];
}

CircuitFamily sha256_family() {
  CircuitFamily family;
  family.name = "sha256";
  family.description = "SHA-256 of A's message; both learn the digest";
  family.parameters = {
      CircuitParameter::number("bytes", 64, 0, kBytesMax, "length of the message")};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t bytes = arguments.number("bytes");
    CircuitInfo info{arguments.spec(), {}, {{"digest", 256, Receiver::Both, ValueFormat::Bytes}}};
    if (bytes > 0)
      info.inputs.push_back(
          {"message", bundle_bits(8 * bytes), Party::A, ValueFormat::Bytes, false});
    return std::make_unique<GeneratedCircuit>(std::move(info),
                                              [=](Builder& builder) { hash(builder, bytes); });
  };
  return family;
}

}  // namespace tinyot::circuit
