#include "tools/cli/command_line.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "base/size.h"
#include "base/suggestion.h"
#include "tools/cli/log.h"

namespace tinyot::tools {
namespace {

namespace po = boost::program_options;
using Takes = Option::Takes;

constexpr std::size_t kHelpWidth = 100;

// A message about an option may quote the text after its "=", which may be secret.
std::string without_values(std::string message) {
  for (auto equals = message.find('='); equals != std::string::npos;
       equals = message.find('=', equals + 1)) {
    const auto end = message.find('\'', equals);
    message.erase(equals, end == std::string::npos ? std::string::npos : end - equals);
  }
  return message;
}

// An option in the form of Boost.Program_options, under one of its names.
void describe(po::options_description& description, const Option& option, const std::string& name) {
  auto add = description.add_options();
  if (option.takes == Takes::Nothing) {
    add(name.c_str(), option.help.c_str());
  } else if (option.takes == Takes::Value) {
    auto* const value = po::value<std::string>();
    if (option.default_value) value->default_value(*option.default_value);
    add(name.c_str(), value, option.help.c_str());
  } else {
    auto* const values = po::value<std::vector<std::string>>();
    if (option.takes == Takes::MultiValue) values->multitoken();
    add(name.c_str(), values, option.help.c_str());
  }
}

// TINYOT_CONNECT_TIMEOUT for connect-timeout.
std::string variable_of(const std::string& option) {
  std::string name = "TINYOT_" + option;
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

// Elsewhere than on the command line, a flag has a value.
bool parse_flag(const std::string& origin, const std::string& text) {
  if (text == "yes" || text == "true" || text == "1") return true;
  if (text == "no" || text == "false" || text == "0") return false;
  throw UsageError(origin + " must be yes or no, not '" + text + "'");
}

}  // namespace

CommandLine::CommandLine(std::string name, std::string usage, std::string example)
    : name_(std::move(name)), usage_(std::move(usage)), example_(std::move(example)) {}

bool CommandLine::parse(const Arguments& arguments) {
  // A subcommand may have a configuration of its own.
  const bool takes_file = std::ranges::find(options_, "config", &Option::name) == options_.end();
  options_.group("General")
      .flag("help", "print the usual options")
      .flag("help-all", "print all options");
  if (takes_file)
    options_.value("config",
                   "FILE of further options: lines such as sigma = 64, in sections such as "
                   "[preprocess] for one subcommand");
  options_.value("format", "text, or json: one object on stdout", "text")
      .flag("quiet", "no progress, and no log lines but warnings and errors");
  take_arguments(arguments);
  if (has("help") || has("help-all")) {
    print_help(has("help-all"));
    return false;
  }
  take_environment();
  if (takes_file && has("config")) take_file(text("config"));
  take_defaults();
  check_required();
  set_quiet(has("quiet"));
  return true;
}

std::vector<std::string> CommandLine::names() const {
  std::vector<std::string> names;
  for (const Option& option : options_) names.push_back(option.name);
  return names;
}

void CommandLine::take_arguments(const Arguments& arguments) {
  po::options_description description;
  for (const Option& option : options_) {
    describe(description, option, option.name == "help" ? "help,h" : option.name);
    for (const std::string& other : option.other_names) describe(description, option, other);
  }
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
  } catch (const po::unknown_option& error) {
    const std::string option = without_values(error.get_option_name());
    std::vector<std::string> known;
    for (const std::string& name : names()) known.push_back("--" + name);
    throw UsageError("there is no option '" + option + "' of tinyot " + name_ +
                     did_you_mean(option, known) + "; see --help");
  } catch (const po::error& error) {
    throw UsageError(without_values(error.what()) + "; see --help");
  }
  for (const Option& option : options_) {
    std::vector<std::string> given_names = option.other_names;
    given_names.insert(given_names.begin(), option.name);
    std::erase_if(given_names, [&](const std::string& name) {
      return values.count(name) == 0 || values[name].defaulted();
    });
    if (given_names.empty()) continue;
    if (given_names.size() > 1)
      throw UsageError("--" + given_names[1] + " is another name of --" + option.name +
                       ": give only one of them");
    const po::variable_value& value = values[given_names[0]];
    values_[option.name] = {option.takes == Takes::Nothing ? std::vector<std::string>{}
                            : option.takes == Takes::Value
                                ? std::vector<std::string>{value.as<std::string>()}
                                : value.as<std::vector<std::string>>(),
                            false};
  }
}

void CommandLine::take_environment() {
  for (const Option& option : options_) {
    const std::string variable = variable_of(option.name);
    const char* const text = std::getenv(variable.c_str());
    if (text == nullptr || has(option.name)) continue;
    if (option.is_secret)
      throw UsageError("--" + option.name +
                       " is not taken from the environment, which other "
                       "programs can see: unset " +
                       variable);
    take(option, {text}, variable);
  }
}

void CommandLine::take_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("cannot read --config " + path);
  std::map<std::string, std::vector<std::string>> texts;
  try {
    const po::options_description none;
    for (const auto& entry : po::parse_config_file(file, none, true).options)
      texts[entry.string_key].insert(texts[entry.string_key].end(), entry.value.begin(),
                                     entry.value.end());
  } catch (const po::error& error) {
    throw UsageError(path + ": " + without_values(error.what()));
  }
  for (auto& [key, values] : texts) {
    const auto dot = key.rfind('.');
    const std::string section = dot == std::string::npos ? "" : key.substr(0, dot),
                      name = key.substr(dot + 1), origin = path + ": " + name;
    if (!section.empty() && !is_subcommand(section))
      throw UsageError(path + ": there is no subcommand for the section [" + section + "]");
    if (!section.empty() && section != name_) continue;
    const auto option = std::find_if(options_.begin(), options_.end(), [&](const Option& known) {
      return known.name == name || std::ranges::count(known.other_names, name) > 0;
    });
    if (option == options_.end())
      throw UsageError(path + ": '" + name + "' is not an option of tinyot " + name_ +
                       did_you_mean(name, names()) +
                       (section.empty() ? "; options of one subcommand go into a section, such as "
                                          "[preprocess]"
                                        : ""));
    if (option->is_secret)
      throw UsageError(origin +
                       " is not taken from a file of options: give it on the command line");
    if (!has(option->name)) take(*option, std::move(values), origin);
  }
}

