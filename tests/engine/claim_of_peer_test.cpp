// A peer that uses up one part of its material on its own, so that what is left at both is little,
// and has this party refill its store again and again.
#include <gtest/gtest.h>

#include <future>

#include "base/error.h"
#include "engine/endpoint.h"
#include "engine/top_up.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"
#include "tests/support/ports.h"
#include "tinyot/preprocess.h"

namespace tinyot::test {
namespace {

constexpr std::uint64_t kAndsWanted = 1000, kInputsWanted = 300;

class ClaimOfPeer : public StoreTest, public ::testing::WithParamInterface<Party> {
 protected:
  // Both parties ensure what is wanted; the error of each, by party.
  std::vector<std::exception_ptr> refill() {
    const std::string port = reserved_port();
    const auto make = [&](Party party) {
      PreprocessRequest request;
      request.party = party;
      request.endpoint =
          engine::endpoint_with({.listen = party == Party::A,
                                 .address = {"127.0.0.1", port},
                                 .timeouts = {std::chrono::seconds(20), std::chrono::seconds(20)}});
      request.store = place(party);
      request.amount = Amount::Left;
      request.ands = kAndsWanted;
      request.inputs = kInputsWanted;
      request.parameters.profile = Profile::Fast;
      return preprocess(request);
    };
    std::vector<std::exception_ptr> errors(2);
    std::vector<std::future<PreprocessResult>> results;
    for (const Party party : {Party::A, Party::B})
      results.push_back(std::async(std::launch::async, [&, party] { return make(party); }));
    for (std::size_t i = 0; i < results.size(); ++i) {
      try {
        (void)results[i].get();
      } catch (const Error&) {
        errors[i] = std::current_exception();
      }
    }
    return errors;
  }
  void expect_refilled() {
    for (const std::exception_ptr& error : refill()) {
      if (!error) continue;
      ADD_FAILURE() << message_of<Error>([&] { std::rethrow_exception(error); });
    }
  }
  void use_up(Party party, const std::vector<MaterialKind>& kinds) {
    Store store = Store::open(place(party));
    MaterialCounts counts;
    for (const MaterialKind kind : kinds) counts[kind] = store.left()[kind];
    (void)store.grant({.counts = counts, .at_least = {}});  // without the other party
  }
  // The peer, which is the test's parameter, uses up what it has of these kinds before each refill.
  // The honest party gets `wanted` objects of kind `made` twice, and no more.
  void expect_bound(const std::vector<MaterialKind>& kinds, MaterialKind made,
                    std::uint64_t wanted) {
    const Party honest = peer_of(GetParam());
    expect_refilled();
    use_up(GetParam(), kinds);
    expect_refilled();
    use_up(GetParam(), kinds);
    EXPECT_EQ(left(honest)[made], 2 * wanted);
    const MaterialCounts before = left(honest);
    const std::exception_ptr error = refill()[static_cast<std::size_t>(honest)];
    ASSERT_TRUE(error != nullptr) << left(honest)[made] << " are left";
    EXPECT_TRUE(
        mentions(message_of<Disagreement>([&] { std::rethrow_exception(error); }),
                 "this party has " +
                     std::to_string(engine::capacity_of(before, AndMaterial::Triples).ands)));
    EXPECT_EQ(left(honest), before);
    // The session goes on: a peer that has lost material has not cheated.
    const Manifest manifest = Store::open(place(honest)).manifest();
    EXPECT_EQ(manifest.state, StoreState::Complete);
  }
  MaterialCounts left(Party party) const { return Store::open(place(party)).left(); }
  std::filesystem::path place(Party party) const { return root_ / std::string(1, letter(party)); }
};

INSTANTIATE_TEST_SUITE_P(Of, ClaimOfPeer, ::testing::Values(Party::A, Party::B),
                         [](const auto& party) { return std::string(1, letter(party.param)); });

TEST_P(ClaimOfPeer, AndsAloneAreBounded) {
  expect_bound({MaterialKind::Triples}, MaterialKind::Triples, kAndsWanted);
}

TEST_P(ClaimOfPeer, InputsAloneAreBounded) {
  expect_bound({MaterialKind::AuthBitsA, MaterialKind::AuthBitsB}, MaterialKind::AuthBitsA,
               kInputsWanted);
}

TEST_P(ClaimOfPeer, InputsOfOnePartyAreBounded) {
  expect_bound({MaterialKind::AuthBitsB}, MaterialKind::AuthBitsA, kInputsWanted);
}

// What both have used is made again as often as they want.
TEST_P(ClaimOfPeer, UseByBothIsNoClaim) {
  const std::vector<MaterialKind> kinds = {MaterialKind::Triples};
  for (int i = 0; i < 4; ++i) {
    expect_refilled();
    EXPECT_EQ(left(GetParam())[MaterialKind::Triples], kAndsWanted);
    for (const Party party : {Party::A, Party::B}) use_up(party, kinds);
  }
}

}  // namespace
}  // namespace tinyot::test
