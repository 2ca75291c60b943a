// Garbled runs that are prepared before their inputs are known, and values that stay shared from
// any kind of run into any other, on material from the ideal dealer.
#include "online/garbled/prepared_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <optional>
#include <stdexcept>

#include "circuitgen/generators/family.h"
#include "online/garbled/garbled_phase.h"
#include "online/garbled/prepared_cost.h"
#include "online/interactive/interactive_phase.h"
#include "tests/online/garbling.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/online_run.h"
#include "tests/online/prepared.h"
#include "tests/online/random_circuit.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/half_round_trips.h"
#include "tests/support/repetitions.h"
#include "tinyot/circuit/operators.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using online::Preparation;

constexpr std::size_t kMacBytes = 6;  // rho = 48 at sigma = 40

struct PreparedOutcome {
  Evaluation of[2];
  MaterialCounts dealt[2];
  Outcomes outcomes;
};

PreparedOutcome run_prepared(const PreparedJob& job, const PartyOptions& options = {},
                             bool expect_done = true) {
  PreparedOutcome run;
  run.outcomes = run_garbling(
      [&](Session& session, IdealDealer& dealer) {
        const auto me = static_cast<std::size_t>(session.me());
        PreparedParty party(session, dealer, job);
        party.prepare();
        run.of[me] = party.finish();
        run.dealt[me] = dealer.dealt;
      },
      options, expect_done);
  return run;
}

class PreparedRuns : public testing::TestWithParam<RowCheck> {};

INSTANTIATE_TEST_SUITE_P(WithEachCheck, PreparedRuns,
                         testing::Values(RowCheck::Batched, RowCheck::Early),
                         [](const auto& check) { return std::string(name_of(check.param)); });

// Three at a time, whose preparation and inputs come in another order, on one pair of sessions.
TEST_P(PreparedRuns, RandomCircuitsMatchThePlainEvaluator) {
  constexpr std::uint64_t kSessions = repetitions(30), kCircuits = 60;
  for (std::uint64_t seed = 1; seed <= kSessions; ++seed) {
    std::vector<RandomCircuit> circuits;
    std::vector<std::size_t> lanes;
    std::vector<Inputs> inputs;
    for (std::uint64_t i = 0; i < kCircuits; ++i) {
      const std::uint64_t number = seed * kCircuits + i;
      circuits.push_back(RandomCircuit::of_any_shape(number));
      lanes.push_back(number % 20 == 0 ? 60 + number / 20 % 80 : 1 + number % 7);
      Rng rng(Seed{{number, 6}});
      inputs.push_back(random_inputs(circuits.back(), lanes.back(), rng));
    }
    std::vector<Evaluation> results[2];
    run_garbling(
        [&](Session& session, IdealDealer& dealer) {
          auto& mine = results[static_cast<int>(session.me())];
          mine.resize(kCircuits);
          for (std::size_t first = 0; first < kCircuits; first += 3) {
            std::list<PreparedParty> three;
            for (std::size_t i = first; i < first + 3; ++i) {
              three.emplace_back(
                  session, dealer,
                  PreparedJob{circuits[i], lanes[i], inputs[i], GetParam(), window_of(i)});
              three.back().prepare();
            }
            const auto second = std::next(three.begin());
            mine[first + 1] = second->finish();
            mine[first + 2] = three.back().finish();
            mine[first] = three.front().finish();
          }
        },
        {.seed = seed});
    for (std::size_t i = 0; i < kCircuits && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("session " + std::to_string(seed) + ", circuit " + std::to_string(i));
      expect_outputs(circuits[i].info(), results[0][i], results[1][i],
                     evaluate(circuits[i], lanes[i], inputs[i]));
    }
    if (testing::Test::HasFailure()) return;
  }
}

// mixed_layers() with three bits that both parties give.
ListedCircuit with_public_inputs() {
  ListedCircuit circuit = mixed_layers();
  const auto p = circuit.input(InputSource::Public, 2),
             q = circuit.input(InputSource::Public, 1, true);
  circuit.output(Receiver::Both, {circuit.and_of(p[0], circuit.xor_of(p[1], q[0]))});
  return circuit;
}

