#include "offline/auth_bits.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "checks/equality.h"

namespace tinyot {
namespace {

constexpr MessageTag kMatrix{0x1201, "abit.r"};

std::size_t rounded_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

// Where the parts of a run begin: the wanted bits, the next run's seed OTs, the tie. Views begin at multiples of 64.
struct RunLayout {
  RunLayout(const SecurityParameters& params, std::size_t wanted)
      : seeds(rounded_up(wanted, 64)), tie(rounded_up(seeds + params.columns_made(), 64)), length(rounded_up(tie + kTieBits, BitMatrix::kColumnGroup)) {}
  std::size_t seeds, tie, length;
};

AuthBits copy_of(MineView mine, PeersView peers) {
  AuthBits copy{AuthBitsMine(mine.size()), AuthBitsPeers(peers.size())};
  copy_bits(mine.bits, 0, copy.mine.bits.words(), 0, mine.size());
  std::copy(mine.macs.begin(), mine.macs.end(), copy.mine.macs.begin());
  std::copy(peers.begin(), peers.end(), copy.peers.keys.begin());
  return copy;
}

bool parity(std::uint64_t word) { return std::popcount(word) & 1; }

template <class Word>
void amplify_columns(const AmplificationMatrix& r, const BitMatrix& weak, std::span<Word> out) {
  BitMatrix product(kKappa, weak.columns());
  multiply(r.matrix, weak, product);
  transpose_to_blocks(product, as_blocks(out));
}

// One direction each of a run, in step with each other.
class AuthBitRun {
 public:
  AuthBitRun(Session& session, const SecurityParameters& params, SeedOts seeds, std::uint64_t run, std::size_t length)
      : session_(session), length_(length), sender_(session, params, std::move(seeds.sent), run, length),
        receiver_(session, params, std::move(seeds.received), run),
        r_(draw_amplification(session.rng(), flip_role(receiver_), session.global_key())), bits_{AuthBitsMine(length), AuthBitsPeers(length)} {}

  AuthBits make() {
    exchange_columns();
    check();
    finish_macs();
    copy_bits(sender_.gamma().words(), 0, bits_.mine.bits.words(), 0, length_);
    return std::move(bits_);
  }

 private:
  // LaBit steps 1 to 3, and already the key holder's half of aBit: K_j = R.K'_j needs nothing that the peer has yet to send.
  void exchange_columns() {
    const PhaseLog::Scope phase(session_.log(), session_.channel(), "aBits: columns", length_);
    LeakyMacRows rows;
    const auto chunks = chunks_of(length_);
    for (std::size_t i = 0; i < chunks.size() + kChunksAhead; ++i) {
      if (i < chunks.size()) sender_.offer(chunks[i]);
      if (i < kChunksAhead) continue;
      const ColumnChunk& chunk = chunks[i - kChunksAhead];
      receiver_.receive(chunk, rows);
      amplify(r_, flip_role(rows), bits_.peers.view(chunk.first, chunk.bits));
      phase.advance(chunk.first + chunk.bits);
    }
  }

  // LaBit steps 4 and 5.
  void check() {
    const PhaseLog::Scope phase(session_.log(), session_.channel(), "aBits: check", length_);
    receiver_.send_pairing();
    sender_.receive_pairing();
    const Digest of_mine = sender_.check_digest(phase), of_peers = receiver_.check_digest();
    EqualityCheck equality;
    equality.add_both(session_.me(), "LaBit of A", "LaBit of B", of_mine, of_peers);
    equality.run(session_);
  }

  // aBit steps 2 and 3, after the check.
  void finish_macs() {
    const PhaseLog::Scope phase(session_.log(), session_.channel(), "aBits: amplification", length_);
    send_words(session_.channel(), kMatrix, std::span<const std::uint64_t>(r_.matrix.words()));
    AmplificationMatrix peers_r{BitMatrix(r_.matrix.rows(), r_.matrix.columns())};
    recv_words(session_.channel(), kMatrix, peers_r.matrix.words());
    LeakyKeyRows rows;
    for (const ColumnChunk& chunk : chunks_of(length_)) {
      sender_.kept_rows(chunk, rows);
      amplify(peers_r, flip_role(rows), std::span(bits_.mine.macs).subspan(chunk.first, chunk.bits));
      phase.advance(chunk.first + chunk.bits);
    }
  }

  Session& session_;
  std::size_t length_;
  LeakyBitSender sender_;
  LeakyBitReceiver receiver_;
  AmplificationMatrix r_;
  AuthBits bits_;
};

}  // namespace

AmplificationMatrix draw_amplification(Rng& rng, WeakGlobalKey gamma, Delta delta) {
  const auto key = gamma.bits.words();
  // A uniform gamma is zero with probability 2^-tau; no R would then have R.gamma = delta.
  std::uint64_t any = 0;
  for (const std::uint64_t word : key) any |= word;
  ENSURE(any != 0);

  // The lowest set bit of gamma as a mask over all words, without branching on where it is.
  SecretVector<std::uint64_t> lowest(key.size());
  std::uint64_t found = 0;  // all ones once it has been found
  for (std::size_t w = 0; w < key.size(); ++w) {
    lowest[w] = key[w] & (~key[w] + 1) & ~found;
    found |= mask_of(key[w] != 0);
  }

  AmplificationMatrix r{BitMatrix(kKappa, gamma.bits.size())};
  for (std::uint64_t& word : r.matrix.words()) word = 0;  // the padding of the rows is sent as well
  for (std::size_t row = 0; row < kKappa; ++row) {
    const auto words = r.matrix.row(row).first(key.size());
    rng.fill(std::as_writable_bytes(words));
    if (gamma.bits.size() % 64 != 0) words.back() &= (std::uint64_t{1} << (gamma.bits.size() % 64)) - 1;
    std::uint64_t product = 0;
    for (std::size_t w = 0; w < key.size(); ++w) product ^= words[w] & key[w];
    // Column i with gamma[i] = 1 is set to what makes the product right.
    const bool wanted = ((row < 64 ? delta.value.lo : delta.value.hi) >> (row % 64)) & 1;
    const std::uint64_t flip = mask_of(parity(product) ^ wanted);
    for (std::size_t w = 0; w < key.size(); ++w) words[w] ^= lowest[w] & flip;
  }
  return r;
}

void amplify(const AmplificationMatrix& r, WeakMacColumns weak, std::span<Mac> macs) { amplify_columns(r, weak.matrix, macs); }

void amplify(const AmplificationMatrix& r, WeakKeyColumns weak, std::span<Key> keys) { amplify_columns(r, weak.matrix, keys); }

std::size_t AuthBitMaker::run_length(const SecurityParameters& params, std::size_t wanted) {
  return RunLayout(params, wanted).length;
}

AuthBits AuthBitMaker::make(std::size_t wanted) {
  if (runs_ == 0) seeds_ = seed_ots_by_public_key(session_, params_.columns_made());
  const RunLayout layout(params_, wanted);
  AuthBits bits = AuthBitRun(session_, params_, std::move(seeds_), runs_, layout.length).make();
  ++runs_;
  const MineView tie_mine = bits.mine.view(layout.tie, kTieBits);
  const PeersView tie_peers = bits.peers.view(layout.tie, kTieBits);
  if (tie_.has_anchor())
    tie_.check(session_, tie_mine, tie_peers);
  else
    tie_.set_anchor(copy_of(tie_mine, tie_peers));
  const std::size_t count = params_.columns_made();
  seeds_ = seed_ots_from_auth_bits(session_, bits.mine.view(layout.seeds, count), bits.peers.view(layout.seeds, count));
  return bits;
}

}  // namespace tinyot
