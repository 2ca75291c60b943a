// A chain of silent authenticated bits of both directions, on one connection (doc/protocol.md,
// section 17.5). It starts with SoftSpoken bits, which are checked to be under the session's global
// keys; from each iteration the next one takes its base.
//
// A chain ends with its connection, and nothing of it is stored. A chain whose connection or check
// has failed gives nothing more.
#pragma once

#include <memory>

#include "offline/silent/silent_bits.h"
#include "offline/unit/bit_source.h"

namespace tinyot::offline {

class SilentSource {
 public:
  // Role: both. Makes the first two iterations, the second of `set`. `start`, prepared, makes the
  // first base as its stream `number`; `number` is the same on both sides and unique among the
  // session's chains and what else takes streams of `start`.
  // Wire: as the start's bits and the Delta-consistency check; a coin toss; two iterations, each a
  // direction as SilentMacHolder and SilentKeyHolder.
  // Fails: as start; PeerCheated("coin toss", "silent check").
  SilentSource(const checks::Session& session, std::uint64_t number, net::Channel& channel,
               net::PhaseLog& log, BitSource& start, const SilentSet& set);

  // The next bits, the same number of each direction, which may be used on return. Both parties
  // draw the same numbers in the same order; a step of the next iteration is taken when so many
  // bits of this one are given out, so that its messages are on their way meanwhile. Shapes:
  // multiples of 128.  Wire: the next iteration's steps.  Fails: PeerCheated("silent check").
  void draw(MacColumnView mine, KeyColumnView peers);

  // Iterations begun, of each direction.
  std::uint64_t iterations() const { return begun_; }

 private:
  // Of both directions.
  struct Iteration {
    Iteration(checks::Session& session, const SilentIteration& shape, AuthBits base)
        : set(shape.set), mine(session, shape, std::move(base.mine)),
          peers(session, shape, std::move(base.peers)) {}

    SilentSet set;
    SilentMacHolder mine;
    SilentKeyHolder peers;
    std::size_t steps = 0;  // taken
  };
  static constexpr std::size_t kSteps = 4;

  void begin(const SilentSet& set, AuthBits base);
  void take_step();
  void take_all_steps();
  void make_base(Iteration& from, AuthBits& base) const;
  void roll();

  checks::Session part_;
  SilentSet set_;
  crypto::PublicSeed coins_;
  bool has_failed_ = false;
  std::uint64_t begun_ = 0;
  std::unique_ptr<Iteration> current_;  // gives out its outputs
  std::unique_ptr<Iteration> next_;     // is made meanwhile
  std::size_t at_ = 0;                  // of current_'s outputs, those given out
};

}  // namespace tinyot::offline
