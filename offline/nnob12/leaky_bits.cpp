#include "offline/nnob12/leaky_bits.h"

#include <algorithm>
#include <cstring>

#include "base/declassify.h"
#include "base/error.h"
#include "crypto/random_oracle.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kCorrections = net::message_tag("labit.corrections");
constexpr net::MessageTag kPairing = net::message_tag("labit.pairing");
constexpr net::MessageTag kDifferences = net::message_tag("labit.d");

std::vector<crypto::Pair> expand_pairing(const checks::Session& session, Party receiver,
                                         const crypto::PublicSeed& seed, std::size_t tau) {
  return crypto::pairing_from(session.id(), {"LaBit pairing", letter(receiver), 0}, seed,
                              static_cast<std::uint32_t>(tau));
}

RowHashes row_hashes(const checks::Session& session, Party receiver, const crypto::PublicSeed& seed,
                     std::size_t rows) {
  return RowHashes(session.id(), {"LaBit chi", letter(receiver), 0}, seed, rows);
}

crypto::RandomOracle digest_of_run(const checks::Session& session, Party sender) {
  return crypto::RandomOracle(session.id(), {"LaBit EQ", letter(sender), 0});
}

void resize(BitMatrix& matrix, std::size_t rows, std::size_t columns) {
  if (matrix.rows() != rows || matrix.columns() != columns) matrix = BitMatrix(rows, columns);
}

std::span<const Block> blocks_of(const BitVector& bits, const ColumnChunk& chunk) {
  return {reinterpret_cast<const Block*>(bits.words().data() + chunk.first / 64), chunk.bits / 128};
}

}  // namespace

std::vector<ColumnChunk> chunks_of(std::size_t length) {
  ENSURE(length % BitMatrix::kColumnGroup == 0);
  std::vector<ColumnChunk> chunks;
  for (std::size_t first = 0; first < length; first += kChunkBits)
    chunks.push_back({first, std::min(kChunkBits, length - first)});
  return chunks;
}

LeakyBitSender::LeakyBitSender(checks::Session& session, const SecurityParameters& params,
                               BaseOtSent seeds, std::size_t length)
    : session_(session), tau_(columns_kept(params)), gamma_(session.rng().bits(length)) {
  ENSURE(seeds.pairs.size() == columns_made(params));
  SecretVector<Seed> zero, one;
  for (const SeedPair& pair : seeds.pairs) {
    zero.push_back(pair.zero);
    one.push_back(pair.one);
  }
  zero_ = crypto::PrgRows(zero);
  one_ = crypto::PrgRows(one);
}

void LeakyBitSender::offer(const ColumnChunk& chunk) {
  resize(corrections_, zero_.size(), chunk.bits);
  const std::uint64_t first_block = chunk.first / 128;
  const auto gamma = blocks_of(gamma_, chunk);
  for (std::size_t i = 0; i < zero_.size(); ++i) {
    const auto u = corrections_.row_blocks(i);
    std::copy(gamma.begin(), gamma.end(), u.begin());
    zero_.xor_into(i, first_block, u);
    one_.xor_into(i, first_block, u);
  }
  net::send_words(session_.channel(), kCorrections,
                  std::span<const std::uint64_t>(corrections_.words()));
}

void LeakyBitSender::receive_pairing() {
  pairing_seed_ = net::recv_object<crypto::PublicSeed>(session_.channel(), kPairing);
  pairing_ = expand_pairing(session_, session_.peer(), pairing_seed_, tau_);
  d_ = net::recv_bits(session_.channel(), kDifferences, tau_);
}

