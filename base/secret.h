// Memory for secrets: wiped before it is freed, and not zero-filled on allocation.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tinyot {

// Overwrites memory with zeros in a way that the compiler may not remove.
void wipe(void* data, std::size_t bytes);

template <class T>
void wipe_object(T& object) {
  static_assert(std::is_trivially_copyable_v<T>);
  wipe(&object, sizeof object);
}

// A secret that is wiped at the end of its scope, also on an exception.
template <class T>
class ScopedSecret {
 public:
  explicit ScopedSecret(const T& value) : value_(value) {
    static_assert(std::is_trivially_copyable_v<T>);
  }
  ~ScopedSecret() { wipe_object(value_); }
  ScopedSecret(const ScopedSecret&) = delete;
  ScopedSecret& operator=(const ScopedSecret&) = delete;

  operator const T&() const { return value_; }
  const T* operator->() const { return &value_; }

 private:
  T value_;
};

// Memory for allocators, 64-byte aligned. Large allocations request huge pages, for fast random
// access.
void* allocate_aligned(std::size_t bytes);
void deallocate_aligned(void* data, std::size_t bytes);

// Allocator of SecretVector: 64-byte aligned, wiped on deallocation; resize leaves trivial elements
// uninitialised.
template <class T>
struct WipingAllocator {
  using value_type = T;

  WipingAllocator() = default;
  template <class U>
  WipingAllocator(const WipingAllocator<U>&) {}

  T* allocate(std::size_t n) {
    static_assert(alignof(T) <= 64);
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_aligned(n * sizeof(T)));
  }
  void deallocate(T* data, std::size_t n) {
    wipe(data, n * sizeof(T));
    deallocate_aligned(data, n * sizeof(T));
  }
  template <class U>
  void construct(U* element) {
    ::new (static_cast<void*>(element)) U;
  }
  template <class U, class... Args>
  void construct(U* element, Args&&... args) {
    ::new (static_cast<void*>(element)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const WipingAllocator&, const WipingAllocator&) { return true; }
};

template <class T>
using SecretVector = std::vector<T, WipingAllocator<T>>;

}  // namespace tinyot
