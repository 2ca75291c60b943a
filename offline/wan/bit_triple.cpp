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

}  // namespace

void BitProducts::offer(std::uint64_t set, const ObjectChunk& chunk, const SharedView& x,
                        const SharedView& y) {
  ENSURE(chunk.count <= kChunkObjects);
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
  BitVector z = short_hashes(of_mine, blocks);

  g ^= of_keys;
  z ^= of_keys;
  for (std::size_t w = 0; w < g.words().size(); ++w) {
    g.words()[w] ^= y.mine.bits[w];
    z.words()[w] ^= x.mine.bits[w] & y.mine.bits[w];
  }
  g.clear_padding();
  z.clear_padding();
  net::send_bits(session_.channel(), kBitTripleG, g);
  offered_.push(std::move(z));
}

void BitProducts::announce(const SharedView& x, const SharedView& r) {
  const BitVector z = std::move(offered_.front());
  offered_.pop();
  const BitVector g = net::recv_bits(session_.channel(), kBitTripleG, z.size());
  BitVector d(z.size());
  for (std::size_t w = 0; w < z.words().size(); ++w) {
    const std::uint64_t mine = z.words()[w] ^ (x.mine.bits[w] & g.words()[w]);
    d.words()[w] = mine ^ r.mine.bits[w];
    r.mine.bits[w] = mine;
  }
  d.clear_padding();
  net::send_bits(session_.channel(), kBitTripleD, d);
}

void BitProducts::finish(const SharedView& z) {
  const ScopedSecret<Delta> delta(session_.global_key());
  const BitVector d = net::recv_bits(session_.channel(), kBitTripleD, z.size());
  for (std::size_t i = 0; i < z.size(); ++i) z.peers[i] = xor_public_bit(z.peers[i], delta, d[i]);
}

}  // namespace tinyot::offline
