// `tinyot client ...`: submits jobs to this party's daemon, and asks it for their results and for
// its state.
#pragma once

#include "tools/cli/command_line.h"

namespace tinyot::tools {

int client_run(const Arguments& arguments);
int client_submit(const Arguments& arguments);
int client_status(const Arguments& arguments);
int client_result(const Arguments& arguments);
int client_cancel(const Arguments& arguments);
int client_stock(const Arguments& arguments);
int client_peers(const Arguments& arguments);
int client_retire(const Arguments& arguments);
int client_resume(const Arguments& arguments);

}  // namespace tinyot::tools
