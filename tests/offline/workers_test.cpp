// Several workers per party: the material does not depend on their number, and a failure of one
// stops all of them.
#include <algorithm>
#include <atomic>
#include <thread>

#include "base/cause.h"
#include "offline/softspoken/softspoken.h"
#include "offline/unit/preprocessor.h"
#include "tests/offline/dealt.h"
#include "tests/support/channel_decorator.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::uint64_t kUnit = 64, kUnits = 7, kInputs = 3;

struct WorkersMade {
  MemorySink sinks[2];
  std::size_t units[2] = {};
  Outcomes outcomes;
};

// A party's answer before each unit to whether it makes the unit; by default yes.
using Wanted = std::function<bool(Party)>;

const ParameterRequest kNnob12{.own = Nnob12Parameters{Columns::Experiment}, .unit = kUnit},
    kFast{.profile = Profile::Fast, .unit = kUnit};
const PipelineDepth kShort(std::chrono::microseconds(600)), kLong(std::chrono::seconds(1));

// The workers of a party, those of them that are there while units wait, and how far steps run
// ahead.
struct Workers {
  Workers(std::size_t n) : count(n) {}
  Workers(std::size_t n, std::size_t of_them, PipelineDepth of_link)
      : count(n), waiting(of_them), depth(of_link) {}

  std::size_t count, waiting = 0;
  PipelineDepth depth = {};
};

WorkersMade preprocess(const Workers& workers, const PartyOptions& options = {},
                       const Wanted& wanted = {}, const ParameterRequest& request = kNnob12) {
  WorkersMade made;
  const auto params = SecurityParameters::make(request);
  const std::vector<UnitRequest> requests(kUnits,
                                          {params.plan(request.unit.value()).at(0), kInputs});
  made.outcomes = run_workers(
      workers.count,
      [&](Session& outer, std::span<const std::unique_ptr<Channel>> more) {
        const auto work = [&](Session& session) {
          const auto me = static_cast<int>(session.me());
          Preprocessor preprocessor(session, params, more, workers.depth, workers.waiting);
          made.units[me] = preprocessor.make_units(requests, made.sinks[me],
                                                   [&] { return !wanted || wanted(session.me()); });
        };
        if (params.profile() == Profile::Fast)
          with_key_for_triples(outer, 1, work);
        else
          work(outer);
      },
      options, false);
  return made;
}

// The digest of a party's material.
Digest digest_of(const MemorySink& sink) {
  RandomOracle digest({}, {crypto::Phase::unregistered("sink"), '*', 0});
  for (const auto& [kind, batches] : sink.made) {
    for (const material::Batch& batch : batches) {
      digest.absorb_object(kind).absorb_object(batch.count);
      for (const MacColumn& column : batch.mine)
        digest.absorb(std::as_bytes(column.bits.words()))
            .absorb(std::as_bytes(std::span(column.macs)));
      for (const KeyColumn& column : batch.peers)
        digest.absorb(std::as_bytes(std::span(column.keys)));
    }
  }
  return digest.digest();
}

// Wraps the channels of one worker only. The channels of further workers are made first.
ChannelWrapper for_worker(std::size_t worker, std::size_t workers, ChannelWrapper wrapper) {
  auto made = std::make_shared<std::size_t>(0);
  return [=](std::unique_ptr<Channel> inner) {
    const std::size_t now = ++*made % workers;  // 1, 2, ..., 0
    return now == worker ? wrapper(std::move(inner)) : std::move(inner);
  };
}

void expect_same_units_and_good(const WorkersMade& made) {
  EXPECT_EQ(made.sinks[0].units, made.sinks[1].units);
  expect_good(made.sinks[0], made.sinks[1], global_key_of(Party::A, 1), global_key_of(Party::B, 1));
}

class WorkersOf : public testing::TestWithParam<ParameterRequest> {};

INSTANTIATE_TEST_SUITE_P(EachProfile, WorkersOf, testing::Values(kNnob12, kFast),
                         [](const auto& tested) {
                           return std::string(name_of(tested.param.profile));
                         });

