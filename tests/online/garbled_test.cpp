// The constant-round online phase on material from the ideal dealer.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "circuitgen/generators/family.h"
#include "online/garbled/garbled_cost.h"
#include "online/garbled/garbled_run.h"
#include "online/garbled/mask_pass.h"
#include "online/garbled/row_hash.h"
#include "online/garbled/rows.h"
#include "tests/online/garbling.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/online_run.h"
#include "tests/online/random_circuit.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/half_round_trips.h"
#include "tests/support/repetitions.h"
#include "tinyot/circuit.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using online::GarbledWindow;

struct GarbledJob {
  const Circuit& circuit;
  std::size_t lanes;
  const Inputs& inputs;
  GarbledWindow window = {};
};

Evaluation run_garbled_party(Session& session, IdealDealer& dealer, const GarbledJob& job,
                             const online::SharedValues& shared = {}) {
  const CircuitInfo& info = job.circuit.info();
  const BundleValues mine = values_given_by(session.me(), info, job.inputs);
  const CircuitCost cost = cost_of(job.circuit);
  CircuitRounds rounds(job.circuit, cost.gates(), job.lanes, window_for(job.lanes));
  return online::run_garbled(
      session, dealer,
      online::garbled_material_for(info, cost.ands_of(job.lanes), job.lanes, shared), rounds, mine,
      shared, {}, job.window);
}

struct GarbledOutcome {
  Evaluation of[2];
  MaterialCounts dealt[2];
  Outcomes outcomes;
};

GarbledOutcome run_job(const GarbledJob& job, const PartyOptions& options = {},
                       bool expect_done = true) {
  GarbledOutcome run;
  run.outcomes = run_garbling(
      [&](Session& session, IdealDealer& dealer) {
        const auto me = static_cast<std::size_t>(session.me());
        run.of[me] = run_garbled_party(session, dealer, job);
        run.dealt[me] = dealer.dealt;
      },
      options, expect_done);
  return run;
}

// Many runs on one pair of sessions, whose transcripts continue from one circuit to the next.
TEST(Garbled, RandomCircuitsMatchThePlainEvaluator) {
  constexpr std::uint64_t kSessions = repetitions(100), kCircuits = 100;
  for (std::uint64_t seed = 1; seed <= kSessions; ++seed) {
    std::vector<RandomCircuit> circuits;
    std::vector<std::size_t> lanes;
    std::vector<Inputs> inputs;
    for (std::uint64_t i = 0; i < kCircuits; ++i) {
      const std::uint64_t number = seed * kCircuits + i;
      circuits.push_back(RandomCircuit::of_any_shape(number));
      lanes.push_back(number % 25 == 0 ? 60 + number / 25 % 80 : 1 + number % 7);
      Rng rng(Seed{{number, 5}});
      inputs.push_back(random_inputs(circuits.back(), lanes.back(), rng));
    }
    std::vector<Evaluation> results[2];
    run_garbling(
        [&](Session& session, IdealDealer& dealer) {
          for (std::size_t i = 0; i < kCircuits; ++i)
            results[static_cast<int>(session.me())].push_back(run_garbled_party(
                session, dealer, {circuits[i], lanes[i], inputs[i], window_of(i)}));
        },
        {.seed = seed});
    for (std::size_t i = 0; i < kCircuits && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("session " + std::to_string(seed) + ", circuit " + std::to_string(i));
      ASSERT_GT(std::min(results[0].size(), results[1].size()), i);
      expect_outputs(circuits[i].info(), results[0][i], results[1][i],
                     evaluate(circuits[i], lanes[i], inputs[i]));
    }
    if (testing::Test::HasFailure()) return;
  }
}

