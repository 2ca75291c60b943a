// One session in which one party deviates, and how it ends for the other one.
#pragma once

#include <functional>

#include "tools/selftest/adversary/deviation.h"
#include "tools/selftest/adversary/scenario.h"

namespace tinyot::tools {

// How one party's session has ended.
struct Ending {
  enum class Kind : std::uint8_t {
    Done,
    Caught,  // PeerCheated
    Told,    // the peer sent an abort
    Cut,     // the connection ended, or each party waited for the other
    Disagreed,
    Refused,  // by its own store, or as incorrect use
    Broken,   // an internal error
  } kind = Kind::Done;
  std::string check;  // of Caught
  std::string text;
};

struct Trial {
  Ending honest, cheater;
  Conduct conduct;   // of the cheater
  std::string flaw;  // in the honest party's results
};

// Runs `body` on a channel over the stream, to its end. If `tells` is set, a party that detects
// cheating sends an abort, as the commands do.
Ending ending_of(const std::function<void(net::Channel&)>& body,
                 std::unique_ptr<net::ByteStream> stream, bool tells = false);

// Runs a session of the kind. `deviation` may be null: then no party deviates.
Trial attempt(const ScenarioKind& kind, std::uint64_t seed, Party cheater,
              const Deviation* deviation, const Transcript* earlier = nullptr);

}  // namespace tinyot::tools
