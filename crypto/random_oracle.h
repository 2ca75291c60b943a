// RO: SHA-256 with a domain tag, session id, phase, direction and counter (doc/protocol.md,
// section 2).
//
// For commitments, EQ digests, key derivation and the MAC transcript. The header of every query has
// a fixed form (length-prefixed label, 32 bytes of session, one of direction, 8 of counter), so two
// queries with different headers never hash the same string.
#pragma once

#include <memory>
#include <span>

#include "base/block.h"
#include "base/session_id.h"
#include "crypto/digest.h"
#include "crypto/phases.h"

namespace tinyot::crypto {

// The domain of a query. `direction` is a party ('A', 'B') or both ('*').
struct Domain {
  Phase phase;
  char direction;
  std::uint64_t counter;
};

class RandomOracle {
 public:
  RandomOracle(const SessionId& session, const Domain& domain);
  ~RandomOracle();
  RandomOracle(RandomOracle&&) noexcept;
  RandomOracle& operator=(RandomOracle&&) noexcept;

  // Appends bytes. If there are several inputs of variable length, the caller must make their
  // boundaries unambiguous.
  RandomOracle& absorb(std::span<const std::byte> bytes);
  template <class T>
  RandomOracle& absorb_object(const T& object) {
    return absorb(bytes_of(object));
  }

  // Ends the query. The object may then only be destroyed or assigned to.
  Digest digest();
  // The first 128 bits of the digest, as a key.
  Block block();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot::crypto
