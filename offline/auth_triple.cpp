#include "offline/auth_triple.h"

#include <algorithm>

#include "base/error.h"
#include "checks/coin_toss.h"
#include "checks/opening.h"

namespace tinyot {
namespace {

constexpr MessageTag kD{0x1C01, "triple.d"};
constexpr std::size_t kStep = 512;  // MACs absorbed at a time

// Where the triples of a chunk lie in a layer that is shifted: at most two runs, take(at, from, count) for [at, at + count) of the chunk
// at [from, from + count) of the layer.
template <class Take>
void for_each_run(const ObjectChunk& chunk, std::size_t shift, std::size_t size, Take take) {
  const std::size_t from = chunk.first + shift < size ? chunk.first + shift : chunk.first + shift - size;
  const std::size_t count = std::min(chunk.count, size - from);
  take(std::size_t{0}, from, count);
  if (count < chunk.count) take(count, std::size_t{0}, chunk.count - count);
}

BitVector bits_of(const BitVector& bits, const ObjectChunk& chunk, std::size_t shift) {
  BitVector result(chunk.count);
  for_each_run(chunk, shift, bits.size(), [&](std::size_t at, std::size_t from, std::size_t count) { result.copy_from(bits, from, at, count); });
  return result;
}

// Hands out y_0 ^ y_k of MACs or keys, some at a time, for the transcript.
template <class Word, class Take>
void for_each_combiner(std::span<const Word> y, std::span<const Word> more_y, const ObjectChunk& chunk, std::size_t shift, Take take) {
  alignas(64) Word words[kStep];
  for_each_run(chunk, shift, more_y.size(), [&](std::size_t at, std::size_t from, std::size_t count) {
    for (std::size_t done = 0; done < count; done += kStep) {
      const std::size_t here = std::min(kStep, count - done);
      const Word *a = y.data() + chunk.first + at + done, *b = more_y.data() + from + done;
      for (std::size_t i = 0; i < here; ++i) words[i] = a[i] ^ b[i];
      take(std::span(words, here), at + done);
    }
  });
  wipe(words, sizeof words);
}

// x_0 ^= x_k and z_0 ^= z_k ^ d_k.x_k, of MACs or of keys.
template <class Word>
void fold_words(std::span<Word> x, std::span<Word> z, std::span<const Word> more_x, std::span<const Word> more_z, const BitVector& d,
                const ObjectChunk& chunk, std::size_t shift) {
  for_each_run(chunk, shift, more_x.size(), [&](std::size_t at, std::size_t from, std::size_t count) {
    Word *to_x = x.data() + chunk.first + at, *to_z = z.data() + chunk.first + at;
    const Word *from_x = more_x.data() + from, *from_z = more_z.data() + from;
    for (std::size_t i = 0; i < count; ++i) {
      const Word more = from_x[i];
      to_x[i] ^= more;
      to_z[i] ^= from_z[i] ^ Word{times(more.value, d[at + i])};
    }
  });
}

}  // namespace

std::vector<std::size_t> toss_shifts(Session& session, std::size_t layers, std::size_t size) {
  const PublicSeed coins = toss_coins(session, "shifts of layers of triples");
  Rng rng(Seed{RandomOracle(session.id(), {"layer shifts", '*', 0}).absorb_object(coins).block()});
  std::vector<std::size_t> shifts(layers, 0);
  for (std::size_t k = 1; k < layers; ++k) shifts[k] = rng.below(size);
  return shifts;
}

LayerFold::LayerFold(Session& session, std::span<TripleLayer> layers, std::vector<std::size_t> shifts)
    : session_(session), layers_(layers), shifts_(std::move(shifts)) {
  ENSURE(shifts_.size() == layers.size() && shifts_[0] == 0);
  for (const TripleLayer& layer : layers) ENSURE(layer.x.size() == layers[0].x.size() && layer.y.size() == layers[0].x.size());
}

void LayerFold::reveal(const ObjectChunk& chunk) {
  const SharedBits& y = layers_[0].y;
  std::vector<BitVector> d;
  BitVector message((layers_.size() - 1) * chunk.count);
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    d.push_back(bits_of(layers_[k].y.mine.bits, chunk, shifts_[k]));
    d.back() ^= bits_of(y.mine.bits, chunk, 0);
    message.copy_from(d.back(), 0, (k - 1) * chunk.count, chunk.count);
  }
  reveal_bits(session_, kD, message);
  for (std::size_t k = 1; k < layers_.size(); ++k)
    for_each_combiner<Mac>(y.mine.macs, layers_[k].y.mine.macs, chunk, shifts_[k], [&](std::span<Mac> some, std::size_t) { absorb_my_macs(session_, some); });
  revealed_.push(std::move(d));
}

