// The speed of a store: pouring, drawing and verifying triples, compared with writing the same
// number of plain bytes to the same disk, and with sealing them.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "storage/record.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "system/file.h"

namespace tinyot {
namespace {

using namespace crypto;
using namespace storage;

namespace fs = std::filesystem;

constexpr MaterialKind kKind = MaterialKind::Triples;

fs::path store_path() { return fs::current_path() / ("store_bench." + std::to_string(::getpid())); }

Manifest manifest() {
  Manifest manifest;
  manifest.me = Party::A;
  manifest.profile = "fast";
  manifest.material = "triples";
  manifest.sigma = 40;
  manifest.bucket = 3;
  manifest.unit = std::uint64_t{1} << 20;
  return manifest;
}

std::uint64_t bytes_of_objects(std::uint64_t count) {
  return material::bytes_of(kKind, Party::A, count);
}

Store store_with(std::uint64_t count) {
  fs::remove_all(store_path());
  Store store =
      Store::create(store_path(), manifest(), Delta{Block{1, 2}}, bytes_of_objects(count));
  const std::size_t full = material::full_batch(kKind);
  for (std::uint64_t done = 0; done < count; done += full)
    store.pour(material::Batch(kKind, Party::A, std::min<std::uint64_t>(full, count - done)));
  store.finish_unit();
  store.unlock(0, 1, store.halves(0, 1));
  return store;
}

void report(benchmark::State& state, std::uint64_t count) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(count));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(bytes_of_objects(count)));
  fs::remove_all(store_path());
}

void disk_write_and_sync(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  const std::vector<std::byte> piece(std::size_t{1} << 22, std::byte{0x5a});
  for (auto _ : state) {
    const system::File file(store_path(), O_WRONLY | O_CREAT | O_TRUNC);
    for (std::uint64_t at = 0; at < bytes_of_objects(count); at += piece.size())
      file.write_at(at, piece);
    file.sync();
  }
  report(state, count);
}

void seal_records(benchmark::State& state) {
  std::vector<std::byte> plain(material::bytes_of(kKind, Party::A, material::full_batch(kKind))),
      sealed(plain.size());
  std::uint8_t number = 0;
  for (auto _ : state) {
    SealKey key;
    key.bytes[0] = std::byte{++number};
    benchmark::DoNotOptimize(seal(key, SealNonce{}, {}, plain, sealed));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(plain.size()));
}

void append(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(store_with(count).made());
  report(state, count);
}

void take(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    Store store = store_with(count);
    state.ResumeTiming();
    MaterialCounts all;
    all[kKind] = count;
    Reservation reservation = store.reserve({}, all);
    material::Batch batch;
    for (std::uint64_t done = 0; done < count; done += batch.count)
      batch = reservation.draw_up_to(kKind, count - done).open(std::move(batch));
    reservation.finish();
  }
  report(state, count);
}

// The cost of a small reservation.
void take_one(benchmark::State& state) {
  Store store = store_with(static_cast<std::uint64_t>(state.range(0)));
  MaterialCounts some;
  some[kKind] = 64;
  for (auto _ : state) {
    Reservation reservation = store.reserve({}, some);
    benchmark::DoNotOptimize(reservation.draw(kKind, 64));
    reservation.finish();
  }
  fs::remove_all(store_path());
}

void verify_all(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  const Store store = store_with(count);
  for (auto _ : state) benchmark::DoNotOptimize(verify(store).bytes);
  report(state, count);
}

BENCHMARK(seal_records);
BENCHMARK(disk_write_and_sync)
    ->Arg(1 << 16)
    ->Arg(1 << 22)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(append)->Arg(1 << 16)->Arg(1 << 22)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(take)->Arg(1 << 16)->Arg(1 << 22)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(take_one)
    ->Arg(1 << 16)
    ->Arg(1 << 20)
    ->Iterations(64)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();
BENCHMARK(verify_all)->Arg(1 << 16)->Arg(1 << 22)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace tinyot