TEST_P(PreparedRuns, SendTheMessagesOfTheTable) {
  const ListedCircuit circuit = with_public_inputs();
  constexpr std::size_t kLanes = 16;
  Rng rng(Seed{{1, 9}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  const std::size_t n = cost_of(circuit).ands_of(kLanes);
  const std::size_t of_a = 3 * kLanes + 2, of_b = of_a, of_both = 2 * kLanes + 1;
  std::size_t received[2] = {0, 0};
  for (const OutputBundle& bundle : circuit.info().outputs)
    for (const Party party : {Party::A, Party::B})
      received[static_cast<int>(party)] += receives(bundle.to, party) ? bundle.bits * kLanes : 0;
  Messages from[2];
  const PreparedOutcome run =
      run_prepared({circuit, kLanes, inputs, GetParam()},
                   {.wrap_a = recording(from[0]), .wrap_b = recording(from[1])});
  expect_outputs(circuit.info(), run.of[0], run.of[1], evaluate(circuit, kLanes, inputs));
  for (const MaterialCounts& dealt : run.dealt)
    EXPECT_EQ(dealt, online::garbled_material_for(circuit.info(), n, kLanes));

  const bool is_early = GetParam() == RowCheck::Early;
  const auto bytes = [](std::size_t bits) { return (bits + 7) / 8; };
  using Sent = std::vector<std::pair<std::string, std::size_t>>;
  Sent wanted[2] = {
      {{"garbled.de", bytes(2 * n)},
       {"mac_transcript.digest", 32},
       {"garbled.masked", bytes(of_a)}},
      {{"garbled.de", bytes(2 * n)}, {"garbled.rows", 32 * n}, {"garbled.colours", bytes(n)}}};
  if (is_early) wanted[1].push_back({"garbled.mac_rows", 3 * kMacBytes * n});
  for (const auto& message : Sent{{"mac_transcript.digest", 32},
                                  {"garbled.masked", bytes(of_b)},
                                  {"garbled.labels", 16 * (of_a + of_b + of_both)},
                                  {"garbled.seed", 16},
                                  {"garbled.outputs", bytes(received[0])},
                                  {"mac_transcript.digest", 32}})
    wanted[1].push_back(message);
  if (!is_early) {
    wanted[0].push_back({"garbled.masked_ands", bytes(n)});
    wanted[0].push_back({"mac_transcript.digest", 32});
  }
  wanted[0].push_back({"garbled.outputs", bytes(received[1])});
  wanted[0].push_back({"mac_transcript.digest", 32});
  for (const int party : {0, 1}) {
    Sent sent;
    for (const Message& message : from[party])
      if (message.tag.starts_with("garbled") || message.tag.starts_with("mac_"))
        sent.emplace_back(message.tag, message.payload.size());
    EXPECT_EQ(sent, wanted[party]);
  }
}

// What is counted of a prepared run is what is left of it once its inputs are known.
TEST_P(PreparedRuns, CostWhatIsCountedAfterTheInputs) {
  ListedCircuit of_b_alone;
  const auto x = of_b_alone.input(Party::B, 2);
  of_b_alone.output(Receiver::A, {of_b_alone.and_of(x[0], x[1])});
  const ListedCircuit of_both = with_public_inputs();
  const RowMacs macs = online::row_macs_of({GetParam(), 40});
  for (const Circuit* circuit :
       {static_cast<const Circuit*>(&of_both), static_cast<const Circuit*>(&of_b_alone)})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(seed);
      const std::size_t lanes = 1 + 7 * (seed % 11);
      const online::GarbledWindow window = window_of(seed);
      Rng rng(Seed{{seed, 9}});
      const Inputs inputs = random_inputs(*circuit, lanes, rng);
      const auto counter = online::count_prepared_cost(circuit->info(), lanes, macs, window);
      CircuitRounds(*circuit, 0, lanes, window_for(lanes)).visit(*counter);
      const online::RunCost cost = counter->finish();
      EXPECT_EQ(cost.ands, cost_of(*circuit).ands_of(lanes));
      HalfRoundTrips counted;
      run_garbling(
          [&](Session& session, IdealDealer& dealer) {
            PreparedParty party(session, dealer, {*circuit, lanes, inputs, GetParam(), window});
            party.prepare();
            counted.restart(session.me());
            const std::uint64_t before = session.channel().counters().bytes_sent;
            party.finish();
            const auto me = static_cast<std::size_t>(session.me());
            EXPECT_EQ(cost.bytes_sent[me], session.channel().counters().bytes_sent - before);
            EXPECT_EQ(cost.half_round_trips[me], counted.now(session.me()));
          },
          {.wrap_a = counted.of(Party::A), .wrap_b = counted.of(Party::B)});
    }
}

TEST_P(PreparedRuns, WaitAsOftenAsTheySay) {
  ListedCircuit of_b_alone;
  const auto x = of_b_alone.input(Party::B, 2);
  of_b_alone.output(Receiver::A, {of_b_alone.and_of(x[0], x[1])});
  const ListedCircuit of_both = mixed_layers();
  using Waits = std::array<std::uint64_t, 2>;
  const bool is_early = GetParam() == RowCheck::Early;
  for (const auto& each :
       {std::pair<const Circuit*, Waits>{&of_both, is_early ? Waits{2, 3} : Waits{4, 5}},
        std::pair<const Circuit*, Waits>{&of_b_alone, is_early ? Waits{1, 0} : Waits{3, 2}}}) {
    const Circuit* const circuit = each.first;
    const Waits& wanted = each.second;
    Rng rng(Seed{{7, 9}});
    const Inputs inputs = random_inputs(*circuit, 2, rng);
    HalfRoundTrips counted;
    run_garbling(
        [&](Session& session, IdealDealer& dealer) {
          PreparedParty party(session, dealer, {*circuit, 2, inputs, GetParam()});
          party.prepare();
          counted.restart(session.me());
          const Evaluation result = party.finish();
          const auto me = static_cast<std::size_t>(session.me());
          EXPECT_EQ(result.half_round_trips[me], wanted[me]);
          EXPECT_EQ(counted.now(session.me()), wanted[me]) << letter(session.me());
        },
        {.wrap_a = counted.of(Party::A), .wrap_b = counted.of(Party::B)});
  }
}

// Each bit of each message flipped, by either party: the honest one ends with the check that is
// named, without output, and shows no bit of one before the peer has proved what it depends on.
TEST_P(PreparedRuns, DetectEveryFlippedBit) {
  const ListedCircuit circuit = with_public_inputs();
  constexpr std::size_t kLanes = 2;
  Rng rng(Seed{{4, 4}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  const PreparedJob job{
      circuit, kLanes, inputs, GetParam(), {.entries = 12, .chunk_min = 6, .chunk_max = 9}};
  const bool is_early = GetParam() == RowCheck::Early;
  std::size_t found_rows = 0, found_seeds = 0;
  for (const Party cheater : {Party::A, Party::B}) {
    Messages sent;
    PartyOptions options;
    (cheater == Party::A ? options.wrap_a : options.wrap_b) = recording(sent);
    run_prepared(job, options);
    for (const auto& [tag, occurrence, payload] : sent) {
      if (!tag.starts_with("garbled") && !tag.starts_with("mac_")) continue;
      const bool is_row = tag == "garbled.rows" || tag == "garbled.mac_rows";
      const std::size_t step = is_row || tag == "garbled.labels" ? 37
                               : tag == "mac_transcript.digest"  ? 19
                                                                 : 1;
      for (std::size_t bit = 0; bit < 8 * payload.size(); bit += step) {
        SCOPED_TRACE(tag + " " + std::to_string(occurrence) + ", bit " + std::to_string(bit));
        Messages of_honest;
        (cheater == Party::A ? options.wrap_a : options.wrap_b) =
            cheating(flip_bit(tag, occurrence, bit));
        (cheater == Party::A ? options.wrap_b : options.wrap_a) = recording(of_honest);
        const PreparedOutcome run = run_prepared(job, options, false);
        const Outcome& honest = cheater == Party::A ? run.outcomes.b : run.outcomes.a;
        // Another masked input is another input. A row that is not hit is harmless; one that
        // changes the label of an output, which no gate reads, is found by B itself.
        if (honest.kind == Outcome::Kind::Done) {
          EXPECT_TRUE(tag == "garbled.masked" || is_row || tag == "garbled.labels");
          if (tag != "garbled.masked")
            expect_outputs_of(peer_of(cheater), circuit.info(), run.of[cheater == Party::A ? 1 : 0],
                              evaluate(circuit, kLanes, inputs));
          continue;
        }
        // The cheater runs the honest code, too, which may find what was changed behind it.
        const bool found_by_cheater = honest.kind == Outcome::Kind::PeerAborted &&
                                      (cheater == Party::B || tag == "garbled.masked");
        EXPECT_TRUE(found_by_cheater || honest.kind == Outcome::Kind::PeerCheated)
            << honest.message;
        EXPECT_TRUE(found_by_cheater || honest.check == "MAC transcript" ||
                    (is_early && honest.check == "early rows") ||
                    honest.check.starts_with("framing"))
            << honest.check;
        found_rows += is_row && honest.check == "early rows";
        found_seeds += tag == "garbled.seed";
        EXPECT_TRUE(run.of[cheater == Party::A ? 1 : 0].outputs.empty());
        const bool is_of_inputs = tag == "garbled.masked" || tag == "garbled.outputs" ||
                                  (tag == "mac_transcript.digest" && occurrence > 0);
        if (!is_of_inputs) {
          EXPECT_EQ(bytes_of(of_honest, "garbled.outputs"), 0u);
        }
      }
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_EQ(found_seeds, 128u) << "the rows are not under a pad";
  if (is_early) {
    EXPECT_GT(found_rows, 0u);
  }
}

// Whatever B does after the rows can be tried: a wrong one is a guess of rho bits of Delta^A, and
// it is judged even if B then closes the connection.
TEST(EarlyRows, AreJudgedWhenTheConnectionEnds) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{3, 1}});
  const Inputs inputs = random_inputs(circuit, 1, rng);
  const auto wrong = flip_bit("garbled.colours", 0, 2);
  PartyOptions options;
  options.wrap_b = cheating([&](std::string_view tag, std::size_t occurrence, auto& payload) {
    if (tag == "garbled.outputs") throw std::runtime_error("B closes the connection");
    wrong(tag, occurrence, payload);
  });
  const PreparedOutcome run = run_prepared({circuit, 1, inputs, RowCheck::Early}, options, false);
  EXPECT_EQ(run.outcomes.a.kind, Outcome::Kind::PeerCheated) << run.outcomes.a.message;
  EXPECT_EQ(run.outcomes.a.check, "early rows");
}

// A check fails on another connection of the session while B waits for A's inputs.
TEST(PreparedRun, ShowsNothingOnceTheSessionIsRevoked) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{3, 2}});
  const Inputs inputs = random_inputs(circuit, 1, rng);
  Messages of_b;
  const Outcomes outcomes = run_garbling(
      [&](Session& outer, IdealDealer& dealer) {
        const auto flag = std::make_shared<RevocationFlag>();
        PhaseLog log;
        Session session(outer.me(), {outer.id(), outer.id()}, outer.global_key(), outer.channel(),
                        outer.rng().fork(), log, {flag});
        PreparedParty party(session, dealer, {circuit, 1, inputs, RowCheck::Early});
        party.prepare();
        if (session.me() == Party::B) flag->set();
        party.finish();
      },
      {.wrap_b = recording(of_b)}, false);
  EXPECT_NE(outcomes.b.message.find("the session is revoked"), std::string::npos)
      << outcomes.b.message;
  EXPECT_EQ(bytes_of(of_b, "garbled.labels"), 0u);
  EXPECT_EQ(bytes_of(of_b, "garbled.seed"), 0u);
}

