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

AuthBits copy_of(MineView mine, PeersView peers) {
  AuthBits copy{AuthBitsMine(mine.size()), AuthBitsPeers(peers.size())};
  copy_bits(mine.bits, 0, copy.mine.bits.words(), 0, mine.size());
  std::copy(mine.macs.begin(), mine.macs.end(), copy.mine.macs.begin());
  std::copy(peers.begin(), peers.end(), copy.peers.keys.begin());
  return copy;
}

bool parity(std::uint64_t word) { return std::popcount(word) & 1; }

// The two directions of a run, step by step together.
class AuthBitRun {
 public:
  AuthBitRun(checks::Session& session, const SecurityParameters& params, Pace pace, BaseOts seeds,
             std::size_t length, AuthBits& bits)
      : session_(session), length_(length), ahead_(pace.ahead(cost_of_columns(params))),
        sender_(session, params, std::move(seeds.sent), length),
        receiver_(session, params, std::move(seeds.received)),
        r_(draw_amplification(session.rng(), flip_role(receiver_), session.global_key())),
        bits_(bits) {
    if (bits_.mine.size() != length) bits_ = AuthBits{AuthBitsMine(length), AuthBitsPeers(length)};
  }

  void make() {
    exchange_columns();
    check();
    finish_macs();
    copy_bits(sender_.gamma().words(), 0, bits_.mine.bits.words(), 0, length_);
  }

 private:
  // LaBit steps 1 to 3, and the key holder's half of aBit: K_j = R.K'_j depends on no later message
  // of the peer.
  void exchange_columns() {
    const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "aBits: columns", length_);
    LeakyMacRows rows;
    Amplifier amplifier(r_);
    const auto chunks = chunks_of(length_);
    for (std::size_t i = 0; i < chunks.size() + ahead_; ++i) {
      if (i < chunks.size()) sender_.offer(chunks[i]);
      if (i < ahead_) continue;
      const ColumnChunk& chunk = chunks[i - ahead_];
      receiver_.receive(chunk, rows);
      amplifier.amplify(flip_role(rows), bits_.peers.view(chunk.first, chunk.bits));
      phase.advance(chunk.first + chunk.bits);
    }
  }

  // LaBit steps 4 and 5.
  void check() {
    const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "aBits: check", length_);
    receiver_.send_pairing();
    sender_.receive_pairing();
    const crypto::Digest of_mine = sender_.check_digest(phase), of_peers = receiver_.check_digest();
    checks::EqualityCheck equality("LaBit");
    equality.add_both(session_.me(), "LaBit of A", "LaBit of B", of_mine, of_peers);
    equality.run(session_);
  }

  // aBit steps 2 and 3, after the check.
  void finish_macs() {
    const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "aBits: amplification",
                                     length_);
    net::send_words(session_.channel(), kMatrix, std::span<const std::uint64_t>(r_.matrix.words()));
    AmplificationMatrix peers_r{BitMatrix(r_.matrix.rows(), r_.matrix.columns())};
    net::recv_words(session_.channel(), kMatrix, peers_r.matrix.words());
    LeakyKeyRows rows;
    Amplifier amplifier(peers_r);
    for (const ColumnChunk& chunk : chunks_of(length_)) {
      sender_.kept_rows(chunk, rows);
      amplifier.amplify(flip_role(rows),
                        std::span(bits_.mine.macs).subspan(chunk.first, chunk.bits));
      phase.advance(chunk.first + chunk.bits);
    }
  }

  checks::Session& session_;
  std::size_t length_, ahead_;
  LeakyBitSender sender_;
  LeakyBitReceiver receiver_;
  AmplificationMatrix r_;
  AuthBits& bits_;
};

}  // namespace

PieceCost cost_of_columns(const SecurityParameters& params) {
  return {.time = std::chrono::microseconds(500),
          .bytes = columns_made(params) * kChunkBits / 8,
          .ahead = kChunksAhead};
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

void AuthBitMaker::prepare(std::size_t runs) {
  runs_ = runs;
  BaseOts seeds = base_ots_by_public_key(session_, columns_made(params_));
  if (runs <= 1) return lanes_.put(0, std::move(seeds));
  const std::size_t lanes = std::min(runs, kLanes);
  const RunLayout layout(params_, 0, lanes);
  AuthBits bits;
  AuthBitRun(session_, params_, pace_, std::move(seeds), layout.length, bits).make();
  check_delta(session_, layout, bits);
  for (std::size_t lane = 0; lane < lanes; ++lane)
    lanes_.put(lane, seeds_from(session_, layout, lane, bits));
}

void AuthBitMaker::make(checks::Session& session, std::size_t run, std::size_t wanted,
                        AuthBits& bits) {
  ENSURE(run < runs_);
  const RunLayout layout(params_, wanted, 1);
  AuthBitRun(session, params_, pace_, lanes_.take(run), layout.length, bits).make();
  check_delta(session, layout, bits);
  if (run + kLanes < runs_) lanes_.put(run + kLanes, seeds_from(session, layout, 0, bits));
}

// The first run of a session's first connection makes the reference bits; there is nothing yet that
// they could differ from.
void AuthBitMaker::check_delta(checks::Session& session, const RunLayout& layout, AuthBits& bits) {
  const auto mine = bits.mine.view(layout.check_delta, kReferenceBits);
  const auto peers = bits.peers.view(layout.check_delta, kReferenceBits);
  if (delta_check_.has_reference())
    delta_check_.check(session, mine, peers);
  else
    delta_check_.set_reference_bits(copy_of(mine, peers));
}

BaseOts AuthBitMaker::seeds_from(checks::Session& session, const RunLayout& layout, std::size_t set,
                                 AuthBits& bits) const {
  const std::size_t first = layout.seeds(set), count = columns_made(params_);
  return base_ots_from_auth_bits(session, bits.mine.view(first, count),
                                 bits.peers.view(first, count));
}

}  // namespace tinyot::offline
