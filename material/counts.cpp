#include "material/counts.h"

#include <bit>
#include <cstring>

#include "base/error.h"

namespace tinyot::material {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are encoded in native byte order");

template <class T>
void append_number(std::vector<std::byte>& bytes, T number) {
  const auto coded = std::as_bytes(std::span(&number, 1));
  bytes.insert(bytes.end(), coded.begin(), coded.end());
}

template <class T>
T take_number(std::span<const std::byte>& bytes) {
  T number;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes = bytes.subspan(sizeof number);
  return number;
}

}  // namespace

std::vector<KindCount> list_of(const MaterialCounts& counts) {
  std::vector<KindCount> list;
  for (const MaterialKind kind : kAllMaterialKinds)
    if (counts[kind] > 0) list.push_back({static_cast<std::uint32_t>(kind), counts[kind]});
  return list;
}

MaterialCounts parse_list(std::span<const KindCount> list, const RejectList& reject) {
  const auto fail = [&](const KindCount& entry, const char* flaw) {
    reject("kind " + std::to_string(entry.kind) + " " + flaw);
    ENSURE(false && "reject did not throw");
  };
  MaterialCounts counts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const KindCount& entry = list[i];
    if (entry.kind >= kMaterialKinds) fail(entry, "is unknown");
    if (i > 0 && entry.kind == list[i - 1].kind) fail(entry, "stands twice");
    if (i > 0 && entry.kind < list[i - 1].kind) fail(entry, "is out of order");
    if (entry.count == 0) fail(entry, "has a count of zero");
    if (entry.count > kKindCountMax) fail(entry, "has a count that is too large");
    counts[static_cast<MaterialKind>(entry.kind)] = entry.count;
  }
  return counts;
}

void append_list(std::vector<std::byte>& bytes, const MaterialCounts& counts) {
  const std::vector<KindCount> list = list_of(counts);
  append_number(bytes, static_cast<std::uint32_t>(list.size()));
  for (const KindCount& entry : list) {
    append_number(bytes, entry.kind);
    append_number(bytes, entry.count);
  }
}

MaterialCounts take_list(std::span<const std::byte>& bytes, const RejectList& reject) {
  const auto require = [&](std::uint64_t needed) {
    if (bytes.size() >= needed) return;
    reject("a list of counts is truncated");
    ENSURE(false && "reject did not throw");
  };
  require(sizeof(std::uint32_t));
  const auto entries = take_number<std::uint32_t>(bytes);
  require(std::uint64_t{entries} * kKindCountBytes);
  std::vector<KindCount> list(entries);
  for (KindCount& entry : list) {
    entry.kind = take_number<std::uint32_t>(bytes);
    entry.count = take_number<std::uint64_t>(bytes);
  }
  return parse_list(list, reject);
}

}  // namespace tinyot::material
