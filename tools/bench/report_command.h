// `tinyot report`: measures, and writes a folder with results, figures and a page.
#pragma once

#include "tools/cli/command_line.h"

namespace tinyot::tools {

int report_command(const Arguments& arguments);

}  // namespace tinyot::tools
