// Included before all else in builds for ThreadSanitizer. There, Protocol Buffers' maps have
// members that those of its library, which is built without it, have not.
#pragma once

#include <cstddef>  // by which the standard library learns what it is built for

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