// Another input would show A the other label of its wire.
TEST(PreparedRun, IsUsedOnce) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{3, 3}});
  const Inputs inputs = random_inputs(circuit, 1, rng);
  run_garbling([&](Session& session, IdealDealer& dealer) {
    PreparedParty party(session, dealer, {circuit, 1, inputs, RowCheck::Early});
    EXPECT_THROW(party.finish(), std::logic_error) << "before it is prepared";
    party.prepare();
    party.finish();
    EXPECT_THROW(party.finish(), std::logic_error);
  });
}

TEST(EarlyRows, HaveAByteMoreThanSigma) {
  EXPECT_EQ(online::row_macs_of({RowCheck::Early, 40}).bytes, kMacBytes);
  EXPECT_EQ(online::row_macs_of({RowCheck::Early, 41}).bytes, 7u);
  EXPECT_EQ(online::row_macs_of({RowCheck::Early, 112}).bytes, 15u);
  EXPECT_EQ(online::row_macs_of({RowCheck::Batched, 40}).bytes, 0u);
}

TEST(Preparation, FollowsSigmaAndMemory) {
  const auto of = [](std::uint64_t ands, std::uint32_t sigma, std::optional<RowCheck> wanted = {}) {
    return online::kGarbledPhase.preparation_for({.ands = ands}, sigma, wanted).row_check;
  };
  EXPECT_EQ(of(1 << 22, 112), RowCheck::Early);
  EXPECT_EQ(of(1, 113), RowCheck::Batched);
  EXPECT_EQ(of(1, 40, RowCheck::Batched), RowCheck::Batched);
  EXPECT_THROW(of(1, 113, RowCheck::Early), UsageError);
  EXPECT_THROW(of((1 << 22) + 1, 40), UsageError);
}

