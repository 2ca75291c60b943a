// Masked runs on the ideal dealer's material, compared with the plain evaluator; their plans, their
// messages, and a party that lies in either stage.
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "circuitgen/generators/family.h"
#include "circuitgen/generators/registry.h"
#include "crypto/random_oracle.h"
#include "online/masked/masked_cost.h"
#include "online/masked/masked_run.h"
#include "online/masked/plan_cache.h"
#include "tests/online/cheat.h"
#include "tests/online/garbling.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/random_circuit.h"
#include "tests/online/tampering_channel.h"
#include "tests/support/half_round_trips.h"
#include "tests/support/repetitions.h"
#include "tinyot/circuit/operators.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Masks = OnlineJob::Masks;
using online::MaskPlanner;
using online::Pivot;
using online::PivotTarget;
using online::RoundPlan;

constexpr std::size_t kAtoms[] = {1, 2, 128};

// Plays a plan on plain bits: z as the circuit has it, masks and public bits as the plan changes
// them, and factors at random.
class PlanJudge final : public RoundSink {
 public:
  PlanJudge(std::size_t lanes, std::size_t atoms_max, std::uint64_t seed)
      : lanes_(lanes), planner_(atoms_max), rng_(Seed{{seed, 31}}) {}

  void round(Round& round) override {
    const RoundPlan plan = planner_.plan(round);
    opened_after += plan.opened_after(lanes_);
    ands += round.and_count(lanes_);
    cuts += plan.cut_local.size() + plan.cut_invariant_local.size();
    for (const RoundInput& input : round.inputs) {
      Wire& wire = wires_[input.out];
      wire.z = random();
      wire.mask = random();
      if (is_invariant(input.out)) {
        wire.z = repeated(wire.z);
        wire.mask = repeated(wire.mask);
      }
      wire.open = wire.z ^ wire.mask;
    }
    evaluate(round.invariant_local, plan.cut_invariant_local);
    evaluate(round.local, plan.cut_local);
    std::map<std::pair<bool, std::size_t>, std::array<std::uint64_t, 2>> factors;
    for (const bool invariant : {true, false})
      online::for_each_product(round, invariant, [&](std::uint32_t i, const auto&) {
        for (std::uint64_t& factor : factors[{invariant, i}])
          factor = invariant ? repeated(random()) : random();
      });
    std::map<std::tuple<bool, std::size_t, std::size_t>, bool> is_pivot;
    const PivotTarget* target = plan.targets.data();
    for (const Pivot& pivot : plan.pivots) {
      std::uint64_t factor = factors[{pivot.is_of_invariant, pivot.product}][pivot.operand];
      if (is_invariant(pivot.wire)) factor = repeated(factor);
      const Wire before = wires_[pivot.wire];
      const std::uint64_t of_mask = before.mask ^ factor,
                          of_open = before.open ^ (before.z ^ factor);
      for (std::uint32_t i = 0; i < pivot.target_count; ++i, ++target) {
        cuts += target->is_cut;
        EXPECT_TRUE(!is_invariant(target->slot) || is_invariant(pivot.wire));
        Wire& wire = wires_[target->slot];
        wire.mask = target->is_cut ? 0 : wire.mask ^ of_mask;
        wire.open = target->is_cut ? 0 : wire.open ^ of_open;
      }
      EXPECT_EQ(wires_[pivot.wire].mask, factor);
      EXPECT_TRUE(
          is_pivot.insert({{pivot.is_of_invariant, pivot.product, pivot.operand}, true}).second);
    }
    EXPECT_EQ(target, plan.targets.data() + plan.targets.size());
    for (const bool invariant : {true, false})
      online::for_each_product(round, invariant, [&](std::uint32_t, const auto& operands) {
        for (const std::optional<Slot>& slot : operands) {
          if (!slot) continue;
          const Wire& wire = wires_[*slot];
          EXPECT_EQ((wire.z ^ wire.mask ^ wire.open) & used(), 0u);
        }
      });
    std::vector<std::pair<Slot, std::uint64_t>> results;
    for (const auto* gates : {&round.invariant_ands, &round.ands})
      for (const RoundAnd& gate : *gates)
        results.emplace_back(gate.out, wires_[gate.in0].z & wires_[gate.in1].z);
    for (const auto* groups : {&round.invariant_groups, &round.groups})
      for (const RoundGroup& group : *groups)
        for (std::size_t k = 0; k < group.shape->results.size(); ++k)
          results.emplace_back(group.results[k],
                               is_invariant(group.results[k]) ? repeated(random()) : random());
    for (const auto& [slot, z] : results) wires_[slot] = {z, 0, 0};
  }

