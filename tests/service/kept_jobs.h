// Jobs that are kept in files, in the process of a test, and what is left of them later.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "service/jobs.h"
#include "service/policy.h"
#include "service/submission.h"
#include "tests/support/layers.h"

namespace tinyot::test {

inline StoreKey key_of_jobs(char byte = 'k') {
  return StoreKey(std::vector<std::byte>(32, static_cast<std::byte>(byte)));
}

// The jobs of one process with bob. `directory` exists.
class KeptJobs {
 public:
  explicit KeptJobs(const std::filesystem::path& directory, const StoreKey& key = key_of_jobs(),
                    service::JobLimits limits = {100, 1 << 20, std::chrono::seconds(600),
                                                 std::chrono::seconds(600)})
      : jobs_(limits),
        restored_(jobs_.keep("bob", Party::A,
                             std::make_unique<service::JobFiles>(directory, "bob", key))) {}

  service::Jobs& operator*() { return jobs_; }
  service::Jobs* operator->() { return &jobs_; }
  const std::vector<service::Jobs::Restored>& restored() const { return restored_; }
  std::string failure(std::size_t index = 0) const {
    const auto& failure = restored_.at(index).failure;
    return failure ? failure->message : "";
  }

  // The input of the job is `number`.
  service::SharedJob add(const std::string& id, std::uint64_t number = 5,
                         const std::string& circuit_file = {}) {
    service::JobOrigin origin;
    origin.job.set_id(id);
    origin.job.set_circuit("millionaires");
    origin.job.set_is_file(!circuit_file.empty());
    origin.circuit_file = circuit_file;
    service::JobRequest request;
    request.id = id;
    request.peer = "bob";
    request.circuit = service::circuit_of(origin.job, circuit_file);
    request.terms = service::terms_of(*request.circuit);
    request.circuit_bytes = circuit_file.size();
    request.output_bytes = service::bytes_of_outputs(*request.circuit, Party::A);
    Values inputs;
    LaneMatrix values(1, 32);
    set_bytes(values, number);
    inputs.set("a", std::move(values));
    request.inputs = std::make_shared<const Values>(std::move(inputs));
    return jobs_.add(std::move(request), origin);
  }
  std::uint64_t input_of(const service::Job& job) const { return jobs_.inputs(job)->integer("a"); }

  static service::JobResult result(std::uint64_t number) {
    service::JobResult result;
    LaneMatrix values(1, 1);
    set_bytes(values, number);
    result.outputs.set("a_has_more", std::move(values));
    result.session = "0123456789abcdef";
    result.phase = OnlinePhase::Garbled;
    result.half_round_trips = {4, 5};
    result.was_prepared = true;
    result.evaluation_s = 0.5;
    return result;
  }

 private:
  static void set_bytes(LaneMatrix& values, std::uint64_t number) {
    EXPECT_TRUE(
        values.assign(0, std::as_bytes(std::span(&number, 1)).first((values.bits() + 7) / 8)));
  }

  service::Jobs jobs_;
  const std::vector<service::Jobs::Restored> restored_;
};

}  // namespace tinyot::test
