// The masks of a round's groups in a masked run (doc/protocol.md, section 19): lambda of each input
// that is in a product, and the products of these, shared; and the results of the groups, which are
// sums of them once the public bits are known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bit_vector.h"
#include "base/block.h"
#include "base/secret.h"
#include "online/masked/group_products.h"
#include "online/masked/round_triples.h"
#include "tinyot/party.h"

namespace tinyot::online {

// Of which party a share is, and its global key: what is public is added to A's bits, and times the
// key to the blocks of both.
struct PublicOne {
  bool is_in_bits;
  Block in_blocks;
};

class GroupMasks {
 public:
  GroupMasks() = default;
  GroupMasks(const circuit::Round& round, const Lanes& lanes);

  // Makes the masks of this level from what has been opened, by operand and entry; level 1 makes
  // those of inputs, too.
  //   lambda_i = factor ^ d            of the first product that has i as a factor
  //   lambda_S = w ^ e.u ^ d.v ^ d.e   (Beaver, CRYPTO 1991)
  void make(std::size_t level, const circuit::Round& round, const Lanes& lanes,
            const RoundTriples& triples, const std::array<BitVector, 2>& opened,
            const PublicOne& one);

  // Of at most 64 lanes from a part's place on.
  std::uint64_t bits(std::size_t place, std::size_t lanes) const {
    return bits_at(bits_, place, lanes);
  }
  std::span<const Block> blocks(std::size_t place, std::size_t lanes) const {
    return std::span(blocks_).subspan(place, lanes);
  }

 private:
  void make_input(const PlacedGroup& group, std::size_t product, std::size_t operand,
                  const RoundTriples& triples, const std::array<BitVector, 2>& opened,
                  const PublicOne& one);
  void make_product(const PlacedGroup& group, std::size_t product, const RoundTriples& triples,
                    const std::array<BitVector, 2>& opened, const PublicOne& one);

  BitVector bits_;
  SecretVector<Block> blocks_;
};

// Calls use(operand, entry, part, width) for the factors of several wires that are opened at a
// level, in the order of the messages; `part`: the place of the mask.
template <class Use>
void for_each_opened_part(const circuit::Round& round, const Lanes& lanes, std::size_t level,
                          Use use) {
  for_each_group(round, lanes, [&](const PlacedGroup& group) {
    const auto products = group.shape().products();
    for (std::size_t p = 0; p < products.size(); ++p) {
      if (level_of(products[p]) != level) continue;
      const auto factors = circuit::factors_of(products[p]);
      for (std::size_t operand = 0; operand < 2; ++operand)
        if (!std::has_single_bit(factors[operand]))
          use(operand, group.entry(p), group.part(group.shape().number_of(factors[operand])),
              group.width);
    }
  });
}

// A result of a group as the sum of masks, for up to 64 lanes whose public bits are known:
//   z_o = sum of z_i over the linear inputs ^ constant ^ sum of c_S.lambda_S over the parts S
// where c_S is the sum, over the monomials T that S is a part of, of the products of l over T \ S.
struct ResultTerms {
  std::uint64_t constant;                                    // with c_S of the empty part
  std::vector<std::pair<std::size_t, std::uint64_t>> parts;  // by number, with c_S
};
// `l`: a word for each input, a bit for each lane.
std::vector<ResultTerms> terms_of(const circuit::GroupShape& shape,
                                  std::span<const std::uint64_t> l);

}  // namespace tinyot::online
