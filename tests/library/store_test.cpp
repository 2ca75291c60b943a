// Stores by the public headers: their state, checks with the peer, shards, copies, and material
// that is set aside for a later run.
#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "tests/support/two_threads.h"

namespace tinyot::test {
namespace {

std::unique_ptr<circuit::Circuit> and_of_bytes() {
  return circuit::make_circuit("and", [](circuit::Program& program) {
    const auto x = program.input("x", 8, Party::A), y = program.input("y", 8, Party::B);
    circuit::Number z(8);
    for (std::size_t i = 0; i < 8; ++i) z[i] = x[i] & y[i];
    program.output("z", z);
  });
}

TEST(Store, IsCheckedWithThePeer) {
  const Stores stores;
  both([&](Party party) {
    std::atomic<std::uint64_t> last = 0;
    const StoreCheck check = verify_store(stores.of(party), {}, stores.endpoints.of(party),
                                          [&](std::uint64_t done, std::uint64_t) { last = done; });
    EXPECT_TRUE(check.is_sound());
    EXPECT_GT(check.batches, 0u);
    EXPECT_GT(last, 0u);
    ASSERT_TRUE(check.peers_halves.has_value());
    EXPECT_EQ(check.peers_halves->matched, check.batches);
    EXPECT_EQ(check.session, store_info(stores.of(party)).session);
  });
  EXPECT_FALSE(verify_store(stores.of(Party::A)).peers_halves.has_value());
  retire_store(stores.of(Party::A));
  EXPECT_THROW(verify_store(stores.of(Party::A)), StoreError);
}

TEST(Store, AdoptsACopyOnly) {
  const Stores stores;
  const auto copy = stores.directory / "copy";
  std::filesystem::copy(stores.of(Party::A), copy, std::filesystem::copy_options::recursive);
  EXPECT_THROW(run({.party = Party::A, .endpoint = Endpoint(), .stores = {copy}}, *and_of_bytes(),
                   input_of(Party::A, 1)),
               StoreError);
  EXPECT_EQ(adopt_store(copy), StoreState::Complete);
  EXPECT_EQ(store_info(copy).ands_left, store_info(stores.of(Party::A)).ands_left);
}

class StoreOf : public testing::TestWithParam<Profile> {};
INSTANTIATE_TEST_SUITE_P(EachProfile, StoreOf, testing::Values(Profile::Fast, Profile::Wan),
                         [](const auto& profile) { return std::string(name_of(profile.param)); });

TEST_P(StoreOf, MergesTheShardsOfASession) {
  ParameterRequest parameters{.profile = GetParam()};
  parameters.unit = 1 << 12;
  parameters.weak_allowed = true;
  parameters.bucket = 3;
  const Shards made(parameters, 1 << 13, 512);
  for (const Party party : {Party::A, Party::B}) {
    const std::array shards = {made.of(party, 1), made.of(party, 2)};
    const MergedStore merged = merge_stores(made.of(party, 0), shards);
    EXPECT_FALSE(merged.was_done);
    EXPECT_GT(merged.bytes, 0u);
    EXPECT_TRUE(merge_stores(made.of(party, 0), shards).was_done);
    EXPECT_GE(store_info(made.of(party, 0)).ands_left, 1u << 13);
    EXPECT_EQ(store_info(shards[0]).state, StoreState::Revoked);
  }
  both([&](Party party) {
    const RunResult result =
        run({.party = party, .endpoint = made.endpoints.of(party), .stores = {made.of(party, 0)}},
            *and_of_bytes(), input_of(party, party == Party::A ? 0xf5 : 0x3c));
    EXPECT_EQ(result.outputs.integer("z"), 0x34u);
  });
}

TEST(Store, SetsMaterialAsideForALaterRun) {
  const Stores stores;
  const auto circuit = and_of_bytes();
  std::array<ReservedMaterial, 2> reserved;
  both([&](Party party) {
    reserved[static_cast<std::size_t>(party)] = reserve(stores.run(party), *circuit);
  });
  EXPECT_EQ(reserved[0].number, reserved[1].number);
  EXPECT_EQ(reserved[0].count, reserved[1].count);
  EXPECT_EQ(reserved[0].count[MaterialKind::Triples], 8u);
  EXPECT_EQ(store_info(stores.of(Party::B)).reservations,
            std::vector<std::uint64_t>{reserved[1].number});
  both([&](Party party) {
    RunRequest request = stores.run(party);
    request.reservation = reserved[0].number;
    request.ledger = stores.directory / ("ledger-" + std::string(1, letter(party)));
    request.window = 64;
    std::atomic<std::uint64_t> done = 0;
    request.progress = [&](std::uint64_t now, std::uint64_t) { done = now; };
    const RunResult result =
        run(request, *circuit, input_of(party, party == Party::A ? 0x0f : 0x35));
    EXPECT_EQ(result.outputs.integer("z"), 0x05u);
    EXPECT_EQ(result.window, 64u);
    EXPECT_EQ(done, 8u);
    EXPECT_EQ(result.session, store_info(stores.of(party)).session);
    EXPECT_EQ(result.security.profile, Profile::Fast);
    const std::string line = result.session + " " + letter(party) + " triples 1 " +
                             std::to_string(reserved[0].first[MaterialKind::Triples]) + " 8\n";
    EXPECT_NE(read_file(*request.ledger).find(line), std::string::npos)
        << read_file(*request.ledger);
    EXPECT_THROW(run(request, *circuit, input_of(party, 1)), Error) << "used once";
  });
}

TEST(Store, IsSealedUnderAKeyOfItsOwner) {
  const std::array<std::byte, 32> bytes{std::byte{7}};
  const StoreKey key(bytes);
  const TestDirectory directory;
  const Endpoints endpoints;
  const auto place = [&](Party party) { return directory / std::string(1, letter(party)); };
  both([&](Party party) {
    PreprocessRequest request{
        .party = party, .endpoint = endpoints.of(party), .store = place(party), .store_key = key};
    request.parameters.profile = Profile::Fast;
    request.ands = 1024;
    const PreprocessResult made = preprocess(request);
    EXPECT_EQ(made.store.protection, KeyProtection::ByStoreKey);
    EXPECT_GE(made.store.inputs_left, default_inputs(1024)) << "inputs are not left out";
  });
  EXPECT_EQ(store_info(place(Party::A), key).state, StoreState::Complete);
  EXPECT_THROW(store_info(place(Party::A), StoreKey(std::span(bytes).first(31))), StoreError);
  EXPECT_THROW(store_info(place(Party::A)), StoreError);
}

TEST(EndpointTest, WithoutAPeerIsRefused) {
  const TestDirectory directory;
  PreprocessRequest request{.endpoint = Endpoint(), .store = directory / "a", .ands = 1024};
  EXPECT_NE(message_of([&] { preprocess(request); }).find("no endpoint"), std::string::npos);
  EXPECT_FALSE(store_exists(request.store));
}

}  // namespace
}  // namespace tinyot::test
