// Several circuits on one connection, and values that stay shared between them.
#include <gtest/gtest.h>

#include "tests/support/two_threads.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using circuit::InputSource;
using circuit::make_circuit;
using circuit::Number;
using circuit::Program;
using circuit::Receiver;

// x + y, which stays shared.
std::unique_ptr<circuit::Circuit> hidden_sum() {
  return make_circuit("hidden sum", [](Program& program) {
    program.output("s", program.input("x", 8, Party::A) + program.input("y", 8, Party::B),
                   Receiver::None);
  });
}

std::unique_ptr<circuit::Circuit> is_above(std::uint64_t bound) {
  return make_circuit("is above", [=](Program& program) {
    const Number s = program.input("s", 8, InputSource::Shared);
    program.output("above", less(Number::constant(8, bound), s));
    program.output("s", s, Receiver::None);
  });
}

// Searches for a shared value by comparisons that depend on earlier answers.
TEST(Evaluator, ContinuesWithSharedValues) {
  const Stores stores;
  both([&](Party party) {
    Evaluator evaluator(stores.run(party));
    RunResult result = evaluator.run(*hidden_sum(), input_of(party, party == Party::A ? 100 : 73));
    EXPECT_FALSE(result.outputs.contains("s")) << "a shared output was revealed";
    ASSERT_TRUE(result.shared.contains("s"));
    EXPECT_EQ(result.shared.at("s").bits(), 8u);
    EXPECT_EQ(result.shared.at("s").lanes(), 1u);
    std::uint64_t low = 0, high = 255;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      result = evaluator.run(*is_above(middle), {}, result.shared);
      if (result.outputs.integer("above") != 0)
        low = middle + 1;
      else
        high = middle;
    }
    EXPECT_EQ(low, 173u);
  });
}

TEST(Evaluator, ContinuesInLanesAndWithNewInputs) {
  const Stores stores(1 << 14, 1 << 12);
  const auto difference = make_circuit("difference", [](Program& program) {
    const Number s = program.input("s", 8, InputSource::Shared),
                 x = program.input("x", 8, Party::A);
    program.output("y", s - x, Receiver::B);
  });
  both([&](Party party) {
    std::vector<std::uint64_t> values(66);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = party == Party::A ? i : 2 * i;
    const Values mine = Values().set(party == Party::A ? "x" : "y", values);
    Evaluator evaluator(stores.run(party));
    const RunResult sum = evaluator.run(*hidden_sum(), mine, {}, values.size());
    const RunResult result =
        evaluator.run(*difference, party == Party::A ? mine : Values(), sum.shared, values.size());
    ASSERT_EQ(result.outputs.contains("y"), party == Party::B);
    for (std::size_t i = 0; party == Party::B && i < values.size(); ++i)
      EXPECT_EQ(result.outputs.integer("y", i), 2 * i);
  });
}

// More values than the parties compare one by one.
TEST(Evaluator, ContinuesWithManySharedValues) {
  constexpr std::uint32_t kValues = 100;
  const auto make = make_circuit("make", [](Program& program) {
    const auto x = program.input("x", kValues, Party::A);
    for (std::uint32_t i = 0; i < kValues; ++i)
      program.output("s" + std::to_string(i), x.bits()[i], Receiver::None);
  });
  const auto use = make_circuit("use", [](Program& program) {
    circuit::Bits bits;
    for (std::uint32_t i = 0; i < kValues; ++i)
      bits.push_back(program.input("s" + std::to_string(i), 1, InputSource::Shared).bits()[0]);
    program.output("x", bits);
  });
  const Stores stores;
  both([&](Party party) {
    Evaluator evaluator(stores.run(party));
    const RunResult made =
        evaluator.run(*make, party == Party::A ? Values().set("x", 0x123456789abcdef0) : Values());
    const RunResult used = evaluator.run(*use, {}, made.shared);
    EXPECT_EQ(used.outputs.bytes("x")[0], std::byte{0xf0});
    // Two of them are exchanged at one party: the parties notice.
    auto other = made.shared;
    if (party == Party::B) std::swap(other.at("s0"), other.at("s1"));
    EXPECT_THROW(evaluator.run(*use, {}, other), Disagreement);
  });
}

