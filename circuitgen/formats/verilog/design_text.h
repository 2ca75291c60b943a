// The text of a design. It is data: importing it reads no other file and runs nothing.
#pragma once

#include <string>
#include <string_view>

namespace tinyot::circuit {

// The content of the file, without carriage returns, which Yosys leaves out. Fails: UsageError if
// it is not a text file of at most 64 MiB.
std::string design_text(const std::string& file);

// Macros that a design may use.
enum class Macros {
  Any,
  // Names for values and expressions, without arguments. The text of one has nothing of which
  // strings, comments or escaped names are made, and none is next to such text; so there are as
  // many of these after the expansion as before it.
  Plain,
};

// Refuses what asks for a file or a command: `include, functions of C (DPI), and system functions
// that are not about values. Macros are not expanded: a name that one could complete to such a
// request is refused, and so is text in which Yosys may see other strings and comments than this
// does; but macros other than plain ones can build those. Fails: UsageError naming file, line and
// what to write instead.
void refuse_requests(std::string_view text, const std::string& file, Macros macros);

}  // namespace tinyot::circuit
