// Ranges: granting and taking, their order, and cutting batches at their ends.
#include "storage/record.h"
#include "tests/storage/process_support.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr MaterialKind kGranted = MaterialKind::AuthOtsAB;

Grant offer(std::uint64_t start, std::uint64_t end, std::uint64_t plan = 0) {
  return {{counts_of(kGranted, start), counts_of(kGranted, end)}, plan, {}};
}

class GrantTest : public StoreTest {
 protected:
  GrantTest() : store_(make_store(dir_, Party::B)) { add_unit(store_, kGranted, 1000); }

  std::uint64_t burnt() const { return store_.burnt()[kGranted]; }
  // Takes a range and checks its objects.
  ::testing::AssertionResult takes(std::uint64_t start, std::uint64_t end) {
    Reservation reservation = store_.hold(store_.take(offer(start, end), {}));
    return draws(reservation, kGranted, Party::B, start, end - start);
  }
  std::string disagreement(std::uint64_t start, std::uint64_t end) {
    return message_of<Disagreement>([&] { store_.take(offer(start, end), {}); });
  }

  Store store_;
};

TEST_F(GrantTest, RangesAreConsecutive) {
  for (std::uint64_t start = 0; start < 1000; start += 125) {
    const Grant granted = store_.grant({.counts = counts_of(kGranted, 125), .at_least = {}});
    EXPECT_EQ(granted.range, (Range{counts_of(kGranted, start), counts_of(kGranted, start + 125)}));
    EXPECT_EQ(granted.burnt, MaterialCounts{});
    EXPECT_EQ(granted.plan, 0u);
    Reservation reservation = store_.hold(granted);
    EXPECT_TRUE(draws(reservation, kGranted, Party::B, start, 125));
  }
  EXPECT_THROW(store_.grant({.counts = counts_of(kGranted, 1), .at_least = {}}), OutOfMaterial);
}

TEST_F(GrantTest, HigherPositionOfPeerBurns) {
  const Grant granted =
      store_.grant({.counts = counts_of(kGranted, 100), .at_least = counts_of(kGranted, 333)});
  EXPECT_EQ(granted.range, (Range{counts_of(kGranted, 333), counts_of(kGranted, 433)}));
  EXPECT_EQ(granted.burnt, counts_of(kGranted, 333));
  EXPECT_EQ(burnt(), 333u);
  EXPECT_EQ(store_.cursors().confirmed, counts_of(kGranted, 333));
  Reservation reservation = store_.hold(granted);
  EXPECT_TRUE(draws(reservation, kGranted, Party::B, 333, 100));
  reservation.finish();
  // The peer has taken the same range.
  EXPECT_EQ(store_.cursors().confirmed, counts_of(kGranted, 433));
  EXPECT_TRUE(store_.cursors().gaps.empty()) << "the granting party has no gaps";
}

TEST_F(GrantTest, RangesOutOfOrderLeaveGaps) {
  EXPECT_TRUE(takes(300, 400));
  EXPECT_EQ(burnt(), 300u);
  EXPECT_EQ(store_.cursors().gaps, (std::vector<Gap>{{kGranted, 0, 300}}));
  EXPECT_TRUE(takes(600, 601));
  EXPECT_TRUE(takes(100, 200));
  EXPECT_TRUE(takes(0, 100));
  EXPECT_EQ(burnt(), 300u);
  EXPECT_TRUE(takes(200, 300));
  EXPECT_TRUE(takes(400, 600));
  EXPECT_EQ(burnt(), 0u);
  EXPECT_TRUE(store_.cursors().gaps.empty());
  EXPECT_EQ(store_.served(), counts_of(kGranted, 601));
  EXPECT_TRUE(takes(601, 1000));
}

TEST_F(GrantTest, RejectsServedRange) {
  ASSERT_TRUE(takes(0, 250));
  ASSERT_TRUE(takes(500, 600));
  const MaterialCursors before = store_.cursors();
  const std::pair<int, int> ranges[] = {{0, 250},   {0, 1},     {249, 250}, {100, 200}, {200, 300},
                                        {249, 251}, {450, 501}, {500, 600}, {599, 601}, {0, 1000}};
  for (const auto& [start, end] : ranges) {
    const std::string message =
        disagreement(static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end));
    EXPECT_TRUE(
        mentions(message, "auth_ots_ab " + std::to_string(start) + ".." + std::to_string(end - 1)))
        << message;
    EXPECT_TRUE(mentions(message, "has already served (up to 600)"));
  }
  EXPECT_EQ(store_.cursors(), before);
  EXPECT_TRUE(takes(250, 500));
}

TEST_F(GrantTest, RejectsHeldAndPlannedRanges) {
  Reservation held = store_.hold(store_.take(offer(0, 100), {}));
  (void)store_.take(offer(100, 200, 5), {});
  // The ends are inside batches whose keys are erased, or reserved for the plan.
  for (const auto& [start, end] : {std::pair(0, 100), std::pair(30, 70), std::pair(50, 150),
                                   std::pair(130, 170), std::pair(199, 201)})
    EXPECT_NE(disagreement(static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end)), "")
        << start;
  EXPECT_TRUE(draws(held, kGranted, Party::B, 0, 100));
  Reservation planned = store_.claim(5);
  EXPECT_TRUE(draws(planned, kGranted, Party::B, 100, 100));
}

