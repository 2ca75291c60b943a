// The estimated cost of a preprocessing job: traffic, disk, memory. Tests compare it with the
// measured cost.
#pragma once

#include <chrono>
#include <cstdint>

#include "net/shaped_link.h"
#include "offline/parameters.h"
#include "offline/unit/preprocessor.h"

namespace tinyot::engine {

// What a party's half of such material takes in a new store.
std::uint64_t bytes_on_disk(AndMaterial form, std::uint64_t ands, std::uint64_t inputs);

struct JobEstimate {
  std::uint64_t units = 0;
  std::uint64_t bytes_sent = 0;    // by each party, base OTs included
  std::uint64_t disk_bytes = 0;    // of each party's material
  std::uint64_t memory_bytes = 0;  // peak resident memory of a party
  std::uint64_t base_ots = 0;      // by public-key cryptography, each direction
  // The round trips of a unit that do not depend on its size; and those before the first unit.
  double round_trips_of_unit = 0, round_trips_of_set_up = 0;
  std::uint64_t units_in_flight = 1;
  double paper_bound_bits = 0;  // least over the units
  double exact_bound_bits = 0;
};
// Without ANDs, nothing is made and no bound applies.
JobEstimate estimate_job(const offline::SecurityParameters& params, std::uint64_t ands,
                         std::uint64_t inputs, std::uint64_t threads,
                         const net::LinkShape& link = {});

// Workers beyond `threads` that a job of the fast profile has where messages take `latency`, so
// that the link stays busy while units wait for them: two, if there are units for them and the
// memory of their layers is within kWaitingLayersBytes. The same at both parties.
std::size_t waiting_workers(const offline::SecurityParameters& params, std::uint64_t ands,
                            std::uint64_t threads, std::chrono::nanoseconds latency);

// aBits for inputs in the unit of ANDs [first, first + count), if `inputs` are spread over `ands`
// ANDs. Differences of rounded cumulative shares, so that the sum over all units is `inputs`.
std::uint64_t inputs_of_unit(std::uint64_t inputs, std::uint64_t ands, std::uint64_t first,
                             std::uint64_t count);

}  // namespace tinyot::engine
