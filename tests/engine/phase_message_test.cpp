// `run.online`, by which A tells B the phase, in whole runs of both parties: a phase that does not
// exist, another one than A takes, none, or two. B ends as it does for any message that A does not
// send, before it has an output.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/library/garbling_stores.h"
#include "tests/support/changing_transport.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using Number = std::uint64_t;

Payload payload_of(Number number) {
  Payload payload(sizeof number);
  std::memcpy(payload.data(), &number, sizeof number);
  return payload;
}

// x & y to both, which takes fewer half round trips and bytes in the interactive phase: it is
// chosen on any link, so none is measured.
std::unique_ptr<circuit::Circuit> conjunction() {
  return circuit::make_circuit("conjunction", [](circuit::Program& program) {
    const circuit::Number x = program.input("x", 8, Party::A), y = program.input("y", 8, Party::B);
    program.output("conjunction", x & y);
  });
}

enum class Call { Run, Live, EvaluatorRun, EvaluatorPrepare };

// A party's run, whose phase is open. Returns its output.
std::uint64_t call(Call which, Party party, const GarblingStores& stores) {
  const Values inputs = input_of(party, 12);
  RunRequest request = stores.run(party, {});
  const auto circuit = conjunction();
  switch (which) {
    case Call::Run:
      return run(request, *circuit, inputs).outputs.integer("conjunction");
    case Call::Live:
      request.stores.clear();
      request.live = ParameterRequest{.profile = Profile::Fast};
      request.live->material = AndMaterial::Garbling;
      return run(request, *circuit, inputs).outputs.integer("conjunction");
    case Call::EvaluatorRun:
      return Evaluator(request).run(*circuit, inputs).outputs.integer("conjunction");
    case Call::EvaluatorPrepare:
      break;
  }
  Evaluator evaluator(request);
  return evaluator.finish(evaluator.prepare(*circuit), inputs).outputs.integer("conjunction");
}

struct EndOf {
  std::exception_ptr error;
  std::uint64_t output = 0;
  // The check of a PeerCheated.
  std::string check() const {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const PeerCheated& cheated) {
      return cheated.check();
    } catch (const std::exception& other) {
      return std::string("not PeerCheated: ") + other.what();
    }
    return "no error";
  }
};

std::array<EndOf, 2> run_changed(Call which, const Change& change, StoreState* of_b = nullptr) {
  GarblingStores stores(Profile::Fast, 1024, 128);
  stores.endpoints = endpoints_with({{net::message_tag("run.online").id, change}});
  std::array<EndOf, 2> ends;
  both([&](Party party) {
    EndOf& end = ends[static_cast<std::size_t>(party)];
    try {
      end.output = call(which, party, stores);
    } catch (...) {
      end.error = std::current_exception();
    }
  });
  if (of_b != nullptr) *of_b = store_info(stores.of(Party::B)).state;
  return ends;
}

class PhaseMessageOf : public testing::TestWithParam<Call> {};
INSTANTIATE_TEST_SUITE_P(A, PhaseMessageOf,
                         testing::Values(Call::Run, Call::Live, Call::EvaluatorRun,
                                         Call::EvaluatorPrepare));

TEST_P(PhaseMessageOf, IsTakenIfItIsTheRightOne) {
  std::size_t messages = 0;
  const auto ends = run_changed(GetParam(), [&](Payload payload) {
    ++messages;
    return once(payload);
  });
  EXPECT_EQ(messages, 1u);
  for (const EndOf& end : ends) {
    EXPECT_EQ(end.check(), "no error");
    EXPECT_EQ(end.output, 12u);
  }
}

TEST_P(PhaseMessageOf, EndsTheSessionIfItNamesNoPhase) {
  // The third phase is chosen for runs whose inputs come later.
  for (const Number number :
       {Number{0}, GetParam() == Call::EvaluatorPrepare ? Number{4} : Number{3}}) {
    StoreState of_b{};
    const auto ends = run_changed(
        GetParam(),
        // 0 asks for a measurement, once.
        [=](const Payload&) {
          return std::vector<Payload>(number == 0 ? 2 : 1, payload_of(number));
        },
        &of_b);
    EXPECT_EQ(ends[1].check(), "framing: message run.online names no phase that is possible");
    EXPECT_TRUE(ends[0].error);
    if (GetParam() != Call::Live) {
      EXPECT_EQ(of_b, StoreState::Revoked);
    }
  }
}

TEST_P(PhaseMessageOf, EndsTheSessionIfItIsOfAnotherLength) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{9}}) {
    const auto ends = run_changed(GetParam(), [=](Payload payload) {
      payload.resize(size);
      return once(payload);
    });
    EXPECT_TRUE(ends[1].check().starts_with("framing")) << ends[1].check();
    EXPECT_TRUE(ends[0].error);
  }
}

TEST_P(PhaseMessageOf, EndsTheSessionIfItIsAbsentOrComesTwice) {
  for (const std::size_t times : {std::size_t{0}, std::size_t{2}}) {
    SCOPED_TRACE(times);
    const auto ends = run_changed(
        GetParam(), [=](const Payload& payload) { return std::vector<Payload>(times, payload); });
    EXPECT_TRUE(ends[1].check().starts_with("framing")) << ends[1].check();
    EXPECT_TRUE(ends[0].error);
  }
}

// A goes on in the phase that it has chosen, and tells B the other one. On a store it is found when
// A grants material that a run in that phase does not take, as if other runs used the store:
// nothing has been used, and no session is revoked.
TEST_P(PhaseMessageOf, EndsTheRunIfItNamesAnotherPhaseThanATakes) {
  StoreState of_b{};
  const auto ends = run_changed(
      GetParam(),
      [](const Payload& payload) { return once(payload_of(payload == payload_of(1) ? 2 : 1)); },
      &of_b);
  EXPECT_TRUE(ends[0].error);
  ASSERT_TRUE(ends[1].error);
  if (GetParam() == Call::Live) {
    EXPECT_TRUE(ends[1].check().starts_with("framing")) << ends[1].check();
    return;
  }
  EXPECT_THROW(std::rethrow_exception(ends[1].error), Disagreement);
  EXPECT_EQ(of_b, StoreState::Complete);
}

}  // namespace
}  // namespace tinyot::test
