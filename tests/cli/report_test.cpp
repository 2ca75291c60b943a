// The JSON of the commands: every field that applies, with plausible values.
#include <array>
#include <cmath>
#include <set>
#include <sstream>
#include <vector>

#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

std::uint64_t total(const Json& report, const std::string& field) {
  std::uint64_t sum = 0;
  for (const Json& phase : report["phases"]) sum += phase[field].get<std::uint64_t>();
  return sum;
}

void expect_fields(const Json& object, const std::set<std::string>& fields) {
  for (const std::string& field : fields)
    EXPECT_TRUE(object.contains(field)) << field << " is missing in " << object;
}

// The fields that every report of a job has, and its parameters.
void expect_measured(const Json& report, const std::string& party, const std::string& command,
                     const std::string& profile = "nnob12") {
  expect_fields(report,
                {"party", "command", "profile", "ands", "sigma", "sigma_paper_bound", "sigma_exact",
                 "kappa", "bucket", "unit", "threads", "phases", "ands_per_s", "peak_rss_bytes",
                 "peak_anonymous_bytes", "peak_file_bytes", "store_bytes", "machine", "version"});
  EXPECT_EQ(report["party"], party);
  EXPECT_EQ(report["command"], command);
  EXPECT_EQ(report["profile"], profile);
  EXPECT_EQ(report["sigma"], 40);
  EXPECT_GE(report["sigma_paper_bound"], 40.0);
  EXPECT_GE(report["sigma_exact"], 40.0);
  EXPECT_LT(report["sigma_exact"], 200.0);
  EXPECT_EQ(report["kappa"], profile == "nnob12" ? 128 : 127);
  EXPECT_GE(report["bucket"], 2);
  EXPECT_GE(report["threads"], 1);
  EXPECT_GT(report["ands_per_s"], 0.0);
  EXPECT_GT(report["peak_rss_bytes"], 1 << 20);
  EXPECT_GT(report["peak_anonymous_bytes"], 1 << 20);
  EXPECT_GT(report["peak_file_bytes"], 1 << 20);
  EXPECT_GT(report["store_bytes"], 1 << 16);
  EXPECT_FALSE(report["version"].get<std::string>().empty());
  EXPECT_FALSE(report["machine"]["cpu"].get<std::string>().empty());
  EXPECT_FALSE(report["machine"]["features"].get<std::string>().empty());
  EXPECT_GE(report["machine"]["cores"], 1);
}

void expect_phases(const Json& report) {
  ASSERT_FALSE(report["phases"].empty());
  double wall = 0;
  std::uint64_t rounds = 0;
  for (const Json& phase : report["phases"]) {
    expect_fields(phase,
                  {"name", "wall_s", "cpu_s", "bytes_sent", "bytes_received", "rounds", "items"});
    EXPECT_FALSE(phase["name"].get<std::string>().empty());
    EXPECT_GE(phase["cpu_s"], 0.0);
    // a run's time begins after it
    if (phase["name"] != "reserve") wall += phase["wall_s"].get<double>();
    rounds += phase["rounds"].get<std::uint64_t>();
  }
  EXPECT_GT(rounds, 0u);
  EXPECT_GT(wall, 0.0);
  EXPECT_LE(wall, report["wall_s"].get<double>() + 0.1) << "phases overlap";
}

void expect_two_ends_of_one_wire(const Json& a, const Json& b) {
  EXPECT_EQ(total(a, "bytes_sent"), total(b, "bytes_received"));
  EXPECT_EQ(total(b, "bytes_sent"), total(a, "bytes_received"));
  EXPECT_GT(total(a, "bytes_sent"), 0u);
  EXPECT_EQ(a["session"], b["session"]);
  EXPECT_EQ(a["session"].get<std::string>().size(), 64u);
}

class ReportTest : public CommandTest {};

TEST_F(ReportTest, OfPreprocess) {
  const Arguments options = Arguments{"--ands", "2^10", "--inputs", "500"} + kFewColumns;
  const BothEnded ended = both("preprocess", options, options);
  ASSERT_TRUE(ended_with(ended.a, 0));
  ASSERT_TRUE(ended_with(ended.b, 0));
  const Json a = json_of(ended.a), b = json_of(ended.b);
  expect_measured(a, "A", "preprocess");
  expect_measured(b, "B", "preprocess");
  expect_phases(a);
  expect_phases(b);
  expect_two_ends_of_one_wire(a, b);
  EXPECT_EQ(a["ands"], 1024);
  EXPECT_EQ(a["complete"], true);

  const Json info = store_info('A');
  EXPECT_EQ(info["session"], a["session"]);
  EXPECT_EQ(info["store_bytes"], a["store_bytes"]);
  for (const char* field :
       {"party", "profile", "sigma", "sigma_paper_bound", "sigma_exact", "kappa", "bucket", "unit"})
    EXPECT_EQ(info[field], a[field]) << field;
}

