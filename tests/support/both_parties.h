// Both parties on two threads of this process.
#pragma once

#include <exception>
#include <functional>
#include <future>

#include "tinyot/party.h"

namespace tinyot::test {

// Runs `work` for both parties, and returns when both have ended. An exception of either party is
// rethrown here, A's first.
inline void both(const std::function<void(Party)>& work) {
  auto of_b = std::async(std::launch::async, [&] { work(Party::B); });
  std::exception_ptr failure;
  try {
    work(Party::A);
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    of_b.get();
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tinyot::test
