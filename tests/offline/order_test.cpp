// The order of messages, as each party sees it, and of the pouring of material: no message is sent
// before the values that it must not influence are fixed.
#include <algorithm>
#include <array>

#include "offline/softspoken/softspoken.h"
#include "offline/unit/preprocessor.h"
#include "tests/checks/transit_channel.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using namespace std::chrono_literals;

// Events of one party in order: "+tag" for what it sent, "-tag" for what it received, "pour" for
// material.
using Events = std::vector<std::string>;

ChannelWrapper noting(Events& events) {
  return [&events](std::unique_ptr<Channel> inner) {
    auto arrivals = std::make_unique<TransitChannel>(
        std::move(inner), [&](const Arrival& arrival) { events.push_back("-" + arrival.tag); });
    return cheating([&](std::string_view tag, std::size_t, std::vector<std::byte>&) {
      events.push_back("+" + std::string(tag));
    })(std::move(arrivals));
  };
}

class NotingSink : public material::Sink {
 public:
  explicit NotingSink(Events& events) : events_(events) {}
  void pour(material::Batch) override { events_.push_back("pour"); }
  void finish_unit() override { events_.push_back("pour"); }

 private:
  Events& events_;
};

// Of both parties, in one unit.
using EventsOfBoth = std::array<Events, 2>;

EventsOfBoth make_unit(const ParameterRequest& request, std::uint64_t inputs,
                       PipelineDepth depth = {}) {
  EventsOfBoth events;
  const auto params = SecurityParameters::make(request);
  const UnitRequest unit{params.plan(params.unit()).at(0), inputs};
  const auto outcomes = run_sessions(
      [&](Session& outer) {
        with_key_for_triples(outer, 1, [&](Session& session) {
          NotingSink sink(events[static_cast<std::size_t>(session.me())]);
          Preprocessor(session, params, {}, depth).make_units({&unit, 1}, sink);
        });
      },
      {.wrap_a = noting(events[0]), .wrap_b = noting(events[1])});
  EXPECT_TRUE(both_done(outcomes));
  return events;
}

std::ptrdiff_t first(const Events& events, const std::string& event) {
  const auto at = std::find(events.begin(), events.end(), event);
  EXPECT_NE(at, events.end()) << event << " does not occur";
  return at - events.begin();
}

std::ptrdiff_t last(const Events& events, const std::string& event) {
  const auto at = std::find(events.rbegin(), events.rend(), event);
  EXPECT_NE(at, events.rend()) << event << " does not occur";
  return events.rend() - at - 1;
}

// The positions of all occurrences of an event.
std::vector<std::ptrdiff_t> all(const Events& events, const std::string& event) {
  std::vector<std::ptrdiff_t> times;
  for (std::size_t i = 0; i < events.size(); ++i)
    if (events[i] == event) times.push_back(static_cast<std::ptrdiff_t>(i));
  return times;
}

// The end of an EQ: B's answer for A, A's confirmation for B.
std::string end_of_eq(std::size_t party) { return party == 0 ? "-eq.answer" : "-eq.confirmation"; }
// A coin toss: the first message that a party sends in it, and the message after which the party
// knows the coins.
std::string begin_of_toss(std::size_t party) {
  return party == 0 ? "+coin_toss.commitment" : "+coin_toss.answer";
}
std::string end_of_toss(std::size_t party) {
  return party == 0 ? "-coin_toss.answer" : "-coin_toss.opening";
}

// Material is poured after the peer's digest has arrived; a digest is sent and compared after all
// bits that it covers have been revealed.
void expect_poured_when_settled(const Events& events, std::initializer_list<const char*> revealed) {
  EXPECT_GT(first(events, "pour"), last(events, "-mac_transcript.digest"));
  for (const std::string tag : revealed) {
    EXPECT_GT(first(events, "+mac_transcript.digest"), last(events, "+" + tag)) << tag;
    EXPECT_GT(last(events, "-mac_transcript.digest"), last(events, "-" + tag)) << tag;
  }
}

class Order : public testing::Test {
 protected:
  // One unit, so one LaBit run, and a first and a second EQ.
  static void SetUpTestSuite() {
    events_ = make_unit({.own = Nnob12Parameters{Columns::Experiment}, .unit = 64}, 3);
  }
  static void TearDownTestSuite() { events_ = {}; }

