#include "service/outputs.h"

#include <gtest/gtest.h>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

LaneMatrix ones(std::size_t lanes, std::size_t bits) {
  const std::vector<std::byte> row((bits + 7) / 8, std::byte{0xff});
  LaneMatrix values(lanes, 8 * row.size());
  for (std::size_t lane = 0; lane < lanes; ++lane) EXPECT_TRUE(values.assign(lane, row));
  if (bits % 8 == 0) return values;
  LaneMatrix cut(lanes, bits);
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (std::size_t bit = 0; bit < bits; ++bit) cut[lane].put(bit, true);
  return cut;
}

std::vector<circuit::OutputBundle> bundles_of(std::initializer_list<std::uint32_t> bits) {
  std::vector<circuit::OutputBundle> bundles;
  for (const std::uint32_t count : bits)
    bundles.push_back({"out" + std::to_string(bundles.size()), count, circuit::Receiver::Both,
                       circuit::ValueFormat::Integer});
  return bundles;
}

TEST(OutputsTest, ArePartsInOrderOfAtMostAMessage) {
  // Of lanes of 3 bytes, which do not divide a part; the peer's; without bits; of a whole part.
  const auto bundles = bundles_of({17, 8, 0, 8 * kMiB});
  Values outputs;
  outputs.set("out0", ones(kMiB / 2, 17));
  outputs.set("out2", LaneMatrix(1, 0));
  outputs.set("out3", ones(1, 8 * kMiB));
  std::vector<std::pair<std::string, std::size_t>> sizes;
  std::string first;
  v1::ResultPart part;
  EXPECT_TRUE(service::write_outputs(outputs, bundles, part, [&](const v1::ResultPart& written) {
    EXPECT_EQ(written.outputs_size(), 1);
    const v1::Output& output = written.outputs(0);
    if (output.name() == "out0") {
      EXPECT_EQ(output.bits_per_lane(), 17u);
      EXPECT_EQ(output.format(), "integer");
      first += output.bits();
    }
    sizes.emplace_back(output.name(), output.bits().size());
    return true;
  }));
  const std::vector<std::pair<std::string, std::size_t>> expected = {
      {"out0", kMiB}, {"out0", kMiB / 2}, {"out2", 0}, {"out3", kMiB}};
  EXPECT_EQ(sizes, expected);
  for (std::size_t i = 0; i < first.size(); ++i)
    ASSERT_EQ(static_cast<unsigned char>(first[i]), i % 3 == 2 ? 1 : 0xff) << i;
}

// Nothing more is written to it, whether a part is full or the last one.
TEST(OutputsTest, ClientThatHasGoneGetsNoFurtherPart) {
  const auto bundles = bundles_of({24 * kMiB, 8});
  Values outputs;
  outputs.set("out0", ones(1, 24 * kMiB));
  outputs.set("out1", ones(1, 8));
  for (std::size_t there = 0; there < 4; ++there) {
    std::size_t parts = 0;
    v1::ResultPart part;
    EXPECT_FALSE(service::write_outputs(outputs, bundles, part,
                                        [&](const v1::ResultPart&) { return parts++ < there; }));
    EXPECT_EQ(parts, there + 1);
  }
}

TEST(OutputsTest, WipesTheMessageAlsoOfAClientThatHasGone) {
  for (const bool is_there : {true, false}) {
    Values outputs;
    outputs.set("out0", ones(1, 800));
    v1::ResultPart part;
    std::string sent;
    EXPECT_EQ(service::write_outputs(outputs, bundles_of({800}), part,
                                     [&](const v1::ResultPart& written) {
                                       sent = written.outputs(0).bits();
                                       return is_there;
                                     }),
              is_there);
    EXPECT_EQ(sent, std::string(100, '\xff'));
    // Beyond its end, too.
    const std::string& bits = part.outputs(0).bits();
    const std::string left(bits.data(), sent.size());
    EXPECT_EQ(left, std::string(sent.size(), '\0'));
  }
}

}  // namespace
}  // namespace tinyot::test
