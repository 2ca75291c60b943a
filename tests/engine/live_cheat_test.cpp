// A live run of a peer that deviates, in either phase: the party that finds it says which check
// failed, and tells the peer, as on stores.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>

#include "tests/support/changing_transport.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

constexpr std::uint32_t kBeginsUnit = net::message_tag("unit.begin").id,
                        kMadeTriples = net::message_tag("triple.d").id,
                        kOpenedOperands = net::message_tag("and.de").id;

std::vector<Payload> flipped(Payload payload) {
  payload.at(0) ^= std::byte{1};
  return once(payload);
}

// Its material is of seven units. An evaluation reads as much as the first one has at a time.
std::unique_ptr<circuit::Circuit> chain_of_ands() {
  return circuit::make_circuit("chain", [](circuit::Program& program) {
    const auto x = program.input("x", 64, Party::A), y = program.input("y", 64, Party::B);
    circuit::Number z = x & y;
    for (int i = 0; i < 1700; ++i) z = (z ^ x) & y;
    program.output("z", z);
  });
}

// Who waits for a message that does not come does so until then.
constexpr auto kIdle = std::chrono::seconds(600);

// Both parties' errors.
std::array<std::exception_ptr, 2> errors_of_live_runs(const Changes& of_a) {
  const Endpoints endpoints = endpoints_with(of_a, kIdle);
  const auto chain = chain_of_ands();
  std::array<std::exception_ptr, 2> errors;
  both([&](Party party) {
    RunRequest request{.party = party, .endpoint = endpoints.of(party)};
    request.live = ParameterRequest{.profile = Profile::Fast, .unit = 1 << 14};
    try {
      (void)run(request, *chain, input_of(party, 12));
    } catch (const std::exception&) {
      errors[static_cast<std::size_t>(party)] = std::current_exception();
    }
  });
  return errors;
}

void expect_detected_and_told(const std::array<std::exception_ptr, 2>& errors) {
  for (const std::exception_ptr& error : errors) ASSERT_TRUE(error);
  EXPECT_THROW(std::rethrow_exception(errors[1]), PeerCheated)
      << message_of([&] { std::rethrow_exception(errors[1]); });
  EXPECT_THROW(std::rethrow_exception(errors[0]), PeerAborted)
      << message_of([&] { std::rethrow_exception(errors[0]); });
}

TEST(LiveRun, DetectsACheaterAndTellsIt) {
  expect_detected_and_told(errors_of_live_runs({{kMadeTriples, flipped}}));
  // What A opens and B uses differ, so that A finds a difference, too.
  for (const std::exception_ptr& error : errors_of_live_runs({{kOpenedOperands, flipped}})) {
    ASSERT_TRUE(error);
    EXPECT_THROW(std::rethrow_exception(error), PeerCheated);
  }
}

// Nor does this party wait for what the cheater holds back on the other connection.
class CheaterThatIsSilentOnTheOtherConnection : public testing::Test {
 protected:
  static constexpr std::byte kUnit{4};
  static std::vector<Payload> nothing(const Payload&) { return {}; }
  static void expect_end_at_once(const Changes& of_a) {
    const auto begin = std::chrono::steady_clock::now();
    expect_detected_and_told(errors_of_live_runs(of_a));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, kIdle / 2);
  }
};

// A deviates in a later unit, when B has material and waits for operands.
TEST_F(CheaterThatIsSilentOnTheOtherConnection, IsNotWaitedForInTheEvaluation) {
  const auto of_another_unit = [](Payload payload) {
    if (payload.at(0) == kUnit) payload.at(0) = std::byte{99};
    return once(payload);
  };
  expect_end_at_once({{kBeginsUnit, of_another_unit}, {kOpenedOperands, nothing}});
}

// A makes no more units after some, and then deviates in the next round.
TEST_F(CheaterThatIsSilentOnTheOtherConnection, IsNotWaitedForInTheMaterial) {
  const auto is_silent = std::make_shared<std::atomic<bool>>(false);
  const auto unless_silent = [=](const Payload& payload) {
    return *is_silent ? nothing(payload) : once(payload);
  };
  Changes of_a;
  for (const net::MessageTagEntry& entry : net::kMessageTags)
    if (entry.file.starts_with("offline/")) of_a.emplace(entry.tag.id, unless_silent);
  of_a[net::message_tag("mac_transcript.digest").id] = unless_silent;
  of_a[kBeginsUnit] = [=](const Payload& payload) {
    if (payload.at(0) == kUnit) *is_silent = true;
    return unless_silent(payload);
  };
  of_a[kOpenedOperands] = [=](Payload payload) {
    if (*is_silent) payload.pop_back();
    return once(payload);
  };
  expect_end_at_once(of_a);
}

}  // namespace
}  // namespace tinyot::test
