// The workers of both parties in one process, with work that says when it is cancelled.
#include "service/evaluations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>

#include "circuitgen/generators/registry.h"
#include "service/configuration.h"
#include "service/policy.h"
#include "tests/support/becomes_true.h"
#include "tests/support/files.h"
#include "tests/support/ports.h"
#include "tests/support/two_threads.h"

namespace tinyot::test {
namespace {

using service::Evaluations;
using service::SharedKeyWork;

class Work final : public service::KeyWork {
 public:
  using Steps = std::function<void(Evaluator&, const Work&)>;
  explicit Work(Steps steps) : steps_(std::move(steps)) {}
  // Whether the connection had been in use before, which this work has begun or gone on with.
  bool has_found_keys() const { return has_found_keys_; }
  MaterialCounts material(AndMaterial) const override { return {}; }
  std::uint64_t ands() const override { return 0; }
  service::Asker asker() const override { return {}; }
  bool begins(std::size_t, std::uint64_t, std::uint64_t) override { return true; }
  void run(Evaluator& evaluator, std::shared_ptr<service::KeyConnection>& keys) override {
    has_found_keys_ = keys.use_count() > 0;
    keys = {std::make_shared<int>(), nullptr};
    steps_(evaluator, *this);
  }
  void ended(const std::optional<service::JobError>&) override {}

 private:
  const Steps steps_;
  std::atomic<bool> has_found_keys_ = false;
};

// A party with two workers, and the store as its session 1. `ended` is called first when an order
// has ended.
class Side {
 public:
  Side(
      Party party, const std::string& port, const std::filesystem::path& store,
      const std::filesystem::path& ledger = {}, std::function<void()> ended = [] {})
      : settings_(service::parse_configuration(
                      "directory: 'd' peer { name: 'peer' party: " + name_of(party) + " " +
                          (party == Party::A ? "listen" : "connect") + ": '127.0.0.1:" + port +
                          "' profile: 'fast' policy: 'p' low { ands: 1 } high { ands: 2 } "
                          "evaluations: 2 }",
                      "conf")
                      .peer(0)),
        port_(options_of(party, port), [](std::uint64_t) {}),
        sessions_(directory_with(store), {}, {}), ended_(std::move(ended)),
        evaluations_(
            settings_, port_, sessions_, jobs_, ledger,
            [this](std::size_t, const Evaluations::Order&, Evaluations::Outcome outcome) {
              ended_();
              const std::lock_guard lock(mutex_);
              outcomes_.push_back(std::move(outcome));
              changed_.notify_all();
            },
            [this] { ++lost_; }) {}
  ~Side() { evaluations_.stop(); }

  Evaluations& evaluations() { return evaluations_; }
  std::shared_ptr<Work> begin(std::uint64_t group, Work::Steps steps) {
    const auto work = std::make_shared<Work>(std::move(steps));
    const auto refusal = evaluations_.begin(0, {.key = work, .group = group, .session = 1});
    EXPECT_EQ(refusal, std::nullopt);
    return work;
  }
  // Of the next work that ends.
  std::string outcome() {
    const auto next = next_outcome();
    if (!next) return "it does not end";
    return next->error ? next->error->message : "done";
  }
  std::optional<Evaluations::Outcome> next_outcome() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [&] { return !outcomes_.empty(); }))
      return std::nullopt;
    Evaluations::Outcome outcome = std::move(outcomes_.front());
    outcomes_.pop_front();
    return outcome;
  }
  // How often a connection was lost while nothing ran on it.
  int lost() const { return lost_; }

 private:
  static engine::PeerOptions options_of(Party party, const std::string& port) {
    engine::PeerOptions options;
    options.listen = party == Party::A;
    options.address = {"127.0.0.1", port};
    options.timeouts = {std::chrono::seconds(30), std::chrono::seconds(30)};
    return options;
  }
  static std::filesystem::path directory_with(const std::filesystem::path& store) {
    const std::filesystem::path directory = store.string() + " sessions";
    std::filesystem::create_directory(directory);
    std::filesystem::rename(store, directory / "000001");
    return directory;
  }

  const service::PeerSettings settings_;
  service::StreamPort port_;
  service::Sessions sessions_;
  service::Jobs jobs_{{10, 1 << 20, std::chrono::seconds(60), std::chrono::seconds(60)}};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Evaluations::Outcome> outcomes_;
  std::atomic<int> lost_ = 0;
  const std::function<void()> ended_;
  Evaluations evaluations_;
};

