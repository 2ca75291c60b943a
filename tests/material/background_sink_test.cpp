// material::BackgroundSink: order, blocking, and failures of the sink behind it.
#include "material/background_sink.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/storage/store_support.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

// Records its calls: the count of a batch, or kFinished. Blocks while it is closed.
class RecordingSink : public material::Sink {
 public:
  static constexpr std::size_t kFinished = static_cast<std::size_t>(-1);

  void pour(material::Batch batch) override { record(batch.count); }
  void finish_unit() override { record(kFinished); }

  void close() { set_open(false); }
  void open() { set_open(true); }
  // Number of the step that fails, from 0.
  void fail_at(std::size_t step) { failing_ = step; }

  // Recorded steps, including the failed one.
  std::vector<std::size_t> steps() {
    const std::lock_guard lock(mutex_);
    return steps_;
  }

 private:
  void record(std::size_t step) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
    steps_.push_back(step);
    if (steps_.size() == failing_ + 1) throw StoreError("the disk is full");
  }
  void set_open(bool open) {
    {
      const std::lock_guard lock(mutex_);
      open_ = open;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  std::size_t failing_ = kFinished - 1;
  std::vector<std::size_t> steps_;
};

material::Batch bits(std::size_t count) {
  return material::Batch(MaterialKind::AuthBitsA, Party::A, count);
}

// Units of 1, 2, 3, ... batches with different counts.
std::vector<std::size_t> steps_of_units(std::size_t units) {
  std::vector<std::size_t> steps;
  std::size_t count = 1;
  for (std::size_t unit = 0; unit < units; ++unit) {
    for (std::size_t i = 0; i <= unit; ++i) steps.push_back(count++);
    steps.push_back(RecordingSink::kFinished);
  }
  return steps;
}

// One unit of several batches.
const std::vector<std::size_t> kUnit = {1, 2, 3, 4, RecordingSink::kFinished};

void take(material::Sink& sink, std::size_t step) {
  if (step == RecordingSink::kFinished)
    sink.finish_unit();
  else
    sink.pour(bits(step));
}

TEST(BackgroundSink, KeepsOrderOfPoursAndFinishes) {
  RecordingSink sink;
  material::BackgroundSink background(sink);
  const auto steps = steps_of_units(20);
  for (const std::size_t step : steps) take(background, step);
  background.flush();
  EXPECT_EQ(sink.steps(), steps);
}

TEST(BackgroundSink, PassesMaterialUnchanged) {
  class Keeping : public material::Sink {
   public:
    void pour(material::Batch batch) override { kept.push_back(std::move(batch)); }
    void finish_unit() override {}
    std::vector<material::Batch> kept;
  } sink;
  {
    material::BackgroundSink background(sink);
    for (const MaterialKind kind : kAllMaterialKinds)
      background.pour(test_batch(kind, Party::B, 5, 100));
  }
  ASSERT_EQ(sink.kept.size(), kMaterialKinds);
  for (std::size_t i = 0; i < kMaterialKinds; ++i)
    EXPECT_TRUE(holds(std::move(sink.kept[i]), kAllMaterialKinds[i], Party::B, 5, 100));
}

TEST(BackgroundSink, PourDoesNotWaitForSink) {
  RecordingSink sink;
  sink.close();
  material::BackgroundSink background(sink);
  for (const std::size_t step : kUnit) take(background, step);
  EXPECT_TRUE(sink.steps().empty());
  sink.open();
  background.flush();
  EXPECT_EQ(sink.steps(), kUnit);
}

TEST(BackgroundSink, NextUnitWaitsUntilPreviousIsWritten) {
  RecordingSink sink;
  sink.close();
  material::BackgroundSink background(sink);
  for (const std::size_t step : kUnit) take(background, step);
  test::BlockedThread thread([&] { background.pour(bits(9)); });
  sink.open();
  thread.join();
  background.flush();
  EXPECT_EQ(sink.steps().back(), 9u);
}

TEST(BackgroundSink, FlushReturnsAfterLastStep) {
  RecordingSink sink;
  material::BackgroundSink background(sink);
  background.flush();
  std::vector<std::size_t> poured;
  for (std::size_t count = 1; count <= 50; ++count) {
    background.pour(bits(count));
    poured.push_back(count);
    background.flush();
    EXPECT_EQ(sink.steps(), poured);
    background.flush();
  }
  sink.close();
  background.finish_unit();
  test::BlockedThread thread([&] { background.flush(); });
  sink.open();
  thread.join();
  poured.push_back(RecordingSink::kFinished);
  EXPECT_EQ(sink.steps(), poured);
}

TEST(BackgroundSink, DestructorWritesQueue) {
  RecordingSink sink;
  sink.close();
  {
    auto background = std::make_unique<material::BackgroundSink>(sink);
    for (const std::size_t step : kUnit) take(*background, step);
    test::BlockedThread destroying([&] { background.reset(); });
    sink.open();
  }
  EXPECT_EQ(sink.steps(), kUnit);
}

TEST(BackgroundSink, EveryCallAfterFailureRethrowsIt) {
  const auto steps = steps_of_units(3);
  for (std::size_t failing = 0; failing < steps.size(); ++failing) {
    SCOPED_TRACE(failing);
    RecordingSink sink;
    sink.fail_at(failing);
    {
      material::BackgroundSink background(sink);
      for (std::size_t i = 0; i <= failing; ++i) take(background, steps[i]);
      EXPECT_EQ(message_of([&] { background.flush(); }), "the disk is full");
      EXPECT_EQ(message_of([&] { background.pour(bits(77)); }), "the disk is full");
      EXPECT_EQ(message_of([&] { background.finish_unit(); }), "the disk is full");
      EXPECT_EQ(message_of([&] { background.flush(); }), "the disk is full");
    }
    EXPECT_EQ(sink.steps(),
              std::vector(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(failing) + 1));
  }
}

TEST(BackgroundSink, QueueAfterFailureIsNotPoured) {
  const auto& steps = kUnit;
  for (const std::size_t failing : {0u, 1u, 4u}) {
    RecordingSink sink;
    sink.fail_at(failing);
    sink.close();
    {
      material::BackgroundSink background(sink);
      for (const std::size_t step : steps) take(background, step);
      sink.open();
      EXPECT_EQ(message_of([&] { background.flush(); }), "the disk is full");
    }
    EXPECT_EQ(sink.steps(), std::vector(steps.begin(), steps.begin() + failing + 1));
  }
}

TEST(BackgroundSink, DestructorIgnoresUnreportedFailure) {
  RecordingSink sink;
  sink.fail_at(2);
  {
    material::BackgroundSink background(sink);
    for (std::size_t count = 1; count <= 3; ++count) background.pour(bits(count));
  }
  EXPECT_EQ(sink.steps(), (std::vector<std::size_t>{1, 2, 3}));
}

// A sink that completes a pour only when the queue is full. The thread that constructs it pours.
class SlowSink : public material::Sink {
 public:
  static constexpr std::size_t kBatch = std::size_t{1} << 19;  // aBits
  static constexpr std::uint64_t kBatchBytes = kBatch * sizeof(Block) + kBatch / 8;
  // Queued batches at most.
  static constexpr std::uint64_t kBatchesMax =
      material::BackgroundSink::kWaitingBytesMax / kBatchBytes;

  explicit SlowSink(std::uint64_t batches) : batches_(batches) {}

  void pour(material::Batch) override {
    std::unique_lock lock(mutex_);
    const std::uint64_t most = done_ + kBatchesMax;
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      return taken_ >= std::min(batches_, most);
    })) << "blocked too early";
    // The pouring thread goes on, if it is not blocked.
    while (taken_ <= most && !test::is_asleep(pouring_))
      changed_.wait_for(lock, std::chrono::milliseconds(1));
    EXPECT_LE(taken_, most) << "more than " << material::BackgroundSink::kWaitingBytesMax
                            << " bytes and a batch are queued";
    if (fails_) throw StoreError("the disk is full");
    ++done_;
  }
  void finish_unit() override {}

  void taken() {
    {
      const std::lock_guard lock(mutex_);
      ++taken_;
    }
    changed_.notify_all();
  }
  void fail() { fails_ = true; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  const pid_t pouring_ = ::gettid();
  const std::uint64_t batches_;
  std::uint64_t taken_ = 0, done_ = 0;
  std::atomic<bool> fails_ = false;
};

