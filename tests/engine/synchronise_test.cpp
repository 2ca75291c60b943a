// Wrong messages during store synchronisation: each is detected by its own check and consumes
// nothing from the honest party's store.
#include "engine/synchronise.h"

#include <latch>

#include "base/error.h"
#include "material/counts.h"
#include "tests/storage/store_support.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot::test {
namespace {

constexpr MaterialKind kKind = MaterialKind::Triples;
constexpr std::uint64_t kMade = 1000, kServed = 100, kNeeded = 50;

// A message of words and of lists of counts, as doc/protocol.md describes it.
using List = std::vector<material::KindCount>;
struct SentCounts {
  std::string_view tag;
  std::size_t words, lists;
};
constexpr SentCounts kStatusSent{"store.status", 2, 2}, kUnlockedSent{"store.unlocked", 0, 1},
    kGrantSent{"store.grant", 1, 2}, kPlanSent{"store.plan", 2, 2};

struct Content {
  std::vector<std::uint64_t> words;
  std::vector<List> lists;
};

Content content_of(const SentCounts& sent, const std::vector<std::byte>& payload) {
  std::size_t at = 0;
  const auto next = [&]<class T>(T& number) {
    std::memcpy(&number, payload.data() + at, sizeof number);
    at += sizeof number;
  };
  Content content{std::vector<std::uint64_t>(sent.words), std::vector<List>(sent.lists)};
  for (std::uint64_t& word : content.words) next(word);
  for (List& list : content.lists) {
    std::uint32_t entries = 0;
    next(entries);
    list.resize(entries);
    for (material::KindCount& entry : list) next(entry.kind), next(entry.count);
  }
  EXPECT_EQ(at, payload.size());
  return content;
}

std::vector<std::byte> payload_of(const Content& content) {
  std::vector<std::byte> payload;
  const auto put = [&]<class T>(const T& number) {
    payload.resize(payload.size() + sizeof number);
    std::memcpy(payload.data() + payload.size() - sizeof number, &number, sizeof number);
  };
  for (const std::uint64_t word : content.words) put(word);
  for (const List& list : content.lists) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const material::KindCount& entry : list) put(entry.kind), put(entry.count);
  }
  return payload;
}

// One message altered.
Deviation altering(const SentCounts& altered, std::function<void(Content&)> lie) {
  return [altered, lie = std::move(lie)](std::string_view sent, std::size_t,
                                         std::vector<std::byte>& payload) {
    if (sent != altered.tag) return;
    Content content = content_of(altered, payload);
    lie(content);
    payload = payload_of(content);
  };
}

// The count of kKind, which is the only kind of the stores, in a list that has it.
std::uint64_t& count_in(List& list) {
  if (list.empty()) list.push_back({static_cast<std::uint32_t>(kKind), 0});
  return list.front().count;
}

// Status messages as structures, for lies about single fields.
struct SentStatus {
  std::uint64_t& units_made;
  std::uint64_t& units_unlocked;
  std::uint64_t& served;
  std::uint64_t& confirmed;
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
  Outcome honest_outcome(Party cheater, const Deviation& deviation) {
    PartyOptions options;
    (cheater == Party::A ? options.wrap_a : options.wrap_b) = cheating(deviation);
    const Outcomes outcomes = run(options);
    return cheater == Party::A ? outcomes.b : outcomes.a;
  }
  Outcome honest_outcome(Party cheater, const SentCounts& altered,
                         const std::function<void(Content&)>& lie) {
    return honest_outcome(cheater, altering(altered, lie));
  }
  Outcome honest_outcome(Party cheater, std::string_view tag,
                         const std::function<void(std::uint64_t&)>& lie) {
    return honest_outcome(cheater,
                          [&](std::string_view sent, std::size_t, std::vector<std::byte>& payload) {
                            if (sent != tag) return;
                            std::uint64_t number = 0;
                            ASSERT_EQ(payload.size(), sizeof number);
                            std::memcpy(&number, payload.data(), sizeof number);
                            lie(number);
                            std::memcpy(payload.data(), &number, sizeof number);
                          });
  }

