#include "engine/circuit_cache.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/memory.h"

namespace tinyot::engine {
namespace {

constexpr std::size_t kBytesTheFirstTime = std::size_t{1} << 24;

}  // namespace

template <class Key, class Value>
Value* CircuitCache::Recent<Key, Value>::find(const Key& key) {
  const auto place = places.find(key);
  if (place == places.end()) return nullptr;
  entries.splice(entries.begin(), entries, place->second);
  return &entries.front().second;
}

template <class Key, class Value>
void CircuitCache::Recent<Key, Value>::add(const Key& key, Value value) {
  entries.emplace_front(key, std::move(value));
  places.emplace(key, entries.begin());
}

template <class Key, class Value>
void CircuitCache::Recent<Key, Value>::drop_oldest() {
  places.erase(entries.back().first);
  entries.pop_back();
}

CircuitCache& CircuitCache::of_process() {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 26, kMost = std::uint64_t{1} << 29;
  static CircuitCache cache(4096, std::clamp(available_memory_bytes() / 8, kLeast, kMost));
  return cache;
}

std::optional<circuit::CircuitCost> CircuitCache::cost(const circuit::CircuitFingerprint& circuit) {
  const std::lock_guard lock(mutex_);
  const circuit::CircuitCost* const found = costs_.find(circuit.bytes);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

void CircuitCache::keep_cost(const circuit::CircuitFingerprint& circuit,
                             const circuit::CircuitCost& cost) {
  const std::lock_guard lock(mutex_);
  if (costs_.find(circuit.bytes) != nullptr) return;
  costs_.add(circuit.bytes, cost);
  if (costs_.entries.size() > costs_max_) costs_.drop_oldest();
}

std::shared_ptr<const circuit::LayeredCircuit> CircuitCache::rounds(const Layering& layering) {
  const std::lock_guard lock(mutex_);
  const auto* const found = rounds_.find(key_of(layering));
  return found != nullptr ? *found : nullptr;
}

CircuitCache::Room CircuitCache::room_for(const Layering& layering) {
  const std::size_t little = std::min(bytes_max_ / 4, kBytesTheFirstTime), much = bytes_max_ / 2;
  const std::lock_guard lock(mutex_);
  const std::size_t* const not_enough = too_large_.find(key_of(layering));
  if (not_enough != nullptr && *not_enough >= much) return {};
  if (not_enough == nullptr || !claim_.expired()) return {little};
  const auto claim = std::make_shared<int>();
  claim_ = claim;
  return {much, claim};
}

void CircuitCache::keep_rounds(const Layering& layering,
                               std::shared_ptr<const circuit::LayeredCircuit> rounds) {
  const LayeringKey key = key_of(layering);
  const std::lock_guard lock(mutex_);
  if (rounds_.find(key) != nullptr) return;
  bytes_ += rounds->bytes;
  rounds_.add(key, std::move(rounds));
  while (bytes_ > bytes_max_) {
    bytes_ -= rounds_.entries.back().second->bytes;
    rounds_.drop_oldest();
  }
}

void CircuitCache::note_too_large(const Layering& layering, std::size_t bytes) {
  const LayeringKey key = key_of(layering);
  const std::lock_guard lock(mutex_);
  if (std::size_t* const found = too_large_.find(key)) {
    *found = std::max(*found, bytes);
    return;
  }
  too_large_.add(key, bytes);
  if (too_large_.entries.size() > costs_max_) too_large_.drop_oldest();
}

}  // namespace tinyot::engine
