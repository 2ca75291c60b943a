// Stores that grow: what they lack, and how the parties agree on the next job. Whatever a peer
// claims, nothing is lost and nothing is made that this party has not asked for.
#include "engine/top_up.h"

#include <cstring>
#include <utility>

#include "base/error.h"
#include "offline/unit/preprocessor.h"
#include "storage/session_file.h"
#include "tests/storage/store_support.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"
#include "tinyot/preprocess.h"

namespace tinyot::test {
namespace {

constexpr AndMaterial kPairs = AndMaterial::AandAot, kTriples = AndMaterial::Triples;
constexpr std::uint64_t kUnit = 1024;

MaterialCounts triples_and_bits(std::uint64_t triples, std::uint64_t of_a, std::uint64_t of_b) {
  MaterialCounts counts;
  counts[MaterialKind::Triples] = triples;
  counts[MaterialKind::AuthBitsA] = of_a;
  counts[MaterialKind::AuthBitsB] = of_b;
  return counts;
}

void expect_demand(const Demand& demand, std::uint64_t ands, std::uint64_t inputs) {
  EXPECT_EQ(demand.ands, ands);
  EXPECT_EQ(demand.inputs, inputs);
}

TEST(Lacking, IsDifferenceToTarget) {
  expect_demand(shortfall({100, 10}, triples_and_bits(0, 0, 0), kTriples, kUnit), 100, 10);
  expect_demand(shortfall({100, 10}, triples_and_bits(40, 7, 4), kTriples, kUnit), 60, 6);
  expect_demand(shortfall({100, 10}, triples_and_bits(101, 10, 11), kTriples, kUnit), 0, 0);
  expect_demand(shortfall({100, 10}, triples_and_bits(30, 50, 50), kTriples, kUnit), 70, 0);
}

TEST(Lacking, InputsComeWithAnds) {
  expect_demand(shortfall({100, 10}, triples_and_bits(200, 9, 10), kTriples, kUnit), 1, 1);
  // Several units of few inputs, not one with all of them.
  expect_demand(shortfall({100, 5 * kUnit}, triples_and_bits(100, 0, 0), kTriples, kUnit), 1,
                5 * kUnit);
  expect_demand(shortfall({100, kUnitMax}, triples_and_bits(100, 0, 0), kTriples, kUnit), kUnitMax,
                kUnitMax);
  expect_demand(shortfall({100, kUnitMax}, triples_and_bits(100, 0, 0), kTriples, kUnitMax), 1,
                kUnitMax);
}

TEST(Lacking, AndsOfPairsTakeBits) {
  MaterialCounts left = counts_of({{.ands = 40, .bucket = 1}, 4}, kPairs);
  expect_demand(capacity_of(left, kPairs), 40, 4);
  expect_demand(shortfall({100, 10}, left, kPairs, kUnit), 60, 6);
  // Runs with more inputs than expected have used bits that ANDs need.
  left[MaterialKind::AuthBitsB] = 30;
  expect_demand(capacity_of(left, kPairs), 30, 0);
  expect_demand(shortfall({100, 10}, left, kPairs, kUnit), 60, 20);
  // One of the kinds is short.
  left = counts_of({{.ands = 100, .bucket = 1}, 10}, kPairs);
  left[MaterialKind::AuthOtsBA] = 99;
  expect_demand(shortfall({100, 10}, left, kPairs, kUnit), 1, 0);
}

TEST(Lacking, MakingItReachesTarget) {
  for (const AndMaterial form : {kPairs, kTriples})
    for (const std::uint64_t ands : {0u, 1u, 999u, 5000u})
      for (const std::uint64_t of_a : {0u, 77u, 4000u})
        for (const std::uint64_t of_b : {0u, 78u, 9000u}) {
          const Demand target{1000, 3000};
          MaterialCounts left = counts_of({{.ands = ands, .bucket = 1}, 0}, form);
          left[MaterialKind::AuthBitsA] += of_a;
          left[MaterialKind::AuthBitsB] = of_b;
          const Demand demand = shortfall(target, left, form, kUnit);
          const MaterialCounts more =
              counts_of({{.ands = demand.ands, .bucket = 1}, demand.inputs}, form);
          for (const MaterialKind kind : kAllMaterialKinds) left[kind] += more[kind];
          const Demand reached = capacity_of(left, form);
          EXPECT_GE(reached.ands, target.ands);
          EXPECT_GE(left[MaterialKind::AuthBitsA] + left[MaterialKind::AuthBitsB],
                    2 * target.inputs);
          expect_demand(shortfall(target, left, form, kUnit), 0, 0);
        }
}

// Both parties have a complete store of one unit.
class Jobs : public StoreTest {
 protected:
  Jobs() {
    for (const Party party : {Party::A, Party::B}) {
      Store store = make_store(place(party), party);
      add_unit(store, MaterialKind::Triples, kUnit);
      store.update_manifest([](Manifest& manifest) {
        const Manifest like =
            security_of(offline::SecurityParameters::make(request_of(kUnit).parameters), {});
        manifest.profile = like.profile;
        manifest.material = like.material;
        manifest.own = like.own;
        manifest.sigma = like.sigma;
        manifest.unit = like.unit;
        manifest.bucket = like.bucket;
        manifest.sigma_paper_bound = manifest.sigma_exact = 100;
        manifest.ands_requested = kUnit;
        manifest.inputs_requested = 0;
        manifest.units_requested = 1;
        manifest.state = StoreState::Complete;
      });
    }
  }

