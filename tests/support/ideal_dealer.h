// The ideal dealer of NNOB12 Fig. 5: material for both parties from one seed, without any protocol.
#pragma once

#include <map>

#include "crypto/rng.h"
#include "material/material.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// One party's dealer. Two dealers with the same seed and opposite parties deal the two halves of
// the same objects, whatever the order in which kinds are drawn.
class IdealDealer : public material::Source {
 public:
  IdealDealer(Party me, std::uint64_t seed, Delta held_by_a, Delta held_by_b);

  material::Batch draw(MaterialKind kind, std::size_t count) override;

  MaterialCounts dealt;

 private:
  Party me_;
  Delta held_by_a_, held_by_b_;
  std::map<MaterialKind, Rng> streams_;
};

}  // namespace tinyot::test
