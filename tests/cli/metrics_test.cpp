// --metrics-file of preprocess and run.
#include <sstream>

#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class MetricsTest : public CommandTest {
 protected:
  Arguments file_of(char party) const {
    return {"--metrics-file", path(std::string("metrics.") + party)};
  }
  std::string text_of(char party) const { return read_file(file_of(party)[1]); }

  // The value of the only line whose metric has this name and whose labels have this part.
  double value_of(char party, const std::string& name, const std::string& part = "") const {
    std::istringstream lines(text_of(party));
    double value = -1;
    int found = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(name + "{") || line.find(part) == std::string::npos) continue;
      value = std::stod(line.substr(line.rfind(' ')));
      ++found;
    }
    EXPECT_EQ(found, 1) << name << " " << part << "\n" << text_of(party);
    return value;
  }
};

TEST_F(MetricsTest, ReportsCommandsAndTheirStores) {
  const Arguments job = {"--profile", "fast", "--ands", "1000", "--inputs", "200"};
  const BothEnded made = both("preprocess", job + file_of('A'), job + file_of('B'));
  for (const Ended& each : {made.a, made.b}) ASSERT_TRUE(ended_with(each, 0));
  EXPECT_EQ(value_of('A', "tinyot_command_exit_status", "command=\"preprocess\""), 0);
  EXPECT_EQ(value_of('A', "tinyot_command_ands"), 1000);
  EXPECT_GT(value_of('A', "tinyot_command_sent_bytes"), 100'000);
  EXPECT_EQ(value_of('A', "tinyot_store_ands_left"), 1000);
  EXPECT_EQ(value_of('B', "tinyot_store_inputs_left", "party=\"B\""), 200);
  EXPECT_EQ(value_of('B', "tinyot_store_complete"), 1);
  const std::string session = store_info('A')["session"].get<std::string>().substr(0, 16);
  EXPECT_EQ(value_of('B', "tinyot_store_units_outstanding", session), 0);
  EXPECT_NE(text_of('A').find("# TYPE tinyot_store_ands_left gauge\n"), std::string::npos);
  const double success = value_of('A', "tinyot_command_success_timestamp_seconds");
  EXPECT_GT(success, 1.7e9);

  const Arguments circuit = {"--circuit", "hamming:bits=64"};
  const BothEnded ran = both("run", circuit + file_of('A') + Arguments{"--input", "a=0x5ec2e7"},
                             circuit + file_of('B') + Arguments{"--input", "b=1"});
  for (const Ended& each : {ran.a, ran.b}) ASSERT_TRUE(ended_with(each, 0));
  EXPECT_EQ(value_of('A', "tinyot_command_ands", "command=\"run\""), 63);
  EXPECT_EQ(value_of('A', "tinyot_store_objects",
                     "kind=\"triples\",party=\"A\",session=\"" + session +
                         "\",shard=\"1\",state=\"left\""),
            1000 - 63);
  EXPECT_EQ(text_of('A').find("5ec2e7"), std::string::npos);
  EXPECT_EQ(text_of('A').find(dir_.string()), std::string::npos);
}

TEST_F(MetricsTest, FailureKeepsTimeOfLastSuccess) {
  const Arguments job = {"--profile", "fast", "--ands", "1000"};
  ASSERT_TRUE(ended_with(both("preprocess", job + file_of('A'), job).a, 0));
  const double success = value_of('A', "tinyot_command_success_timestamp_seconds");
  const Ended refused = tinyot(as('A', "preprocess", job + file_of('A')));  // the store exists
  EXPECT_TRUE(ended_with(refused, 5));
  EXPECT_EQ(value_of('A', "tinyot_command_exit_status"), 5);
  EXPECT_EQ(value_of('A', "tinyot_command_success_timestamp_seconds"), success);
  EXPECT_EQ(value_of('A', "tinyot_store_ands_left"), 1000);
  ASSERT_TRUE(ended_with(tinyot({"store", "retire", path("A")}), 0));
  EXPECT_TRUE(ended_with(tinyot(as('A', "preprocess", Arguments{"--add", "5"} + file_of('A'))), 5));
  EXPECT_EQ(value_of('A', "tinyot_store_revoked"), 1);
  EXPECT_EQ(value_of('A', "tinyot_store_ands_left"), 0);
}

TEST_F(MetricsTest, ReportsStoresOfWeakParameters) {
  const Arguments weak = {"--profile", "fast", "--ands", "1024", "--bucket", "2", "--allow-weak"};
  const BothEnded made = both("preprocess", weak + file_of('A'), weak);
  for (const Ended& each : {made.a, made.b}) ASSERT_TRUE(ended_with(each, 0));
  EXPECT_EQ(value_of('A', "tinyot_store_ands_left"), 1024);
}

TEST_F(MetricsTest, DirectoryMustBeWritable) {
  const Arguments job = {"--profile", "fast", "--ands", "1000"};
  const Ended ended =
      tinyot(as('A', "preprocess", job + Arguments{"--metrics-file", path("none/metrics")}));
  EXPECT_TRUE(ended_with(ended, 2, "--metrics-file: cannot write in "));
}

}  // namespace
}  // namespace tinyot::test
