// Every connection of a session is checked against the first one, however the store has been used.
// Otherwise a peer that reconnects with another global key would pass all checks and learn bits
// that are opened.
#include <signal.h>

#include <cstring>
#include <fstream>

#include "crypto/aead.h"
#include "storage/database.h"
#include "storage/store.h"
#include "tests/support/held_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

constexpr std::uint64_t kUnits = 16;
constexpr std::uint64_t kAndsOfUnit = 1 << 10;
const Arguments kUnitJob = {"--ands", std::to_string(kUnits* kAndsOfUnit), "--unit", "2^10"};
// Such a store contains only triples.
const Arguments kOnlyTriples =
    kUnitJob + Arguments{"--profile", "fast", "--allow-weak", "--inputs", "0"};
// One authenticated bit per AND, and no more.
const Arguments kPairs = kUnitJob + kFewColumns + Arguments{"--inputs", "0"};
const Arguments kResumed = {"--resume"};

class DeltaCheckTest : public HeldTest {
 protected:
  // A is told to stop halfway.
  void make_some_units(const Arguments& job) {
    Held held = start_held_halfway(job);
    held.a->signal(SIGINT);
    held.relay->resume();
    EXPECT_TRUE(ended_with(held.a->end(), 130));
    EXPECT_TRUE(ended_with(held.b->end(), 0));
    for (const char party : {'A', 'B'}) {
      const std::uint64_t units = store_info(party)["units_made"];
      ASSERT_GE(units, 2);
      ASSERT_LT(units, kUnits);
    }
  }

  BothEnded resume(const Arguments& job) const {
    return both("preprocess", job + kResumed, job + kResumed);
  }

  void expect_completed(const BothEnded& ended, const std::string& kind) const {
    for (const Ended& each : {ended.a, ended.b}) {
      ASSERT_TRUE(ended_with(each, 0));
      EXPECT_EQ(json_of(each)["complete"], true);
    }
    for (const char party : {'A', 'B'})
      EXPECT_EQ(store_info(party)["kinds"][kind]["made"], kUnits * kAndsOfUnit) << party;
  }

  // Changes the global key in a cheater's store, and nothing else.
  void change_global_key(char party) const {
    const std::filesystem::path file =
        std::filesystem::path(path(std::string(1, party))) / "store.keys";
    std::string bytes = read_file(file);
    const auto at = [&](std::size_t from, std::size_t count) {
      return std::as_writable_bytes(std::span(bytes).subspan(from, count));
    };
    constexpr std::size_t kSlot = 128;
    struct {
      std::array<std::byte, 32> session;
      std::uint64_t slot = 0;
    } context;
    std::memcpy(context.session.data(), bytes.data() + 16, context.session.size());
    const auto about = std::as_bytes(std::span(&context, 1));
    const SealKey wrapping = derive_key({}, at(48, 32), "TinyOT store: batch keys");
    SealNonce nonce;
    std::memcpy(nonce.data(), bytes.data() + kSlot, nonce.size());
    SealTag tag;
    std::memcpy(tag.data(), bytes.data() + kSlot + 44, tag.size());
    std::array<std::byte, 32> key;
    ASSERT_TRUE(open_sealed(wrapping, nonce, about, at(kSlot + 12, 32), tag, key));
    key[9] ^= std::byte{1};
    nonce[0] ^= std::byte{1};
    tag = seal(wrapping, nonce, about, key, at(kSlot + 12, 32));
    std::memcpy(bytes.data() + kSlot, nonce.data(), nonce.size());
    std::memcpy(bytes.data() + kSlot + 44, tag.data(), tag.size());
    // In place, since a new file would count as a copy.
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  // B reconnects with another key, and A detects it before any unit counts.
  void expect_change_found(const Arguments& job) {
    make_some_units(job);
    const std::uint64_t made = store_info('A')["units_made"];
    change_global_key('B');
    const BothEnded ended = resume(job);
    EXPECT_TRUE(ended_with(ended.a, 4, "global key"));
    EXPECT_EQ(store_info('A')["state"], "revoked");
    EXPECT_EQ(store_info('A')["units_made"], made);
  }
};

TEST_F(DeltaCheckTest, ResumesStoreWithoutBits) {
  make_some_units(kOnlyTriples);
  expect_completed(resume(kOnlyTriples), "triples");
}

TEST_F(DeltaCheckTest, ResumesStoreWhoseBitsAreUsedUp) {
  make_some_units(kPairs);
  for (const char party : {'A', 'B'}) {
    Store store = Store::open(path(std::string(1, party)));
    MaterialCounts bits;
    for (const MaterialKind kind : {MaterialKind::AuthBitsA, MaterialKind::AuthBitsB})
      bits[kind] = store.left()[kind];
    store.reserve({}, bits).finish();
  }
  expect_completed(resume(kPairs), "auth_ots_ba");
}

TEST_F(DeltaCheckTest, ReferenceBitsAreNeverDrawn) {
  make_some_units(kPairs);
  const Json info = store_info('A');
  for (const char* kind : {"auth_bits_a", "auth_bits_b"}) {
    EXPECT_EQ(info["kinds"][kind]["made"], info["units_made"].get<std::uint64_t>() * kAndsOfUnit);
    EXPECT_EQ(info["kinds"][kind]["spent"], 0);
  }
  expect_completed(resume(kPairs), "auth_ots_ba");
  EXPECT_EQ(store_info('B')["kinds"]["auth_bits_a"]["spent"], 0);
}

TEST_F(DeltaCheckTest, DetectsAnotherGlobalKeyInResumedJobOfTriples) {
  expect_change_found(kOnlyTriples);
}

TEST_F(DeltaCheckTest, DetectsAnotherGlobalKeyInResumedJobOfPairs) { expect_change_found(kPairs); }

// A store that grows has been complete, and its units used, before the peer reconnects.
TEST_F(DeltaCheckTest, DetectsAnotherGlobalKeyInStoreThatGrows) {
  for (const Arguments& profile : {Arguments{"--profile", "fast"}, kFewColumns}) {
    for (const char* party : {"A", "B"}) std::filesystem::remove_all(path(party));
    const Arguments few = profile + Arguments{"--ands", "1000"}, more = {"--add", "500"};
    ASSERT_TRUE(ended_with(both("preprocess", few, few).a, 0));
    change_global_key('B');
    EXPECT_TRUE(ended_with(both("preprocess", more, more).a, 4, "global key"));
    EXPECT_EQ(store_info('A')["state"], "revoked");
  }
}

// Like a store of an earlier version, or of a session whose file is not given.
TEST_F(DeltaCheckTest, DoesNotResumeWithoutReferenceBits) {
  make_some_units(kOnlyTriples);
  {
    Store store = Store::open(path("A"), {.purpose = Purpose::Make});
    store.change("drop the reference bits", 0,
                 [](WriteTransaction& change) { change.drop_reference_bits(); });
  }
  const Ended ended = tinyot(as('A', "preprocess", kOnlyTriples + kResumed));
  EXPECT_TRUE(ended_with(ended, 5, "does not have reference bits to check new units against"));
  EXPECT_TRUE(ended_with(ended, 5, "; give it with --session FILE\n"));
  EXPECT_EQ(store_info('A')["state"], "open");
}

}  // namespace
}  // namespace tinyot::test
