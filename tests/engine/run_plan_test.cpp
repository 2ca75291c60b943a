// What the parties compare before a run.
#include "engine/run_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tests/support/circuit_files.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

// On material on which every phase runs.
std::vector<net::Parameter> parameters_of(const LoadedCircuit& circuit,
                                          const RunRequest& request = {}) {
  return engine::RunPlan(request, circuit, AndMaterial::Garbling).parameters();
}

std::size_t count_of(const std::vector<net::Parameter>& parameters, const std::string& value) {
  return static_cast<std::size_t>(std::ranges::count(parameters, value, &net::Parameter::value));
}

TEST(RunPlan, TheWholeFingerprintIsCompared) {
  CircuitFileOptions to_a;
  to_a.other_receivers = Receiver::A;
  for (const auto& circuit : {*LoadedCircuit::generated("aes128", 1),
                              LoadedCircuit::from_file(circuit_file("adder64.txt"), {}, 1),
                              LoadedCircuit::from_file(circuit_file("adder64.txt"), to_a, 1)}) {
    const auto parameters = parameters_of(circuit);
    EXPECT_EQ(count_of(parameters, text_of(circuit.fingerprint())), 1u);
    EXPECT_EQ(count_of(parameters, text_of(circuit.interface_fingerprint())), 1u);
    // Names and short forms are for messages.
    for (const net::Parameter& parameter : parameters)
      EXPECT_EQ(parameter.value.find("adder64"), std::string::npos) << parameter.value;
    EXPECT_EQ(std::ranges::count(parameters, circuit.shown(), &net::Parameter::shown), 2);
  }
}

TEST(RunPlan, LanesAreComparedBesidesTheFingerprint) {
  const auto one = *LoadedCircuit::generated("aes128", 1);
  const auto many = one.on_lanes(5);
  EXPECT_EQ(one.fingerprint(), many.fingerprint());
  const auto parameters = parameters_of(many);
  const auto lanes = std::ranges::find(parameters, "lanes", &net::Parameter::name);
  ASSERT_NE(lanes, parameters.end());
  EXPECT_EQ(lanes->value, "5");
}

TEST(RunPlan, EveryChoiceOfARequestIsCompared) {
  const auto circuit = *LoadedCircuit::generated("aes128", 1);
  const auto usual = parameters_of(circuit);
  RunRequest live, garbled, narrow;
  live.live.emplace();
  garbled.phase = OnlinePhase::Garbled;
  narrow.window = 128;
  for (const auto& [request, changed] :
       {std::pair{&live, "command"}, {&garbled, "online phase"}, {&narrow, "window"}}) {
    const auto parameters = parameters_of(circuit, *request);
    const auto find = [name = changed](const std::vector<net::Parameter>& all) {
      return std::ranges::find(all, name, &net::Parameter::name);
    };
    ASSERT_NE(find(parameters), parameters.end()) << changed;
    EXPECT_NE(find(parameters)->value, find(usual)->value) << changed;
  }
}

// A run whose inputs come later is another one, and so is one whose rows are checked otherwise.
TEST(RunPlan, InputsThatComeLaterAreCompared) {
  const auto circuit = *LoadedCircuit::generated("aes128", 1);
  const auto value_of = [&](bool is_later, const RunRequest& request, const std::string& name) {
    engine::RunPlan plan(request, circuit, AndMaterial::Garbling);
    if (is_later) plan.set_inputs_later(40);
    const auto parameters = plan.parameters();
    const auto found = std::ranges::find(parameters, name, &net::Parameter::name);
    return found == parameters.end() ? "none" : found->value;
  };
  EXPECT_NE(value_of(true, {}, "inputs"), value_of(false, {}, "inputs"));
  EXPECT_EQ(value_of(false, {}, "row check"), "none");
  std::set<std::string> checks = {value_of(true, {}, "row check")};
  for (const RowCheck check : {RowCheck::Batched, RowCheck::Early}) {
    RunRequest request;
    request.row_check = check;
    checks.insert(value_of(true, request, "row check"));
  }
  EXPECT_EQ(checks.size(), 3u);
}

}  // namespace
}  // namespace tinyot::test
