#include "tools/cli/failure.h"

#include <new>

#include "tinyot/error.h"

namespace tinyot::tools {
namespace {

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

// How this command carries out a remedy.
std::string text_of(Remedy remedy) {
  switch (remedy) {
    case Remedy::AllowWeakParameters:
      return "set --bucket or --unit, or --allow-weak for measurements";
    case Remedy::ChangeParty:
      return "set it with --party";
    case Remedy::AllowLongerConnect:
      return "--connect-timeout sets how long to wait";
    case Remedy::AllowLongerIdle:
      return "--idle-timeout sets how long to wait";
    case Remedy::GiveKeys:
      return "give --key and --peer-key on both sides or on neither";
    case Remedy::Authenticate:
      return "make a key with tinyot keygen --out FILE, tell the peer its fingerprint, and give "
             "--key FILE and --peer-key with the peer's fingerprint (or --insecure-plaintext, "
             "inside a tunnel that encrypts and authenticates)";
    case Remedy::MakeKey:
      return "make a key with tinyot keygen --out FILE";
    case Remedy::GivePeersKey:
      return "give --key and that --peer-key";
    case Remedy::CheckPinnedKey:
      return "check --peer-key";
    case Remedy::GiveStoreKey:
      return "give it with --store-key @FILE";
    case Remedy::OmitStoreKey:
      return "if that is intended, leave out --store-key";
    case Remedy::GiveSessionFile:
      return "give it with --session FILE";
    case Remedy::MakeMaterial:
      return "make material with tinyot preprocess --ands N, in a new store";
    case Remedy::AddMaterial:
      return "a complete store gets more with tinyot preprocess --add N or --until-left N";
    case Remedy::Resume:
      return "to continue, use tinyot preprocess with --resume";
    case Remedy::AdoptStore:
      return "declare that with tinyot store adopt DIR";
    case Remedy::VerifyStore:
      return "tinyot store verify lists all corrupt batches";
    case Remedy::ListReservations:
      return "tinyot store info lists the planned ones";
    case Remedy::PrintFingerprint:
      return "tinyot circuit info FILE prints it, of the owners and receivers that its options say";
    case Remedy::UseShardsTogether:
      return "use the shards together instead: --store DIR DIR ...";
    case Remedy::AllowLongerSynthesis:
      return "--timeout allows longer";
    case Remedy::AllowMoreMemory:
      return "--memory allows more";
    case Remedy::None:
      break;
  }
  return {};
}

std::string joined(const std::string& message, const std::string& remedy) {
  return remedy.empty() ? message : message + "; " + remedy;
}

Failure failure_of(ExitStatus status, const Error& error, const std::string& phase = {}) {
  const std::string remedy = text_of(error.remedy());
  return {status, joined(error.what(), remedy), remedy, phase};
}

}  // namespace

std::string with_remedy(const std::string& message, Remedy remedy) {
  return joined(message, text_of(remedy));
}

Failure current_failure() {
  try {
    throw;
  } catch (const NetworkError& error) {
    return failure_of(ExitStatus::Network, error, error.phase());
  } catch (const Error& error) {
    return failure_of(status_of(error.error_class()), error);
  } catch (const CommandError& error) {
    return {error.status(), error.what(), error.remedy(), {}};
  } catch (const std::bad_alloc&) {
    const std::string remedy =
        "use a smaller --unit or fewer --lanes (tinyot params estimates the memory of a unit)";
    return {ExitStatus::Failure, joined("out of memory", remedy), remedy, {}};
  } catch (const std::exception& error) {
    return {ExitStatus::Failure, error.what(), {}, {}};
  }
}

}  // namespace tinyot::tools
