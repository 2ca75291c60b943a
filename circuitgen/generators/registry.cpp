#include "circuitgen/generators/registry.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "circuitgen/formats/value_type.h"
#include "circuitgen/generators/aes.h"
#include "circuitgen/generators/aes_ctr.h"
#include "circuitgen/generators/aes_gcm.h"
#include "circuitgen/generators/comparisons.h"
#include "circuitgen/generators/hamming.h"
#include "circuitgen/generators/hmac.h"
#include "circuitgen/generators/kept_keys.h"
#include "circuitgen/generators/key_uses.h"
#include "circuitgen/generators/levenshtein.h"
#include "circuitgen/generators/minimum.h"
#include "circuitgen/generators/random_layers.h"
#include "circuitgen/generators/set_intersection.h"
#include "circuitgen/generators/sha2.h"
#include "circuitgen/generators/sha3.h"
#include "circuitgen/generators/sort.h"
#include "circuitgen/generators/sorted_set_intersection.h"
#include "circuitgen/generators/tls13.h"

namespace tinyot::circuit {

namespace {

std::vector<CircuitFamily> all_families() {
  std::vector<CircuitFamily> families = {aes_family(128), aes_family(192), aes_family(256)};
  const auto append = [&families](std::vector<CircuitFamily> more) {
    std::move(more.begin(), more.end(), std::back_inserter(families));
  };
  for (const std::uint32_t key_bits : {128, 256}) {
    append({aes_ctr_family(key_bits)});
    append(aes_gcm_families(key_bits));
  }
  append({sha256_family(), sha512_family(), sha3_family(), hmac_sha256_family(),
          hkdf_sha256_family(), tls13_family(), millionaires_family(), hamming_family(),
          set_intersection_family(), sorted_set_intersection_family(), minimum_family(),
          levenshtein_family(), sort_family(), comparisons_family(), random_layers_family()});
  return families;
}

class BuiltInCircuit final : public Circuit {
 public:
  BuiltInCircuit(std::unique_ptr<Circuit> circuit, BuiltIn what)
      : circuit_(std::move(circuit)), what_(std::move(what)) {}
  const CircuitInfo& info() const override { return circuit_->info(); }
  void generate(GateSink& sink) const override { circuit_->generate(sink); }
  const BuiltIn& what() const { return what_; }

