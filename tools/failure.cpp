#include "tools/failure.h"

#include <iostream>
#include <new>

namespace tinyot::tools {
namespace {

std::string_view class_of(ExitStatus status) {
  switch (status) {
    case ExitStatus::Usage:
      return "usage";
    case ExitStatus::Network:
      return "network";
    case ExitStatus::PeerCheated:
      return "cheated";
    case ExitStatus::Store:
      return "store";
    case ExitStatus::Disagreement:
      return "disagreement";
    case ExitStatus::Done:
    case ExitStatus::Failure:
      break;
  }
  return "internal";
}

}  // namespace

Failure current_failure() {
  try {
    throw;
  } catch (const NetworkError& error) {
    return {error.status(), error.what(), error.phase()};
  } catch (const Error& error) {
    return {error.status(), error.what(), {}};
  } catch (const std::bad_alloc&) {
    return {ExitStatus::Failure,
            "out of memory; use a smaller --unit or fewer --lanes (tinyot params estimates what a "
            "unit takes)",
            {}};
  } catch (const std::exception& error) {
    return {ExitStatus::Failure, error.what(), {}};
  }
}

void print_failure(const std::string& prefix, const Failure& failure) {
  // One write, so that lines of two processes do not mix.
  std::cerr << prefix + failure.message + "\n" << std::flush;
}

Json failure_report(const Failure& failure) {
  Json error = {{"class", class_of(failure.status)}};
  if (!failure.phase.empty()) error["phase"] = failure.phase;
  error["message"] = failure.message;
  return {{"error", error}};
}

bool is_failure_report(const Json& report) { return report.contains("error"); }

}  // namespace tinyot::tools
