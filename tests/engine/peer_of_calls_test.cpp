// Calls of the library other than runs: a peer that deviates in them is detected, told, and, where
// there are stores, the session ends for good.
#include <gtest/gtest.h>
#include <tinyot/ot.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "storage/store.h"
#include "tests/support/changing_transport.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

std::vector<Payload> cut_off(Payload payload) {
  payload.pop_back();
  return once(payload);
}

// The message of units made and unlocked says that more are unlocked than made.
std::vector<Payload> with_more_unlocked(Payload payload) {
  payload.at(sizeof(std::uint64_t)) = std::byte{9};
  return once(payload);
}

TEST(OtCalls, OfACheaterEndAtBoth) {
  const Endpoints endpoints = endpoints_with({{net::message_tag("ggm.sums").id, cut_off}});
  both([&](Party party) {
    std::vector<Block> x(1000), y(1000);
    if (party == Party::A)
      EXPECT_THROW(OtSender({endpoints.of(party)}).random(x, y), PeerAborted);
    else
      EXPECT_THROW(OtReceiver({endpoints.of(party)}), PeerCheated);
  });
}

// Connections over pairs of sockets, of parties that may both change or watch what they send.
Endpoint endpoint_over(Party party, const std::shared_ptr<std::vector<std::pair<int, int>>>& pairs,
                       const Changes& changes) {
  return Endpoint::over(
      [=, next = std::make_shared<std::size_t>(0)]() -> std::unique_ptr<Transport> {
        const auto [of_a, of_b] = pairs->at((*next)++);
        return std::make_unique<ChangingTransport>(
            std::make_unique<SocketTransport>(party == Party::A ? of_a : of_b), changes);
      },
      {.connect = std::chrono::seconds(20), .idle = std::chrono::seconds(20)});
}

// The peer learns of it on several connections. It must not be able to prevent the erasure then.
TEST(FailedCheckOfAJob, ErasesTheKeysBeforeThePeerIsToldOnAnyConnection) {
  const TestDirectory directory;
  const auto place = [&](Party party) { return directory / std::string(1, letter(party)); };
  const auto pairs = std::make_shared<std::vector<std::pair<int, int>>>();
  for (int connection = 0; connection < 2; ++connection) pairs->push_back(socket_pair());
  std::atomic<int> aborts = 0, too_early = 0;
  const auto watched = [&](const Payload& payload) {
    ++aborts;
    if (!store_info(place(Party::A)).keys_are_gone) ++too_early;
    return once(payload);
  };
  const auto flipped_first = [](Payload payload) {
    payload.at(0) ^= std::byte{1};
    return once(payload);
  };
  both([&](Party party) {
    const Changes changes = {
        party == Party::A ? Changes::value_type{net::message_tag("abort").id, watched}
                          : Changes::value_type{net::message_tag("triple.d").id, flipped_first}};
    PreprocessRequest request{
        .party = party, .endpoint = endpoint_over(party, pairs, changes), .store = place(party)};
    request.parameters = {.profile = Profile::Fast, .unit = 1024};
    request.ands = 16 * 1024;
    request.threads = 2;
    if (party == Party::A)
      EXPECT_THROW(preprocess(request), PeerCheated);
    else
      EXPECT_THROW(preprocess(request), PeerAborted);
    EXPECT_EQ(store_info(place(party)).state, StoreState::Revoked);
  });
  EXPECT_GE(aborts, 2);
  EXPECT_EQ(too_early, 0);
}

TEST(StoreCheck, OfACheaterRevokesTheStores) {
  Stores stores(64);
  stores.endpoints = endpoints_with({{net::message_tag("store.status").id, with_more_unlocked}});
  both([&](Party party) {
    const auto check = [&] {
      (void)verify_store(stores.of(party), {}, stores.endpoints.of(party));
    };
    if (party == Party::A)
      EXPECT_THROW(check(), PeerAborted);
    else
      EXPECT_THROW(check(), PeerCheated);
    EXPECT_EQ(store_info(stores.of(party)).state, StoreState::Revoked);
    EXPECT_TRUE(store_info(stores.of(party)).keys_are_gone);
  });
}

