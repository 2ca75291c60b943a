#include "tools/cli/local_link.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/size.h"

namespace tinyot::tools {
namespace {

constexpr double kRttMax_s = 10, kRateMin = 1e4, kRateMax = 1e12;

double in_range(const std::string& option, double number, std::pair<double, double> range,
                const std::string& range_text) {
  if (number >= range.first && number <= range.second) return number;
  throw UsageError("--" + option + " is out of range: " + range_text);
}

// As --link names them.
struct NamedLink {
  std::string_view name;
  net::LinkShape shape;
};
constexpr NamedLink kNamedLinks[] = {{"lan", {std::chrono::microseconds(200), 10e9}},
                                     {"metro", {std::chrono::milliseconds(5), 1e9}},
                                     {"wan", {std::chrono::milliseconds(40), 200e6}},
                                     {"world", {std::chrono::milliseconds(150), 50e6}}};

net::LinkShape link_named(const std::string& name) {
  for (const NamedLink& link : kNamedLinks)
    if (link.name == name) return link.shape;
  throw UsageError("--link is lan, metro, wan or world, not '" + name + "'");
}

}  // namespace

std::vector<std::optional<net::LinkShape>> shapes_from(const CommandLine& line) {
  std::vector<std::optional<net::LinkShape>> shapes;
  if (line.has("link")) {
    if (line.has("rtt") || line.has("rate"))
      throw UsageError("--link sets the round-trip time and the rate: leave out --rtt and --rate");
    for (const std::string& name : parse_names(line.text("link")))
      shapes.emplace_back(link_named(name));
    return shapes;
  }
  if (!line.has("rtt") && !line.has("rate")) return {std::nullopt};
  const auto texts = [&](const char* option) {
    return line.has(option) ? parse_names(line.text(option)) : std::vector<std::string>{""};
  };
  for (const std::string& rate : texts("rate"))
    for (const std::string& rtt : texts("rtt"))
      shapes.emplace_back(
          net::LinkShape{rtt.empty() ? std::chrono::nanoseconds(0) : parse_time("rtt", rtt),
                         rate.empty() ? 0 : parse_rate("rate", rate)});
  for (const auto& shape : shapes) net::ShapedLink::check(*shape);
  return shapes;
}

std::optional<net::LinkShape> one_shape_from(const CommandLine& line) {
  const auto shapes = shapes_from(line);
  if (shapes.size() > 1) throw UsageError("--rtt, --rate and --link are lists in bench only");
  return shapes.front();
}

void add_shape_options(Options& options, const std::string& link, const std::string& more) {
  options.group("Link")
      .value("rtt", "round-trip time of " + link + ", as 20ms" + more)
      .value("rate", "its rate in each direction, as 100mbit; default: unlimited" + more)
      .value("link",
             link +
                 " by name: lan (0.2ms, 10gbit), metro (5ms, 1gbit), wan (40ms, 200mbit), world "
                 "(150ms, 50mbit)" +
                 more);
}

std::string_view name_of(Channels channels) { return channels == Channels::Tls ? "yes" : "no"; }

std::string_view name_of(const std::optional<net::LinkShape>& shape) {
  if (!shape) return "loopback";
  for (const NamedLink& link : kNamedLinks)
    if (*shape == link.shape) return link.name;
  return "simulated";
}

void add_local_link_options(Options& options) {
  add_shape_options(options, "a simulated link between the parties", "");
  add_timeout_options(options);
}

LocalLink local_link_from(const CommandLine& line) {
  return {timeouts_from(line), Channels::Plain, one_shape_from(line)};
}

std::chrono::nanoseconds parse_time(const std::string& option, const std::string& text) {
  const auto seconds = seconds_from(text);
  if (!seconds)
    throw UsageError("--" + option + " '" + text + "' is not a time: write 150us, 20ms or 1s");
  return std::chrono::nanoseconds(
      std::llround(1e9 * in_range(option, *seconds, {0, kRttMax_s}, "0ms to 10s")));
}

double parse_rate(const std::string& option, const std::string& text) {
  const auto rate = bit_rate_from(text);
  if (!rate)
    throw UsageError("--" + option + " '" + text +
                     "' is not a rate: write 500kbit, 100mbit or 1gbit (a second)");
  return in_range(option, *rate, {kRateMin, kRateMax}, "10kbit to 1000gbit");
}

}  // namespace tinyot::tools
