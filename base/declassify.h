// Marks a value derived from secrets as public: the result of a check, a seed that is sent next. In
// the constant-time test (tests/constant_time), branches and addresses that depend on secrets are
// errors; in other builds these functions do nothing.
#pragma once

#include <span>

#ifdef TINYOT_CONSTANT_TIME
#include <valgrind/memcheck.h>
#endif

namespace tinyot {

template <class T>
T declassified(T value) {
#ifdef TINYOT_CONSTANT_TIME
  (void)VALGRIND_MAKE_MEM_DEFINED(&value, sizeof value);
#endif
  return value;
}

// The same, in place.
template <class T>
void declassify([[maybe_unused]] std::span<T> values) {
#ifdef TINYOT_CONSTANT_TIME
  (void)VALGRIND_MAKE_MEM_DEFINED(values.data(), values.size_bytes());
#endif
}

}  // namespace tinyot
