#include "offline/softspoken/softspoken.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/declassify.h"
#include "base/error.h"
#include "base/subset_sums.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kRowCorrections = net::message_tag("softspoken.corrections");
constexpr net::MessageTag kChallenge = net::message_tag("softspoken.challenge");
constexpr net::MessageTag kAnswer = net::message_tag("softspoken.answer");

// Blocks of a batch in each row, the mask included.
std::size_t blocks_of(const BitBatch& batch) { return batch.bits / 128 + 1; }

// The PRG outputs of a session part for one batch.
struct Expansion {
  const crypto::PrgRows& leaves;
  TreeShape shape;
  std::uint64_t domain;
  const BitBatch& batch;

  // r_x for the leaves x = first, first + 1, ... of a tree, each `blocks` long, at x.blocks.
  void fill(std::size_t tree, std::size_t first, std::size_t blocks, std::span<Block> out) const {
    for (std::size_t x = first; x < shape.leaves(); ++x)
      leaves.fill_of_stream(tree * shape.leaves() + x, domain,
                            batch.number * (kBatchBits / 128 + 1), out.subspan(x * blocks, blocks));
  }
};

// Bits `first`, first + 1, ... of a block, 32 of them; the caller uses those that lie in the same
// half. `first` is public.
std::uint32_t bits_from(Block block, std::size_t first) {
  return static_cast<std::uint32_t>((first < 64 ? block.lo : block.hi) >> (first % 64));
}

std::span<std::uint64_t> as_words(std::span<Block> blocks) {
  return {reinterpret_cast<std::uint64_t*>(blocks.data()), 2 * blocks.size()};
}

// The rows of a matrix that belong to a tree.
struct TreeRows {
  TreeRows(BitMatrix& matrix, const TreeShape& shape, std::size_t tree) : k(shape.k) {
    for (std::uint32_t b = 0; b < k; ++b) rows[b] = matrix.row_blocks(tree * k + b).data();
  }
  operator std::span<Block* const>() const { return std::span(rows).first(k); }

  std::uint32_t k;
  std::array<Block*, 4> rows;
};

// chi_1, ..., chi_m and the mask's 1.
std::vector<Block> coefficients(const checks::Session& session, Party mac_holder,
                                const BitBatch& batch, const crypto::PublicSeed& challenge) {
  const crypto::AesKey key = crypto::expand_key(
      crypto::RandomOracle(session.id(), {"SoftSpoken chi", letter(mac_holder), batch.number})
          .absorb_object(challenge)
          .block());
  std::vector<Block> chi(blocks_of(batch));
  crypto::ctr_fill(key, {0, 0}, chi);
  chi.back() = {1, 0};
  return chi;
}

Block combined(std::span<const Block> chi, std::span<const Block> row) {
  crypto::WideBlock sum{};
  crypto::add_products(chi, row, sum);
  return crypto::reduced(sum);
}

// u~, then V~ or W~ row by row.
using Answer = std::array<Block, 1 + kKappa>;

}  // namespace

SoftSpokenMacHolder::SoftSpokenMacHolder(checks::Session& session, const FullTrees& trees,
                                         std::uint64_t domain)
    : session_(session), shape_(trees.shape), leaves_(trees.leaves), domain_(domain) {}

// Rows with arbitrary content.
SoftSpokenMacHolder::Rows SoftSpokenMacHolder::rows_of(std::size_t blocks) {
  Rows rows;
  if (!spare_.empty()) {
    rows = std::move(spare_.back());
    spare_.pop_back();
  }
  if (rows.u.size() != blocks)
    rows = {SecretVector<Block>(blocks), BitMatrix(kKappa, 128 * blocks)};
  return rows;
}

void SoftSpokenMacHolder::send_corrections(const BitBatch& batch,
                                           std::span<const MacColumnView> out) {
  const std::size_t blocks = blocks_of(batch);
  ENSURE(batch.bits % kKappa == 0 && batch.bits <= kBatchBits);
  Rows rows = rows_of(blocks);
  corrections_.resize((shape_.trees() - 1) * blocks);
  leaf_strings_.resize(shape_.leaves() * blocks);
  const Expansion expansion{leaves_, shape_, domain_, batch};
  for (std::size_t tree = 0; tree < shape_.trees(); ++tree) {
    const std::span<Block> u = tree == 0
                                   ? std::span(rows.u)
                                   : std::span(corrections_).subspan((tree - 1) * blocks, blocks);
    expansion.fill(tree, 0, blocks, leaf_strings_);
    subset_sums(shape_.k, leaf_strings_, tree == 0 ? std::span<const Block>() : rows.u, u,
                TreeRows(rows.v, shape_, tree));
  }
  net::send_words(session_.channel(), kRowCorrections, std::span<const Block>(corrections_));
  std::size_t first = 0;
  for (const MacColumnView& part : out) {
    copy_bits(as_words(rows.u), first, part.bits, 0, part.size());
    transpose_to_blocks(rows.v, first, as_blocks(part.macs));
    first += part.size();
  }
  ENSURE(first == batch.bits);
  if (kept_ < kRowsKept) {
    ++kept_;
    return waiting_.push({std::move(rows), {}});
  }
  SecretVector<Block> masks(1 + kKappa);
  masks[0] = rows.u.back();
  for (std::size_t r = 0; r < kKappa; ++r) masks[1 + r] = rows.v.row_blocks(r)[blocks - 1];
  waiting_.push({std::nullopt, std::move(masks)});
  spare_.push_back(std::move(rows));
}

