// Silent authenticated bits as a source for the units of a job: a chain for each worker, which
// gives them to the worker's units in order. So which bits a unit has depends on the number of
// workers.
//
// There is no check of the global key in a unit: the chain's start is compared with the session's
// reference bits, and each iteration with the bits before it.
#pragma once

#include <memory>
#include <vector>

#include "offline/silent/silent_source.h"
#include "offline/softspoken/softspoken_source.h"

namespace tinyot::offline {

// The cost of a batch of bits.
inline constexpr StageCost kCostOfDraw{
    .time = std::chrono::microseconds(600), .bytes = 0, .depth = 1};

class SilentChains final : public BitSource {
 public:
  // Worker w of `workers` makes units w, w + workers, ..., all on one channel.
  SilentChains(checks::Session& session, std::uint32_t softspoken_k, const SilentSet& set,
               PipelineDepth depth, std::size_t workers)
      : session_(session), start_(session, softspoken_k, depth), set_(set), chains_(workers) {}

  void set_reference_bits(AuthBits reference) override {
    start_.set_reference_bits(std::move(reference));
  }
  const AuthBits* reference() const override { return start_.reference(); }
  AuthBits make_reference_bits() override { return start_.make_reference_bits(); }
  void prepare(std::size_t units) override { start_.prepare(units); }

  // Makes the worker's chain. Wire, Fails: as SilentSource.
  void begin_worker(std::size_t worker, net::Channel& channel, net::PhaseLog& log) override;
  // Wire: as SilentSource::draw, when a batch is confirmed. Fails: as SilentSource.
  std::unique_ptr<BitStream> stream(checks::Session& part, std::size_t unit,
                                    std::size_t wanted) override;

 private:
  checks::Session& session_;
  SoftSpokenSource start_;
  SilentSet set_;
  struct Chain {
    bool has_begun = false;
    std::unique_ptr<SilentSource> source;
  };
  std::vector<Chain> chains_;  // each used by its worker's thread only
};

}  // namespace tinyot::offline