  // Of kNeeded triples, for a later run; returns its number.
  std::uint64_t reserve_for_later() {
    run_sessions([&](Session& session) {
      Store store = Store::open(place(session.me()));
      grant_with_peer(session, store, synchronise(session, store, SynchroniseFor::Running),
                      counts_of(kKind, kNeeded), true);
    });
    return Store::open(place(Party::A)).cursors().planned.at(0).id;
  }
  Outcomes claim(std::uint64_t number, std::uint64_t needed, const PartyOptions& options = {}) {
    return run_sessions(
        [&](Session& session) {
          Store store = Store::open(place(session.me()));
          claim_with_peer(session, store, number, counts_of(kKind, needed));
        },
        options, false);
  }

  void expect_refused(Party cheater, const std::string& part,
                      const std::function<void(SentStatus)>& lie) {
    SCOPED_TRACE(letter(cheater));
    const std::uint64_t position = Store::open(place(peer_of(cheater))).served()[kKind];
    const Outcome outcome = honest_outcome(cheater, kStatusSent, [&](Content& status) {
      lie({status.words[0], status.words[1], count_in(status.lists[0]), count_in(status.lists[1])});
      for (List& list : status.lists)
        std::erase_if(list, [](const material::KindCount& entry) { return entry.count == 0; });
    });
    EXPECT_TRUE(mentions(outcome.message, part));
    expect_nothing_lost(peer_of(cheater), position);
  }

  void expect_nothing_lost(Party party, std::uint64_t position = kServed) {
    const Store store = Store::open(place(party));
    EXPECT_EQ(store.served()[kKind], position);
    EXPECT_EQ(store.burnt()[kKind], 0u);
  }
};

TEST_F(Agreement, HonestPartiesTakeWhatIsNeeded) {
  const Outcomes outcomes = run({});
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
  for (const Party party : {Party::A, Party::B})
    EXPECT_EQ(Store::open(place(party)).served()[kKind], kServed + kNeeded);
}

TEST_F(Agreement, PeerFarAheadBurnsNothing) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "the peer's store is far ahead",
                   [](SentStatus status) { status.served += kBurnMax + kMade; });
}

// The limit itself is not far ahead: what is wrong then is that this store has no such objects.
TEST_F(Agreement, PeerIsFarAheadBeyondTheLimitOnly) {
  const auto message_at = [&](std::uint64_t ahead) {
    return honest_outcome(Party::B, kStatusSent,
                          [&](Content& status) { count_in(status.lists[0]) = kServed + ahead; })
        .message;
  };
  EXPECT_FALSE(mentions(message_at(kBurnMax), "far ahead"));
  EXPECT_TRUE(mentions(message_at(kBurnMax + 1), "far ahead"));
}

TEST_F(Agreement, RejectsPeerWithOlderStore) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "the peer's store is an older copy",
                   [](SentStatus status) { status.served = kServed - 1; });
}

TEST_F(Agreement, RejectsOwnOlderStore) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "this store is an older copy",
                   [](SentStatus status) { status.confirmed = kMade; });
}

TEST_F(Agreement, RejectsPeerThatLostUnlockedUnits) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "the peer's store is an older copy",
                   [](SentStatus status) { status.units_made = status.units_unlocked = 0; });
}

TEST_F(Agreement, RejectsMoreUnitsUnlockedThanMade) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "store status",
                   [](SentStatus status) { status.units_unlocked = status.units_made + 1; });
}

TEST_F(Agreement, RejectsRangeOfAnotherSize) {
  for (const std::uint64_t size : {kNeeded - 1, kNeeded + 1}) {
    const Outcome outcome = honest_outcome(Party::A, kGrantSent, [&](Content& grant) {
      count_in(grant.lists[1]) = count_in(grant.lists[0]) + size;
    });
    EXPECT_TRUE(mentions(outcome.message, "the peer grants " + std::to_string(size)));
    expect_nothing_lost(Party::B);
  }
}

TEST_F(Agreement, RejectsRangeThatEndsBeforeItBegins) {
  const Outcome outcome = honest_outcome(Party::A, kGrantSent, [](Content& grant) {
    count_in(grant.lists[0]) = count_in(grant.lists[1]) + 1;
  });
  EXPECT_EQ(outcome.check, "store grant") << outcome.message;
  expect_nothing_lost(Party::B);
}

TEST_F(Agreement, RejectsPlanThatWasNotRequested) {
  const Outcome outcome =
      honest_outcome(Party::A, kGrantSent, [](Content& grant) { grant.words[0] = 7; });
  EXPECT_EQ(outcome.check, "store grant") << outcome.message;
  expect_nothing_lost(Party::B);
}

