// ENSURE, for bugs in this program; active in every build. The other two meanings of errors, a peer
// that deviates and an environment that fails, are the exceptions of the public header.
#pragma once

#include "tinyot/error.h"

namespace tinyot {

[[noreturn]] void ensure_failed(const char* condition, const char* file, int line);

}  // namespace tinyot

#define ENSURE(condition)                                                      \
  do {                                                                         \
    if (!(condition)) ::tinyot::ensure_failed(#condition, __FILE__, __LINE__); \
  } while (false)
