// `tinyot store verify`, alone and with the peer: corrupt, missing and differing batches, including
// the last one, are in the report and in the exit status of the party that sees them.
#include "tests/storage/store_support.h"
#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

constexpr MaterialKind kLastKind = MaterialKind::Triples;
constexpr std::uint64_t kTriples = 1 << 14, kUnit = 1 << 10, kLastIndex = kTriples - kUnit;
constexpr const char* kLastBatch = "triples 15360..16383";

class VerificationTest : public CommandTest {
 protected:
  VerificationTest() {
    EXPECT_TRUE(
        ended_with(tinyot({"local", "preprocess", "--store", dir_.string(), "--ands", "2^14",
                           "--profile", "fast", "--unit", "2^10", "--allow-weak", "--quiet"}),
                   0));
  }

  Ended verify(char party) const {
    return tinyot({"store", "verify", path(std::string(1, party)), "--format", "json"});
  }

  BothEnded verify_both() const {
    const auto with = [&](const char* store, const char* way) {
      return Arguments{"store",    "verify", path(store), way, "127.0.0.1:" + port_,
                       "--format", "json"};
    };
    Process a(TINYOT_BINARY, with("A", "--listen")), b(TINYOT_BINARY, with("B", "--peer"));
    Ended ended_a = a.end();
    return {std::move(ended_a), b.end()};
  }

  // Flips a bit in the record of the last batch.
  void flip_last(char party) const {
    const std::string store = path(std::string(1, party));
    const std::string sealed =
        sealed_record(Store::open(store, {.purpose = Purpose::Inspect}), kLastKind, kLastIndex);
    std::string changed = sealed;
    changed.back() ^= 1;
    ASSERT_GT(replace_in_file(std::filesystem::path(store) / "material.mdb", sealed, changed), 0);
  }

  void change(char party, std::uint64_t index,
              const std::function<void(WriteTransaction&, BatchEntry)>& alter) const {
    Store store = Store::open(path(std::string(1, party)), {.purpose = Purpose::Own});
    store.change("alter a batch", 0, [&](WriteTransaction& open) {
      alter(open, open.entry_holding(kLastKind, index).value());
    });
  }

  static Json report_of(const Ended& ended, int status) {
    EXPECT_EQ(ended.status, status) << ended.err;
    return json_of(ended);
  }
};

TEST_F(VerificationTest, MatchesEveryBatchOfValidStores) {
  const BothEnded ended = verify_both();
  for (const Ended& each : {ended.a, ended.b}) {
    const Json report = report_of(each, 0);
    EXPECT_EQ(report["peer_matched"], report["batches"]);
    EXPECT_GE(report["batches"], kTriples / kUnit);
    EXPECT_EQ(report["peer_different"], 0);
  }
}

TEST_F(VerificationTest, ReportsCorruptLastBatch) {
  flip_last('A');
  const Json report = report_of(verify('A'), 5);
  ASSERT_EQ(report["corrupt"].size(), 1u);
  EXPECT_TRUE(mentions(report["corrupt"][0], kLastBatch));
  const Ended text = tinyot({"store", "verify", path("A")});
  EXPECT_EQ(text.status, 5);
  EXPECT_TRUE(mentions(text.out, kLastBatch));
  report_of(verify('B'), 0);
}

TEST_F(VerificationTest, ReportsMissingBatch) {
  change('A', kLastIndex - kUnit,
         [](WriteTransaction& open, const BatchEntry& entry) { open.drop(entry); });
  const Json report = report_of(verify('A'), 5);
  ASSERT_EQ(report["corrupt"].size(), 1u);
  EXPECT_TRUE(mentions(report["corrupt"][0], "triples 14336 is missing"));
}

TEST_F(VerificationTest, ReportsMissingLastBatch) {
  change('A', kLastIndex,
         [](WriteTransaction& open, const BatchEntry& entry) { open.drop(entry); });
  const Json report = report_of(verify('A'), 5);
  ASSERT_EQ(report["corrupt"].size(), 1u);
  EXPECT_TRUE(mentions(report["corrupt"][0], "triples 15360 is missing"));
}

TEST_F(VerificationTest, ReportsLastBatchOfOnlyOneParty) {
  for (const char loser : {'A', 'B'}) {
    flip_last(loser);
    const BothEnded ended = verify_both();
    const Json of_loser = report_of(loser == 'A' ? ended.a : ended.b, 5),
               of_other = report_of(loser == 'A' ? ended.b : ended.a, 5);
    EXPECT_EQ(of_loser["corrupt"].size(), 1u);
    EXPECT_EQ(of_loser["peer_different"], 1);
    ASSERT_EQ(of_loser["differences"].size(), 1u);
    EXPECT_TRUE(mentions(of_loser["differences"][0], "this store does not"));
    EXPECT_EQ(of_other["corrupt"].size(), 0u);
    EXPECT_EQ(of_other["peer_different"], 1);
    ASSERT_EQ(of_other["differences"].size(), 1u);
    EXPECT_TRUE(mentions(of_other["differences"][0], kLastBatch));
    EXPECT_EQ(of_other["peer_matched"].get<std::size_t>() + 1, of_other["batches"]);
    flip_last(loser);
  }
}

TEST_F(VerificationTest, ReportsHalfWhoseDigestDiffersInOneByte) {
  for (const std::size_t byte : {0u, 8u, 15u}) {
    const auto flip = [&](WriteTransaction& open, BatchEntry entry) {
      (*entry.peers_tag)[byte] ^= std::byte{1};
      open.put_entry(entry);
    };
    change('B', kLastIndex, flip);
    const BothEnded ended = verify_both();
    EXPECT_EQ(report_of(ended.a, 0)["peer_different"], 0);
    const Json of_b = report_of(ended.b, 5);
    EXPECT_EQ(of_b["peer_different"], 1);
    ASSERT_EQ(of_b["differences"].size(), 1u);
    EXPECT_TRUE(mentions(of_b["differences"][0], kLastBatch));
    EXPECT_TRUE(of_b["corrupt"].empty());
    change('B', kLastIndex, flip);
  }
}

}  // namespace
}  // namespace tinyot::test
