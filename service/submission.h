// A job as its client describes it, before it is accepted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/secret.h"
#include "service/jobs.h"
#include "tinyot/v1/party.pb.h"

namespace tinyot::service {

class Submission {
 public:
  // `bytes_max`: of all inputs, and of a circuit file.
  explicit Submission(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // The messages of a call, in order. Fails: UsageError.
  void add(const v1::SubmitRequest& part);

  const v1::NewJob& job() const { return job_; }
  // Fails: UsageError if there is no such circuit.
  engine::LoadedCircuit circuit();
  // The values of `me`'s input bundles, all of them and no others. Fails: UsageError naming the
  // bundle, never the value.
  online::InputValues inputs(const engine::LoadedCircuit& circuit, Party me) const;

 private:
  struct Given {
    SecretVector<std::byte> bits;
    std::vector<std::string> numbers;
  };

  std::uint64_t bytes_max_, bytes_ = 0;
  bool has_job_ = false;
  v1::NewJob job_;
  std::string file_;
  std::map<std::string, Given> inputs_;
};

}  // namespace tinyot::service
