#include "tools/failure.h"

#include <iostream>
#include <new>

#include "tinyot/error.h"

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

ExitStatus status_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::Usage:
      return ExitStatus::Usage;
    case ErrorClass::Network:
      return ExitStatus::Network;
    case ErrorClass::PeerCheated:
      return ExitStatus::PeerCheated;
    case ErrorClass::Store:
      return ExitStatus::Store;
    case ErrorClass::Disagreement:
      return ExitStatus::Disagreement;
    case ErrorClass::Other:
    case ErrorClass::Cancelled:
      break;
  }
  return ExitStatus::Failure;
}

// How this command carries out a remedy; begins with its separator.
std::string text_of(Remedy remedy) {
  switch (remedy) {
    case Remedy::GiveStoreKey:
      return "; give it with --store-key @FILE";
    case Remedy::OmitStoreKey:
      return "; leave out --store-key";
    case Remedy::Resume:
      return "; continue with --resume";
    case Remedy::UseShardsTogether:
      return "; use the shards together instead: --store DIR DIR ...";
    case Remedy::GiveKeys:
      return "; give --key and --peer-key on both sides or on neither";
    case Remedy::MakeKey:
      return "; make a key with tinyot keygen --out FILE";
    case Remedy::GivePeersKey:
      return "; give --key and that --peer-key";
    case Remedy::AllowWeakParameters:
      return ", or --allow-weak for measurements";
    case Remedy::None:
      break;
  }
  return {};
}

}  // namespace

Failure current_failure() {
  try {
    throw;
  } catch (const NetworkError& error) {
    return {ExitStatus::Network, error.what() + text_of(error.remedy()), error.phase()};
  } catch (const Error& error) {
    return {status_of(error.error_class()), error.what() + text_of(error.remedy()), {}};
  } catch (const CommandError& error) {
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
