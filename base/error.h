// The three meanings of errors.
//
//   ENSURE            a bug in this program; active in every build
//   PeerCheated       the peer deviated from the protocol: if and only if received data break it.
//                     Ends the session.
//   everything else   the environment failed; the message says what happened and what to do next
//
// No message carries a secret. After a PeerCheated the peer receives an abort without a reason.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace tinyot {

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

class Error : public std::runtime_error {
 public:
  Error(ExitStatus status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  ExitStatus status() const { return status_; }

 private:
  ExitStatus status_;
};

// `check` is the name of the check that failed, as doc/protocol_map.md lists it.
class PeerCheated : public Error {
 public:
  explicit PeerCheated(const std::string& check)
      : Error(ExitStatus::PeerCheated,
              "the peer deviated from the protocol (check: " + check +
                  "); the session is revoked, start a new one in a new store"),
        check_(check) {}
  const std::string& check() const { return check_; }

 private:
  std::string check_;
};

class NetworkError : public Error {
 public:
  explicit NetworkError(const std::string& message, std::string phase = {})
      : Error(ExitStatus::Network, message), phase_(std::move(phase)) {}
  // The phase of the protocol; empty before the parties are connected.
  const std::string& phase() const { return phase_; }

 private:
  std::string phase_;
};

// The peer sent an abort: one of its checks failed. An abort has no reason; the session is revoked
// on both sides.
class PeerAborted : public NetworkError {
 public:
  PeerAborted()
      : NetworkError(
            "the peer aborted the session: one of its checks failed; the session is revoked, "
            "start a new one in a new store") {}
};

class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitStatus::Usage, message) {}
};

class StoreError : public Error {
 public:
  explicit StoreError(const std::string& message) : Error(ExitStatus::Store, message) {}
};

class OutOfMaterial : public StoreError {
 public:
  explicit OutOfMaterial(const std::string& message) : StoreError(message) {}
};

class Disagreement : public Error {
 public:
  explicit Disagreement(const std::string& message) : Error(ExitStatus::Disagreement, message) {}
};

[[noreturn]] void ensure_failed(const char* condition, const char* file, int line);

}  // namespace tinyot

#define ENSURE(condition)                                                      \
  do {                                                                         \
    if (!(condition)) ::tinyot::ensure_failed(#condition, __FILE__, __LINE__); \
  } while (false)
