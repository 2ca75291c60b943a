// Waiting for what another thread or process does.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace tinyot::test {

// Waits until `holds`; fails the test if it takes too long.
template <class Condition>
::testing::AssertionResult becomes_true(const Condition& holds,
                                        std::chrono::seconds patience = std::chrono::seconds(180)) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until)
      return ::testing::AssertionFailure() << "too late";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return ::testing::AssertionSuccess();
}

}  // namespace tinyot::test
