// The lists of security parameters of a bench.
#include <algorithm>

#include "base/error.h"
#include "tools/bench/bench.h"
#include "tools/cli/preprocess.h"

namespace tinyot::tools {
namespace {

// Combines each point that the option concerns with each value.
template <class Value, class Set, class Concerned>
void vary(std::vector<ParameterRequest>& points, const std::vector<Value>& values, Set set,
          Concerned concerned) {
  std::vector<ParameterRequest> varied;
  for (const ParameterRequest& point : points) {
    if (!concerned(point)) {
      varied.push_back(point);
      continue;
    }
    for (const Value& value : values) {
      varied.push_back(point);
      set(varied.back(), value);
    }
  }
  points = std::move(varied);
}
template <class Value, class Set>
void vary(std::vector<ParameterRequest>& points, const std::vector<Value>& values, Set set) {
  vary(points, values, set, [](const ParameterRequest&) { return true; });
}

// Combines each point with those of the forms that its profile makes; with the profile's usual form
// if it makes none of them.
std::vector<ParameterRequest> with_materials(const std::vector<ParameterRequest>& points,
                                             const std::vector<AndMaterial>& forms) {
  std::vector<ParameterRequest> combined;
  for (const ParameterRequest& point : points) {
    const std::size_t before = combined.size();
    for (const AndMaterial form : forms) {
      const auto made = offline::entry_of(point.profile).materials;
      if (std::ranges::find(made, form) == made.end()) continue;
      combined.push_back(point);
      combined.back().material = form;
    }
    if (combined.size() == before) combined.push_back(point);
  }
  return combined;
}

std::uint32_t small(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

std::vector<BucketSizes> buckets_listed(const std::string& text) {
  std::vector<BucketSizes> buckets;
  for (const std::string& part : parse_names(text)) {
    if (part.find('+') != std::string::npos)
      buckets.push_back(bucket_from(part));
    else
      for (const std::uint64_t size : parse_sizes("bucket", part)) buckets.push_back(small(size));
  }
  return buckets;
}

// Whether the parameter has a meaning beside the others.
bool has_value(const ParameterRequest& point, const OwnOption& own) {
  const std::vector<NamedValue> named =
      named_values(point.profile, point.own ? *point.own : own_parameters(point.profile, {}));
  return std::ranges::find(named, own.parameter, &NamedValue::name) != named.end();
}

}  // namespace

void add_parameter_lists(Options& options, const ParameterLists& lists) {
  options.group("Security")
      .value("bucket", "bucket sizes, a list; default: the smallest that reaches sigma")
      .value("sigma", "statistical security, a list", "40")
      .value("profile", "nnob12, fast, wan, a list", lists.profile)
      .value("unit",
             "ANDs that are permuted together: a list, or 2^14..2^20; default: the profile's")
      .value("labit-columns", "nnob12: theorem, experiment or both", "theorem")
      .alias("columns")
      .value("material",
             "aand-aot, triples or garbling, a list; a profile that makes none of them makes its "
             "usual one",
             "aand-aot")
      .value("softspoken-k", "fast, wan: 1, 2, 4, a list; default: the profile's")
      .value("abits", "fast: softspoken, silent, a list", "softspoken")
      .value("silent-set", "wan, fast with silent bits: b9, b10, b11, b12, a list", "b12")
      .flag("allow-weak", "accept buckets that miss sigma; their rows say so");
}

std::vector<ParameterRequest> combined_parameters(const CommandLine& line,
                                                  const ParameterLists& lists) {
  // Every value is checked, even if no point of the other lists is concerned.
  const auto sizes = [&](const std::string& option) {
    return parse_sizes(option, line.text(option));
  };
  std::vector<Profile> profiles;
  for (const std::string& name :
       parse_names(line.is_explicit("profile") ? line.text("profile") : lists.profile))
    profiles.push_back(profile_from(name));
  std::vector<AndMaterial> materials;
  for (const std::string& name : parse_names(line.text("material")))
    materials.push_back(parse_material(name));
  std::vector<ParameterRequest> points(1);
  points[0].weak_allowed = line.has("allow-weak");
  vary(points, profiles, [](ParameterRequest& point, Profile profile) { point.profile = profile; });
  for (const OwnOption& own : kOwnOptions) {
    if (!line.has(own.option)) continue;
    const std::vector<std::string> names = parse_names(line.text(own.option));
    for (const Profile profile : all_profiles())
      for (ParameterRequest checked{.profile = profile}; const std::string& name : names)
        if (has_value(checked, own)) set_own(checked, own, name);
    vary(
        points, names,
        [&](ParameterRequest& point, const std::string& name) { set_own(point, own, name); },
        [&](const ParameterRequest& point) { return has_value(point, own); });
  }
  points = with_materials(points, materials);
  if (line.has("unit"))
    vary(points, sizes("unit"),
         [](ParameterRequest& point, std::uint64_t unit) { point.unit = unit; });
  vary(points, sizes("sigma"),
       [](ParameterRequest& point, std::uint64_t sigma) { point.sigma = small(sigma); });
  if (line.has("bucket"))
    vary(points, buckets_listed(line.text("bucket")),
         [](ParameterRequest& point, const BucketSizes& bucket) { point.bucket = bucket; });
  return points;
}

std::vector<ParameterRequest> parameters_listed(const CommandLine& line,
                                                const ParameterLists& lists) {
  return reaching_sigma(combined_parameters(line, lists), offline::SecurityParameters::make);
}

Arguments arguments_of(const ParameterRequest& parameters) {
  Arguments arguments = {"--profile", std::string(name_of(parameters.profile)), "--sigma",
                         std::to_string(parameters.sigma)};
  const auto add = [&](const std::string& option, std::string value) {
    arguments.insert(arguments.end(), {option, std::move(value)});
  };
  const ProfileParameters own =
      parameters.own ? *parameters.own : own_parameters(parameters.profile, {});
  for (const NamedValue& value : named_values(parameters.profile, own))
    for (const OwnOption& option : kOwnOptions)
      if (value.name == option.parameter) add("--" + std::string(option.option), value.value);
  if (parameters.material) add("--material", std::string(name_of(*parameters.material)));
  if (parameters.unit) add("--unit", std::to_string(*parameters.unit));
  if (parameters.bucket) add("--bucket", parameters.bucket->text());
  if (parameters.base_ot) add("--base-ot", std::string(name_of(*parameters.base_ot)));
  if (parameters.weak_allowed) arguments.push_back("--allow-weak");
  return arguments;
}

}  // namespace tinyot::tools
