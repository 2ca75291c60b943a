// The workers of both parties in one process, with work that says when it is cancelled.
#include "service/evaluations.h"

#include <gtest/gtest.h>

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

// A party with one worker, and the store as its session 1.
class Side {
 public:
  Side(Party party, const std::string& port, const std::filesystem::path& store)
      : settings_(service::parse_configuration(
                      "directory: 'd' peer { name: 'peer' party: " + name_of(party) + " " +
                          (party == Party::A ? "listen" : "connect") + ": '127.0.0.1:" + port +
                          "' profile: 'fast' policy: 'p' low { ands: 1 } high { ands: 2 } "
                          "evaluations: 1 }",
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
