#include "tinyot/lane_matrix.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/lane_bits.h"
#include "base/secret.h"

namespace tinyot {
namespace {

std::size_t bytes_of(std::size_t lanes, std::size_t row_bytes) {
  if (row_bytes != 0 && lanes > static_cast<std::size_t>(-1) / 2 / row_bytes)
    throw std::bad_array_new_length();
  return lanes * row_bytes;
}

void release(std::byte* data, std::size_t bytes) {
  if (data == nullptr) return;
  wipe(data, bytes);
  deallocate_aligned(data, bytes);
}

// Whether a row of `bits` bits can have these bytes.
bool fits(std::span<const std::byte> bytes, std::size_t bits) {
  unsigned beyond = 0;
  for (std::size_t i = bits / 8; i < bytes.size(); ++i) {
    const unsigned inside = i == bits / 8 ? (1U << (bits % 8)) - 1 : 0;
    beyond |= std::to_integer<unsigned>(bytes[i]) & ~inside;
  }
  return beyond == 0;
}

}  // namespace

LaneMatrix::LaneMatrix(std::size_t lanes, std::size_t bits) : bits_(bits) {
  reserve(lanes);
  lanes_ = lanes;
  std::fill_n(data_, lanes * row_bytes(), std::byte{0});
}

LaneMatrix::LaneMatrix(const LaneMatrix& other) : bits_(other.bits_) {
  reserve(other.lanes_);
  lanes_ = other.lanes_;
  std::ranges::copy(other.bytes(), data_);
}

LaneMatrix::LaneMatrix(LaneMatrix&& other) noexcept
    : lanes_(std::exchange(other.lanes_, 0)), bits_(std::exchange(other.bits_, 0)),
      lanes_reserved_(std::exchange(other.lanes_reserved_, 0)),
      data_(std::exchange(other.data_, nullptr)) {}

LaneMatrix& LaneMatrix::operator=(LaneMatrix other) noexcept {
  std::swap(lanes_, other.lanes_);
  std::swap(bits_, other.bits_);
  std::swap(lanes_reserved_, other.lanes_reserved_);
  std::swap(data_, other.data_);
  return *this;
}

LaneMatrix::~LaneMatrix() { release(data_, lanes_reserved_ * row_bytes()); }

bool LaneMatrix::assign(std::size_t lane, std::span<const std::byte> bytes) {
  std::byte* const to = row(lane);
  if (!fits(bytes, bits_)) return false;
  const std::size_t given = std::min(bytes.size(), row_bytes());
  std::copy_n(bytes.data(), given, to);
  std::fill(to + given, to + row_bytes(), std::byte{0});
  return true;
}

bool LaneMatrix::append(std::span<const std::byte> bytes) {
  if (!fits(bytes, bits_)) return false;
  if (lanes_ == lanes_reserved_) reserve(std::max<std::size_t>(2 * lanes_, 1));
  ++lanes_;
  return assign(lanes_ - 1, bytes);
}

void LaneMatrix::reserve(std::size_t lanes) {
  const std::size_t bytes = bytes_of(lanes, row_bytes());
  auto* const data = bytes > 0 ? static_cast<std::byte*>(allocate_aligned(bytes)) : nullptr;
  std::copy_n(data_, lanes_ * row_bytes(), data);
  release(std::exchange(data_, data), std::exchange(lanes_reserved_, lanes) * row_bytes());
}

BitVector to_bits(ConstLane lane) {
  BitVector bits(lane.size());
  std::ranges::copy(lane.bytes(), bits.bytes().begin());
  return bits;
}

void set_lane(LaneMatrix& values, std::size_t lane, const BitVector& bits) {
  ENSURE(bits.size() == values.bits());
  ENSURE(values.assign(lane, bits.bytes()));
}

}  // namespace tinyot
