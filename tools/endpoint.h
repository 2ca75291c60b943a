// Where a party finds its peer, and how each makes sure that it is the other: --listen or
// --connect, --key and --peer-key.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "engine/endpoint.h"
#include "tools/command_line.h"

namespace tinyot::tools {

void add_endpoint_options(Options& options);

// The line on stderr for a connection that is rejected.
void print_rejection(const std::string& text, Remedy remedy);

// TLS if there is a key; without one, plain TCP on a loopback address, or anywhere with
// --insecure-plaintext, which is warned of. Fails: UsageError, if a key is missing with how to make
// one; and for a key or fingerprint that cannot be used.
engine::Endpoint endpoint_from(const CommandLine& line);
// The same for a subcommand that can do without; --peer stands for --connect.
std::optional<engine::Endpoint> optional_endpoint_from(const CommandLine& line);

}  // namespace tinyot::tools