TEST(BackgroundSink, PourBlocksAtQueueLimit) {
  constexpr std::uint64_t kBatches = SlowSink::kBatchesMax + 8;
  SlowSink sink(kBatches);
  material::BackgroundSink background(sink);
  for (std::uint64_t i = 0; i < kBatches; ++i) {
    background.pour(bits(SlowSink::kBatch));
    sink.taken();
  }
  background.flush();
}

TEST(BackgroundSink, FailureWakesBlockedPour) {
  SlowSink sink(SlowSink::kBatchesMax);
  sink.fail();
  material::BackgroundSink background(sink);
  std::uint64_t taken = 0;
  const std::string message = message_of([&] {
    for (; taken < 2 * SlowSink::kBatchesMax; ++taken) {
      background.pour(bits(SlowSink::kBatch));
      sink.taken();
    }
  });
  EXPECT_EQ(message, "the disk is full");
  EXPECT_EQ(taken, SlowSink::kBatchesMax);
}

TEST(BackgroundSink, AcceptsBatchLargerThanLimit) {
  RecordingSink sink;
  material::BackgroundSink background(sink);
  constexpr std::size_t kLarge = material::BackgroundSink::kWaitingBytesMax / sizeof(Block) + 1;
  for (int i = 0; i < 2; ++i) background.pour(bits(kLarge));
  background.finish_unit();
  background.flush();
  EXPECT_EQ(sink.steps(), (std::vector<std::size_t>{kLarge, kLarge, RecordingSink::kFinished}));
}

