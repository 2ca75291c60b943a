#include "offline/silent/silent_cost.h"

#include <algorithm>
#include <vector>

#include "offline/softspoken/softspoken.h"
#include "offline/softspoken/softspoken_cost.h"
#include "offline/unit/cost.h"

namespace tinyot::offline {
namespace {

// A column of a base is aligned to huge pages.
constexpr std::uint64_t kAlignmentBytes = std::uint64_t{1} << 21;

// Corrections, challenge and digest of an iteration: one direction of each party.
std::uint64_t correction_bytes(const SilentSet& set) {
  return set.trees / kTreesPerKey * (kTreesPerKey * set.depth * sizeof(Block) + kHeaderBytes);
}
constexpr std::uint64_t kChallengeBytes = 48 + kHeaderBytes, kDigestBytes = 32 + kHeaderBytes;

std::uint64_t iteration_bytes(const SilentSet& set) {
  return correction_bytes(set) + kChallengeBytes + kDigestBytes;
}

}  // namespace

std::uint64_t chain_start_bytes(const SilentSet& set, std::uint32_t softspoken_k) {
  return softspoken_bytes(softspoken_k, kStartSet.reserve() + kReferenceBits, kBatchBits) +
         delta_check_bytes() + kCoinTossBytes + iteration_bytes(kStartSet) + iteration_bytes(set);
}

// Step s of the next iteration is taken before output (s - 1).quarter of the one that gives bits.
std::uint64_t chain_step_bytes(const SilentSet& set, std::uint64_t draws) {
  if (draws == 0) return 0;
  const std::uint64_t whole = (draws - 1) / set.net(), rest = (draws - 1) % set.net(),
                      steps = 1 + rest / (set.net() / 512 * kKappa);
  return whole * iteration_bytes(set) + correction_bytes(set) + (steps >= 2 ? kChallengeBytes : 0) +
         (steps >= 3 ? kDigestBytes : 0);
}

std::uint64_t chains_bytes(const SilentSet& set, std::uint32_t softspoken_k,
                           std::span<const std::uint64_t> draws, std::size_t workers) {
  std::vector<std::uint64_t> of_worker(std::min<std::size_t>(workers, draws.size()));
  for (std::size_t unit = 0; unit < draws.size(); ++unit)
    of_worker[unit % of_worker.size()] += draws[unit];
  std::uint64_t bytes = 0;
  for (const std::uint64_t drawn : of_worker)
    bytes += chain_start_bytes(set, softspoken_k) + chain_step_bytes(set, drawn);
  return bytes;
}

// Bases of two iterations, of both directions; leaves, sums and the code's indices are small.
std::uint64_t chain_memory_bytes(const SilentSet& set) {
  const std::uint64_t column = set.reserve() * sizeof(Block) + kAlignmentBytes / 2;
  return 4 * column + 2 * bytes_for(set.reserve()) + 8 * sizeof(Block) * set.leaves() +
         2 * set.trees * set.depth * sizeof(Block);
}

}  // namespace tinyot::offline
