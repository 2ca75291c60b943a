// Values of a circuit's inputs or outputs, by the names of their bundles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tinyot {

// A bundle has one value for each lane, or a single value if it is the same in all lanes. A value
// of n bits is stored in ceil(n / 8) bytes: bit j is bit j % 8 of byte j / 8. An integer is thus
// little-endian, and the bytes of an AES block are in the order of the standard.
// Secret: the values; they are wiped when they are replaced or destroyed.
// Not thread-safe. Fails: std::logic_error if there is no such value.
class Values {
 public:
  Values();
  Values(const Values&);
  Values(Values&&) noexcept;
  Values& operator=(Values) noexcept;
  ~Values();

  // One value, of any width up to 64 bits.
  Values& set(const std::string& name, std::uint64_t integer);
  // One value for each lane.
  Values& set(const std::string& name, std::span<const std::uint64_t> integers);
  // One value as bytes; call this once for each lane, in order.
  Values& add(const std::string& name, std::span<const std::byte> bytes);

  std::vector<std::string> names() const;
  bool contains(const std::string& name) const;
  std::size_t lanes(const std::string& name) const;
  std::span<const std::byte> bytes(const std::string& name, std::size_t lane = 0) const;
  // Of at most 64 bits.
  std::uint64_t integer(const std::string& name, std::size_t lane = 0) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot
