#include "circuitgen/formats/verilog/design_text.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/error.h"
#include "system/input_file.h"

namespace tinyot::circuit {
namespace {

constexpr std::uint64_t kBytesMax = std::uint64_t{64} << 20;

// Those that Yosys computes, and those that it ignores in a synthesis.
const std::set<std::string_view>& allowed_functions() {
  static const std::set<std::string_view> kAllowed = {
      "signed",   "unsigned",  "clog2",     "bits",   "size",    "high",      "low",     "left",
      "right",    "countones", "countbits", "onehot", "onehot0", "isunknown", "ln",      "log10",
      "exp",      "sqrt",      "pow",       "floor",  "ceil",    "sin",       "cos",     "tan",
      "asin",     "acos",      "atan",      "atan2",  "hypot",   "sinh",      "cosh",    "tanh",
      "asinh",    "acosh",     "atanh",     "rtoi",   "itor",    "sformatf",  "display", "displayb",
      "displayh", "displayo",  "write",     "writeb", "writeh",  "writeo",    "strobe",  "monitor",
      "time",     "stop",      "finish",    "info",   "warning", "error",     "fatal"};
  return kAllowed;
}

// Names that are no macros.
const std::set<std::string_view>& directives() {
  static const std::set<std::string_view> kDirectives = {"define",
                                                         "undef",
                                                         "undefineall",
                                                         "ifdef",
                                                         "ifndef",
                                                         "elsif",
                                                         "else",
                                                         "endif",
                                                         "include",
                                                         "line",
                                                         "timescale",
                                                         "pragma",
                                                         "celldefine",
                                                         "protect",
                                                         "endprotect",
                                                         "file_push",
                                                         "file_pop",
                                                         "resetall",
                                                         "endcelldefine",
                                                         "default_nettype",
                                                         "unconnected_drive",
                                                         "nounconnected_drive"};
  return kDirectives;
}

constexpr std::string_view kRead = "readmem", kInclude = "include";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_of_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '$'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

class Scan {
 public:
  Scan(std::string_view text, const std::string& file, Macros macros)
      : text_(text), file_(file), macros_(macros) {}

  void run() {
    while (at_ < text_.size()) {
      if (starts("//") || starts("/*"))
        skip_comment();
      else if (text_[at_] == '"')
        read_string();
      else if (text_[at_] == '`')
        read_directive();
      else if (text_[at_] == '\\')
        read_escaped_name();
      else if (text_[at_] == '$')
        read_system_name();
      else if (is_letter(text_[at_]))
        read_name();
      else
        ++at_;
    }
  }

 private:
  bool starts(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  [[noreturn]] void refuse(const std::string& reason) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<long>(at_), '\n');
    throw UsageError(file_ + ":" + std::to_string(line) + ": " + reason);
  }

  void skip_to(std::string_view end) { at_ = std::min(text_.find(end, at_), text_.size()); }

  // What follows such a comment is none to Yosys, not even the begin of a string.
  void refuse_translate_off(std::string_view comment) const {
    const auto skip_blanks = [&] {
      comment.remove_prefix(std::min(comment.find_first_not_of(" \t"), comment.size()));
    };
    skip_blanks();
    for (const std::string_view word : {"synopsys", "synthesis"}) {
      if (!comment.starts_with(word)) continue;
      comment.remove_prefix(word.size());
      skip_blanks();
      if (comment.starts_with("translate_o"))
        refuse_unless_any("a comment that switches translation on or off");
    }
  }

  void skip_comment() {
    const std::string_view end = starts("//") ? "\n" : "*/";
    const std::size_t begin = at_;
    at_ += 2;
    skip_to(end);
    refuse_translate_off(text_.substr(begin + 2, at_ - begin - 2));
    if (end == "*/") at_ += std::min(end.size(), text_.size() - at_);
  }

  // The part of a name from `begin` on.
  std::string_view name_from(std::size_t begin) const {
    std::size_t end = begin;
    while (end < text_.size() && is_of_name(text_[end])) ++end;
    return text_.substr(begin, end - begin);
  }

  void read_string() {
    if (starts("\"\"\"")) refuse("three quotation marks in a row: put a blank between strings");
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
      end += text_.substr(end).starts_with("\\\n") || text_[end] != '\\' ? 1 : 2;
    if (end >= text_.size() || text_[end] == '\n') refuse("a string that does not end on its line");
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    if (content == "DPI" || content == "DPI-C")
      refuse("a function imported from C (DPI): a design is data and runs nothing on this machine");
    at_ = end + 1;
  }

