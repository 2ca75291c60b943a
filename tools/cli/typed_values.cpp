#include "tools/cli/typed_values.h"

#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/lane_bits.h"
#include "circuitgen/generators/registry.h"

namespace tinyot::tools {
namespace {

std::vector<std::string_view> split_at(std::string_view text, std::string_view between) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = text.find_first_not_of(between); at != std::string_view::npos;
       at = text.find_first_not_of(between, at)) {
    pieces.push_back(text.substr(at, text.find_first_of(between, at) - at));
    at += pieces.back().size();
  }
  return pieces;
}

// An empty line is an empty string; the line end behind the last one is optional.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    if (lines.back().ends_with('\r')) lines.back().remove_suffix(1);
    at = end + 1;
  }
  return lines;
}

// Of a list's values, or of all bits.
std::uint32_t width_of(const std::string& type, std::uint32_t bits) {
  const std::uint32_t width = type == TypedValues::kRaw ? 0 : circuit::ValueType::parse(type).width;
  return width == 0 ? bits : width;
}

}  // namespace

std::vector<std::string_view> split_values(std::string_view text) {
  return split_at(text, ", \n\r\t[]\"");
}

std::string table_hint(const std::vector<std::string_view>& pieces) {
  const auto is_name_begin = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !pieces.empty() && is_name_begin(pieces[0][0])
             ? "; it begins with a name: a table of CSV is for --rows"
             : "";
}

TypedValues::TypedValues(const std::string& type, std::string circuit, std::string name,
                         std::uint32_t bits, circuit::ValueFormat format, circuit::NumberBase base)
    : circuit_(std::move(circuit)), name_(std::move(name)), is_raw_(type == kRaw), bits_(bits),
      width_(width_of(type, bits)), item_(is_raw_ ? "" : type, width_, format, base) {
  if (bits_ % (is_raw_ ? 8 : width_) != 0)
    throw refusal("its " + std::to_string(bits_) + " bits are no whole number of " +
                  (is_raw_ ? "bytes" : "values of type " + type));
}

UsageError TypedValues::refusal(const std::string& reason) const {
  return UsageError("--type " + name_ + ": " + reason);
}

LaneMatrix TypedValues::parse(std::string_view text, std::size_t lanes) const {
  const auto require_count = [&](std::size_t given, std::size_t wanted, const std::string& what,
                                 const std::string& type) {
    if (given != wanted)
      throw UsageError("input " + name_ + ": " + std::to_string(given) + " " + what + " given, " +
                       std::to_string(wanted) + " expected" + type);
  };
  LaneMatrix values(lanes, bits_);
  if (is_raw_) {
    const std::size_t bytes = bits_ / 8;
    require_count(text.size(), lanes * bytes, "bytes", "");
    for (std::size_t lane = 0; lane < lanes; ++lane)
      ENSURE(values.assign(lane, std::as_bytes(std::span(text.substr(lane * bytes, bytes)))));
    return values;
  }
  const std::size_t in_a_lane = bits_ / width_;
  const std::vector<std::string_view> pieces =
      item_.is_text() ? lines_of(text) : split_values(text);
  require_count(pieces.size(), lanes * in_a_lane, pieces.size() == 1 ? "value" : "values",
                " of type " + item_.name() + (item_.is_decimal() ? table_hint(pieces) : "") +
                    (lanes == 1 && !item_.is_text()
                         ? circuit::circuit_for_length(circuit_, name_, pieces.size())
                         : ""));
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    BitVector bits(bits_);
    for (std::size_t k = 0; k < in_a_lane; ++k) try {
        const BitVector value = item_.parse(pieces[lane * in_a_lane + k]);
        for (std::size_t i = 0; i < width_; ++i) bits.put(k * width_ + i, value[i]);
      } catch (const UsageError& error) {
        throw UsageError("input " + name_ + ", value " + std::to_string(lane * in_a_lane + k + 1) +
                         ": " + error.what());
      }
    set_lane(values, lane, bits);
  }
  return values;
}

PrintedOutput TypedValues::print(const LaneMatrix& values) const {
  if (is_raw_) {
    const auto bytes = values.bytes();
    return {name_, {{reinterpret_cast<const char*>(bytes.data()), bytes.size()}}, false, true};
  }
  PrintedOutput printed{name_, {}, values.lanes() * (bits_ / width_) > 1};
  for (std::size_t lane = 0; lane < values.lanes(); ++lane)
    for (std::size_t k = 0; k < bits_ / width_; ++k) {
      BitVector value(width_);
      for (std::size_t i = 0; i < width_; ++i) value.put(i, values[lane][k * width_ + i]);
      printed.values.emplace_back(view_of(item_.print(value)));
    }
  return printed;
}

}  // namespace tinyot::tools
