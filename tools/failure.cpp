#include "tools/failure.h"

#include <iostream>
#include <new>

#include "base/error.h"

namespace tinyot {

int report_failure(const std::string& prefix) {
  const auto say = [&](const std::string& message, ExitStatus status) {
    std::cerr << prefix + message + "\n" << std::flush;  // one write, so that lines of two processes do not mix
    return static_cast<int>(status);
  };
  try {
    throw;
  } catch (const Error& error) {
    return say(error.what(), error.status());
  } catch (const std::bad_alloc&) {
    return say("out of memory; use a smaller --unit or fewer --lanes (tinyot params foretells what a unit takes)", ExitStatus::Failure);
  } catch (const std::exception& error) {
    return say(error.what(), ExitStatus::Failure);
  }
}

}  // namespace tinyot
