// OT extension: any number of oblivious transfers of 128-bit strings, one way, from two parties'
// GGM trees; actively secure. In each OT the sender has two strings; the receiver gets the one that
// its choice bit selects and learns nothing about the other; the sender learns nothing about the
// choice.
//
//   both      const Trees trees = make_trees(session, 2);  // once per session; 128 OTs each way
//   sender    OtExtensionSender sender(session, trees.peers, 0);     sender.chosen(m0, m1);
//   receiver  OtExtensionReceiver receiver(session, trees.mine, 0);  receiver.chosen(choices,
//   messages);
//
// Inputs and outputs of each kind, and the bytes per OT that the sender sends:
//
//   kind              sender: in, out                     receiver: in, out         bytes
//   delta_correlated  -,       x0 (x1 = x0 ^ Delta)       -,       choices, x_c     0
//   random            -,       x0, x1                     -,       choices, x_c     0
//   random_for        -,       x0, x1                     choices, x_c              0
//   correlated        offsets, x0 (x1 = x0 ^ offset)      choices, x_c              16
//   chosen            m0, m1,  -                          choices, m_c              32
//
// Delta is the sender's global key in the session: both strings of one delta_correlated OT reveal
// all strings of the session.
//
// Sources: Asharov, Lindell, Schneider, Zohner, J. Cryptology 2017, for the kinds (R-OT; C-OT with
// x -> x ^ offset; G-OT); Roy, CRYPTO 2022, for the correlation under them
// (offline/softspoken/softspoken: the sender is its key holder, the receiver its MAC holder); Guo,
// Katz, Wang, Yu, S&P 2020, for H. With M = K ^ u.Delta of SoftSpoken and d = c ^ u: the pad of x_b
// is H(i, K ^ (d ^ b).Delta), and the receiver's is H(i, M). Differs: the choices are not an input
// of the extension, whose bits u are random; afterwards d, one bit per OT, turns u into the
// choices.
//
// Both sides make the same calls in the same order with the same counts; a count may be 0. A call
// works batch by batch; one batch is in flight while the next is made. Its last batch is rounded up
// to a multiple of 128 OTs.
// Wire, with N = 128 / k trees: the receiver sends (N - 1) / 8 bytes per OT, and 1 bit more if it
// has choices; the sender sends the bytes of the table. In addition, for a batch of kBatchBits OTs:
// (N - 1) 16 + 2064 bytes to the sender, 32 to the receiver, and 16 per message.
// Rounds: a batch takes 1, or 2 for correlated and chosen; neighbouring batches overlap, two
// batches per round trip.
// Fails: PeerCheated("SoftSpoken check") at the sender, ("framing") at both; as Channel::send and
// recv. The session must then be revoked: neither its trees nor Delta may be used again. The
// contents of the caller's spans are undefined after a failed call.
// Secret: all strings, choices and Delta. Timing: constant in them; it depends on k and the counts.
//
// Security against a cheating peer: nothing made from a batch is used before the batch's check:
// hashes, messages and the caller's spans are written after SoftSpokenKeyHolder::verify, or
// SoftSpokenMacHolder::answer. A receiver that deviates and passes has guessed bits of Delta, with
// probability 1/2 per bit. A peer may influence the distribution of its own random strings and
// choices; the values hidden from it are uniform in its view. The messages of correlated and chosen
// are masked, not authenticated: a wrong block amounts to a different string of the sender, and if
// the receiver's reaction to a wrong string is observable, it reveals the choice. A wrong d amounts
// to a different choice.
#pragma once

#include "offline/softspoken/ggm_trees.h"
#include "offline/softspoken/softspoken.h"

namespace tinyot::offline {

// Role: sender. Shapes: all spans of a call have equal length.
class OtExtensionSender {
 public:
  // `domain` is below 2^32, the same on both sides, and unique among all users of the trees of one
  // direction.
  OtExtensionSender(checks::Session& session, const PuncturedTrees& trees, std::uint64_t domain);

  void delta_correlated(KeyColumnView x0);
  void random(std::span<Block> x0, std::span<Block> x1);
  void random_for(std::span<Block> x0, std::span<Block> x1);
  void correlated(std::span<const Block> offsets, std::span<Block> x0);
  void chosen(std::span<const Block> m0, std::span<const Block> m1);

 private:
  template <class Use>
  void stream(std::size_t count, Use use);

  checks::Session& session_;
  SoftSpokenKeyHolder key_holder_;
  std::uint64_t domain_;
  std::size_t batches_ = 0;  // so far
  KeyColumn waiting_;        // keys whose batches have not been checked
};

// Role: receiver.
class OtExtensionReceiver {
 public:
  OtExtensionReceiver(checks::Session& session, const FullTrees& trees, std::uint64_t domain);

  void delta_correlated(MacColumnView x);
  void random(BitVector& choices, std::span<Block> x);
  void random_for(const BitVector& choices, std::span<Block> x);
  void correlated(const BitVector& choices, std::span<Block> x);
  void chosen(const BitVector& choices, std::span<Block> m);

 private:
  template <class Use, class Finish>
  void stream(std::size_t count, Use use, Finish finish);
  template <class Finish>
  void stream_for(const BitVector& choices, std::span<Block> x, Finish finish);

  checks::Session& session_;
  SoftSpokenMacHolder mac_holder_;
  std::uint64_t domain_;
  std::size_t batches_ = 0;
  MacColumn waiting_;  // bits whose challenges have not been answered
};

}  // namespace tinyot::offline