TEST_F(Agreement, RejectsServedRange) {
  const Outcome outcome = honest_outcome(Party::A, kGrantSent, [](Content& grant) {
    for (List& list : grant.lists) count_in(list) -= 1;
  });
  EXPECT_TRUE(mentions(outcome.message, "the peer grants triples " + std::to_string(kServed - 1)));
  expect_nothing_lost(Party::B);
}

TEST_F(Agreement, RangeFarAheadBurnsNothing) {
  const Outcome outcome = honest_outcome(Party::A, kGrantSent, [](Content& grant) {
    for (List& list : grant.lists) count_in(list) += kBurnMax + 1;
  });
  EXPECT_TRUE(mentions(outcome.message, "the peer's store is far ahead"));
  expect_nothing_lost(Party::B);
}

TEST_F(Agreement, RejectsOwnStoreWithoutUnitsThatThePeerUnlocked) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, "this store is an older copy: it has 1 units",
                   [](SentStatus status) { status.units_unlocked = ++status.units_made; });
}

TEST_F(Agreement, RejectsWrongConfirmationOfRange) {
  const Outcome outcome =
      honest_outcome(Party::B, "store.taken", [](std::uint64_t& answer) { answer = 2; });
  EXPECT_EQ(outcome.check, "store grant") << outcome.message;
}

TEST_F(Agreement, RejectsMoreBatchesThanObjectsBeforeAllocating) {
  for (const Party party : {Party::A, Party::B}) {
    Store store = Store::open(place(party), {.purpose = Purpose::Make});
    add_locked_unit(store, kKind, kNeeded);
  }
  for (const Party cheater : {Party::A, Party::B}) {
    const Outcome outcome = honest_outcome(
        cheater, "store.half_count", [](std::uint64_t& count) { count = std::uint64_t{1} << 40; });
    EXPECT_TRUE(
        mentions(outcome.message, "more than the " + std::to_string(kMade + kNeeded) + " objects"));
    expect_nothing_lost(peer_of(cheater));
  }
}

// Lists of counts that no honest party sends, with the flaw that the check names.
struct WrongList {
  List list;
  std::string flaw;
};
std::vector<WrongList> wrong_lists() {
  constexpr auto kNumber = static_cast<std::uint32_t>(kKind);
  constexpr auto kUnknown = static_cast<std::uint32_t>(kMaterialKinds);
  const std::string name = "kind " + std::to_string(kNumber);
  return {{{{kUnknown, 1}}, "kind " + std::to_string(kUnknown) + " is unknown"},
          {{{kNumber, 1}, {kNumber, 1}}, name + " stands twice"},
          {{{kNumber, 1}, {kNumber - 1, 1}},
           "kind " + std::to_string(kNumber - 1) + " is out of order"},
          {{{kNumber, 0}}, name + " has a count of zero"},
          {{{kNumber, material::kKindCountMax + 1}}, name + " has a count that is too large"},
          {{{kNumber, ~std::uint64_t{0}}}, name + " has a count that is too large"}};
}

class WrongLists : public Agreement {
 protected:
  void expect_refused(Party cheater, const SentCounts& sent, const std::string& check) {
    for (std::size_t list = 0; list < sent.lists; ++list) {
      for (const WrongList& wrong : wrong_lists()) {
        const Outcome outcome = honest_outcome(
            cheater, sent, [&](Content& content) { content.lists[list] = wrong.list; });
        EXPECT_EQ(outcome.check, check + ": " + wrong.flaw) << sent.tag << " " << outcome.message;
      }
    }
  }
};

TEST_F(WrongLists, OfStatusAreRejected) {
  for (const Party cheater : {Party::A, Party::B})
    expect_refused(cheater, kStatusSent, "store status");
  expect_nothing_lost(Party::B);
}

TEST_F(WrongLists, OfGrantAreRejected) {
  expect_refused(Party::A, kGrantSent, "store grant");
  expect_nothing_lost(Party::B);
}

TEST_F(WrongLists, OfUnlockedUnitsAreRejected) {
  for (const Party party : {Party::A, Party::B}) {
    Store store = Store::open(place(party), {.purpose = Purpose::Make});
    add_locked_unit(store, kKind, kNeeded);
  }
  for (const Party cheater : {Party::A, Party::B}) {
    expect_refused(cheater, kUnlockedSent, "store status");
    EXPECT_EQ(Store::open(place(peer_of(cheater))).cursors().unlocked[kKind], kMade);
  }
}

