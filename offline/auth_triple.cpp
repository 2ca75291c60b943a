#include "offline/auth_triple.h"

#include <algorithm>

#include "base/error.h"
#include "checks/coin_toss.h"
#include "checks/opening.h"

namespace tinyot {
namespace {

constexpr MessageTag kD{0x1C01, "triple.d"};
constexpr std::size_t kStep = 512;  // MACs absorbed at a time

// The first `count` bits, shifted: bit j of the result is bit (j + shift) mod count.
BitVector shifted(const BitVector& bits, std::size_t shift, std::size_t count) {
  BitVector result(count);
  copy_bits(bits.words(), shift, result.words(), 0, count - shift);
  copy_bits(bits.words(), 0, result.words(), count - shift, shift);
  return result;
}

// What lies at (j + shift) mod count.
template <class Word>
class Shifted {
 public:
  Shifted(std::span<const Word> words, std::size_t shift, std::size_t count) : words_(words), shift_(shift), count_(count) {}
  const Word& operator[](std::size_t j) const { return words_[j + shift_ < count_ ? j + shift_ : j + shift_ - count_]; }

 private:
  std::span<const Word> words_;
  std::size_t shift_, count_;
};

// Hands out y1 ^ y2 of MACs or keys, some at a time, for the transcript.
template <class Word, class Take>
void for_each_combiner(std::span<const Word> y, const Shifted<Word>& more_y, std::size_t count, Take take) {
  SecretVector<Word> words(kStep);
  for (std::size_t first = 0; first < count; first += kStep) {
    const std::size_t here = std::min(kStep, count - first);
    for (std::size_t i = 0; i < here; ++i) words[i] = y[first + i] ^ more_y[first + i];
    take(std::span(words).first(here), first);
  }
}

// x and z of MACs or of keys: the same linear map.
template <class Word>
void fold_words(std::span<Word> x, std::span<Word> z, const Shifted<Word>& more_x, const Shifted<Word>& more_z, const BitVector& d) {
  for (std::size_t j = 0; j < d.size(); ++j) {
    const Word more = more_x[j];
    x[j] ^= more;
    z[j] ^= more_z[j] ^ Word{times(more.value, d[j])};
  }
}

}  // namespace

std::size_t toss_shift(Session& session, std::size_t number, std::size_t count) {
  const PublicSeed coins = toss_coins(session, "shift of a layer of triples");
  Rng rng(Seed{RandomOracle(session.id(), {"layer shift", '*', number}).absorb_object(coins).block()});
  return rng.below(count);
}

void fold_layer(Session& session, std::size_t shift, std::size_t count, TripleLayer& layer, TripleLayer& into) {
  ENSURE(shift < count && count <= into.x.peers.size() && count <= layer.x.peers.size());
  const auto macs = [&](SharedBits& bits) { return Shifted<Mac>(bits.mine.macs, shift, count); };
  const auto keys = [&](SharedBits& bits) { return Shifted<Key>(bits.peers.keys, shift, count); };

  // d = y1 ^ y2, both shares of it.
  BitVector d = shifted(layer.y.mine.bits, shift, count), of_into(count);
  of_into.copy_from(into.y.mine.bits, 0, 0, count);
  d ^= of_into;
  reveal_bits(session, kD, d);
  for_each_combiner<Mac>(into.y.mine.macs, macs(layer.y), count, [&](std::span<Mac> some, std::size_t) { absorb_my_macs(session, some); });
  const BitVector peers_d = receive_revealed_bits(session, kD, count);
  for_each_combiner<Key>(into.y.peers.keys, keys(layer.y), count,
                         [&](std::span<Key> some, std::size_t first) { absorb_peers_keys(session, some, peers_d, first); });
  d ^= peers_d;

  const BitVector more_x = shifted(layer.x.mine.bits, shift, count), more_z = shifted(layer.z.mine.bits, shift, count);
  for (std::size_t w = 0; w < d.words().size(); ++w) {
    into.x.mine.bits.words()[w] ^= more_x.words()[w];
    into.z.mine.bits.words()[w] ^= more_z.words()[w] ^ (more_x.words()[w] & d.words()[w]);
  }
  fold_words<Mac>(into.x.mine.macs, into.z.mine.macs, macs(layer.x), macs(layer.z), d);
  fold_words<Key>(into.x.peers.keys, into.z.peers.keys, keys(layer.x), keys(layer.z), d);
}

}  // namespace tinyot
