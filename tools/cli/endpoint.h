// How a party connects to its peer, and how the two authenticate each other: --listen or --connect,
// --key and --peer-key.
#pragma once

#include <chrono>

#include "engine/endpoint.h"
#include "tools/cli/command_line.h"

namespace tinyot::tools {

void add_endpoint_options(Options& options);

// TLS if there is a key; without one, plain TCP on a loopback address, or anywhere with
// --insecure-plaintext, after a warning. Fails: UsageError if a key is missing, with instructions
// for making one, or if a key or fingerprint cannot be used. `idle_min`: the least time for which
// the peer is waited for, whatever --idle-timeout says.
Endpoint endpoint_from(const CommandLine& line, std::chrono::seconds idle_min = {});

}  // namespace tinyot::tools
