// A check fails on one connection of a session while another one is obstructed: measures how soon
// the honest party's keys are erased, and how soon it ends.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tinyot/party.h"
#include "tools/selftest/adversary/trial.h"

namespace tinyot::tools {

// What the cheater does on the session's first connection while a check fails on the second.
enum class Obstruction : std::uint8_t {
  Nothing,
  Silence,    // nothing more is sent
  Trickle,    // a message never ends, and its bytes come one at a time
  Flood,      // bytes without end
  NeverReads  // data sent to it never leave this side
};
inline constexpr std::array kAllObstructions = {Obstruction::Nothing, Obstruction::Silence,
                                                Obstruction::Trickle, Obstruction::Flood,
                                                Obstruction::NeverReads};
std::string_view name_of(Obstruction obstruction);

// Limits after the first message that a check must find, or after the obstruction if that is
// earlier.
inline constexpr auto kErasedWithin = std::chrono::seconds(2);
inline constexpr auto kEndedWithin = std::chrono::seconds(4);

struct Revocation {
  Obstruction obstruction;
  Party cheater;
  Ending honest;
  double erased_s = 0, ended_s = 0;
  std::string violation;  // empty if there is none
};
Revocation try_revocation(Obstruction obstruction, Party cheater, std::uint64_t seed);

// Each obstruction by each party.
std::vector<Revocation> try_revocations(std::uint64_t seed);

}  // namespace tinyot::tools
