#include "service/policy.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "circuitgen/formats/circuit_file.h"
#include "circuitgen/generators/registry.h"

namespace tinyot::service {
namespace {

using Parameters = std::map<std::string, std::string, std::less<>>;

// The parameters in a canonical name such as minimum:bits=20,count=1000.
Parameters parameters_in(std::string_view name) {
  Parameters parameters;
  std::size_t at = name.find(':');
  while (at != std::string_view::npos) {
    const std::size_t end = name.find(',', at + 1);
    const std::string_view part =
        name.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos)
      parameters.emplace(part.substr(0, equals), part.substr(equals + 1));
    at = end;
  }
  return parameters;
}

bool is_within(const config::Parameter& bound, const std::string& value) {
  if (bound.value_size() > 0) return std::ranges::find(bound.value(), value) != bound.value().end();
  std::uint64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number >= bound.min() &&
         (!bound.has_max() || number <= bound.max());
}

// A canonical name has the parameters that differ from their defaults. Each of these needs a bound,
// and each bound holds for defaults as well.
bool allows_circuit(const config::Rule& rule, const std::string& name) {
  if (name.substr(0, name.find(':')) != rule.circuit()) return false;
  const auto family =
      std::ranges::find(circuit::circuit_families(), rule.circuit(), &circuit::CircuitFamily::name);
  Parameters given = parameters_in(name);
  for (const config::Parameter& bound : rule.parameter()) {
    const auto parameter =
        std::ranges::find(family->parameters, bound.name(), &circuit::CircuitParameter::name);
    const auto found = given.find(bound.name());
    if (!is_within(bound, found != given.end() ? found->second : parameter->default_value))
      return false;
    if (found != given.end()) given.erase(found);
  }
  return given.empty();
}

std::string_view name_of(config::Receiver receiver) {
  switch (receiver) {
    case config::ONLY_A:
      return "A";
    case config::ONLY_B:
      return "B";
    case config::BOTH:
      break;
  }
  return "both";
}

bool allows_roles(const config::Rule& rule, const wire::Terms& terms) {
  std::map<std::uint32_t, Party> owners;
  for (const config::Input& input : rule.input())
    owners[input.number()] = input.owner() == config::A ? Party::A : Party::B;
  for (int i = 0; i < terms.inputs_size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    const auto given = owners.find(number);
    const Party owner = given != owners.end() ? given->second : circuit::default_owner(number);
    if (terms.inputs(i).owner() != std::string(1, letter(owner))) return false;
  }
  return std::ranges::all_of(terms.outputs(), [&](const wire::Output& output) {
    return output.to() == name_of(rule.outputs());
  });
}

}  // namespace

wire::Terms terms_of(const engine::LoadedCircuit& circuit) {
  wire::Terms terms;
  terms.set_circuit(circuit.info().name);
  terms.set_digest(circuit.digest());
  terms.set_lanes(circuit.lanes());
  for (const circuit::InputBundle& bundle : circuit.info().inputs) {
    wire::Input& input = *terms.add_inputs();
    input.set_name(bundle.name);
    input.set_bits(bundle.bits);
    if (bundle.owner) input.set_owner(std::string(1, letter(*bundle.owner)));
  }
  for (const circuit::OutputBundle& bundle : circuit.info().outputs) {
    wire::Output& output = *terms.add_outputs();
    output.set_name(bundle.name);
    output.set_bits(bundle.bits);
    output.set_to(std::string(circuit::name_of(bundle.to)));
  }
  return terms;
}

bool same_terms(const wire::Terms& mine, const wire::Terms& theirs) {
  return mine.SerializeAsString() == theirs.SerializeAsString();
}

Policy::Verdict Policy::verdict(const wire::Terms& terms, Clock::time_point now) const {
  const std::string name =
      terms.digest().empty() ? terms.circuit() : "the circuit file of digest " + terms.digest();
  Verdict verdict{{}, "the policy has no rule for " + name};
  for (int i = 0; i < policy_.allow_size(); ++i) {
    const config::Rule& rule = policy_.allow(i);
    if (rule.has_digest() ? terms.digest() != rule.digest()
                          : !terms.digest().empty() || !allows_circuit(rule, terms.circuit()))
      continue;
    if (rule.has_digest() && !allows_roles(rule, terms)) {
      verdict.reason = "the policy has other owners or receivers for " + name;
    } else if (terms.lanes() > rule.lanes_max()) {
      verdict.reason =
          "the policy allows " + std::to_string(rule.lanes_max()) + " lanes of " + name;
    } else {
      const auto& begun = begun_[static_cast<std::size_t>(i)];
      if (!rule.has_rate() || begun.size() < rule.rate().jobs() ||
          begun.front() + std::chrono::seconds(rule.rate().seconds()) <= now)
        return {static_cast<std::size_t>(i), {}};
      verdict.reason = "the policy allows " + std::to_string(rule.rate().jobs()) + " jobs of " +
                       name + " in " + std::to_string(rule.rate().seconds()) + " s";
    }
  }
  return verdict;
}

std::optional<std::string> Policy::refusal(const wire::Terms& terms, Clock::time_point now) const {
  const Verdict found = verdict(terms, now);
  if (found.rule) return std::nullopt;
  return found.reason;
}

std::optional<std::string> Policy::begin(const wire::Terms& terms, Clock::time_point now) {
  const Verdict found = verdict(terms, now);
  if (!found.rule) return found.reason;
  const config::Rule& rule = policy_.allow(static_cast<int>(*found.rule));
  if (rule.has_rate()) {
    auto& begun = begun_[*found.rule];
    if (begun.size() == rule.rate().jobs()) begun.pop_front();
    begun.push_back(now);
  }
  return std::nullopt;
}

}  // namespace tinyot::service
