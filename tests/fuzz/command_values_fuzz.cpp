// Values of the command line; the first byte chooses the parser. The result is a value or a
// UsageError; anything else ends the program. A printed value must parse to the same value.
#include "base/error.h"
#include "circuitgen/formats/values.h"
#include "circuitgen/generators/registry.h"
#include "net/tcp.h"
#include "net/tls/identity.h"
#include "tests/fuzz/fuzz_circuit.h"
#include "tests/support/layers.h"
#include "tools/cli/command_line.h"

namespace {

using namespace tinyot;

// b and i: bytes, or an integer; the next byte gives the size.
void try_value(std::string_view text, ValueFormat format) {
  if (text.empty()) return;
  const std::uint32_t units = 1u + static_cast<unsigned char>(text[0]),
                      bits = format == ValueFormat::Bytes ? 8 * units : units;
  for (const bool msb_first : {false, true}) {
    const BitVector value = parse_value(text.substr(1), bits, format, msb_first);
    ENSURE(value.size() == bits);
    const std::string printed = print_value(value, format, msb_first);
    ENSURE(print_value(parse_value(printed, bits, format, msb_first), format, msb_first) ==
           printed);
  }
}

void try_circuit(std::string_view text) {
  const auto circuit = find_circuit(text);
  if (!circuit) return;
  const auto again = find_circuit(circuit->info().name);
  ENSURE(again && again->info().name == circuit->info().name);
}

void try_fingerprint(std::string_view text) {
  const auto fingerprint = parse_fingerprint(text);
  if (fingerprint) ENSURE(parse_fingerprint(text_of(*fingerprint)) == fingerprint);
  certificate_fingerprint(text);
}

void try_text(char what, const std::string& text) {
  switch (what) {
    case 'b':
      return try_value(text, ValueFormat::Bytes);
    case 'i':
      return try_value(text, ValueFormat::Integer);
    case 'c':
      return try_circuit(text);
    case 'f':
      return try_fingerprint(text);
    case 's':
      (void)parse_size("ands", text);
      return;
    case '=':
      (void)split_assignment("input", text);
      return;
    case 'a': {
      const Address address = parse_address(text);
      (void)is_loopback(address);
      (void)text_of(address);
      return;
    }
    default:
      return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > fuzz::kTextMax) return 0;
  try {
    try_text(static_cast<char>(data[0]), {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const UsageError&) {
  }
  return 0;
}