TEST_F(GrantTest, ReopeningClearsGaps) {
  ASSERT_TRUE(takes(300, 400));
  store_ = [&] {
    { const Store gone = std::move(store_); }
    return open_to_make(dir_);
  }();
  EXPECT_TRUE(store_.cursors().gaps.empty());
  EXPECT_EQ(burnt(), 300u);
  EXPECT_NE(disagreement(0, 100), "");
  EXPECT_TRUE(takes(400, 500));
}

TEST_F(GrantTest, DiscardsOldestGapAtLimit) {
  for (std::uint64_t i = 0; i <= MaterialCursors::kGapsMax; ++i)
    (void)store_.take(offer(3 * i + 2, 3 * i + 3), {});
  EXPECT_EQ(store_.cursors().gaps.size(), MaterialCursors::kGapsMax);
  EXPECT_NE(disagreement(0, 1), "");
  EXPECT_TRUE(takes(3, 4));
  EXPECT_TRUE(takes(4, 5));
  (void)store_.take(offer(900, 903), {});
  ASSERT_EQ(store_.cursors().gaps.size(), MaterialCursors::kGapsMax);
  // One gap becomes two.
  EXPECT_TRUE(takes(850, 851));
  EXPECT_EQ(store_.cursors().gaps.size(), MaterialCursors::kGapsMax);
  EXPECT_TRUE(takes(860, 900));
  EXPECT_TRUE(takes(903, 1000));
}

TEST_F(GrantTest, PlanSurvivesReopeningAndIsClaimedOnce) {
  const Grant first =
      store_.grant({.counts = counts_of(kGranted, 100), .at_least = {}, .is_plan = true});
  const Grant second =
      store_.grant({.counts = counts_of(kGranted, 33), .at_least = {}, .is_plan = true});
  EXPECT_EQ(first.plan, 1u);
  EXPECT_EQ(second.plan, 2u);
  EXPECT_THROW(store_.hold(first), std::logic_error);
  ASSERT_TRUE(takes(133, 200));
  { const Store gone = std::move(store_); }
  {
    Store store = Store::open(dir_);
    EXPECT_EQ(store.cursors().planned,
              (std::vector<PlannedReservation>{{1, first.range}, {2, second.range}}));
    Reservation reservation = store.claim(2);
    EXPECT_EQ(reservation.range(), second.range);
    EXPECT_TRUE(draws(reservation, kGranted, Party::B, 100, 33));
    EXPECT_TRUE(mentions(message_of([&] { store.claim(2); }), "holds no reservation 2;"));
    EXPECT_TRUE(mentions(message_of([&] { store.claim(3); }), "holds no reservation 3;"));
    EXPECT_EQ(remedy_of([&] { store.claim(3); }), Remedy::ListReservations);
  }
  // A claim of a process that is killed is spent as well.
  ASSERT_TRUE(was_killed(status_of_child([&] {
    Store store = Store::open(dir_);
    Reservation reservation = store.claim(1);
    kill_this_process();
  })));
  store_ = open_to_make(dir_);
  EXPECT_TRUE(store_.cursors().planned.empty());
  EXPECT_TRUE(mentions(message_of([&] { store_.claim(1); }), "holds no reservation 1;"));
  EXPECT_EQ(store_.bytes_of(kGranted), material::bytes_of(kGranted, Party::B, 800))
      << "claimed batches are dropped";
  EXPECT_TRUE(takes(200, 1000));
}

TEST_F(StoreTest, CuttingBatchesAtBothEndsKeepsEveryObject) {
  constexpr std::uint64_t kCounts[] = {1, 63, 64, 65, 127, 1, 2, 1023, 5000, 129};
  for (const Party me : {Party::A, Party::B}) {
    Store store = make_store(root_ / std::string(1, letter(me)), me);
    MaterialCounts total;
    for (int unit = 0; unit < 2; ++unit) {
      for (const MaterialKind kind : kAllMaterialKinds) {
        const std::size_t count = material::full_batch(kind) + 321;
        store.pour(test_batch(kind, me, total[kind], count));
        total[kind] += count;
      }
      store.finish_unit();
    }
    unlock_all(store);
    MaterialCounts drawn;
    for (std::size_t round = 0; store.left() != MaterialCounts{}; ++round) {
      MaterialCounts counts;
      for (const MaterialKind kind : kAllMaterialKinds)
        counts[kind] =
            std::min(store.left()[kind],
                     kCounts[(round + static_cast<std::size_t>(kind)) % std::size(kCounts)]);
      Reservation reservation = store.reserve({}, counts);
      for (const MaterialKind kind : kAllMaterialKinds) {
        const std::uint64_t odd = counts[kind] / 3;
        ASSERT_TRUE(draws(reservation, kind, me, drawn[kind], odd));
        ASSERT_TRUE(draws(reservation, kind, me, drawn[kind] + odd, counts[kind] - odd));
        drawn[kind] += counts[kind];
      }
    }
    EXPECT_EQ(drawn, total);
    for (const MaterialKind kind : kAllMaterialKinds) EXPECT_EQ(store.bytes_of(kind), 0u);
    EXPECT_LT(store.cursors().slots_to_erase.size(), 2 * kMaterialKinds)
        << "keys of batches that were cut leave the list";
  }
}

}  // namespace
}  // namespace tinyot
