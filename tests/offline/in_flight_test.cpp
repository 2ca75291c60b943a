// Units in flight when a job ends early: none waits for one that is not made.
#include <atomic>
#include <thread>

#include "offline/unit/preprocessor.h"
#include "tests/offline/dealt.h"
#include "tests/support/becomes_true.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using namespace std::chrono_literals;

constexpr std::uint64_t kUnit = 64;

// The numbers of messages of some name that the workers of a party have sent.
struct Sent {
  std::atomic<std::size_t> messages[3] = {};
};

// The channels of further workers are made first.
ChannelWrapper noting(std::size_t workers, const std::string& name, Sent& sent) {
  auto made = std::make_shared<std::size_t>(0);
  return [=, &sent](std::unique_ptr<Channel> inner) {
    const std::size_t worker = ++*made % workers;
    return cheating([=, &sent](std::string_view tag, std::size_t, std::vector<std::byte>&) {
      if (tag == name) ++sent.messages[worker];
    })(std::move(inner));
  };
}

class UnitsSink final : public MemorySink {
 public:
  void begin_unit(const material::BegunUnit& unit) override { last_begun = unit.number; }
  void finish_unit() override {
    MemorySink::finish_unit();
    ++finished;
  }

  std::atomic<std::uint64_t> last_begun = 0;
  std::atomic<int> finished = 0;
};

struct InFlight {
  UnitsSink sinks[2];
  Outcomes outcomes;
};

// `wanted`: whether a party wants a unit, asked for by a worker; `is_first`: by the first one.
using WantedBy = std::function<bool(Party party, bool is_first)>;

void make_units(InFlight& made, std::size_t workers, std::size_t waiting, std::size_t units,
                const PartyOptions& options, const WantedBy& wanted = {}) {
  const auto params = SecurityParameters::make({.profile = Profile::Fast, .unit = kUnit});
  const std::vector<UnitRequest> requests(units, {params.plan(kUnit).at(0), 3});
  made.outcomes = run_workers(
      workers,
      [&](Session& outer, std::span<const std::unique_ptr<Channel>> more) {
        with_key_for_triples(outer, 1, [&](Session& session) {
          const auto first = std::this_thread::get_id();
          Preprocessor(session, params, more, PipelineDepth(1s), waiting)
              .make_units(requests, made.sinks[static_cast<int>(session.me())], [&, first] {
                return !wanted || wanted(session.me(), std::this_thread::get_id() == first);
              });
        });
      },
      options, false);
}

// A stops at unit 3 after both parties have agreed on unit 4: that one does not wait for the bulk
// phase of unit 3.
TEST(EndOfJob, UnitAfterOneThatIsNotMadeEnds) {
  Sent of_a, of_b;
  InFlight made;
  make_units(
      made, 3, 2, 9,
      {.wrap_a = noting(3, "unit.begin", of_a), .wrap_b = noting(3, "unit.begin", of_b)},
      [&](Party party, bool is_first) {
        const UnitsSink& sink = made.sinks[0];
        if (party == Party::B || !is_first || sink.finished < 1 || sink.last_begun < 3) return true;
        EXPECT_TRUE(becomes_true([&] { return of_a.messages[1] == 2 && of_b.messages[1] == 2; }));
        return false;
      });
  EXPECT_TRUE(both_done(made.outcomes));
  for (const UnitsSink& sink : made.sinks) EXPECT_EQ(sink.units, 3);
}

}  // namespace
}  // namespace tinyot
