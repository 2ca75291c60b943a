// A whole session over two connections, with real stores, each party a process with its own ledger:
// no domain of RO, tweak of H, block of a stream or nonce is used twice.
#include <bit>
#include <cstdio>

#include "base/lane_bits.h"
#include "circuitgen/cost.h"
#include "crypto/use_ledger.h"
#include "net/tcp.h"
#include "offline/unit/preprocessor.h"
#include "online/online_phase.h"
#include "tests/ledger/use_ledger.h"
#include "tests/offline/dealt.h"
#include "tests/online/listed_circuit.h"
#include "tests/storage/process_support.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"
#include "tests/support/ports.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kWorkers = 2, kUnits = 3, kLaterUnits = 2, kLanes = 70;
constexpr std::uint64_t kInputs = 600;

struct LedgerCase {
  const char* name;
  ParameterRequest request;
};

bool has_silent_bits(const ParameterRequest& request) {
  if (request.profile == Profile::Wan) return true;
  return request.profile == Profile::Fast && request.own &&
         std::get<FastParameters>(*request.own).abits == BitsFrom::Silent;
}

// Units of several chunks of leaky objects, and of several batches per layer.
const LedgerCase kCases[] = {
    {"Pairs", {.own = Nnob12Parameters{Columns::Experiment}, .unit = 3000}},
    {"TriplesOfPairs",
     {.own = Nnob12Parameters{Columns::Experiment},
      .unit = 3000,
      .material = AndMaterial::Triples}},
    {"Fast", {.profile = Profile::Fast, .unit = 6000}},
    {"Garbling", {.profile = Profile::Fast, .unit = 6000, .material = AndMaterial::Garbling}},
    {"FastOnSilentBits",
     {.profile = Profile::Fast,
      .own = FastParameters{.abits = BitsFrom::Silent, .silent_set = LpnSet::B9},
      .unit = 24000}},
    // Chains of four iterations.
    {"Wan",
     {.profile = Profile::Wan, .own = WanParameters{.silent_set = LpnSet::B9}, .unit = 8000}}};

class LedgerOf : public StoreTest, public testing::WithParamInterface<LedgerCase> {
 protected:
  LedgerOf()
      : params_(offline::SecurityParameters::make(GetParam().request)), port_(reserved_port()) {}

  using Connections = std::vector<std::unique_ptr<Channel>>;
  Connections connect(Party me) const {
    const Address address{"127.0.0.1", port_};
    const TcpTimeouts timeouts{std::chrono::seconds(60), std::chrono::seconds(60)};
    std::optional<TcpListener> listener;
    if (me == Party::A) listener.emplace(address, timeouts);
    Connections connections;
    while (connections.size() < kWorkers)
      connections.push_back(
          make_framed_channel(listener ? listener->accept() : tcp_connect(address, timeouts)));
    return connections;
  }

  // Makes the units of a connection, then evaluates a circuit on their material.
  void one_connection(Party me, Rng& rng, Connections& channels,
                      std::optional<Store>& store) const {
    std::optional<SessionId> existing;
    if (store) existing = std::bit_cast<SessionId>(store->manifest().session_id);
    const SessionIds ids = establish_session(*channels[0], rng, me, {}, existing);
    for (std::size_t worker = 1; worker < kWorkers; ++worker)
      join_session(*channels[worker], ids, me, worker);
    if (!store) store = make_store_for(me, ids, rng);

    PhaseLog log;
    Session session(me, ids, store->global_key(), *channels[0], rng.fork(), log, {},
                    params_.base_ot());
    Preprocessor preprocessor(session, params_, std::span(channels).subspan(1));
    const std::optional<material::ReferenceBits> kept = store->reference_bits();
    ASSERT_EQ(kept.has_value(), existing.has_value());
    if (kept) preprocessor.set_reference_bits(*kept);
    const std::vector<UnitRequest> requests(existing ? kLaterUnits : kUnits,
                                            {params_.plan(params_.unit()).at(0), kInputs});
    ASSERT_EQ(preprocessor.make_units(requests, *store), requests.size());
    unlock_all(*store);
    evaluate_circuit(session, *store);
  }