// Everything that stays in memory has its bound.
TEST(Preparation, IsBoundedInAllThatItKeeps) {
  const auto prepare = [](const online::RunSize& size) {
    online::kGarbledPhase.preparation_for(size, 40, {});
  };
  prepare({.ands = 1 << 22, .local_gates = 1 << 24, .value_bits = 1 << 22});
  EXPECT_THROW(prepare({.local_gates = (1 << 24) + 1}), UsageError);
  EXPECT_THROW(prepare({.value_bits = (1 << 22) + 1}), UsageError);
  const ListedCircuit circuit = with_public_inputs();
  const CircuitCost cost = cost_of(circuit);
  const online::RunSize size = online::size_of_run(circuit.info(), cost, 10);
  EXPECT_EQ(size.ands, cost.ands_of(10));
  EXPECT_EQ(size.products, cost.products_of(10));
  EXPECT_EQ(size.group_parts, 10 * cost.group_parts);
  EXPECT_EQ(size.local_gates, cost.xors + cost.nots);
  EXPECT_EQ(size.value_bits, 10u * (3 + 3 + 2) + (2 + 2 + 1) + 10u * (2 + 2 + 4 + 1));
}

// In each of these ways a value is made, and used twice.
enum class Way { Interactive, Streamed, Batched, Early };
constexpr Way kWays[] = {Way::Interactive, Way::Streamed, Way::Batched, Way::Early};