TEST(BackgroundSink, CostGrowsWithWorkOfSink) {
  class Working : public material::Sink {
   public:
    void pour(material::Batch) override {
      for (std::uint64_t i = 0; i < 3000000; ++i) sum_ = sum_ * 3 + i;
    }
    void finish_unit() override {}

   private:
    volatile std::uint64_t sum_ = 0;
  } sink;
  material::BackgroundSink background(sink);
  auto before = background.cost();
  EXPECT_EQ(before.wall_s, 0);
  for (int i = 0; i < 3; ++i) {
    background.pour(bits(1));
    background.flush();
    const auto after = background.cost();
    EXPECT_GT(after.wall_s, before.wall_s);
    EXPECT_GT(after.cpu_s, before.cpu_s);
    before = after;
  }
}

class BackgroundStore : public StoreTest {};

TEST_F(BackgroundStore, HoldsAllPouredMaterial) {
  constexpr std::size_t kUnits = 5;
  MaterialCounts total;
  Store store = make_store(dir_);
  {
    material::BackgroundSink background(store);
    for (std::size_t unit = 1; unit <= kUnits; ++unit) {
      for (const MaterialKind kind : kAllMaterialKinds) {
        for (const std::size_t count : {1u, 64u, 1000u}) {
          background.pour(test_batch(kind, Party::A, total[kind], count * unit));
          total[kind] += count * unit;
        }
      }
      background.finish_unit();
    }
    background.flush();
    EXPECT_EQ(store.made(), total);
    EXPECT_EQ(store.manifest().units_made, kUnits);
  }
  unlock_all(store);
  Reservation reservation = store.reserve(store.served(), total);
  for (const MaterialKind kind : kAllMaterialKinds)
    EXPECT_TRUE(holds(reservation.draw(kind, total[kind]), kind, Party::A, 0, total[kind]));
}

TEST_F(BackgroundStore, UnfinishedUnitDoesNotCount) {
  const MaterialKind kind = MaterialKind::Triples;
  {
    Store store = make_store(dir_);
    material::BackgroundSink background(store);
    background.pour(test_batch(kind, Party::A, 0, 500));
    background.finish_unit();
    background.pour(test_batch(kind, Party::A, 500, 300));
  }
  EXPECT_EQ(Store::open(dir_).made(), counts_of(kind, 500));
}

TEST_F(BackgroundStore, FlushReportsRevokedStore) {
  Store store = make_store(dir_);
  store.revoke("the peer cheated");
  material::BackgroundSink background(store);
  background.pour(test_batch(MaterialKind::AuthBitsA, Party::A, 0, 10));
  EXPECT_TRUE(mentions(message_of([&] { background.flush(); }), "the peer cheated"));
  EXPECT_TRUE(mentions(message_of([&] { background.finish_unit(); }), "the peer cheated"));
}

}  // namespace
}  // namespace tinyot
