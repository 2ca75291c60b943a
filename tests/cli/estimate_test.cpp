// The estimates of `tinyot params` match what `tinyot preprocess` then reports.
#include "tinyot/estimate.h"

#include "tests/support/command_test.h"
#include "tests/support/layers.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TINYOT_SANITIZED 1
#else
#define TINYOT_SANITIZED 0
#endif

namespace tinyot::test {
namespace {

const Arguments kFast = {"--profile", "fast"};
const Arguments kFewerTrees = {"--profile", "fast", "--softspoken-k", "4"};
const Arguments kSilent = {"--profile", "fast", "--abits", "silent"};
const Arguments kWan = {"--profile", "wan"};
const Arguments kTriplesMaterial = kFewColumns + Arguments{"--material", "triples"};

class EstimateTest : public CommandTest {
 protected:
  // Makes both stores, and keeps the estimate and the parties' reports.
  void make(const std::string& ands, const Arguments& more = kFewColumns) {
    const Arguments options = Arguments{"--ands", ands, "--format", "json"} + more;
    estimate_ = json_of(tinyot(Arguments{"params", "--no-calibration"} + options));
    report_ = json_of(tinyot(Arguments{"local", "preprocess", "--store", dir_.string()} + options,
                             {}, kPatience));
    for (const char* field : {"ands", "sigma", "sigma_paper_bound", "sigma_exact", "kappa",
                              "bucket", "unit", "profile", "material"})
      EXPECT_EQ(estimate_[field], report_["A"][field]) << field;
    // Only those fields that the profile has.
    for (const char* field : {"columns", "softspoken_k", "abits", "silent_set", "lpn_bits"})
      EXPECT_EQ(estimate_.value(field, Json()), report_["A"].value(field, Json())) << field;
  }

  void expect_traffic() const {
    for (const char* party : {"A", "B"}) {
      double sent = 0;
      for (const Json& phase : report_[party]["phases"]) sent += phase["bytes_sent"].get<double>();
      EXPECT_NEAR(estimate_["bytes_sent"].get<double>() / sent, 1, 0.01) << party;
    }
  }

  void expect_disk() const {
    for (const char* party : {"A", "B"}) {
      const double stored = report_[party]["store_bytes"];
      EXPECT_NEAR(estimate_["disk_bytes"].get<double>() / stored, 1, 0.1)
          << party << " stores " << stored;
    }
  }

  void expect_memory() const {
    if (TINYOT_SANITIZED) GTEST_SKIP() << "sanitizers use additional memory";
    for (const char* party : {"A", "B"}) {
      const double peak = report_[party]["peak_rss_bytes"], estimated = estimate_["memory_bytes"];
      EXPECT_GE(estimated, peak) << party;
      EXPECT_LE(estimated, 1.3 * peak + 100e6) << party << " peaks at " << peak;
    }
  }