Evaluation run_in(Way way, Session& session, IdealDealer& dealer, const Circuit& circuit,
                  std::size_t lanes, const Inputs& inputs,
                  const online::SharedValues& shared = {}) {
  const online::OnlinePhaseEntry& phase =
      way == Way::Interactive ? online::kInteractivePhase : online::kGarbledPhase;
  const CircuitCost cost = cost_of(circuit);
  CircuitRounds rounds(circuit, cost.gates(), lanes, window_for(lanes));
  std::optional<Preparation> preparation;
  if (way == Way::Batched) preparation = Preparation{RowCheck::Batched, 40};
  if (way == Way::Early) preparation = Preparation{RowCheck::Early, 40};
  const MaterialCounts before = dealer.dealt,
                       wanted = phase.material_for(circuit.info(), cost.ands_of(lanes),
                                                   AndMaterial::Garbling, lanes, shared);
  const auto evaluation = phase.make({.session = session,
                                      .source = dealer,
                                      .wanted = wanted,
                                      .form = AndMaterial::Garbling,
                                      .rounds = rounds,
                                      .shared = shared,
                                      .preparation = preparation});
  evaluation->prepare();
  Evaluation result = evaluation->finish(values_given_by(session.me(), circuit.info(), inputs));
  for (const MaterialKind kind : kAllMaterialKinds)
    EXPECT_EQ(dealer.dealt[kind] - before[kind], wanted[kind]);
  return result;
}

