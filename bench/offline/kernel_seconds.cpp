#include "bench/offline/kernel_seconds.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "base/bit_matrix.h"
#include "crypto/aes.h"
#include "crypto/gf128.h"
#include "crypto/group.h"
#include "crypto/random_oracle.h"
#include "crypto/rng.h"
#include "net/channel.h"
#include "offline/nnob12/buckets.h"
#include "system/clock.h"

namespace tinyot::bench {
namespace {

using namespace crypto;
using namespace net;
using namespace offline;

constexpr int kSlices = 10;
constexpr double kSliceSeconds = 0.02;
constexpr std::size_t kSpanBlocks = 1024, kSpans = 64;
constexpr std::size_t kColumns = 4096;

// Seconds per call of `work`. The clock is read after each call, so a call should take tens of
// microseconds.
template <class Work>
double seconds_of(Work work) {
  work();
  double least = std::numeric_limits<double>::infinity();
  for (int slice = 0; slice < kSlices; ++slice) {
    const double begin = system::thread_cpu_seconds();
    double taken = 0;
    int calls = 0;
    for (; taken < kSliceSeconds; ++calls) {
      work();
      taken = system::thread_cpu_seconds() - begin;
    }
    least = std::min(least, taken / calls);
  }
  return least;
}

// Calls `kernel` on the spans of 1 MB of blocks. Returns seconds per block.
template <class Kernel>
double seconds_of_block(Kernel kernel) {
  SecretVector<Block> blocks(kSpanBlocks * kSpans);
  Rng(Seed{{1, 2}}).fill_blocks(std::span(blocks));
  const double seconds = seconds_of([&] {
    for (std::size_t span = 0; span < kSpans; ++span)
      kernel(std::span(blocks).subspan(span * kSpanBlocks, kSpanBlocks));
    benchmark::DoNotOptimize(blocks.data());
    benchmark::ClobberMemory();
  });
  return seconds / static_cast<double>(blocks.size());
}

BitMatrix random_matrix(std::size_t rows, std::size_t columns) {
  BitMatrix matrix(rows, columns);
  Rng(Seed{{rows, columns}}).fill(std::as_writable_bytes(matrix.words()));
  return matrix;
}

double measured_amplification(std::size_t tau) {
  const BitMatrix rows = random_matrix(tau, kColumns);
  const LeftFactor left(random_matrix(kKappa, tau));
  BitMatrix product(kKappa, kColumns);
  return seconds_of([&] {
           left.multiply(rows, product);
           benchmark::DoNotOptimize(product.words().data());
           benchmark::ClobberMemory();
         }) /
         kColumns;
}

double measured_transposition() {
  const BitMatrix matrix = random_matrix(kKappa, kColumns);
  std::vector<Block> blocks(kColumns);
  return seconds_of([&] {
           transpose_to_blocks(matrix, blocks);
           benchmark::DoNotOptimize(blocks.data());
           benchmark::ClobberMemory();
         }) /
         kColumns;
}

double measured_row_hash() {
  constexpr int kRows = 256;
  const std::vector<Block> a(kColumns / 128, Block{1, 2}), b(kColumns / 128, Block{3, 4});
  WideBlock sum{};
  return seconds_of([&] {
           for (int row = 0; row < kRows; ++row) {
             add_products(a, b, sum);
             benchmark::DoNotOptimize(sum);
           }
         }) /
         (kRows * (kColumns / 8.0));
}

double measured_gather(std::size_t blocks) {
  constexpr std::size_t kAhead = 3 * kFetchAhead;
  Rng rng(Seed{{3, blocks}});
  SecretVector<Block> values(blocks);
  rng.fill_blocks(std::span(values));
  std::vector<std::uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = blocks; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return seconds_of([&] {
           Block sum{0, 0};
           for (std::size_t i = 0; i < blocks; ++i) {
             if (i + kAhead < blocks) fetch(values[order[i + kAhead]]);
             sum ^= values[order[i]];
           }
           benchmark::DoNotOptimize(sum);
         }) /
         static_cast<double>(blocks);
}

double measured_stream() {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  constexpr MessageTag kMessage{0x7F02, "bench.message"};
  MemoryStreams streams = make_memory_streams();
  const auto from = make_framed_channel(std::move(streams.a)),
             to = make_framed_channel(std::move(streams.b));
  std::vector<std::byte> sent(kBytes), received(kBytes);
  return seconds_of([&] {
           from->send(kMessage, sent);
           to->recv(kMessage, received);
         }) /
         kBytes;
}

// Seconds per operation of the group.
template <class Operation>
double seconds_in_group(Operation operation) {
  Rng rng(Seed{{5, 6}});
  const Scalar scalar = random_scalar(rng);
  const Point point = random_point(rng);
  return seconds_of([&] { benchmark::DoNotOptimize(operation(scalar, point)); });
}

// Each value is measured once.
template <class Measure>
double remembered(std::map<std::size_t, double>& values, std::size_t key, Measure measure) {
  const auto found = values.find(key);
  return found != values.end() ? found->second : values[key] = measure(key);
}

}  // namespace

double prg_seconds() {
  const AesKey key = expand_key({1, 2});
  static const double kSeconds = seconds_of_block([&](std::span<Block> span) {
                                   ctr_xor(key, {0, 0}, span);
                                 }) /
                                 sizeof(Block);
  return kSeconds;
}

double hash_seconds() {
  const AesKey key = expand_key({1, 2});
  static const double kSeconds = seconds_of_block([&](std::span<Block> span) {
    tweaked_hash(key, {0, 1}, span, span);
  });
  return kSeconds;
}

double amplification_seconds(std::size_t tau) {
  static std::map<std::size_t, double> seconds;
  return remembered(seconds, tau, measured_amplification);
}

double transposition_seconds() {
  static const double kSeconds = measured_transposition();
  return kSeconds;
}

double row_hash_seconds() {
  static const double kSeconds = measured_row_hash();
  return kSeconds;
}

double digest_seconds() {
  RandomOracle oracle({}, {crypto::Phase::unregistered("bench"), '*', 0});
  static const double kSeconds =
      seconds_of_block([&](std::span<const Block> span) { oracle.absorb(std::as_bytes(span)); }) /
      sizeof(Block);
  return kSeconds;
}

double gather_seconds(std::size_t blocks) {
  static std::map<std::size_t, double> seconds;
  return remembered(seconds, blocks, measured_gather);
}

double stream_seconds() {
  static const double kSeconds = measured_stream();
  return kSeconds;
}

double times_base_seconds() {
  static const double kSeconds =
      seconds_in_group([](const Scalar& scalar, const Point&) { return times_base(scalar); });
  return kSeconds;
}

double times_seconds() {
  static const double kSeconds = seconds_in_group(
      [](const Scalar& scalar, const Point& point) { return times(scalar, point); });
  return kSeconds;
}

double hash_to_group_seconds() {
  static const double kSeconds = seconds_in_group([](const Scalar& scalar, const Point& point) {
    std::array<std::uint8_t, 64> uniform;
    std::copy(scalar.bytes.begin(), scalar.bytes.end(), uniform.begin());
    std::copy(point.bytes.begin(), point.bytes.end(), uniform.begin() + 32);
    return hash_to_group(std::span<const std::uint8_t, 64>(uniform));
  });
  return kSeconds;
}

}  // namespace tinyot::bench
