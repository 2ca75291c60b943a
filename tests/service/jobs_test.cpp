#include "service/jobs.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using service::Jobs;
using service::JobState;
using service::SharedJob;

service::JobRequest request(const std::string& id, std::size_t bits = 64,
                            const std::string& peer = "bob") {
  Values inputs;
  inputs.set("a", LaneMatrix(1, bits));
  return {id,
          peer,
          *engine::LoadedCircuit::generated("millionaires", 1),
          {},
          std::make_shared<const Values>(std::move(inputs))};
}

constexpr service::JobLimits kLimits{3, 10'000, std::chrono::seconds(60), std::chrono::seconds(60)};

Jobs::Refused refused(Jobs& jobs, service::JobRequest job) {
  try {
    jobs.add(std::move(job));
  } catch (const Jobs::Refusal& refusal) {
    return refusal.why();
  }
  ADD_FAILURE();
  return {};
}

TEST(JobsTest, OneJobOfAnId) {
  Jobs jobs(kLimits);
  const SharedJob job = jobs.add(request("1"));
  EXPECT_EQ(refused(jobs, request("1")), Jobs::Refused::Exists);
  EXPECT_EQ(jobs.find("bob", "1"), job);
  EXPECT_EQ(jobs.find("bob", "2"), nullptr);
  jobs.forget(*job);
  EXPECT_EQ(jobs.find("bob", "1"), nullptr);
  jobs.add(request("1"));
  jobs.forget(*job);  // not the new one of the same id
  EXPECT_NE(jobs.find("bob", "1"), nullptr);
}

TEST(JobsTest, IdsBelongToAPeer) {
  Jobs jobs(kLimits);
  const SharedJob bobs = jobs.add(request("1")), carols = jobs.add(request("1", 64, "carol"));
  EXPECT_EQ(refused(jobs, request("1", 64, "carol")), Jobs::Refused::Exists);
  EXPECT_EQ(jobs.find("bob", "1"), bobs);
  EXPECT_EQ(jobs.find("carol", "1"), carols);
  EXPECT_EQ(jobs.named("1"), (std::vector{bobs, carols}));
  jobs.cancel(*bobs);
  jobs.forget(*bobs);
  EXPECT_EQ(jobs.named("1"), std::vector{carols});
  EXPECT_EQ(jobs.status(*carols).state, JobState::WaitingForPeer);
}

TEST(JobsTest, LimitsCountJobsAndBytes) {
  Jobs jobs(kLimits);
  for (const char* id : {"1", "2", "3"}) jobs.add(request(id));
  EXPECT_EQ(refused(jobs, request("4")), Jobs::Refused::Full);
  jobs.forget(*jobs.find("bob", "1"));
  EXPECT_EQ(refused(jobs, request("4", 78'000)), Jobs::Refused::Full);
  EXPECT_EQ(refused(jobs, request("4", 80'000)), Jobs::Refused::TooLarge);
  jobs.add(request("4", 40'000));
}

// They come while the inputs are still held.
TEST(JobsTest, OutputsCountFromTheBeginning) {
  Jobs jobs(kLimits);
  service::JobRequest job = request("1", 32'000);
  job.output_bytes = 4'000;
  const SharedJob first = jobs.add(std::move(job));
  EXPECT_EQ(refused(jobs, request("2", 16'000)), Jobs::Refused::Full);
  service::JobResult result;
  result.outputs.set("a_has_more", LaneMatrix(1, 1));
  jobs.finish(*first, std::move(result));
  jobs.add(request("2", 64'000));
}

TEST(JobsTest, OutputsOfAPartyAreThoseThatItLearns) {
  constexpr std::uint64_t kLanes = 1000;
  const auto bytes = [](const std::string& name, Party party) {
    return service::bytes_of_outputs(*engine::LoadedCircuit::generated(name, kLanes), party);
  };
  // B alone learns the ciphertext.
  EXPECT_EQ(bytes("aes128", Party::A), 0u);
  EXPECT_GE(bytes("aes128", Party::B), kLanes * 16);
  for (const Party party : {Party::A, Party::B})
    EXPECT_GE(bytes("millionaires", party), kLanes) << "a byte for each lane";
}

// A peer that never answers: its jobs wait until they are late.
TEST(JobsTest, JobsOfOnePeerLeaveRoomForThoseOfOthers) {
  const auto of = [](const std::string& peer, const std::string& id, std::size_t bits = 64) {
    service::JobRequest job = request(id, bits);
    job.peer = peer;
    return job;
  };
  service::JobLimits limits = kLimits;
  limits.jobs = 6;
  limits.peers = 2;
  Jobs jobs(limits);
  for (const char* id : {"1", "2", "3"}) jobs.add(of("bob", id));
  EXPECT_EQ(refused(jobs, of("bob", "4")), Jobs::Refused::Full);
  jobs.add(of("carol", "4"));
  jobs.forget(*jobs.find("bob", "1"));
  jobs.forget(*jobs.find("bob", "2"));
  EXPECT_EQ(refused(jobs, of("bob", "5", 40'000)), Jobs::Refused::Full);
  jobs.forget(*jobs.find("bob", "3"));
  jobs.add(of("bob", "5", 40'000));
  // Once they have ended, they take what their results take.
  jobs.cancel(*jobs.find("bob", "5"));
  jobs.add(of("bob", "6", 32'000));
}

// A peer has no more jobs than there is room for others, and the bytes of those that are forgotten
// are not its own any more.
TEST(JobsTest, JobsOfOnePeerAreThoseThatThereAreNow) {
  service::JobLimits limits = kLimits;
  limits.jobs = 6;
  limits.peers = 2;
  Jobs jobs(limits);
  jobs.add(request("1", 64, "bob"));
  for (const char* id : {"1", "2"}) jobs.add(request(id, 64, "carol"));
  EXPECT_EQ(refused(jobs, request("3", 64, "carol")), Jobs::Refused::Full) << "of 6, 2 are free";
  for (int i = 0; i < 4; ++i) jobs.forget(*jobs.add(request("2", 16'000, "bob")));
  jobs.add(request("2", 16'000, "bob"));
}

TEST(JobsTest, CircuitFilesAndSmallValuesCountWhatTheyTake) {
  Jobs jobs(kLimits);
  service::JobRequest with_file = request("file");
  with_file.circuit_bytes = 9'000;
  const SharedJob job = jobs.add(std::move(with_file));
  EXPECT_EQ(refused(jobs, request("1", 8'000)), Jobs::Refused::Full);
  jobs.fail(*job, {});
  EXPECT_EQ(refused(jobs, request("1", 8'000)), Jobs::Refused::Full) << "its circuit is kept";
  jobs.forget(*job);
  service::JobRequest lanes = request("lanes");
  Values bytes;
  bytes.set("a", LaneMatrix(10'000, 1));
  lanes.inputs = std::make_shared<const Values>(std::move(bytes));
  EXPECT_EQ(refused(jobs, std::move(lanes)), Jobs::Refused::TooLarge);
}

TEST(JobsTest, EndedJobDropsItsInputsAndDoesNotChange) {
  Jobs jobs(kLimits);
  const SharedJob job = jobs.add(request("1"));
  EXPECT_NE(jobs.inputs(*job), nullptr);
  EXPECT_TRUE(jobs.fail(*job, {ErrorClass::Network, "gone"}));
  EXPECT_EQ(jobs.inputs(*job), nullptr);
  EXPECT_FALSE(jobs.cancel(*job));
  EXPECT_FALSE(jobs.finish(*job, {}));
  jobs.set_state(*job, JobState::Running);
  EXPECT_EQ(jobs.status(*job).state, JobState::Failed);
  EXPECT_EQ(jobs.status(*job).error.message, "gone");
}

TEST(JobsTest, WaitersSeeTheEnd) {
  Jobs jobs(kLimits);
  const SharedJob job = jobs.add(request("1"));
  EXPECT_FALSE(jobs.wait(*job, Jobs::Clock::now()));
  std::thread evaluation([&] {
    service::JobResult result;
    result.outputs.set("a_has_more", LaneMatrix(1, 1));
    jobs.finish(*job, std::move(result));
  });
  EXPECT_TRUE(jobs.wait(*job, Jobs::Clock::now() + std::chrono::seconds(60)));
  evaluation.join();
  EXPECT_EQ(jobs.status(*job).state, JobState::Done);
  EXPECT_TRUE(jobs.outputs(*job).contains("a_has_more"));
}

TEST(JobsTest, ExpiresWhatWaitsAndWhatIsKept) {
  Jobs jobs({3, 10'000, std::chrono::seconds(0), std::chrono::seconds(0)});
  const SharedJob waits = jobs.add(request("waits")), runs = jobs.add(request("runs")),
                  ended = jobs.add(request("ended"));
  jobs.set_state(*runs, JobState::Running);
  jobs.cancel(*ended);
  EXPECT_EQ(jobs.expire(), std::vector{waits});
  EXPECT_EQ(jobs.find("bob", "ended"), nullptr);
  EXPECT_NE(jobs.find("bob", "runs"), nullptr);
  EXPECT_EQ(jobs.of_peer("bob").size(), 2u);
  EXPECT_EQ(jobs.of_peer("carol").size(), 0u);
}

// It may still be evaluated, and end, when its client has had the daemon forget it.
TEST(JobsTest, ForgottenJobThatEndsTakesNoRoom) {
  Jobs jobs(kLimits);
  const SharedJob forgotten = jobs.add(request("1", 40'000));
  jobs.set_state(*forgotten, JobState::Running);
  jobs.forget(*forgotten);
  jobs.forget(*forgotten);
  const SharedJob other = jobs.add(request("1", 40'000));
  service::JobResult result;
  result.outputs.set("a_has_more", LaneMatrix(1, 1));
  EXPECT_TRUE(jobs.finish(*forgotten, std::move(result)));
  EXPECT_EQ(refused(jobs, request("2", 40'000)), Jobs::Refused::Full);
  jobs.forget(*other);
  jobs.add(request("2", 76'000));
}

TEST(JobsTest, CountsAreThoseOfAPeer) {
  Jobs jobs({10, 10'000, std::chrono::seconds(60), std::chrono::seconds(60)});
  std::vector<SharedJob> of_bob;
  for (int i = 0; i < 6; ++i) of_bob.push_back(jobs.add(request(std::to_string(i))));
  jobs.add(request("0", 64, "carol"));
  for (int i = 0; i < 2; ++i) jobs.set_state(*of_bob[0 + i], JobState::Queued);
  jobs.set_state(*of_bob[2], JobState::Running);
  jobs.cancel(*of_bob[3]);
  const service::JobCounts bobs = jobs.counts("bob"), carols = jobs.counts("carol");
  EXPECT_EQ(bobs.waiting, 2u);
  EXPECT_EQ(bobs.queued, 2u);
  EXPECT_EQ(bobs.running, 1u);
  EXPECT_EQ(carols.waiting, 1u);
  EXPECT_EQ(carols.queued + carols.running + jobs.counts("dave").waiting, 0u);
}

// A job fails with the class of what was thrown, whatever that is.
TEST(JobsTest, ErrorsHaveTheirClass) {
  const auto error_of = [](const auto& thrown) {
    try {
      throw thrown;
    } catch (...) {
      return service::current_error();
    }
  };
  EXPECT_EQ(error_of(NetworkError("gone")).error_class, ErrorClass::Network);
  EXPECT_EQ(error_of(UsageError("wrong")).error_class, ErrorClass::Usage);
  const service::JobError other = error_of(std::runtime_error("something else"));
  EXPECT_EQ(other.error_class, ErrorClass::Other);
  EXPECT_EQ(other.message, "something else");
}

}  // namespace
}  // namespace tinyot::test