  static PreprocessRequest request_of(std::uint64_t ands) {
    PreprocessRequest request;
    request.inputs = 0;
    request.parameters.profile = Profile::Fast;
    request.parameters.unit = kUnit;
    request.ands = ands;
    return request;
  }

  std::filesystem::path place(Party party) const { return root_ / std::string(1, letter(party)); }
  Manifest manifest_of(Party party) const { return Store::open(place(party)).manifest(); }

  // Both parties settle the last job; then, if they are to, begin one of so many ANDs.
  Outcomes run(std::uint64_t of_a, std::uint64_t of_b, const PartyOptions& options = {}) {
    return run_sessions(
        [&](Session& session) {
          Store store = open_to_make(place(session.me()));
          const JobPlan last(last_job(request_of(0), store.manifest()));
          const bool is_left = reconcile_last_job(session, store, last);
          is_left_[static_cast<std::size_t>(session.me())] = is_left;
          const std::uint64_t ands = session.me() == Party::A ? of_a : of_b;
          if (!is_left && ands > 0) begin_next_job(session, store, JobPlan(request_of(ands)));
        },
        options, false);
  }
  // One party records a job before the other one is killed.
  void begin_at(Party party, std::uint64_t ands) const {
    Store store = open_to_make(place(party));
    store.update_manifest([&](Manifest& manifest) {
      manifest.units_before = 1;
      manifest.ands_before = kUnit;
      manifest.units_requested = 1 + (ands + kUnit - 1) / kUnit;
      manifest.ands_requested = kUnit + ands;
      manifest.state = StoreState::Open;
    });
  }
  // The paper's and the exact security of a job.
  static std::pair<double, double> bounds_of(std::uint64_t ands) {
    const auto estimate = JobPlan(request_of(ands)).estimate;
    return {estimate.sigma_paper_bound, estimate.sigma_exact};
  }
  static void expect_done(const Outcomes& outcomes) {
    EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
    EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
  }
  static PartyOptions cheater(Party party, const Deviation& deviation) {
    PartyOptions options;
    (party == Party::A ? options.wrap_a : options.wrap_b) = cheating(deviation);
    return options;
  }

