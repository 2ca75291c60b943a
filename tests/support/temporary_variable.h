// The environment of a test's process.
#pragma once

#include <stdlib.h>

#include <optional>
#include <string>
#include <utility>

namespace tinyot::test {

// A value of an environment variable for as long as the object exists.
class TemporaryVariable {
 public:
  TemporaryVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~TemporaryVariable() {
    if (old_)
      ::setenv(name_.c_str(), old_->c_str(), 1);
    else
      ::unsetenv(name_.c_str());
  }
  TemporaryVariable(const TemporaryVariable&) = delete;
  TemporaryVariable& operator=(const TemporaryVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> old_;
};

}  // namespace tinyot::test
