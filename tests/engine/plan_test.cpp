// Jobs that cannot be planned, and jobs that differ from the one that was begun.
#include "engine/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/error.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

void expect_usage_error(const PreprocessRequest& request, const std::string& message) {
  try {
    (void)resolve(request);
    ADD_FAILURE() << "no error: " << message;
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), message);
    EXPECT_EQ(error.remedy(), Remedy::None);
  }
}

PreprocessRequest job_of(std::uint64_t ands, std::uint64_t unit) {
  PreprocessRequest request;
  request.ands = ands;
  request.parameters.unit = unit;
  return request;
}

TEST(Plan, RejectsTooManyUnits) {
  expect_usage_error(
      job_of(1 << 30, 1),
      "1073741824 ANDs in units of 1 would be more than 2^20 units: use larger units");
}

TEST(Plan, RejectsTheFirstUnitTooMany) {
  EXPECT_NO_THROW((void)resolve(job_of((1 << 20) - 1, 1)));
  EXPECT_THROW((void)resolve(job_of(1 << 20, 1)), UsageError);
}

TEST(Plan, RejectsMoreShardsThanUnits) {
  PreprocessRequest request = job_of(1 << 12, 1 << 11);
  request.shards = 2;
  EXPECT_NO_THROW((void)resolve(request));
  request.shards = 3;
  expect_usage_error(request,
                     "4096 ANDs in units of 2048 are fewer units than 3 shards; use smaller units "
                     "or fewer shards");
}

TEST(Plan, ErrorNamesParameterThatDiffers) {
  const PreprocessRequest job = job_of(1 << 12, 1 << 11);
  const auto params = offline::SecurityParameters::make(job.parameters);
  const Manifest wanted = security_of(params, estimate_of(job));
  Manifest begun = wanted;
  begun.me = job.party;
  begun.shards = job.shards;
  begun.ands_requested = job.ands;
  EXPECT_NO_THROW(check_same_parameters("the store", begun, job, wanted));
  const auto expect_error = [&](const Manifest& other, const std::string& difference) {
    try {
      check_same_parameters("the store", other, job, wanted);
      ADD_FAILURE() << "no error: " << difference;
    } catch (const StoreError& error) {
      EXPECT_EQ(std::string(error.what()), "the store was begun with " + difference +
                                               "; use the same value, or begin a new one");
      EXPECT_EQ(error.remedy(), Remedy::None);
    }
  };
  const auto changed = [&](auto change) {
    Manifest other = begun;
    change(other);
    return other;
  };
  expect_error(changed([](Manifest& m) { m.me = Party::B; }), "party B, not A");
  expect_error(changed([](Manifest& m) { m.profile = "fast"; }), "profile fast, not nnob12");
  expect_error(changed([](Manifest& m) { m.material = "triples"; }),
               "material triples, not aand-aot");
  expect_error(changed([](Manifest& m) {
                 m.own = {{"columns", "experiment"}};
               }),
               "columns experiment, not theorem");
  expect_error(changed([](Manifest& m) { m.sigma = 64; }), "sigma 64, not 40");
  expect_error(changed([](Manifest& m) { m.unit = 1024; }), "unit 1024, not 2048");
  expect_error(changed([](Manifest& m) { m.shards = 2; }), "shards 2, not 1");
  const std::string bucket = wanted.bucket.text();
  expect_error(changed([&](Manifest& m) { m.bucket = wanted.bucket.only() + 1; }),
               "bucket " + std::to_string(wanted.bucket.only() + 1) + ", not " + bucket);
}