  bool is_left_[2] = {};
};

TEST_F(Jobs, NextJobIsRecorded) {
  expect_done(run(2 * kUnit + 5, 2 * kUnit + 5));
  const auto [bound, exact] = bounds_of(2 * kUnit + 5);
  for (const Party party : {Party::A, Party::B}) {
    const Manifest manifest = manifest_of(party);
    EXPECT_EQ(manifest.state, StoreState::Open);
    EXPECT_EQ(manifest.units_before, 1u);
    EXPECT_EQ(manifest.units_requested, 4u);
    EXPECT_EQ(manifest.ands_before, kUnit);
    EXPECT_EQ(manifest.ands_requested, 3 * kUnit + 5);
    EXPECT_EQ(manifest.inputs_requested, 0u);
    EXPECT_EQ(manifest.sigma_paper_bound, bound);
    EXPECT_EQ(manifest.sigma_exact, exact);
    const PreprocessRequest job = last_job(request_of(0), manifest);
    EXPECT_EQ(job.ands, 2 * kUnit + 5);
    EXPECT_EQ(JobPlan(job).units.size(), 3u);
  }
  // It is still there in the next connection.
  expect_done(run(0, 0));
  EXPECT_TRUE(is_left_[0] && is_left_[1]);
}

// A store that was made with less security than its next job has keeps the lower figure.
TEST_F(Jobs, WeakestJobDecidesTheSecurityOfAStore) {
  const auto [bound, exact] = bounds_of(kUnit);
  for (const Party party : {Party::A, Party::B})
    open_to_make(place(party))
        .update_manifest([lower = bound - 1, lower_exact = exact - 2](Manifest& manifest) {
          manifest.sigma_paper_bound = lower;
          manifest.sigma_exact = lower_exact;
        });
  expect_done(run(kUnit, kUnit));
  for (const Party party : {Party::A, Party::B}) {
    EXPECT_EQ(manifest_of(party).sigma_paper_bound, bound - 1);
    EXPECT_EQ(manifest_of(party).sigma_exact, exact - 2);
  }
}

TEST_F(Jobs, PartiesDisagreeOnNextJob) {
  const Outcomes outcomes = run(kUnit, 2 * kUnit);
  for (const Outcome& outcome : {outcomes.a, outcomes.b})
    EXPECT_TRUE(mentions(outcome.message, "the parties disagree on the number of ANDs of the job"))
        << outcome.message;
  for (const Party party : {Party::A, Party::B})
    EXPECT_EQ(manifest_of(party).state, StoreState::Complete);
}

TEST_F(Jobs, EveryTermOfNextJobIsCompared) {
  constexpr std::size_t kTerms = 7;
  for (std::size_t term = 0; term < kTerms; ++term) {
    const Outcomes outcomes =
        run(kUnit, kUnit, cheater(Party::B, flip_bit("store.next_job", 0, 64 * term + 3)));
    EXPECT_TRUE(mentions(outcomes.a.message, "the parties disagree on the")) << term;
    EXPECT_EQ(manifest_of(Party::A).state, StoreState::Complete) << term;
    Store store = open_to_make(place(Party::B));  // which has recorded it
    store.update_manifest([](Manifest& manifest) {
      manifest.units_requested = 1;
      manifest.units_before = manifest.ands_before = 0;
      manifest.ands_requested = kUnit;
      manifest.state = StoreState::Complete;
    });
  }
}

TEST_F(Jobs, JobThatOnlyOnePartyHasIsForgotten) {
  for (const Party party : {Party::A, Party::B}) {
    begin_at(party, 3 * kUnit);
    expect_done(run(0, 0));
    EXPECT_FALSE(is_left_[0] || is_left_[1]);
    EXPECT_EQ(manifest_of(party).state, StoreState::Complete);
    EXPECT_EQ(manifest_of(party).units_requested, 1u);
    EXPECT_EQ(manifest_of(party).ands_requested, kUnit);
    const JobPlan forgotten(last_job(request_of(0), manifest_of(party)));
    EXPECT_TRUE(forgotten.units.empty());
    EXPECT_EQ(forgotten.estimate.units, 0u);
  }
  // and does not stand in the way of the next one
  begin_at(Party::A, 3 * kUnit);
  expect_done(run(kUnit, kUnit));
  for (const Party party : {Party::A, Party::B})
    EXPECT_EQ(manifest_of(party).ands_requested, 2 * kUnit);
}

TEST_F(Jobs, UnitsOfUnknownJobAreNotForgotten) {
  begin_at(Party::A, 3 * kUnit);
  {
    Store store = open_to_make(place(Party::A));
    add_locked_unit(store, MaterialKind::Triples, kUnit);
  }
  const Outcomes outcomes = run(0, 0);
  EXPECT_TRUE(mentions(outcomes.a.message, "it is an older copy")) << outcomes.a.message;
  EXPECT_EQ(manifest_of(Party::A).units_requested, 4u);
  EXPECT_EQ(manifest_of(Party::A).state, StoreState::Open);
}

TEST_F(Jobs, DifferentOpenJobsAreRefused) {
  begin_at(Party::A, 3 * kUnit);
  begin_at(Party::B, 2 * kUnit);
  const Outcomes outcomes = run(0, 0);
  for (const Outcome& outcome : {outcomes.a, outcomes.b})
    EXPECT_TRUE(mentions(outcome.message, "the parties disagree on the number of ANDs of the job"))
        << outcome.message;
}

TEST_F(Jobs, RejectsImpossibleState) {
  const Outcomes outcomes = run(0, 0, cheater(Party::B, flip_bit("store.last_job", 0, 1)));
  EXPECT_EQ(outcomes.a.check, "store status") << outcomes.a.message;
}

// The next one of a connection, whose units are other ones.
TEST_F(Jobs, NextJobHasItsOwnParameters) {
  const auto request_of_next = [] {
    PreprocessRequest request = request_of(kUnitMax + 5);
    request.parameters.unit = kUnitMax;
    request.inputs = 77;
    return request;
  };
  const JobPlan next(request_of_next());
  ASSERT_NE(next.params.bucket().text(), manifest_of(Party::A).bucket.text());
  run_sessions([&](Session& session) {
    Store store = open_to_make(place(session.me()));
    begin_next_job(session, store, JobPlan(request_of_next()));
  });
  for (const Party party : {Party::A, Party::B}) {
    const JobPlan begun(last_job(request_of(0), manifest_of(party)));
    EXPECT_EQ(begun.params.unit(), kUnitMax);
    EXPECT_EQ(begun.params.bucket().text(), next.params.bucket().text());
    EXPECT_EQ(begun.demand.inputs, 77u);
    EXPECT_EQ(begun.units.size(), 2u);
  }
}

// Jobs of A without a peer: what is decided before it connects.
class JobsAlone : public Jobs {
 protected:
  JobsAlone() {
    open_to_make(place(Party::A)).update_manifest([](Manifest& manifest) { manifest.peer = ""; });
  }
  PreprocessRequest request(Amount amount) {
    PreprocessRequest request = request_of(kUnit);
    request.store = place(Party::A);
    request.amount = amount;
    request.endpoint = Endpoint::over([this]() -> std::unique_ptr<Transport> {
      ++connections_;
      return nullptr;
    });
    return request;
  }