  std::uint64_t opened_after = 0, ands = 0, cuts = 0;

 private:
  struct Wire {
    std::uint64_t z = 0, mask = 0, open = 0;
  };

  std::uint64_t random() { return rng_.bits(64).words()[0]; }
  static std::uint64_t repeated(std::uint64_t word) { return std::uint64_t{0} - (word & 1); }
  std::uint64_t used() const { return lanes_ == 64 ? ~0ull : (std::uint64_t{1} << lanes_) - 1; }

  void evaluate(const std::vector<LocalGate>& gates, const std::vector<std::uint32_t>& cut) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < gates.size(); ++i) {
      const LocalGate& gate = gates[i];
      Wire out;
      switch (gate.kind) {
        case GateKind::Xor:
          out = {wires_[gate.in0].z ^ wires_[gate.in1].z,
                 wires_[gate.in0].mask ^ wires_[gate.in1].mask,
                 wires_[gate.in0].open ^ wires_[gate.in1].open};
          break;
        case GateKind::Not:
          out = wires_[gate.in0];
          out.z = ~out.z;
          out.open = ~out.open;
          break;
        default:
          out.z = out.open = gate.in0 != 0 ? ~0ull : 0;
      }
      if (next < cut.size() && cut[next] == i) {
        out.mask = out.open = 0;
        ++next;
      }
      wires_[gate.out] = out;
    }
    EXPECT_EQ(next, cut.size());
  }

  std::size_t lanes_;
  MaskPlanner planner_;
  Rng rng_;
  std::map<Slot, Wire> wires_;
};

// The figures of a plan that opens as little as can be after the inputs: the rank of the operands
// over the results of ANDs.
TEST(MaskPlan, OpensTheRankOfTheOperandsAfterTheInputs) {
  for (const auto& [name, ands, after] : {std::tuple("aes128", 6400u, 3240u),
                                          {"aes128:sbox=shallow", 6800u, 3640u},
                                          {"aes128:sbox=gf16", 7400u, 3040u}}) {
    const auto circuit = find_circuit(name);
    PlanJudge judge(1, MaskPlanner::kAtomsMax, 1);
    generate_rounds(*circuit, 1, window_for(1), judge, GroupsAs::Polynomials);
    EXPECT_EQ(judge.ands, ands) << name;
    EXPECT_EQ(judge.opened_after, after) << name;
    EXPECT_EQ(judge.cuts, 0u) << name;
  }
}

// Of the plans of all rounds, in order.
class PlanDigest final : public RoundSink {
 public:
  explicit PlanDigest(std::size_t atoms_max) : planner_(atoms_max) {}

  void round(Round& round) override {
    const RoundPlan plan = planner_.plan(round);
    for (const auto* cut : {&plan.cut_invariant_local, &plan.cut_local}) {
      add(cut->size());
      for (const std::uint32_t number : *cut) add(number);
    }
    add(plan.pivots.size());
    for (const Pivot& pivot : plan.pivots)
      for (const std::uint64_t field :
           {std::uint64_t{pivot.is_of_invariant}, std::uint64_t{pivot.product},
            std::uint64_t{pivot.operand}, std::uint64_t{pivot.wire},
            std::uint64_t{pivot.target_count}})
        add(field);
    for (const PivotTarget& target : plan.targets) {
      add(target.slot);
      add(target.is_cut);
    }
  }
  std::string text() {
    const Digest digest = oracle_.digest();
    return hex_of(bytes_of(digest).first(8));
  }

 private:
  void add(std::uint64_t number) { oracle_.absorb_object(number); }

  MaskPlanner planner_;
  RandomOracle oracle_{{}, {crypto::Phase::unregistered("test plan"), '*', 0}};
};

