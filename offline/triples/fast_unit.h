// Units of the fast profile: triples from SoftSpoken bits, and aBits for inputs (doc/protocol.md,
// section 10.4).
//
// One pass makes B layers of l leaky triples, each from 3 l bits per direction, batch by batch. A
// second pass folds the shifted layers into layer 0. One EQ checks all leaky triples before the
// coins for the shifts are tossed.
#pragma once

#include "offline/softspoken/bit_source.h"
#include "offline/softspoken/ggm_trees.h"
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

// Of a batch of bits and the leaky triples made from it.
PieceCost cost_of_triples(std::uint32_t softspoken_k);

class FastUnitMaker final : public UnitMaker {
 public:
  FastUnitMaker(checks::Session& session, const SecurityParameters& params, const Sharing& sharing)
      : session_(session), params_(params), pace_(sharing.pace), bulk_(sharing.in_bulk),
        layers_(sharing.in_bulk, sharing.workers - sharing.in_bulk) {}

  void set_reference_bits(AuthBits reference) override {
    delta_check_.set_reference_bits(std::move(reference));
  }
  AuthBits make_reference_bits() override;
  const AuthBits* reference() const override { return delta_check_.reference(); }
  // Role: both. Wire: as make_trees, then a batch of bits. These become the reference bits, or are
  // checked against those of an earlier connection.
  void prepare(std::size_t units) override;

  // Wire: as SoftSpokenMacHolder for the bits; 16 1/8 bytes per leaky triple; 1/8 byte per leaky
  // triple except those of layer 0; an EQ and a coin toss.
  // Fails: PeerCheated("SoftSpoken check", "EQ of leaky triples", "coin toss", "EQ of global key").
  std::unique_ptr<MadeUnit> make(checks::Session& part, std::size_t number,
                                 const UnitRequest& request) override;
  void skip() override { bulk_.end(); }
  void stop() noexcept override {
    bulk_.stop();
    layers_.stop();
  }

 private:
  AuthBits first_bits();

  checks::Session& session_;
  SecurityParameters params_;
  Trees trees_;
  DeltaConsistency delta_check_;
  Pace pace_;
  BulkTurns bulk_;  // leaky triples
  LayerPool layers_;
};

}  // namespace tinyot::offline