// A window that is smaller than the run takes further round trips.
TEST(Garbled, CostsWhatIsCountedWhateverTheWindow) {
  const ListedCircuit circuit = mixed_layers();
  constexpr std::size_t kLanes = 70;
  Rng rng(Seed{{9, 8}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const GarbledWindow window = window_of(seed);
    const auto counter = online::count_garbled_cost(circuit.info(), kLanes, window);
    CircuitRounds(circuit, 0, kLanes, window_for(kLanes)).visit(*counter);
    const online::RunCost cost = counter->finish();
    HalfRoundTrips half_round_trips;
    run_garbling(
        [&](Session& session, IdealDealer& dealer) {
          const std::uint64_t before = session.channel().counters().bytes_sent;
          half_round_trips.restart(session.me());
          run_garbled_party(session, dealer, {circuit, kLanes, inputs, window});
          const auto me = static_cast<std::size_t>(session.me());
          EXPECT_EQ(cost.bytes_sent[me], session.channel().counters().bytes_sent - before);
          EXPECT_EQ(cost.half_round_trips[me], half_round_trips.now(session.me()));
        },
        {.wrap_a = half_round_trips.of(Party::A), .wrap_b = half_round_trips.of(Party::B)});
  }
}

TEST(Garbled, TakesTheMaterialThatIsCounted) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{9, 9}});
  const Inputs inputs = random_inputs(circuit, 9, rng);
  const GarbledOutcome run = run_job({circuit, 9, inputs});
  const MaterialCounts wanted =
      online::garbled_material_for(circuit.info(), cost_of(circuit).ands_of(9), 9);
  for (const MaterialCounts& dealt : run.dealt) EXPECT_EQ(dealt, wanted);
}

