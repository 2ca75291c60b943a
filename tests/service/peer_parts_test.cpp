// The parts of a peer that have no lock.
#include <gtest/gtest.h>

#include <algorithm>

#include "service/failure_pause.h"
#include "service/local_failure.h"
#include "service/peer_offers.h"

namespace tinyot::test {
namespace {

using service::FailurePause;
using service::LocalFailure;
using service::PeerOffers;
namespace wire = service::wire;

wire::Offer offer(const std::string& job, std::size_t bytes = 10) {
  wire::Offer offer;
  offer.set_job(job);
  offer.mutable_terms()->set_circuit(std::string(bytes, 'c'));
  return offer;
}

TEST(PeerOffersTest, AreBoundedInNumber) {
  PeerOffers offers(2);
  for (const char* job : {"1", "2"}) {
    EXPECT_TRUE(offers.has_room_for(offer(job)));
    offers.add(offer(job));
  }
  EXPECT_FALSE(offers.has_room_for(offer("3")));
  offers.forget("4");
  EXPECT_FALSE(offers.has_room_for(offer("3")));
  offers.forget("1");
  EXPECT_EQ(offers.find("1"), nullptr);
  ASSERT_NE(offers.find("2"), nullptr);
  EXPECT_EQ(offers.find("2")->circuit(), offer("2").terms().circuit());
  EXPECT_TRUE(offers.has_room_for(offer("3")));
}

TEST(PeerOffersTest, AreBoundedInBytes) {
  PeerOffers offers(1000);
  const std::size_t half = PeerOffers::kBytesMax / 2;
  offers.add(offer("1", half));
  EXPECT_FALSE(offers.has_room_for(offer("2", half)));
  EXPECT_TRUE(offers.has_room_for(offer("2", half / 2)));
  offers.forget("1");
  EXPECT_TRUE(offers.has_room_for(offer("2", half)));
  offers.add(offer("2", half));
  offers.clear();
  EXPECT_EQ(offers.find("2"), nullptr);
  EXPECT_TRUE(offers.has_room_for(offer("3", half)));
}

TEST(FailurePauseTest, IsLongerAfterEachFailureUpToALimit) {
  FailurePause pause;
  auto now = FailurePause::Clock::now();
  EXPECT_TRUE(pause.is_over(now));
  auto expected = FailurePause::kMin;
  for (int failures = 0; failures < 12; ++failures) {
    pause.lengthen();
    pause.begin(now);
    EXPECT_FALSE(pause.is_over(now + expected - std::chrono::milliseconds(1)));
    EXPECT_TRUE(pause.is_over(now + expected));
    now += expected;
    expected = std::min(2 * expected, FailurePause::kMax);
  }
  // One success does not make the failures forgotten.
  pause.shorten();
  pause.begin(now);
  EXPECT_FALSE(pause.is_over(now + 10 * FailurePause::kMin));
  EXPECT_TRUE(pause.is_over(now + FailurePause::kMax / FailurePause::kLess));
}

TEST(FailurePauseTest, IsShortWithoutFailures) {
  FailurePause pause;
  const auto now = FailurePause::Clock::now();
  pause.shorten();
  pause.begin(now);
  EXPECT_FALSE(pause.is_over(now));
  EXPECT_TRUE(pause.is_over(now + FailurePause::kMin));
}

// A peer could have one in which nothing is to be made follow on each failure.
TEST(FailurePauseTest, IsNotShortenedByOneThatMadeNothing) {
  FailurePause pause;
  const auto now = FailurePause::Clock::now();
  for (int i = 0; i < 4; ++i) pause.lengthen();
  for (int i = 0; i < 4; ++i) pause.shorten_after(0);
  pause.begin(now);
  EXPECT_FALSE(pause.is_over(now + 7 * FailurePause::kMin));
  pause.shorten_after(1);
  pause.begin(now);
  EXPECT_TRUE(pause.is_over(now + 2 * FailurePause::kMin));
}

// A peer could have a refusal follow on each failure.
TEST(FailurePauseTest, IsNotCutShortByARefusal) {
  FailurePause pause;
  const auto now = FailurePause::Clock::now();
  for (int i = 0; i < 3; ++i) pause.lengthen();
  pause.begin(now);
  pause.begin_shortest(now);
  EXPECT_FALSE(pause.is_over(now + 2 * FailurePause::kMin));
  EXPECT_TRUE(pause.is_over(now + 4 * FailurePause::kMin));
}

TEST(LocalFailureTest, StaysUntilTheOperatorOrFreeSpaceEndsIt) {
  LocalFailure failure;
  EXPECT_FALSE(failure.message(0));
  constexpr std::uint64_t kFree = 10'000, kEnough = kFree + LocalFailure::kSpaceGained;
  failure.set("the disk is full", kFree);
  for (const LocalFailure::Bytes free : {LocalFailure::Bytes(kFree), LocalFailure::Bytes(0),
                                         LocalFailure::Bytes(kEnough - 1), LocalFailure::Bytes()})
    EXPECT_EQ(failure.message(free), "the disk is full");
  EXPECT_FALSE(failure.message(kEnough));
  EXPECT_FALSE(failure.message(kFree)) << "it is forgotten";
  failure.set("the disk is full", kFree);
  failure.reset();
  EXPECT_FALSE(failure.message(kFree));
}

}  // namespace
}  // namespace tinyot::test
