// Stores and runs through the public headers.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tests/support/blocked_thread.h"
#include "tests/support/two_threads.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using circuit::make_circuit;
using circuit::Program;
using circuit::Receiver;

std::unique_ptr<circuit::Circuit> product(std::uint32_t bits = 16) {
  return make_circuit("product", [=](Program& program) {
    const auto x = program.input("x", bits, Party::A), y = program.input("y", bits, Party::B);
    program.output("z", x * y);
    program.output("low of y", y.bits().first(4), Receiver::A);
  });
}

// What is left at both parties.
std::uint64_t ands_left_in(const Stores& stores) {
  const std::uint64_t left = store_info(stores.of(Party::A)).ands_left;
  EXPECT_EQ(left, store_info(stores.of(Party::B)).ands_left);
  return left;
}

TEST(Library, PreprocessesAndRuns) {
  const Stores stores;
  const StoreInfo before = store_info(stores.of(Party::A));
  EXPECT_EQ(before.state, StoreState::Complete);
  EXPECT_EQ(before.party, Party::A);
  EXPECT_EQ(before.session, store_info(stores.of(Party::B)).session);
  EXPECT_EQ(before.session.size(), 64u);
  EXPECT_EQ(before.security.material, AndMaterial::Triples);
  EXPECT_GE(before.security.sigma_exact, 40);
  EXPECT_GE(before.ands_left, 4096u);
  EXPECT_EQ(before.security.outstanding, 0u);
  both([&](Party party) {
    const RunResult result =
        run(stores.run(party), *product(), input_of(party, party == Party::A ? 1234 : 567));
    EXPECT_EQ(result.outputs.integer("z"), 1234u * 567u % 65536);
    EXPECT_EQ(result.outputs.contains("low of y"), party == Party::A);
    if (party == Party::A) {
      EXPECT_EQ(result.outputs.integer("low of y"), 567u % 16);
    }
    EXPECT_GT(result.ands, 0u);
    EXPECT_FALSE(result.phases.empty());
  });
  EXPECT_LT(store_info(stores.of(Party::A)).ands_left, before.ands_left);
}

TEST(Library, RunsInLanes) {
  const Stores stores(1 << 16, 1 << 13);
  constexpr std::size_t kLanes = 70;
  both([&](Party party) {
    std::vector<std::uint64_t> mine;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      mine.push_back(party == Party::A ? lane : lane + 3);
    const RunResult result = run(stores.run(party), *product(),
                                 Values().set(party == Party::A ? "x" : "y", mine), kLanes);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      EXPECT_EQ(result.outputs.integer("z", lane), lane * (lane + 3));
  });
}

TEST(Library, RunsLive) {
  const Endpoints endpoints;
  both([&](Party party) {
    RunRequest request{.party = party, .endpoint = endpoints.of(party)};
    request.live = ParameterRequest{.profile = Profile::Fast};
    EXPECT_EQ(run(request, *product(), input_of(party, 9)).outputs.integer("z"), 81u);
  });
}

TEST(Library, RefusesUnsuitableInputsBeforeConnecting) {
  const Endpoints endpoints;
  RunRequest request{.party = Party::A, .endpoint = endpoints.of(Party::A)};
  request.live = ParameterRequest{.profile = Profile::Fast};
  const auto message = [&](const Values& inputs, std::size_t lanes = 1) {
    return message_of([&] { run(request, *product(), inputs, lanes); });
  };
  EXPECT_EQ(message({}), "input x is missing");
  EXPECT_EQ(message(Values().set("x", 1).set("y", 1)), "input y belongs to the peer");
  EXPECT_EQ(message(Values().set("x", 1).set("w", 1)), "the circuit has no input w; it has x, y");
  EXPECT_EQ(message(Values().set("x", 65536)), "a value of input x has more than 16 bits");
  EXPECT_EQ(message(Values().set("x", 1), 2), "input x has 1 values instead of 2");
  EXPECT_EQ(message(Values().set("x", 1), 0), "lanes are out of range: 1 to 2^24");
  const auto later = circuit::make_circuit("later", [](circuit::Program& program) {
    program.output("z", program.input("s", 8, circuit::InputSource::Shared));
  });
  EXPECT_EQ(message_of([&] { run(request, *later, {}); }),
            "input s takes a shared value of an earlier circuit: use one connection of the library "
            "for both (Evaluator in C++, Party.connect in Python)");
  request.live.reset();
  EXPECT_NE(message(Values().set("x", 1)).find("a run needs stores, or live parameters"),
            std::string::npos);
}

TEST(Library, ComparesCircuitsBeforeUsingMaterial) {
  const Stores stores;
  const StoreInfo before = store_info(stores.of(Party::A));
  both([&](Party party) {
    // The same name and interface, but another gate.
    const auto circuit = make_circuit("f", [=](Program& program) {
      const auto x = program.input("x", 1, Party::A), y = program.input("y", 1, Party::B);
      program.output("z", party == Party::A ? x[0] & y[0] : x[0] | y[0]);
    });
    EXPECT_THROW(run(stores.run(party), *circuit, input_of(party, 1)), Disagreement);
  });
  EXPECT_EQ(store_info(stores.of(Party::A)).left(), before.left()) << "nothing was used";
}

