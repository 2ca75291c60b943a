#include "offline/silent/sparse_code.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "crypto/random_oracle.h"

namespace tinyot::offline {
namespace {

// Outputs whose lines of the secret are fetched while those before them are summed.
constexpr std::size_t kAhead = 32;

void prefetch(std::span<const std::uint32_t> indices, const Block* secret) {
  for (const std::uint32_t index : indices) __builtin_prefetch(secret + index);
}

}  // namespace

SparseCode::SparseCode(const checks::Session& session, Party mac_holder, std::uint64_t iteration,
                       const crypto::PublicSeed& coins, std::uint32_t secret_log)
    : key_(crypto::expand_key(
          crypto::RandomOracle(session.id(), {"silent code", letter(mac_holder), iteration})
              .absorb_object(coins)
              .block())),
      iteration_(iteration), mask_((std::uint32_t{1} << secret_log) - 1) {}

void SparseCode::indices(std::uint64_t first, std::span<std::uint32_t> out) const {
  ENSURE(out.size() % kRowOnes == 0);
  Block random[2 * kAhead];
  for (std::uint64_t y = first; !out.empty();) {
    const std::size_t count = std::min(kAhead, out.size() / kRowOnes);
    crypto::ctr_fill(key_, {2 * y, iteration_}, std::span(random, 2 * count));
    for (std::size_t i = 0; i < count; ++i) {
      const Block low = random[2 * i], high = random[2 * i + 1];
      std::uint32_t* to = out.data() + i * kRowOnes;
      const auto three = [&](std::uint64_t h, std::uint32_t* at) {
        at[0] = static_cast<std::uint32_t>(h) & mask_;
        at[1] = static_cast<std::uint32_t>(h >> 21) & mask_;
        at[2] = static_cast<std::uint32_t>(h >> 42) & mask_;
      };
      three(low.lo, to);
      three(low.hi, to + 3);
      three(high.lo, to + 6);
      to[9] = static_cast<std::uint32_t>(high.hi) & mask_;
    }
    y += count;
    out = out.subspan(count * kRowOnes);
  }
}

template <class Use>
void SparseCode::for_each_row(std::uint64_t first, std::size_t outputs, const Block* secret,
                              Use use) const {
  std::uint32_t rows[2][kAhead * kRowOnes];
  const auto fetch = [&](std::size_t done) {
    const std::span<std::uint32_t> of(rows[done / kAhead % 2],
                                      std::min(kAhead, outputs - done) * kRowOnes);
    indices(first + done, of);
    prefetch(of, secret);
  };
  if (outputs > 0) fetch(0);
  for (std::size_t done = 0; done < outputs; done += kAhead) {
    if (done + kAhead < outputs) fetch(done + kAhead);
    const std::uint32_t* row = rows[done / kAhead % 2];
    for (std::size_t i = done; i < std::min(done + kAhead, outputs); ++i, row += kRowOnes)
      use(i, row);
  }
}

void SparseCode::encode(std::uint64_t first, std::span<const Block> secret,
                        std::span<const Block> noise, std::span<Block> out) const {
  ENSURE(secret.size() == std::size_t{mask_} + 1 && noise.size() == out.size());
  for_each_row(first, out.size(), secret.data(), [&](std::size_t i, const std::uint32_t* row) {
    Block sum = noise[i];
    for (std::size_t f = 0; f < kRowOnes; ++f) sum ^= secret[row[f]];
    out[i] = sum;
  });
}

void SparseCode::encode(std::uint64_t first, std::span<const Block> secret_macs,
                        std::span<const std::uint64_t> secret_bits,
                        std::span<const Block> noise_macs, MacColumnView out) const {
  ENSURE(secret_macs.size() == std::size_t{mask_} + 1 && noise_macs.size() == out.size() &&
         out.size() % 64 == 0);
  const std::span<Block> macs = as_blocks(out.macs);
  std::uint64_t word = 0;
  for_each_row(first, out.size(), secret_macs.data(), [&](std::size_t i, const std::uint32_t* row) {
    Block sum = noise_macs[i];
    std::uint64_t bit = 0;
    for (std::size_t f = 0; f < kRowOnes; ++f) {
      sum ^= secret_macs[row[f]];
      bit ^= secret_bits[row[f] / 64] >> (row[f] % 64);
    }
    macs[i] = sum;
    word = (word >> 1) | (bit << 63);
    if (i % 64 == 63) out.bits[i / 64] = word;
  });
}

}  // namespace tinyot::offline
