#include "crypto/rng.h"

#include <bit>
#include <cryptopp/osrng.h>

#include "base/error.h"
#include "base/secret.h"

namespace tinyot {

Rng Rng::from_system() {
  Seed seed;
  CryptoPP::OS_GenerateRandomBlock(false, reinterpret_cast<CryptoPP::byte*>(&seed), sizeof seed);
  Rng rng(seed);
  wipe_object(seed);
  return rng;
}

Rng::~Rng() { wipe_object(key_); }

Rng::Rng(Rng&& other) noexcept : key_(other.key_), next_block_(other.next_block_) { wipe_object(other.key_); }

void Rng::fill(std::span<std::byte> out) {
  constexpr std::size_t kStep = 64;
  Block buffer[kStep];
  while (!out.empty()) {
    const std::size_t bytes = std::min(out.size(), sizeof buffer), blocks = (bytes + sizeof(Block) - 1) / sizeof(Block);
    ctr_fill(key_, {next_block_, 0}, std::span(buffer, blocks));
    next_block_ += blocks;
    std::memcpy(out.data(), buffer, bytes);
    out = out.subspan(bytes);
  }
  wipe(buffer, sizeof buffer);
}

Block Rng::block() { return object<Block>(); }

BitVector Rng::bits(std::size_t size) {
  BitVector bits(size);
  fill(std::as_writable_bytes(bits.words()));
  bits.clear_padding();
  return bits;
}

std::uint64_t Rng::below(std::uint64_t bound) {
  ENSURE(bound > 0);
  const std::uint64_t mask = bound == 1 ? 0 : ~std::uint64_t{0} >> std::countl_zero(bound - 1);
  for (;;) {
    const std::uint64_t candidate = object<std::uint64_t>() & mask;
    if (candidate < bound) return candidate;
  }
}

}  // namespace tinyot
