// The data that a store parses before authenticating them, and the lists of counts in messages. The
// first byte chooses the parser: m manifest, k cursors, e entry of a catalogue, c list of counts.
// An accepted value must survive a round trip. A rejected one must give a StoreError, or no entry.
#include <algorithm>

#include "base/error.h"
#include "material/counts.h"
#include "storage/batch.h"
#include "storage/cursors.h"
#include "storage/manifest.h"
#include "tests/fuzz/fuzz_circuit.h"
#include "tests/support/layers.h"

namespace {

using namespace tinyot;
using Bytes = std::span<const std::byte>;

template <class Parse, class Serialize>
void try_message(Bytes bytes, const Parse& parse, const Serialize& serialize) {
  try {
    const auto parsed = parse(bytes);
    const std::string again = serialize(parsed);
    ENSURE(parse(std::as_bytes(std::span(again))) == parsed);
  } catch (const StoreError&) {
  }
}

void try_entry(Bytes bytes) {
  for (const MaterialKind kind : kAllMaterialKinds) {
    const auto entry = decode_entry(kind, 64, bytes);
    if (!entry) continue;
    ENSURE(entry->count > 0 && entry->slot > 0 && entry->end() > 64);
    ENSURE(std::ranges::equal(encode_entry(*entry), bytes));
  }
}

// A list has one encoding, so what is accepted is encoded as it was.
void try_counts(Bytes bytes) {
  try {
    Bytes rest = bytes;
    const MaterialCounts counts =
        material::take_list(rest, [](const std::string& flaw) { throw StoreError(flaw); });
    std::vector<std::byte> again;
    material::append_list(again, counts);
    ENSURE(std::ranges::equal(again, bytes.first(bytes.size() - rest.size())));
  } catch (const StoreError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > fuzz::kTextMax) return 0;
  const Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
  if (data[0] == 'm') try_message(bytes, parse_manifest, serialize_manifest);
  if (data[0] == 'k') try_message(bytes, parse_cursors, serialize_cursors);
  if (data[0] == 'e') try_entry(bytes);
  if (data[0] == 'c') try_counts(bytes);
  return 0;
}
