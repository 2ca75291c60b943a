// Silent authenticated bits: an iteration of one direction (Ferret: Yang, Weng, Lan, Zhang, Wang,
// CCS 2020; doc/protocol.md, section 17). It turns set.reserve() authenticated bits of the MAC
// holder, the base, into set.outputs() pseudorandom ones.
//
// Four steps with three messages:
//   1. correct    The key holder sends c = K[r] ^ L for each level of each tree, L the sum of the
//                 level's left nodes.
//   2. challenge  The MAC holder, when all corrections have arrived, sends a seed of chi and psi =
//                 sum of chi at the noise places ^ sum x*_i.X^i.
//   3. answer     The key holder sends RO of V = sum chi_y.v_y ^ sum X^i.K[x*_i] ^ psi.Delta.
//   4. verify     The MAC holder compares it with RO of W = sum chi_y.w_y ^ sum X^i.M[x*_i].
//
// Leaves are not kept: 2^d of them are expanded again whenever they are needed.
//
// A cheating key holder passes if it has guessed a set of places for the noise of some trees; if it
// has, the outputs have MACs under keys that it knows. A cheating MAC holder can only send a wrong
// psi, which it can check if it guesses Delta.
#pragma once

#include <utility>
#include <vector>

#include "base/auth_bits.h"
#include "checks/session.h"
#include "crypto/digest.h"
#include "crypto/gf128.h"
#include "crypto/public_coins.h"
#include "offline/silent/half_tree.h"
#include "offline/silent/parameter_sets.h"
#include "offline/silent/sparse_code.h"

namespace tinyot::offline {

// An iteration of a chain: `number` is unique within the session's part, and the coins of the code
// are tossed once for the part, before the first correction.
struct SilentIteration {
  SilentSet set;
  std::uint64_t number;
  crypto::PublicSeed coins;
};

// What both roles derive from public values, for the bits of `mac_holder`.
struct SilentDirection {
  SilentDirection(const checks::Session& session, Party mac_holder,
                  const SilentIteration& iteration);

  const HalfTreeKey& key_of(std::size_t tree) const { return keys[tree / kTreesPerKey]; }
  std::size_t secret() const { return set.secret(); }
  std::size_t levels_at(std::size_t tree) const { return secret() + tree * set.depth; }
  std::size_t mask_at() const { return levels_at(set.trees); }

  SilentSet set;
  std::uint64_t iteration;
  Party mac_holder;
  std::vector<HalfTreeKey> keys;
  SparseCode code;
};

// The coefficients chi_y = a_(y / 128).b_(y % 128) of the check.
class SilentCheck {
 public:
  SilentCheck() = default;
  SilentCheck(const checks::Session& session, const SilentDirection& direction,
              const crypto::PublicSeed& seed);

  // sum += chi_y.  Timing: constant in y.
  void add_at(std::uint64_t y, crypto::WideBlock& sum) const;
  // sum += sum of chi_y.blocks[y - first].  Shapes: first and blocks.size(): multiples of 128.
  void add(std::uint64_t first, std::span<const Block> blocks, crypto::WideBlock& sum);

 private:
  crypto::AesKey key_;
  std::vector<Block> b_, a_;      // a_: of the last call
  SecretVector<Block> segments_;  // for reuse
};

// Role: MAC holder.
class SilentMacHolder {
 public:
  // Shapes: base: set.reserve() bits that are used for nothing else.
  SilentMacHolder(checks::Session& session, const SilentIteration& iteration, MacColumn base);

  // Step 2.  Wire: receives trees / 128 messages of 2048 d bytes, sends 48 bytes.
  void challenge();
  // Step 4.  Wire: receives 32 bytes.  Timing: constant in the noise places.
  // Fails: PeerCheated("silent check").
  void verify();
  // Outputs from `first` on, after step 4.  Shapes: first and out.size(): multiples of 128.
  // Timing: constant in the noise places.
  void make(std::size_t first, MacColumnView out);
  // After the last output: the base, in whose memory the next one is made.
  MacColumn spent_base() { return std::move(base_); }

 private:
  std::size_t place_in(std::size_t tree) const;
  void expand(std::size_t tree);

  checks::Session& session_;
  SilentDirection direction_;
  MacColumn base_;
  SecretVector<Block> sides_;  // for each tree and level, of the nodes off the path
  SilentCheck check_;
  SecretVector<Block> leaves_;
  std::size_t expanded_;  // the tree whose leaves these are
  bool is_verified_ = false;
};

// Role: key holder.
class SilentKeyHolder {
 public:
  SilentKeyHolder(checks::Session& session, const SilentIteration& iteration, KeyColumn base);

  // Step 1.  Wire: sends trees / 128 messages of 2048 d bytes.
  void correct();
  // Step 3.  Wire: receives 48 bytes, sends 32.
  void answer();
  // Outputs from `first` on, after step 3.  Shapes: as for the other role.
  void make(std::size_t first, KeyColumnView out);
  KeyColumn spent_base() { return std::move(base_); }

 private:
  void expand(std::size_t tree);

  checks::Session& session_;
  SilentDirection direction_;
  KeyColumn base_;
  SecretVector<Block> roots_;
  SecretVector<Block> leaves_, left_sums_;
  std::size_t expanded_;
  bool has_answered_ = false;
};

}  // namespace tinyot::offline
