// What this process has found out about built-in circuits, for those that are run again: their
// costs and, if they fit, their rounds. Thread-safe, in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "circuitgen/cost.h"
#include "circuitgen/layered_circuit.h"
#include "tinyot/circuit/fingerprint.h"

namespace tinyot::engine {

class CircuitCache {
 public:
  // What rounds depend on.
  struct Layering {
    circuit::CircuitFingerprint circuit;
    std::uint64_t window = 0;
    bool has_several_lanes = false;
    circuit::GroupsAs groups = circuit::GroupsAs::Gates;
  };

  // Costs of as many circuits, and rounds of as many bytes, as have been asked for last.
  CircuitCache(std::size_t costs_max, std::size_t bytes_max)
      : costs_max_(costs_max), bytes_max_(bytes_max) {}
  // Of an eighth of the memory that is available when it is first needed, within limits.
  static CircuitCache& of_process();

  std::optional<circuit::CircuitCost> cost(const circuit::CircuitFingerprint& circuit);
  void keep_cost(const circuit::CircuitFingerprint& circuit, const circuit::CircuitCost& cost);

  // Null if there are none.
  std::shared_ptr<const circuit::LayeredCircuit> rounds(const Layering& layering);
  // What rounds may take to be kept: little the first time, since most circuits are run once, and
  // half of all the second time, in which a run collects them beside those that are kept: one run
  // at a time, as long as it has `claim`. Nothing if that was not enough.
  struct Room {
    std::size_t bytes = 0;
    std::shared_ptr<const void> claim = {};
  };
  Room room_for(const Layering& layering);
  void keep_rounds(const Layering& layering, std::shared_ptr<const circuit::LayeredCircuit> rounds);
  // They have taken more than so much.
  void note_too_large(const Layering& layering, std::size_t bytes);

 private:
  // The values that were asked for last are at the front.
  template <class Key, class Value>
  struct Recent {
    using Entry = std::pair<Key, Value>;
    std::list<Entry> entries;
    std::map<Key, typename std::list<Entry>::iterator> places;

    Value* find(const Key& key);
    void add(const Key& key, Value value);
    void drop_oldest();
  };
  using Bytes = std::array<std::uint8_t, 32>;
  using LayeringKey = std::tuple<Bytes, std::uint64_t, bool, circuit::GroupsAs>;

  static LayeringKey key_of(const Layering& layering) {
    return {layering.circuit.bytes, layering.window, layering.has_several_lanes, layering.groups};
  }

  const std::size_t costs_max_, bytes_max_;
  std::mutex mutex_;
  Recent<Bytes, circuit::CircuitCost> costs_;
  Recent<LayeringKey, std::shared_ptr<const circuit::LayeredCircuit>> rounds_;
  std::size_t bytes_ = 0;                       // of rounds_
  Recent<LayeringKey, std::size_t> too_large_;  // with what was not enough
  std::weak_ptr<const void> claim_;
};

}  // namespace tinyot::engine