// A client goes as its request is done: the next one, of another client, is not concerned.
TEST(Evaluations, CancellationThatComesTooLateEndsNothingElse) {
  const Stores stores;
  const std::string port = reserved_port();
  Side a(Party::A, port, stores.of(Party::A)), b(Party::B, port, stores.of(Party::B));
  for (const std::string purpose : {"first", "second"}) {
    const std::uint64_t group = a.evaluations().group_for(0, 1);
    a.begin(group, [&](Evaluator& evaluator, const Work& work) {
      (void)evaluator.toss_coins(purpose);
      if (purpose == "first") a.evaluations().cancel(work);
    });
    b.begin(group, [&](Evaluator& evaluator, const Work&) { (void)evaluator.toss_coins(purpose); });
    EXPECT_EQ(a.outcome(), "done") << purpose;
    EXPECT_EQ(b.outcome(), "done") << purpose;
  }
}

// Both parties' workers run, on one connection, until the gate is opened.
class BusyEvaluations : public ::testing::Test {
 protected:
  void SetUp() override {
    group_ = a_.evaluations().group_for(0, 1);
    for (Side* const side : {&a_, &b_})
      side->begin(group_, [this](Evaluator&, const Work&) {
        running_.count_down();
        gate_.wait();
      });
    running_.wait();
  }
  std::optional<std::string> order(std::uint64_t group, std::uint64_t session,
                                   std::size_t worker = 0) {
    return a_.evaluations().begin(worker,
                                  {.key = std::make_shared<Work>([](Evaluator&, const Work&) {}),
                                   .group = group,
                                   .session = session});
  }

  const Stores stores_;
  const std::string port_ = reserved_port();
  std::latch running_{2}, gate_{1};
  std::uint64_t group_ = 0;
  Side a_{Party::A, port_, stores_.of(Party::A)}, b_{Party::B, port_, stores_.of(Party::B)};
};

// The leading party orders one after the other; one that it orders elsewhere replaces what waits.
TEST_F(BusyEvaluations, OneOrderWaitsForAConnection) {
  EXPECT_EQ(order(group_, 1), std::nullopt);
  EXPECT_EQ(order(group_, 1), "two jobs on one connection");
  const std::uint64_t other = group_ + 1;
  EXPECT_EQ(order(other, 1), std::nullopt);
  gate_.count_down();
  b_.begin(other, [](Evaluator&, const Work&) {});
  EXPECT_EQ(a_.outcome(), "done");
  EXPECT_NE(a_.outcome().find("has given the job up"), std::string::npos);
  EXPECT_EQ(a_.outcome(), "done");
}

// Its keys are those of one session: an order for another one ends it.
TEST_F(BusyEvaluations, ConnectionIsOfOneSession) {
  EXPECT_EQ(a_.evaluations().kept_group(0, 1), group_);
  EXPECT_EQ(order(group_, 2),
            "the connection belongs to session 1, and the job is to use session 2");
  gate_.count_down();
  EXPECT_EQ(a_.outcome(), "done");
  EXPECT_EQ(a_.evaluations().kept_group(0, 1), std::nullopt);
  EXPECT_NE(a_.evaluations().group_for(0, 1), group_);
}

// What is loaded on a connection is found by its group.
TEST_F(BusyEvaluations, AGroupIsOfOneWorker) {
  EXPECT_EQ(order(group_, 1, 1), "the connection belongs to another worker");
  EXPECT_EQ(order(group_ + 1, 1, 0), std::nullopt);
  EXPECT_EQ(order(group_ + 1, 1, 1), "the connection belongs to another worker");
  EXPECT_EQ(order(group_ + 2, 1, 1), std::nullopt);
  gate_.count_down();
}