TEST(Library, ReportsShortageBeforeConnecting) {
  const Stores stores(64, 64);
  RunRequest request = stores.run(Party::A);
  EXPECT_THROW(run(request, *product(), input_of(Party::A, 1), 1000), UsageError);
  const std::vector<std::uint64_t> many(100'000);
  EXPECT_THROW(run(request, *product(), Values().set("x", many), many.size()), OutOfMaterial);
}

// One process of each party evaluates several circuits at a time while it makes more material.
// (Here both parties are in one process.)
TEST(Library, RunsAtTheSameTimeWhileTheStoreGrows) {
  constexpr std::uint64_t kThreads = 3, kRuns = 6, kMore = std::uint64_t{1} << 16;
  const Stores stores(1 << 14, 4096);
  const std::uint64_t ands = ands_left_in(stores);
  std::atomic<std::uint64_t> used = 0;
  std::vector<std::future<void>> work;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread)
    work.push_back(std::async(std::launch::async, [&, thread] {
      for (std::uint64_t i = 0; i < kRuns; ++i) {
        const Endpoints connection;
        both([&](Party party) {
          RunRequest request = stores.run(party);
          request.endpoint = connection.of(party);
          const std::uint64_t x = 100 * thread + i, y = 7 * i;
          const RunResult result =
              run(request, *product(), input_of(party, party == Party::A ? x : y));
          EXPECT_EQ(result.outputs.integer("z"), x * y);
          if (party == Party::A) used += result.ands;
        });
      }
    }));
  both([&](Party party) {
    PreprocessRequest request{
        .party = party, .endpoint = stores.endpoints.of(party), .store = stores.of(party)};
    request.parameters = {.profile = Profile::Fast, .unit = 1024};
    request.amount = Amount::More;
    request.ands = kMore;
    EXPECT_EQ(preprocess(request).ands, kMore);
  });
  for (std::future<void>& each : work) each.get();
  EXPECT_EQ(ands_left_in(stores), ands + kMore - used);
}

TEST(Library, RetiredStoresAreRevoked) {
  const Stores stores;
  EXPECT_TRUE(retire_store(stores.of(Party::A)).not_done.empty());
  const StoreInfo info = store_info(stores.of(Party::A));
  EXPECT_EQ(info.state, StoreState::Revoked);
  EXPECT_FALSE(info.revocation_reason.empty());
  EXPECT_EQ(info.ands_left, 0u);
  EXPECT_THROW(run(stores.run(Party::A), *product(), input_of(Party::A, 1)), StoreError);
}

TEST(Library, StopsPreprocessingAfterCurrentUnit) {
  struct StopAfterFirst : Observer {
    void advanced(std::uint64_t unit, std::uint64_t, std::string_view, std::uint64_t,
                  std::uint64_t) override {
      if (unit > 0) stop.request_stop();
    }
    std::stop_source stop;
  };
  const TestDirectory directory;
  const Endpoints endpoints;
  both([&](Party party) {
    StopAfterFirst observer;
    PreprocessRequest request{.party = party,
                              .endpoint = endpoints.of(party),
                              .store = directory / std::string(1, letter(party))};
    request.parameters = {.profile = Profile::Fast, .unit = 1024};
    request.ands = 32 * 1024;
    const PreprocessResult stopped = preprocess(request, &observer, observer.stop.get_token());
    EXPECT_EQ(stopped.store.state, StoreState::Open);
    EXPECT_LT(stopped.ands, request.ands);
    request.resume = true;
    const PreprocessResult resumed = preprocess(request);
    EXPECT_EQ(resumed.store.state, StoreState::Complete);
    EXPECT_EQ(resumed.ands, request.ands - stopped.ands);
  });
}

// Requests a stop once `work` waits, and expects it to end.
void expect_cancelled(const std::function<void(std::stop_token)>& work) {
  std::stop_source stop;
  BlockedThread working([&] { EXPECT_THROW(work(stop.get_token()), Cancelled); });
  stop.request_stop();
}

TEST(Library, CancelsTheWaitForThePeer) {
  const TestDirectory directory;
  const std::string address = free_address();
  for (const Endpoint& endpoint : {Endpoint::listen(address), Endpoint::connect(address)}) {
    PreprocessRequest request{.endpoint = endpoint, .store = directory / "store", .ands = 64};
    expect_cancelled([&](std::stop_token cancel) { preprocess(request, nullptr, cancel); });
    RunRequest live{.endpoint = endpoint, .live = ParameterRequest{}};
    expect_cancelled(
        [&](std::stop_token cancel) { run(live, *product(), input_of(Party::A, 1), 1, cancel); });
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "store"));
}

