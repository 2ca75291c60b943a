#include "circuitgen/generators/compaction.h"

#include <bit>
#include <utility>

#include "base/error.h"
#include "tinyot/circuit/operators.h"

namespace tinyot::circuit {
namespace {

Bits extended(BitSpan x, std::size_t width) {
  Bits result(x.begin(), x.end());
  result.resize(width);
  return result;
}

// x + y in `width` bits, at least as many as x and y have.
Bits sum_in(std::size_t width, BitSpan x, BitSpan y) {
  Bits sum(width);
  add(sum, extended(x, width), extended(y, width));
  return sum;
}

// Entry i is 1 if i >= t, for i < length <= 2^t.size(): at most length - 1 ANDs.
Bits at_least(BitSpan t, std::size_t length) {
  if (t.empty()) return {Bit(true)};
  const std::size_t half = std::size_t{1} << (t.size() - 1);
  const Bit& top = t.back();
  Bits result = at_least(t.first(t.size() - 1), std::min(half, length));
  result.resize(length);
  for (std::size_t i = 0; i < std::min(half, length); ++i) {
    const Bit both = top & result[i];
    if (half + i < length) result[half + i] = ~(top ^ both);
    result[i] ^= both;
  }
  return result;
}

// A block of 2^levels integers from `first` on; node v of level j has those from first + v . 2^j
// on. Its marked integers move to consecutive places within the node, the first one to place
// offset, modulo 2^j.
class CompactedBlock {
 public:
  CompactedBlock(std::size_t first, BitSpan marks) : first_(first), counts_(1) {
    for (const Bit& mark : marks) counts_[0].push_back({mark});
    for (std::size_t j = 1; std::size_t{1} << j <= marks.size(); ++j) {
      const std::vector<Bits>& halves = counts_.back();
      std::vector<Bits> sums;
      for (std::size_t v = 0; v < halves.size(); v += 2)
        sums.push_back(sum_in(j + 1, halves[v], halves[v + 1]));
      counts_.push_back(std::move(sums));
    }
  }

  const Bits& count() const { return counts_.back()[0]; }

  // OROffCompact, one level at a time: the offsets from the root to the leaves, then the exchanges
  // from the leaves to the root.
  void move(Columns& values, Bits offset) && {
    const std::size_t levels = counts_.size() - 1;
    std::vector<Bits> offsets = {std::move(offset)};
    std::vector<Exchanges> exchanges(levels + 1);
    for (std::size_t j = levels; j > 0; --j) {
      std::vector<Bits> next;
      for (std::size_t v = 0; v < offsets.size(); ++v) {
        const BitSpan low = BitSpan(offsets[v]).first(j - 1);
        // The end of the left half's marked integers.
        Bits end = sum_in(j, low, counts_[j - 1][2 * v]);
        exchanges[j].wraps.push_back(end.back() ^ offsets[v].back());
        end.pop_back();
        next.emplace_back(low.begin(), low.end());
        exchanges[j].ends.push_back(end);
        next.push_back(std::move(end));
      }
      counts_[j].clear();
      offsets = std::move(next);
    }
    for (std::size_t j = 1; j <= levels; ++j) exchange_level(values, j, exchanges[j]);
  }

 private:
  struct Exchanges {  // by node
    std::vector<Bits> ends;
    Bits wraps;
  };

  // Places i of both halves are exchanged if i >= end, or if i < end and the marked integers wrap.
  void exchange_level(Columns& values, std::size_t j, const Exchanges& nodes) const {
    const std::size_t half = std::size_t{1} << (j - 1);
    Bits swaps;
    for (std::size_t v = 0; v < nodes.ends.size(); ++v) {
      for (const Bit& reached : at_least(nodes.ends[v], half))
        swaps.push_back(reached ^ nodes.wraps[v]);
    }
    for (Bits& column : values) {
      for (std::size_t k = 0; k < swaps.size(); ++k) {
        const std::size_t low = first_ + k / half * 2 * half + k % half;
        exchange(swaps[k], {&column[low], 1}, {&column[low + half], 1});
      }
    }
  }

  std::size_t first_;
  std::vector<std::vector<Bits>> counts_;  // of marks, by level and node
};

}  // namespace

// ORCompact: the first `done` integers are compacted, those of the next block are moved such that
// they fill the places behind, then those before them.
Bits compact(Columns& values, BitSpan marks) {
  std::size_t done = 0;
  Bits count;
  for (std::size_t size = 1; size <= marks.size(); size *= 2) {
    if ((marks.size() & size) == 0) continue;
    const auto levels = static_cast<std::size_t>(std::bit_width(size) - 1);
    CompactedBlock block(done, marks.subspan(done, size));
    Bits new_count =
        sum_in(static_cast<std::size_t>(std::bit_width(done + size)), count, block.count());
    // Modulo the size, as the sum is.
    const Number missing = Number::constant(levels, (size - done) % size);
    std::move(block).move(values, sum_in(levels, extended(count, levels), missing));
    if (done > 0) {
      const Bits free = at_least(count, done);
      for (Bits& column : values) {
        for (std::size_t k = 0; k < done; ++k)
          exchange(free[k], {&column[k], 1}, {&column[k + size], 1});
      }
    }
    count = std::move(new_count);
    done += size;
  }
  return count;
}

}  // namespace tinyot::circuit