std::vector<BitVector> LayerFold::open(const ObjectChunk& chunk) {
  const BitVector received = receive_revealed_bits(session_, kD, (layers_.size() - 1) * chunk.count);
  std::vector<BitVector> d = std::move(revealed_.front());
  revealed_.pop();
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    const std::size_t first = (k - 1) * chunk.count;
    for_each_combiner<Key>(layers_[0].y.peers.keys, layers_[k].y.peers.keys, chunk, shifts_[k],
                           [&](std::span<Key> some, std::size_t at) { absorb_peers_keys(session_, some, received, first + at); });
    BitVector peers(chunk.count);
    peers.copy_from(received, first, 0, chunk.count);
    d[k - 1] ^= peers;
  }
  return d;
}

void LayerFold::fold(const ObjectChunk& chunk) {
  const std::vector<BitVector> ds = open(chunk);
  SharedBits &x = layers_[0].x, &z = layers_[0].z;
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    const TripleLayer& layer = layers_[k];
    const BitVector& d = ds[k - 1];
    const BitVector more_x = bits_of(layer.x.mine.bits, chunk, shifts_[k]), more_z = bits_of(layer.z.mine.bits, chunk, shifts_[k]);
    for (std::size_t w = 0; w < d.words().size(); ++w) {
      x.mine.bits.words()[chunk.first / 64 + w] ^= more_x.words()[w];
      z.mine.bits.words()[chunk.first / 64 + w] ^= more_z.words()[w] ^ (more_x.words()[w] & d.words()[w]);
    }
    fold_words<Mac>(x.mine.macs, z.mine.macs, layer.x.mine.macs, layer.z.mine.macs, d, chunk, shifts_[k]);
    fold_words<Key>(x.peers.keys, z.peers.keys, layer.x.peers.keys, layer.z.peers.keys, d, chunk, shifts_[k]);
  }
}

void LayerFold::fold_strings(const ObjectChunk& chunk) {
  const std::vector<BitVector> ds = open(chunk);
  const Block delta = session_.global_key().value;
  SharedBits& x = layers_[0].x;
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    const TripleLayer& layer = layers_[k];
    const BitVector& d = ds[k - 1];
    const BitVector more_x = bits_of(layer.x.mine.bits, chunk, shifts_[k]);
    for (std::size_t w = 0; w < d.words().size(); ++w) x.mine.bits.words()[chunk.first / 64 + w] ^= more_x.words()[w];
    for_each_run(chunk, shifts_[k], layer.x.size(), [&](std::size_t at, std::size_t from, std::size_t count) {
      Mac* macs = x.mine.macs.data() + chunk.first + at;
      Key* keys = x.peers.keys.data() + chunk.first + at;
      Block* s = layers_[0].s.data() + chunk.first + at;
      for (std::size_t i = 0; i < count; ++i) {
        const Mac mac = layer.x.mine.macs[from + i];
        const Key key = layer.x.peers.keys[from + i];
        macs[i] ^= mac;
        keys[i] ^= key;
        // m_P(x) = x_P.Delta^P ^ M[x_P] ^ K[x'].
        const Block m = times(delta, more_x[at + i]) ^ mac.value ^ key.value;
        s[i] ^= layer.s[from + i] ^ times(m, d[at + i]);
      }
    });
  }
}

}  // namespace tinyot
