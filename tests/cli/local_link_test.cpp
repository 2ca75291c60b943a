// Simulated links between the parties of `local` and `bench`: how they are given, and that jobs
// meet them.
#include "base/error.h"
#include "engine/estimate.h"
#include "tests/support/command_test.h"
#include "tests/support/layers.h"
#include "tools/bench/bench.h"

namespace tinyot::test {
namespace {

using namespace std::chrono_literals;

TEST(LocalLink, ParsesTimesAndRates) {
  EXPECT_EQ(parse_time("rtt", "20ms"), 20ms);
  EXPECT_EQ(parse_time("rtt", "0.2ms"), 200us);
  EXPECT_EQ(parse_time("rtt", "150us"), 150us);
  EXPECT_EQ(parse_time("rtt", "0ms"), 0ms);
  EXPECT_EQ(parse_time("rtt", "1s"), 1s);
  EXPECT_EQ(parse_rate("rate", "1gbit"), 1e9);
  EXPECT_EQ(parse_rate("rate", "2.5mbit"), 2.5e6);
  for (const char* text : {"", "20", "ms", "-1ms", "20 ms", "11s", "1e3ms", "nanms"})
    EXPECT_THROW(parse_time("rtt", text), UsageError) << text;
  for (const char* text : {"", "1", "0gbit", "1gbyte", "-1mbit", "1001gbit", "infgbit"})
    EXPECT_THROW(parse_rate("rate", text), UsageError) << text;
}

std::vector<LocalLink> links(const Arguments& arguments) {
  CommandLine line("local run", "usage", "example");
  add_link_options(line.options());
  line.parse(arguments);
  return links_from(line);
}

TEST(LocalLink, CombinesListsOfOptions) {
  EXPECT_EQ(links({}).size(), 1u);
  EXPECT_FALSE(links({})[0].shape);
  const auto grid = links({"--rtt", "1ms,2ms", "--rate", "1gbit,10mbit", "--tls", "no,yes"});
  ASSERT_EQ(grid.size(), 8u);
  EXPECT_EQ(grid[1].shape, (net::LinkShape{2ms, 1e9}));
  EXPECT_EQ(grid[2].shape, (net::LinkShape{1ms, 10e6}));
  EXPECT_EQ(grid[2].channels, Channels::Plain);
  EXPECT_EQ(grid[7].channels, Channels::Tls);
  EXPECT_EQ(links({"--rtt", "3ms"})[0].shape, (net::LinkShape{3ms, 0}));
  EXPECT_EQ(links({"--rate", "3mbit"})[0].shape, (net::LinkShape{0ms, 3e6}));
}

TEST(LocalLink, HasNames) {
  const auto named = links({"--link", "lan,metro,wan,world"});
  ASSERT_EQ(named.size(), 4u);
  const net::LinkShape shapes[] = {{200us, 10e9}, {5ms, 1e9}, {40ms, 200e6}, {150ms, 50e6}};
  const char* const names[] = {"lan", "metro", "wan", "world"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(named[i].shape, shapes[i]);
    EXPECT_EQ(fields_of(named[i])["link"], names[i]);
  }
  EXPECT_EQ(fields_of(links({"--rtt", "5ms", "--rate", "1gbit"})[0])["link"], "metro");
  EXPECT_EQ(fields_of(links({"--rtt", "5ms"})[0])["link"], "simulated");
  EXPECT_EQ(fields_of(links({})[0])["link"], "loopback");
}

TEST(LocalLink, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(ended_with(tinyot({"bench", "ot", "--link", "moon"}), 2, "lan, metro, wan or world"));
  EXPECT_TRUE(ended_with(tinyot({"bench", "ot", "--link", "lan", "--rtt", "1ms"}), 2,
                         "leave out --rtt and --rate"));
  EXPECT_TRUE(ended_with(tinyot({"bench", "ot", "--rtt", "10s", "--rate", "1gbit"}), 2, "1 GiB"));
  EXPECT_TRUE(ended_with(tinyot({"local", "run", "--live", "--circuit", "millionaires", "--input",
                                 "a=1", "--input", "b=2", "--rtt", "1ms,2ms"}),
                         2, "lists in bench only"));
}

// A run has a round trip an AND round, and takes no less than these.
TEST(LocalLink, RunsHaveItsRoundTrips) {
  for (const char* tls : {"no", "yes"}) {
    const Ended ended = tinyot({"bench", "online", "--circuit", "millionaires", "--rtt", "10ms",
                                "--rate", "100mbit", "--tls", tls, "--format", "json"});
    ASSERT_TRUE(ended_with(ended, 0));
    const Json row = Json::parse(ended.out);
    EXPECT_EQ(row["rtt_ms"], 10);
    EXPECT_EQ(row["rate_mbit"], 100);
    EXPECT_EQ(row["rounds"], 32);
    // Both send at the same time, so a round is half a round trip.
    EXPECT_GE(row["bare_round_trips_s"], 0.160);
    EXPECT_GE(row["wall_s"], 0.160);
  }
}

TEST(LocalLink, PreprocessingIsNoFasterThanItsRate) {
  const Ended ended =
      tinyot({"bench", "offline", "--profile", "fast", "--ands", "2^14", "--unit", "2^14",
              "--store", "no", "--rtt", "2ms", "--rate", "50mbit", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0));
  const Json row = Json::parse(ended.out);
  const double bits_each_way = 8 * row["bytes_per_and"].get<double>() / 2;
  EXPECT_LE(row["ands_per_s"], 50e6 / bits_each_way);
  EXPECT_GE(row["ands_per_s"], 0.3 * 50e6 / bits_each_way);
}

class LinkedPreprocess : public CommandTest {
 protected:
  // Four units of the fast profile.
  Ended preprocess(const Arguments& more) const {
    return tinyot(Arguments{"local", "preprocess", "--store", dir_.string(), "--profile", "fast",
                            "--unit", "2^12", "--ands", "2^14", "--format", "json"} +
                  more);
  }

