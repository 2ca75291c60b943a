#include "tools/cli/failure.h"

#include <new>

#include "tinyot/error.h"

namespace tinyot::tools {
namespace {

// How this command carries out a remedy.
struct RemedyText {
  Remedy remedy;
  const char* text;
};
constexpr RemedyText kRemedies[] = {
    {Remedy::AllowWeakParameters, "set --bucket or --unit, or --allow-weak for measurements"},
    {Remedy::ChangeParty, "set it with --party"},
    {Remedy::AllowLongerConnect, "--connect-timeout sets how long to wait"},
    {Remedy::AllowLongerIdle, "--idle-timeout sets how long to wait"},
    {Remedy::GiveKeys, "give --key and --peer-key on both sides or on neither"},
    {Remedy::Authenticate,
     "make a key with tinyot keygen --output FILE, tell the peer its fingerprint, and give "
     "--key FILE and --peer-key with the peer's fingerprint (or --insecure-plaintext, "
     "inside a tunnel that encrypts and authenticates)"},
    {Remedy::MakeKey, "make a key with tinyot keygen --output FILE"},
    {Remedy::RenewCertificate, "renew it with tinyot keygen --renew FILE"},
    {Remedy::GivePeersKey, "give --key and that --peer-key"},
    {Remedy::CheckPinnedKey, "check --peer-key"},
    {Remedy::GiveStoreKey, "give it with --store-key @FILE"},
    {Remedy::OmitStoreKey, "if that is intended, leave out --store-key"},
    {Remedy::GiveSessionFile, "give it with --session FILE"},
    {Remedy::MakeMaterial, "make material with tinyot preprocess --ands N, in a new store"},
    {Remedy::AddMaterial,
     "a complete store gets more with tinyot preprocess --add N or --until-left N"},
    {Remedy::Resume, "to continue, use tinyot preprocess with --resume"},
    {Remedy::AdoptStore, "declare that with tinyot store adopt DIR"},
    {Remedy::VerifyStore, "tinyot store verify lists all corrupt batches"},
    {Remedy::ListReservations, "tinyot store info lists the planned ones"},
    {Remedy::PrintFingerprint,
     "tinyot circuit info FILE prints it, of the owners and receivers that its options say"},
    {Remedy::UseShardsTogether, "use the shards together instead: --store DIR DIR ..."},
    {Remedy::CheckDaemonSocket,
     "check that tinyot serve is running, that this is its socket (else give --server), "
     "and "
     "that this user may open it: members of its group may, from their next login"},
    {Remedy::CheckDaemonTls,
     "check that tinyot serve is running with tls { listen: ... } at this address, that "
     "--tls-ca signed its certificate, and its clients file this one"},
    {Remedy::AllowLongerSynthesis, "--timeout allows longer"},
    {Remedy::AllowMoreMemory, "--memory allows more"},
};

std::string text_of(Remedy remedy) {
  for (const RemedyText& entry : kRemedies)
    if (entry.remedy == remedy) return entry.text;
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
