// The memory of layers: how many are in use at a time, and their reuse.
#include "offline/triples/layer_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "base/cause.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace std::chrono_literals;

std::future<TripleLayer> take_later(LayerPool& pool, std::size_t size, std::size_t bucket) {
  return std::async(std::launch::async, [&pool, size, bucket] { return pool.take(size, bucket); });
}

bool is_blocked(const std::future<TripleLayer>& call) {
  return call.wait_for(20ms) == std::future_status::timeout;
}

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
      auto next = take_later(pool, 128, 3);
      EXPECT_TRUE(is_blocked(next)) << units << " units and " << more;
      pool.release(std::move(layers.back()));
      EXPECT_EQ(next.get().x.size(), 128u);
    }
  }
}

TEST(LayerPool, LayerGivenBackWakesOneOfSeveral) {
  LayerPool pool(1, 0);
  std::vector<TripleLayer> layers = taken(pool, 2, 2);
  auto first = take_later(pool, 128, 2), second = take_later(pool, 128, 2);
  EXPECT_TRUE(is_blocked(first));
  EXPECT_TRUE(is_blocked(second));
  pool.release(std::move(layers[0]));
  while (first.wait_for(0ms) != std::future_status::ready &&
         second.wait_for(0ms) != std::future_status::ready)
    std::this_thread::sleep_for(1ms);
  auto& waiting = first.wait_for(0ms) == std::future_status::ready ? second : first;
  EXPECT_TRUE(is_blocked(waiting));
  pool.release(std::move(layers[1]));
  waiting.get();
}

// A unit whose bucket is larger has room for all its layers.
TEST(LayerPool, LimitFollowsTheLargestBucket) {
  LayerPool pool(1, 1, layer_bytes(128));
  std::vector<TripleLayer> layers = taken(pool, 3, 2);  // of buckets of 2 there is room for 3
  for (int i = 0; i < 2; ++i) layers.push_back(pool.take(128, 4));
  auto next = take_later(pool, 128, 2);
  EXPECT_TRUE(is_blocked(next));
  pool.release(std::move(layers.back()));
  next.get();
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
  auto waiting = take_later(pool, 128, 1);
  EXPECT_TRUE(is_blocked(waiting));
  pool.stop();
  EXPECT_THROW(waiting.get(), WorkerStopped);
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
