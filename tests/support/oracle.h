// The one judge of tests: MAC == key ^ bit.Delta, and the relation that a kind of material
// promises.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/material.h"
#include "tests/support/blocks.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// A sink that keeps what one party made.
class MemorySink : public MaterialSink {
 public:
  void pour(MaterialBatch batch) override { open_[batch.kind].push_back(std::move(batch)); }
  void finish_unit() override {
    for (auto& [kind, batches] : open_)
      for (auto& batch : batches) made[kind].push_back(std::move(batch));
    open_.clear();
    ++units;
  }
  std::map<MaterialKind, std::vector<MaterialBatch>> made;
  int units = 0;

 private:
  std::map<MaterialKind, std::vector<MaterialBatch>> open_;
};

// The bits of one column, after checking each of its MACs. `delta` is the key holder's.
std::vector<bool> checked_bits(const AuthBitsMine& mine, const AuthBitsPeers& peers, Delta delta);

// The opened bits of a shared column, after checking that the shares of their MACs add up to
// x.(held_by_a ^ held_by_b).
std::vector<bool> checked_bits(const AuthShares& of_a, const AuthShares& of_b, Delta held_by_a,
                               Delta held_by_b);

// Checks a pair of halves of one batch: MACs, the kind's relation, and that each bit column is
// balanced within six standard deviations (if there are at least 1,000 objects).
void expect_good(const MaterialBatch& of_a, const MaterialBatch& of_b, Delta held_by_a,
                 Delta held_by_b);

// Checks everything two parties made; returns the counts.
MaterialCounts expect_good(const MemorySink& a, const MemorySink& b, Delta held_by_a,
                           Delta held_by_b);

}  // namespace tinyot::test
