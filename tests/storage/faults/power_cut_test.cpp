// Power failures before each system call: what was not synced is lost or survives in part. Steps
// that have returned are durable, and erased keys stay erased.
#include <random>

#include "storage/merge.h"
#include "storage/session_file.h"
#include "tests/storage/faults/aftermath.h"
#include "tests/storage/faults/disk.h"
#include "tests/support/layers.h"

namespace tinyot::faults {
namespace {

class PowerCutTest : public StoreTest {
 protected:
  PowerCutTest() : StoreTest(directory_in_memory()) { std::filesystem::create_directory(place_); }

  // Runs `body` in place_, and `check` on the image after a power failure before each system call.
  // Returns the number of system calls.
  template <class Body, class Check>
  std::uint64_t cut_everywhere(const Body& body, const Check& check);

  std::filesystem::path place_ = root_ / "disk";
};

template <class Body, class Check>
std::uint64_t PowerCutTest::cut_everywhere(const Body& body, const Check& check) {
  std::uint64_t calls = 0;
  std::mt19937_64 rng(1);
  const Disk::Chance oldest = [](std::size_t) { return 0; };
  const Disk::Chance newest = [](std::size_t states) { return states - 1; };
  const Disk::Chance any = [&](std::size_t states) { return rng() % states; };
  Disk* disk = nullptr;
  const auto cut = [&] {
    ++calls;
    for (const auto& [name, chance] :
         {std::pair("oldest", oldest), {"newest", newest}, {"any", any}, {"any", any}}) {
      if (HasFailure()) return;
      SCOPED_TRACE("power cut before call " + std::to_string(calls) + ", states: " + name);
      disk->after_power_cut(root_ / "image", chance);
      // The image has the original path during the check.
      std::filesystem::rename(place_, root_ / "aside");
      std::filesystem::rename(root_ / "image", place_);
      check();
      std::filesystem::remove_all(place_);
      std::filesystem::rename(root_ / "aside", place_);
    }
  };
  Disk observed(place_, cut);
  disk = &observed;
  observe(&observed);
  body();
  observe(nullptr);
  cut();
  return calls;
}

TEST_F(PowerCutTest, StoreKeepsConfirmedSteps) {
  const auto ledger = std::make_unique<Ledger>();
  const std::uint64_t calls = cut_everywhere(
      [&] {
        Scenario scenario(place_ / "store", *ledger, [] {});
        EXPECT_TRUE(scenario.run() && ledger->errors == 0);
      },
      [&] {
        const auto known = std::make_unique<Ledger>(*ledger);
        check_aftermath(place_ / "store", *known);
        EXPECT_STREQ(known->violation, "");
      });
  EXPECT_STREQ(ledger->violation, "");
  EXPECT_TRUE(ledger->is_revoked);
  EXPECT_GT(calls, 200u) << "system calls are not intercepted";
}

// More keys than fit into a sector.
TEST_F(PowerCutTest, ErasedKeysStayErased) {
  std::optional<Store> store = make_store(place_ / "store");
  for (int i = 0; i < 30; ++i) add_unit(*store, kTestKind, 10);
  bool is_erased = false;
  cut_everywhere(
      [&] {
        store->erase_keys();
        is_erased = true;
      },
      [&] {
        const std::string keys = read_file(place_ / "store" / "store.keys");
        ASSERT_GT(keys.size(), 1500u);
        if (is_erased) {
          EXPECT_EQ(keys.find_first_not_of('\0', 48), std::string::npos);
        }
      });
}

TEST_F(PowerCutTest, SessionFileIsCompleteOrAbsentAndStaysErased) {
  SessionFile session;
  session.manifest = test_manifest(Party::A);
  session.manifest.shards = 2;
  session.global_key = kTestDelta;
  session.reference.bits_a = test_batch(MaterialKind::AuthBitsA, Party::A, 0, 128);
  session.reference.bits_b = test_batch(MaterialKind::AuthBitsB, Party::A, 0, 128);
  const std::filesystem::path file = place_ / "session";
  bool is_written = false, is_erased = false;
  cut_everywhere(
      [&] {
        write_session_file(file, session, {});
        is_written = true;
      },
      [&] {
        EXPECT_TRUE(!is_written || std::filesystem::exists(file));
        if (!std::filesystem::exists(file)) return;
        EXPECT_EQ(
            message_of([&] { EXPECT_EQ(read_session_file(file, {}).manifest, session.manifest); }),
            "");
      });
  cut_everywhere(
      [&] {
        erase_session_file(file);
        is_erased = true;
      },
      [&] {
        ASSERT_TRUE(std::filesystem::exists(file));
        if (!is_erased) return;
        EXPECT_TRUE(mentions(message_of([&] { (void)read_session_file(file, {}); }), "is revoked"));
        EXPECT_EQ(read_file(file).find_first_not_of('\0', 16), std::string::npos);
      });
}

constexpr std::size_t kShards = 2, kShardObjects = 300;

// A shard with one unit made and one broken off.
void make_shard(const std::filesystem::path& dir, std::uint32_t number) {
  Manifest manifest = test_manifest(Party::A);
  manifest.shard = number;
  manifest.shards = kShards;
  Store store = Store::create(dir, manifest, kTestDelta, 0);
  store.begin_unit({0, {kShardObjects, 4}, {{1, 0, 0}}});
  store.begin_unit({1, {kShardObjects, 4}, {{16 * number, 0, 0}}});
  store.pour(test_batch(kTestKind, Party::A, (number - 1) * kShardObjects, kShardObjects));
  store.finish_unit();
  unlock_all(store);
  store.update_manifest([](Manifest& changed) { changed.state = StoreState::Complete; });
}

TEST_F(PowerCutTest, MergeContinuesWithoutLoss) {
  const auto shards_in = [](const std::filesystem::path& dir) {
    return std::vector{dir / "1", dir / "2"};
  };
  for (std::uint32_t number = 1; number <= kShards; ++number)
    make_shard(shards_in(place_)[number - 1], number);
  const auto expect_whole = [](const std::filesystem::path& dir) {
    Store whole = Store::open(dir, {.is_adopted = true});
    EXPECT_EQ(whole.attempts().outstanding, kShards);
    EXPECT_EQ(whole.outstanding(), (Risk{{16 + 32, 0, 0}}));
    ASSERT_EQ(whole.attempts().units.size(), 1u);
    EXPECT_EQ(whole.attempts().units[0].count, kShards);
    Reservation all = reserve_all(whole);
    EXPECT_TRUE(draws(all, kTestKind, Party::A, 0, kShards * kShardObjects));
  };
  bool is_merged = false;
  cut_everywhere(
      [&] {
        merge_shards(place_ / "whole", shards_in(place_), {});
        is_merged = true;
      },
      [&] {
        EXPECT_TRUE(!is_merged || Store::exists(place_ / "whole"));
        for (const char* name : {"1", "2", "whole", "whole.merging"}) {
          if (!Store::exists(place_ / name)) continue;
          EXPECT_EQ(message_of([&] {
                      (void)Store::open(place_ / name,
                                        {.purpose = Purpose::Own, .is_adopted = true});
                    }),
                    "")
              << name;
        }
        EXPECT_EQ(message_of([&] { merge_shards(place_ / "whole", shards_in(place_), {}); }), "");
        expect_whole(place_ / "whole");
      });
  EXPECT_TRUE(is_merged);
}

}  // namespace
}  // namespace tinyot::faults
