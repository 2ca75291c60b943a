// What an attacked session does: the real protocols with small sizes, from the handshake to
// outputs. Both parties run it, each on its own thread and channel.
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

  // After both have ended: what is wrong with the results of a party that followed the protocol,
  // however its session ended; empty if nothing is.
  virtual std::string flaw(Party honest) = 0;
};

struct ScenarioKind {
  std::string name;
  std::string description;
  // A message is attacked in the first scenario of each group that has it.
  std::string group;
  // All randomness of a session follows from the seed.
  std::function<std::unique_ptr<Scenario>(std::uint64_t seed)> make;
  bool is_broken_off = false;      // the cheater only hangs up around each message of EQ
  std::string_view messages = {};  // only those whose names begin with this are attacked
  // After the last message of this name, those of its track begin what the session does not end, so
  // they are not attacked. Empty: all of them have an effect.
  std::string_view last_used = {};
};
const std::vector<ScenarioKind>& scenario_kinds();

// From base OTs to a circuit's outputs, on material of one profile.
std::vector<ScenarioKind> computations();
// The messages about stores, which are exchanged before material is made or drawn.
std::vector<ScenarioKind> store_agreements();
// Units are poured into stores, which record those that are broken off.
std::vector<ScenarioKind> unit_makings();

}  // namespace tinyot::tools
