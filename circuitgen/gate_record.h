// A record of the gates of a circuit, by which later generations are compared with the first one:
// a hash of 64 bits at the end of each block of gates. It detects a function that does not do the
// same on each call, and a file that is changed while it is in use. Hashes of one process are
// compared with each other only, and begin with a value that nobody else knows.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "circuitgen/canonical_stream.h"

namespace tinyot::circuit {

// Memory: 8 bytes for each block.
struct GateRecord {
  static constexpr std::uint64_t kBlockGates = std::uint64_t{1} << 12;

  std::vector<std::uint64_t> blocks;  // the hash after each full block
  std::uint64_t gates = 0;
  std::uint64_t end = 0;  // the hash after the last gate and the outputs

  friend bool operator==(const GateRecord&, const GateRecord&) = default;
};

// The hash of the gates so far.
class GateHash {
 public:
  void add(GateKind kind, Reference in0, Reference in1) {
    add(8 * in0 + static_cast<std::uint64_t>(kind));
    add(in1);
  }
  void begin_group() { add(8 * kNoReference + 7); }
  void end_group(std::span<const Reference> results) {
    add(8 * kNoReference + results.size());
    for (const Reference result : results) add(result);
  }
  void add(std::uint64_t word) { value_ = std::rotl(value_ ^ word, 29) * 0x9e3779b97f4a7c15ULL; }
  std::uint64_t value() const { return value_; }

 private:
  static constexpr Reference kNoReference = ~Reference{0} / 8;

  static std::uint64_t value_of_process() {
    static const std::uint64_t kValue = [] {
      std::random_device random;
      return std::uint64_t{random()} << 32 | random();
    }();
    return kValue;
  }

  std::uint64_t value_ = value_of_process();
};

}  // namespace tinyot::circuit
