// material::Pipe: order, blocking of both sides, and its end.
#include "material/pipe.h"

#include <atomic>
#include <thread>

#include "tests/storage/store_support.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr MaterialKind kPiped = MaterialKind::Triples;

std::exception_ptr reason(const char* text) { return std::make_exception_ptr(StoreError(text)); }

void pour_unit(material::Pipe& pipe, MaterialKind kind, std::uint64_t first, std::size_t count) {
  pipe.pour(test_batch(kind, Party::A, first, count));
  pipe.finish_unit();
}

TEST(MaterialPipe, DrawsEachObjectOnceAndInOrder) {
  material::Pipe pipe(Party::A);
  std::uint64_t made = 0;
  for (const std::size_t count : {100, 1, 64, 200, 35}) {
    for (const MaterialKind kind : kAllMaterialKinds)
      pipe.pour(test_batch(kind, Party::A, made, count));
    pipe.finish_unit();
    made += count;
  }
  for (const MaterialKind kind : kAllMaterialKinds) {
    std::uint64_t drawn = 0;
    // Whole batches, parts, and parts of several batches.
    for (const std::size_t count : {100, 0, 1, 63, 100, 120, 16}) {
      EXPECT_EQ(pipe.ready(kind), made - drawn);
      EXPECT_TRUE(holds(pipe.draw(kind, count), kind, Party::A, drawn, count));
      drawn += count;
    }
    EXPECT_EQ(pipe.ready(kind), 0u);
  }
}

TEST(MaterialPipe, UnitIsReadyOnlyWhenFinished) {
  material::Pipe pipe(Party::A);
  pipe.pour(test_batch(kPiped, Party::A, 0, 50));
  EXPECT_EQ(pipe.ready(kPiped), 0u);
  test::BlockedThread drawer(
      [&] { EXPECT_TRUE(holds(pipe.draw(kPiped, 50), kPiped, Party::A, 0, 50)); });
  pipe.finish_unit();
}

TEST(MaterialPipe, PourBlocksWhileEnoughIsReady) {
  material::Pipe pipe(Party::A);
  constexpr std::size_t kPipedUnit = material::Pipe::kReadyBytesMax / (3 * sizeof(Block)) + 1;
  pour_unit(pipe, kPiped, 0, kPipedUnit);
  std::atomic<bool> poured = false;
  test::BlockedThread pourer([&] {
    pipe.pour(test_batch(kPiped, Party::A, kPipedUnit, 10));
    poured = true;
    pipe.pour(test_batch(kPiped, Party::A, kPipedUnit + 10, 10));
    pipe.finish_unit();
  });
  EXPECT_FALSE(poured);
  EXPECT_TRUE(holds(pipe.draw(kPiped, kPipedUnit), kPiped, Party::A, 0, kPipedUnit));
  pourer.join();
  EXPECT_TRUE(holds(pipe.draw(kPiped, 20), kPiped, Party::A, kPipedUnit, 20));
}

// The pipe is full of one kind while draw() waits for another: the next unit is accepted.
TEST(MaterialPipe, WaitingDrawUnblocksPour) {
  material::Pipe pipe(Party::A);
  constexpr std::size_t kPipedUnit = material::Pipe::kReadyBytesMax / (3 * sizeof(Block)) + 1;
  pour_unit(pipe, kPiped, 0, kPipedUnit);
  std::thread drawer([&] {
    EXPECT_TRUE(
        holds(pipe.draw(MaterialKind::AuthBitsA, 30), MaterialKind::AuthBitsA, Party::A, 0, 30));
  });
  pour_unit(pipe, MaterialKind::AuthBitsA, 0, 30);
  drawer.join();
  EXPECT_EQ(pipe.ready(kPiped), kPipedUnit);
}

TEST(MaterialPipe, EndWakesBothSides) {
  material::Pipe pipe(Party::A);
  pour_unit(pipe, kPiped, 0, material::Pipe::kReadyBytesMax / (3 * sizeof(Block)) + 1);
  test::BlockedThread pourer([&] { EXPECT_THROW(pour_unit(pipe, kPiped, 0, 10), StoreError); });
  pipe.end(reason("over"));
  pourer.join();

  material::Pipe empty(Party::B);
  test::BlockedThread drawer(
      [&] { EXPECT_TRUE(mentions(message_of([&] { empty.draw(kPiped, 1); }), "over")); });
  empty.end(reason("over"));
  empty.end(reason("again"));
  drawer.join();
  EXPECT_TRUE(mentions(message_of([&] { empty.finish_unit(); }), "over"))
      << "the first reason stays";
}

TEST(MaterialPipe, ReadyMaterialCanBeDrawnAfterEnd) {
  material::Pipe pipe(Party::A);
  pour_unit(pipe, kPiped, 0, 40);
  pipe.end(reason("over"));
  EXPECT_TRUE(holds(pipe.draw(kPiped, 25), kPiped, Party::A, 0, 25));
  EXPECT_THROW(pipe.draw(kPiped, 16), StoreError);
  EXPECT_TRUE(holds(pipe.draw(kPiped, 15), kPiped, Party::A, 25, 15))
      << "a failed draw consumes nothing";
}

}  // namespace
}  // namespace tinyot
