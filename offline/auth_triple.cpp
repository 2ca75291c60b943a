#include "offline/auth_triple.h"

#include <array>

#include "base/error.h"
#include "checks/opening.h"

namespace tinyot {
namespace {

constexpr MessageTag kAuthTripleD{0x1C01, "triple.d"};

// Calls take(at, segment) for each segment of a chunk, `at` being where it begins in layer 0.
template <class Take>
void for_each_segment(const ObjectChunk& chunk, const std::vector<LayerSegment>& segments, Take take) {
  for (std::size_t s = 0; s < segments.size(); ++s) take(chunk.first + s * kSegmentTriples, segments[s]);
}

template <class Word>
using Buffer = std::array<Word, kSegmentTriples>;
using SegmentBits = std::array<std::uint64_t, kSegmentTriples / 64>;

// The bits of layer 0 that a segment meets.
std::span<std::uint64_t, kSegmentTriples / 64> bits_at(BitVector& bits, std::size_t at) {
  return std::span(bits.words()).subspan(at / 64).first<kSegmentTriples / 64>();
}

// Hands out y_0 ^ y_k of MACs or keys, a segment at a time, for the transcript.
template <class Word, class Take>
void for_each_combiner(std::span<const Word> y, std::span<const Word> more_y, const ObjectChunk& chunk, const std::vector<LayerSegment>& segments,
                       Take take) {
  Buffer<Word> buffer, words;
  for_each_segment(chunk, segments, [&](std::size_t at, const LayerSegment& segment) {
    const Word *a = y.data() + at, *b = segment.words_of<Word>(more_y, buffer);
    for (std::size_t i = 0; i < kSegmentTriples; ++i) words[i] = a[i] ^ b[i];
    take(std::span(words), at - chunk.first);
  });
  wipe_object(buffer);
  wipe_object(words);
}

// x_0 ^= x_k and z_0 ^= z_k ^ d_k.x_k, of MACs or of keys.
template <class Word>
void fold_words(std::span<Word> x, std::span<Word> z, std::span<const Word> more_x, std::span<const Word> more_z, const BitVector& d,
                const ObjectChunk& chunk, const std::vector<LayerSegment>& segments) {
  Buffer<Word> x_buffer, z_buffer;
  for_each_segment(chunk, segments, [&](std::size_t at, const LayerSegment& segment) {
    const Word *from_x = segment.words_of<Word>(more_x, x_buffer), *from_z = segment.words_of<Word>(more_z, z_buffer);
    Word *to_x = x.data() + at, *to_z = z.data() + at;
    for (std::size_t i = 0; i < kSegmentTriples; ++i) {
      const Word more = from_x[i];
      to_x[i] ^= more;
      to_z[i] ^= from_z[i] ^ Word{times(more.value, d[at - chunk.first + i])};
    }
  });
  wipe_object(x_buffer);
  wipe_object(z_buffer);
}

}  // namespace

LayerFold::LayerFold(Session& session, std::span<TripleLayer> layers, std::vector<LayerOrder> orders)
    : session_(session), layers_(layers), orders_(std::move(orders)) {
  ENSURE(orders_.size() + 1 == layers.size());
  for (const TripleLayer& layer : layers) ENSURE(layer.x.size() == layers[0].x.size() && layer.y.size() == layers[0].x.size());
}

void LayerFold::reveal(const ObjectChunk& chunk) {
  ENSURE(chunk.first % kSegmentTriples == 0 && chunk.count % kSegmentTriples == 0);
  SharedBits& y = layers_[0].y;
  std::vector<Meeting> meetings;
  BitVector message(orders_.size() * chunk.count);
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    Meeting& meeting = meetings.emplace_back(Meeting{{}, BitVector(chunk.count)});
    for (std::size_t done = 0; done < chunk.count; done += kSegmentTriples) {
      const LayerSegment& segment = meeting.segments.emplace_back(orders_[k - 1].next());
      const auto d = bits_at(meeting.d, done), of_y = bits_at(y.mine.bits, chunk.first + done);
      segment.bits_of(layers_[k].y.mine.bits, d);
      for (std::size_t w = 0; w < d.size(); ++w) d[w] ^= of_y[w];
    }
    message.copy_from(meeting.d, 0, (k - 1) * chunk.count, chunk.count);
  }
  reveal_bits(session_, kAuthTripleD, message);
  for (std::size_t k = 1; k < layers_.size(); ++k)
    for_each_combiner<Mac>(y.mine.macs, layers_[k].y.mine.macs, chunk, meetings[k - 1].segments,
                           [&](std::span<Mac> some, std::size_t) { absorb_my_macs(session_, some); });
  revealed_.push(std::move(meetings));
}

