// Why a call of the system has failed.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace tinyot::system {

// "No such file or directory": the text of an error number, by default that of the last failure.
inline std::string errno_text(int error = errno) { return std::strerror(error); }

}  // namespace tinyot::system
