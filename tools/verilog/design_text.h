// The text of a design, which is data: importing it reads no other file and runs nothing.
#pragma once

#include <string>
#include <string_view>

namespace tinyot::tools {

// The content of the file, which the design's own text may not exceed by includes and the like
// (refuse_requests). Fails: UsageError.
std::string design_text(const std::string& file);

// Refuses what asks for a file or a command: `include, functions of C (DPI), and system functions
// that are not about values. Macros are not expanded; names that they could complete to one of
// these are refused, and so is text of which Yosys could have another opinion where strings and
// comments end. Fails: UsageError naming file, line and what to write instead.
void refuse_requests(std::string_view text, const std::string& file);

}  // namespace tinyot::tools