 private:
  std::unique_ptr<Circuit> circuit_;
  BuiltIn what_;
};

const CircuitFamily* family_in(const std::vector<CircuitFamily>& families, std::string_view spec) {
  const auto found = std::ranges::find_if(families, [&](const CircuitFamily& family) {
    return same_name(family.name, spec.substr(0, spec.find(':')));
  });
  return found == families.end() ? nullptr : &*found;
}

// What follows the name of the family.
std::string_view parameters_in(std::string_view spec) {
  const std::size_t colon = std::min(spec.find(':'), spec.size());
  return spec.substr(std::min(colon + 1, spec.size()));
}

// Null if none of the families has this name.
std::unique_ptr<Circuit> find_in(const std::vector<CircuitFamily>& families,
                                 std::string_view spec) {
  const CircuitFamily* const family = family_in(families, spec);
  if (family == nullptr) return nullptr;
  const CircuitArguments arguments = family->parse(parameters_in(spec));
  return std::make_unique<BuiltInCircuit>(family->make(arguments),
                                          BuiltIn{arguments.full_spec(), family->revision});
}

using Values = std::map<std::string, std::string>;  // of parameters

// Nothing for types that any circuit takes.
std::optional<Values> order_for(const ValueType& type) {
  if (type.reading() == Reading::Bits) return std::nullopt;
  const bool is_text = type.kind == ValueType::Kind::Text,
             is_signed = !is_text && type.kind != ValueType::Kind::Unsigned;
  return Values{{"signed", is_signed ? "1" : "0"},
                {"fraction", std::to_string(type.fraction)},
                {"text", is_text ? "1" : "0"}};
}

std::string hint(const std::string& spec, const std::string& other = {}) {
  if (spec.empty()) return {};
  return "; circuit " + spec + (other.empty() ? "" : ", or " + other + ",") + " does";
}

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// Empty if there is no other circuit with these parameters.
std::string other_spec(const std::string& circuit, const CircuitFamily& family,
                       const Values& values) try {
  const std::string spec = family.with(family.parse(parameters_in(circuit)), values).spec();
  if (family.make(family.parse(parameters_in(spec))) == nullptr) return {};
  return spec == circuit ? "" : spec;
} catch (const UsageError&) {
  return {};
}

}  // namespace

const std::vector<CircuitFamily>& circuit_families() {
  static const std::vector<CircuitFamily> kFamilies = all_families();
  return kFamilies;
}

std::vector<std::string> circuit_names() {
  std::vector<std::string> names;
  for (const CircuitFamily& family : circuit_families()) names.push_back(family.name);
  return names;
}

std::unique_ptr<Circuit> find_circuit(std::string_view spec) {
  return find_in(circuit_families(), spec);
}

const std::vector<CircuitFamily>& key_circuit_families() {
  static const std::vector<CircuitFamily> kFamilies = [] {
    std::vector<CircuitFamily> families = key_use_families();
    families.insert(families.end(), {key_check_family(), key_load_family(), key_derive_family()});
    return families;
  }();
  return kFamilies;
}

std::unique_ptr<Circuit> find_key_circuit(std::string_view spec) {
  return find_in(key_circuit_families(), spec);
}

std::string spec_for_types(const std::string& spec, const TypesByName& types) {
  const CircuitFamily* const family = family_in(circuit_families(), spec);
  if (family == nullptr || family->compared.empty()) return spec;
  const CircuitArguments arguments = family->parse(parameters_in(spec));
  std::string first;
  std::optional<Values> order;
  for (const auto& [name, type] : types) {
    if (!is_in(family->compared, name) || type == kRawType) continue;
    const std::optional<Values> wanted = order_for(ValueType::parse(type));
    if (!wanted) continue;
    if (order && *order != *wanted)
      throw UsageError("circuit " + spec + " compares values of one type, and " + first + " and " +
                       name + " have types " + types.at(first) + " and " + type);
    for (const auto& [parameter, value] : *wanted)
      if (arguments.is_given(parameter) && arguments.choice(parameter) != value)
        throw UsageError("type " + type + " of " + name + " takes " + parameter + "=" + value +
                         ", and circuit " + spec + " has " + parameter + "=" +
                         arguments.choice(parameter));
    if (!order) first = name;
    order = wanted;
  }
  if (!order) return spec;
  const CircuitArguments with_order = family->with(arguments, *order);
  return with_order.spec() == arguments.spec() ? spec : with_order.spec();
}

std::string spec_for_type(const std::string& circuit, const std::string& bundle,
                          const std::string& type) {
  const CircuitFamily* const family = family_in(circuit_families(), circuit);
  if (family == nullptr || !is_in(family->compared, bundle)) return {};
  const ValueType of_value = ValueType::parse(type);
  Values values = order_for(of_value).value_or(Values());
  values["bits"] = std::to_string(of_value.width);
  return other_spec(circuit, *family, values);
}

std::string circuit_for_type(const std::string& circuit, const std::string& bundle,
                             const std::string& type) {
  return hint(spec_for_type(circuit, bundle, type));
}

std::string circuit_for_length(const std::string& circuit, const std::string& input,
                               std::uint64_t values) {
  const CircuitFamily* const family = family_in(circuit_families(), circuit);
  if (family == nullptr) return {};
  const auto list = std::ranges::find(family->lists, input, &ListLength::input);
  if (list == family->lists.end() || values == 0) return {};
  const auto of_count = [&](std::uint64_t count) {
    return other_spec(circuit, *family, {{list->parameter, std::to_string(count)}});
  };
  if (list->parties == 1) return hint(of_count(values));
  const bool is_first = list == family->lists.begin();
  return hint(of_count(2 * values), of_count(is_first ? 2 * values - 1 : 2 * values + 1));
}

std::optional<BuiltIn> built_in(const Circuit& circuit) {
  const auto* const found = dynamic_cast<const BuiltInCircuit*>(&circuit);
  if (found == nullptr) return std::nullopt;
  return found->what();
}

}  // namespace tinyot::circuit
