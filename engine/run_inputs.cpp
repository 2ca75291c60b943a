#include "engine/run_inputs.h"

#include <utility>

#include "base/error.h"
#include "base/hex.h"
#include "crypto/random_oracle.h"
#include "engine/bundle_values.h"

namespace tinyot::engine {
namespace {

using circuit::InputBundle;
using circuit::InputSource;

// So many inputs are compared one by one, so that a difference is named.
constexpr std::size_t kNamedMax = 16;

// What a disagreement says in place of digests.
constexpr const char* kDifferent = "different values";

std::string hex_digest(crypto::RandomOracle& oracle) {
  const crypto::Digest digest = oracle.digest();
  return hex_of(std::as_bytes(std::span(digest.bytes)));
}

net::Parameter parameter_of_public(const InputBundle& bundle, const LaneMatrix& value) {
  crypto::RandomOracle oracle({}, {"public input", '*', 0});
  oracle.absorb(value.bytes());
  return {"the public value of " + bundle.name, hex_digest(oracle), kDifferent};
}

std::vector<net::Parameter> at_most_named(const std::string& kind,
                                          std::vector<net::Parameter> parameters) {
  if (parameters.size() <= kNamedMax) return parameters;
  crypto::RandomOracle oracle({}, {"agreed inputs", '*', 0});
  for (const net::Parameter& parameter : parameters)
    for (const std::string* const text : {&parameter.name, &parameter.value})
      oracle.absorb_object(static_cast<std::uint64_t>(text->size()))
          .absorb(std::as_bytes(std::span(*text)));
  return {{"the values of " + std::to_string(parameters.size()) + " " + kind + " inputs",
           hex_digest(oracle), kDifferent}};
}

const SharedBits& shared_value(const InputBundle& bundle, std::size_t lanes,
                               const SharedInputs& shared, const std::string& connection) {
  const auto found = shared.find(bundle.name);
  if (found == shared.end())
    throw UsageError("input " + bundle.name + " takes a shared value, but none was given");
  const SharedBits& value = found->second;
  if (value.bits() != bundle.bits || value.lanes() != lanes)
    throw UsageError(
        "input " + bundle.name + " has " + std::to_string(bundle.bits) + " bits in " +
        std::to_string(lanes) + " lanes; the shared value has " + std::to_string(value.bits()) +
        " in " + std::to_string(value.lanes()) +
        (value.lanes() == 1 ? ", which is for an input that is the same in all lanes" : ""));
  if (!value.origin().starts_with(connection))
    throw UsageError("input " + bundle.name +
                     " takes a shared value, but the given one belongs to another connection");
  return value;
}

}  // namespace

RunInputs run_inputs(const circuit::CircuitInfo& info, Party party, std::size_t lanes,
                     const Values& values) {
  RunInputs inputs{input_values(info, party, lanes, values), {}};
  for (std::size_t b = 0; b < info.inputs.size(); ++b)
    if (info.inputs[b].source == InputSource::Public)
      inputs.compared.push_back(parameter_of_public(info.inputs[b], *inputs.values[b]));
  inputs.compared = at_most_named("public", std::move(inputs.compared));
  return inputs;
}

RunShared run_shared(const circuit::CircuitInfo& info, std::size_t lanes,
                     const SharedInputs& shared, const std::string& connection) {
  RunShared inputs;
  for (const InputBundle& bundle : info.inputs) {
    inputs.values.push_back(nullptr);
    if (bundle.source != InputSource::Shared) continue;
    const SharedBits& value =
        shared_value(bundle, bundle.same_in_all_lanes ? 1 : lanes, shared, connection);
    inputs.owners.push_back(value.value());
    inputs.values.back() = value.value().get();
    inputs.compared.push_back({"the value of " + bundle.name, value.origin()});
  }
  inputs.compared = at_most_named("shared", std::move(inputs.compared));
  return inputs;
}

}  // namespace tinyot::engine
