// The text of a design. It is data: importing it reads no other file and runs nothing.
#pragma once

#include <string>
#include <string_view>

namespace tinyot::tools {

// The content of the file, without carriage returns, which Yosys leaves out. Fails: UsageError if
// it is not a text file of at most 64 MiB, and as refuse_requests.
std::string design_text(const std::string& file);

// Refuses what asks for a file or a command: `include, functions of C (DPI), and system functions
// that are not about values. Macros are not expanded: a name that one could complete to such a
// request is refused, and so is text in which Yosys may see other strings and comments than this
// does. Fails: UsageError naming file, line and what to write instead.
void refuse_requests(std::string_view text, const std::string& file);

}  // namespace tinyot::tools