TEST(SharedValues, ContinueFromAnyRunInAnyOther) {
  const CircuitInfo first{"first",
                          {integer_input("x", 8, Party::A), integer_input("y", 8, Party::B)},
                          {{"z", 8, Receiver::None, ValueFormat::Integer}}};
  const GeneratedCircuit product(first, [](Builder& builder) {
    builder.output(0, Number(builder.input(0)) * Number(builder.input(1)));
  });
  for (const bool is_common : {false, true}) {
    const CircuitInfo second{"second",
                             {{"z", 8, InputSource::Shared, ValueFormat::Integer, is_common},
                              integer_input("w", 8, Party::B),
                              {"p", 8, InputSource::Public, ValueFormat::Integer, false}},
                             {{"sum", 8, Receiver::Both, ValueFormat::Integer},
                              {"kept", 8, Receiver::None, ValueFormat::Integer}}};
    const GeneratedCircuit square(second, [](Builder& builder) {
      const Number z(builder.input(0)), w(builder.input(1)), p(builder.input(2));
      builder.output(0, z * ~z + w * p);
      builder.output(1, ~z);
    });
    for (const std::size_t lanes : {std::size_t{1}, std::size_t{65}})
      for (const Way from : kWays)
        for (const Way to : kWays) {
          SCOPED_TRACE(std::to_string(static_cast<int>(from)) + " to " +
                       std::to_string(static_cast<int>(to)));
          const std::size_t first_lanes = is_common ? 1 : lanes;
          Rng rng(Seed{{lanes, 8}});
          const Inputs inputs = random_inputs(product, first_lanes, rng),
                       more = random_inputs(square, lanes, rng);
          Evaluation results[2];
          LaneMatrix shares[2];
          run_garbling([&](Session& session, IdealDealer& dealer) {
            const auto me = static_cast<std::size_t>(session.me());
            const Evaluation made = run_in(from, session, dealer, product, first_lanes, inputs);
            const online::SharedValues shared = {&*made.shared[0], nullptr, nullptr};
            run_in(to, session, dealer, square, lanes, more, shared);
            results[me] = run_in(to, session, dealer, square, lanes, more, shared);
            shares[me] = results[me].shared[1]->my_share();
          });
          const auto integer = [](const BitVector& bits) { return bits.words()[0]; };
          for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::size_t at = is_common ? 0 : lane;
            const std::uint64_t z = integer(inputs[0][at]) * integer(inputs[1][at]) % 256,
                                w = integer(more[1][lane]), p = integer(more[2][lane]);
            for (const Evaluation& result : results) {
              ASSERT_TRUE(result.outputs.size() == 2 && result.outputs[0]);
              EXPECT_EQ(integer(to_bits((*result.outputs[0])[lane])),
                        (z * (255 - z) + w * p) % 256);
            }
            EXPECT_EQ(std::to_integer<std::uint64_t>(shares[0][lane].bytes()[0] ^
                                                     shares[1][lane].bytes()[0]),
                      255 - z);
          }
          if (testing::Test::HasFailure()) return;
        }
  }
}

// A share that was changed between two runs is found where it is used.
TEST(SharedValues, ThatWereChangedAreFound) {
  ListedCircuit first, second;
  const auto x = first.input(Party::A, 1), y = first.input(Party::B, 1);
  first.output(Receiver::None, {first.and_of(x[0], y[0])});
  const auto z = second.input(InputSource::Shared, 1), w = second.input(Party::B, 1);
  second.output(Receiver::Both, {second.and_of(z[0], w[0]), z[0]});
  for (const Way from : kWays)
    for (const Way to : kWays)
      for (const Party cheater : {Party::A, Party::B}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(from)) + " to " +
                     std::to_string(static_cast<int>(to)) +
                     (cheater == Party::A ? ", A lies" : ", B lies"));
        Rng rng(Seed{{1, 8}});
        const Inputs inputs = random_inputs(first, 1, rng), more = random_inputs(second, 1, rng);
        const Outcomes outcomes = run_garbling(
            [&](Session& session, IdealDealer& dealer) {
              const Evaluation made = run_in(from, session, dealer, first, 1, inputs);
              const online::SharedValue& value = *made.shared[0];
              BitVector bits = value.bit_shares();
              bits.put(0, bits[0] != (session.me() == cheater));
              std::vector<SecretVector<Block>> planes;
              for (std::size_t p = 0; p < online::planes_of(value.form()); ++p)
                planes.emplace_back(value.plane(p).begin(), value.plane(p).end());
              const online::SharedValue changed(1, 1, value.form(), bits, std::move(planes));
              run_in(to, session, dealer, second, 1, more, {&changed, nullptr});
            },
            {}, false);
        const Outcome& honest = cheater == Party::A ? outcomes.b : outcomes.a;
        EXPECT_TRUE(honest.kind == Outcome::Kind::PeerCheated ||
                    honest.kind == Outcome::Kind::PeerAborted)
            << honest.message;
      }
}

}  // namespace
}  // namespace tinyot
