// The stores of a run are this party's, and different shards of one session: an object that is in
// two of them would be used twice.
#include "engine/stored_session.h"

#include <functional>
#include <utility>

#include "base/error.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class StoresOfARun : public StoreTest {
 protected:
  using Change = std::function<void(Manifest& manifest)>;
  std::filesystem::path make(const std::string& name, const Change& change) const {
    Manifest manifest = test_manifest(Party::A);
    manifest.peer = "";
    manifest.shards = 3;
    change(manifest);
    (void)Store::create(root_ / name, manifest, kTestDelta, 0);
    return root_ / name;
  }
  static std::string refusal_of(const std::vector<std::filesystem::path>& stores,
                                Party party = Party::A) {
    RunRequest request;
    request.party = party;
    request.stores = stores;
    try {
      const StoredSession session(request);
      return "";
    } catch (const StoreError& error) {
      return error.what();
    }
  }

  const std::filesystem::path first_ = make("first", [](Manifest&) {});
  const std::filesystem::path second_ = make("second", [](Manifest& of) { of.shard = 2; });
};

TEST_F(StoresOfARun, AreDifferentShardsOfOneSession) {
  EXPECT_EQ(refusal_of({first_, second_}), "");
  EXPECT_EQ(refusal_of({second_, first_}), "") << "in any order";
  const std::filesystem::path copy = root_ / "copy";
  std::filesystem::copy(first_, copy);
  (void)Store::open(copy, {.purpose = Purpose::Own, .is_adopted = true});  // the first one stays
  const auto third = [&](const std::string& name, const Change& change) {
    return make(name, [&](Manifest& manifest) {
      manifest.shard = 3;
      change(manifest);
    });
  };
  const std::vector<std::pair<std::string, std::vector<std::filesystem::path>>> wrong = {
      {"the same store", {first_, first_}},
      {"an adopted copy", {first_, copy}},
      {"such a copy beside another shard", {copy, second_, first_}},
      {"the same shard, made again", {first_, make("again", [](Manifest&) {})}},
      {"another session",
       {first_, third("other", [](Manifest& of) { of.session_id.back() ^= std::byte{1}; })}},
      {"the peer's", {first_, third("peers", [](Manifest& of) { of.me = Party::B; })}}};
  for (const auto& [name, stores] : wrong)
    EXPECT_NE(refusal_of(stores).find("are not two shards of one session"), std::string::npos)
        << name << ": " << refusal_of(stores);
}

TEST_F(StoresOfARun, AreThisPartys) {
  for (const auto& stores : {std::vector{first_}, {first_, second_}})
    EXPECT_NE(refusal_of(stores, Party::B).find("is party A's, not B's"), std::string::npos);
}

}  // namespace
}  // namespace tinyot::test