// A report and a bench start other commands, and have memory of their own.
TEST_F(ReportTest, OfMemoryCountsNothingOfWhatStartedTheProcess) {
  constexpr std::size_t kHeld = std::size_t{1} << 30;
  const std::vector<char> held(kHeld, 1);
  const Arguments options{"--ands", "1000", "--profile", "fast"};
  const BothEnded ended = both("preprocess", options, options);
  EXPECT_LT(json_of(ended.a)["peak_rss_bytes"], kHeld / 2);
  EXPECT_LT(json_of(ended.b)["peak_rss_bytes"], kHeld / 2);
  EXPECT_EQ(held.back(), 1);
}

TEST_F(ReportTest, OfTheFastProfile) {
  for (const Arguments& more : {Arguments{}, Arguments{"--softspoken-k", "4"}}) {
    const Arguments options =
        Arguments{"--ands", "1000", "--inputs", "500", "--profile", "fast"} + more;
    const BothEnded ended = both("preprocess", options, options);
    ASSERT_TRUE(ended_with(ended.a, 0));
    ASSERT_TRUE(ended_with(ended.b, 0));
    const Json a = json_of(ended.a), b = json_of(ended.b), info = store_info('A');
    expect_measured(a, "A", "preprocess", "fast");
    expect_measured(b, "B", "preprocess", "fast");
    expect_phases(a);
    expect_two_ends_of_one_wire(a, b);
    EXPECT_EQ(a["ands"], 1000);
    EXPECT_EQ(a["unit"], 1000);
    for (const Json& report : {a, b, info}) {
      ASSERT_EQ(report["units"].size(), 1u);
      EXPECT_EQ(report["units"][0]["ands"], 1000);
      EXPECT_EQ(report["units"][0]["bucket"], 5) << "the bucket that the unit has used";
      EXPECT_EQ(report["bucket"], 5);
      EXPECT_EQ(report["units"][0]["count"], 1);
      EXPECT_NEAR(report["units"][0]["bound_paper"], 44, 1e-6);
      EXPECT_NEAR(report["units"][0]["bound_exact"], 45, 1e-6);
      EXPECT_EQ(report["outstanding"]["units"], 0);
      EXPECT_EQ(report["outstanding"]["sum"], 0);
      EXPECT_NEAR(report["outstanding"]["limit"], std::ldexp(1.0, -40), 1e-20);
    }
    for (const Json& report : {a, b, info}) {
      EXPECT_EQ(report["material"], "triples");
      EXPECT_FALSE(report.contains("columns"));
    }
    for (const Json& report : {a, b}) EXPECT_EQ(report["softspoken_k"], more.empty() ? 2 : 4);
    EXPECT_EQ(info["softspoken_k"], more.empty() ? Json("auto") : Json(4)) << "as it was begun";
    for (const char* field :
         {"profile", "sigma", "sigma_paper_bound", "sigma_exact", "kappa", "bucket", "unit"})
      EXPECT_EQ(info[field], a[field]) << field;
    std::set<std::string> kinds;
    for (const auto& [name, kind] : info["kinds"].items()) kinds.insert(name);
    EXPECT_EQ(kinds, (std::set<std::string>{"triples", "auth_bits_a", "auth_bits_b"}));
    EXPECT_EQ(info["kinds"]["triples"]["left"], 1000);
    EXPECT_EQ(info["kinds"]["auth_bits_a"]["left"], 500);
    for (const char* store : {"A", "B"}) std::filesystem::remove_all(path(store));
  }
}

TEST_F(ReportTest, OfNnob12HasNothingOfTheFastProfile) {
  preprocess("2^10");
  const Json info = store_info('A');
  EXPECT_EQ(info["material"], "aand-aot");
  EXPECT_EQ(info["columns"], "experiment");
  EXPECT_FALSE(info.contains("softspoken_k"));
}

