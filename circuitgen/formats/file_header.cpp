#include "circuitgen/formats/file_header.h"

#include <string>
#include <string_view>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

bool begins_with_digit(std::string_view word) { return word[0] >= '0' && word[0] <= '9'; }

class HeaderReader {
 public:
  explicit HeaderReader(const TextSource& text) : bytes_(text.bytes()), lines_(text) {
    header_.format = format_of(text);
  }

  FileHeader read() && {
    if (header_.format == FileFormat::TruthTables) return header_;
    next();
    read_counts();
    next();
    if (header_.format == FileFormat::OldBristol) {
      read_old_widths();
    } else {
      header_.input_wires = read_bundles("input", header_.inputs);
      next();
      header_.output_wires = read_bundles("output", header_.outputs);
    }
    return header_;
  }

 private:
  static FileFormat format_of(const TextSource& text) {
    FileLines lines(text);
    if (!lines.next()) return FileFormat::BristolFashion;
    const auto first = lines.words();
    if (first.size() >= 4 && begins_with_digit(first.back())) return FileFormat::TruthTables;
    const bool no_gates = first[0] == "0";
    if (first.size() != 2 || !lines.next() || lines.words().size() != 3)
      return FileFormat::BristolFashion;
    if (lines.next())
      return begins_with_digit(lines.words().back()) ? FileFormat::BristolFashion
                                                     : FileFormat::OldBristol;
    return no_gates ? FileFormat::OldBristol : FileFormat::BristolFashion;
  }

  void next() {
    if (!lines_.next()) lines_.fail("the file ends before its header is complete");
    words_ = lines_.words();
    ++header_.lines;
  }

  std::uint64_t number(std::size_t index) const { return lines_.integer(words_[index]); }

  void read_counts() {
    if (words_.size() != 2)
      lines_.fail(
          "the first line must be two numbers, gates and wires, or a gate with a truth table");
    header_.gates = number(0);
    header_.wires = number(1);
    if (header_.gates > bytes_) fail_size(header_.gates, "gates");
    if (header_.wires > bytes_ + kUnreadWiresMax) fail_size(header_.wires, "wires");
    if (header_.wires > kFileWiresMax)
      lines_.fail("more than " + std::to_string(kFileWiresMax) + " wires are not supported");
  }

  // The length of the file bounds the memory: each gate has its own line, and each wire is written
  // in some line.
  [[noreturn]] void fail_size(std::uint64_t count, const char* what) const {
    lines_.fail("the header announces " + std::to_string(count) + " " + what +
                ", too many for a file of " + std::to_string(bytes_) + " bytes");
  }

  std::uint32_t width(std::size_t index, const std::string& kind,
                      std::uint64_t wires_before) const {
    const std::uint64_t width = number(index);
    if (width > header_.wires - wires_before) {
      lines_.fail("the " + kind + " bundles have more bits than the " +
                  std::to_string(header_.wires) + " wires of the header");
    }
    return static_cast<std::uint32_t>(width);
  }

  std::uint64_t read_bundles(const std::string& kind, std::vector<std::uint32_t>& widths) const {
    const std::uint64_t bundles = number(0);
    const std::size_t given = words_.size() - 1;
    if (bundles != given) {
      lines_.fail(std::to_string(bundles) + " " + kind + " bundles are announced, but " +
                  std::to_string(given) + " widths are given");
    }
    std::uint64_t sum = 0;
    for (std::size_t i = 1; i <= given; ++i) {
      widths.push_back(width(i, kind, sum));
      if (widths.back() == 0)
        lines_.fail(kind + " bundle " + std::to_string(i - 1) + " has no bits");
      sum += widths.back();
    }
    return sum;
  }

  // The format was detected in an earlier pass; the file may have changed since.
  void read_old_widths() {
    if (words_.size() != 3) lines_.fail_changed();
    for (std::size_t i = 0; i < 2; ++i) {
      header_.inputs.push_back(width(i, "input", header_.input_wires));
      header_.input_wires += header_.inputs.back();
    }
    header_.output_wires = width(2, "output", 0);
    header_.outputs.push_back(static_cast<std::uint32_t>(header_.output_wires));
  }

  const std::uint64_t bytes_;
  FileLines lines_;
  FileHeader header_{};
  std::vector<std::string_view> words_;
};

}  // namespace

FileHeader read_header(const TextSource& text) { return HeaderReader(text).read(); }

}  // namespace tinyot::circuit
