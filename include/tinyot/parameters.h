// How material is made, and how secure it is.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tinyot/export.h"

namespace tinyot {

// Nnob12: the paper's protocols. Fast: SoftSpokenOT and layered triples. Wan: silent bits and bit
// triples, a twentieth of the traffic for six times the computation, and the assumption that LPN is
// hard.
enum class Profile : std::uint8_t { Nnob12 = 0, Fast = 1, Wan = 2 };
TINYOT_API std::string_view name_of(Profile profile);
TINYOT_API std::vector<Profile> all_profiles();
// Fails: UsageError that lists the names.
TINYOT_API Profile profile_named(std::string_view name);

// tau, the columns that LaBit keeps: by Theorem 2 (tau = 22 psi / 3), or as in the paper's
// experiments (tau = 8 psi / 3).
enum class Columns : std::uint8_t { Theorem = 0, Experiment = 1 };
TINYOT_API std::string_view name_of(Columns columns);

// What an AND consumes online: two aANDs, two aOTs and two aBits; or one triple; or, on material
// for garbling, one full triple and an aBit of each party.
enum class AndMaterial : std::uint8_t { AandAot = 0, Triples = 1, Garbling = 2 };
inline constexpr std::array kAndMaterials = {AndMaterial::AandAot, AndMaterial::Triples,
                                             AndMaterial::Garbling};
TINYOT_API std::string_view name_of(AndMaterial form);
// Fails: UsageError that lists the names.
TINYOT_API AndMaterial material_named(std::string_view name);

// How a circuit is evaluated. Interactive: half a round trip or more a layer of ANDs (NNOB12 Fig.
// 6). Garbled: 4 or 5 half round trips for any circuit, and 32 bytes an AND; on material for
// garbling. Masked: as interactive, but what needs no inputs is opened before them, so that less is
// computed and sent after them; on triples, or on material for garbling.
enum class OnlinePhase : std::uint8_t { Interactive = 0, Garbled = 1, Masked = 2 };
TINYOT_API std::string_view name_of(OnlinePhase phase);
// A phase by its name; none for "auto", as an absent request is written. Fails: UsageError that
// lists the names.
TINYOT_API std::optional<OnlinePhase> requested_phase(std::string_view name);

// How a garbled run checks its rows if its inputs come later. Batched: the masked value of each AND
// returns to the garbler, and 4 or 5 half round trips follow the inputs. Early: every row carries
// strings that prove it, 18 bytes more an AND at sigma = 40, and 2 or 3 half round trips follow.
enum class RowCheck : std::uint8_t { Batched = 0, Early = 1 };
TINYOT_API std::string_view name_of(RowCheck check);

// The base OTs, which public-key cryptography makes once a connection. Ristretto: Diffie-Hellman in
// ristretto255. MlKem: ML-KEM-768, which a later quantum computer does not open in a recording of
// the session; with OpenSSL 3.5 or later.
enum class BaseOt : std::uint8_t { Ristretto = 0, MlKem = 1 };
TINYOT_API std::string_view name_of(BaseOt kind);
// One by its name; none for "auto", as an absent request is written. Fails: UsageError that lists
// the names.
TINYOT_API std::optional<BaseOt> requested_base_ot(std::string_view name);

// Where authenticated bits come from: SoftSpokenOT, or silent, for 0.4 to 2.6 bits of traffic.
enum class BitsFrom : std::uint8_t { SoftSpoken = 0, Silent = 1 };
TINYOT_API std::string_view name_of(BitsFrom bits);

// The parameter sets of silent bits (doc/wan_profile.md). S10 to S13 are retired: stores and peers
// may name them, and nothing is made with them.
enum class LpnSet : std::uint8_t {
  S10 = 0,
  S11 = 1,
  S12 = 2,
  S13 = 3,
  B9 = 4,
  B10 = 5,
  B11 = 6,
  B12 = 7
};
TINYOT_API std::string_view name_of(LpnSet set);

// The parameters that one profile has and the others do not.
struct Nnob12Parameters {
  Columns columns = Columns::Theorem;
  friend bool operator==(const Nnob12Parameters&, const Nnob12Parameters&) = default;
};
struct FastParameters {
  // Bits of the global key per GGM tree, 1, 2 or 4: with more, less traffic and more computation.
  // If absent, the parties take what suits the rate of their link; material does not depend on it.
  std::optional<std::uint32_t> softspoken_k = std::nullopt;
  BitsFrom abits = BitsFrom::SoftSpoken;
  LpnSet silent_set = LpnSet::B12;  // of silent bits
  friend bool operator==(const FastParameters&, const FastParameters&) = default;
};
struct WanParameters {
  std::uint32_t softspoken_k = 4;  // for the start of a chain of silent bits
  LpnSet silent_set = LpnSet::B12;
  friend bool operator==(const WanParameters&, const WanParameters&) = default;
};
using ProfileParameters = std::variant<Nnob12Parameters, FastParameters, WanParameters>;

// The LPN assumption on which silent bits rest: the set, log2 of the operations on words of the
// least attack known, and whether the set is retired. Empty if the material is made without.
struct LpnAssumption {
  LpnSet set;
  double bits;
  bool is_retired;
};
TINYOT_API std::optional<LpnAssumption> lpn_of(const ProfileParameters& parameters);

// One of these by its name, as parties compare it, stores keep it and reports show it.
struct NamedValue {
  std::string name, value;
  friend bool operator==(const NamedValue&, const NamedValue&) = default;
};
// Fails: UsageError if the parameters are those of another profile.
TINYOT_API std::vector<NamedValue> named_values(Profile profile,
                                                const ProfileParameters& parameters);
// Those that are not given have the profile's defaults. Fails: UsageError for a name that the
// profile does not have, and for a value that the parameter cannot have.
TINYOT_API ProfileParameters own_parameters(Profile profile, std::span<const NamedValue> values);
TINYOT_API bool has_parameter(Profile profile, std::string_view name);

// B: the number of leaky objects that make one, on each level on which a profile combines them.
class BucketSizes {
 public:
  static constexpr std::size_t kLevelsMax = 2;

