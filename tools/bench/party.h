// `tinyot bench party`: a party of a bench whose work no other command does.
#pragma once

#include <cstdint>
#include <string>

#include "tools/cli/subcommands.h"

namespace tinyot::tools {

// One row of `tinyot bench ot`.
struct OtJob {
  std::string kind;
  std::uint32_t k = 2;
  std::uint64_t rounds = 1, round_ots = 1;
  std::uint64_t repeat = 1;
  std::string silent_set = {};  // of kind silent

  bool is_silent() const { return kind == "silent"; }
  // "base-ml-kem": base OTs alone.
  bool is_base() const { return kind.starts_with("base-"); }
  std::uint64_t directions() const { return kind == "abits" || is_silent() || is_base() ? 2 : 1; }
  std::uint64_t ots() const { return directions() * rounds * round_ots; }
};

// Fails: UsageError.
void require_ot_kind(const std::string& name);
// Of the phase with the measured rounds, from 0 on.
std::string name_of_repeat(std::uint64_t number);
// The command of a party.
Arguments arguments_of(const OtJob& job);

}  // namespace tinyot::tools
