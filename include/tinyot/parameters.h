// How material is made, and how secure it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tinyot {

// Nnob12: the paper's protocols. Fast: SoftSpokenOT and layered triples.
enum class Profile : std::uint8_t { Nnob12 = 0, Fast = 1 };
std::string_view name_of(Profile profile);
std::vector<Profile> all_profiles();
// Fails: UsageError that lists the names.
Profile profile_named(std::string_view name);

// tau, the columns that LaBit keeps: by Theorem 2 (tau = 22 psi / 3), or as in the paper's
// experiments (tau = 8 psi / 3).
enum class Columns : std::uint8_t { Theorem = 0, Experiment = 1 };
std::string_view name_of(Columns columns);

// What an AND consumes online: two aANDs, two aOTs and two aBits, or one triple.
enum class MaterialForm : std::uint8_t { Pairs = 0, Triples = 1 };
std::string_view name_of(MaterialForm form);

// What the amounts of a preprocessing job mean.
enum class Amount : std::uint8_t {
  Total,  // in the store in total, including earlier calls
  More,   // in addition to what a complete store has been given
  Left,   // unused in the store when the job ends; material is made only if less is left
};

// Requested values. Absent ones are chosen to fit the others; a combination that does not reach
// sigma is refused with UsageError.
struct ParameterRequest {
  Profile profile = Profile::Nnob12;
  Columns columns = Columns::Theorem;
  std::uint32_t sigma = 40;  // bits, 40..128
  // ANDs permuted together, 1..2^24; 2^18 if absent, 2^20 with the fast profile
  std::optional<std::uint64_t> unit = std::nullopt;
  std::optional<std::uint32_t> bucket = std::nullopt;  // smallest_bucket if absent
  bool weak_allowed = false;
  std::uint32_t workers = 1;  // units in progress at a time
  std::uint32_t shards = 1;   // of the session; they share its sigma
  // pairs if absent; triples with the fast profile, which makes nothing else
  std::optional<MaterialForm> material = std::nullopt;
  // bits of the global key per GGM tree, 1, 2 or 4: with more, less traffic and more computation
  std::uint32_t softspoken_k = 2;
};

}  // namespace tinyot
