// A file descriptor with one owner, which closes it. The owner opens, reads and writes it.
#pragma once

#include <unistd.h>

#include <utility>

namespace tinyot {

class Descriptor {
 public:
  Descriptor() = default;
  // Takes the result of open(2), pipe(2) and the like; a negative number means no descriptor.
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  bool is_open() const { return number_ >= 0; }
  int get() const { return number_; }
  void close() {
    if (is_open()) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace tinyot