TEST_P(WorkersOf, MaterialDoesNotDependOnTheirNumber) {
  const WorkersMade alone = preprocess(1, {}, {}, GetParam());
  ASSERT_EQ(alone.outcomes.a.kind, Outcome::Kind::Done) << alone.outcomes.a.message;
  for (const Workers& workers :
       {Workers(2), Workers(3), Workers(8), Workers(1, 0, kLong), Workers(3, 1, kLong),
        Workers(3, 2, kLong), Workers(8, 2, kShort)}) {
    const WorkersMade several = preprocess(workers, {}, {}, GetParam());
    EXPECT_EQ(several.outcomes.a.kind, Outcome::Kind::Done) << several.outcomes.a.message;
    EXPECT_EQ(several.outcomes.b.kind, Outcome::Kind::Done) << several.outcomes.b.message;
    for (const int party : {0, 1}) {
      EXPECT_EQ(several.units[party], kUnits);
      EXPECT_TRUE(
          equal_constant_time(digest_of(several.sinks[party]), digest_of(alone.sinks[party])))
          << workers.count << " workers, " << workers.waiting << " waiting";
    }
  }
}

// Units of several batches, so that windows change the order of messages.
TEST(Workers, MaterialDoesNotDependOnWindows) {
  const ParameterRequest request{.profile = Profile::Fast, .unit = kBatchBits / 3 + 1};
  const WorkersMade plain = preprocess(1, {}, {}, request);
  for (const Workers& workers :
       {Workers(1, 0, kShort), Workers(1, 0, kLong), Workers(3, 2, kLong)}) {
    const WorkersMade other = preprocess(workers, {}, {}, request);
    EXPECT_TRUE(both_done(other.outcomes));
    for (const int party : {0, 1})
      EXPECT_TRUE(equal_constant_time(digest_of(other.sinks[party]), digest_of(plain.sinks[party])))
          << workers.count << " workers";
  }
}

TEST(Workers, AllEndWhenOnePartyStops) {
  for (const std::size_t workers : {1u, 2u, 3u}) {
    std::atomic<int> answers = 0;
    const WorkersMade made =
        preprocess(workers, {}, [&](Party party) { return party == Party::B || ++answers < 4; });
    EXPECT_EQ(made.outcomes.a.kind, Outcome::Kind::Done) << made.outcomes.a.message;
    EXPECT_EQ(made.outcomes.b.kind, Outcome::Kind::Done) << made.outcomes.b.message;
    EXPECT_EQ(made.units[0], made.units[1]);
    EXPECT_LT(made.units[0], kUnits);
    expect_same_units_and_good(made);
  }
}

// Of a fast job, one unit of which is in its bulk phase at a time while others wait for it.
const Workers kInFlight(3, 2, kLong);

TEST(Workers, AllEndWhenOnePartyStopsWithUnitsInFlight) {
  for (const Workers& workers : {kInFlight, Workers(3, 1, kLong)}) {
    for (const int wanted : {1, 2, 3, 5, 8}) {
      std::atomic<int> answers = 0;
      const WorkersMade made = preprocess(
          workers, {}, [&](Party party) { return party == Party::B || ++answers <= wanted; },
          kFast);
      EXPECT_TRUE(both_done(made.outcomes)) << wanted;
      EXPECT_EQ(made.units[0], made.units[1]);
      EXPECT_LT(made.units[0], kUnits);
      for (const MemorySink& sink : made.sinks)
        EXPECT_EQ(static_cast<std::size_t>(sink.units), made.units[0]);
    }
  }
}

// Sleeps before the first message of a name of a unit, so that other units wait in their bulk phase
// or for layers, and then deviates.
Deviation late(std::string tag, Deviation deviation) {
  return [=](std::string_view sent, std::size_t occurrence, std::vector<std::byte>& payload) {
    if (sent == tag && occurrence == 0) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    deviation(sent, occurrence, payload);
  };
}

Deviation ends_at(std::string tag, std::size_t occurrence) {
  return [=](std::string_view sent, std::size_t number, std::vector<std::byte>&) {
    if (sent == tag && number == occurrence) throw NetworkError("the cable is cut");
  };
}

// Messages of the bulk phase, of the time after it, and of the end of a unit.
struct FastMessage {
  const char* tag;
  std::size_t bit;
  const char* check;
};
constexpr FastMessage kFastMessages[] = {
    {"unit.begin", 0, "unit number"},
    {"global_key.e", 3, "EQ of global key"},
    {"softspoken.answer", 5, "SoftSpoken check"},
    {"latriple.g", 0, "EQ of leaky triples"},
    {"triple.d", 3, "MAC transcript"},
    {"mac_transcript.digest", 3, "MAC transcript"},
};

