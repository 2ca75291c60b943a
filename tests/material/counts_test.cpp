// Lists of counts have one encoding, and every other list is rejected with the reason.
#include "material/counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "material/material.h"

namespace tinyot::material {
namespace {

constexpr auto kNumberOfFirst = static_cast<std::uint32_t>(MaterialKind::AuthBitsA);
constexpr auto kNumberOfLast = static_cast<std::uint32_t>(kLastMaterialKind);

void reject_list(const std::string& flaw) { throw std::runtime_error(flaw); }

MaterialCounts some_counts() {
  MaterialCounts counts;
  counts[MaterialKind::AuthBitsB] = 7;
  counts[MaterialKind::AuthOtsAB] = kKindCountMax;
  counts[kLastMaterialKind] = 1;
  return counts;
}

std::string flaw_of(std::span<const KindCount> list) {
  try {
    (void)parse_list(list, reject_list);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

std::vector<std::byte> coded(const MaterialCounts& counts) {
  std::vector<std::byte> bytes;
  append_list(bytes, counts);
  return bytes;
}

TEST(MaterialCountsList, RoundTrips) {
  MaterialCounts all;
  for (const MaterialKind kind : kAllMaterialKinds) all[kind] = 100 + static_cast<int>(kind);
  for (const MaterialCounts& counts : {MaterialCounts{}, some_counts(), all}) {
    EXPECT_EQ(parse_list(list_of(counts), reject_list), counts);
    const std::vector<std::byte> bytes = coded(counts);
    EXPECT_LE(bytes.size(), kListBytesMax);
    std::span<const std::byte> rest(bytes);
    EXPECT_EQ(take_list(rest, reject_list), counts);
    EXPECT_TRUE(rest.empty());
  }
  EXPECT_EQ(coded(all).size(), kListBytesMax);
}

TEST(MaterialCountsList, HasOnlyKindsOfWhichThereIsSomething) {
  EXPECT_TRUE(list_of({}).empty());
  EXPECT_EQ(list_of(some_counts()),
            (std::vector<KindCount>{{1, 7}, {4, kKindCountMax}, {kNumberOfLast, 1}}));
}

TEST(MaterialCountsList, HasTheDocumentedBytes) {
  MaterialCounts counts;
  counts[MaterialKind::AuthAndsA] = 0x0102;
  constexpr std::array<unsigned char, 16> kExpected = {1, 0, 0, 0, 2, 0, 0, 0,
                                                       2, 1, 0, 0, 0, 0, 0, 0};
  EXPECT_TRUE(std::ranges::equal(coded(counts), std::as_bytes(std::span(kExpected))));
}

TEST(MaterialCountsList, RejectsListsThatAreNotCanonical) {
  EXPECT_EQ(flaw_of(std::vector<KindCount>{{kMaterialKinds, 1}}),
            "kind " + std::to_string(kMaterialKinds) + " is unknown");
  EXPECT_EQ(flaw_of(std::vector<KindCount>{{256 + kNumberOfFirst, 1}}), "kind 256 is unknown");
  EXPECT_EQ(flaw_of(std::vector<KindCount>{{1, 5}, {1, 5}}), "kind 1 stands twice");
  EXPECT_EQ(flaw_of(std::vector<KindCount>{{2, 5}, {1, 5}}), "kind 1 is out of order");
  EXPECT_EQ(flaw_of(std::vector<KindCount>{{1, 5}, {3, 5}, {1, 5}}), "kind 1 is out of order");
  EXPECT_EQ(flaw_of(std::vector<KindCount>{{1, 0}}), "kind 1 has a count of zero");
  EXPECT_EQ(flaw_of(std::vector<KindCount>{{1, kKindCountMax + 1}}),
            "kind 1 has a count that is too large");
  EXPECT_EQ(flaw_of(std::vector<KindCount>{{1, kKindCountMax}}), "");
}

TEST(MaterialCountsList, RejectsTruncatedBytesBeforeAllocating) {
  const std::vector<std::byte> bytes = coded(some_counts());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::span<const std::byte> part(bytes.data(), size);
    EXPECT_THROW((void)take_list(part, reject_list), std::runtime_error) << size;
  }
  const std::vector<std::byte> huge(64, std::byte{0xff});
  std::span<const std::byte> part(huge);
  EXPECT_THROW((void)take_list(part, reject_list), std::runtime_error);
}

TEST(MaterialCountsList, TakesOneListAndLeavesTheRest) {
  std::vector<std::byte> bytes = coded(some_counts());
  append_list(bytes, {});
  bytes.push_back(std::byte{9});
  std::span<const std::byte> rest(bytes);
  EXPECT_EQ(take_list(rest, reject_list), some_counts());
  EXPECT_EQ(take_list(rest, reject_list), MaterialCounts{});
  EXPECT_EQ(rest.size(), 1u);
}

// A kind is one row of a table, whose shapes say what each party holds of an object.
TEST(MaterialKinds, HaveNamesAndShapesOfBothParties) {
  for (std::size_t number = 0; number < kMaterialKinds; ++number) {
    const auto kind = static_cast<MaterialKind>(number);
    EXPECT_EQ(kAllMaterialKinds[number], kind);
    EXPECT_FALSE(name_of(kind).empty());
    const Shape of_a = shape_of(kind, Party::A), of_b = shape_of(kind, Party::B);
    EXPECT_EQ(of_a.mine, of_b.peers) << name_of(kind);
    EXPECT_EQ(of_a.peers, of_b.mine) << name_of(kind);
    EXPECT_EQ(of_a.shares, of_b.shares) << name_of(kind);
  }
}

}  // namespace
}  // namespace tinyot::material
