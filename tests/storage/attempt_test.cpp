#include <cstring>

#include "storage/unit_log.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr Risk kRisk{{0x1716151413121110, 0x1f1e1d1c1b1a1918, 0x2726252423222120}};
constexpr Attempt kAttempt{
    0x0706050403020100, {0x0f0e0d0c0b0a0908, {0x1110, 0x1312}}, Attempt::State::Made, kRisk};

TEST(Attempt, RoundTripKeepsEveryField) {
  using enum Attempt::State;
  for (const Attempt::State state : {Pending, Made, Withdrawn}) {
    Attempt attempt = kAttempt;
    attempt.state = state;
    EXPECT_EQ(decode_attempt(encode_attempt(attempt)), attempt);
  }
}

// Offsets as in FORMAT.md.
TEST(Attempt, EncodesAsInFormatDescription) {
  const auto coded = encode_attempt(kAttempt);
  std::array<std::uint8_t, kAttemptBytes> expected{};
  for (std::uint8_t i = 0; i < 16; ++i) expected[i] = i;   // unit, ANDs
  for (std::uint8_t i = 16; i < 20; ++i) expected[i] = i;  // bucket sizes
  expected[20] = 2;                                        // state
  for (std::uint8_t i = 0; i < 24; ++i) expected[24 + i] = static_cast<std::uint8_t>(0x10 + i);
  EXPECT_EQ(std::memcmp(coded.data(), expected.data(), coded.size()), 0);
}

TEST(Attempt, RejectsOtherSizesAndStates) {
  const auto coded = encode_attempt(kAttempt);
  const std::span whole(coded);
  EXPECT_EQ(decode_attempt(whole.first(kAttemptBytes - 1)), std::nullopt);
  EXPECT_EQ(decode_attempt({}), std::nullopt);
  std::vector<std::byte> longer(coded.begin(), coded.end());
  longer.push_back(std::byte{0});
  EXPECT_EQ(decode_attempt(longer), std::nullopt);
  for (const int state : {0, 4, 255}) {
    auto other = coded;
    other[20] = static_cast<std::byte>(state);
    EXPECT_EQ(decode_attempt(other), std::nullopt) << state;
  }
}

TEST(Attempt, HasOneOrTwoBucketSizes) {
  Attempt attempt = kAttempt;
  attempt.plan.bucket = 160;
  auto coded = encode_attempt(attempt);
  EXPECT_EQ(decode_attempt(coded), attempt);
  EXPECT_EQ(coded[18], std::byte{0});
  coded[16] = std::byte{0};
  EXPECT_EQ(decode_attempt(coded), std::nullopt);
}

TEST(Attempt, AddsTotalsOfSeveralStores) {
  AttemptTotals sum{{{{100, 3}, 2}, {{50, 4}, 1}}, 1, {{1, 0, 0}}};
  sum += {{{{50, 4}, 5}, {{100, 4}, 7}}, 2, {{2, 0, 1}}};
  ASSERT_EQ(sum.units.size(), 3u);
  EXPECT_EQ(sum.units[0].count, 2u);
  EXPECT_EQ(sum.units[1].count, 6u);
  EXPECT_EQ(sum.units[2].plan, (UnitPlan{100, 4}));
  EXPECT_EQ(sum.units[2].count, 7u);
  EXPECT_EQ(sum.outstanding, 3u);
  EXPECT_EQ(sum.risk, (Risk{{3, 0, 1}}));
}

class AttemptTest : public StoreTest {
 protected:
  // The risk of each number is a distinct bit, so that sums are unique.
  static material::BegunUnit unit(std::uint64_t number) {
    return {number, {300 + number, 4}, {{std::uint64_t{1} << number, 0, 0}}};
  }
  static void begin(Store& store, std::uint64_t number) { store.begin_unit(unit(number)); }
  static void finish(Store& store) { add_locked_unit(store, kTestKind, 300); }
  static std::vector<Attempt> log_of(const Store& store) {
    std::vector<Attempt> attempts;
    store.read([&](const ReadTransaction& view) { attempts = view.attempts(); });
    return attempts;
  }
  static Risk sum_of(std::initializer_list<std::uint64_t> numbers) {
    Risk sum;
    for (const std::uint64_t number : numbers) sum += unit(number).risk;
    return sum;
  }
  static void expect_outstanding(const Store& store, std::initializer_list<std::uint64_t> numbers) {
    EXPECT_EQ(store.outstanding(), sum_of(numbers));
    EXPECT_EQ(store.attempts().outstanding, numbers.size());
    EXPECT_EQ(store.attempts().risk, sum_of(numbers));
  }
};

