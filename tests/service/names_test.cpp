#include "service/names.h"

#include <gtest/gtest.h>

#include <set>

namespace tinyot::test {
namespace {

TEST(NamesTest, OfAnEnumDiffer) {
  const auto expect_distinct = [](const auto& values) {
    std::set<std::string> names;
    for (const auto value : values) names.insert(service::name_of(value));
    EXPECT_EQ(names.size(), values.size());
  };
  expect_distinct(service::kJobOutcomes);
  expect_distinct(service::kRefusedBy);
  expect_distinct(service::kSessionEnds);
  expect_distinct(service::kTrafficOf);
  expect_distinct(service::kRefillOutcomes);
  expect_distinct(service::kPreparedOutcomes);
}

// doc/metrics.md names them.
TEST(NamesTest, OfFailuresAreThoseOfTheirClasses) {
  const std::pair<ErrorClass, std::string> expected[] = {
      {ErrorClass::Other, "failed_internal"},    {ErrorClass::Usage, "failed_internal"},
      {ErrorClass::Network, "failed_network"},   {ErrorClass::PeerCheated, "failed_cheated"},
      {ErrorClass::Store, "failed_store"},       {ErrorClass::Disagreement, "failed_disagreement"},
      {ErrorClass::Cancelled, "failed_internal"}};
  for (const auto& [error_class, name] : expected)
    EXPECT_EQ(service::name_of(service::failure_of(error_class)), name);
}

TEST(NamesTest, PartiesAreReadAsWritten) {
  for (const Party party : {Party::A, Party::B})
    EXPECT_EQ(service::party_named(service::name_of(party)), party);
  EXPECT_THROW((void)service::party_named("C"), UsageError);
  EXPECT_THROW((void)service::party_named(""), UsageError);
  EXPECT_EQ(service::party_of(service::config::A), Party::A);
  EXPECT_EQ(service::party_of(service::config::B), Party::B);
}

// In the order of the interface, where 0 is no state and no class.
TEST(NamesTest, StatesAndClassesOfTheInterfaceAreKnown) {
  using service::JobState;
  for (const JobState state : {JobState::WaitingForPeer, JobState::Queued, JobState::Running,
                               JobState::Done, JobState::Failed, JobState::Cancelled})
    EXPECT_EQ(static_cast<int>(service::state_of(state)), static_cast<int>(state) + 1);
  for (const ErrorClass error_class :
       {ErrorClass::Other, ErrorClass::Usage, ErrorClass::Network, ErrorClass::PeerCheated,
        ErrorClass::Store, ErrorClass::Disagreement})
    EXPECT_EQ(static_cast<int>(service::class_of(error_class)), static_cast<int>(error_class) + 1);
  // As a client reads them.
  for (const ErrorClass error_class :
       {ErrorClass::Other, ErrorClass::Usage, ErrorClass::Network, ErrorClass::PeerCheated,
        ErrorClass::Store, ErrorClass::Disagreement})
    EXPECT_EQ(service::class_from(service::class_of(error_class)), error_class);
  EXPECT_EQ(service::class_of(ErrorClass::Cancelled), v1::INTERNAL);
  EXPECT_EQ(service::class_from(v1::INTERNAL), ErrorClass::Other);
}

}  // namespace
}  // namespace tinyot::test