  // Both parties report the same, and that units were in flight.
  void expect_in_flight(const Ended& ended, std::uint64_t units) const {
    ASSERT_TRUE(ended_with(ended, 0));
    const Json report = json_of(ended);
    for (const char* party : {"A", "B"}) {
      EXPECT_EQ(report[party]["units_in_flight"], units) << party;
      EXPECT_EQ(report[party]["complete"], true) << party;
      EXPECT_EQ(report[party]["ands"], 1 << 14) << party;
    }
    EXPECT_EQ(report["A"]["latency_ms"], report["B"]["latency_ms"]);
  }

  // The stores are valid halves of the same material, and serve runs of a circuit.
  void expect_usable() const {
    for (const char party : {'A', 'B'})
      EXPECT_TRUE(ended_with(tinyot({"store", "verify", path(std::string(1, party))}), 0));
    for (const char* sum : {"0x0000000000000041", "0x0000000000000042"}) {
      const std::string input = std::string(sum).back() == '1' ? "0=0x2a" : "0=0x2b";
      const Json report = json_of(tinyot({"local", "run", "--store", dir_.string(), "--circuit",
                                          circuit_file("adder64.txt"), "--input", input, "--input",
                                          "1=0x17", "--format", "json"}));
      EXPECT_EQ(report["B"]["outputs"]["0"], sum);
    }
  }
};

TEST_F(LinkedPreprocess, HasFurtherUnitsInFlightIfMessagesTakeLong) {
  const Ended ended = preprocess({"--rtt", "8ms"});
  expect_in_flight(ended, 3);
  EXPECT_GE(json_of(ended)["A"]["latency_ms"], 2.0);
  expect_usable();
}

TEST_F(LinkedPreprocess, UnitsInFlightAreAtMostThoseOfTheJob) {
  expect_in_flight(preprocess({"--rtt", "8ms", "--threads", "3"}), 4);
}

TEST_F(LinkedPreprocess, LoopbackHasAUnitAtATime) {
  const Ended ended = preprocess({});
  // A busy machine may delay messages.
  if (const double latency = json_of(ended)["A"]["latency_ms"]; latency >= 1)
    GTEST_SKIP() << "a message over loopback took " << latency << " ms";
  expect_in_flight(ended, 1);
}

TEST(LocalLink, LocalTakesOne) {
  const Ended ended = tinyot({"local", "run", "--live", "--circuit", "millionaires", "--input",
                              "a=1", "--input", "b=2", "--link", "metro", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0));
  EXPECT_GE(Json::parse(ended.out)["A"]["wall_s"], 32 * 0.0025);
}

// Seconds of a job of one unit, generated and not stored.
double seconds_of_unit(const std::string& profile, const std::string& ands,
                       const std::string& rtt) {
  const Ended ended = tinyot({"bench", "offline", "--profile", profile, "--unit", ands, "--ands",
                              ands, "--store", "no", "--rtt", rtt, "--format", "json"});
  EXPECT_TRUE(ended_with(ended, 0));
  const Json row = Json::parse(ended.out);
  return row["ands"].get<double>() / row["ands_per_s"].get<double>();
}

// How often a unit waits for a message to come back, whatever its size: the time that a longer
// round trip adds, in round trips. It adds so much that a second of other work does not matter. Not
// with nnob12, whose work takes so long that it hides some.
TEST(LocalLink, RoundTripsOfAUnitDoNotGrowWithIt) {
  for (const Profile profile : {Profile::Fast, Profile::Wan})
    for (const int exponent : {10, 13}) {
      const std::string ands = "2^" + std::to_string(exponent), name(name_of(profile));
      const double trips =
          (seconds_of_unit(name, ands, "460ms") - seconds_of_unit(name, ands, "60ms")) / 0.4;
      const ParameterRequest request{.profile = profile, .unit = std::uint64_t{1} << exponent};
      const Estimate estimate =
          engine::estimate_job(offline::SecurityParameters::make(request), *request.unit, 0, 1);
      EXPECT_NEAR(trips, estimate.round_trips_of_unit + estimate.round_trips_of_set_up, 2.5)
          << name << ", " << ands;
    }
}

TEST(LocalLink, ParamsEstimateTheLink) {
  const auto estimate = [](const Arguments& more) {
    const Ended ended = tinyot(Arguments{"params", "--profile", "fast", "--ands", "2^22",
                                         "--no-calibration", "--format", "json"} +
                               more);
    EXPECT_TRUE(ended_with(ended, 0));
    return Json::parse(ended.out);
  };
  const Json loopback = estimate({}), far = estimate({"--rtt", "100ms", "--rate", "1gbit"});
  EXPECT_EQ(loopback["units_in_flight"], 1);
  EXPECT_EQ(far["units_in_flight"], 3);
  EXPECT_EQ(far["rtt_ms"], 100);
  EXPECT_EQ(far["rate_mbit"], 1000);
  const std::uint64_t more =
      far["memory_bytes"].get<std::uint64_t>() - loopback["memory_bytes"].get<std::uint64_t>();
  EXPECT_GT(more, std::uint64_t{100} << 20);
  EXPECT_LT(more, std::uint64_t{320} << 20);
}

}  // namespace
}  // namespace tinyot::test
