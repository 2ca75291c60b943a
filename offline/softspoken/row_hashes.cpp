#include "offline/softspoken/row_hashes.h"

#include <algorithm>

namespace tinyot::offline {

RowHashes::RowHashes(const SessionId& session, const crypto::Domain& domain,
                     const crypto::PublicSeed& seed, std::size_t rows)
    : key_(crypto::expand_key(crypto::RandomOracle(session, domain).absorb_object(seed).block())),
      sums_(rows) {
  std::ranges::fill(sums_, crypto::WideBlock{});
}

void RowHashes::begin(std::size_t first_block, std::size_t blocks) {
  chi_.resize(blocks);
  crypto::ctr_fill(key_, {first_block, 0}, chi_);
}

}  // namespace tinyot::offline
