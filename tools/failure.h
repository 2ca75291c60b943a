// The end of a command that failed: its message on stderr, its exit status, and its report.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"
#include "tools/report.h"

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

// A failure of the command itself, or of one that it ran, which ends with that one's status.
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

struct Failure {
  ExitStatus status;
  std::string message;  // ends with the remedy
  std::string remedy;   // empty if there is none
  std::string phase;    // of a network error; else empty
};

// A message with what this command's options can do about it.
std::string with_remedy(const std::string& message, Remedy remedy);

// The exception at hand. To be called in a catch block.
Failure current_failure();

// A line on stderr.
void print_failure(const std::string& prefix, const Failure& failure);

// What a command that failed reports as JSON: {"error": {class, phase, message, remedy}}, the phase
// and the remedy where there is one.
Json failure_report(const Failure& failure);
bool is_failure_report(const Json& report);

}  // namespace tinyot::tools
