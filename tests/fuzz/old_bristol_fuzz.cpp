// The old Bristol format.
#include "tests/fuzz/fuzz_circuit.h"
#include "tests/support/layers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tinyot;
  if (size > fuzz::kTextMax) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::try_text(text_in_memory("fuzz", text),
                 {.sources = {{1, InputSource::A}}, .other_receivers = Receiver::A});
  fuzz::try_text(text_in_memory("fuzz", text), {});
  return 0;
}
