// A parameter set of silent bits that is retired after a store was made with it: no more material
// is made, and what there is can be used and looked at.
#include <gtest/gtest.h>

#include <atomic>

#include "engine/plan.h"
#include "offline/silent/parameter_sets.h"
#include "tests/support/two_threads.h"

namespace tinyot {
namespace {

std::atomic<bool> is_retired = false;

}  // namespace

// In place of the library's.
std::string_view offline::why_retired(LpnSet name) {
  return name == LpnSet::S10 && is_retired ? "an attack takes 2^80 operations" : "";
}

namespace {

using namespace tinyot::test;

void expect_refused(const std::function<void()>& make) {
  const std::string message = message_of(make);
  for (const char* part : {"s10 is retired", "2^80", "wan_profile.md"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

std::unique_ptr<circuit::Circuit> and_of_bytes() {
  return circuit::make_circuit("and of bytes", [](circuit::Program& program) {
    const auto x = program.input("x", 8, Party::A), y = program.input("y", 8, Party::B);
    circuit::Number z(8);
    for (std::size_t i = 0; i < 8; ++i) z[i] = x[i] & y[i];
    program.output("z", z);
  });
}

class RetiredSet : public testing::TestWithParam<bool> {
 protected:
  ParameterRequest parameters() const {
    ParameterRequest request;
    if (GetParam()) {
      request.profile = Profile::Wan;
      request.own = WanParameters{.silent_set = LpnSet::S10};
    } else {
      request.profile = Profile::Fast;
      request.own = FastParameters{.abits = BitsFrom::Silent, .silent_set = LpnSet::S10};
    }
    return request;
  }
  void TearDown() override { is_retired = false; }
};
INSTANTIATE_TEST_SUITE_P(OfBothProfiles, RetiredSet, testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "wan" : "fast");
});

TEST_P(RetiredSet, MakesNoMoreMaterial) {
  const TestDirectory directory;
  const Endpoints endpoints;
  const auto place = [&](Party party) { return directory / std::string(1, letter(party)); };
  const auto request = [&](Party party) {
    PreprocessRequest of{.party = party, .endpoint = endpoints.of(party), .store = place(party)};
    of.parameters = parameters();
    of.ands = 2048;
    of.inputs = 128;
    return of;
  };
  both([&](Party party) { preprocess(request(party)); });
  is_retired = true;

  // A store that grows, a new one, an estimate and a live run.
  PreprocessRequest more = request(Party::A);
  more.amount = Amount::More;
  expect_refused([&] { preprocess(more); });
  PreprocessRequest other = request(Party::A);
  other.store = directory / "other";
  expect_refused([&] { preprocess(other); });
  expect_refused([&] { estimate(parameters(), 2048); });
  RunRequest live{.party = Party::A, .endpoint = endpoints.of(Party::A)};
  live.live = parameters();
  expect_refused([&] { run(live, *and_of_bytes(), input_of(Party::A, 1)); });

  EXPECT_EQ(store_info(place(Party::A)).ands_left, 2048u);
  both([&](Party party) {
    const RunResult result =
        run({.party = party, .endpoint = endpoints.of(party), .stores = {place(party)}},
            *and_of_bytes(), input_of(party, party == Party::A ? 0xf5 : 0x3c));
    EXPECT_EQ(result.outputs.integer("z"), 0x34u);
  });
}

// The start of every chain is of s10.
TEST(RetiredStart, MakesNoChain) {
  is_retired = true;
  expect_refused([] { estimate({.profile = Profile::Wan}, 2048); });
  EXPECT_NO_THROW(estimate({.profile = Profile::Fast}, 2048));
  is_retired = false;
}

}  // namespace
}  // namespace tinyot
