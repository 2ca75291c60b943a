// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace tinyot::tools {

// 12345678 -> "12,345,678"; (2, "AND") -> "2 ANDs"; bytes -> "1.2 GB"; seconds -> "3.4 s".
std::string grouped(std::uint64_t number);
std::string grouped(double number);  // rounded down
std::string counted(std::uint64_t count, const std::string& what);
std::string decimals(double value, int digits);
std::string bytes_text(double bytes);
std::string bytes_text(std::uint64_t bytes);
std::string seconds_text(double seconds);

}  // namespace tinyot::tools
