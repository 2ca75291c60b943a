#include "online/garbled/mask_blocks.h"

#include <algorithm>
#include <utility>

#include "checks/opening.h"
#include "online/garbled/half_shares.h"

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

// A column of the full triple at the cursor.
HalfShares column(Party me, const SliceCursor& at, std::size_t index, const Delta& delta) {
  const material::Batch& batch = at.batch();
  const std::size_t i = at.at();
  return half_shares(me, batch.mine[index].bits[i], batch.mine[index].macs[i],
                     batch.peers[index].keys[i], delta);
}

// s of each entry, from the masks gamma of the results, which stand in its place; and the openings
// onto the transcript.
void combine(checks::Session& session, const Chunk& chunk, MaskedAnds& ands) {
  const ScopedSecret<Delta> delta(session.global_key());
  const Block& key = session.global_key().value;
  const Party me = session.me();
  SliceCursor at(chunk.triples);
  SecretVector<MacShare> of_d(kOpeningStep), of_e(kOpeningStep);
  for (std::size_t done = 0; done < chunk.entries; done += kOpeningStep) {
    // The same steps at both parties, wherever their material is cut.
    const std::size_t count = std::min(kOpeningStep, chunk.entries - done);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t j = done + i;
      const bool d = chunk.d[j], e = chunk.e[j];
      const HalfShares of_u = column(me, at, 0, delta), of_v = column(me, at, 1, delta),
                       of_w = column(me, at, 2, delta);
      at.advance(1);
      of_d[i] = {ands.alpha_g[j] ^ ands.alpha_h[j] ^ of_u.g ^ of_u.h ^ times(key, d)};
      of_e[i] = {ands.beta_g[j] ^ ands.beta_h[j] ^ of_v.g ^ of_v.h ^ times(key, e)};
      const Block constant = times(key, d & e);  // in A's share of h, in B's of g
      ands.s_g[j] ^= of_w.g ^ times(of_v.g, d) ^ times(of_u.g, e) ^ times(constant, me == Party::B);
      ands.s_h[j] ^= of_w.h ^ times(of_v.h, d) ^ times(of_u.h, e) ^ times(constant, me == Party::A);
    }
    checks::absorb_opened(session, std::span(of_d).first(count));
    checks::absorb_opened(session, std::span(of_e).first(count));
  }
}

}  // namespace

GateMacs MaskedAnds::folded() && {
  for (std::size_t i = 0; i < alpha_g.size(); ++i) {
    alpha_g[i] ^= alpha_h[i];
    beta_g[i] ^= beta_h[i];
    s_g[i] ^= s_h[i];
  }
  return {std::move(alpha_g), std::move(beta_g), std::move(s_g)};
}

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

MaskedAnds MaskBlocks::evaluate(const Chunk& chunk) {
  const ScopedSecret<Delta> delta(session_.global_key());
  MaskedAnds ands(chunk.entries);
  Cursors results{SliceCursor(chunk.result_masks[0]), SliceCursor(chunk.result_masks[1])};
  for (std::size_t i = 0; i < chunk.entries; ++i) {
    const HalfShares of_a = take_mask(session_, Party::A, results[0], delta),
                     of_b = take_mask(session_, Party::B, results[1], delta);
    ands.s_g[i] = of_a.g ^ of_b.g;
    ands.s_h[i] = of_a.h ^ of_b.h;
  }
  Cursors inputs{SliceCursor(chunk.inputs[0].masks), SliceCursor(chunk.inputs[1].masks)};
  std::size_t at = 0;
  for (const Piece& piece : chunk.pieces) {
    if (piece.begins) {
      blocks_.grow(*piece.round);
      set_inputs(*piece.round, inputs);
      blocks_.evaluate_common(piece.round->common_local);
      for (std::size_t tile = 0; tile < lanes_.tiles(); ++tile) {
        blocks_.evaluate_tile(piece.round->local, tile);
        for (const circuit::RoundOutput& output : piece.round->outputs)
          outputs_.take_blocks(output, tile, blocks_);
      }
    }
    for_each_and(piece, lanes_,
                 [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                   blocks_.read(tile, gate.in0, 0, width, &ands.alpha_g[at]);
                   blocks_.read(tile, gate.in0, 1, width, &ands.alpha_h[at]);
                   blocks_.read(tile, gate.in1, 0, width, &ands.beta_g[at]);
                   blocks_.read(tile, gate.in1, 1, width, &ands.beta_h[at]);
                   copy_blocks(&ands.s_g[at], width, blocks_.plane(tile, gate.out, 0));
                   copy_blocks(&ands.s_h[at], width, blocks_.plane(tile, gate.out, 1));
                   at += width;
                 });
  }
  combine(session_, chunk, ands);
  return ands;
}

}  // namespace tinyot::online