// The peer connects but sends nothing.
TEST(Library, CancelsTheHandshake) {
  const TestDirectory directory;
  const auto [mine, peers] = socket_pair();
  const Endpoint endpoint =
      Endpoint::over([descriptor = mine] { return std::make_unique<SocketTransport>(descriptor); });
  PreprocessRequest request{.endpoint = endpoint, .store = directory / "store", .ands = 64};
  expect_cancelled([&](std::stop_token cancel) { preprocess(request, nullptr, cancel); });
  ::close(peers);
}

// Of a transport as of TCP: it is the time without progress once the parties are connected, and the
// caller who opens a transport has waited for that.
TEST(Library, GivesAPeerThatSaysNothingTheIdleTimeout) {
  const TestDirectory directory;
  const auto [mine, peers] = socket_pair();
  const Endpoint endpoint =
      Endpoint::over([descriptor = mine] { return std::make_unique<SocketTransport>(descriptor); },
                     {.connect = std::chrono::seconds(2), .idle = std::chrono::seconds(1)});
  const PreprocessRequest request{.endpoint = endpoint, .store = directory / "store", .ands = 64};
  const std::string error = message_of([&] { preprocess(request); });
  EXPECT_NE(error.find("no progress for 1 s (the idle timeout)"), std::string::npos) << error;
  ::close(peers);
}

// Over TCP the time to connect is the one that is so named.
TEST(Library, WaitsForAPeerAsLongAsItsEndpointSays) {
  using std::chrono::milliseconds, std::chrono::seconds, std::chrono::steady_clock;
  const TestDirectory directory;
  const std::string address = free_address();
  const Timeouts timeouts{.connect = milliseconds(100), .idle = seconds(60)};
  const auto begin = steady_clock::now();
  for (const Endpoint& endpoint :
       {Endpoint::listen(address, timeouts), Endpoint::connect(address, timeouts)})
    EXPECT_THROW(preprocess({.endpoint = endpoint, .store = directory / "store", .ands = 64}),
                 NetworkError);
  EXPECT_LT(steady_clock::now() - begin, seconds(20));
}

// A deep circuit. The peer sees the connection close, and its store is unchanged.
TEST(Library, CancelsRuns) {
  const Stores stores(1 << 19, 1 << 10);
  const auto deep = make_circuit("deep", [](Program& program) {
    auto x = program.input("x", 64, Party::A);
    const auto y = program.input("y", 64, Party::B);
    for (int i = 0; i < 60; ++i) x = x * y;
    program.output("z", x);
  });
  both([&](Party party) {
    const auto evaluate = [&](std::stop_token cancel) {
      for (;;) run(stores.run(party), *deep, input_of(party, 3), 1, cancel);
    };
    if (party == Party::A)
      expect_cancelled(evaluate);
    else
      EXPECT_THROW(evaluate({}), Error);
  });
  EXPECT_EQ(store_info(stores.of(Party::B)).state, StoreState::Complete);
}

TEST(Library, AuthenticatesByKeys) {
  const TestDirectory directory;
  const std::string of_a = make_key_file(directory / "a.key"),
                    of_b = make_key_file(directory / "b.key"),
                    of_c = make_key_file(directory / "c.key");
  EXPECT_THROW(make_key_file(directory / "a.key"), UsageError) << "keys are not overwritten";
  Endpoint a = Endpoint::listen("127.0.0.1:7799"), b = Endpoint::connect("127.0.0.1:7799");
  EXPECT_THROW(a.authenticate(directory / "a.key", of_a), UsageError) << "its own";
  EXPECT_THROW(a.authenticate(directory / "a.key", "sha256:12"), UsageError);
  EXPECT_THROW(a.authenticate(directory / "missing.key", of_b), UsageError);
  const Endpoints endpoints;
  Endpoint transport = endpoints.of(Party::A);
  EXPECT_THROW(transport.authenticate(directory / "a.key", of_b), UsageError);
}

TEST(Library, RefusesPlainTcpBeyondLoopback) {
  const TestDirectory directory;
  PreprocessRequest request{
      .endpoint = Endpoint::connect("192.0.2.1:7766", {.connect = std::chrono::milliseconds(1)}),
      .store = directory / "store",
      .ands = 64};
  try {
    preprocess(request);
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.remedy(), Remedy::Authenticate);
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "store"));
  EXPECT_THROW(Endpoint::listen("no port"), UsageError);
}

TEST(Library, HasTheVersionOfItsHeaders) {
  EXPECT_TRUE(version().starts_with(kVersion)) << version();
  EXPECT_EQ(kVersion, std::to_string(TINYOT_VERSION_MAJOR) + "." +
                          std::to_string(TINYOT_VERSION_MINOR) + "." +
                          std::to_string(TINYOT_VERSION_PATCH));
}

}  // namespace
}  // namespace tinyot
