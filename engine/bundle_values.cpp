#include "engine/bundle_values.h"

#include <algorithm>

#include "base/error.h"
#include "base/suggestion.h"
#include "circuitgen/formats/reading.h"
#include "circuitgen/generators/registry.h"
#include "engine/loaded_circuit.h"

namespace tinyot::engine {

namespace {

using circuit::Reading;

// A list of integers has as many as the circuit's, of the same width; so has a signed integer,
// whose sign is in its highest bit.
void require_shape(const circuit::CircuitInfo& info, const circuit::InputBundle& bundle,
                   std::size_t rows_bits, std::size_t integer_bits) {
  const std::uint32_t value_bits = circuit::BundleReading(bundle).value_bits();
  if (integer_bits == 0 || (integer_bits == value_bits && rows_bits == bundle.bits)) return;
  const std::size_t count = rows_bits / integer_bits, wanted = bundle.bits / value_bits;
  const auto text = [](std::size_t integers, std::size_t bits) {
    return std::to_string(integers) + (integers == 1 ? " integer" : " integers") + " of " +
           std::to_string(bits) + " bits";
  };
  throw UsageError("input " + bundle.name + " takes " + text(wanted, value_bits) + ", and " +
                   text(count, integer_bits) + " were given" +
                   (integer_bits == value_bits
                        ? circuit::circuit_for_length(info.name, bundle.name, count)
                        : ""));
}

// Integers are given with a sign if and only if the circuit reads them so; those that are the same
// either way are taken.
void require_reading(const circuit::CircuitInfo& info, const circuit::InputBundle& bundle,
                     const Values& values) {
  const auto [given, integer_bits] = values.set_as(bundle.name);
  const LaneMatrix& rows = values.at(bundle.name);
  if (given == Reading::Bits || bundle.reading == Reading::Bits) return;
  const circuit::BundleReading read(bundle);
  const std::uint32_t bits = read.value_bits();
  const bool is_signed = given == Reading::Signed, is_text = bundle.reading == Reading::Text;
  const auto is_negative = [&](std::size_t lane) {
    for (std::size_t end = bits; end <= rows.bits(); end += bits)
      if (rows[lane][end - 1]) return true;
    return false;
  };
  bool is_fit =
      !is_text && (given == bundle.reading || (is_signed && bundle.reading == Reading::Fixed));
  if (!is_fit && !is_text && !is_signed) {
    is_fit = true;
    for (std::size_t lane = 0; lane < rows.lanes(); ++lane) is_fit = is_fit && !is_negative(lane);
  }
  if (!is_fit)
    throw UsageError("input " + bundle.name + " is " + read.text() + ", and was given as " +
                     std::string(name_of(given)) + " integers" +
                     circuit::circuit_for_type(info.name, bundle.name,
                                               (is_signed ? "i" : "u") + std::to_string(bits)));
  require_shape(info, bundle, rows.bits(), integer_bits);
}

LaneMatrix as_wide_as(const circuit::InputBundle& bundle, const LaneMatrix& given) {
  LaneMatrix result(given.lanes(), bundle.bits);
  for (std::size_t lane = 0; lane < given.lanes(); ++lane)
    if (!result.assign(lane, given[lane].bytes()))
      throw UsageError("a value of input " + bundle.name + " has more than " +
                       std::to_string(bundle.bits) + " bits");
  return result;
}

}  // namespace

LaneMatrix bundle_values(const circuit::CircuitInfo& info, const circuit::InputBundle& bundle,
                         std::size_t lanes, const Values& values) {
  const std::size_t count = bundle.same_in_all_lanes ? 1 : lanes;
  if (values.lanes(bundle.name) != count)
    throw UsageError("input " + bundle.name + " has " + std::to_string(values.lanes(bundle.name)) +
                     " values instead of " + std::to_string(count));
  require_reading(info, bundle, values);
  const LaneMatrix& given = values.at(bundle.name);
  LaneMatrix result = given.bits() == bundle.bits ? given : as_wide_as(bundle, given);
  require_conditions(bundle, result);
  return result;
}

void check_lanes(std::size_t lanes) {
  if (lanes < 1 || lanes > LoadedCircuit::kLanesMax)
    throw UsageError("lanes are out of range: 1 to 2^24");
}

void check_names(const circuit::CircuitInfo& info, const Values& values) {
  std::vector<std::string> known;
  std::string listed;
  for (const circuit::InputBundle& bundle : info.inputs) {
    known.push_back(bundle.name);
    listed += (listed.empty() ? "" : ", ") + bundle.name;
  }
  for (const std::string& name : values.names())
    if (std::ranges::find(known, name) == known.end())
      throw UsageError("the circuit has no input " + name + did_you_mean(name, known) +
                       "; it has " + listed);
}

online::BundleValues input_values(const circuit::CircuitInfo& info, Party party, std::size_t lanes,
                                  const Values& values) {
  check_lanes(lanes);
  check_names(info, values);  // before one is missing whose name has been mistyped
  online::BundleValues result(info.inputs.size());
  for (std::size_t b = 0; b < info.inputs.size(); ++b) {
    const circuit::InputBundle& bundle = info.inputs[b];
    const bool gives_it = gives(bundle.source, party), is_given = values.contains(bundle.name);
    if (gives_it && !is_given) throw UsageError("input " + bundle.name + " is missing");
    if (!gives_it && is_given)
      throw UsageError(
          "input " + bundle.name +
          (owner_of(bundle.source) ? " belongs to the peer" : " takes a shared value"));
    if (gives_it) result[b] = bundle_values(info, bundle, lanes, values);
  }
  return result;
}

Values output_values(const circuit::CircuitInfo& info, online::BundleValues outputs) {
  Values values;
  for (std::size_t b = 0; b < info.outputs.size(); ++b)
    if (outputs[b])
      values.set(info.outputs[b].name, std::move(*outputs[b]), {info.outputs[b].reading});
  return values;
}

}  // namespace tinyot::engine
