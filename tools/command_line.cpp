#include "tools/command_line.h"

#include <boost/program_options.hpp>
#include <charconv>
#include <iostream>

#include "base/error.h"

namespace tinyot::tools {
namespace {

namespace po = boost::program_options;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size())
    return std::nullopt;
  return value;
}

// A message about an option may quote the text after its "=", which may be secret.
std::string without_values(std::string message) {
  for (auto equals = message.find('='); equals != std::string::npos;
       equals = message.find('=', equals + 1)) {
    const auto end = message.find('\'', equals);
    message.erase(equals, end == std::string::npos ? std::string::npos : end - equals);
  }
  return message;
}

// The same options in the form of Boost.Program_options.
po::options_description described(const Options& options) {
  po::options_description description("Options", 100);
  for (const Option& option : options) {
    if (option.takes == Option::Takes::Nothing) {
      description.add_options()(option.name.c_str(), option.help.c_str());
    } else if (option.takes == Option::Takes::Values) {
      description.add_options()(option.name.c_str(), po::value<std::vector<std::string>>(),
                                option.help.c_str());
    } else if (option.takes == Option::Takes::Several) {
      description.add_options()(option.name.c_str(),
                                po::value<std::vector<std::string>>()->multitoken(),
                                option.help.c_str());
    } else {
      auto* const value = po::value<std::string>();
      if (option.by_default) value->default_value(*option.by_default);
      description.add_options()(option.name.c_str(), value, option.help.c_str());
    }
  }
  return description;
}

std::vector<std::string> texts_of(const Option& option, const po::variable_value& value) {
  switch (option.takes) {
    case Option::Takes::Value:
      return {value.as<std::string>()};
    case Option::Takes::Values:
    case Option::Takes::Several:
      return value.as<std::vector<std::string>>();
    case Option::Takes::Nothing:
      break;
  }
  return {};
}

}  // namespace

Options& Options::flag(std::string name, std::string help) {
  options_.push_back({std::move(name), std::move(help), Option::Takes::Nothing, {}});
  return *this;
}

Options& Options::value(std::string name, std::string help, std::optional<std::string> by_default) {
  options_.push_back(
      {std::move(name), std::move(help), Option::Takes::Value, std::move(by_default)});
  return *this;
}

Options& Options::several(std::string name, std::string help) {
  options_.push_back({std::move(name), std::move(help), Option::Takes::Several, {}});
  return *this;
}

Options& Options::values(std::string name, std::string help) {
  options_.push_back({std::move(name), std::move(help), Option::Takes::Values, {}});
  return *this;
}

CommandLine::CommandLine(std::string usage, std::string example)
    : usage_(std::move(usage)), example_(std::move(example)) {
  options_.flag("help", "print this text")
      .value("format", "text or json: one object on stdout", "text")
      .flag("quiet", "no progress and no log lines");
}

bool CommandLine::parse(const Arguments& arguments) {
  const po::options_description description = described(options_);
  po::positional_options_description positional;
  for (const auto& [name, count] : positional_) positional.add(name.c_str(), count);
  po::variables_map values;
  try {
    po::store(
        po::command_line_parser(arguments)
            .options(description)
            .positional(positional)
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .run(),
        values);
    po::notify(values);
  } catch (const po::error& error) {
    throw UsageError(without_values(error.what()) + "; see --help");
  }
  for (const Option& option : options_)
    if (values.count(option.name) > 0)
      values_[option.name] = {texts_of(option, values[option.name]),
                              values[option.name].defaulted()};
  if (!has("help")) return true;
  std::cout << "Usage: " << usage_ << "\n\n" << description << "\nExample:\n  " << example_ << "\n";
  return false;
}

const std::string& CommandLine::required(const std::string& name) const {
  if (!has(name)) throw UsageError("--" + name + " is missing; see --help");
  return text(name);
}

std::vector<std::string> CommandLine::list(const std::string& name) const {
  return has(name) ? values_.at(name).texts : std::vector<std::string>{};
}

std::uint64_t CommandLine::size(const std::string& name) const {
  return parse_size(name, required(name));
}

std::optional<std::uint64_t> CommandLine::optional_size(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  return size(name);
}

CommonOptions CommandLine::common() const {
  const std::string& format = text("format");
  if (format != "text" && format != "json")
    throw UsageError("--format must be text or json, not '" + format + "'");
  return {format == "json" ? Format::Json : Format::Text, has("quiet")};
}

std::uint64_t parse_size(const std::string& option, const std::string& text) {
  if (text.starts_with("2^")) {
    if (const auto exponent = parse_number(std::string_view(text).substr(2));
        exponent && *exponent < 63)
      return std::uint64_t{1} << *exponent;
  } else if (const auto value = parse_number(text); value && *value < (std::uint64_t{1} << 63)) {
    return *value;
  }
  throw UsageError("--" + option + " '" + text + "' is not a size: write a number or 2^k");
}

std::pair<std::string, std::string> split_assignment(const std::string& option,
                                                     const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError("--" + option + " takes NAME=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_timeout_options(Options& options) {
  options.value("connect-timeout", "seconds to wait for the peer at the start", "60")
      .value("idle-timeout", "seconds without progress after which the connection is given up",
             "120");
}

net::TcpTimeouts timeouts_from(const CommandLine& line) {
  const auto seconds = [&](const std::string& name) {
    const std::uint64_t value = line.size(name);
    if (value < 1 || value > 7 * 24 * 3600)
      throw UsageError("--" + name + " is out of range: 1 second to a week");
    return std::chrono::seconds(value);
  };
  return {seconds("connect-timeout"), seconds("idle-timeout")};
}

Party party_from(const CommandLine& line) {
  const std::string text = line.required("party");
  if (text == "A" || text == "a") return Party::A;
  if (text == "B" || text == "b") return Party::B;
  throw UsageError("--party must be A or B, not '" + text + "'");
}

}  // namespace tinyot::tools