TEST(Garbled, SendsTheBytesOfTheTable) {
  const ListedCircuit circuit = mixed_layers();
  constexpr std::size_t kLanes = 16;
  Rng rng(Seed{{1, 9}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  const std::size_t n = cost_of(circuit).ands_of(kLanes);
  std::size_t of_party[2] = {0, 0}, received[2] = {0, 0};
  for (const InputBundle& bundle : circuit.info().inputs)
    of_party[static_cast<int>(*owner_of(bundle.source))] +=
        bundle.bits * (bundle.same_in_all_lanes ? 1 : kLanes);
  for (const OutputBundle& bundle : circuit.info().outputs)
    for (const Party party : {Party::A, Party::B})
      received[static_cast<int>(party)] += receives(bundle.to, party) ? bundle.bits * kLanes : 0;
  Messages of_a, of_b;
  run_job({circuit, kLanes, inputs}, {.wrap_a = recording(of_a), .wrap_b = recording(of_b)});
  const auto bytes = [](std::size_t bits) { return (bits + 7) / 8; };
  EXPECT_EQ(bytes_of(of_a, "garbled.de"), bytes(2 * n));
  EXPECT_EQ(bytes_of(of_b, "garbled.de"), bytes(2 * n));
  EXPECT_EQ(bytes_of(of_a, "garbled.masked"), bytes(of_party[0]));
  EXPECT_EQ(bytes_of(of_b, "garbled.masked"), bytes(of_party[1]));
  EXPECT_EQ(bytes_of(of_b, "garbled.rows"), 32 * n);
  EXPECT_EQ(bytes_of(of_b, "garbled.colours"), bytes(n));
  EXPECT_EQ(bytes_of(of_b, "garbled.labels"), 16 * (of_party[0] + of_party[1]));
  EXPECT_EQ(bytes_of(of_a, "garbled.masked_ands"), bytes(n));
  EXPECT_EQ(bytes_of(of_b, "garbled.outputs"), bytes(received[0]));
  EXPECT_EQ(bytes_of(of_a, "garbled.outputs"), bytes(received[1]));
  // Messages 1, 3 and 5 of A, 1, 2 and 4 of B.
  const std::vector<std::string> messages_of_a = {"garbled.de",          "garbled.masked",
                                                  "garbled.masked_ands", "mac_transcript.digest",
                                                  "garbled.outputs",     "mac_transcript.digest"};
  const std::vector<std::string> messages_of_b = {
      "garbled.de",     "garbled.masked",  "garbled.rows",         "garbled.colours",
      "garbled.labels", "garbled.outputs", "mac_transcript.digest"};
  const auto last = [](const Messages& sent, std::size_t count) {
    std::vector<std::string> tags;
    for (std::size_t i = sent.size() - count; i < sent.size(); ++i) tags.push_back(sent[i].tag);
    return tags;
  };
  ASSERT_GE(of_a.size(), messages_of_a.size());
  ASSERT_GE(of_b.size(), messages_of_b.size());
  EXPECT_EQ(last(of_a, messages_of_a.size()), messages_of_a);
  EXPECT_EQ(last(of_b, messages_of_b.size()), messages_of_b);
}

// Each bit of each message flipped, by either party: the honest party ends with the check that is
// named, without output, and no bit of an output has left it before the peer has proved its own.
// Masked inputs are the exception: another L is another input.
TEST(Garbled, DetectsEveryFlippedBit) {
  const ListedCircuit circuit = mixed_layers();
  constexpr std::size_t kLanes = 2;
  Rng rng(Seed{{4, 4}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  const GarbledWindow window{.entries = 12, .chunk_min = 6, .chunk_max = 9};
  for (const Party cheater : {Party::A, Party::B}) {
    Messages sent;
    PartyOptions options;
    (cheater == Party::A ? options.wrap_a : options.wrap_b) = recording(sent);
    run_job({circuit, kLanes, inputs, window}, options);
    for (const auto& [tag, occurrence, payload] : sent) {
      if (!tag.starts_with("garbled") && !tag.starts_with("mac_")) continue;
      const std::size_t bits = 8 * payload.size();
      const std::size_t step = tag == "garbled.rows" || tag == "garbled.labels" ? 37
                               : tag == "mac_transcript.digest"                 ? 19
                                                                                : 1;
      for (std::size_t bit = 0; bit < bits; bit += step) {
        SCOPED_TRACE(tag + " " + std::to_string(occurrence) + ", bit " + std::to_string(bit));
        Messages of_honest;
        (cheater == Party::A ? options.wrap_a : options.wrap_b) =
            cheating(flip_bit(tag, occurrence, bit));
        (cheater == Party::A ? options.wrap_b : options.wrap_a) = recording(of_honest);
        const GarbledOutcome run = run_job({circuit, kLanes, inputs, window}, options, false);
        const Outcome& honest = cheater == Party::A ? run.outcomes.b : run.outcomes.a;
        const Evaluation& result = run.of[cheater == Party::A ? 1 : 0];
        if (tag == "garbled.masked" && honest.kind == Outcome::Kind::Done) continue;
        // A row that is not hit, and a label of nothing that is read, are harmless.
        if (honest.kind == Outcome::Kind::Done &&
            (tag == "garbled.rows" || tag == "garbled.labels")) {
          expect_outputs(circuit.info(), run.of[0], run.of[1], evaluate(circuit, kLanes, inputs));
          continue;
        }
        // What B has changed on the wire, B's own check may find first.
        const bool found_by_b = cheater == Party::B && honest.kind == Outcome::Kind::PeerAborted;
        EXPECT_TRUE(found_by_b || honest.kind == Outcome::Kind::PeerCheated) << honest.message;
        EXPECT_TRUE(found_by_b || honest.check == "MAC transcript" ||
                    honest.check.starts_with("framing"))
            << honest.check;
        EXPECT_TRUE(result.outputs.empty());
        if (tag != "garbled.outputs" && tag != "mac_transcript.digest") {
          EXPECT_EQ(bytes_of(of_honest, "garbled.outputs"), 0u);
        }
        if (cheater == Party::A && tag != "garbled.outputs" &&
            !(tag == "mac_transcript.digest" && occurrence > 0)) {
          EXPECT_EQ(bytes_of(of_honest, "mac_transcript.digest"), 0u)
              << "B shows something about its gates before A has proved its own";
        }
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

// A bit of an opening that a party announces wrongly, and then takes for right itself.
struct Lie {
  bool in_e = false;
  std::size_t entry = 0;
};

// One party's steps in one chunk, in which it compares nothing.
class Careless {
 public:
  Careless(Session& session, IdealDealer& dealer, const GarbledJob& job,
           const std::optional<Lie>& lie = {})
      : session_(session), info_(job.circuit.info()), job_(job), lie_(lie), lanes_(job.lanes),
        mine_(job.inputs.size()),
        material_(dealer, online::garbled_material_for(
                              info_, cost_of(job.circuit).ands_of(job.lanes), job.lanes)),
        constants_(job.inputs.size()), outputs_(info_, lanes_),
        masks_(session, material_, info_, lanes_, constants_, none_, outputs_),
        blocks_(session, info_, lanes_, none_, outputs_) {
    for (std::size_t b = 0; b < mine_.size(); ++b)
      if (gives(info_.inputs[b].source, session.me())) mine_[b] = matrix_of(job.inputs[b]);
  }

  // Calls use(chunk, ands) when the peer's openings and inputs have been received.
  void run(const std::function<void(online::Chunk&, online::MaskedAnds&)>& use) {
    CircuitRounds rounds(job_.circuit, cost_of(job_.circuit).gates(), job_.lanes,
                         window_for(job_.lanes));
    online::Chunker chunker(lanes_, std::size_t{1} << 16, std::size_t{1} << 16,
                            [&](online::Chunk chunk) {
                              masks_.send_openings(chunk);
                              masks_.send_inputs(chunk, mine_);
                              masks_.receive_openings(chunk);
                              masks_.receive_inputs(chunk);
                              if (lie_) {
                                BitVector& bits = lie_->in_e ? chunk.e : chunk.d;
                                bits.put(lie_->entry, !bits[lie_->entry]);
                              }
                              online::MaskedAnds ands;
                              blocks_.evaluate(chunk, ands);
                              use(chunk, ands);
                            });
    rounds.run(chunker);
    chunker.finish();
  }

  // Returns whether A has revealed its shares of B's outputs.
  bool garble() {
    online::Garbler garbler(session_, info_, lanes_, constants_, {}, outputs_,
                            session_.next_counter());
    online::GateCheck check(session_, info_, lanes_, constants_, outputs_);
    online::GarbledRows rows;
    run([&](online::Chunk& chunk, online::MaskedAnds& ands) {
      garbler.garble(chunk, ands, rows);
      online::send_rows(session_, rows);
      online::send_labels(session_, chunk);
      check.receive(chunk, ands.macs);
    });
    constexpr auto kDigest = net::message_tag("mac_transcript.digest");
    (void)net::recv_object<crypto::Digest>(session_.channel(), kDigest);
    (void)session_.transcripts().settle_peers();
    checks::send_digest(session_);
    session_.channel().flush();
    return has_outputs();
  }

  // `wrong`: an AND of which A returns the other masked value and goes on with it. Returns whether
  // B has revealed its shares of A's outputs.
  bool evaluate(std::optional<std::size_t> wrong = {}) {
    online::RowEvaluator evaluator(session_, info_, lanes_, constants_, constants_, {}, outputs_,
                                   session_.next_counter());
    online::GarbledRows rows;
    run([&](online::Chunk& chunk, online::MaskedAnds& ands) {
      online::receive_rows(session_, chunk.entries, {}, rows);
      online::receive_labels(session_, chunk);
      online::GateValues values = evaluator.evaluate(chunk, ands, rows);
      if (wrong) values.gamma.put(*wrong, !values.gamma[*wrong]);
      online::send_masked_ands(session_, values);
      online::absorb_gates(session_, ands.macs, values);
    });
    checks::send_digest(session_);
    session_.channel().flush();
    return has_outputs();
  }

 private:
  bool has_outputs() {
    constexpr auto kOutputs = net::message_tag("garbled.outputs");
    try {
      (void)session_.channel().recv_variable(kOutputs, 1 << 20);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  Session& session_;
  const CircuitInfo& info_;
  const GarbledJob& job_;
  const std::optional<Lie> lie_;
  const online::Lanes lanes_;
  BundleValues mine_;
  const online::SharedValues none_;
  online::MaterialReader material_;
  const BundleValues constants_;
  online::OutputMasks outputs_;
  online::MaskPass masks_;
  online::MaskBlocks blocks_;
};

// A party that lies about an opened bit and goes on with the lie makes a wrong AND that the gate
// check cannot see: only the MACs of the openings do.
TEST(Garbled, DetectsConsistentLiesAboutOpenings) {
  constexpr std::size_t kLanes = 70, entries = 2 * kLanes;
  for (const Party cheater : {Party::A, Party::B}) {
    // The output is the cheater's, which is what the honest party must not reveal.
    ListedCircuit circuit;
    const auto x = circuit.input(Party::A, 2), y = circuit.input(Party::B, 2);
    const auto z = circuit.and_of(x[0], y[0]), w = circuit.and_of(x[1], y[1]);
    circuit.output(cheater == Party::A ? Receiver::A : Receiver::B, {z, w});
    Rng rng(Seed{{9, 4}});
    const Inputs inputs = random_inputs(circuit, kLanes, rng);
    const GarbledJob job{circuit, kLanes, inputs};
    for (const bool in_e : {false, true})
      for (const std::size_t entry :
           {std::size_t{0}, std::size_t{127}, std::size_t{128}, entries - 1}) {
        SCOPED_TRACE(std::string(1, letter(cheater)) + (in_e ? ", e " : ", d ") +
                     std::to_string(entry));
        PartyOptions options;
        (cheater == Party::A ? options.wrap_a : options.wrap_b) =
            cheating(flip_bit("garbled.de", 0, (in_e ? entries : std::size_t{0}) + entry));
        bool has_revealed = false;
        const Outcomes outcomes = run_garbling(
            [&](Session& session, IdealDealer& dealer) {
              if (session.me() != cheater) {
                run_garbled_party(session, dealer, job);
                return;
              }
              Careless liar(session, dealer, job, Lie{in_e, entry});
              has_revealed = cheater == Party::A ? liar.evaluate() : liar.garble();
            },
            options, false);
        const Outcome& honest = cheater == Party::A ? outcomes.b : outcomes.a;
        EXPECT_EQ(honest.kind, Outcome::Kind::PeerCheated) << honest.message;
        EXPECT_EQ(honest.check, "MAC transcript");
        EXPECT_FALSE(has_revealed);
      }
  }
}

// The same about a masked value that A returns: B ends, and shows neither a digest, which A could
// compare with what B's shares may be, nor a bit of an output.
TEST(Garbled, DetectsConsistentLiesAboutMaskedValues) {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 2), y = circuit.input(Party::B, 2);
  const auto z = circuit.and_of(x[0], y[0]), w = circuit.and_of(x[1], y[1]);
  circuit.output(Receiver::A, {circuit.and_of(z, circuit.not_of(w)), z});
  constexpr std::size_t kLanes = 3;
  Rng rng(Seed{{9, 5}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  const GarbledJob job{circuit, kLanes, inputs};
  for (std::size_t entry = 0; entry < 3 * kLanes; ++entry) {
    SCOPED_TRACE(entry);
    Messages of_b;
    bool has_revealed = false;
    const Outcomes outcomes = run_garbling(
        [&](Session& session, IdealDealer& dealer) {
          if (session.me() == Party::A)
            has_revealed = Careless(session, dealer, job).evaluate(entry);
          else
            run_garbled_party(session, dealer, job);
        },
        {.wrap_b = recording(of_b)}, false);
    EXPECT_EQ(outcomes.b.kind, Outcome::Kind::PeerCheated) << outcomes.b.message;
    EXPECT_EQ(outcomes.b.check, "MAC transcript");
    EXPECT_FALSE(has_revealed);
    EXPECT_EQ(bytes_of(of_b, "mac_transcript.digest"), 0u);
  }
}

// B sends no row before A's masked inputs have arrived.
TEST(Garbled, RowsFollowTheMaskedInputs) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{4, 2}});
  const Inputs inputs = random_inputs(circuit, 2, rng);
  Messages of_b;
  PartyOptions options{.wrap_b = recording(of_b)};
  options.wrap_a = cheating([](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
    if (tag == "garbled.masked") payload.pop_back();
  });
  const GarbledOutcome run = run_job({circuit, 2, inputs}, options, false);
  EXPECT_EQ(run.outcomes.b.kind, Outcome::Kind::PeerCheated) << run.outcomes.b.message;
  EXPECT_GT(bytes_of(of_b, "garbled.de"), 0u);
  EXPECT_EQ(bytes_of(of_b, "garbled.rows"), 0u);
}

// The rows of z AND z and the labels of two runs, in which z is the same shared value, whose label
// is 0: no two of these strings are equal, though all that they are made of is, but the tweaks.
TEST(Garbled, NoTweakAndNoLabelReturns) {
  ListedCircuit first, second;
  first.output(Receiver::None, first.input(Party::A, 1));
  const auto z = second.input(InputSource::Shared, 1), x = second.input(Party::A, 1),
             y = second.input(Party::B, 1);
  second.output(Receiver::Both, {second.and_of(z[0], z[0]), second.xor_of(x[0], y[0])});
  Rng rng(Seed{{8, 2}});
  const Inputs of_first = random_inputs(first, 1, rng), of_second = random_inputs(second, 1, rng);
  Messages sent;
  run_garbling(
      [&](Session& session, IdealDealer& dealer) {
        const Evaluation kept = run_garbled_party(session, dealer, {first, 1, of_first});
        for (int repetition = 0; repetition < 2; ++repetition)
          run_garbled_party(session, dealer, {second, 1, of_second},
                            {&*kept.shared[0], nullptr, nullptr});
      },
      {.wrap_b = recording(sent)});
  std::vector<std::string> strings;
  for (const Message& message : sent) {
    if (message.tag != "garbled.rows" && message.tag != "garbled.labels") continue;
    for (std::size_t at = 0; at < message.payload.size(); at += 16)
      strings.emplace_back(reinterpret_cast<const char*>(message.payload.data()) + at, 16);
  }
  ASSERT_EQ(strings.size(), 1u + 2 * (2 + 2));
  std::ranges::sort(strings);
  EXPECT_EQ(std::ranges::adjacent_find(strings), strings.end());
}

TEST(Garbled, OffsetOfTheLabelsIsOdd) {
  const ListedCircuit circuit = mixed_layers();
  run_sessions([&](Session& outer) {
    PhaseLog log;
    Delta key = garbling_key(Party::B, 1);
    key.value.lo ^= 1;
    Session session(outer.me(), {outer.id(), outer.id()}, key, outer.channel(), outer.rng().fork(),
                    log);
    if (session.me() == Party::B) {
      online::OutputMasks outputs(circuit.info(), online::Lanes(1));
      EXPECT_THROW(online::Garbler(session, circuit.info(), online::Lanes(1), {}, {}, outputs, 0),
                   std::logic_error);
    }
  });
}

// A value of another form or shape is a bug of the caller, found before anything is sent.
TEST(Garbled, SharedValuesOfAnotherFormAreRefused) {
  ListedCircuit circuit;
  const auto z = circuit.input(InputSource::Shared, 2);
  circuit.output(Receiver::Both, z);
  const Inputs inputs(1);
  run_garbling([&](Session& session, IdealDealer& dealer) {
    const online::SharedValue pair(2, 1, online::WireForm::MacAndKey, BitVector(2),
                                   std::vector<SecretVector<Block>>(2, SecretVector<Block>(2))),
        wide(3, 1, online::WireForm::HalfShares, BitVector(3),
             std::vector<SecretVector<Block>>(2, SecretVector<Block>(3)));
    for (const online::SharedValue* value : {&pair, &wide})
      EXPECT_THROW(run_garbled_party(session, dealer, {circuit, 1, inputs}, {value}),
                   std::logic_error);
    EXPECT_THROW(run_garbled_party(session, dealer, {circuit, 1, inputs, {.entries = 0}}),
                 std::logic_error);
  });
}

TEST(Garbled, AFindsWhatAGarblerChanges) {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 3), y = circuit.input(Party::B, 3);
  const auto z = circuit.and_of(circuit.and_of(x[0], y[0]), circuit.xor_of(x[1], y[1])),
             w = circuit.and_of(z, circuit.not_of(circuit.and_of(x[2], y[2])));
  circuit.output(Receiver::B, {z, w});
  std::map<std::string, std::size_t> caught;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(Seed{{seed, 4}});
    const Inputs inputs = random_inputs(circuit, 1, rng);
    const GarbledJob job{circuit, 1, inputs};
    for (const auto& [tag, bit] :
         std::map<std::string, std::size_t>{{"none", 0},
                                            {"garbled.de", seed % 8},
                                            {"garbled.rows", 3 * seed},
                                            {"garbled.colours", seed % 4},
                                            {"garbled.labels", 19 * seed % 768}}) {
      SCOPED_TRACE(tag + ", seed " + std::to_string(seed));
      PartyOptions options{.seed = seed};
      options.wrap_b = cheating(flip_bit(tag, 0, bit));
      Outcomes outcomes;
      bool has_revealed = false;
      outcomes = run_garbling(
          [&](Session& session, IdealDealer& dealer) {
            if (session.me() == Party::B)
              has_revealed = Careless(session, dealer, job).garble();
            else
              run_garbled_party(session, dealer, job);
          },
          options, false);
      if (tag == "none") {
        EXPECT_NE(outcomes.a.kind, Outcome::Kind::PeerCheated) << outcomes.a.message;
      } else if (tag == "garbled.de" || tag == "garbled.colours") {
        EXPECT_EQ(outcomes.a.kind, Outcome::Kind::PeerCheated) << outcomes.a.message;
        EXPECT_EQ(outcomes.a.check, "MAC transcript");
      }
      const bool is_caught = outcomes.a.kind == Outcome::Kind::PeerCheated;
      EXPECT_NE(has_revealed, is_caught);
      caught[tag] += is_caught;
    }
  }
  // A row is hit for one of the masked values of its operand; a wrong label has the right colour in
  // half of all cases, and then the masked values of its gate are right.
  EXPECT_GT(caught["garbled.rows"], 10u);
  EXPECT_LT(caught["garbled.rows"], 30u);
  EXPECT_GT(caught["garbled.labels"], 20u);
  EXPECT_LT(caught["garbled.labels"], 40u);
  EXPECT_EQ(caught["none"], 0u);
}

// No tweak of a connection returns: not in another run, and not after 2^20 entries.
TEST(RowHash, HasOtherHashesInEachRunAndBatch) {
  constexpr std::size_t kEntries = 5;
  constexpr std::uint64_t kBatch = crypto::TweakHash::kObjectsMax;
  const SessionId session = {};
  const std::vector<Block> same(kEntries, Block{1, 2});
  const auto hashes = [&](std::uint64_t run, std::uint64_t first, crypto::HashUse use) {
    std::vector<Block> out(kEntries);
    online::RowHash hash(session, run);
    hash(use, first, same, out);
    return out;
  };
  const auto of = [&](std::uint64_t run, std::uint64_t first) {
    return hashes(run, first, crypto::HashUse::GarbledLeft);
  };
  const auto differ = [](const std::vector<Block>& x, const std::vector<Block>& y) {
    for (const Block& a : x)
      for (const Block& b : y)
        if (a.lo == b.lo && a.hi == b.hi) return false;
    return true;
  };
  EXPECT_TRUE(differ(of(1, 0), of(2, 0)));
  EXPECT_TRUE(differ(of(1, 0), of(1, kEntries)));
  EXPECT_TRUE(differ(of(1, 0), of(1, kBatch)));
  EXPECT_TRUE(differ(of(1, 0), hashes(1, 0, crypto::HashUse::GarbledRight)));
  // The same object over a border of batches.
  online::RowHash hash(session, 1);
  std::vector<Block> first(kEntries), over(kEntries), after(kEntries);
  hash(crypto::HashUse::GarbledLeft, kBatch - 2, same, over);
  EXPECT_FALSE(differ({over[2]}, {of(1, kBatch)[0]})) << "entry 2^20";
  hash(crypto::HashUse::GarbledLeft, 0, same, first);
  EXPECT_FALSE(differ({first[0]}, {of(1, 0)[0]})) << "back in the first batch";
}

// A check fails on another connection of the session while B sends its bits of A's outputs.
TEST(Garbled, SendsNoFurtherOutputsOnceTheSessionIsRevoked) {
  constexpr std::size_t kLanes = 1024, kBits = 70;  // two messages
  const auto circuit = circuit::make_circuit("wide", [](circuit::Program& program) {
    const circuit::Number x = program.input("x", kBits, Party::A),
                          y = program.input("y", kBits, Party::B);
    program.output("z", x ^ y, circuit::Receiver::A);
  });
  Rng rng(Seed{{3, 4}});
  const Inputs inputs = random_inputs(*circuit, kLanes, rng);
  const auto flag = std::make_shared<RevocationFlag>();
  std::size_t messages = 0;
  const Outcomes outcomes = run_garbling(
      [&](Session& outer, IdealDealer& dealer) {
        PhaseLog log;
        Revocations revocations;
        if (outer.me() == Party::B) revocations.push_back(flag);
        Session session(outer.me(), {outer.id(), outer.id()}, outer.global_key(), outer.channel(),
                        outer.rng().fork(), log, revocations);
        run_garbled_party(session, dealer, {*circuit, kLanes, inputs});
      },
      {.wrap_b = cheating([&](std::string_view tag, std::size_t, auto&) {
         if (tag != "garbled.outputs") return;
         ++messages;
         flag->set();
       })},
      false);
  EXPECT_NE(outcomes.b.message.find("the session is revoked"), std::string::npos)
      << outcomes.b.message;
  EXPECT_EQ(messages, 1u);
}

// A connection counts its garbled runs, the same at both parties.
TEST(Garbled, EachRunTakesACounter) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{1, 1}});
  const Inputs inputs = random_inputs(circuit, 1, rng);
  run_garbling([&](Session& session, IdealDealer& dealer) {
    const std::uint64_t before = session.next_counter();
    run_garbled_party(session, dealer, {circuit, 1, inputs});
    run_garbled_party(session, dealer, {circuit, 1, inputs});
    EXPECT_EQ(session.next_counter(), before + 3);
  });
}

// Values that stay shared continue in later runs, in all lanes if they are of one lane.
TEST(Garbled, SharedValuesContinue) {
  CircuitInfo first{"first",
                    {{"x", 8, InputSource::A, ValueFormat::Integer, false},
                     {"y", 8, InputSource::B, ValueFormat::Integer, false}},
                    {{"z", 8, Receiver::None, ValueFormat::Integer}}};
  const GeneratedCircuit product(first, [](Builder& builder) {
    builder.output(0, Number(builder.input(0)) * Number(builder.input(1)));
  });
  for (const bool is_common : {false, true}) {
    CircuitInfo second{"second",
                       {{"z", 8, InputSource::Shared, ValueFormat::Integer, is_common},
                        {"w", 8, InputSource::B, ValueFormat::Integer, false},
                        {"p", 8, InputSource::Public, ValueFormat::Integer, false}},
                       {{"sum", 8, Receiver::Both, ValueFormat::Integer}}};
    const GeneratedCircuit square(second, [](Builder& builder) {
      const Number z(builder.input(0)), w(builder.input(1)), p(builder.input(2));
      builder.output(0, z * ~z + w * p);
    });
    for (const std::size_t lanes : {1, 3, 65}) {
      const std::size_t first_lanes = is_common ? 1 : lanes;
      Rng rng(Seed{{lanes, 7}});
      const Inputs inputs = random_inputs(product, first_lanes, rng),
                   more = random_inputs(square, lanes, rng);
      Evaluation results[2];
      LaneMatrix shares[2];
      run_garbling(
          [&](Session& session, IdealDealer& dealer) {
            const auto me = static_cast<std::size_t>(session.me());
            const Evaluation kept =
                run_garbled_party(session, dealer, {product, first_lanes, inputs});
            shares[me] = kept.shared[0]->my_share();
            for (int repetition = 0; repetition < 2; ++repetition)
              results[me] = run_garbled_party(session, dealer, {square, lanes, more},
                                              {&*kept.shared[0], nullptr, nullptr});
          },
          {.seed = lanes});
      const auto integer = [](const BitVector& bits) { return bits.words()[0]; };
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::size_t from = is_common ? 0 : lane;
        const std::uint64_t z = integer(inputs[0][from]) * integer(inputs[1][from]) % 256,
                            w = integer(more[1][lane]), p = integer(more[2][lane]);
        EXPECT_EQ(
            static_cast<std::uint64_t>(shares[0][from].bytes()[0] ^ shares[1][from].bytes()[0]), z);
        for (const Evaluation& result : results)
          EXPECT_EQ(integer(to_bits((*result.outputs[0])[lane])), (z * (255 - z) + w * p) % 256);
      }
    }
  }
}

}  // namespace
}  // namespace tinyot
