// Units of the fast profile: triples from a source of bits, and aBits for inputs (doc/protocol.md,
// section 10.4).
//
// One pass makes B layers of l leaky triples, each from 3 l bits per direction, batch by batch. A
// second pass folds the shifted layers into layer 0. One EQ checks all leaky triples before the
// coins for the shifts are tossed.
#pragma once

#include "offline/softspoken/softspoken.h"
#include "offline/triples/auth_triple.h"
#include "offline/triples/layer_pool.h"
#include "offline/unit/schedule.h"
#include "offline/unit/unit_maker.h"

namespace tinyot::offline {

// Leaky triples made from one batch of bits.
inline constexpr std::size_t kBatchTriples = kBatchBits / 3;
static_assert(kBatchTriples % kKappa == 0);
// Triples folded at a time.
inline constexpr std::size_t kFoldTriples = std::size_t{1} << 12;

// The cost of one batch of bits and of the leaky triples made from it.
StageCost cost_of_triples(StageCost of_batch);

class FastUnitMaker final : public UnitMaker {
 public:
  FastUnitMaker(const SecurityParameters& params, const LinkSchedule& schedule,
                std::unique_ptr<BitSource> bits)
      : params_(params), bits_(std::move(bits)), depth_(schedule.depth),
        sending_(schedule.sending_max),
        layers_(schedule.sending_max, schedule.workers - schedule.sending_max) {}

  BitSource& bits() override { return *bits_; }

  // Wire: as the source for the bits; 16 1/8 bytes per leaky triple; 1/8 byte per leaky
  // triple except those of layer 0; an EQ and a coin toss.
  // Fails: PeerCheated("EQ of leaky triples", "coin toss"), and as the source.
  std::unique_ptr<MadeUnit> make(checks::Session& part, std::size_t number,
                                 const UnitRequest& request) override;
  void skip() override { sending_.end(); }
  void stop() noexcept override {
    bits_->stop();
    sending_.stop();
    layers_.stop();
  }

 private:
  SecurityParameters params_;
  std::unique_ptr<BitSource> bits_;
  PipelineDepth depth_;
  SendPhaseSemaphore sending_;  // leaky triples
  LayerPool layers_;
};

}  // namespace tinyot::offline
