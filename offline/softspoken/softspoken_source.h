// SoftSpokenOT as a source of aBits: checked bits of both directions from the parties' GGM trees,
// batch by batch.
#pragma once

#include "offline/softspoken/softspoken.h"
#include "offline/unit/bit_source.h"

namespace tinyot::offline {

// The cost of one batch of bits.
StageCost cost_of_batch(std::uint32_t softspoken_k);

class SoftSpokenSource;

// Wire, Fails: as SoftSpokenMacHolder and SoftSpokenKeyHolder.
class SoftSpokenStream final : public BitStream {
 public:
  // For fill() and steps. `domain`: as SoftSpokenMacHolder.
  SoftSpokenStream(checks::Session& session, const Trees& trees, std::uint64_t domain,
                   PipelineDepth depth = {})
      : SoftSpokenStream(session, trees, domain, depth, nullptr, 0) {}

  void offer(const BitBatch& batch, const BitViews& views) override {
    mac_holder_.send_corrections(batch, views.mine);
  }
  void accept(const BitBatch& batch, const BitViews& views) override {
    key_holder_.receive_corrections(batch, views.peers);
  }
  void answer(const BitBatch& batch, const BitViews& views) override {
    mac_holder_.answer(batch, views.mine);
  }
  void confirm(const BitBatch& batch, const BitViews&) override { key_holder_.verify(batch); }

 private:
  friend class SoftSpokenSource;
  SoftSpokenStream(checks::Session& session, const Trees& trees, std::uint64_t domain,
                   PipelineDepth depth, SoftSpokenSource* source, std::size_t first);
  void finish(AuthBits& first) override;

  checks::Session& session_;
  SoftSpokenSource* source_;
  SoftSpokenMacHolder mac_holder_;
  SoftSpokenKeyHolder key_holder_;
};

class SoftSpokenSource final : public BitSource {
 public:
  SoftSpokenSource(checks::Session& session, std::uint32_t k, PipelineDepth depth)
      : session_(session), k_(k), depth_(depth) {}

  // Wire: as make_trees, then a batch of bits.
  AuthBits make_reference_bits() override;
  // Role: both. The same; the bits become the reference bits, or are checked against those of an
  // earlier connection.
  void prepare(std::size_t units) override;
  // A stream's first bits are followed by kReferenceBits for the Delta-consistency check.
  std::unique_ptr<BitStream> stream(checks::Session& part, std::size_t unit,
                                    std::size_t wanted) override;

 private:
  friend class SoftSpokenStream;
  checks::Session& session_;
  std::uint32_t k_;
  PipelineDepth depth_;
  Trees trees_;
};

}  // namespace tinyot::offline
