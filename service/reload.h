// What a running daemon reads again on request (SIGHUP): the policies of its peers, this party's
// certificates with them, the certificate, key and authorities of the interface on TCP, what its
// clients may do, and where the log goes. Jobs, results, connections and what policies have counted
// stay.
#pragma once

#include <filesystem>

#include "config.pb.h"
#include "service/api.h"
#include "service/log_output.h"

namespace tinyot::service {

// The fields in which `now` differs from `started`, with which the daemon runs, and which a reload
// does not change; empty if there is none.
std::string fields_for_restart(const config::Daemon& started, const config::Daemon& now);

// Reads everything, and only then changes anything. Fails: UsageError as check_start() does, or if
// a key is another one; then nothing has changed.
void reload(const std::filesystem::path& configuration, const config::Daemon& started,
            const Peers& peers, Api& api, LogOutput& log);

}  // namespace tinyot::service