TEST_F(WrongLists, CutOffOrFollowedByBytesAreRejected) {
  const auto check_after = [&](const std::function<void(std::vector<std::byte>&)>& change) {
    return honest_outcome(Party::A,
                          [&](std::string_view sent, std::size_t, std::vector<std::byte>& payload) {
                            if (sent == "store.status") change(payload);
                          })
        .check;
  };
  EXPECT_EQ(check_after([](auto& payload) { payload.resize(15); }),
            "store status: truncated message");
  EXPECT_EQ(check_after([](auto& payload) { payload.pop_back(); }),
            "store status: a list of counts is truncated");
  EXPECT_EQ(check_after([](auto& payload) { payload.at(16) = std::byte{0xff}; }),
            "store status: a list of counts is truncated");
  EXPECT_EQ(check_after([](auto& payload) { payload.push_back({}); }),
            "store status: bytes after the last list");
  EXPECT_TRUE(mentions(check_after([](auto& payload) { payload.resize(1000); }), "framing"));
}

// Another run of both parties unlocks a unit and takes objects between the report of one party and
// that of the other, which is older then. Neither store is an older copy.
TEST_F(Agreement, RunsAtTheSameTimeMakeNoStoreOlder) {
  std::uint64_t served = kServed;
  for (const Party late : {Party::A, Party::B})
    for (const bool is_unit_made : {false, true}) {
      std::latch is_told(1);
      Outcomes meanwhile;
      const ChannelWrapper first =
          cheating([&](std::string_view sent, std::size_t, std::vector<std::byte>&) {
            if (sent == kStatusSent.tag) is_told.count_down();
          });
      const ChannelWrapper second =
          cheating([&](std::string_view sent, std::size_t, std::vector<std::byte>&) {
            if (sent != kStatusSent.tag) return;
            is_told.wait();
            for (const Party party : {Party::A, Party::B}) {
              if (!is_unit_made) continue;
              Store store = Store::open(place(party), {.purpose = Purpose::Make});
              add_locked_unit(store, kKind, kNeeded);
            }
            meanwhile = run({});
          });
      PartyOptions options;
      options.wrap_a = late == Party::A ? second : first;
      options.wrap_b = late == Party::A ? first : second;
      const Outcomes outcomes = run(options);
      for (const Outcome& outcome : {meanwhile.a, meanwhile.b, outcomes.a, outcomes.b})
        EXPECT_EQ(outcome.kind, Outcome::Kind::Done) << letter(late) << outcome.message;
      served += 2 * kNeeded;
      for (const Party party : {Party::A, Party::B}) expect_nothing_lost(party, served);
    }
}

// A has adopted a copy of its store from before a grant, which B had taken when it was killed.
TEST_F(Agreement, AGrantsFromThePositionOfB) {
  const storage::Range range{counts_of(kKind, kServed), counts_of(kKind, kServed + kNeeded)};
  (void)Store::open(place(Party::B)).take({range, 0, {}}, {});
  const Outcomes outcomes = run({});
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
  for (const Party party : {Party::A, Party::B}) {
    const Store store = Store::open(place(party));
    EXPECT_EQ(store.served()[kKind], kServed + 2 * kNeeded) << letter(party);
    EXPECT_EQ(store.burnt()[kKind], party == Party::A ? kNeeded : 0) << letter(party);
  }
}

// A party that was killed before it had taken a range is behind in one of several shards.
TEST_F(Agreement, TakesTheSamePartOfEachShard) {
  constexpr std::uint64_t kAhead = 300, kTaken = kMade;
  for (const Party ahead : {Party::A, Party::B}) {
    SCOPED_TRACE(letter(ahead));
    const auto shard = [&](Party party, int number) {
      return place(party) / (std::string("ahead ") + letter(ahead) + std::to_string(number));
    };
    for (const Party party : {Party::A, Party::B})
      for (const int number : {1, 2}) {
        Store store = make_store(shard(party, number), party);
        add_locked_unit(store, kKind, kMade);
      }
    run_sessions([&](Session& session) {
      Store store = Store::open(shard(session.me(), 1));
      reserve_with_peer(session, store, counts_of(kKind, kServed));
    });
    (void)Store::open(shard(ahead, 1)).grant({.counts = counts_of(kKind, kAhead), .at_least = {}});
    run_sessions([&](Session& session) {
      std::vector<Store> shards;
      for (const int number : {1, 2}) shards.push_back(Store::open(shard(session.me(), number)));
      const storage::ReservationChain taken =
          reserve_with_peer(session, shards, counts_of(kKind, kTaken));
      ASSERT_EQ(taken.links().size(), 2u);
      EXPECT_EQ(taken.links()[0].start()[kKind], kServed + kAhead);
      EXPECT_EQ(taken.left()[kKind], kTaken);
    });
    for (const Party party : {Party::A, Party::B}) {
      EXPECT_EQ(Store::open(shard(party, 1)).served()[kKind], kMade) << letter(party);
      EXPECT_EQ(Store::open(shard(party, 2)).served()[kKind], kServed + kAhead) << letter(party);
    }
  }
}