TEST_F(ReportTest, OfRun) {
  preprocess("2^14");
  const Arguments common = {"--circuit", "aes128", "--blocks", "2"};
  const BothEnded ended = both("run",
                               common + Arguments{"--input", "key_a=" + random_hex(16), "--input",
                                                  "message=" + random_hex(32)},
                               common + Arguments{"--input", "key_b=" + random_hex(16)});
  const Json a = json_of(ended.a), b = json_of(ended.b);
  expect_measured(a, "A", "run");
  expect_measured(b, "B", "run");
  expect_phases(a);
  expect_phases(b);
  expect_two_ends_of_one_wire(a, b);
  const Json cost = json_of(tinyot({"circuit", "info", "aes128", "--format", "json"}));
  const std::uint64_t ands = cost["ands"], xors = cost["xors"], once = cost["invariant_ands"];
  EXPECT_EQ(b["circuit"], "aes128");
  EXPECT_EQ(b["ands"], 2 * ands - once) << "the key is expanded once";
  EXPECT_LT(b["gates"], 2 * (ands + xors) - once);
  EXPECT_EQ(b["blocks"], 2);
  EXPECT_EQ(b["lanes"], 2);
  EXPECT_GT(b["gates_per_s"], b["ands_per_s"]);
  EXPECT_EQ(b["outputs"]["ciphertext"].get<std::string>().size(), 64u);
}

TEST_F(ReportTest, OfLocalHasBothParties) {
  const Ended made = tinyot(Arguments{"local", "preprocess", "--store", dir_.string(), "--ands",
                                      "2^10", "--format", "json"} +
                            kFewColumns);
  ASSERT_TRUE(ended_with(made, 0));
  const Json json = json_of(made);
  expect_measured(json["A"], "A", "preprocess");
  expect_measured(json["B"], "B", "preprocess");
  expect_two_ends_of_one_wire(json["A"], json["B"]);
  EXPECT_GE(json["wall_s"], json["A"]["wall_s"]);

  const Json run =
      json_of(tinyot({"local", "run", "--store", dir_.string(), "--circuit",
                      circuit_file("adder64.txt"), "--lanes", "3", "--input",
                      "0=1,2,0xffffffffffffffff", "--input", "1=0x10,0x20,1", "--format", "json"}));
  const Json wanted = {{"0", {"0x0000000000000011", "0x0000000000000022", "0x0000000000000000"}}};
  for (const char* party : {"A", "B"}) {
    expect_measured(run[party], party, "run");
    EXPECT_EQ(run[party]["outputs"], wanted);
    EXPECT_EQ(run[party]["lanes"], 3);
    EXPECT_FALSE(run[party].contains("blocks"));
  }
}

TEST_F(ReportTest, OfStoreInfo) {
  preprocess("2^10");
  for (const char party : {'A', 'B'}) {
    const Json info = store_info(party);
    expect_fields(
        info, {"session", "party", "peer", "profile", "sigma", "kappa", "bucket", "unit", "kinds"});
    EXPECT_EQ(info["party"], std::string(1, party));
    EXPECT_EQ(info["peer"], party == 'A' ? "B" : "A");
    EXPECT_EQ(info["kinds"].size(), 6u);
    for (const char* kind : {"auth_bits_a", "auth_bits_b", "auth_ands_a", "auth_ands_b",
                             "auth_ots_ab", "auth_ots_ba"}) {
      expect_fields(info["kinds"][kind], {"made", "spent", "left", "bytes"});
      EXPECT_EQ(info["kinds"][kind]["spent"], 0) << kind;
      EXPECT_EQ(info["kinds"][kind]["made"], info["kinds"][kind]["left"]) << kind;
      EXPECT_GT(info["kinds"][kind]["bytes"], 1024 * 32) << kind;
    }
  }
}

