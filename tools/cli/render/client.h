// What the daemon says of jobs, stock and peers, as reports of `tinyot client`.
#pragma once

#include <string>

#include "tools/cli/client_connection.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {

std::string_view name_of(RemoteJob::State state);  // as in JSON: "waiting_for_peer"

Json fields_of(const RemoteJob& job);
std::string outcome_text(const RemoteJob& job);  // "running"
std::string text_of(const RemoteJob& job);       // a line

// Of such entries, a line each.
std::string stock_text(const Json& sessions);
std::string peers_text(const Json& peers);

}  // namespace tinyot::tools
