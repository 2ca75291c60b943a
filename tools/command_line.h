// What the subcommands' command lines have in common: parsing, help, sizes, inputs and outputs by
// name.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/tcp.h"
#include "tinyot/party.h"

namespace tinyot::tools {

using Arguments = std::vector<std::string>;

enum class Format { Text, Json };

// Options that every subcommand has.
struct CommonOptions {
  Format format = Format::Text;
  bool quiet = false;
};

// An option of a subcommand: its name, its help text, the values that it takes, and its default.
struct Option {
  enum class Takes { Nothing, Value, Values, Several };
  std::string name, help;
  Takes takes;
  std::optional<std::string> by_default;
};

// The options of a subcommand, in the order of its help.
class Options {
 public:
  Options& flag(std::string name, std::string help);
  Options& value(std::string name, std::string help, std::optional<std::string> by_default = {});
  // May be given more than once.
  Options& values(std::string name, std::string help);
  // The same, also with several values after one name, as a shell expands a pattern.
  Options& several(std::string name, std::string help);

  auto begin() const { return options_.begin(); }
  auto end() const { return options_.end(); }

 private:
  std::vector<Option> options_;
};

// Describes and parses the options of a subcommand. `--help` prints the usage, the options and the
// example, and ends the subcommand: parse() then returns false.
class CommandLine {
 public:
  CommandLine(std::string usage, std::string example);

  Options& options() { return options_; }
  // Names of arguments without dashes, in order.
  void positional(const std::string& name, int count) { positional_.emplace_back(name, count); }

  // Fails: UsageError.
  bool parse(const Arguments& arguments);

  bool has(const std::string& name) const { return values_.contains(name); }
  // Whether the option was given, and does not only have its default.
  bool given(const std::string& name) const { return has(name) && !values_.at(name).by_default; }
  // The value of an option that is present.
  const std::string& text(const std::string& name) const { return values_.at(name).texts.at(0); }
  // A required option's text. Fails: UsageError if it is missing.
  const std::string& required(const std::string& name) const;
  std::vector<std::string> list(const std::string& name) const;
  // Sizes: decimal, or 2^k. Fails: UsageError naming the option.
  std::uint64_t size(const std::string& name) const;
  std::optional<std::uint64_t> optional_size(const std::string& name) const;
  CommonOptions common() const;

 private:
  struct Typed {
    std::vector<std::string> texts;  // none for a flag
    bool by_default;
  };
  std::string usage_, example_;
  Options options_;
  std::vector<std::pair<std::string, int>> positional_;
  std::map<std::string, Typed> values_;
};

std::uint64_t parse_size(const std::string& option, const std::string& text);

// Splits NAME=VALUE. Fails: UsageError.
std::pair<std::string, std::string> split_assignment(const std::string& option,
                                                     const std::string& text);

void add_timeout_options(Options& options);
net::TcpTimeouts timeouts_from(const CommandLine& line);
Party party_from(const CommandLine& line);

}  // namespace tinyot::tools