void CommandLine::take(const Option& option, std::vector<std::string> texts,
                       const std::string& origin) {
  if (texts.size() > 1 && (option.takes == Takes::Nothing || option.takes == Takes::Value))
    throw UsageError(origin + " is given more than once");
  if (option.takes == Takes::Nothing) {
    if (!parse_flag(origin, texts[0])) return;
    texts.clear();
  }
  values_[option.name] = {std::move(texts), false};
}

void CommandLine::take_defaults() {
  for (const Option& option : options_)
    if (option.default_value && !has(option.name))
      values_[option.name] = {{*option.default_value}, true};
}

void CommandLine::check_required() const {
  std::vector<std::string> missing;
  for (const std::vector<std::string>& alternatives : required_) {
    if (std::ranges::any_of(alternatives, [&](const std::string& name) { return has(name); }))
      continue;
    std::string names = "--" + alternatives[0];
    for (std::size_t i = 1; i < alternatives.size(); ++i)
      names += (i > 1 ? ", --" : alternatives.size() > 2 ? " (or --" : " or --") + alternatives[i];
    missing.push_back(names + (alternatives.size() > 2 ? ")" : ""));
  }
  refuse_missing(missing, "; see tinyot " + name_ + " --help");
}

void refuse_missing(const std::vector<std::string>& missing, const std::string& hint) {
  if (missing.empty()) return;
  if (missing.size() == 1) throw UsageError(missing[0] + " is missing" + hint);
  std::string list;
  for (const std::string& text : missing) list += (list.empty() ? "" : ", ") + text;
  throw UsageError("these are missing: " + list + hint);
}

void CommandLine::print_help(bool all) const {
  std::vector<po::options_description> groups;
  std::vector<std::string> headings;
  bool complete = true;
  for (const Option& option : options_) {
    if (option.is_advanced && !all) {
      complete = false;
      continue;
    }
    const auto found = std::find(headings.begin(), headings.end(), option.group);
    const auto index = static_cast<std::size_t>(found - headings.begin());
    if (found == headings.end()) {
      headings.push_back(option.group);
      groups.emplace_back(option.group, kHelpWidth);
    }
    describe(groups[index], option, option.name == "help" ? "help,h" : option.name);
  }
  std::cout << "Usage: tinyot " << name_ << (usage_.empty() ? "" : " ") << usage_ << "\n\n";
  for (const po::options_description& group : groups) std::cout << group << "\n";
  if (!complete) std::cout << "--help-all prints further options.\n\n";
  std::cout << "Example:\n  " << example_ << "\n";
}

std::vector<std::string> CommandLine::list(const std::string& name) const {
  return has(name) ? values_.at(name).texts : std::vector<std::string>{};
}

std::uint64_t CommandLine::size(const std::string& name) const {
  return parse_size(name, text(name));
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

Arguments CommandLine::given_but(const std::set<std::string>& own) const {
  Arguments arguments;
  for (const Option& option : options_) {
    if (!is_explicit(option.name) || own.contains(option.name)) continue;
    if (option.takes == Takes::Nothing) arguments.push_back("--" + option.name);
    for (const std::string& text : values_.at(option.name).texts)
      arguments.insert(arguments.end(), {"--" + option.name, text});
  }
  return arguments;
}

std::uint64_t parse_size(const std::string& option, const std::string& text) {
  if (const auto size = size_from(text)) return *size;
  throw UsageError("--" + option + " '" + text +
                   "' is not a size: write a whole number, 2^20, 1M, 1Mi or 1e6");
}

std::vector<std::string> parse_names(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name);
  return names;
}

AndMaterial parse_material(const std::string& name) {
  if (name == "pairs") return AndMaterial::AandAot;
  return parse_choice("material", name,
                      {AndMaterial::AandAot, AndMaterial::Triples, AndMaterial::Garbling});
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

Party parse_party(const std::string& option, const std::string& text) {
  if (text == "A" || text == "a") return Party::A;
  if (text == "B" || text == "b") return Party::B;
  throw UsageError("--" + option + " must be A or B, not '" + text + "'");
}

}  // namespace tinyot::tools
