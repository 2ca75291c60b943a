#include "tests/ledger/use_ledger.h"

#include <algorithm>
#include <compare>
#include <mutex>
#include <tuple>

#include "crypto/use_ledger.h"
#include "offline/nnob12/leaky_bits.h"
#include "tests/support/hex.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

struct Entry {
  UseKind kind;
  std::string label, key;
  std::uint64_t space, first, count;

  auto name() const { return std::tie(kind, label, key, space); }
  auto order() const { return std::tie(kind, label, key, space, first, count); }
};

std::mutex ledger_mutex;
std::vector<Entry> ledger;

void record(const Use& use) {
  std::string key(reinterpret_cast<const char*>(use.key.data()), use.key.size());
  // A node of a GGM tree that is unknown to the key holder is all zeros.
  if (use.kind == UseKind::Stream && key.find_first_not_of('\0') == std::string::npos) return;
  const std::lock_guard lock(ledger_mutex);
  ledger.push_back(
      {use.kind, std::string(use.label), std::move(key), use.space, use.first, use.count});
}

// Queries that a party makes more than once in a domain.
struct RepeatedQuery {
  std::string_view label;
  std::size_t times;
};
constexpr RepeatedQuery kRepeatedQueries[] = {
    {"session", 2},          // in each handshake, absorbing the nonces
    {"connection", 2},       // in each handshake, absorbing the nonces
    {"base OT group 0", 2},  // the sender for each of its two strings, absorbing the index
    {"base OT group 1", 2},  // the sender for each of its two strings
    {"base OT key", 2},      // the sender for each of its two strings
    {"LaOT", 2},             // the key of H: for X, and for I after d has arrived
};

std::size_t times_allowed(const Entry& entry, Profile profile) {
  if (entry.kind == UseKind::Hash) return 2;
  if (entry.kind == UseKind::Stream)
    return profile == Profile::Nnob12 && entry.count <= kChunkBits / 128 ? 3 : 1;
  const auto repeated =
      std::ranges::find(kRepeatedQueries, std::string_view(entry.label), &RepeatedQuery::label);
  return repeated == std::end(kRepeatedQueries) ? 1 : repeated->times;
}

std::string text_of(const Entry& entry) {
  static constexpr const char* kKinds[] = {"RO", "H", "stream", "seal"};
  return std::string(kKinds[static_cast<int>(entry.kind)]) + " \"" + entry.label + "\" of " +
         hex_of(entry.key).substr(0, 16) + ", " + std::to_string(entry.space) + ": " +
         std::to_string(entry.first) + " + " + std::to_string(entry.count);
}

}  // namespace

void open_ledger() {
  ledger.clear();
  use_observer = &record;
}

std::vector<std::size_t> recorded_uses() {
  const std::lock_guard lock(ledger_mutex);
  std::vector<std::size_t> counts(4);
  for (const Entry& entry : ledger) ++counts[static_cast<std::size_t>(entry.kind)];
  return counts;
}

std::vector<std::string> repeated_uses(Profile profile) {
  const std::lock_guard lock(ledger_mutex);
  std::ranges::sort(ledger, {}, &Entry::order);
  std::vector<std::string> repeated;
  std::size_t times = 0;  // of this range
  std::uint64_t end = 0;  // of all earlier ranges of this name
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    const Entry& entry = ledger[i];
    const bool is_new = i == 0 || ledger[i - 1].name() != entry.name();
    const bool is_same = i > 0 && ledger[i - 1].order() == entry.order();
    if (is_new) end = 0;
    times = is_same ? times + 1 : 1;
    if (times > times_allowed(entry, profile) || (!is_same && entry.first < end))
      repeated.push_back(text_of(entry));
    end = std::max(end, entry.first + entry.count);
  }
  return repeated;
}

}  // namespace tinyot::test
