// A family of circuits: one generator and its parameters, given as `name:key=value,key=value`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tinyot/circuit/builder.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// A number within a range, or one of several words.
struct CircuitParameter {
  std::string name;
  std::string description;
  std::string default_value;
  std::uint64_t min;
  std::uint64_t max;
  std::vector<std::string> choices;  // empty: a number
  // Not in full_spec() while it has its default: the circuits of the family had their fingerprints
  // before there was such a parameter.
  bool is_added = false;

  static CircuitParameter number(std::string name, std::uint64_t default_value, std::uint64_t min,
                                 std::uint64_t max, std::string description) {
    return {std::move(name), std::move(description), std::to_string(default_value), min, max, {}};
  }
  // The first choice is the default.
  static CircuitParameter choice(std::string name, std::vector<std::string> choices,
                                 std::string description) {
    std::string first = choices.front();
    return {std::move(name), std::move(description), std::move(first), 0, 0, std::move(choices)};
  }

  std::string allowed() const;  // "1 to 64", "small, shallow or gf16"
};

// The values of all parameters of a family, checked.
class CircuitArguments {
 public:
  // The family's name and the values that differ from the defaults, in the family's order: equal if
  // and only if the circuits are.
  const std::string& spec() const { return spec_; }
  // The family's name and the values of all parameters, in the order of their names.
  std::string full_spec() const;
  // Fails: std::logic_error by ENSURE if there is no such parameter.
  const std::string& choice(const std::string& name) const;
  std::uint64_t number(const std::string& name) const;
  bool is_given(const std::string& name) const { return given_.contains(name); }

 private:
  friend struct CircuitFamily;
  std::string family_, spec_;
  std::map<std::string, std::string> values_;  // numbers in decimal without leading zeros
  std::set<std::string> given_;                // those in the text
  std::set<std::string> unnamed_;              // added ones that have their defaults
};

// The parameter that sets the length of a list.
struct ListLength {
  std::string input;
  std::string parameter;
  std::uint64_t parties = 1;  // 2: it counts the values of both, of which A may have one more
};

struct CircuitFamily {
  std::string name;
  std::string description;  // one line
  std::vector<CircuitParameter> parameters;
  std::function<std::unique_ptr<Circuit>(const CircuitArguments&)> make;
  // The inputs and outputs whose values are compared, in the order that ValueOrder has; the
  // parameter `bits` is the width of a value.
  std::vector<std::string> compared = {};
  std::vector<ListLength> lists = {};
  // Stepped when the gates of the circuits, their order, or the places of inputs, constants and
  // outputs among them change: the parties compare it in place of the gates. A test compares it
  // with them.
  std::uint32_t revision = 1;

  // `text` is `key=value,key=value`, or empty for the defaults. Fails: UsageError with the known
  // parameters and allowed values.
  CircuitArguments parse(std::string_view text) const;
  // The arguments with other values of some parameters. Fails: UsageError for one that is not
  // allowed.
  CircuitArguments with(const CircuitArguments& arguments,
                        const std::map<std::string, std::string>& values) const;
};

// The width of a bundle. Fails: std::logic_error by ENSURE if it is 2^32 or more, which the ranges
// of parameters exclude.
inline std::uint32_t bundle_bits(std::uint64_t bits) {
  ENSURE(bits < std::uint64_t{1} << 32);
  return static_cast<std::uint32_t>(bits);
}

// A bundle of bits, different in each lane; outputs go to both parties.
inline InputBundle bits_input(std::string name, std::uint64_t bits, Party owner) {
  return {std::move(name), bundle_bits(bits), source_of(owner), ValueFormat::Integer, false};
}
inline InputBundle integer_input(std::string name, std::uint64_t bits, Party owner) {
  InputBundle input = bits_input(std::move(name), bits, owner);
  input.reading = Reading::Unsigned;
  return input;
}
inline OutputBundle bits_output(std::string name, std::uint64_t bits) {
  return {std::move(name), bundle_bits(bits), Receiver::Both, ValueFormat::Integer};
}
inline OutputBundle integer_output(std::string name, std::uint64_t bits) {
  OutputBundle output = bits_output(std::move(name), bits);
  output.reading = Reading::Unsigned;
  return output;
}

// The parameter `to` of a circuit whose outputs are keys, and its value. `none`: they stay shared.
CircuitParameter receiver_parameter();
Receiver receiver_of(const CircuitArguments& arguments);

// Equality of names of circuits, parameters and choices without case, '-' and '_': "AES-128" is
// "aes128".
bool same_name(std::string_view x, std::string_view y);

// A circuit from a function that emits it.
class GeneratedCircuit final : public Circuit {
 public:
  GeneratedCircuit(CircuitInfo info, std::function<void(Builder&)> program)
      : info_(std::move(info)), program_(std::move(program)) {}
  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override {
    Builder builder(sink, info_);
    program_(builder);
  }

 private:
  CircuitInfo info_;
  std::function<void(Builder&)> program_;
};

}  // namespace tinyot::circuit
