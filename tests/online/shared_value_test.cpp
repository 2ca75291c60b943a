// Values that stay shared between two circuits of one session.
#include "online/shared_value.h"

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

class SharedValues : public testing::TestWithParam<AndMaterial> {};

INSTANTIATE_TEST_SUITE_P(FromEachForm, SharedValues,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples),
                         [](const auto& form) { return test_name(form.param); });

// z = x * y stays shared; the parity of each factor goes to one party, so that revealed and shared
// outputs alternate.
GeneratedCircuit product() {
  CircuitInfo info{"product",
                   {integer_input("x", 8, Party::A), integer_input("y", 8, Party::B)},
                   {{"low of x", 1, Receiver::B, ValueFormat::Integer},
                    {"z", 8, Receiver::None, ValueFormat::Integer},
                    {"low of y", 1, Receiver::Both, ValueFormat::Integer},
                    {"not x", 8, Receiver::None, ValueFormat::Integer}}};
  return {std::move(info), [](Builder& builder) {
            const Number x(builder.input(0)), y(builder.input(1));
            builder.output(0, x.bits().first(1));
            builder.output(1, x * y);
            builder.output(2, y.bits().first(1));
            builder.output(3, ~x);
          }};
}

// z * z + w, with w new.
GeneratedCircuit square_and_add() {
  CircuitInfo info{"square and add",
                   {{"z", 8, InputSource::Shared, ValueFormat::Integer, false},
                    integer_input("w", 8, Party::B),
                    {"not x", 8, InputSource::Shared, ValueFormat::Integer, false}},
                   {integer_output("sum", 8), {"x", 8, Receiver::A, ValueFormat::Integer}}};
  return {std::move(info), [](Builder& builder) {
            const Number z(builder.input(0)), w(builder.input(1)), not_x(builder.input(2));
            builder.output(0, z * z + w);
            builder.output(1, ~not_x);
          }};
}

std::uint64_t integer_of(const BitVector& bits) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) value |= std::uint64_t{bits[i]} << i;
  return value;
}

TEST_P(SharedValues, ContinueInTheNextCircuit) {
  const GeneratedCircuit first = product(), second = square_and_add();
  for (const std::size_t lanes : {1, 2, 63, 64, 65, 130}) {
    Rng rng(Seed{{lanes, 1}});
    const Inputs inputs = random_inputs(first, lanes, rng),
                 more = random_inputs(second, lanes, rng);
    Evaluation of_first[2], of_second[2];
    run_sessions(
        [&](Session& session) {
          IdealDealer dealer = dealer_of(session, lanes);
          const auto me = static_cast<std::size_t>(session.me());
          of_first[me] = run_party(session, dealer, {first, lanes, inputs, GetParam()});
          const SharedOutputs& kept = of_first[me].shared;
          of_second[me] = run_party(session, dealer, {second, lanes, more, GetParam()},
                                    {&*kept[1], nullptr, &*kept[3]});
        },
        {.seed = lanes});
    for (const Evaluation& result : of_first) {
      ASSERT_EQ(result.shared.size(), 4u);
      EXPECT_FALSE(result.shared[0] || result.shared[2]);
      EXPECT_FALSE(result.outputs[1] || result.outputs[3]) << "a shared output was revealed";
      ASSERT_TRUE(result.outputs[2]);
    }
    EXPECT_FALSE(of_first[0].outputs[0]);
    ASSERT_TRUE(of_first[1].outputs[0] && of_second[0].outputs[0] && of_second[0].outputs[1]);
    EXPECT_FALSE(of_second[1].outputs[1]);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint64_t x = integer_of(inputs[0][lane]), y = integer_of(inputs[1][lane]),
                          w = integer_of(more[1][lane]), z = x * y % 256;
      EXPECT_EQ(integer_of(to_bits((*of_first[1].outputs[0])[lane])), x % 2);
      EXPECT_EQ(integer_of(to_bits((*of_first[0].outputs[2])[lane])), y % 2);
      EXPECT_EQ(integer_of(to_bits((*of_second[0].outputs[0])[lane])), (z * z + w) % 256);
      EXPECT_EQ(integer_of(to_bits((*of_second[1].outputs[0])[lane])), (z * z + w) % 256);
      EXPECT_EQ(integer_of(to_bits((*of_second[0].outputs[1])[lane])), x);
    }
  }
}

// A value of one lane continues in all lanes of the next circuit.
TEST_P(SharedValues, OfOneLaneAreUsedInAllLanes) {
  const GeneratedCircuit first = product();
  CircuitInfo info = square_and_add().info();
  for (InputBundle& bundle : info.inputs)
    bundle.same_in_all_lanes = bundle.source == InputSource::Shared;
  const GeneratedCircuit second(std::move(info), [](Builder& builder) {
    const Number z(builder.input(0)), w(builder.input(1)), not_x(builder.input(2));
    builder.output(0, z * w + w);
    builder.output(1, ~not_x);
  });
  for (const std::size_t lanes : {1, 2, 64, 65}) {
    Rng rng(Seed{{lanes, 4}});
    const Inputs inputs = random_inputs(first, 1, rng), more = random_inputs(second, lanes, rng);
    Evaluation of_second[2];
    run_sessions(
        [&](Session& session) {
          IdealDealer dealer = dealer_of(session, lanes);
          const Evaluation kept = run_party(session, dealer, {first, 1, inputs, GetParam()});
          of_second[static_cast<std::size_t>(session.me())] =
              run_party(session, dealer, {second, lanes, more, GetParam()},
                        {&*kept.shared[1], nullptr, &*kept.shared[3]});
        },
        {.seed = lanes});
    const std::uint64_t x = integer_of(inputs[0][0]), z = x * integer_of(inputs[1][0]) % 256;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint64_t w = integer_of(more[1][lane]);
      EXPECT_EQ(integer_of(to_bits((*of_second[1].outputs[0])[lane])), (z * w + w) % 256);
      EXPECT_EQ(integer_of(to_bits((*of_second[0].outputs[1])[lane])), x);
    }
  }
}