// Parties with other plans take each other for cheaters: a change of the rules, or of the layering,
// is one of the wire version.
TEST(MaskPlan, IsThatOfTheWireVersion) {
  for (const auto& [name, lanes, window, atoms, wanted] :
       {std::tuple("aes128", 1u, 100'000u, 128u, "e82dc2628e670606"),
        {"aes128:sbox=gf16", 1u, 100'000u, 128u, "5edd8ae38369fcb1"},
        {"aes128:sbox=gf16", 5u, 1000u, 2u, "33fa777dee20f965"},
        {"aes128_gcm_open:bytes=40,aad=9", 3u, 5000u, 128u, "6d19c9571e25a983"}}) {
    PlanDigest digest(atoms);
    generate_rounds(*find_circuit(name), lanes, window, digest, GroupsAs::Polynomials);
    EXPECT_EQ(digest.text(), wanted) << name << " on " << lanes;
  }
}

TEST(MaskPlan, LeavesEveryOperandMasked) {
  std::uint64_t cuts = 0;
  for (std::uint64_t seed = 1; seed <= repetitions(600); ++seed) {
    const RandomCircuit circuit = RandomCircuit::of_any_shape(seed);
    for (const std::size_t atoms : kAtoms)
      for (const std::size_t lanes : {1, 5, 64}) {
        PlanJudge judge(lanes, atoms, seed);
        generate_rounds(circuit, lanes, 1 + seed % 9 * (seed % 2 == 0 ? 1 : 40), judge,
                        GroupsAs::Polynomials);
        EXPECT_LE(judge.opened_after, 2 * judge.ands);
        cuts += judge.cuts;
      }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(cuts, 0u);
}

// Sums of many results: forms stay within their limit, and each operand is changed a bounded number
// of times.
TEST(MaskPlan, CutsLongSums) {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 400), y = circuit.input(Party::B, 400);
  std::vector<WireId> results;
  for (std::size_t i = 0; i < 400; ++i) results.push_back(circuit.and_of(x[i], y[i]));
  WireId sum = results[0];
  std::vector<WireId> sums;
  for (std::size_t i = 1; i < 400; ++i) sums.push_back(sum = circuit.xor_of(sum, results[i]));
  circuit.output(Receiver::Both, {circuit.and_of(sum, sums[200])});
  PlanJudge judge(1, MaskPlanner::kAtomsMax, 1);
  generate_rounds(circuit, 1, window_for(1), judge);
  EXPECT_EQ(judge.cuts, 3u);
  EXPECT_EQ(judge.opened_after, 2u);
}

struct Shape {
  RandomCircuit circuit;
  std::size_t lanes;
  Inputs inputs;
};

Shape shape_of(std::uint64_t seed) {
  constexpr std::size_t kLanes[] = {1, 2, 3, 63, 64, 65, 70, 129};
  Shape shape{RandomCircuit::of_any_shape(seed), seed % 3 == 0 ? 1 : kLanes[seed % 8], {}};
  Rng rng(Seed{{seed, 32}});
  shape.inputs = random_inputs(shape.circuit, shape.lanes, rng);
  return shape;
}

class Masked : public testing::TestWithParam<Masks> {};

INSTANTIATE_TEST_SUITE_P(InEachWay, Masked, testing::Values(Masks::AtOnce, Masks::Prepared),
                         name_of_masks);

TEST_P(Masked, RandomCircuitsMatchThePlainEvaluator) {
  for (std::uint64_t seed = 1; seed <= repetitions(400); ++seed) {
    const Shape shape = shape_of(seed);
    const OnlineJob job{.circuit = shape.circuit,
                        .lanes = shape.lanes,
                        .inputs = shape.inputs,
                        .form = AndMaterial::Triples,
                        .window = seed % 4 == 0 ? 0 : 1 + seed % 9 * 7,
                        .masks = GetParam(),
                        .atoms_max = kAtoms[seed % 3]};
    const OnlineRun run = run_online(job, {.seed = seed});
    expect_outputs(shape.circuit, run, evaluate(shape.circuit, shape.lanes, shape.inputs));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST_P(Masked, TakesTheMaterialOfAnInteractiveRun) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{4, 33}});
  const Inputs inputs = random_inputs(circuit, 70, rng);
  OnlineJob job{circuit, 70, inputs, AndMaterial::Triples};
  const OnlineRun interactive = run_online(job);
  job.masks = GetParam();
  const OnlineRun masked = run_online(job);
  for (const MaterialKind kind : kAllMaterialKinds) {
    EXPECT_EQ(masked.dealt_a[kind], interactive.dealt_a[kind]);
    EXPECT_EQ(masked.dealt_b[kind], interactive.dealt_b[kind]);
  }
}

// Bytes and half round trips are those of the estimate; of a run that is prepared, after its
// inputs.
TEST_P(Masked, CostsWhatIsCounted) {
  for (const char* name :
       {"aes128", "aes128:sbox=shallow", "aes128:sbox=gf16", "comparisons:rows=4,columns=5,bits=8"})
    for (const std::size_t lanes : {1, 70}) {
      const auto circuit = find_circuit(name);
      Rng rng(Seed{{4, 34}});
      const Inputs inputs = random_inputs(*circuit, lanes, rng);
      const CircuitCost cost = cost_of(*circuit);
      CircuitRounds counted(*circuit, cost.gates(), lanes, window_for(lanes), {},
                            GroupsAs::Polynomials);
      const auto counter =
          online::count_masked_cost(circuit->info(), lanes, GetParam() == Masks::Prepared);
      counted.visit(*counter);
      const online::RunCost expected = counter->finish();
      HalfRoundTrips clock;
      std::array<Evaluation, 2> results;
      std::array<std::uint64_t, 2> bytes{};
      run_sessions(
          [&](Session& session) {
            IdealDealer dealer = dealer_of(session, 1);
            const auto me = static_cast<std::size_t>(session.me());
            CircuitRounds rounds(*circuit, cost.gates(), lanes, window_for(lanes), {},
                                 GroupsAs::Polynomials);
            online::MaskedRun run(
                session, dealer,
                material_for(circuit->info(), cost.products_of(lanes), AndMaterial::Triples, lanes),
                rounds, {});
            if (GetParam() == Masks::Prepared) run.prepare();
            // What the other party has sent in its first stage has been received.
            clock.restart(session.me());
            const std::uint64_t before = session.channel().counters().bytes_sent;
            results[me] =
                run.finish(values_given_by(session.me(), circuit->info(), inputs), {}, [] {});
            bytes[me] = session.channel().counters().bytes_sent - before;
          },
          {.wrap_a = clock.of(Party::A), .wrap_b = clock.of(Party::B)});
      EXPECT_EQ(bytes, expected.bytes_sent) << name;
      const std::size_t more = GetParam() == Masks::AtOnce && cost.groups > 0;  // a second level
      EXPECT_EQ(expected.half_round_trips[0], cost.product_depth + 3 + more);
      for (const Evaluation& result : results)
        EXPECT_EQ(result.half_round_trips, expected.half_round_trips);
      // Before the inputs, the parties may be at different times.
      if (GetParam() == Masks::AtOnce) {
        for (const Party party : {Party::A, Party::B})
          EXPECT_EQ(clock.now(party), expected.half_round_trips[static_cast<std::size_t>(party)]);
      }
    }
}

std::shared_ptr<const LayeredCircuit> layered(const Circuit& circuit, std::size_t lanes) {
  LayeredCircuitMaker maker(std::size_t{1} << 30);
  generate_rounds(circuit, lanes, window_for(lanes), maker);
  return maker.finish();
}

std::shared_ptr<const online::CircuitPlan> plan_of(const LayeredCircuit& circuit,
                                                   std::size_t atoms_max) {
  const auto plan = std::make_shared<online::CircuitPlan>();
  MaskPlanner planner(atoms_max);
  for (const Round& round : circuit.rounds) plan->rounds.push_back(planner.plan(round));
  return plan;
}

TEST_P(Masked, RunsOfKeptRoundsKeepTheirPlan) {
  const auto circuit = find_circuit("aes128");
  constexpr std::size_t kLanes = 3;
  Rng rng(Seed{{4, 36}});
  const Inputs inputs = random_inputs(*circuit, kLanes, rng);
  OnlineJob job{.circuit = *circuit,
                .lanes = kLanes,
                .inputs = inputs,
                .form = AndMaterial::Triples,
                .masks = GetParam(),
                .layered = layered(*circuit, kLanes)};
  const auto wanted = evaluate(*circuit, kLanes, inputs);
  online::PlanCache& cache = online::PlanCache::of_process();
  EXPECT_EQ(cache.plan(job.layered), nullptr);
  for (std::size_t run = 0; run < 2; ++run)
    expect_outputs(*circuit, run_online(job, {.seed = run}), wanted);
  ASSERT_NE(cache.plan(job.layered), nullptr);
  EXPECT_EQ(cache.plan(job.layered)->rounds, plan_of(*job.layered, 128)->rounds);
}

// By a plan of forms of one atom, more is opened after the inputs.
TEST(Masked, TakesThePlanThatIsKept) {
  const auto circuit = find_circuit("aes128");
  const CircuitCost cost = cost_of(*circuit);
  Rng rng(Seed{{4, 37}});
  const Inputs inputs = random_inputs(*circuit, 1, rng);
  const auto bytes_after_inputs = [&](bool is_kept) {
    const auto rounds_kept = layered(*circuit, 1);
    if (is_kept) online::PlanCache::of_process().keep(rounds_kept, plan_of(*rounds_kept, 1));
    std::array<std::uint64_t, 2> bytes{};
    run_sessions([&](Session& session) {
      IdealDealer dealer = dealer_of(session, 1);
      CircuitRounds rounds(*circuit, cost.gates(), 1, window_for(1),
                           {.layered = rounds_kept, .keep = {}});
      online::MaskedRun run(session, dealer,
                            material_for(circuit->info(), cost.ands_of(1), AndMaterial::Triples, 1),
                            rounds, {});
      run.prepare();
      const std::uint64_t before = session.channel().counters().bytes_sent;
      (void)run.finish(values_given_by(session.me(), circuit->info(), inputs), {}, [] {});
      bytes[static_cast<std::size_t>(session.me())] =
          session.channel().counters().bytes_sent - before;
    });
    return bytes;
  };
  const auto counted = [&](std::size_t atoms_max) {
    const auto counter = online::count_masked_cost(circuit->info(), 1, true, nullptr, atoms_max);
    CircuitRounds(*circuit, cost.gates(), 1, window_for(1)).visit(*counter);
    return counter->finish().bytes_sent;
  };
  EXPECT_EQ(bytes_after_inputs(true), counted(1));
  EXPECT_EQ(bytes_after_inputs(false), counted(MaskPlanner::kAtomsMax));
  EXPECT_NE(counted(1), counted(MaskPlanner::kAtomsMax));
}

// An estimate of rounds that are kept is one more of them.
TEST(PlanCache, IsUsedByEstimates) {
  const auto circuit = find_circuit("aes128");
  const auto bytes_with = [&](const std::shared_ptr<const LayeredCircuit>& rounds) {
    const auto counter = online::count_masked_cost(circuit->info(), 1, true, rounds);
    CircuitRounds(*circuit, rounds->gates, 1, window_for(1), {.layered = rounds, .keep = {}})
        .visit(*counter);
    return counter->finish().bytes_sent;
  };
  online::PlanCache& cache = online::PlanCache::of_process();
  const auto rounds = layered(*circuit, 1), others = layered(*circuit, 1);
  const auto bytes = bytes_with(rounds);
  ASSERT_NE(cache.plan(rounds), nullptr);
  EXPECT_EQ(cache.plan(rounds)->rounds, plan_of(*rounds, 128)->rounds);
  cache.keep(others, plan_of(*others, 1));
  EXPECT_GT(bytes_with(others)[0], bytes[0]);
}

TEST(PlanCache, KeepsPlansWhileTheRoundsAreKept) {
  const auto circuit = find_circuit("aes128");
  auto rounds = layered(*circuit, 1);
  const auto others = layered(*circuit, 1);
  online::PlanCache cache;
  EXPECT_EQ(cache.plan(nullptr), nullptr);
  auto plan = plan_of(*rounds, 128);
  const std::weak_ptr kept(plan);
  cache.keep(rounds, std::move(plan));
  EXPECT_EQ(cache.plan(rounds), kept.lock());
  EXPECT_EQ(cache.plan(others), nullptr);
  rounds.reset();
  cache.keep(others, plan_of(*others, 128));
  EXPECT_TRUE(kept.expired());
}

TEST(Masked, FinishesOnce) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{4, 35}});
  const Inputs inputs = random_inputs(circuit, 1, rng);
  run_sessions([&](Session& session) {
    IdealDealer dealer = dealer_of(session, 1);
    const CircuitCost cost = cost_of(circuit);
    CircuitRounds rounds(circuit, cost.gates(), 1, window_for(1));
    online::MaskedRun run(session, dealer,
                          material_for(circuit.info(), cost.ands_of(1), AndMaterial::Triples, 1),
                          rounds, {});
    run.prepare();
    const BundleValues mine = values_given_by(session.me(), circuit.info(), inputs);
    run.finish(mine, {}, [] {});
    const std::uint64_t sent = session.channel().counters().messages_sent;
    EXPECT_THROW(run.finish(mine, {}, [] {}), std::logic_error);
    EXPECT_EQ(session.channel().counters().messages_sent, sent);
  });
}

