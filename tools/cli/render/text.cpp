#include "tools/cli/render/text.h"

#include <cstddef>
#include <sstream>

namespace tinyot::tools {

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string grouped(double number) { return grouped(static_cast<std::uint64_t>(number)); }

std::string counted(std::uint64_t count, const std::string& what) {
  return grouped(count) + " " + what + (count == 1 ? "" : "s");
}

std::string decimals(double value, int digits) {
  std::ostringstream out;
  out << std::fixed;
  out.precision(digits);
  out << value;
  return out.str();
}

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit < 4) bytes /= 1000, ++unit;
  return decimals(bytes, unit == 0 ? 0 : 1) + " " + kUnits[unit];
}

std::string bytes_text(std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string seconds_text(double seconds) {
  if (seconds < 1) return decimals(seconds * 1000, 1) + " ms";
  if (seconds < 120) return decimals(seconds, 1) + " s";
  return decimals(seconds / 60, 1) + " min";
}

}  // namespace tinyot::tools
