#include "service/submission.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "circuitgen/formats/values.h"
#include "service/configuration.h"

namespace tinyot::service {
namespace {

Party party_of(const std::string& text) {
  if (text == "A") return Party::A;
  if (text == "B") return Party::B;
  throw UsageError("a party is A or B, not '" + text + "'");
}

circuit::CircuitFileOptions options_of(const v1::FileRoles& roles) {
  circuit::CircuitFileOptions options;
  for (const auto& [number, owner] : roles.owners()) options.owners[number] = party_of(owner);
  if (roles.receiver() == "both")
    options.other_receivers = circuit::Receiver::Both;
  else if (!roles.receiver().empty())
    options.other_receivers =
        party_of(roles.receiver()) == Party::A ? circuit::Receiver::A : circuit::Receiver::B;
  options.bundles.assign(roles.bundles().begin(), roles.bundles().end());
  return options;
}

online::BundleValues from_bits(const circuit::InputBundle& bundle, std::size_t lanes,
                               std::span<const std::byte> bits) {
  const std::size_t bytes = bytes_for(bundle.bits);
  if (bits.size() != lanes * bytes)
    throw UsageError("input " + bundle.name + ": " + std::to_string(bits.size()) +
                     " bytes given, " + std::to_string(lanes * bytes) + " expected");
  online::BundleValues values;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    BitVector value(bundle.bits);
    if (bytes > 0) std::memcpy(value.bytes().data(), bits.data() + lane * bytes, bytes);
    if (!value.clear_padding())
      throw UsageError("input " + bundle.name + ": bits are set beyond the " +
                       std::to_string(bundle.bits) + " of a value");
    values.push_back(std::move(value));
  }
  return values;
}

online::BundleValues from_numbers(const circuit::InputBundle& bundle, std::size_t lanes,
                                  const std::vector<std::string>& numbers) {
  if (numbers.size() != lanes)
    throw UsageError("input " + bundle.name + ": " + std::to_string(numbers.size()) +
                     " values given, " + std::to_string(lanes) + " expected");
  online::BundleValues values;
  for (const std::string& number : numbers) {
    try {
      values.push_back(circuit::parse_value(number, bundle.bits, bundle.format, false));
    } catch (const UsageError& error) {
      throw UsageError("input " + bundle.name + ": " + error.what());
    }
  }
  return values;
}

}  // namespace

void Submission::add(const v1::SubmitRequest& part) {
  if (has_job_ == part.has_job())
    throw UsageError("the first message of a submission has the job, and the others do not");
  if (part.has_job()) {
    has_job_ = true;
    job_ = part.job();
    if (!is_name(job_.id()))
      throw UsageError("the id of a job has 1 to 64 letters, digits and . _ -");
  }
  bytes_ += part.circuit_part().size();
  for (const v1::Input& input : part.inputs()) {
    bytes_ += input.bits().size();
    for (const std::string& number : input.numbers()) bytes_ += number.size() + 1;
  }
  if (bytes_ > bytes_max_)
    throw UsageError("the inputs or the circuit are larger than job_bytes_max, " +
                     std::to_string(bytes_max_) + " bytes");
  file_ += part.circuit_part();
  for (const v1::Input& input : part.inputs()) {
    Given& given = inputs_[input.name()];
    const auto bits = std::as_bytes(std::span(input.bits()));
    given.bits.insert(given.bits.end(), bits.begin(), bits.end());
    given.numbers.insert(given.numbers.end(), input.numbers().begin(), input.numbers().end());
    if (!given.bits.empty() && !given.numbers.empty())
      throw UsageError("input " + input.name() + " is given as bits and as numbers");
  }
}

engine::LoadedCircuit Submission::circuit() {
  const std::size_t lanes = std::max<std::uint64_t>(job_.lanes(), 1);
  if (lanes > engine::LoadedCircuit::kLanesMax)
    throw UsageError("lanes is out of range: 1 to 2^24");
  if (job_.is_file())
    return engine::LoadedCircuit::from_text(std::move(file_), job_.circuit(),
                                            options_of(job_.roles()), lanes);
  if (!file_.empty() || job_.has_roles())
    throw UsageError("a circuit by name has its own gates, owners and receivers");
  if (auto found = engine::LoadedCircuit::generated(job_.circuit(), lanes)) return *found;
  throw UsageError("there is no circuit '" + job_.circuit() + "'");
}

online::InputValues Submission::inputs(const engine::LoadedCircuit& circuit, Party me) const {
  const auto& bundles = circuit.info().inputs;
  for (const auto& [name, given] : inputs_) {
    const auto bundle = std::ranges::find(bundles, name, &circuit::InputBundle::name);
    if (bundle == bundles.end())
      throw UsageError("circuit " + circuit.info().name + " has no input '" + name + "'");
    if (bundle->owner != me)
      throw UsageError("input " + name + " does not belong to this party, " + letter(me));
  }
  online::InputValues values(bundles.size());
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    if (bundles[i].owner != me) continue;
    const auto given = inputs_.find(bundles[i].name);
    if (given == inputs_.end())
      throw UsageError("input " + bundles[i].name + " of this party, " +
                       std::string(1, letter(me)) + ", is missing");
    const std::size_t lanes = bundles[i].same_in_all_lanes ? 1 : circuit.lanes();
    values[i] = given->second.numbers.empty()
                    ? from_bits(bundles[i], lanes, given->second.bits)
                    : from_numbers(bundles[i], lanes, given->second.numbers);
  }
  return values;
}

}  // namespace tinyot::service