// A mistaken circuit or number costs nothing.
TEST_F(Agreement, KeepsReservationThatIsTooSmall) {
  const std::uint64_t number = reserve_for_later();
  const Outcomes outcomes = claim(number, kNeeded + 1);
  for (const Outcome* const outcome : {&outcomes.a, &outcomes.b})
    EXPECT_TRUE(mentions(outcome->message, "the reservation is kept"));
  for (const Party party : {Party::A, Party::B})
    EXPECT_EQ(Store::open(place(party)).cursors().planned.size(), 1u) << letter(party);
  const Outcomes again = claim(number, kNeeded);
  EXPECT_EQ(again.a.kind, Outcome::Kind::Done) << again.a.message;
  EXPECT_EQ(again.b.kind, Outcome::Kind::Done) << again.b.message;
}

TEST_F(Agreement, DropsReservationOfAnotherRangeAtThePeer) {
  const std::uint64_t number = reserve_for_later();
  PartyOptions options;
  options.wrap_b = cheating(altering(kPlanSent, [](Content& plan) {
    for (List& list : plan.lists) ++count_in(list);
  }));
  const Outcomes outcomes = claim(number, kNeeded, options);
  EXPECT_TRUE(mentions(outcomes.a.message, "the peer's store no longer holds reservation"));
  EXPECT_TRUE(Store::open(place(Party::A)).cursors().planned.empty());
}

// A reservation is used by both parties or by none.
TEST_F(Agreement, ReservationIsTheSameAtBoth) {
  const std::uint64_t number = reserve_for_later();
  const auto claim_by = [&](std::uint64_t of_a, std::uint64_t of_b) {
    return run_sessions(
        [&](Session& session) {
          Store store = Store::open(place(session.me()));
          claim_with_peer(session, store, session.me() == Party::A ? of_a : of_b,
                          counts_of(kKind, kNeeded));
        },
        {}, false);
  };
  for (const auto& [of_a, of_b] : {std::pair(number, number + 1), {number + 1, number}}) {
    const Outcomes outcomes = claim_by(of_a, of_b);
    const std::string a = std::to_string(of_a), b = std::to_string(of_b);
    EXPECT_TRUE(mentions(outcomes.a.message, "runs reservation " + a + ", the peer " + b));
    EXPECT_TRUE(mentions(outcomes.b.message, "runs reservation " + b + ", the peer " + a));
    for (const Party party : {Party::A, Party::B})
      EXPECT_EQ(Store::open(place(party)).cursors().planned.size(), 1u) << letter(party);
  }
  // One that neither party has.
  const Outcomes none = claim_by(number + 1, number + 1);
  for (const Outcome* const outcome : {&none.a, &none.b})
    EXPECT_NE(outcome->kind, Outcome::Kind::Done);
}

// The peer has the range, but says that it has no such reservation.
TEST_F(Agreement, DropsReservationThatThePeerDoesNotHave) {
  const std::uint64_t number = reserve_for_later();
  PartyOptions options;
  options.wrap_b = cheating(altering(kPlanSent, [](Content& plan) { plan.words[1] = 0; }));
  const Outcomes outcomes = claim(number, kNeeded, options);
  EXPECT_TRUE(mentions(outcomes.a.message,
                       "the peer's store no longer holds reservation " + std::to_string(number)));
  EXPECT_TRUE(Store::open(place(Party::A)).cursors().planned.empty());
}

// B takes what A grants for later only if it has asked for that.
TEST_F(Agreement, RejectsGrantForNowInPlaceOfAPlan) {
  PartyOptions options;
  options.wrap_a = cheating(altering(kGrantSent, [](Content& grant) { grant.words[0] = 0; }));
  const Outcomes outcomes = run_sessions(
      [&](Session& session) {
        Store store = Store::open(place(session.me()));
        grant_with_peer(session, store, synchronise(session, store, SynchroniseFor::Running),
                        counts_of(kKind, kNeeded), true);
      },
      options, false);
  EXPECT_EQ(outcomes.b.check, "store grant") << outcomes.b.message;
  expect_nothing_lost(Party::B);
}

