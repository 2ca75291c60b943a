// Values of a circuit's inputs or outputs, by the names of their bundles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tinyot/lane_matrix.h"

namespace tinyot {

// A bundle has a row for each lane, or a single row if it is the same in all lanes. A row may be
// wider than its bundle if the bits beyond the bundle's width are zero.
// Secret: the values; they are wiped when they are replaced or destroyed.
// Not thread-safe. Fails: std::logic_error if there is no such value.
class Values {
 public:
  // One value, of any width up to 64 bits.
  Values& set(const std::string& name, std::uint64_t integer);
  // One value for each lane.
  Values& set(const std::string& name, std::span<const std::uint64_t> integers);
  Values& set(const std::string& name, LaneMatrix values);
  // One value as bytes; call this once for each lane, in order. Shorter ones end with zeros.
  Values& add(const std::string& name, std::span<const std::byte> bytes);

  std::vector<std::string> names() const;
  bool contains(const std::string& name) const { return values_.contains(name); }
  const LaneMatrix& at(const std::string& name) const;
  std::size_t lanes(const std::string& name) const;  // 0 if there is no such value
  std::span<const std::byte> bytes(const std::string& name, std::size_t lane = 0) const;
  // Fails for a value of more than 64 bits.
  std::uint64_t integer(const std::string& name, std::size_t lane = 0) const;

 private:
  std::map<std::string, LaneMatrix> values_;
};

}  // namespace tinyot
