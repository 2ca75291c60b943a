#include "offline/triples/auth_triple.h"

#include <array>

#include "base/error.h"
#include "checks/opening.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kAuthTripleD = net::message_tag("triple.d");

// A contiguous range of a shifted layer: triple `from` + i is combined with triple `to` + i of a
// chunk, for i < count.
struct Run {
  std::size_t to, from, count;
};
// The ranges for a chunk. The second is empty unless the chunk wraps around the end of the layer.
std::array<Run, 2> runs_of(const ObjectChunk& chunk, std::size_t shift, std::size_t size) {
  const std::size_t from = (chunk.first + shift) % size, here = std::min(chunk.count, size - from);
  return {{{0, from, here}, {here, 0, chunk.count - here}}};
}

BitVector bits_of(const BitVector& column, const ObjectChunk& chunk, std::size_t shift) {
  BitVector bits(chunk.count);
  for (const Run& run : runs_of(chunk, shift, column.size()))
    bits.copy_from(column, run.from, run.to, run.count);
  return bits;
}

// y_0 ^ y_k of MACs or keys.
template <class Word>
SecretVector<Word> combiners(std::span<const Word> y, std::span<const Word> more_y,
                             const ObjectChunk& chunk, std::size_t shift) {
  SecretVector<Word> words(chunk.count);
  for (const Run& run : runs_of(chunk, shift, more_y.size())) {
    const Word *a = y.data() + chunk.first + run.to, *b = more_y.data() + run.from;
    for (std::size_t i = 0; i < run.count; ++i) words[run.to + i] = a[i] ^ b[i];
  }
  return words;
}

// x_0 ^= x_k and z_0 ^= z_k ^ d_k.x_k, of MACs or of keys.
template <class Word>
void fold_words(std::span<Word> x, std::span<Word> z, std::span<const Word> more_x,
                std::span<const Word> more_z, const BitVector& d, const ObjectChunk& chunk,
                std::size_t shift) {
  for (const Run& run : runs_of(chunk, shift, more_x.size())) {
    Word *to_x = x.data() + chunk.first + run.to, *to_z = z.data() + chunk.first + run.to;
    const Word *from_x = more_x.data() + run.from, *from_z = more_z.data() + run.from;
    for (std::size_t i = 0; i < run.count; ++i) {
      const Word more = from_x[i];
      to_x[i] ^= more;
      to_z[i] ^= from_z[i] ^ Word { times(more.value, d[run.to + i]) };
    }
  }
}

}  // namespace

LayerFold::LayerFold(checks::Session& session, std::span<TripleLayer> layers,
                     std::vector<std::size_t> shifts)
    : session_(session), layers_(layers), shifts_(std::move(shifts)) {
  ENSURE(shifts_.size() + 1 == layers.size());
  const std::size_t size = layers[0].x.size();
  for (const std::size_t shift : shifts_) ENSURE(shift < size);
  for (const TripleLayer& layer : layers)
    ENSURE(layer.x.size() == size && layer.y.size() == size && layer.z.size() == size);
}

void LayerFold::reveal(const ObjectChunk& chunk) {
  SharedColumn& y = layers_[0].y;
  const BitVector of_y = bits_of(y.mine.bits, chunk, 0);
  std::vector<BitVector> mine;
  BitVector message(shifts_.size() * chunk.count);
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    BitVector& d = mine.emplace_back(bits_of(layers_[k].y.mine.bits, chunk, shifts_[k - 1]));
    d ^= of_y;
    message.copy_from(d, 0, (k - 1) * chunk.count, chunk.count);
  }
  checks::reveal_bits(session_, kAuthTripleD, message);
  for (std::size_t k = 1; k < layers_.size(); ++k)
    checks::absorb_my_macs(
        session_, combiners<Mac>(y.mine.macs, layers_[k].y.mine.macs, chunk, shifts_[k - 1]));
  revealed_.push(std::move(mine));
}

void LayerFold::fold(const ObjectChunk& chunk) {
  const BitVector received =
      checks::receive_revealed_bits(session_, kAuthTripleD, shifts_.size() * chunk.count);
  const std::vector<BitVector> mine = std::move(revealed_.front());
  revealed_.pop();
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    const std::size_t shift = shifts_[k - 1], first = (k - 1) * chunk.count;
    SecretVector<Key> keys =
        combiners<Key>(layers_[0].y.peers.keys, layers_[k].y.peers.keys, chunk, shift);
    checks::absorb_peers_keys(session_, keys, received, first);
    BitVector d(chunk.count);
    d.copy_from(received, first, 0, chunk.count);
    d ^= mine[k - 1];
    fold_layer(layers_[0], layers_[k], d, chunk, shift);
  }
}

void pour_full_triples(material::Sink& sink, Party me, std::size_t total,
                       const TripleLayer& layer) {
  pour_full_triples(sink, me, total,
                    {{{&layer.x.mine, &layer.x.peers},
                      {&layer.y.mine, &layer.y.peers},
                      {&layer.z.mine, &layer.z.peers}}});
}

void fold_layer(TripleLayer& to, const TripleLayer& more, const BitVector& d,
                const ObjectChunk& chunk, std::size_t shift) {
  const MacColumnView to_x = to.x.view().part(chunk).mine, to_z = to.z.view().part(chunk).mine;
  const BitVector more_x = bits_of(more.x.mine.bits, chunk, shift),
                  more_z = bits_of(more.z.mine.bits, chunk, shift);
  for (std::size_t w = 0; w < to_x.bits.size(); ++w) {
    to_x.bits[w] ^= more_x.words()[w];
    to_z.bits[w] ^= more_z.words()[w] ^ (more_x.words()[w] & d.words()[w]);
  }
  fold_words<Mac>(to.x.mine.macs, to.z.mine.macs, more.x.mine.macs, more.z.mine.macs, d, chunk,
                  shift);
  fold_words<Key>(to.x.peers.keys, to.z.peers.keys, more.x.peers.keys, more.z.peers.keys, d, chunk,
                  shift);
}

}  // namespace tinyot::offline
