#include "offline/wan/bit_triple.h"

#include "base/error.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kBitTripleG = net::message_tag("bit_triple.g");
constexpr net::MessageTag kBitTripleD = net::message_tag("bit_triple.d");

constexpr crypto::Phase kBitProductKind = "BitProduct";

// h of all blocks, which are overwritten.
BitVector short_hashes(const crypto::TweakHash& hash, std::span<Block> blocks) {
  hash(crypto::HashUse::BitProduct, 0, blocks, blocks);
  BitVector bits(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    bits.words()[i / 64] |= (blocks[i].lo & 1) << (i % 64);
  return bits;
}

BitVector bits_of(const SharedView& shared) {
  BitVector bits(shared.size());
  copy_bits(shared.mine.bits, 0, bits.words(), 0, bits.size());
  return bits;
}

}  // namespace

void BitProducts::offer(std::uint64_t set, const ObjectChunk& chunk, const SharedView& x,
                        const SharedView& y, const SharedView& r) {
  ENSURE(chunk.count <= kChunkObjects && x.size() == chunk.count && y.size() == chunk.count &&
         r.size() == chunk.count);
  const ScopedSecret<Block> delta(session_.global_key().value);
  const crypto::TweakHash of_peers =
      hash_of_chunk(session_, kBitProductKind, session_.peer(), chunk, set);
  const crypto::TweakHash of_mine =
      hash_of_chunk(session_, kBitProductKind, session_.me(), chunk, set);
  SecretVector<Block> blocks(chunk.count);
  for (std::size_t i = 0; i < chunk.count; ++i) blocks[i] = x.peers[i].value ^ delta;
  BitVector g = short_hashes(of_peers, blocks);
  for (std::size_t i = 0; i < chunk.count; ++i) blocks[i] = x.peers[i].value;
  const BitVector of_keys = short_hashes(of_peers, blocks);
  for (std::size_t i = 0; i < chunk.count; ++i) blocks[i] = x.mine.macs[i].value;
  Offered mine{short_hashes(of_mine, blocks), bits_of(x), bits_of(r)};

  g ^= of_keys;
  mine.z ^= of_keys;
  for (std::size_t w = 0; w < g.words().size(); ++w) {
    g.words()[w] ^= y.mine.bits[w];
    mine.z.words()[w] ^= x.mine.bits[w] & y.mine.bits[w];
  }
  g.clear_padding();
  mine.z.clear_padding();
  net::send_bits(session_.channel(), kBitTripleG, g);
  offered_.push(std::move(mine));
}

void BitProducts::announce() {
  ENSURE(!offered_.empty());
  const Offered mine = std::move(offered_.front());
  offered_.pop();
  const BitVector g = net::recv_bits(session_.channel(), kBitTripleG, mine.z.size());
  BitVector d(mine.z.size());
  for (std::size_t w = 0; w < d.words().size(); ++w)
    d.words()[w] = mine.z.words()[w] ^ (mine.x.words()[w] & g.words()[w]) ^ mine.r.words()[w];
  net::send_bits(session_.channel(), kBitTripleD, d);
  announced_.push(std::move(d));
}

BitProducts::Announced BitProducts::finish() {
  ENSURE(!announced_.empty());
  Announced both{std::move(announced_.front()), {}};
  announced_.pop();
  both.peers = net::recv_bits(session_.channel(), kBitTripleD, both.mine.size());
  return both;
}

void become_products(const SharedView& r, const BitProducts::Announced& announced,
                     std::size_t first, const Delta& global_key) {
  ENSURE(first % 64 == 0 && first + r.size() <= announced.mine.size());
  for (std::size_t w = 0; w < r.mine.bits.size(); ++w)
    r.mine.bits[w] ^= announced.mine.words()[first / 64 + w];
  for (std::size_t i = 0; i < r.size(); ++i)
    r.peers[i] = xor_public_bit(r.peers[i], global_key, announced.peers[first + i]);
}

void become_products(std::span<TripleShares> triples, const BitProducts::Announced& announced,
                     const Delta& global_key) {
  ENSURE(triples.size() == announced.mine.size());
  for (std::size_t i = 0; i < triples.size(); ++i)
    triples[i].z =
        xor_public_bit(triples[i].z, global_key, announced.mine[i] != announced.peers[i]);
}

}  // namespace tinyot::offline
