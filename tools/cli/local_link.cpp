#include "tools/cli/local_link.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace tinyot::tools {
namespace {

constexpr double kRttMax_s = 10, kRateMin = 1e4, kRateMax = 1e12;

struct Unit {
  std::string_view name;
  double value;
};

// A number with a unit; nothing if it is not one.
std::optional<double> quantity(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units)
    if (unit.name == name) return number * unit.value;
  return std::nullopt;
}

struct NamedLink {
  std::string_view name, rtt, rate;
};
constexpr std::array<NamedLink, 4> kNamedLinks = {{{"lan", "0.2ms", "10gbit"},
                                                   {"metro", "5ms", "1gbit"},
                                                   {"wan", "40ms", "200mbit"},
                                                   {"world", "150ms", "50mbit"}}};

net::LinkShape shape_of(const NamedLink& link) {
  return {parse_time("rtt", std::string(link.rtt)), parse_rate("rate", std::string(link.rate))};
}

net::LinkShape link_named(const std::string& name) {
  for (const NamedLink& link : kNamedLinks)
    if (link.name == name) return shape_of(link);
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
    if (*shape == shape_of(link)) return link.name;
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
  static constexpr Unit kUnits[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  const auto seconds = quantity(text, kUnits);
  if (!seconds)
    throw UsageError("--" + option + " '" + text + "' is not a time: write 150us, 20ms or 1s");
  if (!(*seconds >= 0 && *seconds <= kRttMax_s))
    throw UsageError("--" + option + " is out of range: 0ms to 10s");
  return std::chrono::nanoseconds(std::llround(*seconds * 1e9));
}

double parse_rate(const std::string& option, const std::string& text) {
  static constexpr Unit kUnits[] = {{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
  const auto rate = quantity(text, kUnits);
  if (!rate)
    throw UsageError("--" + option + " '" + text +
                     "' is not a rate: write 500kbit, 100mbit or 1gbit (a second)");
  if (!(*rate >= kRateMin && *rate <= kRateMax))
    throw UsageError("--" + option + " is out of range: 10kbit to 1000gbit");
  return *rate;
}

}  // namespace tinyot::tools
