// A tagged value is accepted only unchanged and under its own name and keys.
#include "storage/authenticated_values.h"

#include <algorithm>

#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using Bytes = std::vector<std::byte>;

class TaggedTest : public StoreTest {
 protected:
  // A new key table, with its own salt.
  KeyTable keys_of(const std::string& name) const {
    KeyTable::create(root_ / name, SessionId{}, kTestDelta, {});
    return KeyTable(root_ / name, SessionId{}, {});
  }

  // As in FORMAT.md: the value, then a tag of the name's length, the name and the value.
  static Bytes stored(const KeyTable& keys, std::string_view name, std::string_view value) {
    Bytes message = {static_cast<std::byte>(name.size())};
    for (const std::string_view part : {name, value})
      message.insert(message.end(), view_of(part).begin(), view_of(part).end());
    const SealTag tag = authenticate(keys.state_key(), message);
    Bytes bytes(value.size() + tag.size());
    std::ranges::copy(tag, std::ranges::copy(view_of(value), bytes.begin()).out);
    return bytes;
  }
};

TEST_F(TaggedTest, RejectsEveryFlippedBit) {
  const KeyTable keys = keys_of("keys");
  Bytes bytes = stored(keys, "cursors", "some value");
  const auto value = verify(keys, view_of("cursors"), bytes);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->size(), 10u);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(verify(keys, view_of("cursors"), bytes)) << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST_F(TaggedTest, RejectsOtherNamesAndKeys) {
  const KeyTable keys = keys_of("keys"), others = keys_of("others");
  const Bytes bytes = stored(keys, "cursors", "some value");
  for (const std::string_view name : {"cursor", "Cursors", "cursort", ""})
    EXPECT_FALSE(verify(keys, view_of(name), bytes)) << name;
  EXPECT_FALSE(verify(keys, view_of("cursorss"), stored(keys, "cursors", "some value")));
  EXPECT_FALSE(verify(others, view_of("cursors"), bytes));
  EXPECT_FALSE(verify(keys, view_of("cursors"), std::span(bytes).first(15)));
}

}  // namespace
}  // namespace tinyot
