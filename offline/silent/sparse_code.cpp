#include "offline/silent/sparse_code.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "checks/coin_toss.h"
#include "crypto/random_oracle.h"

namespace tinyot::offline {
namespace {

// Outputs whose lines of the secret are fetched into the second cache while those before them are
// summed. (The first cache would be too small for the lines and what else a tree needs.)
constexpr std::size_t kAhead = 32;

}  // namespace

crypto::PublicSeed toss_code(checks::Session& session) {
  return checks::toss_coins(session, "silent code");
}

SparseCode::SparseCode(const checks::Session& session, Party mac_holder, std::uint64_t iteration,
                       const crypto::PublicSeed& coins, std::uint32_t secret_log)
    : key_(crypto::expand_key(
          crypto::RandomOracle(session.id(), {"silent code", letter(mac_holder), iteration})
              .absorb_object(coins)
              .block())),
      iteration_(iteration), mask_((std::uint32_t{1} << secret_log) - 1) {}

void SparseCode::fill(std::uint64_t first, std::span<Block> random) const {
  crypto::ctr_fill(key_, {2 * first, iteration_}, random);
}

// Of the output for which these are the blocks.
inline void SparseCode::unpack(const Block* random, std::uint32_t* row) const {
  const auto three = [this](std::uint64_t h, std::uint32_t* to) {
    to[0] = static_cast<std::uint32_t>(h) & mask_;
    to[1] = static_cast<std::uint32_t>(h >> 21) & mask_;
    to[2] = static_cast<std::uint32_t>(h >> 42) & mask_;
  };
  three(random[0].lo, row);
  three(random[0].hi, row + 3);
  three(random[1].lo, row + 6);
  row[9] = static_cast<std::uint32_t>(random[1].hi) & mask_;
}

void SparseCode::indices(std::uint64_t first, std::span<std::uint32_t> out) const {
  std::vector<Block> random(2 * (out.size() / kRowOnes));
  fill(first, random);
  for (std::size_t i = 0; i < random.size() / 2; ++i) unpack(&random[2 * i], &out[i * kRowOnes]);
}

template <class Use>
void SparseCode::for_each_row(std::uint64_t first, std::size_t outputs, const Block* secret,
                              Use use) const {
  Block random[2 * kAhead];
  std::uint32_t rows[kAhead][kRowOnes];  // of the next outputs, output i at i % kAhead
  const auto fetch = [&](std::size_t i) {
    unpack(random + 2 * (i % kAhead), rows[i % kAhead]);
    for (const std::uint32_t index : rows[i % kAhead]) __builtin_prefetch(secret + index, 0, 2);
  };
  fill(first, std::span(random).first(2 * std::min(kAhead, outputs)));
  for (std::size_t i = 0; i < std::min(kAhead, outputs); ++i) fetch(i);
  for (std::size_t done = 0; done < outputs; done += kAhead) {
    const std::size_t left = outputs - done,
                      next = left > kAhead ? std::min(left - kAhead, kAhead) : 0;
    if (next > 0) fill(first + done + kAhead, std::span(random, 2 * next));
    for (std::size_t i = 0; i < std::min(kAhead, left); ++i) {
      use(done + i, rows[i]);
      if (i < next) fetch(i);
    }
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
