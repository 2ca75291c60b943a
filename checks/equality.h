// EQ: compare two strings that each party holds one of, by commit and open (PROTOCOL section 3; box EQ of NNOB12 section 2).
//
// Several comparisons that fall due together share the three messages; each keeps its own digest and name.
#pragma once

#include <string>
#include <vector>

#include "checks/session.h"
#include "crypto/digest.h"

namespace tinyot {

class EqualityCheck {
 public:
  // Adds a comparison: `digest` is an RO digest of this party's string, `name` what a failure is called. Both parties add the
  // same names in the same order.
  void add(std::string name, const Digest& digest);

  // Adds the comparisons of a protocol that ran in both directions, A's first: `of_mine` is this party's digest of the direction
  // in which it owns the bits, `of_peers` of the other.
  void add_both(Party me, std::string name_of_a, std::string name_of_b, const Digest& of_mine, const Digest& of_peers);

  // Role: A commits, B answers, A opens.
  // Wire: A sends 32 and (32 n + 32) bytes, B sends 32 n; 3 messages.
  // Fails: PeerCheated("EQ of <name>") for the first comparison that differs, PeerCheated("EQ commitment") if A's opening is
  // not what it committed to. The session is dead then.
  void run(Session& session);

 private:
  struct Comparison {
    std::string name;
    Digest digest;
  };
  std::vector<Comparison> comparisons_;
};

}  // namespace tinyot
