// `tinyot report`: what it measures, its file of results, and what it refuses.

#include <sys/resource.h>

#include <csignal>
#include <set>

#include "offline/parameters.h"
#include "tests/support/becomes_true.h"
#include "tests/support/command_test.h"
#include "tests/support/layers.h"
#include "tools/bench/measurements.h"
#include "tools/bench/results_file.h"
#include "tools/cli/failure.h"

namespace tinyot::test {
namespace {

using tools::Extent;
using tools::Measurement;
using tools::ResultsFile;

std::string value_of(const Measurement& measurement, const std::string& option) {
  const auto at = std::ranges::find(measurement.bench, option);
  return at == measurement.bench.end() ? "" : *(at + 1);
}

TEST(Measurements, AreDistinctAndOfEveryExperiment) {
  for (const Extent extent : {Extent::Quick, Extent::Full}) {
    std::set<std::string> experiments;
    std::set<Arguments> commands;
    for (const Measurement& each : tools::measurements(extent, true)) {
      experiments.insert(each.experiment);
      EXPECT_TRUE(commands.insert(each.bench).second) << each.bench[1];
      EXPECT_GT(each.seconds, 0);
    }
    std::set<std::string> wanted = {"buckets", "sizes",        "links",         "online links",
                                    "blocks",  "OT extension", "online phases", "prepared runs"};
    if (extent == Extent::Full)
      wanted.insert({"silent bits", "base OTs", "store", "slow links", "TLS", "circuits"});
    EXPECT_EQ(experiments, wanted);
  }
}

TEST(Measurements, HaveBucketsThatMissSigmaOnlyIfTheseAreAllowed) {
  for (const bool weak : {false, true}) {
    std::size_t missing = 0;
    for (const Measurement& each : tools::measurements(Extent::Quick, weak)) {
      if (each.experiment != "buckets") continue;
      ParameterRequest request{
          .profile = value_of(each, "--profile") == "fast" ? Profile::Fast : Profile::Nnob12,
          .sigma = static_cast<std::uint32_t>(std::stoul(value_of(each, "--sigma"))),
          .unit = tools::parse_size("unit", value_of(each, "--unit")),
          .bucket = static_cast<std::uint32_t>(std::stoul(value_of(each, "--bucket")))};
      if (std::ranges::count(each.bench, "--allow-weak") > 0) {
        ++missing;
        EXPECT_THROW(offline::SecurityParameters::make(request), UsageError);
      } else {
        EXPECT_NO_THROW(offline::SecurityParameters::make(request));
      }
    }
    EXPECT_EQ(missing > 0, weak);
  }
}

class Results : public CommandTest {
 protected:
  std::filesystem::path file() const { return dir_ / "results.jsonl"; }
  std::string content() const { return std::filesystem::exists(file()) ? read_file(file()) : ""; }
  void write(const std::string& text) const { write_file(file(), text); }

