#include "offline/wan/triple_shares.h"

#include "base/error.h"

namespace tinyot::offline {

void share_triples(const SharedView& x, const SharedView& y, const SharedView& z, Delta global_key,
                   std::span<TripleShares> to) {
  ENSURE(x.size() == to.size() && y.size() == to.size() && z.size() == to.size());
  const ScopedSecret<Delta> delta(global_key);
  const auto share = [&](const SharedView& bits, std::size_t i) {
    return mac_share(bits.mine.bit(i), bits.mine.macs[i], bits.peers[i], delta);
  };
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = {share(x, i), share(y, i), share(z, i)};
}

}  // namespace tinyot::offline