std::vector<LayerFold::Meeting> LayerFold::open(const ObjectChunk& chunk) {
  const BitVector received = receive_revealed_bits(session_, kAuthTripleD, orders_.size() * chunk.count);
  std::vector<Meeting> meetings = std::move(revealed_.front());
  revealed_.pop();
  BitVector peers(chunk.count);
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    const std::size_t first = (k - 1) * chunk.count;
    for_each_combiner<Key>(layers_[0].y.peers.keys, layers_[k].y.peers.keys, chunk, meetings[k - 1].segments,
                           [&](std::span<Key> some, std::size_t at) { absorb_peers_keys(session_, some, received, first + at); });
    peers.copy_from(received, first, 0, chunk.count);
    meetings[k - 1].d ^= peers;
  }
  return meetings;
}

void LayerFold::fold(const ObjectChunk& chunk) {
  const std::vector<Meeting> meetings = open(chunk);
  SharedBits &x = layers_[0].x, &z = layers_[0].z;
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    const TripleLayer& layer = layers_[k];
    const auto& [segments, d] = meetings[k - 1];
    for_each_segment(chunk, segments, [&](std::size_t at, const LayerSegment& segment) {
      SegmentBits more_x, more_z;
      segment.bits_of(layer.x.mine.bits, more_x);
      segment.bits_of(layer.z.mine.bits, more_z);
      const auto to_x = bits_at(x.mine.bits, at), to_z = bits_at(z.mine.bits, at);
      for (std::size_t w = 0; w < more_x.size(); ++w) {
        to_x[w] ^= more_x[w];
        to_z[w] ^= more_z[w] ^ (more_x[w] & d.words()[(at - chunk.first) / 64 + w]);
      }
    });
    fold_words<Mac>(x.mine.macs, z.mine.macs, layer.x.mine.macs, layer.z.mine.macs, d, chunk, segments);
    fold_words<Key>(x.peers.keys, z.peers.keys, layer.x.peers.keys, layer.z.peers.keys, d, chunk, segments);
  }
}

void LayerFold::fold_strings(const ObjectChunk& chunk) {
  const std::vector<Meeting> meetings = open(chunk);
  const Block delta = session_.global_key().value;
  SharedBits& x = layers_[0].x;
  Buffer<Mac> mac_buffer;
  Buffer<Key> key_buffer;
  Buffer<Block> s_buffer;
  for (std::size_t k = 1; k < layers_.size(); ++k) {
    const TripleLayer& layer = layers_[k];
    const auto& [segments, d] = meetings[k - 1];
    for_each_segment(chunk, segments, [&](std::size_t at, const LayerSegment& segment) {
      SegmentBits more_x;
      segment.bits_of(layer.x.mine.bits, more_x);
      const auto to_x = bits_at(x.mine.bits, at);
      for (std::size_t w = 0; w < more_x.size(); ++w) to_x[w] ^= more_x[w];
      const Mac* more_macs = segment.words_of<Mac>(layer.x.mine.macs, mac_buffer);
      const Key* more_keys = segment.words_of<Key>(layer.x.peers.keys, key_buffer);
      const Block* more_s = segment.words_of<Block>(layer.s, s_buffer);
      Mac* macs = x.mine.macs.data() + at;
      Key* keys = x.peers.keys.data() + at;
      Block* s = layers_[0].s.data() + at;
      for (std::size_t i = 0; i < kSegmentTriples; ++i) {
        macs[i] ^= more_macs[i];
        keys[i] ^= more_keys[i];
        // m_P(x) = x_P.Delta^P ^ M[x_P] ^ K[x'].
        const Block m = times(delta, get_bit(more_x, i)) ^ more_macs[i].value ^ more_keys[i].value;
        s[i] ^= more_s[i] ^ times(m, d[at - chunk.first + i]);
      }
    });
  }
  wipe_object(mac_buffer);
  wipe_object(key_buffer);
  wipe_object(s_buffer);
}

}  // namespace tinyot
