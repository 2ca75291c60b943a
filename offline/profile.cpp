#include "offline/profile.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "offline/silent/parameter_sets.h"

namespace tinyot::offline {

const ProfileEntry& entry_of(Profile profile) {
  const auto all = profiles();
  const auto found = std::ranges::find(all, profile, &ProfileEntry::profile);
  ENSURE(found != all.end());
  return **found;
}

}  // namespace tinyot::offline

namespace tinyot {

std::string_view name_of(Profile profile) { return offline::entry_of(profile).name; }

std::vector<Profile> all_profiles() {
  std::vector<Profile> all;
  for (const offline::ProfileEntry* entry : offline::profiles()) all.push_back(entry->profile);
  return all;
}

Profile profile_named(std::string_view name) {
  std::string known;
  for (const offline::ProfileEntry* entry : offline::profiles()) {
    if (name == entry->name) return entry->profile;
    known += (known.empty() ? "" : " or ") + std::string(entry->name);
  }
  throw UsageError("there is no profile '" + std::string(name) + "'; a profile is " + known);
}

std::string_view name_of(Columns columns) {
  return columns == Columns::Theorem ? "theorem" : "experiment";
}

std::string_view name_of(BitsFrom bits) {
  return bits == BitsFrom::SoftSpoken ? "softspoken" : "silent";
}

std::string_view name_of(BaseOt kind) { return kind == BaseOt::MlKem ? "ml-kem" : "ristretto"; }

std::optional<BaseOt> requested_base_ot(std::string_view name) {
  if (name == "auto") return std::nullopt;
  for (const BaseOt kind : {BaseOt::MlKem, BaseOt::Ristretto})
    if (name == name_of(kind)) return kind;
  throw UsageError("there are no base OTs '" + std::string(name) +
                   "'; they are ml-kem, ristretto or auto");
}

std::vector<NamedValue> named_values(Profile profile, const ProfileParameters& parameters) {
  const offline::ProfileEntry& entry = offline::entry_of(profile);
  if (parameters.index() != entry.own.index())
    throw UsageError("the parameters are those of another profile than " + std::string(entry.name));
  return entry.named(parameters);
}

bool has_parameter(Profile profile, std::string_view name) {
  const std::span<const std::string_view> known = offline::entry_of(profile).parameters;
  return std::ranges::find(known, name) != known.end();
}

ProfileParameters own_parameters(Profile profile, std::span<const NamedValue> values) {
  const offline::ProfileEntry& entry = offline::entry_of(profile);
  ProfileParameters parameters = entry.own;
  for (const NamedValue& value : values) {
    if (!has_parameter(profile, value.name))
      throw UsageError("the " + std::string(entry.name) + " profile has no parameter '" +
                       value.name + "'");
    entry.set(parameters, value);
  }
  return parameters;
}

std::optional<LpnAssumption> lpn_of(const ProfileParameters& parameters) {
  const auto of_set = [](LpnSet set) {
    const offline::RetiredSet* retired = offline::find_retired(set);
    return LpnAssumption{
        set, retired != nullptr ? retired->lpn_bits : offline::silent_set(set).lpn_bits,
        retired != nullptr};
  };
  if (const auto* wan = std::get_if<WanParameters>(&parameters)) return of_set(wan->silent_set);
  const auto* fast = std::get_if<FastParameters>(&parameters);
  if (fast != nullptr && fast->abits == BitsFrom::Silent) return of_set(fast->silent_set);
  return std::nullopt;
}

}  // namespace tinyot
