// Gates with truth tables; the last byte also sets the width of a bundle.
#include "tests/fuzz/fuzz_circuit.h"
#include "tests/support/layers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tinyot;
  if (size > fuzz::kTextMax) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::try_text(text_in_memory("fuzz", text), {});
  for (const std::uint32_t first : {1, 2, 16}) {
    fuzz::try_text(text_in_memory("fuzz", text),
                   {.bundles = {first, size == 0 ? 1 : data[size - 1] % 20u}});
  }
  return 0;
}