  int connections_ = 0;
};

// Without the bits of its session, of both parties, units that are added could not be checked.
TEST_F(JobsAlone, AreRefusedIfThereAreNoReferenceBits) {
  const auto expect_refused = [&] {
    EXPECT_TRUE(mentions(message_of<StoreError>([&] { preprocess(request(Amount::More)); }),
                         "does not have reference bits to check new units against"));
  };
  expect_refused();
  {
    Store store = open_to_make(place(Party::A));
    store.update_manifest([](Manifest& manifest) { ++manifest.units_requested; });
    for (const auto& [kind, count] : {std::pair(MaterialKind::AuthBitsA, offline::kReferenceBits),
                                      {MaterialKind::AuthBitsB, offline::kReferenceBits - 1}})
      store.add_reference_bits(test_batch(kind, Party::A, 0, count));
    add_unit(store, MaterialKind::Triples, kUnit);
  }
  expect_refused();
  EXPECT_EQ(connections_, 0);
}

// Nor could those of a further shard.
TEST_F(JobsAlone, OfASessionFileWithFewerReferenceBitsAreRefused) {
  PreprocessRequest shard = request(Amount::Total);
  shard.session = root_ / "session";
  shard.store = root_ / "shard";
  shard.shard = shard.shards = 2;
  shard.ands = 2 * kUnit;
  for (const std::size_t bits : {offline::kReferenceBits, offline::kReferenceBits / 2}) {
    storage::SessionFile session;
    session.manifest = manifest_of(Party::A);
    session.manifest.shards = 2;
    session.manifest.ands_requested = shard.ands;
    session.global_key = kTestDelta;
    session.reference = {test_batch(MaterialKind::AuthBitsA, Party::A, 0, bits),
                         test_batch(MaterialKind::AuthBitsB, Party::A, 0, bits)};
    std::filesystem::remove(*shard.session);
    storage::write_session_file(*shard.session, session, {});
    const std::string error = message_of<Error>([&] { preprocess(shard); });
    EXPECT_EQ(error.find("does not hold the reference bits") != std::string::npos,
              bits < offline::kReferenceBits)
        << error;
  }
}

TEST_F(JobsAlone, OfARevokedStoreAreRefused) {
  Store::open(place(Party::A)).revoke("for a test");
  PreprocessRequest again = request(Amount::Total);
  again.resume = true;
  for (const PreprocessRequest& job : {again, request(Amount::More), request(Amount::Left)})
    EXPECT_TRUE(
        mentions(message_of<StoreError>([&] { preprocess(job); }), "is revoked: for a test"));
  EXPECT_EQ(connections_, 0);
}

// A peer that was killed before it knew that this party's half is complete waits for it. One that
// knows does not, and is not there.
TEST_F(JobsAlone, OfACompleteStoreConnectUnlessThePeerIsKnownToBeComplete) {
  PreprocessRequest again = request(Amount::Total);
  again.resume = true;
  EXPECT_EQ(preprocess(again).store.state, StoreState::Complete);
  EXPECT_EQ(connections_, 1);
  open_to_make(place(Party::A)).update_manifest([](Manifest& manifest) {
    manifest.peer_complete = true;
  });
  EXPECT_EQ(preprocess(again).store.state, StoreState::Complete);
  EXPECT_EQ(connections_, 1);
}

// A peer cannot make this party begin a job that it has not asked for.
TEST_F(Jobs, ClaimedJobIsNotAdopted) {
  expect_done(run(0, 0, cheater(Party::B, flip_bit("store.last_job", 0, 0))));
  EXPECT_EQ(manifest_of(Party::A).state, StoreState::Complete);
  EXPECT_EQ(manifest_of(Party::A).units_requested, 1u);
}

// What is left is counted from the higher of the two positions, and a false one cannot make it more
// or less than what is unlocked.
TEST_F(Jobs, LeftIsTheSameAtBoth) {
  const Store store = Store::open(place(Party::A));
  StoreStatuses statuses{status_of(store), status_of(store)};
  statuses.mine.served[MaterialKind::Triples] = 10;
  statuses.peers.served[MaterialKind::Triples] = 24;
  EXPECT_EQ(left_at_both(store, statuses)[MaterialKind::Triples], kUnit - 24);
  std::swap(statuses.mine, statuses.peers);
  EXPECT_EQ(left_at_both(store, statuses)[MaterialKind::Triples], kUnit - 24);
  statuses.peers.served[MaterialKind::Triples] = ~std::uint64_t{0};
  EXPECT_EQ(left_at_both(store, statuses)[MaterialKind::Triples], 0u);
}

}  // namespace
}  // namespace tinyot::test
