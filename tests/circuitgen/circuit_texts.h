// Helpers for tests that read circuit files from text.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "circuitgen/formats/circuit_file.h"
#include "circuitgen/formats/values.h"
#include "tests/support/lane_values.h"
#include "tests/support/layers.h"

namespace tinyot {

inline std::unique_ptr<CircuitFile> parse(const std::string& text,
                                          const CircuitFileOptions& options = {}) {
  return read_circuit(text_in_memory("test.txt", text), "test", options);
}

inline std::string message_of(const std::string& text, const CircuitFileOptions& options = {}) {
  try {
    parse(text, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

struct RefusedText {
  std::string text;
  const char* reason;  // part of the message
};
inline void expect_refused(const std::vector<RefusedText>& rows,
                           const CircuitFileOptions& options = {}) {
  for (const auto& [text, reason] : rows) {
    const std::string message = message_of(text, options);
    EXPECT_EQ(message.find("test.txt, line "), 0u) << text;
    EXPECT_NE(message.find(reason), std::string::npos)
        << "wanted: " << reason << "\ngot: " << message;
  }
}

// Expects one output in one lane.
inline std::uint64_t result(const Circuit& circuit, std::initializer_list<std::uint64_t> values,
                            std::size_t output = 0) {
  std::vector<LaneValues> inputs;
  for (const std::uint64_t value : values) {
    const std::uint32_t bits = circuit.info().inputs[inputs.size()].bits;
    inputs.push_back({parse_value(std::to_string(value), bits, ValueFormat::Integer, false)});
  }
  return evaluate(circuit, 1, inputs)[output][0].words()[0];
}

}  // namespace tinyot
