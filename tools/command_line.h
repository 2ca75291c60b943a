// What the subcommands' command lines have in common: parsing, help, sizes, inputs and outputs by name.
#pragma once

#include <boost/program_options.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/party.h"
#include "net/tcp.h"

namespace tinyot {

namespace po = boost::program_options;
using Arguments = std::vector<std::string>;

enum class Format { Text, Json };

// Options that every subcommand has.
struct CommonOptions {
  Format format = Format::Text;
  bool quiet = false;
};

// Describes and parses the options of a subcommand. `--help` prints the usage, the options and the example, and ends the
// subcommand: parse() then returns false.
class CommandLine {
 public:
  CommandLine(std::string usage, std::string example);

  po::options_description& options() { return options_; }
  // Names of arguments without dashes, in order.
  void positional(const std::string& name, int count) { positional_.add(name.c_str(), count); }

  // Fails: UsageError.
  bool parse(const Arguments& arguments);

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  // It has been typed, and is not there by default.
  bool given(const std::string& name) const { return has(name) && !values_[name].defaulted(); }
  template <class T>
  T get(const std::string& name) const {
    return values_[name].as<T>();
  }
  // A required option's text. Fails: UsageError if it is missing.
  std::string required(const std::string& name) const;
  std::vector<std::string> list(const std::string& name) const;
  // Sizes: decimal, or 2^k. Fails: UsageError naming the option.
  std::uint64_t size(const std::string& name) const;
  std::optional<std::uint64_t> optional_size(const std::string& name) const;
  CommonOptions common() const;

 private:
  std::string usage_, example_;
  po::options_description options_;
  po::positional_options_description positional_;
  po::variables_map values_;
};

std::uint64_t parse_size(const std::string& option, const std::string& text);

// Splits NAME=VALUE. Fails: UsageError.
std::pair<std::string, std::string> split_assignment(const std::string& option, const std::string& text);

void add_timeout_options(po::options_description& options);
TcpTimeouts timeouts_from(const CommandLine& line);
Party party_from(const CommandLine& line);

}  // namespace tinyot
