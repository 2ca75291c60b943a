// A queue of bytes: appended at the end, taken from the front.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tinyot::net {

class ByteQueue {
 public:
  std::size_t size() const { return bytes_.size() - begin_; }
  std::span<const std::byte> front() const { return std::span(bytes_).subspan(begin_); }
  void append(std::span<const std::byte> bytes) {
    // Space of dropped bytes is reused before the queue grows; amortised, each byte is copied at
    // most once.
    if (bytes_.size() + bytes.size() > bytes_.capacity() && 2 * begin_ >= bytes_.size()) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
      begin_ = 0;
    }
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void drop(std::size_t count) {
    begin_ += count;
    if (begin_ < bytes_.size()) return;
    bytes_.clear();
    begin_ = 0;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
};

}  // namespace tinyot::net
