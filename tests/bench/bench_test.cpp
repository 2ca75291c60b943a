// `tinyot bench online`: its rows, and the options that it refuses.
#include "tools/bench/bench.h"

#include <sstream>

#include "base/error.h"
#include "tests/support/command_test.h"
#include "tests/support/layers.h"
#include "tools/cli/failure.h"
#include "tools/cli/preprocess.h"

namespace tinyot::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Ended bench(const Arguments& more) {
  return tinyot(Arguments{"bench", "online", "--repeat", "2"} + more);
}

void expect_bench_row(const Json& row, std::uint64_t lanes, std::uint64_t ands,
                      std::uint64_t rounds, double bits_per_and) {
  EXPECT_EQ(row["lanes"], lanes);
  EXPECT_EQ(row["ands"], ands);
  EXPECT_EQ(row["rounds"], rounds);
  for (const char* field : {"wall_s", "ands_per_s", "gates_per_s", "bare_round_trips_s", "cpu_s",
                            "share_macs", "peak_rss_mb"})
    EXPECT_GT(row[field], 0.0) << field;
  for (const char* field : {"share_wire", "share_store", "share_opening"})
    EXPECT_GE(row[field], 0.0) << field;
  EXPECT_GT(row["bits_per_and"], bits_per_and);
}

TEST(BenchOnline, RowsOfStoredTriples) {
  const Ended ended = bench({"--circuit", "aes128", "--lanes", "1,2", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0));
  const auto lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), 2u);
  expect_bench_row(Json::parse(lines[0]), 1, 6400, 60, 4);
  expect_bench_row(Json::parse(lines[1]), 2, 40 * 32 + 2 * 160 * 32, 60, 4);
  EXPECT_EQ(Json::parse(lines[0])["material"], "triples");
}

TEST(BenchOnline, RowsOfPairsAndOfLiveMaterial) {
  const Ended pairs = bench(Arguments{"--circuit", "millionaires", "--lanes", "3", "--material",
                                      "aand-aot", "--format", "json"} +
                            kFewColumns);
  ASSERT_TRUE(ended_with(pairs, 0));
  expect_bench_row(Json::parse(pairs.out), 3, 96, 32, 10);
  EXPECT_EQ(Json::parse(pairs.out)["material"], "aand-aot");

  const Ended live = bench({"--circuit", "millionaires", "--live", "--format", "csv"});
  ASSERT_TRUE(ended_with(live, 0));
  const auto lines = lines_of(live.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("circuit,lanes,ands,wall_s,"));
  EXPECT_TRUE(lines[1].starts_with("millionaires,1,32,"));
}

TEST(BenchOnline, QuotesNamesWithCommasInCsv) {
  const Ended ended = bench({"--circuit", "random:width=16,depth=4", "--live", "--format", "csv"});
  ASSERT_TRUE(ended_with(ended, 0));
  const auto lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[1].starts_with("\"random:width=16,depth=4\",1,")) << lines[1];
}

TEST(BenchTable, QuotesSpecialCharactersInCsv) {
  ::testing::internal::CaptureStdout();
  tools::Table table(tools::Table::style_from("csv"));
  table.add({{"plain", "a b"},
             {"comma", "a,b"},
             {"quote", "say \"a\""},
             {"a,b", "1"},
             {"feed", "a\nb"},
             {"return", "a\rb"},
             {"empty", ""}});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "plain,comma,quote,\"a,b\",feed,return,empty\n"
            "a b,\"a,b\",\"say \"\"a\"\"\",1,\"a\nb\",\"a\rb\",\n");
}

TEST(BenchTable, TextIsNarrowUnlessAllColumnsAreAskedFor) {
  constexpr std::size_t kMost = 100;
  for (const Arguments& rows :
       {Arguments{"offline", "--profile", "fast", "--unit", "2^10", "--ands", "2^10"},
        Arguments{"online", "--circuit", "millionaires", "--repeat", "1"},
        Arguments{"ot", "--count", "1000"},
        Arguments{"fig17", "--max-blocks", "1", "--profile", "fast"}}) {
    SCOPED_TRACE(rows[0]);
    const auto narrow = lines_of(tinyot(Arguments{"bench"} + rows).out),
               wide = lines_of(tinyot(Arguments{"bench"} + rows + Arguments{"--all-columns"}).out);
    ASSERT_GE(narrow.size(), 3u);
    ASSERT_GE(wide.size(), 3u);
    // The first line is of their origin.
    for (std::size_t i = 1; i < narrow.size(); ++i) EXPECT_LE(narrow[i].size(), kMost) << narrow[i];
    EXPECT_GT(wide[1].size(), kMost);
  }
}

TEST(BenchTable, TextHasTheColumnsOfGivenOptions) {
  const Arguments job = {"bench", "online", "--circuit", "millionaires", "--repeat", "1"};
  const auto has = [](const Ended& ended, const char* column) {
    return lines_of(ended.out).at(1).find(column) != std::string::npos;
  };
  EXPECT_FALSE(has(tinyot(job), " material"));
  EXPECT_TRUE(has(tinyot(job + Arguments{"--material", "triples"}), " material"));
}

