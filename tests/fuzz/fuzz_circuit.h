// What every fuzzer of a circuit reader does with its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "circuitgen/formats/circuit_file.h"
#include "tests/support/layers.h"

namespace tinyot::fuzz {

// Texts beyond this say nothing new.
inline constexpr std::size_t kTextMax = std::size_t{1} << 16;

// Reads the text. What is accepted must evaluate, and must still be the same function when it is
// written and read again; a refusal is a UsageError. Anything else ends the program.
void try_text(std::shared_ptr<const TextSource> text, const CircuitFileOptions& options);

}  // namespace tinyot::fuzz

// The entry point of a fuzzer, one an executable.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