// Two connections of B's process, of which one detects a cheater while the other one is in the
// middle of a run whose material it has. The cheater has a copy of its store, so that its other
// connection goes on.
TEST(RunsOfASession, GiveNoOutputOnceACheckHasFailedOnAnotherConnection) {
  const Stores stores;
  const auto copy = stores.directory / "copy";
  std::filesystem::copy(stores.of(Party::A), copy, std::filesystem::copy_options::recursive);
  (void)adopt_store(copy);
  const Endpoints lying = endpoints_with({{net::message_tag("and.de").id, [](Payload payload) {
                                             payload.at(0) ^= std::byte{1};
                                             return once(payload);
                                           }}});
  const auto chain = circuit::make_circuit("chain", [](circuit::Program& program) {
    const auto x = program.input("x", 8, Party::A), y = program.input("y", 8, Party::B);
    circuit::Number z = x & y;
    for (int i = 0; i < 20; ++i) z = (z ^ x) & y;
    program.output("z", z);
  });
  const auto run_lying = [&](Party party) {
    RunRequest request = stores.run(party);
    request.endpoint = lying.of(party);
    if (party == Party::A) request.stores = {copy};
    (void)run(request, *chain, input_of(party, 5));
  };
  auto cheater = std::async(std::launch::async, [&] { EXPECT_THROW(run_lying(Party::A), Error); });
  both([&](Party party) {
    RunRequest request = stores.run(party);
    bool is_first = true;
    if (party == Party::B)
      request.progress = [&](std::uint64_t, std::uint64_t) {
        if (std::exchange(is_first, false)) {
          EXPECT_THROW(run_lying(Party::B), PeerCheated);
        }
      };
    const std::string error = message_of([&] { (void)run(request, *chain, input_of(party, 5)); });
    if (party == Party::A)
      EXPECT_NE(error, "none");
    else
      EXPECT_NE(error.find("failed on another of its connections"), std::string::npos) << error;
  });
}

TEST(StoreCheck, ComparesSessionAndShard) {
  const Stores stores(64), others(64);
  ParameterRequest parameters{.profile = Profile::Fast};
  parameters.unit = 1 << 12;
  const Shards shards(parameters, 1 << 13);
  const auto disagreement = [&](Party party, const std::filesystem::path& of_a,
                                const std::filesystem::path& of_b) {
    return message_of([&] {
      (void)verify_store(party == Party::A ? of_a : of_b, {}, stores.endpoints.of(party));
    });
  };
  both([&](Party party) {
    const std::string session = disagreement(party, stores.of(Party::A), others.of(Party::B));
    EXPECT_NE(session.find("the parties disagree on session"), std::string::npos) << session;
    const std::string shard = disagreement(party, shards.of(Party::A, 1), shards.of(Party::B, 2));
    EXPECT_NE(shard.find("the parties disagree on shard"), std::string::npos) << shard;
    for (const auto& store : {stores.of(party), shards.of(party, 1)})
      EXPECT_EQ(store_info(store).state, StoreState::Complete);
  });
}

TEST(StoreCheck, IsDoneWithThePeerOfTheStore) {
  const Stores stores(64);
  storage::Store::open(stores.of(Party::A), {.purpose = storage::Purpose::Make})
      .update_manifest(
          [](storage::Manifest& manifest) { manifest.peer = "sha256:" + std::string(64, 'a'); });
  bool has_connected = false;
  const Endpoint plain = Endpoint::over([&]() -> std::unique_ptr<Transport> {
    has_connected = true;
    return nullptr;
  });
  const std::string error = message_of([&] { (void)verify_store(stores.of(Party::A), {}, plain); });
  EXPECT_NE(error.find("was made with the peer sha256:aaa"), std::string::npos) << error;
  EXPECT_FALSE(has_connected);
}

// The stores of a run, too, and those that are to get more.
TEST(StoresOfTwoSessions, AreNotUsedTogether) {
  const Stores stores(64), others(64);
  const auto circuit = circuit::make_circuit("f", [](circuit::Program& program) {
    program.output("z", program.input("x", 8, Party::A) & program.input("y", 8, Party::B));
  });
  both([&](Party party) {
    const auto store = (party == Party::A ? stores : others).of(party);
    RunRequest request = stores.run(party);
    request.stores = {store};
    PreprocessRequest more{.party = party, .endpoint = stores.endpoints.of(party), .store = store};
    more.parameters.profile = Profile::Fast;
    more.amount = Amount::More;
    more.ands = 64;
    for (const std::string& error :
         {message_of([&] { (void)run(request, *circuit, input_of(party, 1)); }),
          message_of([&] { (void)reserve(request, *circuit); }),
          message_of([&] { const Evaluator evaluator(request); }),
          message_of([&] { (void)preprocess(more); })})
      EXPECT_NE(error.find("the parties disagree on session"), std::string::npos) << error;
    EXPECT_EQ(store_info(store).left()[MaterialKind::Triples], 64u);
  });
}

}  // namespace
}  // namespace tinyot::test
