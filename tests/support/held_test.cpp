#include "tests/support/held_test.h"

#include <utility>

namespace tinyot::test {

HeldTest::Held HeldTest::start_held(const Arguments& of_a, const Arguments& of_b,
                                    const Relay::Plan& plan, const std::string& command) {
  Held held;
  held.relay = std::make_unique<Relay>(peer_port_, plan);
  const std::string target = std::exchange(peer_port_, held.relay->port());
  held.a = std::make_unique<Process>(TINYOT_BINARY, as('A', command, of_a));
  held.b = std::make_unique<Process>(TINYOT_BINARY, as('B', command, of_b));
  peer_port_ = target;
  if (plan.hold_at) held.relay->wait_until_held();
  return held;
}

HeldTest::Held HeldTest::start_held_halfway(const Arguments& job) {
  return start_held(job, job, {.hold_at = bytes_of_b(job) / 2});
}

std::uint64_t HeldTest::bytes_of_b(const Arguments& job) const {
  const std::string stores = path("measured");
  const Json report = json_of(
      tinyot(Arguments{"local", "preprocess", "--store", stores, "--format", "json"} + job));
  std::filesystem::remove_all(stores);
  std::uint64_t bytes = 0;
  for (const Json& phase : report["B"]["phases"]) bytes += phase["bytes_sent"].get<std::uint64_t>();
  return bytes;
}

}  // namespace tinyot::test
