// Leaky AND triples on full shares: [x], [y], [z = xy], of which x may leak to either party (Katz,
// Ranellucci, Rosulek, Wang, CRYPTO 2018, section 4; doc/protocol.md, section 10.3). The global
// keys satisfy lsb(Delta^A ^ Delta^B) = 1.
//
// As party P with the global key Delta^P, from random [x], [y], [r]:
//   1. C_P = y_P.Delta^P ^ M[y_P] ^ K[y']                       (C_A ^ C_B = y.(D^A ^ D^B))
//   2. G_P = H(K[x']) ^ H(K[x'] ^ Delta^P) ^ C_P, sent
//   3. S_P = H(M[x_P]) ^ x_P.G ^ H(K[x']) ^ x_P.C_P             (S_A ^ S_B = xy.(D^A ^ D^B))
//   4. z_P = lsb(S_P); d_P = z_P ^ r_P announced; [z] = [r] ^ d_A ^ d_B
//   5. L_P = S_P ^ z_P.Delta^P ^ M[z_P] ^ K[z']; EQ on L_A = L_B, one call over all
//      instances, on the sums of their hashes (crypto/hash_sum.h)
// where D^P is Delta^P.
#pragma once

#include <queue>

#include "base/auth_bits.h"
#include "checks/session.h"
#include "crypto/hash_sum.h"
#include "offline/global_key.h"
#include "offline/nnob12/object_chunks.h"

namespace tinyot::offline {

// One party's halves of shared bits, the same number of each party.
struct SharedView {
  MacColumnView mine;
  KeyColumnView peers;

  std::size_t size() const { return peers.size(); }
  SharedView part(std::size_t first, std::size_t count) const {
    return {mine.part(first, count), peers.subspan(first, count)};
  }
  SharedView part(const ObjectChunk& chunk) const { return part(chunk.first, chunk.count); }
};

// Role: both, symmetric. Each step is called for all chunks in order. The caller chooses how many
// chunks one step lags another, the same number on both sides. One object for all triples that one
// EQ covers.
class LeakyTriples {
 public:
  explicit LeakyTriples(checks::Session& session);

  // Steps 1 and 2. `layer` separates the hash keys of a session's layers, the same on both sides.
  // Shapes: x, y: chunk.count.  Wire: sends 16 bytes per triple.
  void offer(std::uint64_t layer, const ObjectChunk& chunk, const SharedView& x,
             const SharedView& y);
  // Step 3, and the first half of step 4: my r becomes my z.  Wire: receives 16 bytes per triple,
  // sends count / 8.
  void announce(const SharedView& x, const SharedView& r);
  // The second half of step 4, and step 5.  Wire: receives count / 8 bytes.
  void finish(const SharedView& z);

  // For EQ, the same on both sides.
  crypto::Digest check_digest();

 private:
  checks::Session& session_;
  std::queue<SecretVector<Block>> offered_;  // step 3 without G, of chunks whose G has not arrived
  std::queue<SecretVector<Block>> announced_;  // S_P, of chunks whose d has not arrived
  crypto::HashSum sum_;
};

}  // namespace tinyot::offline
