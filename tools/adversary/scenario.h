// What an attacked session does: the real protocols over small sizes, from the handshake to
// outputs. Both parties run it, each on a thread and a channel of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/channel.h"
#include "tinyot/party.h"

namespace tinyot::tools {

class Scenario {
 public:
  virtual ~Scenario() = default;

  // One party's end. Fails: as the protocols.
  virtual void run(Party me, net::Channel& channel) = 0;

  // After both have ended: what is wrong with what a party that has kept to the protocol has been
  // given, however its session has ended; empty if nothing is.
  virtual std::string flaw(Party honest) = 0;
};

struct ScenarioKind {
  std::string name;
  std::string description;
  // All randomness of a session follows from the seed.
  std::function<std::unique_ptr<Scenario>(std::uint64_t seed)> make;
  bool is_broken_off = false;  // the cheater hangs up around each message of EQ, and no more
};
const std::vector<ScenarioKind>& scenario_kinds();

// From base OTs to a circuit's outputs, on material of one profile.
std::vector<ScenarioKind> computations();
// What the parties say about their stores before they make or draw something.
std::vector<ScenarioKind> store_agreements();
// Units are poured into stores, which keep account of those that are broken off.
std::vector<ScenarioKind> unit_makings();

}  // namespace tinyot::tools
