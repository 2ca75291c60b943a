// Security parameters and every size derived from them, each beside the inequality that it
// satisfies.
//
// Source: NNOB12 Theorem 2 (columns), Theorem 6 (buckets), section 6 (the experiment's columns);
// PROTOCOL section 7 (layers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/risk.h"

namespace tinyot {

enum class Profile : std::uint8_t { Nnob12 = 0, Fast = 1 };
std::string_view name_of(Profile profile);

// How many columns tau LaBit keeps: by Theorem 2 (tau = 22 psi / 3), or as the paper's own
// experiments did (tau = 8 psi / 3).
enum class Columns : std::uint8_t { Theorem = 0, Experiment = 1 };
std::string_view name_of(Columns columns);

// What an AND takes online: two aANDs, two aOTs and two aBits, or one triple.
enum class MaterialForm : std::uint8_t { Pairs = 0, Triples = 1 };
std::string_view name_of(MaterialForm form);

// Theorem 6: l leaky objects of each bucket position, permuted together, are secure to (log2(l) +
// 1)(B - 1) bits.
double paper_bound_bits(std::uint64_t l, std::uint32_t bucket);

// -log2 of the expected number of wholly leaked buckets under the best attack:
//   eps(l, B) = max over t of 2^-t . l . C(t, B) / C(B l, B), reached at t = 2B - 1 (as far as
//   there are that many objects).
double exact_bound_bits(std::uint64_t l, std::uint32_t bucket);

// The same for layers of l that are shifted cyclically against each other (offline/layer_shifts):
// one attack a layer is best, 2^-B . l^(1-B).
double layers_bound_bits(std::uint64_t l, std::uint32_t bucket);

// What is asked for; make() turns it into parameters or refuses.
struct ParameterRequest {
  Profile profile = Profile::Nnob12;
  Columns columns = Columns::Theorem;
  std::uint32_t sigma = 40;  // bits, 40..128
  // ANDs permuted together, 1..2^24; 2^18 if absent, 2^20 with the fast profile
  std::optional<std::uint64_t> unit = std::nullopt;
  std::optional<std::uint32_t> bucket = std::nullopt;  // smallest_bucket if absent
  bool weak_allowed = false;
  std::uint32_t workers = 1;  // units that are in flight at a time
  std::uint32_t shards = 1;   // of the session, which share its sigma
  // pairs if absent, triples with the fast profile, which makes nothing else
  std::optional<MaterialForm> material = std::nullopt;
  // bits of the global key a GGM tree, 1, 2 or 4: traffic falls and work grows with it
  std::uint32_t softspoken_k = 2;
};

inline constexpr std::uint64_t kUnitMax = std::uint64_t{1} << 24;
// ANDs of a unit where nothing speaks for another size.
constexpr std::uint64_t usual_unit(Profile profile) {
  return std::uint64_t{1} << (profile == Profile::Fast ? 20 : 18);
}

// One unit of preprocessing: `ands` objects of each kind made from `bucket` times as many leaky
// ones.
struct UnitPlan {
  std::uint64_t ands;
  std::uint32_t bucket;

  friend bool operator==(const UnitPlan&, const UnitPlan&) = default;
};

class SecurityParameters {
 public:
  // Fails: UsageError naming the parameter, its range or the bound that it misses.
  static SecurityParameters make(const ParameterRequest& request);

  Profile profile() const { return request_.profile; }
  Columns columns() const { return request_.columns; }
  std::uint32_t sigma() const { return request_.sigma; }
  std::uint64_t unit() const { return *request_.unit; }
  std::uint32_t bucket() const { return bucket_; }
  bool weak_allowed() const { return request_.weak_allowed; }
  MaterialForm material() const { return *request_.material; }
  std::uint32_t softspoken_k() const { return request_.softspoken_k; }

  // l, the leaky objects of each bucket position that a unit of so many ANDs combines: with the
  // fast profile they fill blocks.
  std::uint64_t population(std::uint64_t ands) const;
  // What such a unit reaches by the paper's bound, which sigma is held to.
  double bound_bits(std::uint64_t ands, std::uint32_t bucket) const;
  // The same exactly, by the way in which this profile combines its objects.
  double exact_bits(std::uint64_t ands, std::uint32_t bucket) const;
  // Smallest B with bound_bits >= sigma that leaves room for the units in flight and kUnitsSpare
  // broken ones (base/risk.h).
  std::uint32_t smallest_bucket(std::uint64_t ands) const;

  static constexpr std::uint32_t kUnitsSpare = 3;
  // e(l, B) of such a unit.
  Risk risk(const UnitPlan& plan) const;
  // What the outstanding units of a store may sum up to: 2^-sigma, shared by the shards.
  Risk risk_limit() const;
  // How many such units may be outstanding, in flight or broken off.
  double units_outstanding_max(const UnitPlan& plan) const;
  // The plan, or the same with the smallest larger bucket, that keeps within the limit beside what
  // is outstanding. Empty if no bucket up to bucket_limit does. With weak_allowed, the plan.
  std::optional<UnitPlan> within(const UnitPlan& plan, const Risk& outstanding) const;
  std::uint32_t bucket_limit(const UnitPlan& plan) const { return plan.bucket + 2; }

  // tau: columns that LaBit outputs. Theorem: >= 22 psi / 3, so that after a quarter of them leaked
  // R still hides Delta.
  std::uint32_t columns_kept() const;
  // T = 2 tau: columns that LaBit starts from, one seed OT each.
  std::uint32_t columns_made() const { return 2 * columns_kept(); }

  // Units that make `ands` ANDs: full ones, then a smaller one. The smaller one is a population of
  // its own, so Theorem 6 is applied to its own l: it gets smallest_bucket there, if that is more
  // than bucket().
  std::vector<UnitPlan> plan(std::uint64_t ands) const;

 private:
  SecurityParameters() = default;
  bool is_strong(std::uint64_t ands, std::uint32_t bucket, std::uint64_t outstanding) const;
  ParameterRequest request_;
  std::uint32_t bucket_ = 0;
};

}  // namespace tinyot
