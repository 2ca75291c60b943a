#include "online/garbled/mask_blocks.h"

#include <algorithm>
#include <utility>

#include "checks/opening.h"
#include "online/garbled/half_shares.h"
#include "online/inputs.h"

namespace tinyot::online {
namespace {

constexpr std::array<Block, 2> kNoFlips{};  // what is public changes no mask
constexpr std::size_t kOpeningStep = 128;   // entries whose openings are hashed at a time

// The half shares of the next mask of `owner`, whose peer's share is 0.
HalfShares take_mask(const checks::Session& session, Party owner, SliceCursor& at,
                     const Delta& delta) {
  const material::Batch& batch = at.batch();
  const std::size_t i = at.at();
  const HalfShares mask =
      owner == session.me()
          ? half_shares(owner, batch.mine[0].bits[i], batch.mine[0].macs[i], Key{{0, 0}}, delta)
          : half_shares(session.me(), false, Mac{{0, 0}}, batch.peers[0].keys[i], delta);
  at.advance(1);
  return mask;
}

// Objects of one column of a batch, from index `from` on.
template <Party kMe>
class Column {
 public:
  Column(const material::Batch& batch, std::size_t index, std::size_t from, const Delta& delta)
      : bits_(batch.mine[index].bits), macs_(&batch.mine[index].macs[from]),
        keys_(&batch.peers[index].keys[from]), from_(from), delta_(delta) {}

  HalfShares operator[](std::size_t i) const {
    return half_shares(kMe, bits_[from_ + i], macs_[i], keys_[i], delta_);
  }

 private:
  const BitVector& bits_;
  const Mac* macs_;
  const Key* keys_;
  std::size_t from_;
  const Delta& delta_;
};

// The masks gamma of the results, each the sum of a bit of mine and one of the peer's, in the place
// of s.
template <Party kMe>
void take_result_masks(const Chunk& chunk, const Delta& delta, MaskedAnds& ands) {
  SliceCursor mine(chunk.result_masks[number_of(kMe)]),
      peers(chunk.result_masks[number_of(peer_of(kMe))]);
  for (std::size_t done = 0; done < chunk.entries;) {
    const std::size_t count = std::min({mine.left(), peers.left(), chunk.entries - done});
    const MacColumn& bits = mine.batch().mine[0];
    const Mac* const macs = &bits.macs[mine.at()];
    const Key* const keys = &peers.batch().peers[0].keys[peers.at()];
    for (std::size_t i = 0; i < count; ++i) {
      const HalfShares mask = half_shares(kMe, bits.bits[mine.at() + i], macs[i], keys[i], delta);
      ands.s_g[done + i] = mask.g;
      ands.macs.s[done + i] = mask.folded();
    }
    mine.advance(count);
    peers.advance(count);
    done += count;
  }
}

// s of each entry, from the masks gamma in its place; and the openings onto the transcript.
template <Party kMe>
void combine(checks::Session& session, const Chunk& chunk, const Delta& delta, MaskedAnds& ands) {
  const Block& key = delta.value;
  SliceCursor at(chunk.triples);
  SecretVector<MacShare> of_d(kOpeningStep), of_e(kOpeningStep);
  // The same steps at both parties, wherever their material is cut.
  for (std::size_t step = 0; step < chunk.entries; step += kOpeningStep) {
    const std::size_t size = std::min(kOpeningStep, chunk.entries - step);
    for (std::size_t done = 0; done < size;) {
      const std::size_t count = std::min(at.left(), size - done);
      const Column<kMe> of_u(at.batch(), 0, at.at(), delta), of_v(at.batch(), 1, at.at(), delta),
          of_w(at.batch(), 2, at.at(), delta);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t j = step + done + i;
        const bool d = chunk.d[j], e = chunk.e[j];
        const HalfShares u = of_u[i], v = of_v[i], w = of_w[i];
        of_d[done + i] = {ands.macs.alpha[j] ^ u.folded() ^ times(key, d)};
        of_e[done + i] = {ands.macs.beta[j] ^ v.folded() ^ times(key, e)};
        const Block constant = times(key, d & e);  // in A's share of h, in B's of g
        ands.s_g[j] ^= w.g ^ times(v.g, d) ^ times(u.g, e) ^ times(constant, kMe == Party::B);
        ands.macs.s[j] ^= w.folded() ^ times(v.folded(), d) ^ times(u.folded(), e) ^ constant;
      }
      at.advance(count);
      done += count;
    }
    checks::absorb_opened(session, std::span(of_d).first(size));
    checks::absorb_opened(session, std::span(of_e).first(size));
  }
}

// The half shares g of an operand, and their sum with those of h.
void read_operand(WireBlocks& blocks, std::size_t tile, circuit::Slot slot, std::size_t width,
                  Block* g, Block* folded) {
  blocks.read(tile, slot, 0, width, g);
  blocks.read(tile, slot, 1, width, folded);
  for (std::size_t i = 0; i < width; ++i) folded[i] ^= g[i];
}

}  // namespace

