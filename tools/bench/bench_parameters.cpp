// The lists of security parameters of a bench.
#include <algorithm>

#include "base/error.h"
#include "tools/bench/bench.h"
#include "tools/cli/preprocess.h"

namespace tinyot::tools {
namespace {

bool is_fast(const ParameterRequest& point) { return point.profile == Profile::Fast; }
bool is_nnob12(const ParameterRequest& point) { return !is_fast(point); }
bool is_any(const ParameterRequest&) { return true; }

// Combines each point that the option concerns with each value.
template <class Value, class Set>
void vary(std::vector<ParameterRequest>& points, const std::vector<Value>& values, Set set,
          bool (*concerned)(const ParameterRequest&) = is_any) {
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

std::uint32_t small(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

}  // namespace

void add_parameter_lists(Options& options, const ParameterLists& lists) {
  options.group("Security")
      .value("bucket", "bucket sizes, a list; default: the smallest that reaches sigma")
      .value("sigma", "statistical security, a list", "40")
      .value("profile", "nnob12, fast or both", lists.profile)
      .value("unit",
             "ANDs that are permuted together: a list, or 2^14..2^20; default: the profile's")
      .value("labit-columns", "nnob12: theorem, experiment or both", "theorem")
      .also_named("columns")
      .value("material", "nnob12: pairs, triples or both", "pairs")
      .value("softspoken-k", "fast: 1, 2, 4, a list", "2")
      .flag("allow-weak", "accept buckets that miss sigma; their rows say so");
}

std::vector<ParameterRequest> parameters_listed(const CommandLine& line,
                                                const ParameterLists& lists) {
  // Every value is checked, even if no point of the other lists is concerned.
  const auto values = [&]<class Value>(const std::string& option, const std::string& text,
                                       std::initializer_list<Value> known) {
    std::vector<Value> chosen;
    for (const std::string& name : parse_names(text))
      chosen.push_back(value_named(option, name, known));
    return chosen;
  };
  const auto sizes = [&](const std::string& option) {
    return parse_sizes(option, line.text(option));
  };
  const auto profiles =
      values("profile", line.given("profile") ? line.text("profile") : lists.profile,
             {Profile::Nnob12, Profile::Fast});
  const auto columns =
      values("labit-columns", line.text("labit-columns"), {Columns::Theorem, Columns::Experiment});
  const auto materials =
      values("material", line.text("material"), {MaterialForm::Pairs, MaterialForm::Triples});
  std::vector<ParameterRequest> points(1);
  points[0].weak_allowed = line.has("allow-weak");
  vary(points, profiles, [](ParameterRequest& point, Profile profile) { point.profile = profile; });
  vary(
      points, columns, [](ParameterRequest& point, Columns each) { point.columns = each; },
      is_nnob12);
  vary(
      points, materials, [](ParameterRequest& point, MaterialForm each) { point.material = each; },
      is_nnob12);
  vary(
      points, sizes("softspoken-k"),
      [](ParameterRequest& point, std::uint64_t k) { point.softspoken_k = small(k); }, is_fast);
  if (line.has("unit"))
    vary(points, sizes("unit"),
         [](ParameterRequest& point, std::uint64_t unit) { point.unit = unit; });
  vary(points, sizes("sigma"),
       [](ParameterRequest& point, std::uint64_t sigma) { point.sigma = small(sigma); });
  if (line.has("bucket"))
    vary(points, sizes("bucket"),
         [](ParameterRequest& point, std::uint64_t bucket) { point.bucket = small(bucket); });
  for (const ParameterRequest& point : points) offline::SecurityParameters::make(point);
  return points;
}

Arguments arguments_of(const ParameterRequest& parameters) {
  Arguments arguments = {"--profile", std::string(name_of(parameters.profile)), "--sigma",
                         std::to_string(parameters.sigma)};
  const auto add = [&](const std::string& option, std::string value) {
    arguments.insert(arguments.end(), {option, std::move(value)});
  };
  if (is_fast(parameters))
    add("--softspoken-k", std::to_string(parameters.softspoken_k));
  else
    add("--labit-columns", std::string(name_of(parameters.columns)));
  if (parameters.material) add("--material", std::string(name_of(*parameters.material)));
  if (parameters.unit) add("--unit", std::to_string(*parameters.unit));
  if (parameters.bucket) add("--bucket", std::to_string(*parameters.bucket));
  if (parameters.weak_allowed) arguments.push_back("--allow-weak");
  return arguments;
}

}  // namespace tinyot::tools
