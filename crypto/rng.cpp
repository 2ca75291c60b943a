#include "crypto/rng.h"

#include <cryptopp/osrng.h>

#include <bit>

#include "base/error.h"
#include "base/secret.h"

namespace tinyot::crypto {

Rng Rng::from_system() {
  Seed seed;
  CryptoPP::OS_GenerateRandomBlock(false, reinterpret_cast<CryptoPP::byte*>(&seed), sizeof seed);
  Rng rng(seed);
  wipe_object(seed);
  return rng;
}

Rng::~Rng() {
  wipe_object(key_);
  wipe(buffer_, sizeof buffer_);
}

Rng::Rng(Rng&& other) noexcept
    : key_(other.key_), next_block_(other.next_block_), used_bytes_(other.used_bytes_) {
  std::memcpy(buffer_, other.buffer_, sizeof buffer_);
  wipe_object(other.key_);
  wipe(other.buffer_, sizeof other.buffer_);
  other.used_bytes_ = sizeof other.buffer_;
  other.moved_from_ = true;
}

void Rng::refill() {
  ENSURE(!moved_from_);
  ctr_fill(key_, {next_block_, 0}, buffer_);
  next_block_ += kBufferBlocks;
  used_bytes_ = 0;
}

void Rng::fill(std::span<std::byte> out) {
  while (!out.empty()) {
    if (used_bytes_ == sizeof buffer_) refill();
    const std::size_t count = std::min(out.size(), sizeof buffer_ - used_bytes_);
    std::byte* source = reinterpret_cast<std::byte*>(buffer_) + used_bytes_;
    std::memcpy(out.data(), source, count);
    wipe(source, count);  // output is not kept
    used_bytes_ += count;
    out = out.subspan(count);
  }
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

}  // namespace tinyot::crypto
