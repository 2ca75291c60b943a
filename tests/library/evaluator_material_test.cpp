// The material of a connection for several circuits: what it takes in advance, what it records, and
// what it reports.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/library/garbling_stores.h"
#include "tests/support/two_threads.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

std::unique_ptr<circuit::Circuit> and_of_words() {
  return circuit::make_circuit("and of words", [](circuit::Program& program) {
    const auto x = program.input("x", 16, Party::A), y = program.input("y", 16, Party::B);
    program.output("z", x & y);
  });
}
constexpr std::uint64_t kAndsOfRun = 16;

RunResult run_once(Evaluator& evaluator, Party party) {
  RunResult result = evaluator.run(*and_of_words(), input_of(party, party == Party::A ? 0xff : 6));
  EXPECT_EQ(result.outputs.integer("z"), 6u);
  return result;
}

// By the names of kinds.
std::map<std::string, std::uint64_t> counts_in_ledger(const std::filesystem::path& ledger) {
  std::map<std::string, std::uint64_t> counts;
  std::ifstream file(ledger);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string session, party, kind;
    std::uint64_t shard = 0, first = 0, count = 0;
    fields >> session >> party >> kind >> shard >> first >> count;
    EXPECT_TRUE(fields) << line;
    counts[kind] += count;
  }
  return counts;
}
std::map<std::string, std::uint64_t> by_name(const MaterialCounts& counts) {
  std::map<std::string, std::uint64_t> named;
  for (const MaterialKind kind : kAllMaterialKinds)
    if (counts[kind] > 0) named.emplace(name_of(kind), counts[kind]);
  return named;
}

// With its ledger the owner proves that nothing was taken twice.
TEST(Evaluator, RecordsInItsLedgerAllThatItTakes) {
  const Stores stores;
  for (const std::uint64_t in_advance : {std::uint64_t{0}, 3 * kAndsOfRun})
    both([&](Party party) {
      RunRequest request = stores.run(party);
      request.reserve_ahead_ands = in_advance;
      request.ledger = stores.directory / (std::to_string(in_advance) + letter(party));
      Evaluator evaluator(request);
      for (int run = 0; run < 4; ++run) {
        run_once(evaluator, party);
        EXPECT_EQ(counts_in_ledger(*request.ledger), by_name(evaluator.spent()));
      }
      const auto number = evaluator.prepare(*and_of_words());
      EXPECT_EQ(counts_in_ledger(*request.ledger), by_name(evaluator.spent()));
      (void)evaluator.finish(number, input_of(party, 1));
    });
}

// The last runs take what there is, although more would be taken in advance.
TEST(Evaluator, UsesAStoreUpThatHasLessThanAnAdvance) {
  constexpr std::uint64_t kRuns = 5;
  const Stores stores(kRuns * kAndsOfRun, kRuns * kAndsOfRun);
  both([&](Party party) {
    RunRequest request = stores.run(party);
    request.reserve_ahead_ands = 3 * kAndsOfRun;
    Evaluator evaluator(request);
    for (std::uint64_t run = 0; run < kRuns; ++run) run_once(evaluator, party);
    EXPECT_EQ(store_info(stores.of(party)).ands_left, 0u);
    EXPECT_THROW(run_once(evaluator, party), OutOfMaterial);
  });
}

TEST(Evaluator, RequiresTheSameAdvanceOfBoth) {
  const Stores stores(64);
  both([&](Party party) {
    RunRequest request = stores.run(party);
    request.reserve_ahead_ands = party == Party::A ? 32 : 64;
    EXPECT_NE(message_of([&] { const Evaluator evaluator(request); }).find("reserved in advance"),
              std::string::npos);
  });
}

TEST(Evaluator, RefusesReservationsAndAdvancesFromSeveralStores) {
  const Stores stores(64);
  RunRequest request = stores.run(Party::A);
  request.reservation = 1;
  EXPECT_THROW(Evaluator{request}, UsageError);
  request.reservation.reset();
  request.reserve_ahead_ands = 32;
  request.stores.push_back(request.stores.front());
  EXPECT_THROW(Evaluator{request}, std::logic_error);
}

