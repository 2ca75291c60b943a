// Two processes of which B is connected through a relay that stops forwarding at a known byte: what
// a test does to a job halfway does not depend on how fast the job is.
#pragma once

#include <memory>

#include "tests/support/command_test.h"
#include "tests/support/relay.h"

namespace tinyot::test {

class HeldTest : public CommandTest {
 protected:
  struct Held {
    std::unique_ptr<Relay> relay;
    std::unique_ptr<Process> a, b;
  };
  // Both parties running `command`; returns once the relay holds, if the plan says so.
  Held start_held(const Arguments& of_a, const Arguments& of_b, const Relay::Plan& plan,
                  const std::string& command = "preprocess");
  // What B sends in a new job: first the base OTs, whose bytes depend on their kind and not on the
  // number of units, and then the units.
  struct Sent {
    std::uint64_t base_ots = 0, units = 0;

    // The bytes until it has sent a part of those for the units.
    std::uint64_t until(std::uint64_t numerator, std::uint64_t denominator) const {
      return base_ots + units * numerator / denominator;
    }
  };
  // Measured on another job with these options.
  Sent sent_by_b(const Arguments& job) const;
  // Both parties preprocessing, held when B has sent half of what it sends for the units.
  Held start_held_halfway(const Arguments& job);
};

}  // namespace tinyot::test
