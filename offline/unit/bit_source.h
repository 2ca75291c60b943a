// Where a profile's authenticated bits come from. A source belongs to a connection, on which it is
// set up once, and may keep state from unit to unit. Each unit has a stream of its bits.
#pragma once

#include <memory>

#include "base/auth_bits.h"
#include "checks/session.h"
#include "offline/global_key.h"
#include "offline/unit/steps.h"

namespace tinyot::offline {

// Bits that are made together, the same number of each direction. How, only its stream knows.
struct BitBatch {
  std::size_t number;  // within the stream
  std::size_t bits;
};
// Where the bits of a batch go: batch.bits in each direction; each view but the last has a multiple
// of 64.
struct BitViews {
  std::span<const MacColumnView> mine;
  std::span<const KeyColumnView> peers;
};

// Role: both, symmetric; each party is MAC holder of its own bits and key holder of the peer's.
class BitStream {
 public:
  virtual ~BitStream() = default;

  // Makes the stream's first bits, at least those that were wanted, which may be used on return;
  // those behind them are the source's. Memory that already has the right size is used again.
  // Fails: as the source, also if the bits are not under the session's global keys.
  void make(AuthBits& bits);

  // Fills the views with further bits, which may be used on return.
  void fill(MacColumnView mine, KeyColumnView peers);

  // The same in steps, for callers that interleave them with their own. Each step is called for all
  // batches in order, with the same views; the caller chooses by how many batches it follows the
  // step before it, the same number on both sides. Then the batch's bits may be used. The MAC
  // holder offers, the key holder accepts; the MAC holder answers what the key holder asks, and the
  // key holder confirms.
  BitBatch next(std::size_t bits) { return {number_++, bits}; }
  virtual void offer(const BitBatch& batch, const BitViews& views) = 0;
  virtual void accept(const BitBatch& batch, const BitViews& views) = 0;
  virtual void answer(const BitBatch& batch, const BitViews& views) = 0;
  virtual void confirm(const BitBatch& batch, const BitViews& views) = 0;

  // Of the largest batch.
  const StageCost& cost_of_batch() const { return cost_of_batch_; }

 protected:
  // `first`: the bits that make() makes.
  BitStream(std::size_t first, std::size_t largest_batch, const StageCost& cost_of_batch,
            PipelineDepth depth)
      : first_(first), largest_batch_(largest_batch), cost_of_batch_(cost_of_batch), depth_(depth) {
  }

 private:
  // Checks that the first bits are under the session's global keys, and takes what is the source's.
  virtual void finish(AuthBits& first) = 0;

  std::size_t first_, largest_batch_;
  StageCost cost_of_batch_;
  PipelineDepth depth_;
  std::size_t number_ = 0;
};

class BitSource {
 public:
  virtual ~BitSource() = default;

  // Sets the reference bits of an earlier connection: kReferenceBits bits of each direction. Call
  // it before prepare.
  virtual void set_reference_bits(AuthBits reference) {
    delta_check_.set_reference_bits(std::move(reference));
  }
  // Null before the first bits are made.
  virtual const AuthBits* reference() const { return delta_check_.reference(); }

  // Makes only reference bits: kReferenceBits of each direction.
  virtual AuthBits make_reference_bits() = 0;

  // Makes what the streams of so many units share, on the session's own channel.
  virtual void prepare(std::size_t units) = 0;

  // Role: both. Called by each worker before its first unit, on its channel; `log` is used until
  // its last unit. What it takes costs no unit if the peer breaks it off.
  virtual void begin_worker(std::size_t /*worker*/, net::Channel&, net::PhaseLog&) {}

  // The bits of a unit in its own part of the session. Streams with different numbers may be used
  // by different threads.
  virtual std::unique_ptr<BitStream> stream(checks::Session& part, std::size_t unit,
                                            std::size_t wanted) = 0;

  // May be called from any thread: a call that waits for another unit's stream ends with
  // WorkerStopped.
  virtual void stop() noexcept {}

 protected:
  // Compares kReferenceBits bits of each direction with the reference bits. The first ones of a
  // session become the reference bits: there is nothing yet that they could differ from.
  void check_delta(checks::Session& session, MacColumnView mine, KeyColumnView peers);

 private:
  DeltaConsistency delta_check_;
};

AuthBits copy_of(MacColumnView mine, KeyColumnView peers);

}  // namespace tinyot::offline
