#include "offline/nnob12/auth_bits.h"

#include <algorithm>
#include <bit>

#include "base/declassify.h"
#include "base/error.h"
#include "checks/equality.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kMatrix = net::message_tag("abit.r");

std::size_t rounded_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

bool parity(std::uint64_t word) { return std::popcount(word) & 1; }

}  // namespace

StageCost cost_of_columns(const SecurityParameters& params) {
  return {.time = std::chrono::microseconds(500),
          .bytes = columns_made(params) * kChunkBits / 8,
          .depth = kChunksAhead};
}

AmplificationMatrix draw_amplification(crypto::Rng& rng, WeakGlobalKey gamma, const Delta& delta) {
  const auto key = gamma.bits.words();
  // A uniform gamma is zero with probability 2^-tau; no R would then have R.gamma = delta.
  std::uint64_t any = 0;
  for (const std::uint64_t word : key) any |= word;
  ENSURE(declassified(any != 0));

  // The lowest set bit of gamma as a mask over all words, without branching on its position.
  SecretVector<std::uint64_t> lowest(key.size());
  std::uint64_t found = 0;  // all ones once the bit has been found
  for (std::size_t w = 0; w < key.size(); ++w) {
    lowest[w] = key[w] & (~key[w] + 1) & ~found;
    found |= mask_of(key[w] != 0);
  }

  AmplificationMatrix r{BitMatrix(kKappa, gamma.bits.size())};
  for (std::uint64_t& word : r.matrix.words()) word = 0;  // the padding of the rows is sent as well
  for (std::size_t row = 0; row < kKappa; ++row) {
    const auto words = r.matrix.row(row).first(key.size());
    rng.fill(std::as_writable_bytes(words));
    if (gamma.bits.size() % 64 != 0)
      words.back() &= (std::uint64_t{1} << (gamma.bits.size() % 64)) - 1;
    std::uint64_t product = 0;
    for (std::size_t w = 0; w < key.size(); ++w) product ^= words[w] & key[w];
    // The bit in the column of the lowest set bit of gamma corrects the product.
    const std::uint64_t flip = mask_of(parity(product) ^ bit_of(delta.value, row));
    for (std::size_t w = 0; w < key.size(); ++w) words[w] ^= lowest[w] & flip;
  }
  declassify(r.matrix.words());
  return r;
}

void Amplifier::amplify(const BitMatrix& weak, std::span<Block> out) {
  if (product_.columns() != weak.columns()) product_ = BitMatrix(kKappa, weak.columns());
  left_.multiply(weak, product_);
  transpose_to_blocks(product_, out);
}

void Amplifier::amplify(WeakMacColumns weak, std::span<Mac> macs) {
  amplify(weak.matrix, as_blocks(macs));
}

void Amplifier::amplify(WeakKeyColumns weak, std::span<Key> keys) {
  amplify(weak.matrix, as_blocks(keys));
}

RunLayout::RunLayout(const SecurityParameters& params, std::size_t wanted, std::size_t seed_sets)
    : first_seeds(rounded_up(wanted, 64)), seeds_stride(rounded_up(columns_made(params), 64)),
      check_delta(first_seeds + seed_sets * seeds_stride),
      length(rounded_up(check_delta + kReferenceBits, BitMatrix::kColumnGroup)) {}

// The two directions of a run, step by step together.
class AuthBitSource::Run final : public BitStream {
 public:
  // The base OTs that it makes are those of `first_lane` and the following runs.
  Run(AuthBitSource& source, checks::Session& session, BaseOts seeds, const RunLayout& layout,
      std::size_t seed_sets, std::size_t first_lane)
      : BitStream(layout.length, layout.length, cost_of_columns(source.params_), source.depth_),
        source_(source), session_(session), layout_(layout), seed_sets_(seed_sets),
        first_lane_(first_lane),
        sender_(session, source.params_, std::move(seeds.sent), layout.length),
        receiver_(session, source.params_, std::move(seeds.received)),
        r_(draw_amplification(session.rng(), flip_role(receiver_), session.global_key())) {}

