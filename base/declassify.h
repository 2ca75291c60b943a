// Where a secret's path into what everybody may see is meant: the result of a check, a seed that is
// sent next. Says so to the test of constant time (tests/constant_time), in which branches and
// addresses that depend on secrets are errors; does nothing otherwise.
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

// The same in its place.
template <class T>
void declassify([[maybe_unused]] std::span<T> values) {
#ifdef TINYOT_CONSTANT_TIME
  (void)VALGRIND_MAKE_MEM_DEFINED(values.data(), values.size_bytes());
#endif
}

}  // namespace tinyot
