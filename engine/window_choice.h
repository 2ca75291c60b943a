// The window of a run that asks for none: its phase's default or, where fewer rounds are worth more
// than memory and computation, a larger one, as A expects (doc/protocol.md, section 16.10).
#pragma once

#include <chrono>
#include <cstddef>

#include "engine/loaded_circuit.h"
#include "net/channel.h"
#include "online/online_phase.h"
#include "tinyot/parameters.h"

namespace tinyot::engine {

// The window that is expected to be the fastest over a link with this round-trip time. Generates
// at most 2^26 of the circuit's gates, and none if rounds would save less than a twentieth.
std::size_t fastest_window(const LoadedCircuit& circuit, const online::OnlinePhaseEntry& phase,
                           AndMaterial form, std::chrono::nanoseconds round_trip);

// Role: both. A chooses, and B takes part as told. Wire: 8 bytes from A, if the circuit does not
// fit the default and the phase has larger windows. Fails: PeerCheated("framing") if A names none
// of them.
std::size_t choose_window(net::Channel& channel, Party me, const LoadedCircuit& circuit,
                          const online::OnlinePhaseEntry& phase, AndMaterial form,
                          std::chrono::nanoseconds round_trip);

}  // namespace tinyot::engine
