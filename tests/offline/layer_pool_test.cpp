// The memory of layers: how many are in use at a time, and their reuse.
#include "offline/triples/layer_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "base/cause.h"
#include "tests/support/becomes_true.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using test::BlockedThread;

std::vector<TripleLayer> taken(LayerPool& pool, std::size_t count, std::size_t bucket) {
  std::vector<TripleLayer> layers;
  for (std::size_t i = 0; i < count; ++i) layers.push_back(pool.take(128, bucket));
  return layers;
}

TEST(LayerPool, HasAllLayersOfSomeUnitsAndMore) {
  for (const std::size_t units : {1u, 2u}) {
    for (const std::size_t more : {0u, 1u, 2u}) {
      LayerPool pool(units, more, more * layer_bytes(128));
      std::vector<TripleLayer> layers = taken(pool, 3 * units + more, 3);
      SCOPED_TRACE(std::to_string(units) + " units and " + std::to_string(more));
      BlockedThread next([&] { EXPECT_EQ(pool.take(128, 3).x.size(), 128u); });
      pool.release(std::move(layers.back()));
    }
  }
}

TEST(LayerPool, LayerGivenBackWakesOneOfSeveral) {
  LayerPool pool(1, 0);
  std::vector<TripleLayer> layers = taken(pool, 2, 2);
  std::atomic<int> served = 0;
  const auto take = [&] {
    pool.take(128, 2);
    ++served;
    served.notify_all();
  };
  BlockedThread first(take), second(take);
  pool.release(std::move(layers[0]));
  served.wait(0);
  EXPECT_TRUE(test::becomes_true([&] { return first.has_ended() || second.has_ended(); }));
  const BlockedThread& waiting = first.has_ended() ? second : first;
  EXPECT_TRUE(test::becomes_true([&] { return waiting.is_asleep(); }));
  EXPECT_EQ(served, 1);
  pool.release(std::move(layers[1]));
}

// A unit whose bucket is larger has room for all its layers.
TEST(LayerPool, LimitFollowsTheLargestBucket) {
  LayerPool pool(1, 1, layer_bytes(128));
  std::vector<TripleLayer> layers = taken(pool, 3, 2);  // of buckets of 2 there is room for 3
  for (int i = 0; i < 2; ++i) layers.push_back(pool.take(128, 4));
  BlockedThread next([&] { pool.take(128, 2); });
  pool.release(std::move(layers.back()));
}

TEST(LayerPool, ReusesMemoryAndMakesItOfTheWantedSize) {
  LayerPool pool(1, 0);
  TripleLayer layer = pool.take(256, 1);
  const Mac* const macs = layer.x.mine.macs.data();
  pool.release(std::move(layer));
  layer = pool.take(256, 1);
  EXPECT_EQ(layer.x.mine.macs.data(), macs);
  for (const std::size_t size : {384u, 128u, 1u, 129u}) {
    pool.release(std::move(layer));
    layer = pool.take(size, 1);
    for (const SharedColumn* column : {&layer.x, &layer.y, &layer.z}) {
      EXPECT_EQ(column->size(), size);
      EXPECT_EQ(column->mine.macs.size(), size);
      EXPECT_EQ(column->mine.bits.size(), size);
    }
  }
}

TEST(LayerPool, FailureStopsWaitingAndLaterCalls) {
  LayerPool pool(1, 0);
  std::vector<TripleLayer> layers = taken(pool, 1, 1);
  BlockedThread waiting([&] { EXPECT_THROW(pool.take(128, 1), WorkerStopped); });
  pool.stop();
  waiting.join();
  pool.release(std::move(layers[0]));
  EXPECT_THROW(pool.take(128, 1), WorkerStopped);
}

TEST(LayerPool, ServesManyThreads) {
  constexpr std::size_t kThreads = 4, kUnits = 50, kBucket = 3;
  LayerPool pool(1, kThreads - 1, (kThreads - 1) * layer_bytes(128));
  std::atomic<int> in_use = 0, most = 0;
  {
    std::mutex bulk;  // one unit at a time takes layers
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        for (std::size_t unit = 0; unit < kUnits; ++unit) {
          std::vector<TripleLayer> layers;
          {
            const std::lock_guard lock(bulk);
            for (std::size_t i = 0; i < kBucket; ++i) {
              layers.push_back(pool.take(128, kBucket));
              const int now = ++in_use;
              for (int seen = most; seen < now;) most.compare_exchange_weak(seen, now);
            }
          }
          for (; !layers.empty(); layers.pop_back()) {
            --in_use;
            pool.release(std::move(layers.back()));
          }
        }
      });
    }
  }
  EXPECT_EQ(in_use, 0);
  EXPECT_LE(most, static_cast<int>(kBucket + kThreads - 1));
}

}  // namespace
}  // namespace tinyot