  // The largest job takes ten seconds on an idle machine.
  static constexpr auto kPatience = std::chrono::minutes(20);
  Json estimate_, report_;
};

// A time is measured anew for each estimate, and a busy machine delays some more than others; but
// not the work of `few` for as long as that of `many`, many times as much, takes.
void expect_grows_with_work(const Json& few, const Json& many) {
  const auto without_set_up = [](const Json& estimate) {
    return estimate["wall_s"].get<double>() - estimate["set_up_s"].get<double>();
  };
  EXPECT_GT(few["set_up_s"], 0.0);
  EXPECT_GT(without_set_up(few), 0.0);
  EXPECT_GT(without_set_up(many), without_set_up(few));
}

TEST_F(EstimateTest, HasEveryCostOfAJob) {
  const Json json = json_of(tinyot({"params", "--ands", "2^20", "--sigma", "64", "--unit", "2^18",
                                    "--no-calibration", "--format", "json"}));
  EXPECT_EQ(json["ands"], 1 << 20);
  EXPECT_EQ(json["units"].at(0)["count"], 4);
  EXPECT_EQ(json["units"].at(0)["bucket"], json["bucket"]);
  EXPECT_EQ(json["outstanding"]["units"], 0);
  EXPECT_EQ(json["sigma"], 64);
  EXPECT_GE(json["sigma_paper_bound"], 64.0);
  EXPECT_GE(json["sigma_exact"], 40.0);
  EXPECT_EQ(json["bucket"], 5);  // 4 would give (18 + 1) 3 = 57 bits
  EXPECT_EQ(json["labit_columns"], 939);
  EXPECT_EQ(json["base_ots"], 2 * 939);
  for (const char* field : {"bytes_sent", "disk_bytes", "memory_bytes"})
    EXPECT_GT(json[field], 1 << 20) << field;
}

// The Python package's are compared with the command's in tests/python/processes_test.py.
TEST_F(EstimateTest, DefaultsAreThoseOfTheLibrary) {
  const Json report =
      json_of(tinyot({"params", "--no-calibration", "--ands", "2^20", "--format", "json"}));
  const Estimate library = estimate({}, 1 << 20, default_inputs(1 << 20));
  EXPECT_EQ(report["profile"], "nnob12");
  EXPECT_EQ(report["profile"], name_of(ParameterRequest{}.profile));
  EXPECT_EQ(report["unit"], library.unit);
  EXPECT_EQ(report["bucket"], library.bucket.only());
  EXPECT_EQ(report["sigma_exact"], library.sigma_exact);
  EXPECT_EQ(report["inputs"], library.inputs);
}

TEST_F(EstimateTest, TimeIsMeasuredInShortRun) {
  const auto of = [](const char* ands) {
    return Arguments{"params", "--ands", ands, "--labit-columns", "experiment", "--format", "json"};
  };
  const Arguments small = of("2^13"), large = of("2^17");
  const Json few = json_of(tinyot(small)), many = json_of(tinyot(large)),
             none = json_of(tinyot(small + Arguments{"--no-calibration"}));
  expect_grows_with_work(few, many);
  EXPECT_FALSE(none.contains("wall_s"));
}

// The short run is not a shard: it has fewer units than the session has shards.
TEST_F(EstimateTest, TimeOfAShardIsMeasuredToo) {
  const Ended ended = tinyot({"params", "--profile", "fast", "--ands", "2^13", "--unit", "2^10",
                              "--session", path("session"), "--shard", "2/8", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0));
  EXPECT_GT(json_of(ended)["wall_s"].get<double>(), 0);
}

// With a circuit, the job is the material of one run, and the run is estimated as well. It takes as
// many rounds and bytes as estimated, and at least their time.
TEST_F(EstimateTest, RunOfACircuitOverALink) {
  const Arguments circuit = {"--circuit", "aes128", "--lanes", "3",        "--rtt",
                             "4ms",       "--rate", "10mbit",  "--format", "json"};
  const Json estimate = json_of(tinyot(Arguments{"params"} + kFast + circuit));
  EXPECT_EQ(estimate["ands"], 3 * 5120 + 1280);
  const Json& run = estimate["run"];
  EXPECT_EQ(run, [&] {
    Json info = json_of(tinyot(Arguments{"circuit", "info", "aes128"} +
                               Arguments(circuit.begin() + 2, circuit.end())))["run"];
    for (const char* const phase : {"interactive", "masked"})
      info["online"][phase]["wall_s"] = run["online"][phase]["wall_s"];
    return info;
  }());
  const Json& phase = run["online"]["interactive"];
  EXPECT_EQ(phase["half_round_trips"], Json({{"a", 63}, {"b", 63}}));
  EXPECT_GE(phase["wall_s"], phase["link_s"]);
  const Json row =
      json_of(tinyot(Arguments{"bench", "online", "--profile", "fast", "--repeat", "1"} + circuit));
  EXPECT_EQ(row["rounds"], run["and_rounds"]);
  EXPECT_NEAR(row["bits_per_and"].get<double>() * row["ands"].get<double>() / 8,
              phase["bytes_sent_a"].get<double>() + phase["bytes_sent_b"].get<double>(), 0.5);
  EXPECT_GE(row["wall_s"].get<double>(), 0.002 * run["and_rounds"].get<double>());
}

// Each phase that runs on the material is estimated.
TEST_F(EstimateTest, RunOnMaterialForGarbling) {
  const Json run = json_of(
      tinyot({"circuit", "info", "aes128", "--material", "garbling", "--format", "json"}))["run"];
  EXPECT_EQ(run["online"]["interactive"]["half_round_trips"], Json({{"a", 63}, {"b", 63}}));
  EXPECT_EQ(run["online"]["garbled"]["half_round_trips"], Json({{"a", 4}, {"b", 5}}));
  EXPECT_GT(run["online"]["garbled"]["bytes_sent_b"], 32 * run["ands"].get<std::uint64_t>());
  // Of a run that is prepared, what follows its inputs; of interactive ones, everything does.
  const auto prepared = [&](const char* phase) { return run["online"][phase]["prepared"]; };
  EXPECT_FALSE(run["online"]["interactive"].contains("prepared"));
  EXPECT_EQ(prepared("garbled")["half_round_trips"], Json({{"a", 2}, {"b", 3}}));
  EXPECT_LT(prepared("garbled")["bytes_sent_b"], run["ands"].get<std::uint64_t>());
  EXPECT_EQ(prepared("masked")["half_round_trips"], Json({{"a", 63}, {"b", 63}}));
  EXPECT_LT(prepared("masked")["bytes_sent_b"], run["online"]["masked"]["bytes_sent_b"]);
}

// Beyond the sigma of early rows, B waits for what A returns.
TEST_F(EstimateTest, PreparedRunFollowsSigma) {
  const auto half_round_trips = [&](const char* sigma) {
    return json_of(tinyot({"params", "--circuit", "millionaires", "--profile", "fast", "--material",
                           "garbling", "--sigma", sigma, "--no-calibration", "--format",
                           "json"}))["run"]["online"]["garbled"]["prepared"]["half_round_trips"];
  };
  EXPECT_EQ(half_round_trips("40"), Json({{"a", 2}, {"b", 3}}));
  EXPECT_EQ(half_round_trips("113"), Json({{"a", 4}, {"b", 5}}));
}

TEST_F(EstimateTest, MaterialOfARunSufficesForIt) {
  for (const char* profile : {"fast", "nnob12"}) {
    const Arguments of_profile = {"--profile",    profile,   "--circuit",
                                  "millionaires", "--lanes", "20"};
    const Json estimate =
        json_of(tinyot(Arguments{"params", "--no-calibration", "--format", "json"} + of_profile));
    EXPECT_FALSE(estimate["run"].contains("wall_s"));
    const auto number = [&](const char* field) {
      return std::to_string(estimate[field].get<std::uint64_t>());
    };
    const std::string store = (dir_ / profile).string();
    ASSERT_TRUE(ended_with(tinyot({"local", "preprocess", "--store", store, "--profile", profile,
                                   "--ands", number("ands"), "--inputs", number("inputs")}),
                           0));
    std::string values = "1";
    for (int lane = 1; lane < 20; ++lane) values += ",1";
    EXPECT_TRUE(
        ended_with(tinyot({"local", "run", "--store", store, "--circuit", "millionaires", "--lanes",
                           "20", "--input", "a=" + values, "--input", "b=" + values}),
                   0));
  }
}

TEST_F(EstimateTest, TrafficAndDiskOfASmallJob) {
  make("2^13");
  expect_traffic();
  expect_disk();
}

TEST_F(EstimateTest, TrafficOfSeveralUnitsAndRemainder) {
  make("2500", kFewColumns + Arguments{"--unit", "2^10"});
  expect_traffic();
}

TEST_F(EstimateTest, MemoryOfATinyJob) {
  make("2^10");
  expect_traffic();
  expect_memory();
}

TEST_F(EstimateTest, EveryCostOfMediumJob) {
  make("2^16");
  expect_traffic();
  expect_disk();
  expect_memory();
}

TEST_F(EstimateTest, NamesTheFieldsOfTheFastProfile) {
  const Arguments params = {"params", "--ands", "2^21", "--no-calibration", "--format", "json"};
  const Json json = json_of(tinyot(params + kFast));
  EXPECT_EQ(json["profile"], "fast");
  EXPECT_EQ(json["material"], "triples");
  EXPECT_EQ(json["softspoken_k"], 2);
  EXPECT_EQ(json["base_ots"], 128);
  EXPECT_EQ(json["unit"], 1 << 20);
  EXPECT_EQ(json["units"].at(0)["count"], 2);
  EXPECT_EQ(json["bucket"], 3);
  for (const char* field : {"columns", "labit_columns"})
    EXPECT_FALSE(json.contains(field)) << field;
  const Json other = json_of(tinyot(params + kFewerTrees));
  EXPECT_EQ(other["softspoken_k"], 4);
  EXPECT_EQ(other["base_ots"], 128);
  for (const char* field : {"bytes_sent", "disk_bytes", "memory_bytes"})
    EXPECT_GT(json[field], 1 << 20) << field;
  EXPECT_LT(other["bytes_sent"], json["bytes_sent"]);
  EXPECT_EQ(other["disk_bytes"], json["disk_bytes"]) << "the same triples";
  // Over a slow link the parties take them by themselves.
  const Json slow = json_of(tinyot(params + kFast + Arguments{"--rate", "1gbit"}));
  EXPECT_EQ(slow["softspoken_k"], 4);
  EXPECT_EQ(slow["bytes_sent"], other["bytes_sent"]);
}

TEST_F(EstimateTest, TimeOfTheFastProfileIsMeasuredInShortRun) {
  const auto of = [](const char* ands) {
    return Arguments{"params", "--ands", ands, "--format", "json"} + kFast;
  };
  const Json few = json_of(tinyot(of("2^13"))), many = json_of(tinyot(of("2^22")));
  expect_grows_with_work(few, many);
  EXPECT_GT(many["ands_per_s"], 0.0);
}

TEST_F(EstimateTest, EveryCostOfFastJob) {
  make("2^17", kFast);
  expect_traffic();
  expect_disk();
  expect_memory();
}

// 32 units and 1.6 GB for each party: what LMDB maps does not add up.
TEST_F(EstimateTest, MemoryOfALargeFastJobIsThatOfItsUnits) {
  make("2^23", kFast);  // eight units
  expect_disk();
  expect_memory();
  for (const char* party : {"A", "B"})
    EXPECT_LT(report_[party]["peak_file_bytes"], 64 << 20) << party;
}

TEST_F(EstimateTest, EveryCostOfFastJobWithFewerTrees) {
  make("2^17", kFewerTrees);
  expect_traffic();
  expect_disk();
  expect_memory();
}

TEST_F(EstimateTest, EveryCostOfSeveralFastUnitsAndRemainder) {
  make("100001", kFast + Arguments{"--unit", "2^15"});
  expect_traffic();
  expect_disk();
  expect_memory();
}

TEST_F(EstimateTest, TrafficOfSmallFastUnitsAndRemainder) {
  for (const Arguments& kind : {kFast, kFewerTrees}) {
    make("2501", kind + Arguments{"--unit", "2^10", "--inputs", "333"});
    expect_traffic();
    for (const char* store : {"A", "B"}) std::filesystem::remove_all(path(store));
  }
}

TEST_F(EstimateTest, EveryCostOfJobsOnSilentBits) {
  for (const Arguments& kind : {kWan, kSilent, kWan + Arguments{"--material", "garbling"}}) {
    make("2^17", kind);
    expect_traffic();
    expect_disk();
    expect_memory();
    for (const char* store : {"A", "B"}) std::filesystem::remove_all(path(store));
  }
}

// Iterations of a chain of each worker.
TEST_F(EstimateTest, TrafficOfSeveralUnitsOnSilentBits) {
  for (const Arguments& kind :
       {kWan + Arguments{"--silent-set", "b10"}, kSilent + Arguments{"--silent-set", "b9"}}) {
    make("50001", kind + Arguments{"--unit", "2^14", "--threads", "2", "--inputs", "333"});
    expect_traffic();
    for (const char* store : {"A", "B"}) std::filesystem::remove_all(path(store));
  }
}

TEST_F(EstimateTest, ComparesTheProfiles) {
  const Arguments params = {"params", "--ands", "2^24", "--compare", "--no-calibration"};
  const Ended ended = tinyot(params);
  EXPECT_NE(ended.out.find("wan (triples, softspoken-k 4, silent-set b12), lpn: 135.2 bits (b12)"),
            std::string::npos)
      << ended.out;
  EXPECT_EQ(ended.out.find("fastest"), std::string::npos) << "without measurement";
  const Json compared = json_of(tinyot(params + Arguments{"--format", "json"}))["compared"];
  std::map<std::string, double> least;
  for (const Json& each : compared) {
    double& bytes = least.try_emplace(each["profile"], each["bytes_per_and"]).first->second;
    bytes = std::min<double>(bytes, each["bytes_per_and"]);
  }
  EXPECT_EQ(least.size(), 3u);
  EXPECT_LT(least["wan"], 11.05);
  EXPECT_LT(least["fast"], 98.5);
  const Arguments garbling = {"--material", "garbling", "--format", "json"};
  EXPECT_EQ(json_of(tinyot(params + garbling))["compared"].size(), compared.size());
  const Arguments pairs = {"--material", "aand-aot", "--format", "json"};
  EXPECT_EQ(json_of(tinyot(params + pairs))["compared"].size(), 1u);
}

// 22,000 ANDs are one encryption of 32 bytes under a shared key.
TEST_F(EstimateTest, TrafficOfCustodyAtEachSigma) {
  const auto bytes_of = [](const Arguments& more) {
    return json_of(tinyot(Arguments{"params", "--profile", "wan", "--ands", "2^24",
                                    "--no-calibration", "--format", "json"} +
                          more))["bytes_per_and"]
               .get<double>() *
           22'000;
  };
  EXPECT_LT(bytes_of({}), 0.25e6);
  EXPECT_LT(bytes_of({"--sigma", "64"}), 0.71e6);
  EXPECT_LT(bytes_of({"--sigma", "64", "--unit", "2^21", "--memory", "2000000000"}), 0.45e6);
}

TEST_F(EstimateTest, EveryCostOfTriplesFromPairs) {
  make("2^15", kTriplesMaterial);
  expect_traffic();
  expect_disk();
  expect_memory();
}

TEST_F(EstimateTest, TrafficOfTriplesFromSeveralUnitsAndRemainder) {
  make("2500", kTriplesMaterial + Arguments{"--unit", "2^10"});
  expect_traffic();
}

}  // namespace
}  // namespace tinyot::test
