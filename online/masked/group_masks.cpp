#include "online/masked/group_masks.h"

#include <algorithm>

#include "base/block_sums.h"

namespace tinyot::online {
namespace {

using circuit::GroupPart;
using circuit::GroupShape;

void put_bits(BitVector& bits, std::size_t first, std::size_t count, std::uint64_t word) {
  copy_bits(std::array{word}, 0, bits.words(), first, count);
}

}  // namespace

GroupMasks::GroupMasks(const circuit::Round& round, const Lanes& lanes)
    : bits_(part_count(round, lanes)), blocks_(part_count(round, lanes)) {}

void GroupMasks::make(std::size_t level, const circuit::Round& round, const Lanes& lanes,
                      const RoundTriples& triples, const std::array<BitVector, 2>& opened,
                      const PublicOne& one) {
  for_each_group(round, lanes, [&](const PlacedGroup& group) {
    const auto products = group.shape().products();
    GroupPart made = 0;  // inputs
    for (std::size_t p = 0; p < products.size(); ++p) {
      if (level_of(products[p]) != level) continue;
      const auto factors = circuit::factors_of(products[p]);
      for (std::size_t operand = 0; level == 1 && operand < 2; ++operand) {
        if ((made & factors[operand]) != 0) continue;
        made |= factors[operand];
        make_input(group, p, operand, triples, opened, one);
      }
      make_product(group, p, triples, opened, one);
    }
  });
}

void GroupMasks::make_input(const PlacedGroup& group, std::size_t product, std::size_t operand,
                            const RoundTriples& triples, const std::array<BitVector, 2>& opened,
                            const PublicOne& one) {
  const std::size_t entry = group.entry(product);
  const GroupPart input = circuit::factors_of(group.shape().products()[product])[operand];
  const std::size_t place = group.part(group.shape().number_of(input));
  const std::uint64_t d = bits_at(opened[operand], entry, group.width);
  put_bits(bits_, place, group.width,
           bits_at(triples.bits[operand], entry, group.width) ^ (one.is_in_bits ? d : 0));
  Block* to = blocks_.data() + place;
  for (std::size_t lane = 0; lane < group.width; ++lane)
    to[lane] = times(one.in_blocks, (d >> lane & 1) != 0);
  triples.blocks.add_factor(operand, entry, {to, group.width}, to);
}

void GroupMasks::make_product(const PlacedGroup& group, std::size_t product,
                              const RoundTriples& triples, const std::array<BitVector, 2>& opened,
                              const PublicOne& one) {
  const std::size_t entry = group.entry(product);
  const std::size_t place = group.part(group.shape().single_parts + product);
  const std::array<std::uint64_t, 1> d = {bits_at(opened[0], entry, group.width)},
                                     e = {bits_at(opened[1], entry, group.width)};
  put_bits(bits_, place, group.width,
           bits_at(triples.bits[2], entry, group.width) ^
               (e[0] & bits_at(triples.bits[0], entry, group.width)) ^
               (d[0] & bits_at(triples.bits[1], entry, group.width)) ^
               (one.is_in_bits ? d[0] & e[0] : 0));
  for (std::size_t done = 0; done < group.width;) {
    const TripleBlocksOf::Run run = triples.blocks.at(entry + done, group.width - done);
    const std::array<std::uint64_t, 1> d_left = {d[0] >> done}, e_left = {e[0] >> done};
    multiply_by_triples({run.columns[0], run.columns[1], run.columns[2], d_left.data(),
                         e_left.data(), blocks_.data() + place + done},
                        run.count, one.in_blocks);
    done += run.count;
  }
}

std::vector<ResultTerms> terms_of(const GroupShape& shape, std::span<const std::uint64_t> l) {
  std::vector<std::uint64_t> products(std::size_t{1} << l.size(), ~std::uint64_t{0});
  for (std::size_t inputs = 1; inputs < products.size(); ++inputs)
    products[inputs] =
        products[inputs & (inputs - 1)] & l[static_cast<std::size_t>(std::countr_zero(inputs))];
  std::vector<ResultTerms> results;
  std::vector<std::uint64_t> sums(products.size());
  for (const GroupShape::Result& result : shape.results) {
    std::ranges::fill(sums, 0);
    sums[0] = result.constant ? ~std::uint64_t{0} : 0;
    for (const GroupPart monomial : result.monomials)
      for (unsigned part = monomial;; part = (part - 1) & monomial) {
        sums[part] ^= products[monomial ^ part];
        if (part == 0) break;
      }
    ResultTerms& terms = results.emplace_back(ResultTerms{sums[0], {}});
    for (std::size_t number = 0; number < shape.parts.size(); ++number)
      if (sums[shape.parts[number]] != 0)
        terms.parts.emplace_back(number, sums[shape.parts[number]]);
  }
  return results;
}

}  // namespace tinyot::online