  // LaBit steps 1 to 3, and the key holder's half of aBit: K_j = R.K'_j depends on no later message
  // of the peer.
  void offer(const BitBatch& batch, const BitViews& views) override {
    ENSURE(batch.number == 0 && batch.bits == layout_.length);
    const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "aBits: columns",
                                     layout_.length);
    LeakyMacRows rows;
    Amplifier amplifier(r_);
    run_pipeline(
        chunks_of(layout_.length), source_.depth_.depth(cost_of_columns(source_.params_)),
        [&](const ColumnChunk& chunk) { sender_.offer(chunk); },
        [&](const ColumnChunk& chunk) {
          receiver_.receive(chunk, rows);
          amplifier.amplify(flip_role(rows), views.peers[0].subspan(chunk.first, chunk.bits));
          phase.advance(chunk.first + chunk.bits);
        });
  }

  // LaBit steps 4 and 5.
  void accept(const BitBatch&, const BitViews&) override {
    const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "aBits: check",
                                     layout_.length);
    receiver_.send_pairing();
    sender_.receive_pairing();
    const crypto::Digest of_mine = sender_.check_digest(phase), of_peers = receiver_.check_digest();
    checks::EqualityCheck equality("LaBit");
    equality.add_both(session_.me(), "LaBit of A", "LaBit of B", of_mine, of_peers);
    equality.run(session_);
  }

  // aBit steps 2 and 3, after the check.
  void answer(const BitBatch&, const BitViews& views) override {
    const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "aBits: amplification",
                                     layout_.length);
    net::send_words(session_.channel(), kMatrix, std::span<const std::uint64_t>(r_.matrix.words()));
    AmplificationMatrix peers_r{BitMatrix(r_.matrix.rows(), r_.matrix.columns())};
    net::recv_words(session_.channel(), kMatrix, peers_r.matrix.words());
    LeakyKeyRows rows;
    Amplifier amplifier(peers_r);
    for (const ColumnChunk& chunk : chunks_of(layout_.length)) {
      sender_.kept_rows(chunk, rows);
      amplifier.amplify(flip_role(rows), views.mine[0].macs.subspan(chunk.first, chunk.bits));
      phase.advance(chunk.first + chunk.bits);
    }
  }

  void confirm(const BitBatch&, const BitViews& views) override {
    copy_bits(sender_.gamma().words(), 0, views.mine[0].bits, 0, layout_.length);
  }

 private:
  void finish(AuthBits& bits) override {
    const auto mine = bits.mine.view(layout_.check_delta, kReferenceBits);
    const auto peers = bits.peers.view(layout_.check_delta, kReferenceBits);
    source_.check_delta(session_, mine, peers);
    const std::size_t t = columns_made(source_.params_);
    for (std::size_t set = 0; set < seed_sets_ && first_lane_ + set < source_.runs_; ++set) {
      const std::size_t first = layout_.seeds(set);
      source_.lanes_.put(
          first_lane_ + set,
          base_ots_from_auth_bits(session_, bits.mine.view(first, t), bits.peers.view(first, t)));
    }
  }

  AuthBitSource& source_;
  checks::Session& session_;
  const RunLayout layout_;
  const std::size_t seed_sets_, first_lane_;
  LeakyBitSender sender_;
  LeakyBitReceiver receiver_;
  AmplificationMatrix r_;
};

AuthBits AuthBitSource::make_reference_bits() {
  prepare(1);
  AuthBits made;
  stream(session_, 0, kReferenceBits)->make(made);
  return copy_of(made.mine.view(0, kReferenceBits), made.peers.view(0, kReferenceBits));
}

void AuthBitSource::prepare(std::size_t runs) {
  runs_ = runs;
  BaseOts seeds = base_ots_by_public_key(session_, columns_made(params_));
  if (runs <= 1) return lanes_.put(0, std::move(seeds));
  const std::size_t lanes = std::min(runs, kLanes);
  AuthBits bits;
  Run(*this, session_, std::move(seeds), RunLayout(params_, 0, lanes), lanes, 0).make(bits);
}

std::unique_ptr<BitStream> AuthBitSource::stream(checks::Session& part, std::size_t run,
                                                 std::size_t wanted) {
  ENSURE(run < runs_);
  return std::make_unique<Run>(*this, part, lanes_.take(run), RunLayout(params_, wanted, 1), 1,
                               run + kLanes);
}

}  // namespace tinyot::offline
