// What the subcommands' command lines have in common: parsing, help, sizes, inputs and outputs by
// name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "net/tcp.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"
#include "tools/cli/subcommands.h"

namespace tinyot::tools {

enum class Format { Text, Json };

// Options that every subcommand has.
struct CommonOptions {
  Format format = Format::Text;
  bool quiet = false;
};

// An option of a subcommand.
struct Option {
  enum class Takes { Nothing, Value, Repeatable, MultiValue };
  std::string name, help;
  Takes takes;
  std::optional<std::string> default_value;
  std::string group;                     // the heading under which the help lists it
  std::vector<std::string> other_names;  // accepted, but not in the help
  bool is_advanced = false;              // listed by --help-all only
  bool is_secret = false;                // not taken from a file or the environment
};

// The options of a subcommand, in the order of its help.
class Options {
 public:
  // The heading of the options that follow.
  Options& group(std::string heading) { return group_ = std::move(heading), *this; }

  Options& flag(std::string name, std::string help) {
    return add(std::move(name), std::move(help), Option::Takes::Nothing);
  }
  Options& value(std::string name, std::string help,
                 std::optional<std::string> default_value = {}) {
    return add(std::move(name), std::move(help), Option::Takes::Value, std::move(default_value));
  }
  // May be given more than once.
  Options& values(std::string name, std::string help) {
    return add(std::move(name), std::move(help), Option::Takes::Repeatable);
  }
  // May be given more than once, and with several values after one name, as a shell expands a
  // pattern.
  Options& multi_value(std::string name, std::string help) {
    return add(std::move(name), std::move(help), Option::Takes::MultiValue);
  }

  // These describe the option that was added last.
  Options& alias(std::string other_name) {
    return options_.back().other_names.push_back(std::move(other_name)), *this;
  }
  Options& advanced() { return options_.back().is_advanced = true, *this; }
  Options& secret() { return options_.back().is_secret = true, *this; }

  auto begin() const { return options_.begin(); }
  auto end() const { return options_.end(); }

 private:
  Options& add(std::string name, std::string help, Option::Takes takes,
               std::optional<std::string> default_value = {}) {
    options_.push_back(
        {std::move(name), std::move(help), takes, std::move(default_value), group_, {}});
    return *this;
  }

  std::string group_ = "Options";
  std::vector<Option> options_;
};

// Describes and parses the options of a subcommand. An option's value comes from the command line;
// else from the environment, as TINYOT_CONNECT_TIMEOUT for --connect-timeout; else from the file
// named by --config; else it is the default. `--help` and `--help-all` print the usage, the options
// and the example, and end the subcommand: parse() then returns false.
class CommandLine {
 public:
  // `name` as in "store info"; `usage` is what follows it.
  CommandLine(std::string name, std::string usage, std::string example);

  Options& options() { return options_; }
  // Names of arguments without dashes, in order.
  void positional(const std::string& name, int count) { positional_.emplace_back(name, count); }
  // One of these options has to be given. parse() names all that are missing at once.
  void require_one_of(std::vector<std::string> names) { required_.push_back(std::move(names)); }
  void require(const std::string& name) { require_one_of({name}); }

  // Fails: UsageError.
  bool parse(const Arguments& arguments);

  bool has(const std::string& name) const { return values_.contains(name); }
  // Whether the option was given, and does not only have its default.
  bool is_explicit(const std::string& name) const {
    return has(name) && !values_.at(name).is_default;
  }
  // The value of an option that is present.
  const std::string& text(const std::string& name) const { return values_.at(name).texts.at(0); }
  std::vector<std::string> list(const std::string& name) const;
  // Sizes: see parse_size. Fails: UsageError naming the option.
  std::uint64_t size(const std::string& name) const;
  std::optional<std::uint64_t> optional_size(const std::string& name) const;
  CommonOptions common() const;
  // The options that were given, but for these, as arguments of another subcommand that has them.
  Arguments given_but(const std::set<std::string>& own) const;

 private:
  struct Given {
    std::vector<std::string> texts;  // none for a flag
    bool is_default;
  };
  void take_arguments(const Arguments& arguments);
  void take_environment();
  void take_file(const std::string& path);
  void take(const Option& option, std::vector<std::string> texts, const std::string& origin);
  void take_defaults();
  void check_required() const;
  void print_help(bool all) const;
  std::vector<std::string> names() const;

  std::string name_, usage_, example_;
  Options options_;
  std::vector<std::pair<std::string, int>> positional_;
  std::vector<std::vector<std::string>> required_;
  std::map<std::string, Given> values_;
};

// Fails: UsageError that names all texts, unless there is none.
void refuse_missing(const std::vector<std::string>& missing, const std::string& hint);

// A size (base/size.h). Fails: UsageError naming the option.
std::uint64_t parse_size(const std::string& option, const std::string& text);
// The values of a list, which commas separate.
std::vector<std::string> parse_names(const std::string& text);
// The one of `values` with this name. Fails: UsageError naming the option and all values.
template <class Value>
Value parse_choice(const std::string& option, const std::string& name,
                   std::initializer_list<Value> values) {
  std::string known;
  for (const Value& value : values) {
    if (name == name_of(value)) return value;
    const bool is_last = &value + 1 == values.end();
    known += (known.empty() ? "" : is_last ? " or " : ", ") + std::string(name_of(value));
  }
  throw UsageError("--" + option + " must be " + known + ", not '" + name + "'");
}
// What an AND consumes, as the option --material names it; `pairs` is the older name of `aand-aot`.
// Fails: UsageError.
AndMaterial parse_material(const std::string& name);
// Splits NAME=VALUE. Fails: UsageError.
std::pair<std::string, std::string> split_assignment(const std::string& option,
                                                     const std::string& text);

void add_timeout_options(Options& options);
net::TcpTimeouts timeouts_from(const CommandLine& line);
// "A" or "B", in either case. Fails: UsageError naming the option.
Party parse_party(const std::string& option, const std::string& text);

}  // namespace tinyot::tools
