// Leaky AND triples on full shares: [x], [y], [z] with z = xy, of which x may leak to either party (Katz, Ranellucci, Rosulek, Wang,
// CRYPTO 2018, there "leaky AND"; PROTOCOL section 10).
//
// [x] = [x_A | x_B]: each party holds its own bit with a MAC and the key of the peer's. Delta^P is the global key under which party P
// checks the peer; lsb(Delta^A ^ Delta^B) = 1, so the low bits of the S_P are shares of z. The third bit [r] becomes [z] in place.
#pragma once

#include <queue>

#include "base/auth_bits.h"
#include "checks/session.h"
#include "crypto/random_oracle.h"
#include "offline/object_chunks.h"

namespace tinyot {

// One party's halves of equally many shared bits.
struct SharedView {
  MineView mine;
  PeersView peers;

  std::size_t size() const { return peers.size(); }
  SharedView part(std::size_t first, std::size_t count) const { return {mine.part(first, count), peers.subspan(first, count)}; }
};

// Whether a party's global key has the low bit that its role asks for: 1 for B's (which authenticates A's bits), 0 for A's.
bool fits_triples(const Session& session);
Delta fitted_to_triples(Delta key, Party me);

// Role: both, symmetric. Each step is called for all chunks in order; how many chunks one step is behind another is the caller's
// choice, the same on both sides.
class LeakyTriples {
 public:
  // Shapes: x, y, r equally long. `batch` keeps the hashes of several such objects of a session apart, alike on both sides.
  LeakyTriples(Session& session, std::uint64_t batch, SharedView x, SharedView y, SharedView r);

  // Steps 1 and 2: sends G_P = H(K[x']) ^ H(K[x'] ^ Delta^P) ^ C_P, x' being the peer's x.  Wire: sends 16 count bytes.
  void offer(const ObjectChunk& chunk);
  // Steps 3 and 4: receives G, finds z_P = lsb(S_P), announces d_P = z_P ^ r_P.  Wire: receives 16 count bytes, sends count / 8.
  void announce(const ObjectChunk& chunk);
  // Steps 4 and 5: receives d, turns r into z, digests L_P.  Wire: receives count / 8 bytes.
  void finish(const ObjectChunk& chunk);

  // Step 5: for EQ, the same string on both sides.
  Digest check_digest() { return digest_.digest(); }

 private:
  Session& session_;
  std::uint64_t batch_;
  SharedView x_, y_, z_;
  std::queue<SecretVector<Block>> offered_;   // H(K[x']) ^ x.C_P of the chunks that wait for G
  std::queue<SecretVector<Block>> announced_;  // S_P of the chunks that wait for d
  RandomOracle digest_;
};

}  // namespace tinyot
