// Measures the speed of pouring and drawing, on demand: storage_test
// --gtest_also_run_disabled_tests --gtest_filter='*Speed*'
#include <chrono>
#include <cstdio>

#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

TEST_F(StoreOnDiskTest, DISABLED_SpeedOfPourAndDraw) {
  constexpr std::size_t kUnit = std::size_t{1} << 18, kUnits = 56;
  const MaterialKind kinds[] = {MaterialKind::AuthAndsA, MaterialKind::AuthAndsB,
                                MaterialKind::AuthOtsAB};
  const auto seconds_of = [](const auto& body) {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Store store = Store::create(dir_, test_manifest(Party::A), kTestDelta, std::uint64_t{3} << 30);
  double pouring = 0;
  for (std::size_t unit = 0; unit < kUnits; ++unit) {
    std::vector<material::Batch> batches;
    for (const MaterialKind kind : kinds)
      batches.push_back(test_batch(kind, Party::A, unit * kUnit, kUnit));
    pouring += seconds_of([&] {
      for (material::Batch& batch : batches) store.pour(std::move(batch));
      store.finish_unit();
    });
  }
  double megabytes = 0;
  for (const MaterialKind kind : kinds)
    megabytes += static_cast<double>(store.bytes_of(kind)) / 1e6;
  unlock_all(store);
  const double drawing = seconds_of([&] {
    Reservation reservation = store.reserve({}, store.made());
    for (std::size_t drawn = 0; drawn < kUnit * kUnits; drawn += kUnit / 8)
      for (const MaterialKind kind : kinds)
        ASSERT_EQ(reservation.draw(kind, kUnit / 8).count, kUnit / 8);
  });
  std::printf("%.0f MB: pour %.0f MB/s, draw %.0f MB/s\n", megabytes, megabytes / pouring,
              megabytes / drawing);
}

}  // namespace
}  // namespace tinyot
