// A job as its client describes it, before it is accepted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/secret_text.h"
#include "service/jobs.h"
#include "service/memory_budget.h"
#include "tinyot/v1/party.pb.h"

namespace grpc {
class ByteBuffer;
}

namespace tinyot::service {

// Fails: UsageError for a role that there is not.
circuit::CircuitFileOptions options_of(const v1::FileRoles& roles);

// `file`: the content of a circuit file. No gate of a circuit by name is generated yet. Fails:
// UsageError if there is no such circuit, or the file is malformed.
engine::LoadedCircuit circuit_of(const v1::NewJob& job, std::string file);

class Submission {
 public:
  static constexpr int kMessageBytesMax = 2 << 20;
  // Of a call before anything has been parsed: its thread, its buffers, and a message in them.
  static constexpr std::uint64_t kCallBytes = kMessageBytesMax + (1 << 20);

  // `bytes_max`: of all inputs, and of a circuit file. What the call takes until its end, these and
  // the values made of them, comes from `budget`. Fails: MemoryBudget::Exhausted, as the calls that
  // follow.
  Submission(std::uint64_t bytes_max, MemoryBudget& budget);

  // The messages of a call, in order. What one takes in memory comes from the budget before it is
  // parsed, as empty values take fifty times their bytes. Fails: UsageError.
  void add(const grpc::ByteBuffer& message);
  // A parsed message; the inputs in it are wiped. Fails: UsageError.
  void add(v1::SubmitRequest&& part);

  const v1::NewJob& job() const { return job_; }
  std::uint64_t circuit_bytes() const { return circuit_bytes_; }
  const std::string& circuit_file() const { return file_; }
  // See circuit_of().
  engine::LoadedCircuit circuit();
  // For the call, until its end.
  void take(std::uint64_t bytes) { share_.take(bytes); }
  // The values of `me`'s input bundles, all of them and no others. Fails: UsageError naming the
  // bundle, never the value.
  Values inputs(const engine::LoadedCircuit& circuit, Party me);

 private:
  struct Given {
    SecretVector<std::byte> bits;
    // One after the other, with their ends.
    SecretText numbers;
    std::vector<std::size_t> ends;
  };
  static LaneMatrix from_bits(const circuit::InputBundle& bundle, std::size_t lanes,
                              std::span<const std::byte> bits);
  static LaneMatrix from_numbers(const circuit::InputBundle& bundle, std::size_t lanes,
                                 const Given& given);

  std::uint64_t bytes_max_, bytes_ = 0, circuit_bytes_ = 0;
  MemoryBudget& budget_;
  MemoryBudget::Share share_;
  bool has_job_ = false;
  v1::NewJob job_;
  std::string file_;
  std::map<std::string, Given> inputs_;
};

}  // namespace tinyot::service