  constexpr BucketSizes() = default;                                          // on no level
  constexpr BucketSizes(std::uint32_t only) : levels_(1), sizes_{only, 0} {}  // NOLINT: implicit
  constexpr BucketSizes(std::uint32_t first, std::uint32_t second)
      : levels_(2), sizes_{first, second} {}

  constexpr std::size_t levels() const { return levels_; }
  constexpr std::span<const std::uint32_t> sizes() const {
    return std::span(sizes_).first(levels_);
  }
  // Returns the bucket size of a profile with one level.
  constexpr std::uint32_t only() const { return sizes_[0]; }
  // "3", or "3+4" on two levels.
  TINYOT_API std::string text() const;

  // Compares the first level, then the second.
  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison with 0
  friend constexpr auto operator<=>(const BucketSizes&, const BucketSizes&) = default;

 private:
  std::size_t levels_ = 0;
  std::array<std::uint32_t, kLevelsMax> sizes_{};
};

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
  std::optional<ProfileParameters> own = std::nullopt;  // the profile's; its defaults if absent
  std::uint32_t sigma = 40;                             // bits, 40..128
  // ANDs permuted together, 1..2^24; if absent, 2^18 with nnob12 and 2^20 else
  std::optional<std::uint64_t> unit = std::nullopt;
  std::optional<BucketSizes> bucket = std::nullopt;  // the smallest that suffices if absent
  bool weak_allowed = false;
  std::uint32_t workers = 1;  // units in progress at a time
  std::uint32_t shards = 1;   // of the session; they share its sigma
  // if absent, pairs with nnob12 and triples with the other profiles
  std::optional<AndMaterial> material = std::nullopt;
  // if absent, what the peer asks for, or MlKem if both parties have it
  std::optional<BaseOt> base_ot = std::nullopt;
};

}  // namespace tinyot
