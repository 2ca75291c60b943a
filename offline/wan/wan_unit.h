// Units of the wan profile: triples from bits of a chain, with products of single bits, and aBits
// for inputs (doc/protocol.md, section 18.3).
//
// One pass makes B sets of leaky bit triples, piece by piece, of which only MAC shares are kept.
// The orders of the sets and the shifts of the layers are tossed; a second pass compares set 0 with
// the other sets, and a third one folds its layers. Units have no EQ: wrong guesses show in the MAC
// transcript.
#pragma once

#include "offline/unit/unit_maker.h"

namespace tinyot::offline {

// The number of leaky triples in set 0, and in each further set, of a unit of l triples.
std::uint64_t first_set_size(std::uint64_t l, std::uint32_t bucket);
std::uint64_t further_set_size(std::uint64_t l, std::uint32_t bucket);

// The cost of the pieces of bits and of the leaky triples made from them.
extern const StageCost kCostOfBitTriples;

class WanUnitMaker final : public UnitMaker {
 public:
  // `bits`: a stream may give bits in any number, without steps of its caller's.
  WanUnitMaker(const SecurityParameters& params, PipelineDepth depth,
               std::unique_ptr<BitSource> bits)
      : params_(params), depth_(depth), bits_(std::move(bits)) {}

  BitSource& bits() override { return *bits_; }

  // Wire: as the source for the bits; 1/4 byte per leaky triple, then as CoinToss and combine_sets.
  // Fails: PeerCheated("coin toss", "opened triple"), and as the source.
  std::unique_ptr<MadeUnit> make(checks::Session& part, std::size_t number,
                                 const UnitRequest& request) override;
  void stop() noexcept override { bits_->stop(); }

 private:
  SecurityParameters params_;
  PipelineDepth depth_;
  std::unique_ptr<BitSource> bits_;
};

}  // namespace tinyot::offline
