// Values of a circuit's inputs or outputs, by the names of their bundles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tinyot/circuit/gate.h"
#include "tinyot/export.h"
#include "tinyot/lane_matrix.h"

namespace tinyot {

// The integers as which a value was set; Bits for rows and bytes. Outputs have the reading of their
// circuit.
struct GivenIntegers {
  circuit::Reading reading = circuit::Reading::Bits;
  std::size_t bits = 0;  // of each integer; 0: any
};

// A bundle has a row for each lane, or a single row if it is the same in all lanes. A row may be
// wider than its bundle if the bits beyond the bundle's width are zero. Values remember whether
// they were given as numbers with or without a sign: a run refuses those that its circuit reads
// differently (circuit::Reading). Rows and bytes are taken as they are.
// Secret: the values; they are wiped when they are replaced or destroyed.
// Not thread-safe. Fails: UsageError if there is no such value or lane, naming it.
class Values {
 public:
  // One value, of any width up to 64 bits.
  TINYOT_API Values& set(const std::string& name, std::uint64_t integer);
  // One value for each lane.
  TINYOT_API Values& set(const std::string& name, std::span<const std::uint64_t> integers);
  TINYOT_API Values& set(const std::string& name, LaneMatrix values, GivenIntegers set_as = {});
  // Signed integers of `bits` bits, at most 64. Fails: UsageError for one that does not fit.
  TINYOT_API Values& set_signed(const std::string& name, std::int64_t integer, std::size_t bits);
  TINYOT_API Values& set_signed(const std::string& name, std::span<const std::int64_t> integers,
                                std::size_t bits);
  // A list of integers of `bits` bits each, at most 64, for a circuit of one lane. Fails:
  // UsageError for one that does not fit.
  TINYOT_API Values& set_list(const std::string& name, std::span<const std::uint64_t> integers,
                              std::size_t bits);
  TINYOT_API Values& set_signed_list(const std::string& name,
                                     std::span<const std::int64_t> integers, std::size_t bits);
  // One value as bytes; call this once for each lane, in order. Shorter ones end with zeros.
  TINYOT_API Values& add(const std::string& name, std::span<const std::byte> bytes);

  TINYOT_API std::vector<std::string> names() const;
  bool contains(const std::string& name) const { return values_.contains(name); }
  TINYOT_API const LaneMatrix& at(const std::string& name) const;
  TINYOT_API std::size_t lanes(const std::string& name) const;  // 0 if there is no such value
  TINYOT_API std::span<const std::byte> bytes(const std::string& name, std::size_t lane = 0) const;
  // Returns an integer without a sign. Fails for a value of more than 64 bits, and for a negative
  // output of a circuit that computes with signed numbers.
  TINYOT_API std::uint64_t integer(const std::string& name, std::size_t lane = 0) const;
  // Returns an integer whose highest bit, of as many as the value has, is the sign. Fails if that
  // bit is set in an output of a circuit that computes with unsigned numbers.
  TINYOT_API std::int64_t signed_integer(const std::string& name, std::size_t lane = 0) const;
  // The integers of `bits` bits each, at most 64, of which a value is a list.
  TINYOT_API std::vector<std::uint64_t> list(const std::string& name, std::size_t bits,
                                             std::size_t lane = 0) const;
  TINYOT_API std::vector<std::int64_t> signed_list(const std::string& name, std::size_t bits,
                                                   std::size_t lane = 0) const;
  TINYOT_API GivenIntegers set_as(const std::string& name) const;

 private:
  std::map<std::string, LaneMatrix> values_;
  std::map<std::string, GivenIntegers> set_as_;
};

}  // namespace tinyot
