#include "service/policy.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "circuitgen/generators/registry.h"

namespace tinyot::service {
namespace {

using circuit::CircuitFingerprint;
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

// The peer's text, for messages.
std::string printable(const std::string& text) {
  constexpr std::size_t kMax = 80;
  std::string shown = text.substr(0, kMax);
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return shown;
}

}  // namespace

wire::Terms terms_of(const engine::LoadedCircuit& circuit, const std::string& online) {
  constexpr std::size_t kFileNameMax = 255;
  wire::Terms terms;
  const std::string& name = circuit.info().name;
  terms.set_circuit(circuit.is_built_in() ? name : name.substr(0, kFileNameMax));
  terms.set_fingerprint(text_of(circuit.fingerprint()));
  terms.set_lanes(circuit.lanes());
  terms.set_interface(text_of(circuit.interface_fingerprint()));
  terms.set_is_built_in(circuit.is_built_in());
  terms.set_online(online);
  return terms;
}

bool same_terms(const wire::Terms& mine, const wire::Terms& theirs) {
  wire::Terms renamed = theirs;
  if (!mine.is_built_in()) renamed.set_circuit(mine.circuit());
  return mine.SerializeAsString() == renamed.SerializeAsString();
}

std::string difference(const wire::Terms& mine, const wire::Terms& theirs) {
  const auto shown = [](const wire::Terms& terms) {
    constexpr std::size_t kShortDigits = 16;
    return printable(terms.circuit()) + (terms.is_built_in() ? " (built in, " : " (") +
           printable(terms.fingerprint().substr(0, kShortDigits)) + ")";
  };
  const auto both = [](const std::string& ours, const std::string& peers) {
    return ": this party has " + ours + ", the peer has " + peers;
  };
  if (mine.interface() != theirs.interface())
    return "circuit's inputs and outputs (names, widths, sources, receivers, formats)" +
           both(shown(mine), shown(theirs));
  if (mine.lanes() != theirs.lanes())
    return "lanes" + both(std::to_string(mine.lanes()), std::to_string(theirs.lanes()));
  if (mine.online() != theirs.online()) {
    const auto phase = [](const wire::Terms& terms) {
      return terms.online().empty() ? "none named" : printable(terms.online());
    };
    return "online phase" + both(phase(mine), phase(theirs));
  }
  return "circuit's gates" + both(shown(mine), shown(theirs));
}

Policy::Policy(config::Policy policy) : policy_(std::move(policy)) {
  begun_.resize(static_cast<std::size_t>(policy_.allow_size()));
  for (const config::Rule& rule : policy_.allow())
    digests_.push_back(circuit::parse_circuit_fingerprint(rule.digest()));
}

void Policy::take_counts_of(const Policy& before) {
  const auto circuits_of = [](const Policy& policy, std::size_t i) {
    config::Rule rule = policy.policy_.allow(static_cast<int>(i));
    rule.clear_lanes_max();
    rule.clear_rate();
    return rule.SerializeAsString();
  };
  std::vector<bool> is_taken(before.begun_.size());
  for (std::size_t i = 0; i < begun_.size(); ++i) {
    const config::Rule& rule = policy_.allow(static_cast<int>(i));
    for (std::size_t old = 0; old < before.begun_.size(); ++old) {
      if (is_taken[old] || circuits_of(*this, i) != circuits_of(before, old)) continue;
      is_taken[old] = true;
      if (!rule.has_rate()) break;
      begun_[i] = before.begun_[old];
      while (begun_[i].size() > rule.rate().jobs()) begun_[i].pop_front();
      break;
    }
  }
}

Policy::Verdict Policy::verdict(const wire::Terms& terms, Clock::time_point now) const {
  const auto fingerprint = circuit::parse_circuit_fingerprint(terms.fingerprint());
  if (!fingerprint) return {{}, "the job does not have the fingerprint of a circuit"};
  const std::string name = printable(terms.circuit()) +
                           (terms.is_built_in() ? " (built in)" : " (a file)") + ", fingerprint " +
                           terms.fingerprint();
  Verdict verdict{{}, "the policy has no rule for " + name};
  for (std::size_t i = 0; i < begun_.size(); ++i) {
    const config::Rule& rule = policy_.allow(static_cast<int>(i));
    if (rule.has_digest() ? digests_[i] != fingerprint
                          : !terms.is_built_in() || !allows_circuit(rule, terms.circuit()))
      continue;
    if (terms.lanes() > rule.lanes_max()) {
      verdict.reason =
          "the policy allows " + std::to_string(rule.lanes_max()) + " lanes of " + name;
    } else {
      const auto& begun = begun_[i];
      if (!rule.has_rate() || begun.size() < rule.rate().jobs() ||
          begun.front() + std::chrono::seconds(rule.rate().seconds()) <= now)
        return {i, {}};
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
