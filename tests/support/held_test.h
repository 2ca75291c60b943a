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
  // Both parties preprocessing, held when B has sent half of what it sends.
  Held start_held_halfway(const Arguments& job);
  // The number of bytes that B sends in a new job with these options.
  std::uint64_t bytes_of_b(const Arguments& job) const;
};

}  // namespace tinyot::test