TEST(Plan, AmountsDoNotChange) {
  PreprocessRequest job = job_of(1 << 12, 1 << 11);
  job.inputs = 7;
  Manifest begun;
  begun.ands_requested = 1 << 12;
  begun.inputs_requested = 7;
  EXPECT_NO_THROW(check_same_amount("the store", begun, job));
  const auto message = [&] {
    try {
      check_same_amount("the store", begun, job);
    } catch (const StoreError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  job.inputs = 8;
  EXPECT_EQ(message(),
            "the store was begun with inputs 7, not 8; use the same value, or begin a new one");
  begun.inputs_requested.reset();  // begun by an earlier version
  EXPECT_EQ(message(), "");
  job.ands = 1;
  EXPECT_EQ(message(),
            "the store was begun with ands 4096, not 1; use the same value, or begin a new one");
  job.ands = 0;  // as before
  EXPECT_EQ(message(), "");
}

// The last job of a store is continued as it was begun.
TEST(Plan, JobThatIsContinuedIsAsItWasBegun) {
  PreprocessRequest job = job_of(0, 1 << 11);
  job.parameters.unit.reset();
  Manifest begun =
      security_of(offline::SecurityParameters::make(job_of(1 << 12, 1 << 11).parameters), {});
  begun.ands_requested = 1 << 12;
  begun.inputs_requested = 7;
  const PreprocessRequest resolved = resolve(job, &begun);
  EXPECT_EQ(resolved.ands, begun.ands_requested);
  EXPECT_EQ(inputs_of(resolved), 7u);
  EXPECT_EQ(resolved.parameters.unit, begun.unit);
  // What is given counts, for other parameters as well.
  job.ands = 1 << 13;
  job.inputs = 9;
  job.parameters.unit = 1 << 10;
  const PreprocessRequest given = resolve(job, &begun);
  EXPECT_EQ(given.ands, job.ands);
  EXPECT_EQ(inputs_of(given), 9u);
  EXPECT_EQ(given.parameters.unit, job.parameters.unit);
  for (const auto& change : std::vector<std::function<void(Manifest&)>>{
           [](Manifest& of) { of.profile = "fast"; }, [](Manifest& of) { ++of.sigma; }}) {
    Manifest other = begun;
    change(other);
    other.unit = 1 << 14;
    PreprocessRequest anew = job;
    anew.parameters.unit.reset();
    EXPECT_NE(resolve(anew, &other).parameters.unit, other.unit);
  }
}

TEST(Plan, StoreThatWasAddedToIsContinuedWithoutANumber) {
  PreprocessRequest job = job_of(1 << 12, 1 << 11);
  Manifest begun;
  begun.ands_requested = 1 << 13;
  begun.inputs_requested = 7;
  begun.units_before = 2;
  const auto refusal = [&]() -> std::optional<Remedy> {
    try {
      check_same_amount("the store", begun, job);
    } catch (const StoreError& error) {
      EXPECT_TRUE(std::string(error.what()).find("leave the number out") != std::string::npos);
      return error.remedy();
    }
    return std::nullopt;
  };
  EXPECT_EQ(refusal(), Remedy::AddMaterial);
  job.ands = 0;
  EXPECT_EQ(refusal(), std::nullopt);
  // Of all jobs the number is known, of their inputs it is not.
  job.ands = begun.ands_requested;
  job.inputs = 8;
  EXPECT_EQ(refusal(), std::nullopt);
  job.ands = 1;
  for (const Amount amount : {Amount::More, Amount::Left}) {
    job.amount = amount;
    EXPECT_EQ(refusal(), std::nullopt);
  }
}

// Of a store that has been added to, the last job has what the jobs before have not; its shards,
// too, are those of the store.
TEST(Plan, LastJobIsWhatThoseBeforeHaveNot) {
  PreprocessRequest job = job_of(0, 1 << 11);
  job.parameters.weak_allowed = true;
  Manifest begun =
      security_of(offline::SecurityParameters::make(job_of(1 << 13, 1 << 11).parameters), {});
  begun.ands_requested = 3 << 12;
  begun.ands_before = 1 << 12;
  begun.units_before = 2;
  begun.inputs_requested = 7;
  begun.shard = 2;
  begun.shards = 3;
  const PreprocessRequest last = last_job(job, begun);
  EXPECT_EQ(last.amount, Amount::Total);
  EXPECT_EQ(last.ands, 2u << 12);
  EXPECT_EQ(inputs_of(last), 7u);
  EXPECT_EQ(last.parameters.sigma, begun.sigma);
  EXPECT_EQ(last.parameters.unit, begun.unit);
  EXPECT_EQ(last.parameters.bucket, begun.bucket);
  EXPECT_EQ(last.parameters.shards, 3u);
  EXPECT_TRUE(last.parameters.weak_allowed);
}

// A store is continued with its bucket, unless its units are of another size.
TEST(Plan, BucketIsThatOfTheUnitsOfAStore) {
  Manifest begun =
      security_of(offline::SecurityParameters::make(job_of(1 << 12, 1 << 11).parameters), {});
  begun.bucket = begun.bucket.only() + 1;
  begun.ands_requested = 1 << 12;
  PreprocessRequest job = job_of(0, 1 << 11);
  EXPECT_EQ(resolve(job, &begun).parameters.bucket, begun.bucket);
  job.parameters.unit = 1 << 10;
  EXPECT_NE(resolve(job, &begun).parameters.bucket, begun.bucket);
}

// By a later version: the program that reads it says so.
TEST(Plan, StoreOfWhatIsNotKnownIsRefused) {
  const auto params = offline::SecurityParameters::make(job_of(1 << 12, 1 << 11).parameters);
  const Manifest known = security_of(params, {});
  EXPECT_EQ(begun_parameters(known).unit, params.unit());
  for (const auto& change : std::vector<std::function<void(Manifest&)>>{
           [](Manifest& of) { of.profile = "newest"; }, [](Manifest& of) { of.material = "quads"; },
           [](Manifest& of) {
             of.own = {{"columns", "guess"}};
           }}) {
    Manifest other = known;
    change(other);
    try {
      (void)begun_parameters(other);
      ADD_FAILURE();
    } catch (const StoreError& error) {
      EXPECT_NE(std::string(error.what()).find("what this program does not know"),
                std::string::npos);
    }
  }
}

TEST(Plan, UnitsAreCountedByTheirPlan) {
  const auto unit = [](std::uint64_t ands) {
    return offline::UnitRequest{{.ands = ands, .bucket = 4}, 0};
  };
  const offline::UnitRequest requests[] = {unit(8), unit(8), unit(3), unit(8)};
  const auto totals = units_of(requests);
  ASSERT_EQ(totals.units.size(), 3u);
  EXPECT_EQ(totals.units[0].count, 2u);
  EXPECT_EQ(totals.units[1].count, 1u);
  EXPECT_EQ(totals.units[1].plan.ands, 3u);
  EXPECT_EQ(totals.units[2].count, 1u);
}

// What both parties have to give alike; a disagreement names what differs.
class ComparedJob : public ::testing::Test {
 protected:
  using Change = std::function<void(PreprocessRequest& job)>;

  static std::vector<net::Parameter> compared(const PreprocessRequest& job,
                                              bool continues = false) {
    return parameters_to_agree(job, JobPlan(resolve(job)), continues);
  }
  static std::optional<std::string> value_in(const std::vector<net::Parameter>& parameters,
                                             const std::string& name) {
    const auto found = std::ranges::find(parameters, name, &net::Parameter::name);
    return found == parameters.end() ? std::nullopt : std::optional(found->value);
  }
  static PreprocessRequest job() {
    PreprocessRequest job = job_of(1 << 12, 1 << 11);
    job.inputs = 7;
    job.parameters.profile = Profile::Fast;
    job.parameters.material = AndMaterial::Triples;
    return job;
  }
};

TEST_F(ComparedJob, HasEveryChoice) {
  const auto params = offline::SecurityParameters::make(resolve(job()).parameters);
  const std::size_t larger = params.bucket().only() + 1;
  const std::vector<std::pair<std::string, Change>> changes = {
      {"ands", [](PreprocessRequest& job) { job.ands *= 2; }},
      {"ands", [](PreprocessRequest& job) { job.amount = Amount::More; }},
      {"inputs", [](PreprocessRequest& job) { job.amount = Amount::Left; }},
      {"inputs", [](PreprocessRequest& job) { job.inputs = 8; }},
      {"threads", [](PreprocessRequest& job) { job.threads = 2; }},
      {"session file", [](PreprocessRequest& job) { job.session = "file"; }},
      {"shard", [](PreprocessRequest& job) { job.shards = 2; }},
      {"profile", [](PreprocessRequest& job) { job.parameters.profile = Profile::Wan; }},
      {"material", [](PreprocessRequest& job) { job.parameters.material = AndMaterial::Garbling; }},
      {"sigma", [](PreprocessRequest& job) { job.parameters.sigma = 41; }},
      {"unit", [](PreprocessRequest& job) { job.parameters.unit = 1 << 12; }},
      {"bucket", [=](PreprocessRequest& job) { job.parameters.bucket = larger; }},
      {"softspoken-k",
       [](PreprocessRequest& job) {
         const NamedValue other[] = {{"softspoken-k", "2"}};
         job.parameters.own = own_parameters(Profile::Fast, other);
       }},
      {"allow-weak", [](PreprocessRequest& job) { job.parameters.weak_allowed = true; }}};
  const auto usual = compared(job());
  for (const auto& [name, change] : changes) {
    PreprocessRequest other = job();
    change(other);
    const auto parameters = compared(other);
    ASSERT_TRUE(value_in(parameters, name) && value_in(usual, name)) << name;
    EXPECT_NE(value_in(parameters, name), value_in(usual, name)) << name;
  }
  // A run compares the same kind of message, and the security parameter is nobody's choice.
  EXPECT_EQ(value_in(usual, "command"), "preprocess");
  EXPECT_EQ(value_in(usual, "kappa"), std::to_string(kKappa));
  PreprocessRequest first = job(), second = job();
  first.shards = second.shards = second.shard = 2;
  EXPECT_NE(value_in(compared(first), "shard"), value_in(compared(second), "shard"));
  // Of amounts, whether it is what there is in all, what is added or what is left.
  PreprocessRequest more = job(), left = job();
  more.amount = Amount::More;
  left.amount = Amount::Left;
  EXPECT_EQ(value_in(usual, "ands"), "4096");
  EXPECT_EQ(value_in(compared(more), "ands"), "4096 more");
  EXPECT_EQ(value_in(compared(left), "ands"), "as many as leave 4096");
}

// An open one would take what the peer gives.
TEST_F(ComparedJob, HasTheBaseOtsThatWereAskedFor) {
  PreprocessRequest asks = job();
  asks.parameters.base_ot = BaseOt::Ristretto;
  const auto parameters = compared(asks);
  const auto found = std::ranges::find(parameters, "base-ot", &net::Parameter::name);
  ASSERT_NE(found, parameters.end());
  EXPECT_EQ(found->value, name_of(BaseOt::Ristretto));
  EXPECT_FALSE(found->is_open);
  EXPECT_EQ(found->shown, "") << "it is what the party asked for, not all that it has";
}

// Of a store that is continued, unit and bucket are those that it was begun with.
TEST_F(ComparedJob, IsAsBegunWhereAStoreIsContinued) {
  const auto begun = compared(job(), true);
  for (const char* const name : {"ands", "inputs"}) EXPECT_EQ(value_in(begun, name), "as begun");
  PreprocessRequest more = job();
  more.amount = Amount::More;
  const auto parameters = compared(more, true);
  EXPECT_EQ(value_in(parameters, "ands"), "4096 more");
  EXPECT_EQ(value_in(parameters, "inputs"), "7 more");
  for (const auto& all : {begun, parameters})
    for (const char* const name : {"unit", "bucket"}) EXPECT_EQ(value_in(all, name), std::nullopt);
}

}  // namespace
}  // namespace tinyot::test