TEST_F(BusyEvaluations, EachSessionHasConnectionsOfItsOwn) {
  EXPECT_EQ(a_.evaluations().group_for(0, 1), group_);
  EXPECT_EQ(a_.evaluations().kept_group(0, 2), std::nullopt);
  const std::uint64_t other = a_.evaluations().group_for(0, 2);
  EXPECT_NE(other, group_);
  EXPECT_EQ(a_.evaluations().kept_group(0, 2), other);
  EXPECT_EQ(a_.evaluations().kept_group(0, 1), std::nullopt);
  gate_.count_down();
}

// Of a session that ends, what runs in it ends with the reason; others go on.
TEST_F(BusyEvaluations, EndOfASessionIsThatOfItsWork) {
  a_.evaluations().end_session(2, "another one");
  gate_.count_down();
  EXPECT_EQ(a_.outcome(), "done");
  EXPECT_EQ(b_.outcome(), "done");
  EXPECT_EQ(a_.evaluations().kept_group(0, 1), group_);
  a_.begin(group_, [&](Evaluator& evaluator, const Work&) {
    a_.evaluations().end_session(1, "a check has failed");
    (void)evaluator.toss_coins("never");
  });
  EXPECT_EQ(a_.outcome(), "a check has failed");
  EXPECT_EQ(a_.evaluations().kept_group(0, 1), std::nullopt);
}

// No order begins on a connection that is about to end, though what runs on it goes on.
TEST_F(BusyEvaluations, ConnectionThatIsToEndGetsNoOtherWork) {
  a_.evaluations().close_below(1);
  a_.evaluations().close(group_ + 1);
  EXPECT_EQ(a_.evaluations().kept_group(0, 1), group_);
  a_.evaluations().close_below(2);
  EXPECT_EQ(a_.evaluations().kept_group(0, 1), std::nullopt);
  const std::uint64_t next = a_.evaluations().group_for(0, 1);
  EXPECT_NE(next, group_);
  a_.evaluations().close(next);
  EXPECT_EQ(a_.evaluations().kept_group(0, 1), std::nullopt);
  EXPECT_NE(a_.evaluations().group_for(0, 1), next);
  gate_.count_down();
  EXPECT_EQ(a_.outcome(), "done");
  EXPECT_EQ(b_.outcome(), "done");
}

// Two parties whose workers have nothing to do most of the time.
class IdleEvaluations : public ::testing::Test {
 protected:
  // Work of both parties, on the connection that the leading one names.
  struct Done {
    std::uint64_t group = 0;
    bool has_found_keys = false;
    service::Traffic traffic;  // of A
  };
  Done work() {
    Done done;
    done.group = a_.evaluations().group_for(0, 1);
    const auto steps = [this](Party party) {
      return [this, party](Evaluator& evaluator, const Work&) {
        Values inputs;
        inputs.set(party == Party::A ? "a" : "b", LaneMatrix(1, 32));
        (void)evaluator.run(*circuit_, inputs);
      };
    };
    const auto at_a = a_.begin(done.group, steps(Party::A)),
               at_b = b_.begin(done.group, steps(Party::B));
    const auto of_a = a_.next_outcome(), of_b = b_.next_outcome();
    EXPECT_TRUE(of_a && !of_a->error) << of_a->error->message;
    EXPECT_TRUE(of_b && !of_b->error) << of_b->error->message;
    done.traffic = of_a->traffic;
    done.has_found_keys = at_a->has_found_keys();
    EXPECT_EQ(at_b->has_found_keys(), done.has_found_keys);
    return done;
  }
  // Of the other party: this one notices it.
  void end_with(const std::function<void(Evaluations&)>& end) {
    const int lost = a_.lost();
    end(b_.evaluations());
    EXPECT_TRUE(becomes_true([&] { return a_.lost() > lost; }, std::chrono::seconds(60)))
        << "its connection is still there";
    EXPECT_EQ(a_.evaluations().kept_group(0, 1), std::nullopt);
  }

  const std::shared_ptr<const circuit::Circuit> circuit_ = circuit::find_circuit("millionaires");
  const Stores stores_;
  const std::string port_ = reserved_port();
  Side a_{Party::A, port_, stores_.of(Party::A)}, b_{Party::B, port_, stores_.of(Party::B)};
};

