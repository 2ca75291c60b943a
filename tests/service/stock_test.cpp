// The sessions that a party uses, fills and keeps, while its peer says nothing.
#include "service/stock.h"

#include <gtest/gtest.h>

#include "engine/plan.h"
#include "service/configuration.h"
#include "service/policy.h"
#include "tests/storage/store_support.h"

namespace tinyot::test {
namespace {

class NoListener final : public service::Link::Listener {
 public:
  void link_is_up() override {}
  void link_is_down() override {}
  void received(const service::wire::Message&) override {}
  void link_has_room() override {}
};

// A party of a daemon without its threads. The link is not started.
class Parts {
 public:
  explicit Parts(const std::filesystem::path& directory)
      : config_(service::parse_configuration(
            "directory: '" + directory.string() +
                "' peer { name: 'peer' party: B connect: '127.0.0.1:1' profile: 'fast' policy: 'p' "
                "low { ands: 1 } high { ands: 2 } evaluations: 1 }",
            "conf")),
        sessions_(directory, {}, {}) {}
  ~Parts() { evaluations_.stop(); }

 private:
  const service::config::Daemon config_;
  const service::PeerSettings settings_{config_.peer(0)};
  service::Jobs jobs_{{10, 1 << 20, std::chrono::seconds(60), std::chrono::seconds(60)}};
  service::DaemonMetrics metrics_{"of this test"};
  service::Shared shared_{config_, {}, jobs_, metrics_, service::RefillSlots(1)};
  service::Sessions sessions_;
  service::StreamPort port_{engine::PeerOptions{.listen = false, .address = {"127.0.0.1", "1"}},
                            [](std::uint64_t) {}};
  service::Evaluations evaluations_{
      settings_,
      port_,
      sessions_,
      jobs_,
      {},
      [](std::size_t, const service::Evaluations::Order&, service::Evaluations::Outcome) {},
      [] {}};
  NoListener listener_;
  service::Link link_{config_, config_.peer(0), settings_, listener_};

 public:
  service::Stock stock{settings_, shared_, sessions_, evaluations_, link_};
};

class StockTest : public StoreTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(dir_);
    ParameterRequest parameters;
    parameters.profile = Profile::Fast;
    Manifest manifest = security_of(offline::SecurityParameters::make(parameters), {});
    manifest.session_id = test_manifest(Party::B).session_id;
    manifest.me = Party::B;
    for (std::uint64_t number = 1; number <= 4; ++number)
      (void)Store::create(place(number), manifest, kTestDelta, 0);
  }
  std::filesystem::path place(std::uint64_t number) const {
    return dir_ / ("00000" + std::to_string(number));
  }
};

// Jobs of two connections may begin in two sessions, in any order.
TEST_F(StockTest, ASessionThatHasBeenReplacedIsNotFilled) {
  Parts parts(dir_);
  for (const std::uint64_t number : {3, 2}) EXPECT_TRUE(parts.stock.use(number)) << number;
  EXPECT_EQ(parts.stock.refusal_to_fill(2), "session 2 has been replaced or retired");
  EXPECT_EQ(parts.stock.refusal_to_fill(3), std::nullopt);
}

// The peer may order it, as its release may not know that the set is retired.
TEST_F(StockTest, ASessionOfARetiredSetIsNotFilled) {
  const FastParameters retired{.abits = BitsFrom::Silent, .silent_set = LpnSet::S13};
  Store::open(place(4), {.purpose = Purpose::Make})
      .update_manifest(
          [&](Manifest& manifest) { manifest.own = named_values(Profile::Fast, retired); });
  Parts parts(dir_);
  EXPECT_EQ(parts.stock.refusal_to_fill(3), std::nullopt);
  EXPECT_EQ(parts.stock.refusal_to_fill(4),
            "session 4 cannot be filled: " + offline::find_retired(LpnSet::S13)->refusal());
  EXPECT_EQ(parts.stock.refusal_to_fill(5), std::nullopt);
}

// The disk would fill up with those of which the peer says that it still has them.
TEST_F(StockTest, TheNewestFewSessionsAreKept) {
  Parts parts(dir_);
  parts.stock.end_old();
  for (std::uint64_t number = 1; number <= 4; ++number) {
    EXPECT_EQ(std::filesystem::exists(place(number)), number > 1) << number;
    EXPECT_EQ(parts.stock.has(number), number > 1) << number;
  }
}

TEST_F(StockTest, RetiredSessionsAreNoStock) {
  Parts parts(dir_);
  (void)parts.stock.retire();
  for (std::uint64_t number = 1; number <= 4; ++number) {
    EXPECT_FALSE(parts.stock.has(number)) << number;
    EXPECT_FALSE(parts.stock.use(number)) << number;
    EXPECT_FALSE(parts.stock.begin_filling(number, {})) << number;
    EXPECT_TRUE(parts.stock.refusal_to_fill(number)) << number;
  }
  EXPECT_EQ(parts.stock.refusal_to_fill(5), std::nullopt);
  EXPECT_EQ(parts.stock.session_to_fill(), 6u) << "no number is used twice";
}

}  // namespace
}  // namespace tinyot::test
