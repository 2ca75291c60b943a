// The values of one bundle of a circuit: a matrix of bits with one row for each lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tinyot/error.h"
#include "tinyot/export.h"

namespace tinyot {

// A row of a LaneMatrix, which outlives it: bit j is bit j % 8 of byte j / 8, so an integer is
// little-endian, and the bytes of an AES block are in the order of the standard.
class ConstLane {
 public:
  ConstLane(const std::byte* data, std::size_t bits) : data_(data), bits_(bits) {}

  std::size_t size() const { return bits_; }
  bool operator[](std::size_t bit) const {
    return ((std::to_integer<unsigned>(data_[bit / 8]) >> (bit % 8)) & 1) != 0;
  }
  std::span<const std::byte> bytes() const { return {data_, (bits_ + 7) / 8}; }

 private:
  const std::byte* data_;
  std::size_t bits_;
};

class Lane {
 public:
  Lane(std::byte* data, std::size_t bits) : data_(data), bits_(bits) {}
  operator ConstLane() const { return {data_, bits_}; }

  std::size_t size() const { return bits_; }
  bool operator[](std::size_t bit) const { return ConstLane(*this)[bit]; }
  void put(std::size_t bit, bool value) const {
    // By arithmetic: a choice between two values may become a branch on a secret.
    const auto mask = static_cast<std::byte>(1U << (bit % 8));
    const auto put = static_cast<std::byte>(unsigned{value} << (bit % 8));
    data_[bit / 8] = (data_[bit / 8] & ~mask) | put;
  }
  std::span<const std::byte> bytes() const { return {data_, (bits_ + 7) / 8}; }

 private:
  std::byte* data_;
  std::size_t bits_;
};

// Rows of ceil(bits / 8) bytes in one buffer, lane after lane; the bits of a row's last byte beyond
// its width are zero. A value that is the same in all lanes has one row.
// Secret: the values; the buffer is wiped when it is replaced or destroyed.
// Not thread-safe. Fails: std::logic_error for a lane that does not exist.
class LaneMatrix {
 public:
  LaneMatrix() = default;
  // All bits are zero. Fails: std::bad_alloc.
  TINYOT_API LaneMatrix(std::size_t lanes, std::size_t bits);
  TINYOT_API LaneMatrix(const LaneMatrix& other);
  TINYOT_API LaneMatrix(LaneMatrix&& other) noexcept;
  TINYOT_API LaneMatrix& operator=(LaneMatrix other) noexcept;
  TINYOT_API ~LaneMatrix();

  std::size_t lanes() const { return lanes_; }
  std::size_t bits() const { return bits_; }

  ConstLane operator[](std::size_t lane) const { return {row(lane), bits_}; }
  Lane operator[](std::size_t lane) { return {row(lane), bits_}; }
  // All rows, one after the other.
  std::span<const std::byte> bytes() const { return {data_, lanes_ * row_bytes()}; }

  // Replaces a row by its first bytes; the rest of it becomes zero. False, and then nothing has
  // changed, if a bit beyond the width is set.
  [[nodiscard]] TINYOT_API bool assign(std::size_t lane, std::span<const std::byte> bytes);
  // Adds a lane, as assign() does.
  [[nodiscard]] TINYOT_API bool append(std::span<const std::byte> bytes);

 private:
  std::size_t row_bytes() const { return (bits_ + 7) / 8; }
  std::byte* row(std::size_t lane) const {
    require(lane < lanes_, "there is no such lane");
    return data_ + lane * row_bytes();
  }
  void reserve(std::size_t lanes);

  std::size_t lanes_ = 0, bits_ = 0;
  std::size_t lanes_reserved_ = 0;
  std::byte* data_ = nullptr;  // from the allocator of secrets
};

}  // namespace tinyot
