// What is between two parties that run as two processes on this machine: TCP or TLS over loopback,
// or over a link with the round-trip time and rate of a network (net/shaped_link.h).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/shaped_link.h"
#include "tools/cli/command_line.h"

namespace tinyot::tools {

// TLS is with keys that the process makes for itself, and that end with it.
enum class Channels { Plain, Tls };
std::string_view name_of(Channels channels);  // as --tls has it

struct LocalLink {
  net::TcpTimeouts timeouts;
  Channels channels = Channels::Plain;
  std::optional<net::LinkShape> shape = {};  // none: loopback as it is
};
// As --link has it; "simulated" for another shape, "loopback" without one.
std::string_view name_of(const std::optional<net::LinkShape>& shape);

// --rtt and --rate, or --link, of a link that the help calls `link`.
void add_shape_options(Options& options, const std::string& link, const std::string& more = {});
inline constexpr const char* kEstimatedLink = "the link between the parties, for the estimate";
// Each of the options may be a list, and each value is combined with each. A single empty shape if
// none is given. Fails: UsageError.
std::vector<std::optional<net::LinkShape>> shapes_from(const CommandLine& line);
std::optional<net::LinkShape> one_shape_from(const CommandLine& line);

// Timeouts, and one shape.
void add_local_link_options(Options& options);
LocalLink local_link_from(const CommandLine& line);

// 20ms, 0.2ms, 150us, 1s; 100mbit, 1gbit, 500kbit, bits a second. Fail: UsageError naming the
// option.
std::chrono::nanoseconds parse_time(const std::string& option, const std::string& text);
double parse_rate(const std::string& option, const std::string& text);

}  // namespace tinyot::tools
