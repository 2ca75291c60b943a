// Leaky AND triples on full shares: [x], [y], [z = xy], of which x may leak to either party (Katz, Ranellucci, Rosulek, Wang,
// CRYPTO 2018, section 4; PROTOCOL section 10). The global keys satisfy lsb(Delta_A ^ Delta_B) = 1.
//
// As party P with the global key Delta^P, from random [x], [y], [r]:
//   1. C_P = y_P.Delta^P ^ M[y_P] ^ K[y']                       (C_A ^ C_B = y.(Delta_A ^ Delta_B))
//   2. G_P = H(K[x']) ^ H(K[x'] ^ Delta^P) ^ C_P, sent
//   3. S_P = H(M[x_P]) ^ x_P.G ^ H(K[x']) ^ x_P.C_P             (S_A ^ S_B = xy.(Delta_A ^ Delta_B))
//   4. z_P = lsb(S_P); d_P = z_P ^ r_P announced; [z] = [r] ^ d_A ^ d_B
//   5. L_P = S_P ^ z_P.Delta^P ^ M[z_P] ^ K[z']; EQ on L_A = L_B, one call over all instances, on the sums of their hashes
//      (crypto/hash_sum.h)
//
// Steps 1 to 3 are HalfProducts, steps 4 and 5 ProductBits: with the check deferred, the latter are made once a bucket. With short
// strings G, S and L have 64 bits: their lower halves. doc/fast_profile.md has the arguments for both.
#pragma once

#include "base/auth_bits.h"
#include "base/parameters.h"
#include "checks/session.h"
#include "crypto/hash_sum.h"
#include "offline/object_chunks.h"

namespace tinyot {

// One party's halves of equally many shared bits.
struct SharedView {
  MineView mine;
  PeersView peers;

  std::size_t size() const { return peers.size(); }
  SharedView part(std::size_t first, std::size_t count) const { return {mine.part(first, count), peers.subspan(first, count)}; }
  SharedView part(const ObjectChunk& chunk) const { return part(chunk.first, chunk.count); }
};

// Whether a party's global key has the low bit that its role asks for: 1 for B's (which authenticates A's bits), 0 for A's.
bool fits_triples(const Session& session);
Delta fitted_to_triples(Delta key, Party me);

// Role: both, symmetric. Each step is called for all chunks in order; how many chunks one step is behind another is the caller's
// choice, the same on both sides.
class HalfProducts {
 public:
  // `layer` keeps the hashes of several layers of a session apart, alike on both sides.
  HalfProducts(Session& session, std::uint64_t layer, StringBits strings);

  // Steps 1 and 2. Shapes: x, y, s: chunk.count; s becomes what step 3 has without G.  Wire: sends 16 bytes an object, 8 of short ones.
  void offer(const ObjectChunk& chunk, const SharedView& x, const SharedView& y, std::span<Block> s);
  // Step 3: s becomes S_P.  Wire: receives as much.
  void receive(const ObjectChunk& chunk, const SharedView& x, std::span<Block> s);

 private:
  Session& session_;
  std::uint64_t layer_;
  StringBits strings_;
};

// Role: both, symmetric; called as HalfProducts. One for all that one EQ covers, one of a session part.
class ProductBits {
 public:
  ProductBits(Session& session, StringBits strings);

  // Step 4, first half: my r becomes my z.  Wire: sends count / 8 bytes.
  void announce(std::span<const Block> s, const SharedView& r);
  // Step 4, second half, and step 5: s becomes L_P.  Wire: receives count / 8 bytes.
  void finish(std::span<Block> s, const SharedView& z);

  // For EQ, the same on both sides.
  Digest check_digest();

 private:
  Session& session_;
  StringBits strings_;
  HashSum sum_;
};

}  // namespace tinyot