// A value that stayed shared after a run of another phase is the input of another one, twice,
// beside a public input.
TEST_P(Masked, ContinuesWithSharedValues) {
  const CircuitInfo first{"first",
                          {integer_input("x", 8, Party::A), integer_input("y", 8, Party::B)},
                          {{"z", 8, Receiver::None, ValueFormat::Integer}}};
  const GeneratedCircuit product(first, [](Builder& builder) {
    builder.output(0, Number(builder.input(0)) * Number(builder.input(1)));
  });
  for (const bool is_common : {false, true})
    for (const Masks made_by : {Masks::None, GetParam()})
      for (const Masks used_by : {Masks::None, GetParam()}) {
        const CircuitInfo second{"second",
                                 {{"z", 8, InputSource::Shared, ValueFormat::Integer, is_common},
                                  integer_input("w", 8, Party::B),
                                  {"p", 8, InputSource::Public, ValueFormat::Integer, is_common}},
                                 {{"sum", 8, Receiver::Both, ValueFormat::Integer},
                                  {"private", 8, Receiver::A, ValueFormat::Integer}}};
        const GeneratedCircuit square(second, [](Builder& builder) {
          const Number z(builder.input(0)), w(builder.input(1)), p(builder.input(2));
          builder.output(0, z * ~z + w * p);
          builder.output(1, z);
        });
        const std::size_t lanes = 65, first_lanes = is_common ? 1 : lanes;
        Rng rng(Seed{{is_common, 39}});
        const Inputs inputs = random_inputs(product, first_lanes, rng);
        Inputs more = random_inputs(square, lanes, rng);
        std::array<Evaluation, 2> results;
        run_sessions([&](Session& session) {
          IdealDealer dealer = dealer_of(session, 1);
          OnlineJob making{product, first_lanes, inputs, AndMaterial::Triples};
          making.masks = made_by;
          const Evaluation made = run_party(session, dealer, making);
          OnlineJob using_it{square, lanes, more, AndMaterial::Triples};
          using_it.masks = used_by;
          const SharedValues shared = {&*made.shared[0], nullptr, nullptr};
          run_party(session, dealer, using_it, shared);
          results[static_cast<std::size_t>(session.me())] =
              run_party(session, dealer, using_it, shared);
        });
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const auto integer = [&](const LaneValues& values, bool common) {
            return values[common ? 0 : lane].words()[0];
          };
          const std::uint64_t z = integer(inputs[0], is_common) * integer(inputs[1], is_common) %
                                  256,
                              w = integer(more[1], false), p = integer(more[2], is_common);
          for (const Evaluation& result : results)
            ASSERT_EQ(to_bits((*result.outputs[0])[lane]).words()[0],
                      (z * (255 - z) + w * p) % 256);
          ASSERT_EQ(to_bits((*results[0].outputs[1])[lane]).words()[0], z);
          ASSERT_FALSE(results[1].outputs[1]);
        }
      }
}

