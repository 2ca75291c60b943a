#include "offline/row_hashes.h"

#include <algorithm>

namespace tinyot {

RowHashes::RowHashes(const SessionId& session, const Domain& domain, const PublicSeed& seed,
                     std::size_t rows)
    : key_(expand_key(RandomOracle(session, domain).absorb_object(seed).block())), sums_(rows) {
  std::ranges::fill(sums_, WideBlock{});
}

void RowHashes::begin(std::size_t first_block, std::size_t blocks) {
  chi_.resize(blocks);
  ctr_fill(key_, {first_block, 0}, chi_);
}

}  // namespace tinyot
