// The workers of both parties in one process, with work that says when it is cancelled.
#include "service/evaluations.h"

#include <gtest/gtest.h>

#include <latch>

#include "service/configuration.h"
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
  MaterialCounts material(AndMaterial) const override { return {}; }
  std::uint64_t ands() const override { return 0; }
  service::Asker asker() const override { return {}; }
  bool begins(std::size_t, std::uint64_t, std::uint64_t) override { return true; }
  void run(Evaluator& evaluator, std::shared_ptr<service::KeyConnection>&) override {
    steps_(evaluator, *this);
  }
  void ended(const std::optional<service::JobError>&) override {}

 private:
  const Steps steps_;
};

// A party with two workers, and the store as its session 1.
class Side {
 public:
  Side(Party party, const std::string& port, const std::filesystem::path& store)
      : settings_(service::parse_configuration(
                      "directory: 'd' peer { name: 'peer' party: " + name_of(party) + " " +
                          (party == Party::A ? "listen" : "connect") + ": '127.0.0.1:" + port +
                          "' profile: 'fast' policy: 'p' low { ands: 1 } high { ands: 2 } "
                          "evaluations: 2 }",
                      "conf")
                      .peer(0)),
        port_(options_of(party, port), [](std::uint64_t) {}),
        sessions_(directory_with(store), {}, {}),
        evaluations_(
            settings_, port_, sessions_, jobs_, {},
            [this](std::size_t, const Evaluations::Order&, Evaluations::Outcome outcome) {
              const std::lock_guard lock(mutex_);
              outcomes_.push_back(outcome.error ? outcome.error->message : "done");
              changed_.notify_all();
            },
            [] {}) {}
  ~Side() { evaluations_.stop(); }

  Evaluations& evaluations() { return evaluations_; }
  void begin(std::uint64_t group, Work::Steps steps) {
    const auto refusal = evaluations_.begin(
        0, {.key = std::make_shared<Work>(std::move(steps)), .group = group, .session = 1});
    EXPECT_EQ(refusal, std::nullopt);
  }
  // Of the next work that ends.
  std::string outcome() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [&] { return !outcomes_.empty(); }))
      return "it does not end";
    const std::string outcome = outcomes_.front();
    outcomes_.pop_front();
    return outcome;
  }

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
  std::deque<std::string> outcomes_;
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

}  // namespace
}  // namespace tinyot::test