TEST_F(ReportTest, OfCircuitInfo) {
  const Json aes = json_of(tinyot({"circuit", "info", "aes128", "--format", "json"}));
  expect_fields(aes, {"name", "ands", "xors", "nots", "and_depth", "inputs", "outputs"});
  EXPECT_EQ(aes["name"], "aes128");
  EXPECT_LE(aes["ands"], 6400);
  EXPECT_EQ(aes["inputs"][0], Json({{"name", "key_a"},
                                    {"bits", 128},
                                    {"owner", "A"},
                                    {"format", "bytes"},
                                    {"reading", "bits"},
                                    {"value_bits", 128}}));
  EXPECT_EQ(aes["outputs"][0], Json({{"name", "ciphertext"},
                                     {"bits", 128},
                                     {"to", "B"},
                                     {"format", "bytes"},
                                     {"reading", "bits"},
                                     {"value_bits", 128}}));

  const Json sha =
      json_of(tinyot({"circuit", "info", circuit_file("sha256.txt"), "--format", "json"}));
  EXPECT_EQ(sha["ands"], 22520);
  EXPECT_EQ(sha["xors"], 91736);
  EXPECT_EQ(sha["nots"], 2917);
  EXPECT_EQ(sha["and_depth"], 1607);
  EXPECT_EQ(sha["inputs"][1], Json({{"name", "1"},
                                    {"bits", 256},
                                    {"owner", "B"},
                                    {"format", "integer"},
                                    {"reading", "bits"},
                                    {"value_bits", 256}}));
  EXPECT_EQ(sha["outputs"][0], Json({{"name", "0"},
                                     {"bits", 256},
                                     {"to", "both"},
                                     {"format", "integer"},
                                     {"reading", "bits"},
                                     {"value_bits", 256}}));

  const Json list = json_of(tinyot({"circuit", "list", "--format", "json"}));
  EXPECT_NE(std::find(list["circuits"].begin(), list["circuits"].end(), "aes128"),
            list["circuits"].end());
}

// One JSON object per line.
std::vector<Json> rows_of(const Ended& ended) {
  std::vector<Json> rows;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);) rows.push_back(Json::parse(line));
  return rows;
}

TEST_F(ReportTest, OfBenchOt) {
  const Ended ended = tinyot({"bench", "ot", "--count", "1024", "--softspoken-k", "2,4", "--repeat",
                              "2", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0));
  const std::vector<Json> rows = rows_of(ended);
  ASSERT_EQ(rows.size(), 12u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    EXPECT_EQ(row["ot_kind"], (std::array{"abits", "delta", "random", "random-for", "correlated",
                                          "chosen"}[i / 2]));
    EXPECT_EQ(row["softspoken_k"], i % 2 == 0 ? 2 : 4);
    EXPECT_EQ(row["ots"], i < 2 ? 2048 : 1024);
    for (const char* field : {"ots_per_s", "ots_per_cpu_s_sender", "ots_per_cpu_s_receiver",
                              "bytes_per_ot", "set_up_s"})
      EXPECT_GT(row[field], 0.0) << field;
    EXPECT_EQ(row["repeats"], 2);
    EXPECT_EQ(row["rates"].size(), 2u);
  }
  // The masked blocks: one per OT, then two.
  EXPECT_NEAR(rows[8]["bytes_per_ot_to_receiver"].get<double>() -
                  rows[2]["bytes_per_ot_to_receiver"].get<double>(),
              16, 0.1);
  EXPECT_NEAR(rows[10]["bytes_per_ot_to_receiver"].get<double>() -
                  rows[2]["bytes_per_ot_to_receiver"].get<double>(),
              32, 0.1);
  EXPECT_TRUE(ended_with(tinyot({"bench", "ot", "--kind", "oblivious"}), 2, "--kind must be"));
  EXPECT_TRUE(ended_with(tinyot({"bench", "ot", "--softspoken-k", "3"}), 2,
                         "softspoken-k 3 is not 1, 2 or 4"));
}

