#include "offline/softspoken/softspoken_cost.h"

#include <charconv>

#include "base/error.h"
#include "crypto/public_coins.h"
#include "crypto/random_oracle.h"
#include "offline/base_ot/base_ot.h"
#include "offline/softspoken/softspoken.h"
#include "offline/unit/cost.h"

namespace tinyot::offline {

std::uint64_t softspoken_bytes(std::uint32_t k, std::uint64_t bits, std::uint64_t batch) {
  const std::uint64_t batches = chunks_in(bits, batch), trees = kKappa / k;
  return (trees - 1) * (bits + batches * kKappa) / 8 +
         batches * (sizeof(crypto::PublicSeed) + (1 + kKappa) * sizeof(Block) + 3 * kHeaderBytes);
}

std::uint64_t softspoken_set_up_bytes(std::uint32_t k, BaseOt base_ot) {
  const std::uint64_t trees = kKappa / k;
  return base_ot_bytes(base_ot) * kKappa + trees * 2 * (k - 1) * sizeof(Block) +
         trees * 2 * sizeof(crypto::Digest) + 4 * kHeaderBytes +
         softspoken_bytes(k, kReferenceBits, kReferenceBits);
}

std::uint32_t softspoken_k_in(const NamedValue& given) {
  std::uint32_t k = 0;
  const char* const end = given.value.data() + given.value.size();
  const auto read = std::from_chars(given.value.data(), end, k);
  if (read.ec != std::errc() || read.ptr != end || !is_tree_depth(k))
    throw UsageError(given.name + " " + given.value + " is not 1, 2 or 4");
  return k;
}

}  // namespace tinyot::offline
