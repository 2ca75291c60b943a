// Security parameters and every size derived from them, each beside the inequality that it satisfies.
//
// Source: NNOB12 Theorem 2 (columns), Theorem 6 (buckets), section 6 (the experiment's columns).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tinyot {

enum class Profile : std::uint8_t { Nnob12 = 0, Fast = 1 };
std::string_view name_of(Profile profile);

// How many columns tau LaBit keeps: by Theorem 2 (tau = 22 psi / 3), or as the paper's own experiments did (tau = 8 psi / 3).
enum class Columns : std::uint8_t { Theorem = 0, Experiment = 1 };
std::string_view name_of(Columns columns);

// Theorem 6: l leaky objects of each bucket position, permuted together, are secure to (log2(l) + 1)(B - 1) bits.
double paper_bound_bits(std::uint64_t l, std::uint32_t bucket);

// -log2 of the expected number of wholly leaked buckets under the best attack:
//   eps(l, B) = max over t of 2^-t . l . C(t, B) / C(B l, B), reached at t = 2B - 1 (as far as there are that many objects).
double exact_bound_bits(std::uint64_t l, std::uint32_t bucket);

// The same for layers that are shifted cyclically instead of permuted, one attack a layer: 2^-B . l^(1-B). PROTOCOL section 7.
double layers_bound_bits(std::uint64_t l, std::uint32_t bucket);

// Smallest B with paper_bound_bits(l, B) >= sigma.
std::uint32_t smallest_bucket(std::uint64_t l, std::uint32_t sigma);

// What is asked for; make() turns it into parameters or refuses.
struct ParameterRequest {
  Profile profile = Profile::Nnob12;
  Columns columns = Columns::Theorem;
  std::uint32_t sigma = 40;                // bits, 40..128
  std::uint64_t unit = std::uint64_t{1} << 18;  // ANDs permuted together, 1..2^24
  std::optional<std::uint32_t> bucket = std::nullopt;  // smallest that reaches sigma if absent
  bool weak_allowed = false;
  std::uint32_t softspoken_k = 2;  // bits of the global key a GGM tree, 1, 2 or 4: traffic falls and work grows with it
};

// One unit of preprocessing: `ands` objects of each kind made from `bucket` times as many leaky ones.
struct UnitPlan {
  std::uint64_t ands;
  std::uint32_t bucket;
};

class SecurityParameters {
 public:
  // Fails: UsageError naming the parameter, its range or the bound that it misses.
  static SecurityParameters make(const ParameterRequest& request);

  Profile profile() const { return request_.profile; }
  Columns columns() const { return request_.columns; }
  std::uint32_t sigma() const { return request_.sigma; }
  std::uint64_t unit() const { return request_.unit; }
  std::uint32_t bucket() const { return bucket_; }
  bool weak_allowed() const { return request_.weak_allowed; }
  std::uint32_t softspoken_k() const { return request_.softspoken_k; }

  // What a unit of l ANDs reaches exactly, by the way in which this profile combines its objects.
  double exact_bits(std::uint64_t l, std::uint32_t bucket) const;

  // tau: columns that LaBit outputs. Theorem: >= 22 psi / 3, so that after a quarter of them leaked R still hides Delta.
  std::uint32_t columns_kept() const;
  // T = 2 tau: columns that LaBit starts from, one seed OT each.
  std::uint32_t columns_made() const { return 2 * columns_kept(); }

  // Units that make `ands` ANDs: full ones, then a smaller one. The smaller one is a population of its own, so Theorem 6 is
  // applied to its own l: it gets the smallest bucket that reaches sigma there, if that is more than bucket().
  std::vector<UnitPlan> plan(std::uint64_t ands) const;

 private:
  SecurityParameters() = default;
  ParameterRequest request_;
  std::uint32_t bucket_ = 0;
};

}  // namespace tinyot