TEST_P(SharedValues, AreTheXorOfThePartiesShares) {
  const GeneratedCircuit circuit = product();
  constexpr std::size_t kLanes = 65;
  Rng rng(Seed{{kLanes, 5}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  const OnlineRun run = run_online({circuit, kLanes, inputs, GetParam()});
  const LaneMatrix a = run.a.shared[1]->my_share(), b = run.b.shared[1]->my_share();
  std::size_t ones = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    BitVector value = to_bits(a[lane]);
    for (std::size_t bit = 0; bit < value.size(); ++bit) ones += value[bit];
    value ^= to_bits(b[lane]);
    EXPECT_EQ(integer_of(value), integer_of(inputs[0][lane]) * integer_of(inputs[1][lane]) % 256);
  }
  EXPECT_GT(ones, kLanes * 2) << "a share is as good as random";
  EXPECT_LT(ones, kLanes * 6);
}

// Outputs that stay shared take no material and are not sent.
TEST_P(SharedValues, TakeNoMaterial) {
  CircuitInfo info = square_and_add().info();
  const MaterialCounts counts = material_for(info, 0, GetParam(), 3);
  EXPECT_EQ(counts[MaterialKind::AuthBitsB], 24u) << "of w";
  EXPECT_EQ(counts[MaterialKind::AuthBitsA], GetParam() == AndMaterial::Triples ? 24u : 0u)
      << "of x, which only A receives";
  info.outputs[1].to = Receiver::None;
  EXPECT_EQ(material_for(info, 0, GetParam(), 3)[MaterialKind::AuthBitsA], 0u);
}

TEST_P(SharedValues, AreNotSent) {
  const GeneratedCircuit circuit = product();
  Rng rng(Seed{{8, 1}});
  const Inputs inputs = random_inputs(circuit, 8, rng);
  Messages of_a, of_b;
  run_online({circuit, 8, inputs, GetParam()},
             {.wrap_a = recording(of_a), .wrap_b = recording(of_b)});
  // The parity of x, for B, and that of y, for both: one byte each for 8 lanes.
  EXPECT_EQ(bytes_of(of_a, "output.shares"), 2u);
  EXPECT_EQ(bytes_of(of_b, "output.shares"), GetParam() == AndMaterial::Triples ? 2u : 1u);
}

// A party's shared value is from another circuit of the session: its bits and MACs are valid, but
// belong to another object.
TEST_P(SharedValues, OfAnotherOutputAreDetected) {
  const GeneratedCircuit first = product(), second = square_and_add();
  constexpr std::size_t kLanes = 40;  // values that are equal by chance in all lanes are negligible
  Rng rng(Seed{{kLanes, 2}});
  const Inputs inputs = random_inputs(first, kLanes, rng),
               more = random_inputs(second, kLanes, rng);
  for (const Party cheater : {Party::A, Party::B}) {
    bool has_output = false;
    const Outcomes outcomes = run_sessions(
        [&](Session& session) {
          IdealDealer dealer = dealer_of(session, 7);
          const Evaluation result = run_party(session, dealer, {first, kLanes, inputs, GetParam()});
          const std::size_t z = session.me() == cheater ? 3 : 1;
          run_party(session, dealer, {second, kLanes, more, GetParam()},
                    {&*result.shared[z], nullptr, &*result.shared[3]});
          if (session.me() != cheater) has_output = true;
        },
        {.seed = 7}, false);
    const Outcome& honest = cheater == Party::A ? outcomes.b : outcomes.a;
    EXPECT_EQ(honest.kind, Outcome::Kind::PeerCheated) << honest.message;
    EXPECT_EQ(honest.check, "MAC transcript");
    EXPECT_FALSE(has_output);
  }
}

// A wrong number of lanes or bits is a bug of the caller, detected before anything is sent.
TEST_P(SharedValues, OfAnotherShapeAreRefused) {
  const GeneratedCircuit first = product(), second = square_and_add();
  Rng rng(Seed{{1, 3}});
  const Inputs inputs = random_inputs(first, 2, rng), more = random_inputs(second, 3, rng);
  run_sessions(
      [&](Session& session) {
        IdealDealer dealer = dealer_of(session, 9);
        const Evaluation result = run_party(session, dealer, {first, 2, inputs, GetParam()});
        const SharedValue &z = *result.shared[1], &x = *result.shared[3];
        EXPECT_THROW(run_party(session, dealer, {second, 3, more, GetParam()}, {&z, nullptr, &x}),
                     std::logic_error);
        EXPECT_THROW(run_party(session, dealer, {second, 3, more, GetParam()}), std::logic_error);
      },
      {.seed = 9});
}

}  // namespace
}  // namespace tinyot