crypto::Digest LeakyBitSender::check_digest(const net::PhaseLog::Scope& progress) {
  ENSURE(pairing_.size() == tau_);
  // the last row is Gamma
  RowHashes hashes = row_hashes(session_, session_.peer(), pairing_seed_, tau_ + 1);
  SecretVector<Block> z(kChunkBits / 128);
  for (const ColumnChunk& chunk : chunks_of(gamma_.size())) {
    const auto row = std::span(z).first(chunk.bits / 128);
    hashes.begin(chunk.first / 128, row.size());
    for (std::size_t p = 0; p < tau_; ++p) {
      zero_.fill(pairing_[p].kept, chunk.first / 128, row);
      zero_.xor_into(pairing_[p].partner, chunk.first / 128, row);
      hashes.absorb(p, row);
    }
    hashes.absorb(tau_, blocks_of(gamma_, chunk));
    progress.advance(chunk.first + chunk.bits);
  }
  crypto::RandomOracle digest = digest_of_run(session_, session_.me());
  // Z_i = L_i ^ L_pi(i) ^ d_i.Gamma_B; the hashes are linear.
  for (std::size_t p = 0; p < tau_; ++p)
    digest.absorb_object(hashes.of(p) ^ times(hashes.of(tau_), d_[p]));
  return digest.digest();
}

void LeakyBitSender::kept_rows(const ColumnChunk& chunk, LeakyKeyRows& rows) const {
  resize(rows.matrix, tau_, chunk.bits);
  for (std::size_t p = 0; p < tau_; ++p)
    zero_.fill(pairing_[p].kept, chunk.first / 128, rows.matrix.row_blocks(p));
}

LeakyBitReceiver::LeakyBitReceiver(checks::Session& session, const SecurityParameters& params,
                                   BaseOtReceived seeds)
    : session_(session), tau_(columns_kept(params)), seeds_(seeds.seeds),
      choices_(std::move(seeds.choices)),
      pairing_seed_(declassified(session.rng().object<crypto::PublicSeed>())),
      pairing_(expand_pairing(session, session.me(), pairing_seed_, tau_)), kept_choices_(tau_),
      hashes_(row_hashes(session, session.me(), pairing_seed_, tau_)) {
  ENSURE(choices_.size() == columns_made(params) && seeds_.size() == columns_made(params));
  for (std::size_t p = 0; p < tau_; ++p) kept_choices_.put(p, choices_[pairing_[p].kept]);
}

void LeakyBitReceiver::receive(const ColumnChunk& chunk, LeakyMacRows& rows) {
  resize(columns_, seeds_.size(), chunk.bits);
  net::recv_words(session_.channel(), kCorrections, columns_.words());
  for (std::size_t i = 0; i < seeds_.size(); ++i) {
    // N_i = PRG(s_{i,y_i}) ^ y_i.u_i
    const std::uint64_t mask = mask_of(choices_[i]);
    for (std::uint64_t& word : columns_.row(i)) word &= mask;
    seeds_.xor_into(i, chunk.first / 128, columns_.row_blocks(i));
  }
  resize(rows.matrix, tau_, chunk.bits);
  hashes_.begin(chunk.first / 128, chunk.bits / 128);
  for (std::size_t p = 0; p < tau_; ++p) {
    const auto kept = columns_.row_blocks(pairing_[p].kept),
               partner = columns_.row_blocks(pairing_[p].partner);
    std::copy(kept.begin(), kept.end(), rows.matrix.row_blocks(p).begin());
    // W_i = N_i ^ N_pi(i)
    for (std::size_t i = 0; i < partner.size(); ++i) partner[i] ^= kept[i];
    hashes_.absorb(p, partner);
  }
}

crypto::Digest LeakyBitReceiver::check_digest() {
  crypto::RandomOracle digest = digest_of_run(session_, session_.peer());
  for (std::size_t p = 0; p < tau_; ++p) digest.absorb_object(hashes_.of(p));
  return digest.digest();
}

void LeakyBitReceiver::send_pairing() {
  net::send_object(session_.channel(), kPairing, pairing_seed_);
  BitVector d(tau_);
  for (std::size_t p = 0; p < tau_; ++p)
    d.put(p, choices_[pairing_[p].kept] ^ choices_[pairing_[p].partner]);
  net::send_bits(session_.channel(), kDifferences, d);
}

}  // namespace tinyot::offline
