// Jobs of preprocessing, by the public headers: what comes before anything is made or sent, and
// what a call reports that takes two connections.
#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "tests/support/two_threads.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::uint64_t kUnit = 1024, kUnits = 16;

class Preprocessing : public testing::Test {
 protected:
  std::filesystem::path place(Party party) const {
    return directory_ / std::string(1, letter(party));
  }
  PreprocessRequest request_of(Party party, Amount amount, std::uint64_t ands) const {
    PreprocessRequest request{
        .party = party, .endpoint = endpoints_.of(party), .store = place(party)};
    request.parameters = {.profile = Profile::Fast, .unit = kUnit};
    request.amount = amount;
    request.ands = ands;
    request.inputs = 64;
    return request;
  }
  // Without a peer; counts the connections that are tried.
  PreprocessRequest alone(Amount amount, std::uint64_t ands) {
    PreprocessRequest request = request_of(Party::A, amount, ands);
    request.endpoint = Endpoint::over([this]() -> std::unique_ptr<Transport> {
      ++connections_;
      return nullptr;
    });
    return request;
  }
  void make(Amount amount, std::uint64_t ands) const {
    both([&](Party party) { preprocess(request_of(party, amount, ands)); });
  }

  TestDirectory directory_;
  Endpoints endpoints_;
  int connections_ = 0;
};

// Stops a job of both parties in its unit `last`.
struct StopIn : Observer {
  explicit StopIn(std::uint64_t unit) : last(unit) {}
  void advanced(std::uint64_t unit, std::uint64_t, std::string_view, std::uint64_t,
                std::uint64_t) override {
    if (unit >= last) stop.request_stop();
  }
  std::uint64_t last;
  std::stop_source stop;
};

// Who counts sessions counts each that has been begun: it is told before there is a store.
TEST_F(Preprocessing, AsksBeforeANewStoreIsMade) {
  std::array<std::atomic<int>, 2> asked{};
  const auto asking = [&](Party party, Amount amount) {
    PreprocessRequest request = request_of(party, amount, kUnit);
    request.before_new_store = [&, party] {
      ++asked[static_cast<std::size_t>(party)];
      EXPECT_FALSE(store_exists(place(party)));
      if (asked[static_cast<std::size_t>(party)] == 1) throw UsageError("no more sessions");
    };
    return request;
  };
  both([&](Party party) {
    EXPECT_EQ(message_of([&] { preprocess(asking(party, Amount::Total)); }), "no more sessions");
    EXPECT_FALSE(store_exists(place(party)));
  });
  both([&](Party party) { preprocess(asking(party, Amount::Total)); });
  both([&](Party party) { preprocess(asking(party, Amount::More)); });
  for (const auto& times : asked) EXPECT_EQ(times, 2) << "the store that grows is not new";
}

// The rest of a job that was broken off is made by one connection, and what is missing then by
// another one.
TEST_F(Preprocessing, ReportsWhatBothOfItsConnectionsMake) {
  make(Amount::Total, kUnit);
  constexpr std::uint64_t kTarget = kUnits * kUnit;
  both([&](Party party) {
    StopIn observer(2);
    const PreprocessResult stopped =
        preprocess(request_of(party, Amount::Left, kTarget), &observer, observer.stop.get_token());
    EXPECT_EQ(stopped.store.state, StoreState::Open);
    const PreprocessResult rest = preprocess(request_of(party, Amount::Left, kTarget + 100));
    EXPECT_EQ(rest.store.state, StoreState::Complete);
    EXPECT_EQ(rest.store.ands_left, kTarget + 100);
    EXPECT_EQ(kUnit + stopped.ands + rest.ands, kTarget + 100);
  });
}

// A stop in the last unit ends the call, with what it has made: no further connection is begun.
TEST_F(Preprocessing, StoppedInTheLastUnitBeginsNoOtherJob) {
  make(Amount::Total, kUnit);
  constexpr std::uint64_t kTarget = kUnits * kUnit;
  both([&](Party party) {
    StopIn first(0);
    const PreprocessResult stopped =
        preprocess(request_of(party, Amount::Left, kTarget), &first, first.stop.get_token());
    const std::uint64_t left = kTarget - kUnit - stopped.ands;
    ASSERT_GE(left, kUnit);
    StopIn last(left / kUnit - 1);
    const PreprocessResult rest =
        preprocess(request_of(party, Amount::Left, kTarget + 100), &last, last.stop.get_token());
    EXPECT_EQ(rest.store.state, StoreState::Complete);
    EXPECT_EQ(rest.store.ands_left, kTarget);
    EXPECT_EQ(rest.ands, left);
  });
}

// A store that is complete at both is left alone; one that is to grow needs the peer.
TEST_F(Preprocessing, OfACompleteStoreNeedsThePeerOnlyToGrow) {
  make(Amount::Total, kUnit);
  PreprocessRequest again = alone(Amount::Total, kUnit);
  again.resume = true;
  EXPECT_EQ(preprocess(again).store.state, StoreState::Complete);
  EXPECT_EQ(connections_, 0);
  for (const Amount amount : {Amount::More, Amount::Left}) {
    connections_ = 0;
    EXPECT_THROW(preprocess(alone(amount, 2 * kUnit)), NetworkError);
    EXPECT_EQ(connections_, 1);
  }
}

// What a store was made with is reported as it was begun, what a job used as it was fitted.
TEST_F(Preprocessing, ReportsTheParametersThatItsLinkHas) {
  both([&](Party party) {
    const PreprocessResult made = preprocess(request_of(party, Amount::Total, kUnit));
    const auto k = [](const StoreInfo& info) {
      return std::get<FastParameters>(info.security.own).softspoken_k;
    };
    EXPECT_TRUE(k(made.store).has_value());
    EXPECT_FALSE(k(store_info(place(party))).has_value());
  });
}

}  // namespace
}  // namespace tinyot