TEST(Masked, HasALimitedSize) {
  online::require_masked_size({.products = 1 << 23, .local_gates = 1 << 24});
  EXPECT_THROW(online::require_masked_size({.products = (1 << 23) + 1}), UsageError);
  EXPECT_THROW(online::require_masked_size({.local_gates = (1 << 24) + 1}), UsageError);
}

class MaskedCheating : public testing::TestWithParam<Masks> {};

INSTANTIATE_TEST_SUITE_P(InEachWay, MaskedCheating, testing::Values(Masks::AtOnce, Masks::Prepared),
                         name_of_masks);

// The lie is sent, or sent and believed by the cheater itself; in each stage, at each bit of the
// first, the middle and the last message of each kind, with its padding.
TEST_P(MaskedCheating, IsCaughtAtEveryBit) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{4, 36}});
  const Inputs inputs = random_inputs(circuit, 3, rng);
  OnlineJob job{circuit, 3, inputs, AndMaterial::Triples};
  job.masks = GetParam();
  for (const Party cheater : {Party::A, Party::B}) {
    const Messages messages = messages_of(job, cheater);
    std::map<std::string, std::size_t> tried;
    for (const auto& [tag, occurrence] : some_of_each(messages)) {
      const std::size_t bits = bits_of_message(job, cheater, tag, occurrence),
                        sent = 8 * payload_of(messages, tag, occurrence).size();
      for (std::size_t bit = 0; bit < sent; bit += tag == "mac_transcript.digest" ? 5 : 1) {
        SCOPED_TRACE(tag + ", bit " + std::to_string(bit));
        ++tried[tag];
        expect_change_caught(
            job, cheater, tag, occurrence,
            [&](std::vector<std::byte>& payload) { flip(payload, bit); },
            bit < bits ? "MAC transcript" : "framing");
        if (bit < bits && tag.starts_with("masked."))
          expect_caught(job, cheater, flipping_both_ways(tag, {bit}, occurrence), "MAC transcript");
      }
      if (HasFailure()) return;
    }
    for (const char* tag : {"masked.products", "masked.operands", "input.masked", "output.shares",
                            "mac_transcript.digest"})
      EXPECT_GT(tried[tag], 0u) << tag;
  }
}

