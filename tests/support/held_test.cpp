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
  return start_held(job, job, {.hold_at = sent_by_b(job).until(1, 2)});
}

HeldTest::Sent HeldTest::sent_by_b(const Arguments& job) const {
  const std::string stores = path("measured");
  const Json report = json_of(
      tinyot(Arguments{"local", "preprocess", "--store", stores, "--format", "json"} + job));
  std::filesystem::remove_all(stores);
  Sent sent;
  for (const Json& phase : report["B"]["phases"])
    (phase["name"] == "base OTs" ? sent.base_ots : sent.units) +=
        phase["bytes_sent"].get<std::uint64_t>();
  EXPECT_GT(sent.base_ots, 0u);
  EXPECT_GT(sent.units, 0u);
  return sent;
}

}  // namespace tinyot::test
