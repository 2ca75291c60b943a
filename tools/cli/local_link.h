// What is between two parties that run as two processes on this machine: TCP or TLS over loopback,
// or over a link with the round-trip time and rate of a network (net/shaped_link.h).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "net/shaped_link.h"
#include "tools/cli/command_line.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {

// TLS is with keys that the process makes for itself, and that end with it.
enum class Channels { Plain, Tls };
std::string_view name_of(Channels channels);  // as --tls has it

struct LocalLink {
  LocalLink(const net::TcpTimeouts& link_timeouts, Channels link_channels = Channels::Plain)
      : timeouts(link_timeouts), channels(link_channels) {}

  // Fields of a row or report: tls, and as fields_of().
  Json fields() const;

  net::TcpTimeouts timeouts;
  Channels channels;
  std::optional<net::LinkShape> shape;  // none: loopback as it is
};

// link, rtt_ms, rate_mbit (0: unlimited).
Json fields_of(const std::optional<net::LinkShape>& shape);

// Timeouts, and one --rtt and --rate, or one --link.
void add_local_link_options(Options& options);
LocalLink local_link_from(const CommandLine& line);

// Of the link for which a cost is estimated: --rtt and --rate, or --link.
void add_estimated_link_options(Options& options);
std::optional<net::LinkShape> estimated_link_from(const CommandLine& line);

// Timeouts, and lists: --tls no, yes or both; --rtt and --rate, or --link. Each is combined with
// each.
void add_link_options(Options& options);
std::vector<LocalLink> links_from(const CommandLine& line);

// 20ms, 0.2ms, 150us, 1s; 100mbit, 1gbit, 500kbit, bits a second. Fail: UsageError naming the
// option.
std::chrono::nanoseconds parse_time(const std::string& option, const std::string& text);
double parse_rate(const std::string& option, const std::string& text);

}  // namespace tinyot::tools
