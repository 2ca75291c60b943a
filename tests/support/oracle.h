// The common oracle of the tests: MAC == key ^ bit.Delta, and the relation of each kind of
// material.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "material/material.h"
#include "tests/support/blocks.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// A sink that stores one party's material in memory.
class MemorySink : public material::Sink {
 public:
  void pour(material::Batch batch) override { open_[batch.kind].push_back(std::move(batch)); }
  void finish_unit() override {
    for (auto& [kind, batches] : open_)
      for (auto& batch : batches) made[kind].push_back(std::move(batch));
    open_.clear();
    ++units;
  }
  std::map<MaterialKind, std::vector<material::Batch>> made;
  int units = 0;

 private:
  std::map<MaterialKind, std::vector<material::Batch>> open_;
};

// The bits of one column, after checking each of its MACs. `delta` is the key holder's.
std::vector<bool> checked_bits(const MacColumn& mine, const KeyColumn& peers, Delta delta);

// The opened bits of a shared column, after checking that the shares of their MACs add up to
// x.(held_by_a ^ held_by_b).
std::vector<bool> checked_bits(const AuthShares& of_a, const AuthShares& of_b, Delta held_by_a,
                               Delta held_by_b);

// Checks both halves of a batch: MACs, the kind's relation, and that each column of random bits is
// balanced within six standard deviations (from 1,000 objects on).
void expect_good(const material::Batch& of_a, const material::Batch& of_b, Delta held_by_a,
                 Delta held_by_b);

// Checks all material of two parties; returns the counts.
MaterialCounts expect_good(const MemorySink& a, const MemorySink& b, Delta held_by_a,
                           Delta held_by_b);

}  // namespace tinyot::test
