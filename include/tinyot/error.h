// Errors of the library. Each is an exception of one of the classes below.
//
//   PeerCheated     received data violate the protocol; thrown for no other reason
//   PeerAborted     the peer found that one of its own checks failed
//   NetworkError    the connection failed, or could not be established
//   StoreError      a store or one of its files cannot be used; OutOfMaterial: it has too little;
//                   DiskFull: the disk has too little space
//   Disagreement    the requests of the two parties differ
//   UsageError      an argument is invalid
//   Cancelled       the caller asked to stop
//   Error           any other failure of the system
//
// std::logic_error is a bug in the library, or a call that its header forbids. No message carries a
// secret. After PeerCheated or PeerAborted the session is revoked: its keys are erased at both
// parties, and its material is lost.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "tinyot/export.h"

namespace tinyot {

enum class ErrorClass { Other, Usage, Network, PeerCheated, Store, Disagreement, Cancelled };

// What the caller can do about an error, if there is one thing to do. How it is done depends on the
// program (an option of a command, a field of a request), so messages do not say it.
enum class Remedy {
  None,
  AllowWeakParameters,   // change the unit or the bucket, or allow weak ones for measurements
  ChangeParty,           // run as the other party
  AllowLongerConnect,    // raise the connect timeout
  AllowLongerIdle,       // raise the idle timeout
  GiveKeys,              // authenticate both parties by keys, or neither
  Authenticate,          // authenticate both parties by keys, or allow plaintext inside a tunnel
  MakeKey,               // make a key pair for this party
  RenewCertificate,      // make a new certificate of this party's key
  GivePeersKey,          // pin the key with which the store was made
  CheckPinnedKey,        // make sure that the pinned key is the peer's
  GiveStoreKey,          // the store is sealed under a store key, but none was given
  OmitStoreKey,          // a store key was given, but the store is not sealed under one
  GiveSessionFile,       // give the session file with which the store was begun
  MakeMaterial,          // preprocess into a new store
  AddMaterial,           // preprocess into this store, which is complete
  Resume,                // continue what has been started
  AdoptStore,            // declare that the original of this copy no longer exists
  VerifyStore,           // list everything that is corrupt
  ListReservations,      // list the planned reservations
  PrintFingerprint,      // print the whole fingerprint of the circuit
  AllowLongerSynthesis,  // raise the limit of time for the synthesis of a design
  AllowMoreMemory,       // raise its limit of memory
  CheckDaemonSocket,     // make sure that the daemon runs and that its socket may be opened
  CheckDaemonTls,        // make sure that the daemon runs and that both sides' certificates fit
  UseShardsTogether,     // use several shards as one store
};

class TINYOT_API Error : public std::runtime_error {
 public:
  Error(ErrorClass error_class, const std::string& message, Remedy remedy = Remedy::None)
      : std::runtime_error(message), class_(error_class), remedy_(remedy) {}
  ErrorClass error_class() const { return class_; }
  Remedy remedy() const { return remedy_; }

 private:
  ErrorClass class_;
  Remedy remedy_;
};

// `check` is the name of the check that failed, as listed in doc/protocol_map.md.
class TINYOT_API PeerCheated : public Error {
 public:
  explicit PeerCheated(const std::string& check)
      : Error(ErrorClass::PeerCheated,
              "the peer deviated from the protocol (check: " + check +
                  "); the session is revoked, start a new one in a new store"),
        check_(check) {}
  const std::string& check() const { return check_; }

 private:
  std::string check_;
};

class TINYOT_API NetworkError : public Error {
 public:
  explicit NetworkError(const std::string& message, std::string phase = {},
                        Remedy remedy = Remedy::None)
      : Error(ErrorClass::Network, message, remedy), phase_(std::move(phase)) {}
  // The phase of the protocol; empty before the parties are connected.
  const std::string& phase() const { return phase_; }

 private:
  std::string phase_;
};

// An abort carries no reason; the session is revoked on both sides.
class TINYOT_API PeerAborted : public NetworkError {
 public:
  PeerAborted()
      : NetworkError(
            "the peer aborted the session: one of its checks failed; the session is revoked, "
            "start a new one in a new store") {}
};

class TINYOT_API UsageError : public Error {
 public:
  explicit UsageError(const std::string& message, Remedy remedy = Remedy::None)
      : Error(ErrorClass::Usage, message, remedy) {}
};

class TINYOT_API StoreError : public Error {
 public:
  explicit StoreError(const std::string& message, Remedy remedy = Remedy::None)
      : Error(ErrorClass::Store, message, remedy) {}
};

class TINYOT_API OutOfMaterial : public StoreError {
 public:
  explicit OutOfMaterial(const std::string& message, Remedy remedy = Remedy::None)
      : StoreError(message, remedy) {}
};

class TINYOT_API DiskFull : public StoreError {
 public:
  explicit DiskFull(const std::string& message, Remedy remedy = Remedy::None)
      : StoreError(message, remedy) {}
};

class TINYOT_API Disagreement : public Error {
 public:
  explicit Disagreement(const std::string& message, Remedy remedy = Remedy::None)
      : Error(ErrorClass::Disagreement, message, remedy) {}
};

class TINYOT_API Cancelled : public Error {
 public:
  Cancelled() : Error(ErrorClass::Cancelled, "cancelled") {}
};

// Checks a precondition that a header states. Fails: std::invalid_argument, a std::logic_error.
inline void require(bool is_allowed, const char* otherwise) {
  if (!is_allowed) throw std::invalid_argument(otherwise);
}

}  // namespace tinyot