// What the keys of a session are in memory for ends with the session, also if nothing runs.
TEST_F(IdleEvaluations, ConnectionsEndWithTheirSession) {
  const std::vector<std::function<void(Evaluations&, std::uint64_t)>> ends = {
      [](Evaluations& of, std::uint64_t group) { of.close(group); },
      [](Evaluations& of, std::uint64_t) { of.close_below(2); },
      [](Evaluations& of, std::uint64_t) { of.end_session(1, "the session has ended"); }};
  for (const auto& end : ends) {
    const Done first = work();
    EXPECT_FALSE(first.has_found_keys) << "they were loaded on another connection";
    // Of others.
    b_.evaluations().close(first.group + 1);
    b_.evaluations().close_below(1);
    b_.evaluations().end_session(2, "another session has ended");
    const Done second = work();
    EXPECT_EQ(second.group, first.group);
    EXPECT_TRUE(second.has_found_keys) << "on the same connection";
    end_with([&](Evaluations& of_b) { end(of_b, first.group); });
  }
}

// Of a connection, what each order has sent counts once, and that of the connection before does
// not.
TEST_F(IdleEvaluations, TrafficIsThatOfTheOrder) {
  std::vector<std::uint64_t> sent, received;
  for (int connection = 0; connection < 2; ++connection) {
    std::uint64_t group = 0;
    for (int order = 0; order < 3; ++order) {
      const Done done = work();
      group = done.group;
      sent.push_back(done.traffic.sent);
      received.push_back(done.traffic.received);
    }
    end_with([&](Evaluations& of_b) { of_b.close(group); });
  }
  // The same work, in which the first one has more to compare.
  for (const auto& bytes : {sent, received}) {
    const auto [least, most] = std::ranges::minmax(bytes);
    EXPECT_GT(least, 0u);
    EXPECT_LT(2 * most, 3 * least);
  }
}

// A run that a job takes is kept no more, also while the job waits for its connection: otherwise
// the peer's order to prepare the next one would be refused.
TEST_F(IdleEvaluations, ARunThatAWaitingJobTakesIsNotCounted) {
  const engine::LoadedCircuit circuit = *engine::LoadedCircuit::generated("millionaires", 1);
  const service::PreparedCircuit prepared{.circuit = circuit,
                                          .terms = service::terms_of(circuit),
                                          .phase = OnlinePhase::Masked,
                                          .ands = circuit.cost().ands,
                                          .configured = 1,
                                          .kept = 1};
  const std::uint64_t group = a_.evaluations().group_for(0, 1);
  std::uint64_t number = 0;
  for (Side* const side : {&a_, &b_})
    ASSERT_EQ(side->evaluations().begin(0, {.group = group, .session = 1, .circuit = &prepared}),
              std::nullopt);
  for (Side* const side : {&a_, &b_}) {
    const auto made = side->next_outcome();
    ASSERT_TRUE(made);
    ASSERT_FALSE(made->error) << made->error->message;
    number = made->prepared;
  }
  std::latch running{2}, gate{1};
  for (Side* const side : {&a_, &b_})
    side->begin(group, [&](Evaluator&, const Work&) {
      running.count_down();
      gate.wait();
    });
  running.wait();
  service::Jobs jobs({10, 1 << 20, std::chrono::seconds(60), std::chrono::seconds(60)});
  for (const Party party : {Party::A, Party::B}) {
    Side& side = party == Party::A ? a_ : b_;
    EXPECT_EQ(side.evaluations().count(prepared), 1u) << letter(party);
    Values values;
    values.set(party == Party::A ? "a" : "b", LaneMatrix(1, 32));
    const auto inputs = std::make_shared<const Values>(std::move(values));
    const service::SharedJob job =
        jobs.add({std::string(1, letter(party)), "peer", circuit, {}, inputs}, {});
    EXPECT_EQ(side.evaluations().begin(0, {.job = job,
                                           .inputs = inputs,
                                           .group = group,
                                           .session = 1,
                                           .circuit = &prepared,
                                           .prepared = number}),
              std::nullopt);
    EXPECT_EQ(side.evaluations().count(prepared), 0u) << letter(party);
  }
  gate.count_down();
  for (Side* const side : {&a_, &b_}) {
    EXPECT_EQ(side->outcome(), "done") << "the work";
    EXPECT_EQ(side->outcome(), "done") << "the job";
    EXPECT_EQ(side->evaluations().count(prepared), 0u);
  }
}