MaskBlocks::MaskBlocks(checks::Session& session, const circuit::CircuitInfo& info,
                       const Lanes& lanes, const SharedValues& shared, OutputMasks& outputs)
    : session_(session), info_(info), lanes_(lanes), shared_(shared), outputs_(outputs),
      blocks_(kNoFlips, lanes) {}

void MaskBlocks::set_inputs(const circuit::Round& round, Cursors& masks) {
  const ScopedSecret<Delta> delta(session_.global_key());
  for (const circuit::RoundInput& input : round.inputs) {
    const circuit::InputBundle& bundle = info_.inputs[input.bundle];
    if (bundle.source == circuit::InputSource::Shared) {
      shared_[input.bundle]->set_blocks(input, lanes_, blocks_);
      continue;
    }
    const auto owner = owner_of(bundle.source);
    for_each_part(bundle, lanes_, [&](std::size_t tile, std::size_t width) {
      Block* const g = blocks_.plane(tile, input.out, 0);
      Block* const h = blocks_.plane(tile, input.out, 1);
      for (std::size_t i = 0; i < width; ++i) {
        const HalfShares mask =
            owner ? take_mask(session_, *owner, masks[number_of(*owner)], delta) : HalfShares{};
        g[i] = mask.g;
        h[i] = mask.h;
      }
    });
  }
}

void MaskBlocks::evaluate(const Chunk& chunk, MaskedAnds& ands) {
  const ScopedSecret<Delta> delta(session_.global_key());
  const bool is_a = session_.me() == Party::A;
  for (SecretVector<Block>* blocks :
       {&ands.alpha_g, &ands.beta_g, &ands.s_g, &ands.macs.alpha, &ands.macs.beta, &ands.macs.s})
    blocks->resize(chunk.entries);
  (is_a ? take_result_masks<Party::A> : take_result_masks<Party::B>)(chunk, delta, ands);
  Cursors inputs{SliceCursor(chunk.inputs[0].masks), SliceCursor(chunk.inputs[1].masks)};
  std::size_t at = 0;
  for (const Piece& piece : chunk.pieces) {
    if (piece.begins) {
      blocks_.grow(*piece.round);
      set_inputs(*piece.round, inputs);
      blocks_.evaluate_invariant(piece.round->invariant_local);
      for (std::size_t tile = 0; tile < lanes_.tiles(); ++tile) {
        blocks_.evaluate_tile(piece.round->local, tile);
        for (const circuit::RoundOutput& output : piece.round->outputs)
          outputs_.take_blocks(output, tile, blocks_);
      }
    }
    for_each_and(
        piece, lanes_, [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
          read_operand(blocks_, tile, gate.in0, width, &ands.alpha_g[at], &ands.macs.alpha[at]);
          read_operand(blocks_, tile, gate.in1, width, &ands.beta_g[at], &ands.macs.beta[at]);
          Block* const h = blocks_.plane(tile, gate.out, 1);
          copy_blocks(&ands.s_g[at], width, blocks_.plane(tile, gate.out, 0));
          for (std::size_t i = 0; i < width; ++i) h[i] = ands.macs.s[at + i] ^ ands.s_g[at + i];
          at += width;
        });
  }
  (is_a ? combine<Party::A> : combine<Party::B>)(session_, chunk, delta, ands);
}

}  // namespace tinyot::online
