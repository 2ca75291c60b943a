// The common part of the fuzzers of circuit readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "circuitgen/formats/circuit_file.h"
#include "tests/support/layers.h"

namespace tinyot::fuzz {

// Longer texts are skipped.
inline constexpr std::size_t kTextMax = std::size_t{1} << 16;

// Reads the text. An accepted circuit must evaluate, and must compute the same function after it is
// written and read again. A rejected text must give a UsageError. Anything else ends the program.
void try_text(std::shared_ptr<const TextSource> text, const CircuitFileOptions& options);

}  // namespace tinyot::fuzz

// The entry point of a fuzzer, one for each executable.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
