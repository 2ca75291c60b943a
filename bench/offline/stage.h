// Measures a stage of the offline phase with two real parties, each on its own thread.
//
// The time of a repetition is the CPU time of a party's thread (CLOCK_THREAD_CPUTIME_ID), averaged
// over the two parties; waiting for the peer takes none. The parties are connected by streams in
// memory, so the time excludes the operating system's work on sockets. It includes the cost of the
// memory stream: two copies of each byte, one into the stream and one out of it, their allocation,
// and waking a waiting peer.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checks/session.h"
#include "tests/offline/dealt.h"

namespace tinyot::bench {

// One party of a stage. Its constructor is not measured.
class StageParty {
 public:
  virtual ~StageParty() = default;

  // `part` is a part of the session for this repetition. The phases of its log become counters.
  virtual void repeat(Session& part) = 0;
};
using MakeParty = std::function<std::unique_ptr<StageParty>(Session& whole)>;

// The average cost of a repetition per party.
struct MeasuredCost {
  double seconds = 0;
  double bytes_sent = 0;
  std::vector<std::pair<std::string, double>> phases;  // name, seconds
};

// Lower bounds of the cost of an item per party, in seconds (kernel_seconds.h).
struct StageBounds {
  double bound = 0;    // required by the definition of the protocol
  double kernels = 0;  // all kernels that the implementation needs, each at its own speed
};

// Runs the state's loop: a warm-up repetition, then the measured ones.
// Fails: marks the benchmark as failed if a party fails.
MeasuredCost measure_stage(benchmark::State& state, const MakeParty& make_party);

// Counters: ns_per_item, bytes_per_item (sent by one party), of_bound and of_kernels (lower bound /
// measured), stream_ns (the part of ns_per_item that the memory stream takes as a minimum), and the
// nanoseconds per item of each phase, if there are several. `items` is the number per repetition.
void report(benchmark::State& state, const MeasuredCost& cost, std::size_t items,
            const StageBounds& bounds);

// Column `column` of `owner`'s bits, dealt to the session's party under the session's global keys.
test::Dealt dealt(const Session& whole, Party owner, std::size_t column, std::size_t count);

}  // namespace tinyot::bench
