#include "circuitgen/generators/family.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c == '-' || c == '_') continue;
    result.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return result;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// "a, b or c".
std::string one_of(const std::vector<std::string>& words) {
  std::string text = words.back();
  for (std::size_t i = words.size() - 1; i-- > 0;)
    text = words[i] + (i + 2 == words.size() ? " or " : ", ") + text;
  return text;
}

// A part of the given text, truncated for a message.
std::string shown(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, 40)) result.push_back(c >= ' ' && c <= '~' ? c : '?');
  return result + (text.size() > 40 ? "...'" : "'");
}

const CircuitParameter& parameter_of(const CircuitFamily& family, std::string_view key) {
  std::vector<std::string> known;
  for (const CircuitParameter& parameter : family.parameters) {
    if (same_name(parameter.name, key)) return parameter;
    known.push_back(parameter.name + " (" + parameter.allowed() + ", default " +
                    parameter.default_value + ")");
  }
  const std::string has = known.empty() ? "it has none" : "it has " + listed(known);
  throw UsageError("circuit " + family.name + " has no parameter " + shown(key) + "; " + has);
}

std::optional<std::string> canonical(const CircuitParameter& parameter, std::string_view value) {
  if (!parameter.choices.empty()) {
    const auto found =
        std::find_if(parameter.choices.begin(), parameter.choices.end(),
                     [value](const std::string& choice) { return same_name(choice, value); });
    return found == parameter.choices.end() ? std::nullopt : std::optional(*found);
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = error == std::errc() && end == value.data() + value.size();
  if (!whole || number < parameter.min || number > parameter.max) return std::nullopt;
  return std::to_string(number);
}

}  // namespace

std::string CircuitParameter::allowed() const {
  return choices.empty() ? std::to_string(min) + " to " + std::to_string(max) : one_of(choices);
}

std::string CircuitArguments::full_spec() const {
  std::string spec = family_;
  for (const auto& [name, value] : values_)
    if (!unnamed_.contains(name)) spec += (spec == family_ ? ":" : ",") + name + "=" + value;
  return spec;
}

const std::string& CircuitArguments::choice(const std::string& name) const {
  const auto found = values_.find(name);
  ENSURE(found != values_.end());
  return found->second;
}

std::uint64_t CircuitArguments::number(const std::string& name) const {
  return std::stoull(choice(name));
}

CircuitArguments CircuitFamily::parse(std::string_view text) const {
  CircuitArguments arguments;
  for (const CircuitParameter& parameter : parameters)
    arguments.values_[parameter.name] = parameter.default_value;

  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view piece = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(piece.size() + 1, rest.size()));
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos) {
      throw UsageError("circuit " + name + ": " + shown(piece) +
                       " is not of the form parameter=value");
    }
    const CircuitParameter& parameter = parameter_of(*this, piece.substr(0, equals));
    const std::string_view value = piece.substr(equals + 1);
    const std::optional<std::string> found = canonical(parameter, value);
    if (!found)
      throw UsageError("circuit " + name + ": " + parameter.name + " is " + parameter.allowed() +
                       ", not " + shown(value));
    if (!arguments.given_.insert(parameter.name).second)
      throw UsageError("circuit " + name + ": " + parameter.name + " is given twice");
    arguments.values_[parameter.name] = *found;
  }

  arguments.family_ = arguments.spec_ = name;
  for (const CircuitParameter& parameter : parameters) {
    const std::string& value = arguments.values_[parameter.name];
    if (value == parameter.default_value) {
      if (parameter.is_added) arguments.unnamed_.insert(parameter.name);
      continue;
    }
    arguments.spec_ += (arguments.spec_ == name ? ":" : ",") + parameter.name + "=" + value;
  }
  return arguments;
}

CircuitArguments CircuitFamily::with(const CircuitArguments& arguments,
                                     const std::map<std::string, std::string>& values) const {
  std::string text;
  for (const CircuitParameter& parameter : parameters) {
    const auto found = values.find(parameter.name);
    const std::string& value =
        found == values.end() ? arguments.choice(parameter.name) : found->second;
    if (value != parameter.default_value)
      text += (text.empty() ? "" : ",") + parameter.name + "=" + value;
  }
  return parse(text);
}

CircuitParameter receiver_parameter() {
  return CircuitParameter::choice("to", {"both", "A", "B", "none"}, "who learns the outputs");
}

Receiver receiver_of(const CircuitArguments& arguments) {
  for (const Receiver receiver : {Receiver::A, Receiver::B, Receiver::None}) {
    if (arguments.choice("to") == name_of(receiver)) return receiver;
  }
  return Receiver::Both;
}

bool same_name(std::string_view x, std::string_view y) { return plain(x) == plain(y); }

}  // namespace tinyot::circuit
