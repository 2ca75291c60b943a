// Failures of a command: the message on stderr and the exit status.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"

namespace tinyot::tools {

// Exit statuses of the `tinyot` command; every error has one.
enum class ExitStatus : int {
  Done = 0,
  Failure = 1,
  Usage = 2,
  Network = 3,
  PeerCheated = 4,
  Store = 5,
  Disagreement = 6,
};

// A failure of the command itself, or of a job that it ran, whose exit status it takes over.
class CommandError : public std::runtime_error {
 public:
  explicit CommandError(const std::string& message, ExitStatus status = ExitStatus::Failure,
                        std::string remedy = {})
      : std::runtime_error(message), status_(status), remedy_(std::move(remedy)) {}
  ExitStatus status() const { return status_; }
  // The part of the message that says what to do; empty if there is none.
  const std::string& remedy() const { return remedy_; }

 private:
  ExitStatus status_;
  std::string remedy_;
};

ExitStatus status_of(ErrorClass error_class);

struct Failure {
  ExitStatus status;
  std::string message;  // ends with the remedy
  std::string remedy;   // empty if there is none
  std::string phase;    // of a network error; else empty
};

// The message, followed by the remedy in terms of this command's options.
std::string with_remedy(const std::string& message, Remedy remedy);

// Describes the current exception. To be called in a catch block.
Failure current_failure();

}  // namespace tinyot::tools
