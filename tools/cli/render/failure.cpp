#include "tools/cli/render/failure.h"

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

Json failure_report(const Failure& failure) {
  Json error = {{"class", class_of(failure.status)}};
  if (!failure.phase.empty()) error["phase"] = failure.phase;
  error["message"] = failure.message;
  if (!failure.remedy.empty()) error["remedy"] = failure.remedy;
  return {{"error", error}};
}

void print_failure(const Failure& failure) {
  print_report(Format::Json, failure_report(failure), {});
}

bool is_failure_report(const Json& report) { return report.contains("error"); }

}  // namespace tinyot::tools