  // Rows as a bench of this build has them.
  static std::vector<tools::Json> rows(std::size_t count) {
    std::vector<tools::Json> rows;
    for (std::size_t i = 0; i < count; ++i)
      rows.push_back(
          {{"number", i}, {"version", tools::version_text()}, {"machine", tools::machine_json()}});
    return rows;
  }
};

TEST_F(Results, AreKeptWhenTheFileIsOpenedAgain) {
  {
    ResultsFile results(file());
    EXPECT_FALSE(results.has("first"));
    results.append("first", rows(2));
    results.append("second", rows(1));
    EXPECT_TRUE(results.has("first"));
  }
  const std::string before = content();
  EXPECT_EQ(std::ranges::count(before, '\n'), 3);
  ResultsFile results(file());
  EXPECT_TRUE(results.has("first"));
  EXPECT_TRUE(results.has("second"));
  EXPECT_FALSE(results.has("third"));
  EXPECT_EQ(content(), before);
}

// At whatever byte the file was cut, whole measurements are kept and nothing else.
TEST_F(Results, LoseAtMostTheMeasurementThatWasInProgress) {
  std::string first, both;
  {
    ResultsFile results(file());
    results.append("first", rows(2));
    first = content();
    results.append("second", rows(3));
    both = content();
  }
  for (std::size_t bytes = first.size(); bytes <= both.size(); ++bytes) {
    write(both.substr(0, bytes));
    {
      ResultsFile results(file());
      EXPECT_TRUE(results.has("first"));
      EXPECT_EQ(results.has("second"), bytes == both.size()) << bytes;
      if (bytes < both.size()) results.append("second", rows(3));
    }
    EXPECT_EQ(content(), both) << bytes;
  }
}

TEST_F(Results, ThatAreDamagedAreNotContinued) {
  {
    ResultsFile results(file());
    results.append("first", rows(2));
    results.append("second", rows(1));
  }
  const std::string whole = content();
  const auto refuses = [&](const std::string& text, const char* reason) {
    write(text);
    try {
      ResultsFile results(file());
      ADD_FAILURE() << "accepts " << text;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
    EXPECT_EQ(content(), text);
  };
  refuses("{\"command\":\n" + whole, "line 1 is not a measurement");
  refuses("[]\n" + whole, "line 1 is not a measurement");
  refuses(whole.substr(whole.find('\n') + 1), "lacks rows of 'first'");
  std::string other = whole;
  other.replace(other.find(tools::version_text()), 3, "9.9");
  refuses(other, "has results of tinyot 9.9");
}

TEST_F(Results, AreAsBeforeIfTheyCannotBeWritten) {
  ResultsFile results(file());
  results.append("first", rows(1));
  const std::string before = content();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{before.size() + 20, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(results.append("second", rows(5)), tools::CommandError);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(content(), before);
  EXPECT_FALSE(results.has("second"));
}

TEST_F(Results, HaveOneWriter) {
  ResultsFile results(file());
  EXPECT_THROW(ResultsFile second(file()), tools::CommandError);
}

using ReportCommand = Results;

TEST_F(ReportCommand, RefusesWhatItCannotDo) {
  const std::string output = dir_.string();
  EXPECT_TRUE(ended_with(tinyot({"report"}), 2, "--output"));
  EXPECT_TRUE(ended_with(tinyot({"report", "--output", output, "--quick", "--full"}), 2,
                         "exclude each other"));
  EXPECT_TRUE(ended_with(tinyot({"report", "--output", output, "--compare", output + "/older"}), 2,
                         "has no results.jsonl"));
  write("");
  EXPECT_TRUE(ended_with(tinyot({"report", "--output", output}), 2, "--resume"));
  write("nothing\n");
  EXPECT_TRUE(ended_with(tinyot({"report", "--output", output, "--resume"}), 2, "line 1"));
  EXPECT_EQ(content(), "nothing\n");
  EXPECT_TRUE(ended_with(tinyot({"report", "--output", "/proc/none/report"}), 1, "cannot make"));
}

// An interruption while it measures leaves whole lines, and the report goes on from there.
TEST_F(ReportCommand, GoesOnAfterAnInterruption) {
  const std::string output = dir_.string();
  const auto lines = [&] { return std::ranges::count(content(), '\n'); };
  std::ptrdiff_t before = 0;
  for (int interruption = 0; interruption < 2; ++interruption) {
    Process process(TINYOT_BINARY, {"report", "--quick", "--output", output, "--resume"});
    ASSERT_TRUE(becomes_true([&] { return lines() >= before + 2; }));
    process.signal(SIGKILL);
    EXPECT_EQ(process.end().status, 128 + SIGKILL);
    ASSERT_GE(lines(), before + 2);
    before = lines();
    const std::string text = content();
    EXPECT_TRUE(text.ends_with('\n'));
    std::set<std::string> numbers;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      const Json row = Json::parse(line);
      EXPECT_TRUE(numbers.insert(row["command"]).second) << "measured twice";
      EXPECT_EQ(row["experiment"], "buckets");
      EXPECT_EQ(row["kind"], "offline");
      EXPECT_TRUE(row.contains("date") && row.contains("compiler") && row.contains("load"));
    }
  }
}

// A signal to the process alone, as from a service manager: it ends its parties, and leaves no
// store behind.
TEST_F(ReportCommand, EndsAndCleansUpOnASignal) {
  const std::filesystem::path temporary = dir_ / "temporary";
  std::filesystem::create_directories(temporary);
  const auto stores = [&] {
    return std::distance(std::filesystem::directory_iterator(temporary), {});
  };
  const TemporaryVariable directory("TMPDIR", temporary.string());
  for (const int signal : {SIGINT, SIGTERM}) {
    for (const Arguments& arguments :
         {Arguments{"bench", "offline", "--ands", "2^20", "--unit", "2^12"},
          Arguments{"report", "--quick", "--output", dir_.string(), "--resume"}}) {
      Process process(TINYOT_BINARY, arguments);
      EXPECT_TRUE(becomes_true([&] { return stores() > 0; }));
      process.signal(signal);
      const Ended ended = process.end();
      EXPECT_EQ(ended.status, 128 + signal) << ended.err;
      EXPECT_EQ(stores(), 0);
      if (arguments[0] == "report") {
        EXPECT_NE(ended.err.find("continue with --resume"), std::string::npos) << ended.err;
      }
    }
  }
}

// With all measurements there, nothing is measured. What cannot be drawn is named, and kept; on a
// machine without Python that is named.
TEST_F(ReportCommand, DrawsWhatHasBeenMeasured) {
  {
    ResultsFile results(file());
    for (const Measurement& each : tools::measurements(Extent::Quick, false))
      results.append(command_of(each), rows(1));
  }
  const std::string before = content();
  const Ended ended =
      tinyot({"report", "--quick", "--output", dir_.string(), "--resume", "--format", "json"});
  const bool has_python = std::system("command -v python3 > /dev/null") == 0;
  EXPECT_TRUE(
      ended_with(ended, 1, has_python ? "results.jsonl:1: kind is null" : "cannot run python3"));
  EXPECT_NE(ended.err.find("the results are kept: continue with --resume"), std::string::npos);
  EXPECT_EQ(content(), before);
}

}  // namespace
}  // namespace tinyot::test