TEST_F(WrongLists, OfPlansAreRejected) {
  for (const WrongList& wrong : wrong_lists()) {
    PartyOptions options;
    options.wrap_b =
        cheating([&](std::string_view sent, std::size_t, std::vector<std::byte>& payload) {
          if (sent == kPlanSent.tag) payload = payload_of({{1, 1}, {wrong.list, {}}});
        });
    const Outcomes outcomes = run_sessions(
        [&](Session& session) {
          Store store = Store::open(place(session.me()));
          claim_with_peer(session, store, 1, {});
        },
        options, false);
    EXPECT_EQ(outcomes.a.check, "store grant: " + wrong.flaw) << outcomes.a.message;
  }
}

// Of a run, unlike that of a job, the units that only one party has are kept: the peer may be about
// to commit them.
TEST_F(Agreement, UnitsOfOnePartyAreDroppedForAJobOnly) {
  {
    Store store = Store::open(place(Party::A), {.purpose = Purpose::Make});
    add_locked_unit(store, kKind, kNeeded);
  }
  const auto synchronised_for = [&](SynchroniseFor purpose) {
    run_sessions([&](Session& session) {
      Store store = Store::open(place(session.me()), {.purpose = Purpose::Make});
      (void)synchronise(session, store, purpose);
    });
    return Store::open(place(Party::A)).manifest().units_made;
  };
  EXPECT_EQ(synchronised_for(SynchroniseFor::Running), 2u);
  EXPECT_EQ(synchronised_for(SynchroniseFor::Making), 1u);
}

// More batches than a message has, at one party only: all are compared. An object is the least that
// a batch has.
TEST_F(Agreement, AllBatchesOfALongListAreCompared) {
  constexpr std::uint64_t kBatches = 5000;
  for (const Party party : {Party::A, Party::B}) {
    Store store = Store::open(place(party), {.purpose = Purpose::Make});
    add_locked_unit(store, kKind, kBatches - kMade);
  }
  std::vector<storage::BatchEntry> batches;
  for (std::uint64_t first = 0; first < kBatches; ++first)
    batches.push_back({.kind = kKind, .first = first, .count = 1});
  for (const Party party : {Party::A, Party::B}) {
    run_sessions([&](Session& session) {
      const Store store = Store::open(place(session.me()));
      const bool has_them = session.me() == party;
      const PeersHalves halves = compare_halves(
          session, store, has_them ? std::span(batches) : std::span<storage::BatchEntry>());
      EXPECT_EQ(halves.passed_over, kServed) << letter(session.me());
      EXPECT_EQ(halves.different, kBatches - kServed) << letter(session.me());
    });
  }
}

// Other runs may go on while a store is compared with its peer's: what one party knew when it
// opened its store is older then.
TEST_F(Agreement, RunsDuringAComparisonMakeNoStoreOlder) {
  for (const Party late : {Party::A, Party::B}) {
    std::latch is_open(1);
    const Outcomes outcomes = run_sessions(
        [&](Session& session) {
          if (session.me() == late) {
            is_open.wait();
            for (int run_meanwhile = 0; run_meanwhile < 2; ++run_meanwhile) (void)run({});
          }
          const Store store = Store::open(place(session.me()));
          if (session.me() != late) is_open.count_down();
          const PeersHalves halves = compare_halves(session, store, {});
          EXPECT_EQ(halves.different, 0u);
        },
        {}, false);
    for (const Outcome& outcome : {outcomes.a, outcomes.b})
      EXPECT_EQ(outcome.kind, Outcome::Kind::Done) << outcome.message;
  }
}

TEST_F(Agreement, RejectsWrongConfirmationOfCompletion) {
  PartyOptions options;
  options.wrap_b = cheating(flip_bit("store.complete", 0, 1));
  const Outcomes outcomes = run_sessions(
      [&](Session& session) {
        Store store = Store::open(place(session.me()));
        confirm_completion(session, store);
      },
      options, false);
  EXPECT_EQ(outcomes.a.check, "store status") << outcomes.a.message;
  EXPECT_FALSE(Store::open(place(Party::A)).manifest().peer_complete);
  EXPECT_TRUE(Store::open(place(Party::B)).manifest().peer_complete);
}

}  // namespace
}  // namespace tinyot::test
