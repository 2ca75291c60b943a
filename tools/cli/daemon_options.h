// The options of subcommands that ask a party's daemon.
#pragma once

#include "service/server_address.h"
#include "tools/cli/command_line.h"

namespace tinyot::tools {

void add_server_options(Options& options);
// Fails: UsageError for options of TLS that are missing, or do not go with the address.
service::ServerAddress server_address_from(const CommandLine& line);

}  // namespace tinyot::tools
