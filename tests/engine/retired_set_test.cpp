// Retired parameter sets of silent bits, which requests, stores and peers may name: nothing is made
// with them, and material from before can be used and looked at.
#include <gtest/gtest.h>

#include "engine/plan.h"
#include "net/handshake.h"
#include "offline/silent/parameter_sets.h"
#include "storage/store.h"
#include "tests/support/changing_transport.h"
#include "tests/support/two_threads.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr LpnSet kRetired[] = {LpnSet::S10, LpnSet::S11, LpnSet::S12, LpnSet::S13};

void expect_refusal(LpnSet set, const std::string& message) {
  EXPECT_NE(message.find(offline::find_retired(set)->refusal()), std::string::npos) << message;
}

std::unique_ptr<circuit::Circuit> and_of_bytes() {
  return circuit::make_circuit("and of bytes", [](circuit::Program& program) {
    const auto x = program.input("x", 8, Party::A), y = program.input("y", 8, Party::B);
    circuit::Number z(8);
    for (std::size_t i = 0; i < 8; ++i) z[i] = x[i] & y[i];
    program.output("z", z);
  });
}

// With both profiles that have silent bits.
class RetiredSet : public testing::TestWithParam<bool> {
 protected:
  static ParameterRequest parameters(LpnSet set) {
    ParameterRequest request;
    if (GetParam()) {
      request.profile = Profile::Wan;
      request.own = WanParameters{.silent_set = set};
    } else {
      request.profile = Profile::Fast;
      request.own = FastParameters{.abits = BitsFrom::Silent, .silent_set = set};
    }
    return request;
  }
  std::filesystem::path place(Party party) const {
    return directory_ / std::string(1, letter(party));
  }
  PreprocessRequest request(Party party, LpnSet set, const Endpoints& endpoints) const {
    PreprocessRequest made{
        .party = party, .endpoint = endpoints.of(party), .store = place(party)};
    made.parameters = parameters(set);
    made.ands = 2048;
    made.inputs = 128;
    return made;
  }
  // Stores of both parties with material of B9, which name `set` as those of an earlier release do.
  void make_stores_of(LpnSet set) const {
    both([&](Party party) {
      preprocess(request(party, LpnSet::B9, endpoints_));
      storage::Store::open(place(party), {.purpose = storage::Purpose::Make})
          .update_manifest([&](storage::Manifest& manifest) {
            manifest.own = named_values(parameters(set).profile, *parameters(set).own);
          });
    });
  }

  const TestDirectory directory_;
  const Endpoints endpoints_;
};
INSTANTIATE_TEST_SUITE_P(OfBothProfiles, RetiredSet, testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "wan" : "fast");
});

// Refused before anything is sent: there is no peer.
TEST_P(RetiredSet, NoRequestMakesAnythingWithIt) {
  for (const LpnSet set : kRetired) {
    expect_refusal(set, message_of([&] { preprocess(request(Party::A, set, endpoints_)); }));
    EXPECT_FALSE(std::filesystem::exists(place(Party::A)));
    expect_refusal(set, message_of([&] { estimate(parameters(set), 2048); }));
    RunRequest live{.party = Party::A, .endpoint = endpoints_.of(Party::A)};
    live.live = parameters(set);
    expect_refusal(set, message_of([&] { run(live, *and_of_bytes(), input_of(Party::A, 1)); }));
  }
}

TEST_P(RetiredSet, NoStoreThatNamesItIsFilled) {
  make_stores_of(LpnSet::S13);
  // The set as begun, the default, and another one that is in use.
  for (const LpnSet asked : {LpnSet::S13, LpnSet::B12, LpnSet::B9})
    for (const Amount amount : {Amount::Total, Amount::More, Amount::Left}) {
      PreprocessRequest more = request(Party::A, asked, endpoints_);
      more.amount = amount;
      more.resume = amount == Amount::Total;
      more.ands = more.resume ? 0 : 4096;
      expect_refusal(LpnSet::S13, message_of([&] { preprocess(more); }));
    }
  EXPECT_EQ(store_info(place(Party::A)).ands_left, 2048u);
}

TEST_P(RetiredSet, JobThatWasBrokenOffIsNotContinued) {
  make_stores_of(LpnSet::S13);
  storage::Store::open(place(Party::A), {.purpose = storage::Purpose::Make})
      .update_manifest([](storage::Manifest& manifest) {
        manifest.state = StoreState::Open;
        ++manifest.units_requested;
      });
  for (const LpnSet asked : {LpnSet::S13, LpnSet::B12}) {
    PreprocessRequest rest = request(Party::A, asked, endpoints_);
    rest.resume = true;
    expect_refusal(LpnSet::S13, message_of([&] { preprocess(rest); }));
  }
}

TEST_P(RetiredSet, MaterialFromBeforeIsUsedAndItsBitsAreTold) {
  make_stores_of(LpnSet::S13);
  const auto lpn = lpn_of(store_info(place(Party::A)).security.own);
  ASSERT_TRUE(lpn.has_value());
  EXPECT_EQ(lpn->set, LpnSet::S13);
  EXPECT_EQ(lpn->bits, 70.9);
  EXPECT_TRUE(lpn->is_retired);
  both([&](Party party) {
    const RunResult result =
        run({.party = party, .endpoint = endpoints_.of(party), .stores = {place(party)}},
            *and_of_bytes(), input_of(party, party == Party::A ? 0xf5 : 0x3c));
    EXPECT_EQ(result.outputs.integer("z"), 0x34u);
  });
}

// A peer of an earlier release. Its Hello has the same length with either name.
std::vector<Payload> naming_s13(Payload hello) {
  std::string text(reinterpret_cast<const char*>(hello.data()), hello.size());
  const std::size_t at = text.find("b12");
  if (at == std::string::npos) throw std::logic_error("the Hello names no set");
  text.replace(at, 3, "s13");
  std::memcpy(hello.data(), text.data(), text.size());
  return once(hello);
}

// Both parties learn what the other one asked for, and nothing is made.
TEST_P(RetiredSet, PeerThatAsksForItIsRefused) {
  const Endpoints endpoints = endpoints_with({{net::kHello.id, naming_s13}});
  both([&](Party party) {
    const std::string error =
        message_of([&] { preprocess(request(party, LpnSet::B12, endpoints)); });
    EXPECT_NE(error, "none");
    if (party == Party::B) {
      EXPECT_NE(error.find("disagree on silent-set: this party has b12, the peer has s13"),
                std::string::npos)
          << error;
    }
    EXPECT_FALSE(std::filesystem::exists(place(party)));
  });
  both([&](Party party) {
    RunRequest live{.party = party, .endpoint = endpoints.of(party)};
    live.live = parameters(LpnSet::B12);
    const std::string error =
        message_of([&] { run(live, *and_of_bytes(), input_of(party, 1)); });
    EXPECT_NE(error, "none");
    if (party == Party::B) {
      EXPECT_NE(error.find("this party has b12, the peer has s13"), std::string::npos) << error;
    }
  });
}

}  // namespace
}  // namespace tinyot
