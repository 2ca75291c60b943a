#include "circuitgen/generators/sha3.h"

#include <utility>

#include "circuitgen/generators/bytes.h"

namespace tinyot::circuit {
namespace {

constexpr std::size_t kKeccakRounds = 24;
constexpr std::uint64_t kKeccakBytes = 200;

// Section 3.2.5: bits 2^j - 1 of a round's constant are outputs of a shift register.
std::array<std::uint64_t, kKeccakRounds> iota_constants() {
  std::array<std::uint64_t, kKeccakRounds> constants{};
  unsigned state = 1;
  for (std::uint64_t& constant : constants) {
    for (unsigned j = 0; j <= 6; ++j) {
      constant |= std::uint64_t{state & 1} << ((1u << j) - 1);
      state = state << 1 ^ (state >> 7) * 0x171;
    }
  }
  return constants;
}

void theta(KeccakState& a) {
  std::array<Word<64>, 5> parity;
  for (std::size_t x = 0; x < 5; ++x)
    parity[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
  for (std::size_t x = 0; x < 5; ++x) {
    const Word<64> d = parity[(x + 4) % 5] ^ rotated_left(parity[(x + 1) % 5], 1);
    for (std::size_t y = 0; y < 25; y += 5) a[x + y] ^= d;
  }
}

// Sections 3.2.2 and 3.2.3, along the orbit of lane (1, 0); pi moves lane (x, y) to (y, 2 x + 3 y).
KeccakState rho_and_pi(const KeccakState& a) {
  KeccakState b;
  b[0] = a[0];
  std::size_t x = 1, y = 0;
  for (std::size_t t = 0; t < 24; ++t) {
    const std::size_t next_y = (2 * x + 3 * y) % 5;
    b[5 * next_y + y] = rotated_left(a[5 * y + x], (t + 1) * (t + 2) / 2);
    x = std::exchange(y, next_y);
  }
  return b;
}

// The first `lanes` lanes.
KeccakState chi(const KeccakState& b, std::size_t lanes) {
  KeccakState a;
  for (std::size_t k = 0; k < lanes; ++k) {
    const std::size_t x = k % 5, row = k - x;
    a[k] = b[k] ^ (~b[row + (x + 1) % 5] & b[row + (x + 2) % 5]);
  }
  return a;
}

void hash_sha3(Builder& builder, std::uint64_t digest_bytes, std::uint64_t bytes) {
  const std::uint64_t rate = kKeccakBytes - 2 * digest_bytes;
  KeccakState state;
  const auto absorb = [&state](std::uint64_t k, const ByteWord& byte) {
    for (std::size_t i = 0; i < 8; ++i) state[k / 8][8 * (k % 8) + i] ^= byte[i];
  };
  for (std::uint64_t k = 0; k < bytes; ++k) {
    absorb(k % rate, input_byte(builder, 0, k));
    if (k % rate == rate - 1) state = keccak_f(std::move(state));
  }
  absorb(bytes % rate, ByteWord::constant(0x06));
  absorb(rate - 1, ByteWord::constant(0x80));
  state = keccak_f(std::move(state), (digest_bytes + 7) / 8);
  for (std::uint64_t k = 0; k < digest_bytes; ++k)
    builder.output_bits(0, 8 * k, state[k / 8].bits().subspan(8 * (k % 8), 8));
}

}  // namespace

KeccakState keccak_f(KeccakState state, std::size_t lanes) {
  const auto constants = iota_constants();
  for (std::size_t round = 0; round < kKeccakRounds; ++round) {
    theta(state);
    state = chi(rho_and_pi(state), round + 1 == kKeccakRounds ? lanes : 25);
    state[0] ^= Word<64>::constant(constants[round]);
  }
  return state;
}

CircuitFamily sha3_family() {
  CircuitFamily family;
  family.name = "sha3";
  family.description = "SHA3-256, -224, -384 or -512 of A's message; both learn the digest";
  family.parameters = {
      CircuitParameter::choice("digest", {"256", "224", "384", "512"}, "bits of the digest"),
      CircuitParameter::number("bytes", 64, 0, kMessageBytesMax, "length of the message")};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t digest_bytes = arguments.number("digest") / 8,
                        bytes = arguments.number("bytes");
    CircuitInfo info{arguments.spec(), {}, {bytes_output("digest", digest_bytes, Receiver::Both)}};
    if (bytes > 0) info.inputs.push_back(bytes_input("message", bytes, Party::A));
    return std::make_unique<GeneratedCircuit>(
        std::move(info), [=](Builder& builder) { hash_sha3(builder, digest_bytes, bytes); });
  };
  return family;
}

}  // namespace tinyot::circuit