SoftSpokenMacHolder::Rows SoftSpokenMacHolder::rows_again(const Waiting& batch,
                                                          std::span<const MacColumnView> made,
                                                          std::size_t blocks) {
  Rows rows = rows_of(blocks);
  std::size_t first = 0;
  for (const MacColumnView& part : made) {
    copy_bits(part.bits, 0, as_words(rows.u), first, part.size());
    transpose_to_rows(as_blocks(part.macs), first, rows.v);
    first += part.size();
  }
  ENSURE(first == 128 * (blocks - 1));
  rows.u.back() = batch.masks[0];
  for (std::size_t r = 0; r < kKappa; ++r) rows.v.row_blocks(r)[blocks - 1] = batch.masks[1 + r];
  return rows;
}

void SoftSpokenMacHolder::answer(const BitBatch& batch, std::span<const MacColumnView> made) {
  Waiting waiting = std::move(waiting_.front());
  waiting_.pop();
  kept_ -= waiting.rows.has_value();
  Rows rows = waiting.rows ? std::move(*waiting.rows) : rows_again(waiting, made, blocks_of(batch));
  const auto chi =
      coefficients(session_, session_.me(), batch,
                   net::recv_object<crypto::PublicSeed>(session_.channel(), kChallenge));
  Answer answer;
  answer[0] = combined(chi, rows.u);
  for (std::size_t r = 0; r < kKappa; ++r)
    answer[1 + r] = combined(chi, rows.v.row_blocks(r).first(chi.size()));
  net::send_object(session_.channel(), kAnswer, answer);
  spare_.push_back(std::move(rows));
}

SoftSpokenKeyHolder::SoftSpokenKeyHolder(checks::Session& session, const PuncturedTrees& trees,
                                         std::uint64_t domain)
    : session_(session), shape_(trees.shape), leaves_(trees.leaves), consistent_(trees.consistent),
      domain_(domain) {}

void SoftSpokenKeyHolder::receive_corrections(const BitBatch& batch,
                                              std::span<const KeyColumnView> out) {
  const std::size_t blocks = blocks_of(batch);
  ENSURE(batch.bits % kKappa == 0 && batch.bits <= kBatchBits);
  const ScopedSecret<Block> delta(session_.global_key().value);
  corrections_.resize(shape_.trees() * blocks);
  std::fill_n(corrections_.begin(), blocks, Block{0, 0});  // c_0 = 0
  leaf_strings_.resize(shape_.leaves() * blocks);
  net::recv_words(session_.channel(), kRowCorrections, std::span(corrections_).subspan(blocks));
  if (w_.columns() != 128 * blocks) w_ = BitMatrix(kKappa, 128 * blocks);
  const Expansion expansion{leaves_, shape_, domain_, batch};
  for (std::size_t tree = 0; tree < shape_.trees(); ++tree) {
    // Leaves y = x ^ Delta_i are known for y = 1, 2, ...; c_i.Delta_i is added.
    expansion.fill(tree, 1, blocks, leaf_strings_);
    const std::uint32_t delta_of_tree =
        bits_from(delta, tree * shape_.k) & (static_cast<std::uint32_t>(shape_.leaves()) - 1);
    subset_sums_with(shape_.k, leaf_strings_,
                     std::span<const Block>(corrections_).subspan(tree * blocks, blocks),
                     delta_of_tree, TreeRows(w_, shape_, tree));
  }
  const auto challenge = declassified(session_.rng().object<crypto::PublicSeed>());
  net::send_object(session_.channel(), kChallenge, challenge);
  const auto chi = coefficients(session_, session_.peer(), batch, challenge);
  SecretVector<Block> expected(kKappa);
  for (std::size_t r_index = 0; r_index < kKappa; ++r_index)
    expected[r_index] = combined(chi, w_.row_blocks(r_index).first(blocks));
  expected_.push(std::move(expected));
  std::size_t first = 0;
  for (const KeyColumnView& part : out) {
    transpose_to_blocks(w_, first, as_blocks(part));
    first += part.size();
  }
  ENSURE(first == batch.bits);
}

void SoftSpokenKeyHolder::verify(const BitBatch&) {
  const auto answer = net::recv_object<Answer>(session_.channel(), kAnswer);
  const SecretVector<Block> expected = std::move(expected_.front());
  expected_.pop();
  const ScopedSecret<Block> delta(session_.global_key().value);
  Block wrong{mask_of(!consistent_), 0};
  for (std::size_t r = 0; r < kKappa; ++r) {
    const Block difference = expected[r] ^ answer[1 + r] ^ times(answer[0], bit_of(delta, r));
    wrong = {wrong.lo | difference.lo, wrong.hi | difference.hi};
  }
  if (declassified(wrong.lo | wrong.hi) != 0) throw PeerCheated("SoftSpoken check");
}

}  // namespace tinyot::offline