  static inline EventsOfBoth events_;
};

TEST_F(Order, SendsPairingAfterAllCorrections) {
  for (const Events& events : events_) {
    EXPECT_GT(first(events, "+labit.pairing"), last(events, "-labit.corrections"));
    EXPECT_GT(first(events, "+labit.d"), last(events, "-labit.corrections"));
  }
}

TEST_F(Order, SendsAmplificationMatrixAfterTheCheckOfLaBit) {
  for (const std::size_t party : {0u, 1u})
    EXPECT_GT(first(events_[party], "+abit.r"), first(events_[party], end_of_eq(party)));
}

TEST_F(Order, SendsPermutationAfterTheCheckOfLeakyObjects) {
  for (const std::size_t party : {0u, 1u}) {
    const Events& events = events_[party];
    EXPECT_GT(first(events, "+bucket.permutation_seed"), last(events, end_of_eq(party)));
    EXPECT_GT(last(events, end_of_eq(party)), last(events, "-laand.u"));
    EXPECT_GT(last(events, end_of_eq(party)), last(events, "-laot.i"));
    EXPECT_GT(last(events, end_of_eq(party)), first(events, end_of_eq(party)))
        << "leaky objects have their own EQ";
  }
}

TEST_F(Order, LeakyOtReceiverAnswersAfterAllOfX) {
  for (const Events& events : events_)
    for (const char* part : {"-laot.x.bits", "-laot.x.macs", "-laot.x.t"})
      EXPECT_GT(first(events, "+laot.d"), last(events, part));
}

TEST_F(Order, PoursAfterTheTranscriptsAreSettled) {
  for (const Events& events : events_) expect_poured_when_settled(events, {"aand.d", "aot.d"});
}

class OrderOfProducts : public testing::Test {
 protected:
  // The unit's triples are made in two chunks, so that the steps overlap.
  static void SetUpTestSuite() {
    events_ = make_unit({.own = Nnob12Parameters{Columns::Experiment},
                         .unit = kChunkObjects + 65,
                         .material = AndMaterial::Triples},
                        3);
  }
  static void TearDownTestSuite() { events_ = {}; }

  static inline EventsOfBoth events_;
};

TEST_F(OrderOfProducts, RevealsAfterTheObjectsAreCheckedAndCombined) {
  for (const std::size_t party : {0u, 1u}) {
    const Events& events = events_[party];
    EXPECT_GT(first(events, "+product.dh"), last(events, end_of_eq(party)));
    EXPECT_GT(first(events, "+product.dh"), last(events, "-aand.d"));
    EXPECT_GT(first(events, "+product.dh"), last(events, "-aot.d"));
  }
}