  void read_directive() {
    if (starts("`\"")) refuse("`\" makes a string of macros: write the string");
    if (starts("``")) {
      refuse_unless_any("``, which joins the text of macros");
      at_ += 2;
      return;
    }
    const std::string_view name = name_from(at_ + 1);
    if (name == kInclude)
      refuse("`include: a design is data and reads no other file; put all modules in one file");
    refuse_dollar_within(name);
    if (kInclude.starts_with(name))
      refuse("`" + std::string(name) + ", which a macro could complete to `include: rename it");
    if (macros_ == Macros::Plain) refuse_neighbours(name);
    at_ += 1 + name.size();
    if (macros_ == Macros::Plain && name == "define") check_plain_macro();
  }

  void refuse_unless_any(const std::string& what) const {
    if (macros_ != Macros::Any)
      refuse(what +
             ": without a sandbox, nothing may change what is a string or a comment, so a macro is "
             "a name for a value or an expression; write its text, use `ifdef instead of comments, "
             "or install bubblewrap");
  }

  // A macro's text, which may be empty, is part of what stands before and after it.
  void refuse_neighbours(std::string_view name) const {
    constexpr std::string_view kOpening = "/\\\"`";
    const std::size_t end = at_ + 1 + name.size();
    if ((at_ > 0 && kOpening.find(text_[at_ - 1]) != std::string_view::npos) ||
        (end < text_.size() && kOpening.find(text_[end]) != std::string_view::npos))
      refuse("a macro next to one of / \\ \" `: put a blank between them");
  }

  // From the end of `define on: the name, and the text to the end of the line.
  void check_plain_macro() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    const std::string_view defined = name_from(at_);
    at_ += defined.size();
    if (defined.empty() || directives().contains(defined))
      refuse_unless_any("a macro with the name of a directive, or without one");
    if (starts("(")) refuse_unless_any("a macro with arguments");
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (starts("//")) {
        const std::string_view comment = text_.substr(at_, text_.find('\n', at_) - at_);
        if (comment.find('\\') != std::string_view::npos)
          refuse_unless_any("a macro with a \\ in its comment");
        break;
      }
      if (starts("\\\n")) {
        ++at_;
        continue;
      }
      if (text_[at_] == '/' || text_[at_] == '\\' || text_[at_] == '"')
        refuse_unless_any("a macro with one of / \\ \" in its text");
      if (text_[at_] == '`') {
        if (starts("``") || starts("`\"")) refuse_unless_any("a macro that joins texts");
        const std::string_view used = name_from(at_ + 1);
        refuse_neighbours(used);
        if (!plain_.contains(used)) refuse_unless_any("a macro that is no plain one in its text");
        at_ += used.size();
      } else if (text_[at_] == '$') {
        read_system_name();
        --at_;
      } else if (is_letter(text_[at_])) {
        read_name();
        --at_;
      }
    }
    plain_.insert(defined);
  }

  // Yosys calls a system function by its escaped name, too.
  void read_escaped_name() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && !is_space(text_[end])) ++end;
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    if (name.find_first_of("\"`") != std::string_view::npos ||
        name.find("//") != std::string_view::npos || name.find("/*") != std::string_view::npos)
      refuse("the escaped name \\" + std::string(name) +
             " has a quotation mark, a macro or a comment in it: rename it");
    if (name.starts_with('$') && kRead.starts_with(name.substr(1))) refuse_function(name.substr(1));
    if (name.find("$readmem") != std::string_view::npos)
      refuse_function(name.substr(name.find('$') + 1));
    at_ = end;
  }

  // To Yosys, a name with a $ in it may be a number and a system function, and a macro may complete
  // what follows.
  void refuse_dollar_within(std::string_view name) const {
    if (name.find('$') != std::string_view::npos)
      refuse("the name " + std::string(name) +
             " has a $ in it, which may begin a system function: rename it");
  }

  [[noreturn]] void refuse_function(std::string_view name) const {
    refuse("$" + std::string(name) +
           " is not one of the system functions that a design may use: it is data, and neither "
           "reads files nor runs commands; put tables into it as a case statement or an initial "
           "block");
  }

  void read_system_name() {
    const std::string_view name = name_from(at_ + 1);
    if (!allowed_functions().contains(name)) refuse_function(name);
    at_ += 1 + name.size();
  }

  void read_name() {
    const std::string_view name = name_from(at_);
    refuse_dollar_within(name);
    at_ += name.size();
  }

  std::string_view text_;
  const std::string& file_;
  const Macros macros_;
  std::set<std::string_view> plain_;  // macros defined so far
  std::size_t at_ = 0;
};

}  // namespace

std::string design_text(const std::string& file) {
  std::string text =
      system::read_text(system::InputFile(file, system::InputFile::Kind::Regular), kBytesMax);
  std::erase(text, '\r');  // Yosys leaves them out, also within names
  if (std::ranges::any_of(text, [](unsigned char c) { return c < ' ' && !is_space(c); }))
    throw UsageError("cannot read " + file +
                     ": it is not a text: it has control characters, or is compressed");
  return text;
}

void refuse_requests(std::string_view text, const std::string& file, Macros macros) {
  Scan(text, file, macros).run();
}

}  // namespace tinyot::circuit
