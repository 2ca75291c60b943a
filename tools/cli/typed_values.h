// Values of a bundle in the form that --type gives them: a list of numbers or strings, of which
// value k begins at bit k . width, or the raw bytes of a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "circuitgen/formats/column.h"
#include "tinyot/circuit/gate.h"
#include "tinyot/lane_matrix.h"
#include "tools/cli/outputs.h"

namespace tinyot::tools {

// Splits at commas and white space, and at brackets and quotes, so that an array of JSON is a list;
// empty pieces are ignored.
std::vector<std::string_view> split_values(std::string_view text);

// What else an input with the wrong number of values may be: empty, or "; ..." for the message,
// which says no value.
std::string table_hint(const std::vector<std::string_view>& pieces);

class TypedValues {
 public:
  static constexpr std::string_view kRaw = circuit::kRawType;

  // `type` as of a column, or raw. Fails: UsageError for an unknown type, or one of which the
  // bundle's width is no multiple.
  TypedValues(const std::string& type, std::string circuit, std::string name, std::uint32_t bits,
              circuit::ValueFormat format, circuit::NumberBase base);

  bool is_raw() const { return is_raw_; }
  bool is_text() const { return item_.is_text(); }
  // The values of one lane after those of the other, separated as by split_values, or of strings by
  // line ends. Fails: UsageError, never with a value.
  LaneMatrix parse(std::string_view text, std::size_t lanes) const;
  PrintedOutput print(const LaneMatrix& values) const;

 private:
  UsageError refusal(const std::string& reason) const;

  std::string circuit_, name_;
  bool is_raw_;
  std::uint32_t bits_, width_;
  circuit::ColumnType item_;
};

}  // namespace tinyot::tools
