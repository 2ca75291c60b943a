// What must not leave before something else is certain: the order of messages, as each party sees it, and of the material.
#include <algorithm>

#include "offline/preprocessor.h"
#include "tests/checks/transit_channel.h"
#include "tests/offline/dealt.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

// Events of one party in order: "+tag" for what it sent, "-tag" for what it received, "pour" for material.
using Events = std::vector<std::string>;

ChannelWrapper noting(Events& events) {
  return [&events](std::unique_ptr<Channel> inner) {
    auto arrivals = std::make_unique<TransitChannel>(std::move(inner), [&](const Arrival& arrival) { events.push_back("-" + arrival.tag); });
    return make_cheating_channel(std::move(arrivals),
                                 [&](std::string_view tag, std::size_t, std::vector<std::byte>&) { events.push_back("+" + std::string(tag)); });
  };
}

class NotingSink : public MaterialSink {
 public:
  explicit NotingSink(Events& events) : events_(events) {}
  void pour(MaterialBatch) override { events_.push_back("pour"); }
  void finish_unit() override { events_.push_back("pour"); }

 private:
  Events& events_;
};

class Order : public testing::Test {
 protected:
  // One unit, so one LaBit run, and a first and a second EQ.
  static void SetUpTestSuite() {
    const auto params = SecurityParameters::make({.columns = Columns::Experiment, .unit = 64});
    run_sessions(
        [&](Session& session) {
          Preprocessor preprocessor(session, params);
          NotingSink sink(events_[static_cast<int>(session.me())]);
          const UnitRequest request{params.plan(64).at(0), 3};
          preprocessor.make_units({&request, 1}, sink);
        },
        {.wrap_a = noting(events_[0]), .wrap_b = noting(events_[1])});
  }
  static void TearDownTestSuite() {
    for (Events& events : events_) events.clear();
  }

  static std::ptrdiff_t first(const Events& events, const std::string& event) {
    const auto at = std::find(events.begin(), events.end(), event);
    EXPECT_NE(at, events.end()) << event << " never happens";
    return at - events.begin();
  }
  static std::ptrdiff_t last(const Events& events, const std::string& event) {
    const auto at = std::find(events.rbegin(), events.rend(), event);
    EXPECT_NE(at, events.rend()) << event << " never happens";
    return events.rend() - at - 1;
  }
  // The end of an EQ: A knows by B's answer, B by A's opening.
  static std::string end_of_eq(int party) { return party == 0 ? "-eq.answer" : "-eq.opening"; }

  static inline Events events_[2];
};

TEST_F(Order, ThePairingIsSentWhenAllCorrectionsHaveArrived) {
  for (const Events& events : events_) {
    EXPECT_GT(first(events, "+labit.pairing"), last(events, "-labit.corrections"));
    EXPECT_GT(first(events, "+labit.d"), last(events, "-labit.corrections"));
  }
}

TEST_F(Order, TheAmplificationMatrixIsSentWhenLaBitIsChecked) {
  for (int party = 0; party < 2; ++party) EXPECT_GT(first(events_[party], "+abit.r"), first(events_[party], end_of_eq(party)));
}

TEST_F(Order, ThePermutationIsSentWhenTheLeakyObjectsAreChecked) {
  for (int party = 0; party < 2; ++party) {
    const Events& events = events_[party];
    EXPECT_GT(first(events, "+bucket.permutation_seed"), last(events, end_of_eq(party)));
    EXPECT_GT(last(events, end_of_eq(party)), last(events, "-laand.u"));
    EXPECT_GT(last(events, end_of_eq(party)), last(events, "-laot.i"));
    EXPECT_GT(last(events, end_of_eq(party)), first(events, end_of_eq(party))) << "leaky objects have an EQ of their own";
  }
}

TEST_F(Order, TheReceiverOfALeakyOtAnswersAfterItHasSeenAllOfX) {
  for (const Events& events : events_)
    for (const char* part : {"-laot.x.bits", "-laot.x.macs", "-laot.x.t"}) EXPECT_GT(first(events, "+laot.d"), last(events, part));
}

TEST_F(Order, NothingIsPouredBeforeTheTranscriptsAreSettled) {
  for (const Events& events : events_) {
    EXPECT_GT(first(events, "pour"), last(events, "-mac_transcript.digest"));
    EXPECT_GT(last(events, "-mac_transcript.digest"), last(events, "-aand.d"));
    EXPECT_GT(last(events, "-mac_transcript.digest"), last(events, "-aot.d"));
    EXPECT_GT(first(events, "+mac_transcript.digest"), last(events, "+aot.d"));
  }
}

}  // namespace
}  // namespace tinyot
