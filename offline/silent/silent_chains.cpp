#include "offline/silent/silent_chains.h"

#include <utility>

#include "base/error.h"

namespace tinyot::offline {
namespace {

// Bits are drawn when their batch is confirmed, the last step before they are used.
class SilentStream final : public BitStream {
 public:
  SilentStream(SilentSource& chain, std::size_t first)
      : BitStream(first, kBatchBits, kCostOfDraw, {}), chain_(chain) {}

  void offer(const BitBatch&, const BitViews&) override {}
  void accept(const BitBatch&, const BitViews&) override {}
  void answer(const BitBatch&, const BitViews&) override {}
  void confirm(const BitBatch&, const BitViews& views) override {
    for (std::size_t i = 0; i < views.mine.size(); ++i) chain_.draw(views.mine[i], views.peers[i]);
  }

 private:
  void finish(AuthBits&) override {}

  SilentSource& chain_;
};

}  // namespace

// A number makes one chain in a session: a second one would repeat the keys and secrets of the
// first.
void SilentChains::begin_worker(std::size_t worker, net::Channel& channel, net::PhaseLog& log) {
  Chain& chain = chains_.at(worker);
  ENSURE(!std::exchange(chain.has_begun, true));
  chain.source = std::make_unique<SilentSource>(session_, worker, channel, log, start_, set_);
}

std::unique_ptr<BitStream> SilentChains::stream(checks::Session&, std::size_t unit,
                                                std::size_t wanted) {
  const Chain& chain = chains_[unit % chains_.size()];
  ENSURE(chain.source != nullptr);
  return std::make_unique<SilentStream>(*chain.source, whole_blocks(wanted));
}

}  // namespace tinyot::offline
