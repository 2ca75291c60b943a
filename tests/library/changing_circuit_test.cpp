// A circuit function that does not do the same on each call: an error of the party whose function
// it is, before anything that depends on the difference is sent. The session stays as it is.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>

#include "tests/support/two_threads.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using circuit::Bit;
using circuit::make_circuit;
using circuit::Number;
using circuit::Program;
using circuit::Receiver;

// How a call of the function differs from those before.
enum class Change {
  FirstGate,
  LastGate,
  MoreGates,
  FewerGates,
  Output,
  Throws,
  CatchesTheError,
  Width,
  Receiver,
};
constexpr Change kChanges[] = {Change::FirstGate,       Change::LastGate, Change::MoreGates,
                               Change::FewerGates,      Change::Output,   Change::Throws,
                               Change::CatchesTheError, Change::Width,    Change::Receiver};

// A function is called first for its declarations, then for the fingerprint, then for the run.
constexpr int kCallOfRun = 3;

// Small ones are layered before the parties connect, large ones are generated during the run.
enum class Size { Small, Large };
constexpr int steps_of(Size size) { return size == Size::Small ? 100 : 300'000; }

// x & y after many XORs, of A's x and, unless it is shared, B's y. From call kCallOfRun on it
// differs, unless there is no change.
std::unique_ptr<circuit::Circuit> changing(std::optional<Change> change, Size size,
                                           bool takes_shared = false) {
  const auto calls = std::make_shared<std::atomic<int>>(0);
  return make_circuit("changing", [=](Program& program) {
    const bool differs = ++*calls >= kCallOfRun && change;
    const auto is = [&](Change kind) { return differs && change == kind; };
    const Number x = program.input("x", is(Change::Width) ? 3 : 2, Party::A),
                 y = takes_shared ? program.input("y", 2, circuit::InputSource::Shared)
                                  : program.input("y", 2, Party::B);
    Bit z = is(Change::FirstGate) ? x[1] & y[0] : x[0] & y[0];
    const int steps = steps_of(size) + (is(Change::MoreGates)    ? 1
                                        : is(Change::FewerGates) ? -1
                                                                 : 0);
    for (int i = 0; i < steps; ++i) {
      if (is(Change::Throws) && i == steps / 2) throw std::runtime_error("half way");
      const bool is_other = is(Change::CatchesTheError) && i == steps / 2;
      try {
        z = z ^ (is_other || (is(Change::LastGate) && i == steps - 1) ? x[1] : y[1]);
      } catch (const UsageError&) {
      }
    }
    program.output("z", is(Change::Output) ? x[0] : z,
                   is(Change::Receiver) ? Receiver::A : Receiver::Both);
  });
}

// "none", or the kind of the exception.
std::string error_of(const std::function<void()>& call, std::optional<Change> change) {
  try {
    call();
  } catch (const PeerCheated&) {
    return "cheated";
  } catch (const PeerAborted&) {
    return "aborted";
  } catch (const NetworkError&) {
    return "network";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("circuit changing is not the same each time"), std::string::npos) << text;
    EXPECT_NE(text.find("no random numbers"), std::string::npos) << text;
    return "usage";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(change, Change::Throws) << error.what();
    EXPECT_STREQ(error.what(), "half way");
    return "usage";
  }
  return "none";
}

void expect_intact(const Stores& stores) {
  for (const Party party : {Party::A, Party::B}) {
    const StoreInfo info = store_info(stores.of(party));
    EXPECT_EQ(info.state, StoreState::Complete) << info.revocation_reason;
  }
  both([&](Party party) {
    EXPECT_EQ(
        run(stores.run(party), *changing({}, Size::Small), input_of(party, 1)).outputs.integer("z"),
        1u);
  });
}

class ChangingCircuit : public ::testing::TestWithParam<Change> {};
INSTANTIATE_TEST_SUITE_P(Library, ChangingCircuit, ::testing::ValuesIn(kChanges));

TEST_P(ChangingCircuit, SmallOnesAreRefusedBeforeTheRunConnects) {
  const Stores stores(64, 64);
  const Endpoint unused = Endpoint::over([]() -> std::unique_ptr<Transport> {
    ADD_FAILURE() << "a connection";
    throw std::logic_error("a connection");
  });
  for (const Party party : {Party::A, Party::B}) {
    RunRequest stored = stores.run(party);
    stored.endpoint = unused;
    EXPECT_EQ(error_of([&] { run(stored, *changing(GetParam(), Size::Small), input_of(party, 1)); },
                       GetParam()),
              "usage");
    const RunRequest live{.party = party, .endpoint = unused, .live = ParameterRequest{}};
    EXPECT_EQ(error_of([&] { run(live, *changing(GetParam(), Size::Small), input_of(party, 1)); },
                       GetParam()),
              "usage");
  }
  expect_intact(stores);
}

