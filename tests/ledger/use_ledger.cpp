#include "tests/ledger/use_ledger.h"

#include <algorithm>
#include <compare>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "crypto/use_ledger.h"
#include "offline/nnob12/leaky_bits.h"
#include "offline/silent/parameter_sets.h"
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

constexpr std::string_view kChi = "silent chi";

std::mutex ledger_mutex;
std::vector<Entry> ledger;
std::set<std::string> chi_keys;             // of streams
thread_local bool chi_key_is_next = false;  // in this thread's next use of a stream

void record(const Use& use) {
  std::string key(reinterpret_cast<const char*>(use.key.data()), use.key.size());
  // A node of a GGM tree that is unknown to the key holder is all zeros.
  if (use.kind == UseKind::Stream && key.find_first_not_of('\0') == std::string::npos) return;
  const std::lock_guard lock(ledger_mutex);
  // A key comes from RO, and its stream follows.
  if (use.kind == UseKind::Oracle) chi_key_is_next = use.label == kChi;
  if (use.kind == UseKind::Stream && std::exchange(chi_key_is_next, false)) chi_keys.insert(key);
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
    {"base OT vector", 2},   // the same
    {"base OT KEM key", 2},  // the same
    {"LaOT", 2},             // the key of H: for X, and for I after d has arrived
    // of a unit and of a chain of silent bits that have one number, absorbing the kind of the part
    {"randomness of a part", 2},
};

std::size_t times_allowed(const Entry& entry, Profile profile) {
  if (entry.kind == UseKind::Hash) return 2;
  if (entry.kind == UseKind::Stream)
    return profile == Profile::Nnob12 && entry.count <= kChunkBits / 128 ? 3 : 1;
  const auto repeated =
      std::ranges::find(kRepeatedQueries, std::string_view(entry.label), &RepeatedQuery::label);
  return repeated == std::end(kRepeatedQueries) ? 1 : repeated->times;
}

// Whether a MAC holder has computed this for psi: one coefficient of a check of silent bits.
bool is_of_noise_place(const Entry& entry) {
  return entry.kind == UseKind::Stream && entry.count == 1 && chi_keys.contains(entry.key);
}

// The nodes that a key of H1 hashes at most: 128 trees with as many inner nodes as leaves, of which
// a key holder makes the corrections, the sum and the outputs; and the hash of zero, in a level of
// two nodes.
constexpr std::uint64_t kNodesOfKey = 3 * kTreesPerKey * kStartSet.leaves() + 2;

std::string text_of(const Entry& entry) {
  static constexpr const char* kKinds[] = {"RO", "H", "stream", "seal", "H1"};
  return std::string(kKinds[static_cast<int>(entry.kind)]) + " \"" + entry.label + "\" of " +
         hex_of(entry.key).substr(0, 16) + ", " + std::to_string(entry.space) + ": " +
         std::to_string(entry.first) + " + " + std::to_string(entry.count);
}

}  // namespace

void open_ledger() {
  ledger.clear();
  chi_keys.clear();
  use_observer = &record;
}

std::vector<std::size_t> recorded_uses() {
  const std::lock_guard lock(ledger_mutex);
  std::vector<std::size_t> counts(5);
  for (const Entry& entry : ledger) ++counts[static_cast<std::size_t>(entry.kind)];
  return counts;
}

std::size_t recorded_queries(std::string_view label) {
  const std::lock_guard lock(ledger_mutex);
  return static_cast<std::size_t>(std::ranges::count(ledger, label, &Entry::label));
}

std::vector<std::string> repeated_uses(Profile profile) {
  const std::lock_guard lock(ledger_mutex);
  std::ranges::sort(ledger, {}, &Entry::order);
  std::vector<std::string> repeated;
  std::size_t times = 0;                       // of this range
  std::uint64_t end = 0;                       // of all earlier ranges of this name
  std::map<std::string, std::uint64_t> nodes;  // by key of H1
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> noise_places;  // by key and space
  for (const Entry& entry : ledger) {
    if (entry.kind == UseKind::HalfTree && (nodes[entry.key] += entry.count) > kNodesOfKey)
      repeated.push_back(text_of(entry));
    if (is_of_noise_place(entry) && ++noise_places[{entry.key, entry.space}] > kStartSet.trees)
      repeated.push_back(text_of(entry));
  }
  std::erase_if(ledger, [](const Entry& entry) {
    return entry.kind == UseKind::HalfTree || is_of_noise_place(entry);
  });
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
