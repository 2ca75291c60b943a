// The rounds of a circuit in chunks of entries: what is sent at a time.
//
// An entry is an AND in one lane. Entries are counted over the run in the order of the interactive
// phase: tile by tile of a round, then its invariant ANDs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/bit_stream.h"
#include "base/bit_vector.h"
#include "circuitgen/layering.h"
#include "online/lanes.h"
#include "online/material_reader.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::online {

// Indexes arrays of both parties' things.
constexpr std::size_t number_of(Party party) { return static_cast<std::size_t>(party); }

// Some ANDs of a round. The first piece of a round begins with its inputs, local gates and outputs.
struct Piece {
  std::shared_ptr<circuit::Round> round;  // not changed while a piece has it
  std::size_t first = 0, end = 0;  // ANDs: of all tiles, one after the other, then invariant ones
  bool begins = false;
  std::size_t entries = 0;
  std::size_t load = 0;  // entries, and what its local gates and inputs take, as so many entries
};

// Calls use(tile, gate, width) for the ANDs of a piece in the order of their entries.
template <class Use>
void for_each_and(const Piece& piece, const Lanes& lanes, Use use) {
  const std::vector<circuit::RoundAnd>& ands = piece.round->ands;
  const std::size_t of_tiles = lanes.tiles() * ands.size();
  for (std::size_t at = piece.first; at < piece.end; ++at) {
    if (at < of_tiles)
      use(at / ands.size(), ands[at % ands.size()], lanes.width(at / ands.size()));
    else
      use(std::size_t{0}, piece.round->invariant_ands[at - of_tiles], std::size_t{1});
  }
}

// The inputs of a chunk from one source, entry by entry (mask_pass.h).
struct MaskedInputs {
  std::size_t count = 0;
  material::Slices masks;      // none of public inputs, whose masks are 0
  BitVector masked;            // L = x ^ mask
  SecretVector<Block> labels;  // X_0 at B, X_L at A
};

// The sources of inputs that have labels of their own: a party; and, where the labels are made
// before the inputs are known, both.
constexpr std::size_t kPublicInputs = 2, kLabelSources = 3;

struct Chunk {
  std::vector<Piece> pieces;
  std::uint64_t first = 0;  // entry of the run
  std::size_t entries = 0, load = 0;

  // Set by the mask pass.
  std::array<MaskedInputs, kLabelSources> inputs;  // by the number of their owner, then public ones
  material::Slices triples;                        // [u], [v], [w]
  std::array<material::Slices, 2> result_masks;    // of A's bits, of B's
  BitVector d, e;                                  // my shares; once received, the opened bits
};

// L of the inputs of A and of B, entry by entry.
inline std::array<BitReader, 2> masked_inputs(const Chunk& chunk) {
  return {BitReader(chunk.inputs[0].masked.words()), BitReader(chunk.inputs[1].masked.words())};
}

// Passes each chunk on when it is full: after a round, with a load of at least kEntriesMin; or
// within a round, with at most kEntriesMax entries.
class Chunker final : public circuit::RoundSink {
 public:
  static constexpr std::size_t kEntriesMin = std::size_t{1} << 13,
                               kEntriesMax = std::size_t{1} << 16;
  using Receiver = std::function<void(Chunk)>;

  // `entries_max`: kEntriesMax, or less in tests.
  Chunker(const Lanes& lanes, std::size_t entries_min, std::size_t entries_max, Receiver receiver)
      : lanes_(lanes), min_(entries_min), max_(entries_max), receiver_(std::move(receiver)) {}

  void round(circuit::Round& round) override;
  // Uses the memory of a chunk that nobody needs again.
  void recycle(Chunk chunk);
  // The last chunk, if there is something in it.
  void finish();

 private:
  static constexpr std::size_t kGatesOfAnEntry = 4;  // local gates that weigh as much

  void add(Piece piece);
  void pass_on();

  Lanes lanes_;
  std::size_t min_, max_;
  Receiver receiver_;
  Chunk chunk_;
  std::vector<std::shared_ptr<circuit::Round>> spare_;
};

}  // namespace tinyot::online