// An account of material is right for the phase that will be used, which the peer may name.
TEST(Evaluator, NeedsWhatThePhaseOfThePeersRequestTakes) {
  const GarblingStores stores(Profile::Fast);
  for (const OnlinePhase phase : {OnlinePhase::Interactive, OnlinePhase::Garbled}) {
    std::array<MaterialCounts, 2> needed;
    both([&](Party party) {
      const auto asked = party == Party::A ? std::optional(phase) : std::nullopt;
      Evaluator evaluator(stores.run(party, asked));
      MaterialCounts& counts = needed[static_cast<std::size_t>(party)];
      counts = evaluator.needed(*and_of_words());
      run_once(evaluator, party);
      EXPECT_EQ(evaluator.spent(), counts) << letter(party);
    });
    EXPECT_EQ(needed[0], needed[1]);
  }
}

// Of both parties, whichever names the phase.
TEST(Reservations, AreForThePhaseOfThePeersRequest) {
  const GarblingStores stores(Profile::Fast);
  std::vector<MaterialCounts> of_phases;
  for (const OnlinePhase phase : {OnlinePhase::Interactive, OnlinePhase::Garbled})
    for (const Party asking : {Party::A, Party::B}) {
      std::array<MaterialCounts, 2> reserved;
      both([&](Party party) {
        const auto asked = party == asking ? std::optional(phase) : std::nullopt;
        reserved[static_cast<std::size_t>(party)] =
            reserve(stores.run(party, asked), *and_of_words()).count;
      });
      EXPECT_EQ(reserved[0], reserved[1]);
      of_phases.push_back(reserved[0]);
    }
  EXPECT_EQ(of_phases[0], of_phases[1]);
  EXPECT_EQ(of_phases[2], of_phases[3]);
}

TEST(Reservations, OfMoreThanThereIsAreRefusedBeforeThePartyConnects) {
  const Stores stores(64, 64);
  RunRequest request = stores.run(Party::A);
  bool has_connected = false;
  request.endpoint = Endpoint::over([&]() -> std::unique_ptr<Transport> {
    has_connected = true;
    return nullptr;
  });
  EXPECT_THROW((void)reserve(request, *and_of_words(), 100'000), OutOfMaterial);
  EXPECT_FALSE(has_connected);
}

// A copy of a store from before other runs would give their material again.
TEST(Reservations, AreNotRunOnAnOlderCopyOfTheStore) {
  const Stores stores;
  std::uint64_t number = 0;
  both([&](Party party) {
    const std::uint64_t reserved = reserve(stores.run(party), *and_of_words()).number;
    if (party == Party::A) number = reserved;
  });
  const auto copy = stores.directory / "copy";
  std::filesystem::copy(stores.of(Party::A), copy, std::filesystem::copy_options::recursive);
  both([&](Party party) {
    (void)run(stores.run(party), *and_of_words(), input_of(party, 1));
    (void)run(stores.run(party), *and_of_words(), input_of(party, 1));
  });
  (void)adopt_store(copy);
  both([&](Party party) {
    RunRequest request = stores.run(party);
    if (party == Party::A) request.stores = {copy};
    request.reservation = number;
    const std::string error =
        message_of([&] { (void)run(request, *and_of_words(), input_of(party, 1)); });
    EXPECT_NE(error.find("older copy"), std::string::npos) << error;
  });
  EXPECT_EQ(store_info(stores.of(Party::B)).reservations.size(), 1u) << "it is kept";
}

// A run on several shards reports the units of all of them.
TEST(Shards, AreAllPartOfTheReportedSecurity) {
  ParameterRequest parameters{.profile = Profile::Fast};
  parameters.unit = 1 << 12;
  const Shards made(parameters, 1 << 14);
  both([&](Party party) {
    const RunRequest request{.party = party,
                             .endpoint = made.endpoints.of(party),
                             .stores = {made.of(party, 1), made.of(party, 2)}};
    const RunResult result = run(request, *and_of_words(), input_of(party, 1));
    std::uint64_t units = 0, bytes = 0;
    for (const Security::Units& each : result.security.units) units += each.count;
    for (const auto& store : request.stores) bytes += store_info(store).bytes;
    EXPECT_EQ(units, 4u);
    EXPECT_GT(result.store_bytes, bytes / 4 * 3);
  });
}

}  // namespace
}  // namespace tinyot
