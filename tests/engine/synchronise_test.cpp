// Wrong messages during store synchronisation: each is detected by its own check and consumes
// nothing from the honest party's store.
#include "engine/synchronise.h"

#include "base/error.h"
#include "tests/storage/store_support.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot::test {
namespace {

constexpr MaterialKind kKind = MaterialKind::Triples;
constexpr std::uint64_t kMade = 1000, kServed = 100, kNeeded = 50;

// As store_agreement.cpp sends it.
struct SentOffer {
  MaterialCounts start, end;
  std::uint64_t plan;
};

class Agreement : public StoreTest {
 protected:
  // Two stores of kMade triples; both have served kServed of them.
  Agreement() {
    for (const Party party : {Party::A, Party::B}) {
      Store store = make_store(place(party), party);
      add_locked_unit(store, kKind, kMade);
    }
    const Outcomes outcomes = run({}, kServed);
    if (outcomes.a.kind != Outcome::Kind::Done || outcomes.b.kind != Outcome::Kind::Done)
      throw std::runtime_error(outcomes.a.message + outcomes.b.message);
  }

  std::filesystem::path place(Party party) const { return root_ / std::string(1, letter(party)); }

  Outcomes run(const PartyOptions& options, std::uint64_t needed = kNeeded) {
    return run_sessions(
        [&](Session& session) {
          Store store = Store::open(place(session.me()));
          reserve_with_peer(session, store, counts_of(kKind, needed));
        },
        options, false);
  }

  // Runs with one message of the cheater altered; returns the outcome of the honest party.
  template <class Message>
  Outcome honest_outcome(Party cheater, const char* tag, const std::function<void(Message&)>& lie) {
    const Deviation deviation = [&](std::string_view sent, std::size_t,
                                    std::vector<std::byte>& payload) {
      if (sent != tag) return;
      Message message;
      ASSERT_EQ(payload.size(), sizeof message);
      std::memcpy(&message, payload.data(), sizeof message);
      lie(message);
      std::memcpy(payload.data(), &message, sizeof message);
    };
    PartyOptions options;
    (cheater == Party::A ? options.wrap_a : options.wrap_b) = [&](std::unique_ptr<Channel> inner) {
      return make_cheating_channel(std::move(inner), deviation);
    };
    const Outcomes outcomes = run(options);
    return cheater == Party::A ? outcomes.b : outcomes.a;
  }

  void expect_refused(Party cheater, const std::string& part,
                      const std::function<void(StoreStatus&)>& lie) {
    SCOPED_TRACE(letter(cheater));
    const std::uint64_t position = Store::open(place(peer_of(cheater))).position()[kKind];
    const Outcome outcome = honest_outcome<StoreStatus>(cheater, "store.standing", lie);
    EXPECT_TRUE(mentions(outcome.message, part));
    expect_nothing_lost(peer_of(cheater), position);
  }

  void expect_nothing_lost(Party party, std::uint64_t position = kServed) {
    const Store store = Store::open(place(party));
    EXPECT_EQ(store.position()[kKind], position);
    EXPECT_EQ(store.burnt()[kKind], 0u);
  }
};

TEST_F(Agreement, HonestPartiesTakeWhatIsNeeded) {
  const Outcomes outcomes = run({});
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
  for (const Party party : {Party::A, Party::B})
    EXPECT_EQ(Store::open(place(party)).position()[kKind], kServed + kNeeded);
}

TEST_F(Agreement, PeerFarAheadBurnsNothing) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "the peer's store is far ahead",
                   [](StoreStatus& status) { status.position[kKind] += kBurnMax + kMade; });
}

TEST_F(Agreement, RejectsPeerWithOlderStore) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "the peer's store is an older copy",
                   [](StoreStatus& status) { status.position[kKind] = kServed - 1; });
}

TEST_F(Agreement, RejectsOwnOlderStore) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "this store is an older copy",
                   [](StoreStatus& status) { status.confirmed[kKind] = kMade; });
}

TEST_F(Agreement, RejectsPeerThatLostUnlockedUnits) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "the peer's store is an older copy",
                   [](StoreStatus& status) { status.units_made = status.units_unlocked = 0; });
}

TEST_F(Agreement, RejectsMoreUnitsUnlockedThanMade) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "store standing",
                   [](StoreStatus& status) { status.units_unlocked = status.units_made + 1; });
}

TEST_F(Agreement, RejectsRangeOfAnotherSize) {
  for (const std::uint64_t size : {kNeeded - 1, kNeeded + 1}) {
    const Outcome outcome = honest_outcome<SentOffer>(
        Party::A, "store.allotment",
        [&](SentOffer& offer) { offer.end[kKind] = offer.start[kKind] + size; });
    EXPECT_TRUE(mentions(outcome.message, "the peer grants " + std::to_string(size)));
    expect_nothing_lost(Party::B);
  }
}

TEST_F(Agreement, RejectsRangeThatEndsBeforeItBegins) {
  const Outcome outcome = honest_outcome<SentOffer>(
      Party::A, "store.allotment",
      [](SentOffer& offer) { offer.start[kKind] = offer.end[kKind] + 1; });
  EXPECT_EQ(outcome.check, "store allotment") << outcome.message;
  expect_nothing_lost(Party::B);
}

