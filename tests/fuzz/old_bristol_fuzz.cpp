// The old Bristol format.
#include "tests/fuzz/fuzz_circuit.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tinyot;
  if (size > fuzz::kTextMax) return 0;
  fuzz::try_text(text_in_memory("fuzz", std::string(reinterpret_cast<const char*>(data), size)), {.owners = {}, .receivers = {}, .other_receivers = Receiver::A});
  return 0;
}