TEST_F(AttemptTest, IsOutstandingUntilUnitIsMade) {
  Store store = make_store(dir_);
  expect_outstanding(store, {});
  begin(store, 0);
  begin(store, 1);
  expect_outstanding(store, {0, 1});
  finish(store);
  expect_outstanding(store, {1});
  finish(store);
  expect_outstanding(store, {});
  const AttemptTotals totals = store.attempts();
  ASSERT_EQ(totals.units.size(), 2u);
  EXPECT_EQ(totals.units[0].plan, unit(1).plan);
  EXPECT_EQ(totals.units[1].plan, unit(0).plan);
}

// Units finish in the order in which they were begun, and keep their risk and size.
TEST_F(AttemptTest, GetsFinalNumberOfUnit) {
  Store store = make_store(dir_);
  for (const std::uint64_t number : {0u, 1u, 2u}) begin(store, number);
  store.withdraw_unit(0);
  finish(store);
  finish(store);
  using enum Attempt::State;
  EXPECT_EQ(log_of(store), std::vector({Attempt{0, unit(0).plan, Withdrawn, unit(0).risk},
                                        Attempt{0, unit(1).plan, Made, unit(1).risk},
                                        Attempt{1, unit(2).plan, Made, unit(2).risk}}));
}

TEST_F(AttemptTest, StaysOutstandingWhenBrokenOff) {
  {
    Store store = make_store(dir_);
    begin(store, 0);
    begin(store, 1);
    finish(store);
  }
  for (const std::uint64_t number : {2u, 3u}) {
    Store store = open_to_make(dir_);
    EXPECT_EQ(store.outstanding(), number == 2 ? sum_of({1}) : sum_of({1, 2}));
    begin(store, number);
  }
  Store store = open_to_make(dir_);
  finish(store);
  expect_outstanding(store, {1, 2, 3});
  EXPECT_EQ(log_of(store).size(), 4u);
}

TEST_F(AttemptTest, IsWithdrawnOnlyByHandleThatBeganIt) {
  {
    Store store = make_store(dir_);
    begin(store, 0);
    begin(store, 1);
    store.withdraw_unit(1);
    EXPECT_THROW(store.withdraw_unit(1), std::logic_error);
    expect_outstanding(store, {0});
  }
  Store store = open_to_make(dir_);
  EXPECT_THROW(store.withdraw_unit(0), std::logic_error);
  expect_outstanding(store, {0});
}

TEST_F(AttemptTest, StaysInLogAfterCutBack) {
  Store store = make_store(dir_);
  for (const std::uint64_t number : {0u, 1u, 2u}) begin(store, number);
  finish(store);
  finish(store);
  for (const std::uint64_t units : {1u, 0u}) {
    store.cut_back(units);
    EXPECT_EQ(log_of(store).size(), 3u);
    expect_outstanding(store, {2});
    // A unit that was generated and not stored costs nothing, and is not counted.
    EXPECT_EQ(store.attempts().units.size(), units);
  }
  finish(store);
  expect_outstanding(store, {});
  ASSERT_EQ(store.attempts().units.size(), 1u);
  EXPECT_EQ(store.attempts().units[0].plan, unit(2).plan) << "the last attempt at a unit counts";
}

TEST_F(AttemptTest, IsNotBegunInRevokedStore) {
  Store store = make_store(dir_);
  begin(store, 0);
  store.revoke("for a test");
  EXPECT_TRUE(mentions(message_of([&] { begin(store, 1); }), "session is revoked"));
  EXPECT_EQ(log_of(store).size(), 1u);
}

// An unreadable entry must not count as zero.
TEST_F(AttemptTest, DetectsMissingAndChangedEntries) {
  const auto refusal_after = [&](const std::string& from, const std::string& to) {
    {
      Store store = make_store(dir_);
      begin(store, 7);
      begin(store, 8);
    }
    EXPECT_GT(replace_in_file(dir_ / "material.mdb", from, to), 0);
    const std::string message = message_of([&] { (void)open_to_make(dir_); });
    std::filesystem::remove_all(dir_);
    return message;
  };
  const auto text = [](const auto& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  using enum Attempt::State;
  const Attempt first{0, unit(7).plan, Pending, unit(7).risk},
      second{1, unit(8).plan, Pending, unit(8).risk};
  const std::string whole = text(encode_attempt(first));
  Attempt changed = first;
  changed.state = Withdrawn;
  EXPECT_TRUE(mentions(refusal_after(whole, text(encode_attempt(changed))), "corrupt (attempt 0)"));
  changed = first;
  changed.risk = {};
  EXPECT_TRUE(mentions(refusal_after(whole, text(encode_attempt(changed))), "corrupt (attempt 0)"));
  EXPECT_TRUE(mentions(refusal_after(text(encode_attempt(second)), whole), "corrupt (attempt 1)"));
  Store store = make_store(dir_);
  begin(store, 7);
  // As if the last entry had not been written.
  store.change("remove an attempt", 0,
               [](WriteTransaction& change) { change.cursors().attempts = 2; });
  EXPECT_TRUE(mentions(message_of([&] { (void)store.attempts(); }), "corrupt (attempt 1)"));
}

}  // namespace
}  // namespace tinyot