TEST_F(Agreement, RejectsPlanThatWasNotRequested) {
  const Outcome outcome = honest_outcome<SentOffer>(Party::A, "store.allotment",
                                                    [](SentOffer& offer) { offer.plan = 7; });
  EXPECT_EQ(outcome.check, "store allotment") << outcome.message;
  expect_nothing_lost(Party::B);
}

TEST_F(Agreement, RejectsServedRange) {
  const Outcome outcome =
      honest_outcome<SentOffer>(Party::A, "store.allotment", [](SentOffer& offer) {
        offer.start[kKind] -= 1;
        offer.end[kKind] -= 1;
      });
  EXPECT_TRUE(mentions(outcome.message, "the peer grants triples " + std::to_string(kServed - 1)));
  expect_nothing_lost(Party::B);
}

TEST_F(Agreement, RangeFarAheadBurnsNothing) {
  const Outcome outcome =
      honest_outcome<SentOffer>(Party::A, "store.allotment", [](SentOffer& offer) {
        offer.start[kKind] += kBurnMax + 1;
        offer.end[kKind] += kBurnMax + 1;
      });
  EXPECT_TRUE(mentions(outcome.message, "the peer's store is far ahead"));
  expect_nothing_lost(Party::B);
}

TEST_F(Agreement, RejectsOwnStoreWithoutUnitsThatThePeerUnlocked) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "this store is an older copy: it has 1 units",
                   [](StoreStatus& status) { status.units_unlocked = ++status.units_made; });
}

TEST_F(Agreement, RejectsWrongConfirmationOfRange) {
  const Outcome outcome = honest_outcome<std::uint64_t>(Party::B, "store.taken",
                                                        [](std::uint64_t& answer) { answer = 2; });
  EXPECT_EQ(outcome.check, "store allotment") << outcome.message;
}

TEST_F(Agreement, RejectsMoreBatchesThanObjectsBeforeAllocating) {
  for (const Party party : {Party::A, Party::B}) {
    Store store = Store::open(place(party), {.purpose = Purpose::Make});
    add_locked_unit(store, kKind, kNeeded);
  }
  for (const Party cheater : {Party::A, Party::B}) {
    const Outcome outcome = honest_outcome<std::uint64_t>(
        cheater, "store.half_count", [](std::uint64_t& count) { count = std::uint64_t{1} << 40; });
    EXPECT_TRUE(
        mentions(outcome.message, "more than the " + std::to_string(kMade + kNeeded) + " objects"));
    expect_nothing_lost(peer_of(cheater));
  }
}

// As store_agreement.cpp sends it.
struct SentPlan {
  std::uint64_t id, is_there;
  MaterialCounts start, end;
};

TEST_F(Agreement, DropsReservationOfAnotherRangeAtThePeer) {
  const MaterialCounts needed = counts_of(kKind, kNeeded);
  run_sessions([&](Session& session) {
    Store store = Store::open(place(session.me()));
    grant_with_peer(session, store, synchronise(session, store, SynchroniseFor::Running), needed,
                    true);
  });
  ASSERT_EQ(Store::open(place(Party::A)).marks().planned.size(), 1u);
  const std::uint64_t number = Store::open(place(Party::A)).marks().planned.front().id;
  PartyOptions options;
  options.wrap_b = [](std::unique_ptr<Channel> inner) {
    return make_cheating_channel(
        std::move(inner), [](std::string_view sent, std::size_t, std::vector<std::byte>& payload) {
          if (sent != "store.plan") return;
          SentPlan plan;
          std::memcpy(&plan, payload.data(), sizeof plan);
          ++plan.start[kKind], ++plan.end[kKind];
          std::memcpy(payload.data(), &plan, sizeof plan);
        });
  };
  const Outcomes outcomes = run_sessions(
      [&](Session& session) {
        Store store = Store::open(place(session.me()));
        claim_with_peer(session, store, number, needed);
      },
      options, false);
  EXPECT_TRUE(mentions(outcomes.a.message, "the peer's store no longer holds reservation"));
  EXPECT_TRUE(Store::open(place(Party::A)).marks().planned.empty());
}

TEST_F(Agreement, RejectsWrongConfirmationOfCompletion) {
  PartyOptions options;
  options.wrap_b = [](std::unique_ptr<Channel> inner) {
    return make_cheating_channel(std::move(inner), flip_bit("store.complete", 0, 1));
  };
  const Outcomes outcomes = run_sessions(
      [&](Session& session) {
        Store store = Store::open(place(session.me()));
        confirm_completion(session, store);
      },
      options, false);
  EXPECT_EQ(outcomes.a.check, "store standing") << outcomes.a.message;
  EXPECT_FALSE(Store::open(place(Party::A)).manifest().peer_complete);
  EXPECT_TRUE(Store::open(place(Party::B)).manifest().peer_complete);
}

}  // namespace
}  // namespace tinyot::test