// Links take turns: what other programs took is that of all of them.
TEST(BenchOffline, RowsOfAGroupShareWhatOtherProgramsTook) {
  const Ended ended = tinyot({"bench", "offline", "--profile", "fast", "--ands", "2^10", "--rtt",
                              "1ms,2ms", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0));
  const auto rows = lines_of(ended.out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(Json::parse(rows[0])["others_share"].is_number());
  EXPECT_EQ(Json::parse(rows[0])["others_share"], Json::parse(rows[1])["others_share"]);
}

TEST(BenchOffline, LeavesOutRowsThatMissSigma) {
  const Arguments job = {"bench",  "offline", "--profile", "fast",
                         "--unit", "2^14",    "--format",  "json"};
  const Ended some = tinyot(job + Arguments{"--bucket", "3,4"});
  ASSERT_TRUE(ended_with(some, 0, "a row is left out: a bucket of 3"));
  const auto rows = lines_of(some.out);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(Json::parse(rows[0])["bucket"], 4);
  EXPECT_TRUE(ended_with(tinyot(job + Arguments{"--bucket", "3"}), 2, "less than sigma = 40"));
  EXPECT_TRUE(
      ended_with(tinyot(job + Arguments{"--bucket", "2,3"}), 2, "no row reaches its sigma"));
}

// A bucket of 3 is enough for the usual unit of 2^20 ANDs, which so small a job does not have.
TEST(BenchOffline, LeavesOutRowsWhoseJobsAreTooSmall) {
  const Ended ended = tinyot({"bench", "offline", "--profile", "fast", "--ands", "2^14", "--bucket",
                              "3,4", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0, "a row is left out: a bucket of 3 with units of 16384"));
  const auto rows = lines_of(ended.out);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(Json::parse(rows[0])["bucket"], 4);
}

TEST(BenchOnline, MeasuresEachCircuitThatIsGiven) {
  const Ended ended = bench({"--circuit", "millionaires:bits=8", "--circuit", "hamming:bits=16",
                             "--lanes", "1,2", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0));
  std::vector<std::string> rows;
  for (const std::string& line : lines_of(ended.out)) {
    const Json row = Json::parse(line);
    rows.push_back(row["circuit"].get<std::string>() + " " + row["lanes"].dump());
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"millionaires:bits=8 1", "millionaires:bits=8 2",
                                            "hamming:bits=16 1", "hamming:bits=16 2"}));
}

TEST(BenchOnline, RefusesInvalidOptions) {
  EXPECT_TRUE(ended_with(bench({"--circuit", "none"}), 2, "neither a known circuit"));
  // Before the first one is measured.
  const Ended second = bench({"--circuit", "millionaires", "--circuit", "none"});
  EXPECT_TRUE(ended_with(second, 2, "neither a known circuit"));
  EXPECT_EQ(second.out, "");
  EXPECT_TRUE(ended_with(bench({"--lanes", "5"}), 2, "--lanes requires --circuit"));
  EXPECT_TRUE(ended_with(tinyot({"bench", "online", "--repeat", "0"}), 2,
                         "--repeat is out of range: 1 to 100"));
  EXPECT_TRUE(ended_with(bench({"--circuit", "aes128", "--material", "quads"}), 2, "--material"));
}

TEST(Bench, DoesNotMeasureFailedJob) {
  const auto ended = [](int status) {
    return tools::PairEnded{{{{"{\"wall_s\":1}", 0}, {"{\"wall_s\":1}", status}}}, 2};
  };
  EXPECT_EQ(require_success(ended(0))["A"]["wall_s"], 1);
  for (const int status : {1, 4, 143}) {
    try {
      require_success(ended(status));
      ADD_FAILURE() << status;
    } catch (const tools::CommandError& error) {
      EXPECT_EQ(static_cast<int>(error.status()), status);
    }
  }
}

TEST(BenchOnline, ComparesEveryLaneOfEveryOutputAtBothParties) {
  CircuitSpec spec;
  spec.name = circuit_file("adder64.txt");
  spec.lanes = 3;
  const NamedCircuit circuit(spec);
  const InputTexts inputs = read_inputs({"0=1,2,3", "1=10,20,30"});
  const Json right = {"0x000000000000000b", "0x0000000000000016", "0x0000000000000021"};
  const auto report = [&](const Json& of_a, const Json& of_b) {
    return Json{{"A", {{"outputs", {{"0", of_a}}}}}, {"B", {{"outputs", {{"0", of_b}}}}}};
  };
  EXPECT_NO_THROW(check_outputs(circuit, inputs, report(right, right)));
  for (const std::size_t lane : {0u, 1u, 2u}) {
    Json wrong = right;
    wrong[lane] = "0x0000000000000000";
    EXPECT_THROW(check_outputs(circuit, inputs, report(wrong, right)), CommandError) << lane;
    EXPECT_THROW(check_outputs(circuit, inputs, report(right, wrong)), CommandError) << lane;
  }
}

}  // namespace
}  // namespace tinyot::test