// In the run, at either party: the other one sees the connection end.
TEST_P(ChangingCircuit, LargeOnesEndTheRunAndLeaveTheSession) {
  const Stores stores(1024, 512);
  for (const bool is_live : {false, true}) {
    for (const Party whose : {Party::A, Party::B}) {
      std::map<Party, std::string> errors;
      const Endpoints connection;
      std::mutex mutex;
      both([&](Party party) {
        RunRequest request{.party = party, .endpoint = connection.of(party)};
        if (is_live)
          request.live = ParameterRequest{.profile = Profile::Fast};
        else
          request.stores = {stores.of(party)};
        const auto circuit =
            changing(party == whose ? std::optional(GetParam()) : std::nullopt, Size::Large);
        const std::string error =
            error_of([&] { run(request, *circuit, input_of(party, 1)); }, GetParam());
        const std::lock_guard lock(mutex);
        errors[party] = error;
      });
      EXPECT_EQ(errors[whose], "usage") << is_live;
      EXPECT_EQ(errors[whose == Party::A ? Party::B : Party::A], "network") << is_live;
    }
  }
  expect_intact(stores);
}

// In a connection with a shared value, small and large. The connection ends at once, not when the
// evaluator is destroyed: the peer is waiting.
TEST_P(ChangingCircuit, EndsTheConnectionOfAnEvaluator) {
  const Stores stores(1024, 512);
  const auto hidden = make_circuit("hidden", [](Program& program) {
    program.output("y", program.input("y", 2, Party::B), Receiver::None);
  });
  for (const Size size : {Size::Small, Size::Large}) {
    std::map<Party, std::unique_ptr<Evaluator>> evaluators;
    std::map<Party, std::string> errors;
    std::mutex mutex;
    const Endpoints connection;
    both([&](Party party) {
      RunRequest request = stores.run(party);
      request.endpoint = connection.of(party);
      auto evaluator = std::make_unique<Evaluator>(request);
      const RunResult first =
          evaluator->run(*hidden, party == Party::B ? input_of(party, 1) : Values());
      const auto circuit =
          changing(party == Party::A ? std::optional(GetParam()) : std::nullopt, size, true);
      const std::string error = error_of(
          [&] {
            evaluator->run(*circuit, party == Party::A ? input_of(party, 1) : Values(),
                           first.shared);
          },
          GetParam());
      const std::lock_guard lock(mutex);
      errors[party] = error;
      evaluators[party] = std::move(evaluator);
    });
    EXPECT_EQ(errors[Party::A], "usage");
    EXPECT_EQ(errors[Party::B], "network");
    for (auto& [party, evaluator] : evaluators)
      EXPECT_THROW(evaluator->run(*hidden, {}), std::logic_error) << "the connection has ended";
  }
  expect_intact(stores);
}

// As with a random number in it: the parties' fingerprints differ, or one party's generations do,
// or both agree; they never accuse each other.
TEST(ChangingCircuits, OfBothPartiesAreNoDeviation) {
  const Stores stores(1024, 512);
  for (unsigned bits = 0; bits < 16; ++bits) {
    std::mutex mutex;
    std::map<Party, std::string> errors;
    const Endpoints connection;
    both([&](Party party) {
      // Bit 0 or 2: what the function does for the fingerprint; 1 or 3: in the run.
      const unsigned mine = bits >> (party == Party::A ? 0 : 2);
      int calls = 0;
      const auto circuit = make_circuit("random", [&](Program& program) {
        const unsigned call = ++calls >= kCallOfRun ? 1 : 0;
        const Number x = program.input("x", 2, Party::A), y = program.input("y", 2, Party::B);
        program.output("z", (mine >> call & 1) != 0 ? less(x, y) : ~less(y, x));
      });
      RunRequest request = stores.run(party);
      request.endpoint = connection.of(party);
      std::string error = "none";
      try {
        Evaluator evaluator(request);
        evaluator.run(*circuit, input_of(party, 1));
      } catch (const PeerCheated&) {
        error = "cheated";
      } catch (const PeerAborted&) {
        error = "aborted";
      } catch (const NetworkError&) {
        error = "network";
      } catch (const Disagreement&) {
        error = "disagreement";
      } catch (const UsageError&) {
        error = "usage";
      }
      const std::lock_guard lock(mutex);
      errors[party] = error;
    });
    const auto changes = [&](unsigned mine) { return ((mine ^ mine >> 1) & 1) != 0; };
    const bool a = changes(bits), b = changes(bits >> 2), differ = ((bits ^ bits >> 2) & 1) != 0;
    EXPECT_EQ(errors[Party::A], a ? "usage" : b ? "network" : differ ? "disagreement" : "none");
    EXPECT_EQ(errors[Party::B], b ? "usage" : a ? "network" : differ ? "disagreement" : "none");
  }
  expect_intact(stores);
}

}  // namespace
}  // namespace tinyot
