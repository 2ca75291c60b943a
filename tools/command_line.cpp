#include "tools/command_line.h"

#include <charconv>
#include <iostream>

#include "base/error.h"

namespace tinyot {
namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// A message about an option may quote what was typed behind its "=", which may be secret.
std::string without_values(std::string message) {
  for (auto equals = message.find('='); equals != std::string::npos; equals = message.find('=', equals + 1)) {
    const auto end = message.find('\'', equals);
    message.erase(equals, end == std::string::npos ? std::string::npos : end - equals);
  }
  return message;
}

}  // namespace

CommandLine::CommandLine(std::string usage, std::string example)
    : usage_(std::move(usage)), example_(std::move(example)), options_("Options", 100) {
  options_.add_options()("help", "this text")("format", po::value<std::string>()->default_value("text"), "text or json: one object on stdout")(
      "quiet", "no progress and no log lines");
}

bool CommandLine::parse(const Arguments& arguments) {
  try {
    po::store(po::command_line_parser(arguments)
                  .options(options_)
                  .positional(positional_)
                  .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                  .run(),
              values_);
    po::notify(values_);
  } catch (const po::error& error) {
    throw UsageError(without_values(error.what()) + "; see --help");
  }
  if (!has("help")) return true;
  std::cout << "Usage: " << usage_ << "\n\n" << options_ << "\nExample:\n  " << example_ << "\n";
  return false;
}

std::string CommandLine::required(const std::string& name) const {
  if (!has(name)) throw UsageError("--" + name + " is missing; see --help");
  return get<std::string>(name);
}

std::vector<std::string> CommandLine::list(const std::string& name) const {
  return has(name) ? get<std::vector<std::string>>(name) : std::vector<std::string>{};
}

std::uint64_t CommandLine::size(const std::string& name) const { return parse_size(name, required(name)); }

std::optional<std::uint64_t> CommandLine::optional_size(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  return size(name);
}

CommonOptions CommandLine::common() const {
  const auto format = get<std::string>("format");
  if (format != "text" && format != "json") throw UsageError("--format is text or json, not '" + format + "'");
  return {format == "json" ? Format::Json : Format::Text, has("quiet")};
}

std::uint64_t parse_size(const std::string& option, const std::string& text) {
  if (text.starts_with("2^")) {
    if (const auto exponent = parse_number(std::string_view(text).substr(2)); exponent && *exponent < 63) return std::uint64_t{1} << *exponent;
  } else if (const auto value = parse_number(text); value && *value < (std::uint64_t{1} << 63)) {
    return *value;
  }
  throw UsageError("--" + option + " '" + text + "' is not a size: write a number or 2^k");
}

std::pair<std::string, std::string> split_assignment(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw UsageError("--" + option + " wants NAME=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_timeout_options(po::options_description& options) {
  options.add_options()("connect-timeout", po::value<std::string>()->default_value("60"), "seconds to wait for the peer at the start")(
      "idle-timeout", po::value<std::string>()->default_value("120"), "seconds without a byte after which the peer counts as gone");
}

TcpTimeouts timeouts_from(const CommandLine& line) {
  const auto seconds = [&](const std::string& name) {
    const std::uint64_t value = line.size(name);
    if (value < 1 || value > 7 * 24 * 3600) throw UsageError("--" + name + " is out of range: 1 second to a week");
    return std::chrono::seconds(value);
  };
  return {seconds("connect-timeout"), seconds("idle-timeout")};
}

Party party_from(const CommandLine& line) {
  const std::string text = line.required("party");
  if (text == "A" || text == "a") return Party::A;
  if (text == "B" || text == "b") return Party::B;
  throw UsageError("--party is A or B, not '" + text + "'");
}

}  // namespace tinyot
