#include "python/src/errors.h"

#include <pybind11/pybind11.h>

#include <string>

#include "tinyot/tinyot.h"

namespace tinyot::python {
namespace {

namespace py = pybind11;

// How a Python program carries out a remedy.
const char* hint_of(Remedy remedy) {
  switch (remedy) {
    case Remedy::AllowWeakParameters:
      return "set bucket or unit, or weak_allowed=True for measurements";
    case Remedy::ChangeParty:
      return "make the Party with the other letter";
    case Remedy::AllowLongerConnect:
      return "Party(connect_timeout=...) sets how long to wait";
    case Remedy::AllowLongerIdle:
      return "Party(idle_timeout=...) sets how long to wait";
    case Remedy::GiveKeys:
      return "give key and peer_key to both parties or to neither";
    case Remedy::Authenticate:
      return "make a key with tinyot.keygen(path), tell the peer its fingerprint, and give "
             "Party(key=path, peer_key=the peer's fingerprint), or allow_plaintext=True inside a "
             "tunnel that encrypts and authenticates";
    case Remedy::MakeKey:
      return "make a key with tinyot.keygen(path)";
    case Remedy::GivePeersKey:
      return "give key and that peer_key to the Party";
    case Remedy::CheckPinnedKey:
      return "check peer_key";
    case Remedy::GiveStoreKey:
      return "give the file of its key as store_key";
    case Remedy::OmitStoreKey:
      return "if that is intended, leave out store_key";
    case Remedy::MakeMaterial:
      return "make material with preprocess(ands=...) in a new store";
    case Remedy::AddMaterial:
      return "a complete store gets more with preprocess(add=...) or preprocess(left=...)";
    case Remedy::Resume:
      return "to continue, call preprocess(resume=True)";
    case Remedy::RenewCertificate:
    case Remedy::GiveSessionFile:
    case Remedy::AdoptStore:
    case Remedy::VerifyStore:
    case Remedy::ListReservations:
    case Remedy::CheckDaemonSocket:
    case Remedy::CheckDaemonTls:
    case Remedy::AllowLongerSynthesis:
    case Remedy::AllowMoreMemory:
      return "the tinyot command has a subcommand or an option for this";
    case Remedy::PrintFingerprint:
      return "Circuit.fingerprint() returns it";
    case Remedy::UseShardsTogether:
      return "give the shards together as a list: Party(store=[...])";
    case Remedy::None:
      break;
  }
  return "";
}

void set_error(const char* class_name, const Error& error, const std::string& phase = {},
               const std::string& check = {}) {
  const py::object type = py::module_::import("tinyot._errors").attr(class_name);
  PyErr_SetObject(type.ptr(), type(error.what(), phase, hint_of(error.remedy()), check).ptr());
}

void translate(std::exception_ptr exception) {
  try {
    if (exception) std::rethrow_exception(std::move(exception));
  } catch (const PeerCheated& error) {
    set_error("PeerCheated", error, {}, error.check());
  } catch (const PeerAborted& error) {
    set_error("PeerAborted", error, error.phase());
  } catch (const NetworkError& error) {
    set_error("NetworkError", error, error.phase());
  } catch (const OutOfMaterial& error) {
    set_error("OutOfMaterial", error);
  } catch (const StoreError& error) {
    set_error("StoreError", error);
  } catch (const Disagreement& error) {
    set_error("Disagreement", error);
  } catch (const UsageError& error) {
    set_error("UsageError", error);
  } catch (const Cancelled& error) {
    set_error("Cancelled", error);
  } catch (const Error& error) {
    set_error("Error", error);
  }
}

}  // namespace

void register_errors() { py::register_exception_translator(translate); }

}  // namespace tinyot::python
