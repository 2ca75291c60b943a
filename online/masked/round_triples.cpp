#include "online/masked/round_triples.h"

#include <algorithm>

#include "base/block_sums.h"

namespace tinyot::online {

TripleBlocksOf::TripleBlocksOf(const material::Slices& triples) : triples_(&triples) {
  std::size_t end = 0;
  for (const material::Slice& slice : triples) ends_.push_back(end += slice.count);
}

TripleBlocksOf::Run TripleBlocksOf::at(std::size_t entry, std::size_t count) const {
  const std::size_t slice =
      static_cast<std::size_t>(std::ranges::upper_bound(ends_, entry) - ends_.begin());
  const material::Slice& from = (*triples_)[slice];
  const std::size_t at = from.from + from.count - (ends_[slice] - entry);
  Run run{{}, std::min(count, ends_[slice] - entry)};
  for (std::size_t column = 0; column < run.columns.size(); ++column)
    run.columns[column] = &from.batch->shares[column].macs[at].value;
  return run;
}

void TripleBlocksOf::add_factor(std::size_t operand, std::size_t entry, std::span<const Block> from,
                                Block* to) const {
  for (std::size_t done = 0; done < from.size();) {
    const Run run = at(entry + done, from.size() - done);
    xor_blocks(from.subspan(done, run.count), run.columns[operand], to + done);
    done += run.count;
  }
}

RoundTriples::RoundTriples(const material::Slices& triples)
    : blocks(triples), bits{bits_of(triples, shared_bits, 0), bits_of(triples, shared_bits, 1),
                            bits_of(triples, shared_bits, 2)} {}

}  // namespace tinyot::online
