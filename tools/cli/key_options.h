// What the subcommands of `tinyot key` have in common.
#pragma once

#include <string>

#include "service/keys_client.h"
#include "tools/cli/command_line.h"

namespace tinyot::tools {

// A line with the options of the daemon and of the peer.
CommandLine key_line(const std::string& verb, const std::string& usage, const std::string& example);
// The key as the first argument.
void take_key(CommandLine& line);
// --wait, of calls that wait for the peer or an officer.
void add_key_wait(Options& options);
// --certificate, of commands that make a key.
void add_certificate_output(Options& options);

service::KeyName key_name_from(const CommandLine& line);
std::string peer_name_from(const CommandLine& line);
service::KeysConnection keys_from(const CommandLine& line);

}  // namespace tinyot::tools
