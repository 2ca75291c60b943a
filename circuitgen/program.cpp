#include <algorithm>
#include <string>
#include <type_traits>

#include "circuitgen/checked_circuit.h"
#include "circuitgen/formats/reading.h"
#include "tinyot/circuit.h"

namespace tinyot::circuit {

namespace {

// For the first call of the function, which serves only to collect the declarations.
class NoGates final : public GateSink {
 public:
  void emit(const Gate&) override {}
};

bool same(const InputBundle& x, const InputBundle& y) {
  return x.name == y.name && x.bits == y.bits && x.source == y.source &&
         x.same_in_all_lanes == y.same_in_all_lanes;
}
bool same(const OutputBundle& x, const OutputBundle& y) {
  return x.name == y.name && x.bits == y.bits && x.to == y.to;
}

template <class Bundle>
void declare_in(std::vector<Bundle>& bundles, std::uint32_t number, const Bundle& bundle,
                bool is_first_time, const std::string& circuit) {
  if (is_first_time) {
    const std::string kind = std::is_same_v<Bundle, InputBundle> ? "input" : "output";
    if (bundle.name.empty())
      throw UsageError(kind + " " + std::to_string(number) + " of circuit " + circuit +
                       " has no name");
    for (const Bundle& other : bundles)
      if (other.name == bundle.name)
        throw UsageError("two " + kind + "s of circuit " + circuit + " have the name '" +
                         bundle.name + "'");
    bundles.push_back(bundle);
  }
  if (number >= bundles.size() || !same(bundles[number], bundle)) throw not_the_same(circuit);
}

template <class Bundle>
Bundle& declared(std::vector<Bundle>& bundles, const std::string& name, const std::string& what,
                 const std::string& circuit) {
  const auto found = std::ranges::find(bundles, name, &Bundle::name);
  if (found == bundles.end())
    throw UsageError("circuit " + circuit + " has not declared '" + name + "', which gets " + what);
  return *found;
}

}  // namespace

class FunctionCircuit final : public Circuit {
 public:
  FunctionCircuit(std::string name, std::function<void(Program&)> function)
      : info_{std::move(name), {}, {}}, function_(std::move(function)) {
    NoGates none;
    Builder builder(none, info_);
    Program program(builder, info_, true);
    function_(program);
    if (info_.outputs.empty())
      throw UsageError("circuit " + info_.name +
                       " has no output, so that a run of it would tell nobody anything");
  }
  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override {
    CircuitInfo info = info_;
    Builder builder(sink, info);
    Program program(builder, info, false);
    function_(program);
    if (program.inputs_ != info_.inputs.size() || program.outputs_ != info_.outputs.size())
      throw not_the_same(info_.name);
  }

 private:
  CircuitInfo info_;
  std::function<void(Program&)> function_;
};

Number Program::declare(const InputBundle& bundle) {
  declare_in(info_.inputs, inputs_, bundle, declares_, info_.name);
  return Number(builder_.input(inputs_++));
}

Number Program::input(const std::string& name, std::uint32_t bits, InputSource source) {
  return declare({name, bits, source, ValueFormat::Integer, false, {}, Reading::Unsigned});
}

SignedNumber Program::signed_input(const std::string& name, std::uint32_t bits,
                                   InputSource source) {
  return SignedNumber(declare(
      {name, bits, source, ValueFormat::Integer, false, type_of_signed(bits), Reading::Signed}));
}

std::string Program::type_of_signed(std::size_t bits) {
  return bits >= 1 && bits <= kIntegerBitsMax ? "i" + std::to_string(bits) : "";
}

void Program::set_input_type(const std::string& name, const std::string& type) {
  set_type(declared(info_.inputs, name, "type " + type, info_.name), type);
}

void Program::set_output_type(const std::string& name, const std::string& type) {
  set_type(declared(info_.outputs, name, "type " + type, info_.name), type);
}

void Program::set_input_conditions(const std::string& name, const InputConditions& conditions) {
  InputBundle& bundle = declared(info_.inputs, name, "conditions", info_.name);
  bundle.conditions = conditions;
  require_possible(bundle);
}

void Program::set_input_reading(const std::string& name, Reading reading) {
  declared(info_.inputs, name, "a reading", info_.name).reading = reading;
}

void Program::set_output_reading(const std::string& name, Reading reading) {
  declared(info_.outputs, name, "a reading", info_.name).reading = reading;
}

Number Program::common_input(const std::string& name, std::uint32_t bits, InputSource source) {
  return declare({name, bits, source, ValueFormat::Integer, true, {}, Reading::Unsigned});
}

void Program::output(const std::string& name, BitSpan value, Receiver to) {
  declare_in(info_.outputs, outputs_,
             {name, static_cast<std::uint32_t>(value.size()), to, ValueFormat::Integer}, declares_,
             info_.name);
  builder_.output(outputs_++, value);
}

std::unique_ptr<Circuit> make_circuit(std::string name, std::function<void(Program&)> function) {
  return std::make_unique<FunctionCircuit>(std::move(name), std::move(function));
}

}  // namespace tinyot::circuit
