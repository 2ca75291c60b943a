// How a stage of the offline phase is measured: by two real parties, each on a thread of its own,
// repetition by repetition.
//
// The time of a repetition is what a party's own thread took of a processor
// (CLOCK_THREAD_CPUTIME_ID), the mean of the two parties; waiting for the peer takes none. The
// parties are joined by streams in memory, so that no kernel's work on sockets is in it. What such
// a stream does is in it: two copies of each byte, one into the stream and one out of it, their
// allocation, and the waking of a peer that waits.
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

// One party of a stage. What its constructor does is not measured.
class StageParty {
 public:
  virtual ~StageParty() = default;

  // `part` is a part of the session for this repetition alone. Phases of its log become counters of
  // their own.
  virtual void repeat(Session& part) = 0;
};
using MakeParty = std::function<std::unique_ptr<StageParty>(Session& whole)>;

// What a repetition cost a party on average.
struct StageCost {
  double seconds = 0;
  double bytes_sent = 0;
  std::vector<std::pair<std::string, double>> phases;  // name, seconds
};

// What an item costs a party at least, in seconds: see floor.h.
struct StageFloor {
  double floor = 0;    // what the protocol's definition asks for
  double kernels = 0;  // all kernels that the protocol forces, each at its own speed
};

// Runs the state's loop: a repetition that warms up, then the measured ones.
// Fails: marks the benchmark as failed if a party ends otherwise than it should.
StageCost measure_stage(benchmark::State& state, const MakeParty& make_party);

// Counters: ns_per_item, bytes_per_item (sent by one party), of_floor and of_kernels (floor /
// measured), stream_ns (what the stream in memory takes of ns_per_item at least), and the
// nanoseconds an item of each phase, if there are several. `items` is of a repetition.
void report(benchmark::State& state, const StageCost& cost, std::size_t items,
            const StageFloor& floor);

// Column `column` of `owner`'s bits, dealt to the party that the session is of, under its global
// keys.
test::Dealt dealt(const Session& whole, Party owner, std::size_t column, std::size_t count);

}  // namespace tinyot::bench