void PrintTo(const FastMessage& message, std::ostream* out) { *out << message.tag; }

class UnitsInFlight : public testing::TestWithParam<FastMessage> {};

INSTANTIATE_TEST_SUITE_P(At, UnitsInFlight, testing::ValuesIn(kFastMessages),
                         [](const auto& tested) {
                           std::string name = tested.param.tag;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST_P(UnitsInFlight, AllEndWhenACheckOfOneFails) {
  const FastMessage message = GetParam();
  // Every 128th bit: of each G, and of each block of an answer.
  const auto flip = [message](std::string_view sent, std::size_t occurrence,
                              std::vector<std::byte>& payload) {
    if (sent != message.tag || occurrence != 0) return;
    for (std::size_t bit = message.bit; bit < 8 * payload.size(); bit += 128)
      payload.at(bit / 8) ^= std::byte{1} << (bit % 8);
  };
  for (const Party cheater : {Party::A, Party::B}) {
    for (const std::size_t worker : {0u, 1u, 2u}) {
      SCOPED_TRACE(std::string("by ") + letter(cheater) + ", worker " + std::to_string(worker));
      PartyOptions options;
      (cheater == Party::A ? options.wrap_a : options.wrap_b) =
          for_worker(worker, 3, cheating(late(message.tag, flip)));
      const WorkersMade made = preprocess(kInFlight, options, {}, kFast);
      const Outcome &honest = of(made.outcomes, peer_of(cheater)),
                    &own = of(made.outcomes, cheater);
      // In EQ A learns the result first.
      const std::string_view check = message.check;
      EXPECT_EQ((cheater == Party::A && check.starts_with("EQ of") ? own : honest).check, check)
          << honest.message << "; " << own.message;
      EXPECT_NE(honest.kind, Outcome::Kind::Done);
      EXPECT_NE(own.kind, Outcome::Kind::Done);
      EXPECT_LE(made.sinks[static_cast<int>(peer_of(cheater))].units, static_cast<int>(worker));
    }
  }
}

TEST_P(UnitsInFlight, AllEndWhenTheConnectionOfOneFails) {
  const WorkersMade made = preprocess(
      kInFlight,
      {.wrap_b = for_worker(0, 3, cheating(late(GetParam().tag, ends_at(GetParam().tag, 0))))}, {},
      kFast);
  EXPECT_EQ(made.outcomes.b.kind, Outcome::Kind::Network);
  EXPECT_NE(made.outcomes.b.message.find("the cable is cut"), std::string::npos)
      << made.outcomes.b.message;
  EXPECT_EQ(made.outcomes.a.kind, Outcome::Kind::Network) << made.outcomes.a.message;
  for (const MemorySink& sink : made.sinks) EXPECT_EQ(sink.units, 0);
}

TEST(Workers, AllStopWhenOneConnectionFails) {
  for (const std::size_t worker : {0u, 1u, 2u}) {
    const WorkersMade made = preprocess(
        3, {.wrap_b = for_worker(
                worker, 3,
                cheating([](std::string_view tag, std::size_t occurrence, std::vector<std::byte>&) {
                  if (tag == "laand.u" && occurrence == 1) throw NetworkError("the cable is cut");
                }))});
    EXPECT_EQ(made.outcomes.b.kind, Outcome::Kind::Network);
    EXPECT_NE(made.outcomes.b.message.find("the cable is cut"), std::string::npos)
        << made.outcomes.b.message;
    EXPECT_EQ(made.outcomes.a.kind, Outcome::Kind::Network) << made.outcomes.a.message;
    // Neither party has the second unit of this worker.
    for (const MemorySink& sink : made.sinks) EXPECT_LE(sink.units, static_cast<int>(3 + worker));
    // A party may have finished one unit more than the other when it stops.
    EXPECT_LE(std::abs(made.sinks[0].units - made.sinks[1].units), 1);
  }
}

TEST(Workers, FailedCheckOfOneEndsAllAndIsReportedToThePeer) {
  for (const Party cheater : {Party::A, Party::B}) {
    for (const std::size_t worker : {0u, 1u, 2u}) {
      PartyOptions options;
      (cheater == Party::A ? options.wrap_a : options.wrap_b) =
          for_worker(worker, 3, cheating(flip_bit("aand.d", 0, 5)));
      const WorkersMade made = preprocess(3, options);
      const auto honest = static_cast<int>(peer_of(cheater));
      EXPECT_TRUE(caught_by(of(made.outcomes, peer_of(cheater)), "MAC transcript"));
      EXPECT_EQ(of(made.outcomes, cheater).kind, Outcome::Kind::PeerAborted)
          << of(made.outcomes, cheater).message;
      EXPECT_EQ(made.sinks[honest].units, static_cast<int>(worker))
          << "units before the altered one are kept, later ones are discarded";
    }
  }
}

// Records the state at the time of the abort message to the peer.
class AbortNotingChannel final : public ChannelDecorator {
 public:
  AbortNotingChannel(std::unique_ptr<Channel> inner, std::function<void()> on_abort)
      : ChannelDecorator(std::move(inner)), on_abort_(std::move(on_abort)) {}
  void send_abort() noexcept override {
    on_abort_();
    inner().send_abort();
  }

 private:
  std::function<void()> on_abort_;
};

// The failure is recorded before the abort is sent, and nothing reaches the sink afterwards.
TEST(Workers, RecordsFailedCheckBeforeNotifyingThePeer) {
  const auto params = SecurityParameters::make(kNnob12);
  const std::vector<UnitRequest> requests(kUnits, {params.plan(kUnit).at(0), kInputs});
  for (const std::size_t worker : {0u, 1u, 2u}) {
    std::atomic<int> recorded = 0, notified_too_early = 0, notified = 0;
    PartyOptions options;
    options.wrap_a = [&](std::unique_ptr<Channel> inner) {
      return std::make_unique<AbortNotingChannel>(std::move(inner), [&] {
        ++notified;
        if (recorded == 0) ++notified_too_early;
      });
    };
    options.wrap_b = for_worker(worker, 3, cheating(flip_bit("aand.d", 0, 5)));
    MemorySink sinks[2];
    int units_when_recorded = -1;
    const Outcomes outcomes = run_workers(
        3,
        [&](Session& session, std::span<const std::unique_ptr<Channel>> more) {
          MemorySink& sink = sinks[static_cast<int>(session.me())];
          Preprocessor preprocessor(session, params, more);
          UnitAccount account(sink, params);
          const bool is_honest = session.me() == Party::A;
          const auto record = [&, is_honest](const std::exception_ptr&) {
            if (is_honest && recorded++ == 0) units_when_recorded = sink.units;
          };
          try {
            preprocessor.make_units(requests, account, account, {.check_failed = record});
          } catch (const PeerCheated&) {
            EXPECT_THROW(account.pour(material::Batch()), WorkerStopped);
            throw;
          }
        },
        options, false);
    EXPECT_TRUE(caught_by(outcomes.a, "MAC transcript"));
    EXPECT_GT(recorded, 0) << worker;
    EXPECT_GT(notified, 1) << "on the session's channel and those of further workers, " << worker;
    EXPECT_EQ(notified_too_early, 0) << worker;
    EXPECT_EQ(sinks[0].units, units_when_recorded) << worker;
  }
}

TEST(Workers, ReportsFailureOfTheSink) {
  class FullSink : public material::Sink {
   public:
    void pour(material::Batch) override {}
    void finish_unit() override { throw StoreError("the disk is full"); }
  };
  const auto params =
      SecurityParameters::make({.own = Nnob12Parameters{Columns::Experiment}, .unit = kUnit});
  const std::vector<UnitRequest> requests(kUnits, {params.plan(kUnit).at(0), kInputs});
  const Outcomes outcomes = run_workers(
      2,
      [&](Session& session, std::span<const std::unique_ptr<Channel>> more) {
        FullSink full;
        MemorySink empty;
        Preprocessor preprocessor(session, params, more);
        preprocessor.make_units(
            requests, session.me() == Party::A ? static_cast<material::Sink&>(full) : empty);
      },
      {}, false);
  EXPECT_EQ(outcomes.a.message, "the disk is full");
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Network) << outcomes.b.message;
}

}  // namespace
}  // namespace tinyot
