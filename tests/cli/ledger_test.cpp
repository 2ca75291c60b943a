// The ledger of the material that runs have taken.
#include "engine/ledger.h"

#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class LedgerTest : public CommandTest {
 protected:
  void enter(std::uint64_t first, std::uint32_t count) const {
    const BatchEntry entry{
        .kind = MaterialKind::Triples, .first = 5, .count = count, .shard = 2, .origin = first};
    append_to_ledger(path("ledger"), Manifest{}, std::span(&entry, 1));
  }
  static std::string line(const std::string& stretch) {
    return std::string(64, '0') + " A triples 2 " + stretch + "\n";
  }
};

TEST_F(LedgerTest, HasLineForEachRange) {
  enter(0, 10);
  enter(20, 5);
  EXPECT_EQ(read_file(path("ledger")), line("0 10") + line("20 5"));
}

TEST_F(LedgerTest, TornLineDoesNotAffectTheNext) {
  enter(0, 10);
  const std::string torn = line("10 7").substr(0, 40);
  write_file(path("ledger"), read_file(path("ledger")) + torn);
  enter(20, 5);
  EXPECT_EQ(read_file(path("ledger")), line("0 10") + torn + "\n" + line("20 5"));
}

}  // namespace
}  // namespace tinyot::test
