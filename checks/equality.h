// EQ: a private equality test of two strings, one held by each party (doc/protocol.md, section
// 3.1).
//
// A balanced password-authenticated key exchange with key confirmation, the digest of the strings
// as the password: CPace (Haase and Labrique, CHES 2019; Abdalla, Haase, Hesse, ASIACRYPT 2021)
// over ristretto255. With D_P the digest of party P:
//
//   D_P = RO("EQ", names and digests of all comparisons)
//   G_P = map_to_group(RO("EQ base", D_P), 64 bytes)
//   1. A -> B: U = a.G_A
//   2. B -> A: V = b.G_B, T_B = RO("EQ confirm B", U, V, b.U)
//   3. A checks T_B against a.V.
//      A -> B: T_A = RO("EQ confirm A", U, V, a.V). B checks T_A against b.U.
//
// All hashes are bound to the connection, its part and a counter. If the digests are equal, so are
// a.V and b.U. Otherwise a cheater learns whether the one digest that it used for its own message
// is the peer's, and nothing that it can test offline: for every other digest there is a scalar
// that gives the same messages. A learns of a difference first, and may close the connection
// instead of reporting it: the unit concerned then stays outstanding (base/risk.h).
//
// Differs: NNOB12's box EQ commits and opens, and its functionality gives both parties both strings
// when they differ. Less leaks here, so the proofs that use the box carry over.
#pragma once

#include <string>
#include <vector>

#include "checks/session.h"
#include "crypto/digest.h"

namespace tinyot::checks {

class EqualityCheck {
 public:
  // `name` names the check in a failure, which does not tell which comparison differs.
  explicit EqualityCheck(std::string name) : name_(std::move(name)) {}

  // Adds a comparison: `digest` is an RO digest of this party's string. Both parties add the same
  // names in the same order.
  void add(std::string name, const crypto::Digest& digest);

  // Adds the comparisons of a protocol that ran in both directions, A's first: `of_mine` is this
  // party's digest of the direction in which it owns the bits, `of_peers` of the other.
  void add_both(Party me, std::string name_of_a, std::string name_of_b,
                const crypto::Digest& of_mine, const crypto::Digest& of_peers);

  // Role: A begins, B responds and confirms, A confirms.
  // Wire: A sends 32 and 32 bytes, B sends 64; 3 messages, however many comparisons there are.
  // Secret: the digests; whether they are equal is public.
  // Timing: constant in the digests.
  // Fails: PeerCheated("EQ of <name>") if anything differs, PeerCheated("EQ point") if the peer's
  // point is not a canonical encoding of an element other than the identity. The session is then
  // revoked.
  void run(Session& session) const;

 private:
  struct Comparison {
    std::string name;
    crypto::Digest digest;
  };
  std::string name_;
  std::vector<Comparison> comparisons_;
};

}  // namespace tinyot::checks
