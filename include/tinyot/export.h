// What the shared library exports: the functions and classes of the public headers that are marked
// by this macro, and nothing else.
#pragma once

#if defined(__GNUC__)
#define TINYOT_API __attribute__((visibility("default")))
#else
#define TINYOT_API
#endif