// Names that do not fit into the message in which the parties compare them.
// The parties compare fingerprints, so a name may have any length.
TEST(Evaluator, NamesOfAnyLengthAreEvaluated) {
  const auto circuit = make_circuit(std::string(20'000, 'n'), [](Program& program) {
    const auto x = program.input(std::string(20'000, 'x'), 1, Party::A);
    const auto y = program.input("y", 1, Party::B);
    program.output("z", x.bits()[0] & y.bits()[0]);
  });
  const Stores stores;
  both([&](Party party) {
    const auto input =
        Values().set(party == Party::A ? std::string(20'000, 'x') : std::string("y"), 1);
    EXPECT_EQ(run(stores.run(party), *circuit, input).outputs.integer("z"), 1u);
  });
}

TEST(Evaluator, RefusesSharedValuesThatDoNotFit) {
  const Stores stores;
  both([&](Party party) {
    RunResult first;
    {
      Evaluator evaluator(stores.run(party));
      first = evaluator.run(*hidden_sum(), input_of(party, 1));
      EXPECT_THROW(evaluator.run(*is_above(1), {}), UsageError) << "none was given";
      EXPECT_THROW(evaluator.run(*is_above(1), {}, first.shared, 2), UsageError) << "other lanes";
      EXPECT_EQ(evaluator.run(*is_above(1), {}, first.shared).outputs.integer("above"), 1u)
          << "a rejected argument does not end the connection";
    }
    Evaluator another(stores.run(party));
    EXPECT_THROW(another.run(*is_above(1), {}, first.shared), UsageError);
  });
}

// Both calls are valid but differ. That is not cheating, so the session is not revoked.
TEST(Evaluator, ReservesForSeveralRunsAtATime) {
  const Stores stores;
  const std::uint64_t before = store_info(stores.of(Party::A)).ands_left;
  std::uint64_t ands = 0;
  both([&](Party party) {
    const std::uint64_t of_a_run = [&] {
      Evaluator evaluator(stores.run(party));
      return evaluator.run(*hidden_sum(), input_of(party, 1)).ands;
    }();
    RunRequest request = stores.run(party);
    request.reserve_ahead_ands = 3 * of_a_run;
    Evaluator evaluator(request);
    for (int run = 0; run < 7; ++run)
      EXPECT_EQ(evaluator.run(*hidden_sum(), input_of(party, 1)).ands, of_a_run);
    if (party == Party::A) ands = of_a_run;
  });
  // One run, and then three times three.
  EXPECT_EQ(store_info(stores.of(Party::A)).ands_left, before - 10 * ands);
}

TEST(Evaluator, DetectsDisagreement) {
  const Stores stores;
  both([&](Party party) {
    {
      Evaluator evaluator(stores.run(party));
      const RunResult first = evaluator.run(*hidden_sum(), input_of(party, 1)),
                      second = evaluator.run(*hidden_sum(), input_of(party, 2));
      const RunResult& mine = party == Party::A ? first : second;
      EXPECT_THROW(evaluator.run(*is_above(1), {}, mine.shared), Disagreement)
          << "values of different circuits";
      EXPECT_THROW(evaluator.run(*is_above(1), {}, first.shared), std::logic_error)
          << "the connection has ended";
    }
    Evaluator evaluator(stores.run(party));
    const RunResult first = evaluator.run(*hidden_sum(), input_of(party, 1));
    EXPECT_THROW(evaluator.run(*is_above(party == Party::A ? 1 : 2), {}, first.shared),
                 Disagreement)
        << "different circuits";
  });
  both([&](Party party) {
    const std::string job = party == Party::A ? "mine" : "yours";
    Evaluator evaluator(stores.run(party));
    EXPECT_THROW(evaluator.run(*hidden_sum(), input_of(party, 1), {}, 1, job), Disagreement)
        << "different jobs";
    Evaluator prepared(stores.run(party));
    EXPECT_THROW(prepared.prepare(*hidden_sum(), {}, 1, job), Disagreement) << "different jobs";
  });
  EXPECT_EQ(store_info(stores.of(Party::A)).state, StoreState::Complete);
}

// One lane of a value that is the same in all lanes of the next circuit; the parties' own shares.
TEST(Evaluator, ContinuesWithOneLaneInAllLanes) {
  const auto above = make_circuit("above", [](Program& program) {
    const Number s = program.common_input("s", 8, InputSource::Shared);
    program.output("above", less(program.input("y", 8, Party::B), s));
  });
  const Stores stores(1 << 14, 1 << 12);
  LaneMatrix shares[2];
  both([&](Party party) {
    Evaluator evaluator(stores.run(party));
    const RunResult sum = evaluator.run(*hidden_sum(), input_of(party, 50));
    shares[static_cast<int>(party)] = sum.shared.at("s").my_share();
    const std::vector<std::uint64_t> bounds = {0, 99, 100, 255};
    const RunResult result = evaluator.run(
        *above, party == Party::B ? Values().set("y", bounds) : Values(), sum.shared, 4);
    for (std::size_t i = 0; i < bounds.size(); ++i)
      EXPECT_EQ(result.outputs.integer("above", i), std::uint64_t{bounds[i] < 100});
    EXPECT_THROW(evaluator.run(*is_above(1), {}, sum.shared, 4), UsageError) << "an input by lane";
  });
  EXPECT_EQ(shares[0][0].bytes()[0] ^ shares[1][0].bytes()[0], std::byte{100});
}

// p * x, with p public.
std::unique_ptr<circuit::Circuit> scaled() {
  return make_circuit("scaled", [](Program& program) {
    const Number p = program.input("p", 8, InputSource::Public);
    program.output("z", p * program.input("x", 8, Party::A));
  });
}

Values scaled_inputs(Party party, std::uint64_t p, std::uint64_t x) {
  Values values = Values().set("p", p);
  if (party == Party::A) values.set("x", x);
  return values;
}

TEST(PublicInputs, AreGivenByBothParties) {
  const Stores stores;
  both([&](Party party) {
    EXPECT_EQ(run(stores.run(party), *scaled(), scaled_inputs(party, 7, 11)).outputs.integer("z"),
              77u);
    Evaluator evaluator(stores.run(party));
    EXPECT_EQ(evaluator.run(*scaled(), scaled_inputs(party, 5, 11)).outputs.integer("z"), 55u);
    EXPECT_THROW(evaluator.run(*scaled(), party == Party::A ? Values().set("x", 1) : Values()),
                 UsageError)
        << "without the public value";
  });
}

// That is not cheating, and no party's input has been used.
TEST(PublicInputs, ThatDifferAreADisagreement) {
  const Stores stores;
  both([&](Party party) {
    const Values mine = scaled_inputs(party, party == Party::A ? 7 : 8, 11);
    try {
      run(stores.run(party), *scaled(), mine);
      ADD_FAILURE() << "different public values were accepted";
    } catch (const Disagreement& error) {
      EXPECT_STREQ(error.what(),
                   "the parties disagree on the public value of p: they gave different values; "
                   "give both parties the same");
    }
    Evaluator evaluator(stores.run(party));
    EXPECT_THROW(evaluator.run(*scaled(), mine), Disagreement);
    Evaluator prepared(stores.run(party));
    const std::uint64_t number = prepared.prepare(*scaled());
    EXPECT_THROW(prepared.finish(number, mine), Disagreement);
  });
  EXPECT_EQ(store_info(stores.of(Party::A)).state, StoreState::Complete);
}

TEST(PublicInputs, ThatDifferInOneLaneAreADisagreement) {
  constexpr std::size_t kLanes = 3;
  const Stores stores;
  both([&](Party party) {
    const std::vector<std::uint64_t> same(kLanes, 7);
    Values mine = Values().set("p", same);
    if (party == Party::A) mine.set("x", same);
    EXPECT_EQ(run(stores.run(party), *scaled(), mine, kLanes).outputs.integer("z", kLanes - 1),
              49u);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::vector<std::uint64_t> other = same;
      if (party == Party::B) other[lane] ^= 0x80;
      EXPECT_THROW(run(stores.run(party), *scaled(), mine.set("p", other), kLanes), Disagreement)
          << "lane " << lane;
    }
  });
  EXPECT_EQ(store_info(stores.of(Party::A)).state, StoreState::Complete);
}

TEST(PreparedRuns, AreFinishedInAnyOrder) {
  const Stores stores;
  const auto sum = hidden_sum(), product = scaled();
  both([&](Party party) {
    Evaluator evaluator(stores.run(party));
    const std::uint64_t before = store_info(stores.of(party)).ands_left;
    const std::uint64_t first = evaluator.prepare(*sum), second = evaluator.prepare(*product),
                        third = evaluator.prepare(*product);
    EXPECT_LT(store_info(stores.of(party)).ands_left, before) << "the material is taken";
    const RunResult kept = evaluator.finish(first, input_of(party, 100));
    EXPECT_EQ(evaluator.run(*is_above(199), {}, kept.shared).outputs.integer("above"), 1u);
    EXPECT_EQ(evaluator.finish(third, scaled_inputs(party, 3, 5)).outputs.integer("z"), 15u);
    EXPECT_THROW(evaluator.finish(third, scaled_inputs(party, 3, 5)), UsageError) << "once";
    EXPECT_THROW(evaluator.finish(second, scaled_inputs(party, 256, 5)), UsageError)
        << "a value that does not fit does not end the connection";
    EXPECT_EQ(evaluator.finish(second, scaled_inputs(party, 9, 5)).outputs.integer("z"), 45u);
  });
}

// An account of material needs it of a connection that has ended with an error, too.
TEST(PreparedRuns, AreCountedAsSpentAfterAFailure) {
  const Stores stores;
  both([&](Party party) {
    Evaluator evaluator(stores.run(party));
    EXPECT_EQ(evaluator.spent(), MaterialCounts{});
    (void)evaluator.run(*scaled(), scaled_inputs(party, 7, 11));
    const MaterialCounts by_run = evaluator.spent();
    const std::uint64_t number = evaluator.prepare(*scaled());
    const MaterialCounts spent = evaluator.spent();
    EXPECT_NE(by_run, MaterialCounts{});
    EXPECT_NE(spent, by_run);
    EXPECT_THROW(evaluator.finish(number, scaled_inputs(party, party == Party::A ? 7 : 8, 11)),
                 Disagreement);
    EXPECT_FALSE(evaluator.is_connected());
    EXPECT_EQ(evaluator.spent(), spent);
  });
}

TEST(PreparedRuns, ThatDifferAreADisagreement) {
  const Stores stores;
  const auto product = scaled(), other = hidden_sum();
  both([&](Party party) {
    {
      Evaluator evaluator(stores.run(party));
      const std::uint64_t first = evaluator.prepare(*product), second = evaluator.prepare(*product);
      EXPECT_THROW(evaluator.finish(party == Party::A ? first : second, scaled_inputs(party, 3, 5)),
                   Disagreement);
    }
    {
      Evaluator evaluator(stores.run(party));
      EXPECT_THROW(evaluator.prepare(party == Party::A ? *product : *other), Disagreement);
    }
    for (const bool runs : {false, true}) {
      Evaluator evaluator(stores.run(party));
      const std::uint64_t first = evaluator.prepare(*product);
      if (party == Party::A)
        EXPECT_THROW(evaluator.finish(first, scaled_inputs(party, 3, 5)), Disagreement);
      else if (runs)
        EXPECT_THROW(evaluator.run(*product, scaled_inputs(party, 3, 5)), Disagreement);
      else
        EXPECT_THROW(evaluator.prepare(*product), Disagreement);
    }
    Evaluator evaluator(stores.run(party));
    if (party == Party::A)
      EXPECT_THROW(evaluator.prepare(*product), Disagreement) << "the peer gives its inputs";
    else
      EXPECT_THROW(evaluator.run(*product, scaled_inputs(party, 3, 5)), Disagreement);
  });
  EXPECT_EQ(store_info(stores.of(Party::A)).state, StoreState::Complete);
}

TEST(Evaluator, RequiresStores) {
  const Endpoints endpoints;
  RunRequest request{.party = Party::A, .endpoint = endpoints.of(Party::A)};
  request.live = ParameterRequest{};
  EXPECT_THROW(Evaluator{request}, UsageError);
}

TEST(Evaluator, IsRequiredForSharedValues) {
  const Stores stores(64);
  EXPECT_THROW(run(stores.run(Party::A), *is_above(1), {}), UsageError);
}

TEST(Evaluator, TossesCoinsThatBothKnow) {
  const Stores stores;
  std::array<std::vector<std::array<std::byte, 32>>, 2> coins;
  both([&](Party party) {
    Evaluator evaluator(stores.run(party));
    for (const char* purpose : {"one", "one", "two"})
      coins[static_cast<std::size_t>(party)].push_back(evaluator.toss_coins(purpose));
  });
  EXPECT_EQ(coins[0], coins[1]);
  EXPECT_NE(coins[0][0], coins[0][1]);
  EXPECT_NE(coins[0][1], coins[0][2]);
}

TEST(Evaluator, ComparesPurposesOfCoins) {
  const Stores stores;
  both([&](Party party) {
    Evaluator evaluator(stores.run(party));
    EXPECT_THROW(evaluator.toss_coins(party == Party::A ? "one" : "two"), Disagreement);
  });
}

TEST(Evaluator, TellsThePeer) {
  const Stores stores;
  both([&](Party party) {
    const bool is_a = party == Party::A;
    const std::vector<std::byte> long_text(Evaluator::kToldBytesMax, std::byte{7});
    Evaluator evaluator(stores.run(party));
    EXPECT_EQ(evaluator.exchange("first", is_a ? long_text : std::vector<std::byte>()).size(),
              is_a ? 0 : long_text.size());
    EXPECT_EQ(evaluator.exchange("second", long_text), long_text);
    EXPECT_THROW(evaluator.exchange("third", std::vector<std::byte>(long_text.size() + 1)),
                 std::invalid_argument);
    EXPECT_THROW(evaluator.exchange(is_a ? "this" : "that", {}), Disagreement);
  });
}

}  // namespace
}  // namespace tinyot
