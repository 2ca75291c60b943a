// How secure material is: what it was made with, and what that reaches.
#pragma once

#include <cstdint>
#include <vector>

#include "tinyot/parameters.h"

namespace tinyot {

struct Security {
  // Units of one size and bucket, with the statistical security of each, in bits: by the paper's
  // bound, and exact.
  struct Units {
    std::uint64_t ands = 0;
    BucketSizes bucket;
    std::uint64_t count = 0;
    double bound_paper = 0, bound_exact = 0;
  };

  Profile profile = Profile::Nnob12;
  AndMaterial material = AndMaterial::AandAot;
  // Of the profile. Of a job or a live run, as fitted to its link; of a store, as it was begun
  // with.
  ProfileParameters own;
  std::uint32_t sigma = 0;                        // bits, as requested
  double sigma_paper_bound = 0, sigma_exact = 0;  // bits, the least over the units made so far
  std::uint32_t kappa = 0;  // bits of a global key that its peer does not know
  BucketSizes bucket;       // B, of the last job's full units
  std::uint64_t unit = 0;   // ANDs permuted together, of the last job
  std::vector<Units> units;
  // Units that were begun and not finished, the probability that a guess of the peer in them
  // succeeded, and its limit.
  std::uint64_t outstanding = 0;
  double risk = 0, risk_limit = 0;
};

}  // namespace tinyot
