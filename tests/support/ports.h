// Loopback ports for tests whose parties are separate processes.
#pragma once

#include <deque>
#include <mutex>
#include <string>

#include "net/tcp.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// A port that no other program is assigned until this process ends.
inline std::string reserved_port() {
  static std::mutex mutex;
  static std::deque<LoopbackPort> reserved;
  const std::lock_guard lock(mutex);
  return reserved.emplace_back().address().port;
}

}  // namespace tinyot::test