TEST_F(OrderOfProducts, SendsEAfterThePeersDOfItsChunk) {
  for (const Events& events : events_) {
    const auto d = all(events, "-product.dh"), e = all(events, "+product.e");
    ASSERT_EQ(d.size(), 2u);
    ASSERT_EQ(e.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_GT(e[i], d[i]);
  }
}

TEST_F(OrderOfProducts, PoursAfterTheTranscriptsAreSettled) {
  for (const Events& events : events_)
    expect_poured_when_settled(events, {"aand.d", "aot.d", "product.dh", "product.e"});
}

// Layers of several batches, the last one smaller; with the smallest window, with one of several
// batches, and with one that is larger than the unit.
class OrderOfFast : public testing::Test {
 protected:
  static constexpr std::uint64_t kUnit = 2 * (kBatchBits / 3) + 1;

  static void SetUpTestSuite() {
    for (const auto latency : {0us, 300us, 1'000'000us})
      for (Events& events :
           make_unit({.profile = Profile::Fast, .unit = kUnit}, 3, PipelineDepth(latency)))
        events_.push_back(std::move(events));
  }
  static void TearDownTestSuite() { events_ = {}; }

  // Of A and of B with each window.
  static inline std::vector<Events> events_;
  static constexpr std::size_t kAllRuns[] = {0, 1, 2, 3, 4, 5};
  static std::size_t party_of(std::size_t run) { return run % 2; }
};

TEST_F(OrderOfFast, LargerWindowsSendMoreBatchesBeforeAnAnswer) {
  const auto before_answer = [](const Events& events) {
    const auto corrections = all(events, "+softspoken.corrections");
    // The unit's first two batches are plain bits, each with its answer.
    const std::ptrdiff_t answer = all(events, "-softspoken.answer").at(2);
    return std::count_if(corrections.begin(), corrections.end(),
                         [&](std::ptrdiff_t at) { return at < answer; });
  };
  for (const std::size_t party : {0u, 1u}) {
    EXPECT_LT(before_answer(events_[party]), before_answer(events_[2 + party]));
    EXPECT_LT(before_answer(events_[2 + party]), before_answer(events_[4 + party]));
    EXPECT_EQ(before_answer(events_[4 + party]),
              std::ssize(all(events_[4 + party], "+softspoken.corrections")));
  }
}

TEST_F(OrderOfFast, ChallengesBatchAfterItsCorrections) {
  for (const Events& events : events_) {
    const auto corrections = all(events, "-softspoken.corrections"),
               challenges = all(events, "+softspoken.challenge");
    ASSERT_EQ(challenges.size(), corrections.size());
    ASSERT_GT(challenges.size(), 6u);
    for (std::size_t i = 0; i < challenges.size(); ++i)
      EXPECT_GT(challenges[i], corrections[i]) << "batch " << i;
  }
}

TEST_F(OrderOfFast, AnswersBatchAfterItsChallenge) {
  for (const Events& events : events_) {
    const auto corrections = all(events, "+softspoken.corrections"),
               challenges = all(events, "-softspoken.challenge"),
               answers = all(events, "+softspoken.answer");
    ASSERT_EQ(challenges.size(), answers.size());
    ASSERT_EQ(corrections.size(), answers.size());
    for (std::size_t i = 0; i < challenges.size(); ++i) {
      EXPECT_GT(answers[i], challenges[i]) << "batch " << i;
      EXPECT_GT(challenges[i], corrections[i]) << "batch " << i;
    }
  }
}

// A party uses bits after it has answered their challenge, and keys after it has checked the peer's
// answer. The unit's first batches are plain bits.
TEST_F(OrderOfFast, UsesBatchAfterItsCheck) {
  for (const Events& events : events_) {
    const auto sent = all(events, "+softspoken.answer"),
               received = all(events, "-softspoken.answer"), used = all(events, "+latriple.g");
    ASSERT_EQ(sent.size(), received.size());
    ASSERT_LT(used.size(), received.size());
    ASSERT_GT(used.size(), 4u);
    const std::size_t plain = received.size() - used.size();
    for (std::size_t i = 0; i < used.size(); ++i) {
      EXPECT_GT(used[i], received[plain + i]) << "batch " << i;
      EXPECT_GT(used[i], sent[plain + i]) << "batch " << i;
    }
  }
}

TEST_F(OrderOfFast, TossesShiftsAfterTheCheckOfLayers) {
  for (const std::size_t run : kAllRuns) {
    const Events& events = events_[run];
    const std::ptrdiff_t toss = first(events, begin_of_toss(party_of(run)));
    EXPECT_EQ(last(events, begin_of_toss(party_of(run))), toss) << "one toss per unit";
    for (const char* event : {"+latriple.g", "-latriple.g", "-softspoken.answer",
                              "+softspoken.answer", "+latriple.d", "-latriple.d"})
      EXPECT_GT(toss, last(events, event)) << event;
    EXPECT_GT(toss, last(events, end_of_eq(party_of(run))));
  }
}

TEST_F(OrderOfFast, RevealsAfterTheShiftsAreTossed) {
  for (const std::size_t run : kAllRuns)
    EXPECT_GT(first(events_[run], "+triple.d"), last(events_[run], end_of_toss(party_of(run))));
}

TEST_F(OrderOfFast, ComparesProductsAfterAllAreAnnounced) {
  for (const std::size_t run : kAllRuns) {
    const Events& events = events_[run];
    EXPECT_GT(last(events, end_of_eq(party_of(run))), last(events, "-latriple.d"));
    EXPECT_GT(last(events, end_of_eq(party_of(run))), last(events, "+latriple.d"));
  }
}

TEST_F(OrderOfFast, PoursAfterTheTranscriptsAreSettled) {
  for (const std::size_t run : kAllRuns) {
    expect_poured_when_settled(events_[run], {"triple.d"});
    EXPECT_GT(first(events_[run], "pour"), last(events_[run], end_of_eq(party_of(run))));
  }
}

}  // namespace
}  // namespace tinyot
