// The ledger of the material that runs have taken.
#include "engine/ledger.h"

#include <gtest/gtest.h>

#include "tests/support/files.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class LedgerTest : public ::testing::Test {
 protected:
  void enter(std::uint64_t first, std::uint32_t count) const {
    const BatchEntry entry{
        .kind = MaterialKind::Triples, .first = 5, .count = count, .shard = 2, .origin = first};
    append_to_ledger(file_, Manifest{}, std::span(&entry, 1));
  }
  static std::string line(const std::string& stretch) {
    return std::string(64, '0') + " A triples 2 " + stretch + "\n";
  }

  const TestDirectory directory_;
  const std::filesystem::path file_ = directory_ / "ledger";
};

TEST_F(LedgerTest, HasLineForEachRange) {
  enter(0, 10);
  enter(20, 5);
  EXPECT_EQ(read_file(file_), line("0 10") + line("20 5"));
}

// Of a kind and shard, if they follow each other there.
TEST_F(LedgerTest, BatchesThatFollowEachOtherAreOneRange) {
  const BatchEntry first{
      .kind = MaterialKind::Triples, .first = 0, .count = 10, .shard = 2, .origin = 0};
  BatchEntry next = first, after_gap = first, of_shard = first, of_kind = first;
  next.origin = 10;
  after_gap.origin = 21;
  of_shard.origin = 31;
  of_shard.shard = 3;
  of_kind.origin = 41;
  of_kind.shard = 3;
  of_kind.kind = MaterialKind::AuthBitsA;
  const BatchEntry all[] = {first, next, after_gap, of_shard, of_kind};
  append_to_ledger(file_, Manifest{}, all);
  const std::string session = std::string(64, '0') + " A ",
                    bits = std::string(name_of(MaterialKind::AuthBitsA));
  EXPECT_EQ(read_file(file_), line("0 20") + line("21 10") + session + "triples 3 31 10\n" +
                                  session + bits + " 3 41 10\n");
}

TEST_F(LedgerTest, TornLineDoesNotAffectTheNext) {
  enter(0, 10);
  const std::string torn = line("10 7").substr(0, 40);
  write_file(file_, read_file(file_) + torn);
  enter(20, 5);
  EXPECT_EQ(read_file(file_), line("0 10") + torn + "\n" + line("20 5"));
}

}  // namespace
}  // namespace tinyot::test
