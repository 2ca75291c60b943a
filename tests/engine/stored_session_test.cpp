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

// All of them, of the peer that the endpoint names: here it names none.
TEST_F(StoresOfARun, AreOfOnePeer) {
  const auto of_a_peer = make("of a peer", [](Manifest& of) {
    of.shard = 3;
    of.peer = "sha256:" + std::string(64, 'a');
  });
  for (const auto& stores : {std::vector{of_a_peer}, {first_, of_a_peer}, {of_a_peer, second_}})
    EXPECT_NE(refusal_of(stores).find("was made with the peer sha256:aaa"), std::string::npos);
}

// Runs of one connection report the security that the store has then: units may have been begun and
// broken off meanwhile, and jobs added.
TEST_F(StoresOfARun, ReportTheirSecurityAsItIsNow) {
  RunRequest request;
  request.stores = {first_};
  StoredSession session(request);
  EXPECT_EQ(session.security({}).outstanding, 0u);
  storage::AttemptTotals broken;
  broken.outstanding = 3;
  broken.risk = Risk{{0, 0, 1}};
  EXPECT_EQ(session.security(broken).outstanding, 3u);
  EXPECT_GT(session.security(broken).risk, 0.0);
  EXPECT_EQ(session.security({}).risk, 0.0);
  EXPECT_EQ(session.security({}).sigma_exact, 42.5);
  open_to_make(first_).update_manifest([](Manifest& manifest) {
    manifest.sigma_exact = 41;
    manifest.sigma_paper_bound = 40.5;
  });
  session.require_not_revoked();
  EXPECT_EQ(session.security({}).sigma_exact, 41.0);
  EXPECT_EQ(session.security({}).sigma_paper_bound, 40.5);
}

}  // namespace
}  // namespace tinyot::test
