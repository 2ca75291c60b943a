// Units of the wan profile: triples from bits of a chain, with products of single bits, and aBits
// for inputs (doc/protocol.md, section 18.3).
//
// One pass makes B sets of leaky bit triples, piece by piece, of which only MAC shares are kept.
// The orders of the sets and the shifts of the layers are tossed; a second pass compares set 0 with
// the other sets, and a third one folds its layers. Units have no EQ: wrong guesses show in the MAC
// transcript.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "offline/triples/auth_triple.h"
#include "offline/unit/unit_maker.h"
#include "offline/wan/triple_shares.h"

namespace tinyot::offline {

// The number of leaky triples in set 0, and in each further set, of a unit of l triples.
std::uint64_t first_set_size(std::uint64_t l, std::uint32_t bucket);
std::uint64_t further_set_size(std::uint64_t l, std::uint32_t bucket);

// The cost of the pieces of bits and of the leaky triples made from them.
extern const StageCost kCostOfBitTriples;

// Memory of a unit, reused from unit to unit: page faults on fresh memory take a tenth of a unit's
// time. Its content is arbitrary.
struct WanUnitMemory {
  std::vector<TripleSet> sets;
  std::vector<TripleLayer> layers;
};

// All calls may come from any thread.
class WanUnitMemories {
 public:
  WanUnitMemory take() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {};
    WanUnitMemory memory = std::move(spare_.back());
    spare_.pop_back();
    return memory;
  }
  void release(WanUnitMemory memory) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      spare_.push_back(std::move(memory));
    } catch (...) {
      // It is freed instead.
    }
  }

 private:
  std::mutex mutex_;
  std::vector<WanUnitMemory> spare_;
};

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
  WanUnitMemories memories_;
};

}  // namespace tinyot::offline
