#include "offline/softspoken/softspoken_source.h"

#include "base/error.h"

namespace tinyot::offline {

StageCost cost_of_batch(std::uint32_t softspoken_k) {
  constexpr std::size_t kAnswerBytes = (1 + kKappa) * sizeof(Block);
  return {.time = std::chrono::microseconds(150),
          .bytes = (kKappa / softspoken_k - 1) * (kBatchBits + kKappa) / 8 + kAnswerBytes,
          .depth = 1};
}

SoftSpokenStream::SoftSpokenStream(checks::Session& session, const Trees& trees,
                                   std::uint64_t domain, PipelineDepth depth,
                                   SoftSpokenSource* source, std::size_t first)
    : BitStream(first, kBatchBits, offline::cost_of_batch(trees.mine.shape.k), depth),
      session_(session), source_(source), mac_holder_(session, trees.mine, domain),
      key_holder_(session, trees.peers, domain) {}

void SoftSpokenStream::finish(AuthBits& first) {
  ENSURE(source_ != nullptr);
  const std::size_t wanted = first.mine.size() - kReferenceBits;
  source_->check_delta(session_, first.mine.view(wanted, kReferenceBits),
                       first.peers.view(wanted, kReferenceBits));
}

// Uses a domain that is not used by any unit.
AuthBits SoftSpokenSource::make_reference_bits() {
  trees_ = make_trees(session_, k_);
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "plain bits",
                                   kReferenceBits);
  AuthBits first{MacColumn(kReferenceBits), KeyColumn(kReferenceBits)};
  SoftSpokenStream(session_, trees_, ~std::uint64_t{0}).fill(first.mine.view(), first.peers.view());
  return first;
}

void SoftSpokenSource::prepare(std::size_t) {
  AuthBits first = make_reference_bits();
  check_delta(session_, first.mine.view(), first.peers.view());
}

std::unique_ptr<BitStream> SoftSpokenSource::stream(checks::Session& part, std::size_t unit,
                                                    std::size_t wanted) {
  return std::unique_ptr<BitStream>(new SoftSpokenStream(part, trees_, unit, depth_, this,
                                                         whole_blocks(wanted) + kReferenceBits));
}

}  // namespace tinyot::offline