// The reason for which a session has ended is that of its own work.
TEST_F(IdleEvaluations, WorkThatFailsLaterHasItsOwnReason) {
  for (const std::string reason : {"the session has ended", "of its own"}) {
    const std::uint64_t group = a_.evaluations().group_for(0, 1);
    a_.begin(group, [&](Evaluator&, const Work&) {
      if (reason != "of its own") a_.evaluations().end_session(1, reason);
      throw StoreError("of its own");
    });
    b_.begin(group, [](Evaluator&, const Work&) {});
    EXPECT_EQ(a_.outcome(), reason);
    EXPECT_EQ(b_.outcome(), "done");
  }
}

// While one worker still tells the peer that its check has failed, another one may find the session
// revoked and end it. All keys with the peer are suspended for the check that has failed.
TEST(Evaluations, CheckThatFailsIsReportedThoughItsSessionEndsMeanwhile) {
  const Stores stores;
  const std::string port = reserved_port();
  Side a(Party::A, port, stores.of(Party::A)), b(Party::B, port, stores.of(Party::B));
  const std::uint64_t group = a.evaluations().group_for(0, 1);
  a.begin(group, [&](Evaluator&, const Work&) {
    a.evaluations().end_session(1, "the session is revoked");
    throw PeerCheated("of this test");
  });
  b.begin(group, [](Evaluator&, const Work&) {});
  EXPECT_EQ(a.outcome(), PeerCheated("of this test").what());
}

// The scheduler tells the peer on the link why a job has failed here, and the peer then ends the
// job's connection: until it has, the connection stays.
TEST(Evaluations, ConnectionOfAJobThatFailsHereOutlivesTheReport) {
  const Stores stores;
  const TestDirectory directory;
  std::filesystem::create_directory(directory / "ledger0");  // in the place of the file
  const std::string port = reserved_port();
  std::promise<void> end_of_a;
  std::atomic<bool> has_a_ended_first = false;
  Side a(Party::A, port, stores.of(Party::A));
  SharedKeyWork waiting;
  Side b(Party::B, port, stores.of(Party::B), directory / "ledger", [&] {
    has_a_ended_first =
        end_of_a.get_future().wait_for(std::chrono::milliseconds(300)) == std::future_status::ready;
    a.evaluations().cancel(*waiting);
  });
  const std::uint64_t group = a.evaluations().group_for(0, 1);
  const engine::LoadedCircuit circuit = *engine::LoadedCircuit::generated("millionaires", 1);
  const auto inputs_of = [](const char* name) {
    Values values;
    values.set(name, LaneMatrix(1, 32));
    return std::make_shared<const Values>(std::move(values));
  };
  waiting = a.begin(group, [&](Evaluator& evaluator, const Work&) {
    try {
      (void)evaluator.run(circuit.circuit(), *inputs_of("a"), {}, 1, "job");
    } catch (...) {
      end_of_a.set_value();
      throw;
    }
  });
  service::Jobs jobs({10, 1 << 20, std::chrono::seconds(60), std::chrono::seconds(60)});
  const auto inputs = inputs_of("b");
  const service::SharedJob job = jobs.add({"job", "peer", circuit, {}, inputs}, {});
  ASSERT_EQ(b.evaluations().begin(0, {.job = job, .inputs = inputs, .group = group, .session = 1}),
            std::nullopt);
  const auto outcome = b.next_outcome();
  ASSERT_TRUE(outcome && outcome->error);
  EXPECT_EQ(outcome->error->error_class, ErrorClass::Store) << outcome->error->message;
  EXPECT_TRUE(outcome->is_to_be_told);
  EXPECT_FALSE(has_a_ended_first);
  EXPECT_EQ(a.outcome(), Cancelled().what());
}

}  // namespace
}  // namespace tinyot::test
