// Inputs that both parties give. Random circuits (random_circuit.h) have them too.
#include <gtest/gtest.h>

#include "circuitgen/generators/family.h"
#include "tests/online/online_run.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/layers.h"
#include "tests/support/test_name.h"
#include "tinyot/circuit/operators.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

class PublicInputs : public testing::TestWithParam<AndMaterial> {};

INSTANTIATE_TEST_SUITE_P(OnEachForm, PublicInputs,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples),
                         [](const auto& form) { return test_name(form.param); });

// (p * x, p + c) with p public in each lane, c public and the same in all lanes.
GeneratedCircuit scale() {
  CircuitInfo info{"scale",
                   {{"p", 8, InputSource::Public, ValueFormat::Integer, false},
                    {"c", 8, InputSource::Public, ValueFormat::Integer, true},
                    integer_input("x", 8, Party::A)},
                   {integer_output("scaled", 8), integer_output("sum", 8)}};
  return {std::move(info), [](Builder& builder) {
            const Number p(builder.input(0)), c(builder.input(1)), x(builder.input(2));
            builder.output(0, p * x);
            builder.output(1, p + c);
          }};
}

TEST_P(PublicInputs, TakeNoMaterialAndNoMessage) {
  const GeneratedCircuit circuit = scale();
  const MaterialCounts counts = material_for(circuit.info(), 0, GetParam(), 5);
  EXPECT_EQ(counts[MaterialKind::AuthBitsA], 40u) << "of x";
  EXPECT_EQ(counts[MaterialKind::AuthBitsB], 0u);

  Rng rng(Seed{{5, 1}});
  const Inputs inputs = random_inputs(circuit, 5, rng);
  Messages of_a, of_b;
  const OnlineRun run = run_online({circuit, 5, inputs, GetParam()},
                                   {.wrap_a = recording(of_a), .wrap_b = recording(of_b)});
  EXPECT_EQ(bytes_of(of_a, "input.masked"), 5u) << "x in five lanes";
  EXPECT_EQ(bytes_of(of_b, "input.masked"), 0u);
  expect_outputs(circuit, run, evaluate(circuit, 5, inputs));
}

// The engine compares the values before a run; here nothing does.
TEST_P(PublicInputs, ThatDifferAreDetected) {
  const GeneratedCircuit circuit = scale();
  constexpr std::size_t kLanes = 40;
  Rng rng(Seed{{kLanes, 2}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  for (const std::size_t bundle : {0u, 1u}) {
    Inputs other = inputs;
    for (BitVector& value : other[bundle]) value.put(0, !value[0]);
    bool has_output = false;
    const Outcomes outcomes = run_sessions(
        [&](Session& session) {
          IdealDealer dealer = dealer_of(session, 7);
          const Inputs& mine = session.me() == Party::A ? inputs : other;
          run_party(session, dealer, {circuit, kLanes, mine, GetParam()});
          has_output = true;
        },
        {.seed = 7}, false);
    EXPECT_TRUE(outcomes.a.kind == Outcome::Kind::PeerCheated ||
                outcomes.b.kind == Outcome::Kind::PeerCheated)
        << outcomes.a.message << "; " << outcomes.b.message;
    EXPECT_FALSE(has_output);
  }
}

// A wrong number of lanes is a bug of the caller, detected before anything is sent.
TEST_P(PublicInputs, OfAnotherShapeAreRefused) {
  const GeneratedCircuit circuit = scale();
  Rng rng(Seed{{1, 3}});
  Inputs inputs = random_inputs(circuit, 3, rng);
  inputs[1].push_back(inputs[1][0]);
  run_sessions(
      [&](Session& session) {
        IdealDealer dealer = dealer_of(session, 9);
        EXPECT_THROW(run_party(session, dealer, {circuit, 3, inputs, GetParam()}),
                     std::logic_error);
      },
      {.seed = 9});
}

}  // namespace
}  // namespace tinyot