  std::optional<Store> make_store_for(Party me, const SessionIds& ids, Rng& rng) const {
    Manifest manifest = test_manifest(me);
    manifest.session_id = std::bit_cast<decltype(manifest.session_id)>(ids.session);
    manifest.profile = name_of(params_.profile());
    manifest.material = name_of(params_.material());
    const Delta drawn{rng.block()};
    return Store::create(
        dir_ / std::string(1, letter(me)), manifest,
        params_.profile() == Profile::Nnob12 ? drawn : fitted_to_triples(drawn, me), 0);
  }

  // In each phase that the material allows, and prepared in each way that there is.
  void evaluate_circuit(Session& session, Store& store) const {
    for (const online::OnlinePhaseEntry* phase : online::phases_on(params_.material(), {})) {
      evaluate_circuit(session, store, *phase, {});
      if (phase->phase == OnlinePhase::Masked)
        evaluate_circuit(session, store, *phase, online::Preparation{{}, params_.sigma()});
      if (phase->phase != OnlinePhase::Garbled) continue;
      for (const RowCheck check : {RowCheck::Batched, RowCheck::Early})
        evaluate_circuit(session, store, *phase, online::Preparation{check, params_.sigma()});
    }
    session.channel().flush();
  }

  void evaluate_circuit(Session& session, Store& store, const online::OnlinePhaseEntry& phase,
                        const std::optional<online::Preparation>& preparation) const {
    const ListedCircuit circuit = mixed_layers();
    const CircuitCost cost = cost_of(circuit);
    const AndMaterial form = params_.material();
    const MaterialCounts wanted =
        phase.material_for(circuit.info(), cost.ands_of(kLanes), form, kLanes, {});
    Reservation reservation = store.reserve({}, wanted);
    CircuitRounds rounds(circuit, cost.gates(), kLanes, phase.windows_for(kLanes).front());
    BundleValues inputs;
    for (const InputBundle& bundle : circuit.info().inputs) {
      inputs.emplace_back();
      if (!gives(bundle.source, session.me())) continue;
      LaneMatrix& mine = inputs.back().emplace(bundle.same_in_all_lanes ? 1 : kLanes, bundle.bits);
      for (std::size_t lane = 0; lane < mine.lanes(); ++lane)
        set_lane(mine, lane, session.rng().bits(bundle.bits));
    }
    const auto run = phase.make({.session = session,
                                 .source = reservation,
                                 .wanted = wanted,
                                 .form = form,
                                 .rounds = rounds,
                                 .shared = {},
                                 .preparation = preparation,
                                 .progress = {}});
    run->prepare();
    run->finish(inputs);
  }

  // Returns this party's repeated uses.
  std::vector<std::string> whole_session(Party me) const {
    open_ledger();
    {
      Rng rng = Rng::from_system();
      std::optional<Store> store;
      for (int connection = 0; connection < 2; ++connection) {
        Connections channels = connect(me);
        one_connection(me, rng, channels, store);
      }
    }
    use_observer = nullptr;
    const std::vector<std::size_t> uses = recorded_uses();
    for (const UseKind kind : {UseKind::Oracle, UseKind::Hash, UseKind::Stream, UseKind::Seal})
      EXPECT_GT(uses.at(static_cast<std::size_t>(kind)), 20u);
    const bool is_silent = has_silent_bits(GetParam().request);
    EXPECT_EQ(uses.at(static_cast<std::size_t>(UseKind::HalfTree)) > 20u, is_silent);
    // Three iterations or more of each chain, both directions: each has a code of its own.
    EXPECT_EQ(recorded_queries("silent code") >= 2 * kWorkers * 2 * 3, is_silent);
    return repeated_uses(params_.profile());
  }

  offline::SecurityParameters params_;
  std::string port_;
};

TEST_P(LedgerOf, WholeSessionUsesNothingTwice) {
  std::filesystem::create_directories(dir_);
  const pid_t child = start_child([&] {
    const auto repeated = whole_session(Party::B);
    for (const std::string& use : repeated) std::fprintf(stderr, "B: %s\n", use.c_str());
    if (repeated.empty() && !HasFailure()) ::_exit(0);
  });
  EXPECT_EQ(whole_session(Party::A), std::vector<std::string>());
  EXPECT_EQ(wait_for(child), 0) << "B failed or has a repeated use";
}

INSTANTIATE_TEST_SUITE_P(EachProfile, LedgerOf, testing::ValuesIn(kCases),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace tinyot