// On a full and a partial tile, and at lane-invariant wires, whose factor is the first lane's.
TEST_P(MaskedCheating, IsCaughtInWideRounds) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{4, 38}});
  const Inputs inputs = random_inputs(circuit, 70, rng);
  OnlineJob job{circuit, 70, inputs, AndMaterial::Triples};
  job.masks = GetParam();
  for (const Party cheater : {Party::A, Party::B})
    for (const char* tag : {"masked.products", "masked.operands"})
      for (const std::size_t occurrence : {0, 1}) {
        const std::size_t bits = bits_of_message(job, cheater, tag, occurrence);
        ASSERT_GT(bits, 64u);
        for (const std::size_t bit : {std::size_t{0}, std::size_t{1}, std::size_t{63},
                                      std::size_t{64}, bits / 2, bits - 2, bits - 1})
          expect_caught(job, cheater, flipping_both_ways(tag, {bit}, occurrence), "MAC transcript");
      }
}

// A lie of stage F is found before the run is relied on: no input has been announced.
TEST(MaskedCheating, IsCaughtBeforeInputsAreAnnounced) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{4, 37}});
  const Inputs inputs = random_inputs(circuit, 3, rng);
  OnlineJob job{circuit, 3, inputs, AndMaterial::Triples};
  job.masks = Masks::Prepared;
  for (const Party cheater : {Party::A, Party::B}) {
    bool is_announced = false;
    PartyOptions options;
    ChannelWrapper lies = flipping_both_ways("masked.products", {0}),
                   watches =
                       cheating([&](std::string_view tag, std::size_t, std::vector<std::byte>&) {
                         is_announced = is_announced || tag == "input.masked";
                       });
    (cheater == Party::A ? options.wrap_a : options.wrap_b) = lies;
    (cheater == Party::A ? options.wrap_b : options.wrap_a) = watches;
    const OnlineRun run = run_online(job, options, false);
    EXPECT_EQ(run.outcome(cheater == Party::A ? Party::B : Party::A).check, "MAC transcript");
    EXPECT_FALSE(is_announced);
  }
}

}  // namespace
}  // namespace tinyot
