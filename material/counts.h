// Counts of material as a list of (kind, count): the form in which the parties send them and the
// store keeps them. A list is canonical, so that equal counts have equal bytes: the kinds ascend,
// and a kind of which there is nothing is absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tinyot/material.h"

namespace tinyot::material {

// An entry of a list; not validated.
struct KindCount {
  std::uint32_t kind;
  std::uint64_t count;

  friend bool operator==(const KindCount&, const KindCount&) = default;
};

// The largest count that a list may have.
inline constexpr std::uint64_t kKindCountMax = std::uint64_t{1} << 56;

std::vector<KindCount> list_of(const MaterialCounts& counts);

// Throws the caller's exception for a list that is not canonical; `flaw` says why, for example
// "kind 9 is unknown".
using RejectList = std::function<void(const std::string& flaw)>;

// Reads an untrusted list. Fails: as `reject` for a kind that is unknown, stands twice or is out of
// order, and for a count of zero or above kKindCountMax.
MaterialCounts parse_list(std::span<const KindCount> list, const RejectList& reject);

// A list in bytes: u32 number of entries, then for each u32 kind and u64 count, little-endian.
inline constexpr std::size_t kKindCountBytes = 12;
inline constexpr std::size_t kListBytesMax = 4 + kKindCountBytes * kMaterialKinds;
void append_list(std::vector<std::byte>& bytes, const MaterialCounts& counts);
// Reads an untrusted list from the front of `bytes` and removes it from there. Fails: as
// parse_list, and if `bytes` end within the list.
MaterialCounts take_list(std::span<const std::byte>& bytes, const RejectList& reject);

}  // namespace tinyot::material