// An iteration of b9 gives 513,792 bits for 165,968 bytes and eleven headers a direction.
TEST_F(ReportTest, OfBenchOtWithSilentBits) {
  const Ended ended = tinyot({"bench", "ot", "--kind", "silent,abits", "--silent-set", "b9,b10",
                              "--count", "1000", "--softspoken-k", "4", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0));
  const std::vector<Json> rows = rows_of(ended);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["silent_set"], "b9");
  EXPECT_EQ(rows[1]["silent_set"], "b10");
  EXPECT_EQ(rows[2]["silent_set"], "-");
  EXPECT_EQ(rows[0]["ots"], 2 * 513'792);
  EXPECT_EQ(rows[1]["ots"], 2 * 1'036'928);
  EXPECT_NEAR(rows[0]["bits_per_ot"].get<double>(), 8 * (165'968 + 11 * 16) / 513'792.0, 1e-6);
  EXPECT_NEAR(rows[1]["bits_per_ot"].get<double>(), 8 * (184'400 + 11 * 16) / 1'036'928.0, 1e-6);
  // A party sends 476,640 bytes before the second iteration, and that: headers, the
  // Delta-consistency check and the coin toss are below 2 KiB.
  EXPECT_NEAR(rows[0]["start_bytes"].get<double>(), 2 * (476'640 + 165'968), 4096);
  EXPECT_GT(rows[0]["start_s"], 0.0);
  EXPECT_EQ(rows[2]["start_bytes"], 0);
  EXPECT_TRUE(ended_with(tinyot({"bench", "ot", "--kind", "silent", "--silent-set", "s9"}), 2,
                         "silent-set s9 is not one of b9, b10, b11, b12"));
  EXPECT_TRUE(ended_with(tinyot({"bench", "ot", "--kind", "silent", "--silent-set", "s13"}), 2,
                         "silent-set s13 is retired"));
}

// Each option is combined only with its profile, so that no row is measured twice.
TEST_F(ReportTest, OfBenchOffline) {
  const Ended ended =
      tinyot({"bench", "offline", "--profile", "fast,nnob12", "--ands", "2^10", "--unit", "2^10",
              "--columns", "experiment", "--material", "pairs,triples", "--softspoken-k", "2,4",
              "--store", "yes,no", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0));
  const std::vector<Json> rows = rows_of(ended);
  std::set<std::string> points;
  for (const Json& row : rows) {
    const bool fast = row["profile"] == "fast";
    points.insert(row["profile"].get<std::string>() + " " + row["material"].get<std::string>() +
                  " " + row["softspoken_k"].dump() + " " + row["stored"].get<std::string>());
    EXPECT_EQ(row["columns"], fast ? "-" : "experiment");
    EXPECT_EQ(row["ands"], 1 << 10);
    EXPECT_EQ(row["unit"], 1 << 10);
    EXPECT_EQ(row["repeats"], 1);
    for (const char* field : {"ands_per_s", "bytes_per_and", "cpu_s", "cpu_us_per_and", "set_up_s",
                              "sigma_exact", "bucket", "peak_rss_bytes"})
      EXPECT_GT(row[field], 0.0) << field;
    EXPECT_FALSE(row["phases"].empty());
  }
  std::set<std::string> wanted;
  for (const std::string stored : {"yes", "no"}) {
    for (const std::string material : {"aand-aot", "triples"})
      wanted.insert("nnob12 " + material + " 0 " + stored);
    for (const std::string k : {"2", "4"}) wanted.insert("fast triples " + k + " " + stored);
  }
  EXPECT_EQ(points, wanted);
  EXPECT_EQ(rows.size(), wanted.size());
}

TEST_F(ReportTest, OfBenchOfflineByDefault) {
  const Ended ended = tinyot({"bench", "offline", "--profile", "fast,nnob12", "--unit", "2^10",
                              "--columns", "experiment", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0));
  const std::vector<Json> rows = rows_of(ended);
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& [field, of_fast, of_nnob12] :
       {std::tuple<const char*, Json, Json>{"profile", "fast", "nnob12"},
        {"material", "triples", "aand-aot"},
        {"softspoken_k", 2, 0},
        {"stored", "yes", "yes"},
        {"ands", 1 << 10, 1 << 10}}) {
    EXPECT_EQ(rows[0][field], of_fast) << field;
    EXPECT_EQ(rows[1][field], of_nnob12) << field;
  }
}

TEST_F(ReportTest, BenchRefusesUnknownValues) {
  for (const auto& [option, value] :
       {std::pair{std::string("profile"), "quick"}, {"softspoken-k", "3"}})
    EXPECT_TRUE(ended_with(tinyot({"bench", "offline", "--profile", "fast", "--" + option, value}),
                           2, option))
        << option;
  EXPECT_TRUE(ended_with(tinyot({"bench", "offline", "--material", "quads"}), 2, "--material"));
  EXPECT_TRUE(ended_with(tinyot({"bench", "offline", "--store", "perhaps"}), 2,
                         "--store must be yes or no"));
  EXPECT_TRUE(ended_with(tinyot({"bench", "offline", "--profile", "quick"}), 2, "--profile"));
}

TEST_F(ReportTest, OfCircuitEval) {
  const Json json = json_of(tinyot({"circuit", "eval", "aes128", "--format", "json", "--input",
                                    "key_a=000102030405060708090a0b0c0d0e0f", "--input",
                                    "key_b=00000000000000000000000000000000", "--input",
                                    "message=00112233445566778899aabbccddeeff"}));
  EXPECT_EQ(json["outputs"]["ciphertext"], "69c4e0d86a7b0430d8cdb78070b4c55a");
}

}  // namespace
}  // namespace tinyot::test
