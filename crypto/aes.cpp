#include "crypto/aes.h"

#include <bit>

// The portable target is EMU128. Highway disables it for some compilers because of a compiler bug
// that affects 16-bit products only; the tests compare the bytes of every target. AVX3_DL is the
// target with VAES.
#define HWY_BROKEN_EMU128 0
#define HWY_WANT_AVX3_DL 1

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "crypto/aes.cpp"
#include "base/error.h"
#include "base/secret.h"
#include "crypto/aes_vaes.h"
#include "crypto/use_ledger.h"
#include "hwy/foreach_target.h"  // recompiles this file once for each target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tinyot::crypto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whole vectors where AES instructions process them (VAES with AVX-512); one block at a time
// elsewhere, since splitting a wide vector for each round costs more than it saves.
#if HWY_TARGET <= HWY_AVX3_DL
using Bytes = hn::ScalableTag<std::uint8_t>;
#else
using Bytes = hn::CappedTag<std::uint8_t, 16>;
#endif
using Words = hn::Repartition<std::uint64_t, Bytes>;
using Vec = hn::Vec<Bytes>;

// This target has AES for single blocks only, but the processor has VAES for two.
HWY_INLINE bool use_vaes() { return HWY_TARGET == HWY_AVX2 && vaes::is_usable(); }

constexpr std::size_t kStreams = 8;  // vectors in flight: covers the latency of an AES round

struct Schedule {
  const std::uint8_t* bytes;
  HWY_INLINE Vec operator[](std::size_t round) const {
    return hn::LoadDup128(Bytes(), bytes + 16 * round);
  }
};

HWY_INLINE void encrypt(const Schedule& key, Vec (&state)[kStreams]) {
  const Vec first = key[0];
  for (auto& s : state) s = hn::Xor(s, first);
  for (std::size_t round = 1; round < 10; ++round) {
    const Vec round_key = key[round];
    for (auto& s : state) s = hn::AESRound(s, round_key);
  }
  const Vec last = key[10];
  for (auto& s : state) s = hn::AESLastRound(s, last);
}

// Counters {lo, hi}, {lo + 1, hi}, ... of consecutive blocks.
struct Counters {
  alignas(64) std::uint64_t first[8];
  hn::Vec<Words> next, step;

  explicit HWY_INLINE Counters(Block counter) {
    const Words d;
    const std::size_t blocks = hn::Lanes(d) / 2;
    alignas(64) std::uint64_t steps[8];
    for (std::size_t b = 0; b < blocks; ++b) {
      first[2 * b] = counter.lo + b, first[2 * b + 1] = counter.hi;
      steps[2 * b] = blocks, steps[2 * b + 1] = 0;
    }
    next = hn::Load(d, first);
    step = hn::Load(d, steps);
  }
  HWY_INLINE Vec take() {
    const Vec current = hn::BitCast(Bytes(), next);
    next = hn::Add(next, step);
    return current;
  }
};

enum class Mode { Xor, Fill };

template <Mode mode>
HWY_INLINE void counter_mode(const AesKey& key, Block counter, Block* data, std::size_t blocks) {
  const Bytes d;
  const std::size_t lanes = hn::Lanes(d) / sizeof(Block), step = lanes * kStreams;
  const Schedule schedule{reinterpret_cast<const std::uint8_t*>(key.round_keys)};
  Counters counters(counter);
  auto* bytes = reinterpret_cast<std::uint8_t*>(data);
  std::size_t done = 0;
  for (; done + step <= blocks; done += step) {
    Vec state[kStreams];
    for (auto& s : state) s = counters.take();
    encrypt(schedule, state);
    for (std::size_t i = 0; i < kStreams; ++i) {
      std::uint8_t* at = bytes + (done + i * lanes) * sizeof(Block);
      hn::StoreU(mode == Mode::Xor ? hn::Xor(state[i], hn::LoadU(d, at)) : state[i], d, at);
    }
  }
  if (done == blocks) return;
  Vec state[kStreams];
  for (auto& s : state) s = counters.take();
  encrypt(schedule, state);
  alignas(64) std::uint8_t rest[kStreams * 64];
  for (std::size_t i = 0; i < kStreams; ++i)
    hn::Store(state[i], d, rest + i * lanes * sizeof(Block));
  const auto* blocks_left = reinterpret_cast<const Block*>(rest);
  for (std::size_t i = 0; done + i < blocks; ++i)
    data[done + i] = mode == Mode::Xor ? data[done + i] ^ blocks_left[i] : blocks_left[i];
}

void ctr_xor(const AesKey& key, Block counter, Block* data, std::size_t blocks) {
  if (use_vaes()) return vaes::ctr_xor(key, counter, data, blocks);
  counter_mode<Mode::Xor>(key, counter, data, blocks);
}

void ctr_fill(const AesKey& key, Block counter, Block* data, std::size_t blocks) {
  if (use_vaes()) return vaes::ctr_fill(key, counter, data, blocks);
  counter_mode<Mode::Fill>(key, counter, data, blocks);
}

HWY_INLINE void hash_group(const Schedule& schedule, Counters& tweaks, const std::uint8_t* in,
                           std::uint8_t* out) {
  const Bytes d;
  const std::size_t width = hn::Lanes(d);
  Vec once[kStreams], twice[kStreams];
  for (std::size_t i = 0; i < kStreams; ++i) once[i] = hn::LoadU(d, in + i * width);
  encrypt(schedule, once);
  for (std::size_t i = 0; i < kStreams; ++i) twice[i] = hn::Xor(once[i], tweaks.take());
  encrypt(schedule, twice);
  for (std::size_t i = 0; i < kStreams; ++i)
    hn::StoreU(hn::Xor(once[i], twice[i]), d, out + i * width);
}

void tweaked_hash(const AesKey& key, Block tweak, const Block* in, Block* out, std::size_t blocks) {
  if (use_vaes()) return vaes::tweaked_hash(key, tweak, in, out, blocks);
  const std::size_t step = hn::Lanes(Bytes()) / sizeof(Block) * kStreams;
  const Schedule schedule{reinterpret_cast<const std::uint8_t*>(key.round_keys)};
  Counters tweaks(tweak);
  std::size_t done = 0;
  for (; done + step <= blocks; done += step)
    hash_group(schedule, tweaks, reinterpret_cast<const std::uint8_t*>(in + done),
               reinterpret_cast<std::uint8_t*>(out + done));
  if (done == blocks) return;
  alignas(64) Block rest[kStreams * 4] = {};
  for (std::size_t i = 0; done + i < blocks; ++i) rest[i] = in[done + i];
  hash_group(schedule, tweaks, reinterpret_cast<const std::uint8_t*>(rest),
             reinterpret_cast<std::uint8_t*>(rest));
  for (std::size_t i = 0; done + i < blocks; ++i) out[done + i] = rest[i];
  wipe(rest, sizeof rest);
}

// The two halves of s(x) from x.
HWY_INLINE Vec swapped_and_added(Vec x) {
  const Words d;
  const auto words = hn::BitCast(d, x);
  return hn::BitCast(Bytes(), hn::Xor(hn::Shuffle01(words), hn::OddEven(words, hn::Zero(d))));
}

// A patch, for vectors of consecutive nodes.
struct PatchVectors {
  using Vec64 = hn::Vec<Words>;
  Vec64 index, step, place[2], difference[2];

  HWY_INLINE PatchVectors(const SecretPatch& patch) {
    const Words d;
    const std::size_t blocks = hn::Lanes(d) / 2;
    alignas(64) std::uint64_t first[8], twice[2][8];
    for (std::size_t b = 0; b < blocks; ++b) {
      first[2 * b] = first[2 * b + 1] = b;
      for (std::size_t i = 0; i < 2; ++i)
        twice[i][2 * b] = patch.differences[i].lo, twice[i][2 * b + 1] = patch.differences[i].hi;
    }
    index = hn::Load(d, first);
    step = hn::Set(d, blocks);
    for (std::size_t i = 0; i < 2; ++i) {
      place[i] = hn::Set(d, patch.places[i]);
      difference[i] = hn::Load(d, twice[i]);
    }
    wipe(twice, sizeof twice);
  }
  // The next nodes, patched.
  HWY_INLINE Vec operator()(Vec nodes) {
    auto words = hn::BitCast(Words(), nodes);
    for (std::size_t i = 0; i < 2; ++i)
      words = hn::Xor(words, hn::IfThenElseZero(hn::Eq(index, place[i]), difference[i]));
    index = hn::Add(index, step);
    return hn::BitCast(Bytes(), words);
  }
};
struct NoPatch {
  HWY_INLINE Vec operator()(Vec nodes) { return nodes; }
};

// kStreams vectors of nodes; their children are put at `left` and `right`. A node waits for its
// hash at `right`, not in a register: there would not be enough of them, and what the compiler
// keeps on the stack is not wiped.
template <class Patch>
HWY_INLINE void level_group(const Schedule& schedule, Patch& patch, const Block* nodes, Block* left,
                            Block* right, Vec& sum_of_nodes, Vec& sum_of_left) {
  const Bytes d;
  const std::size_t width = hn::Lanes(d);
  const auto* from = reinterpret_cast<const std::uint8_t*>(nodes);
  auto* to_left = reinterpret_cast<std::uint8_t*>(left);
  auto* to_right = reinterpret_cast<std::uint8_t*>(right);
  Vec hashed[kStreams];
  for (std::size_t i = 0; i < kStreams; ++i) {
    const Vec node = patch(hn::LoadU(d, from + i * width));
    hn::StoreU(node, d, to_right + i * width);
    sum_of_nodes = hn::Xor(sum_of_nodes, node);
    hashed[i] = swapped_and_added(node);
  }
  encrypt(schedule, hashed);
  for (std::size_t i = 0; i < kStreams; ++i) {
    const Vec node = hn::LoadU(d, to_right + i * width);
    const Vec of_left = hn::Xor(hashed[i], swapped_and_added(node));
    sum_of_left = hn::Xor(sum_of_left, of_left);
    hn::StoreU(of_left, d, to_left + i * width);
    hn::StoreU(hn::Xor(of_left, node), d, to_right + i * width);
  }
}

HWY_INLINE Block sum_of_blocks(Vec vector) {
  const Bytes d;
  alignas(64) Block blocks[4];
  hn::Store(vector, d, reinterpret_cast<std::uint8_t*>(blocks));
  Block sum = blocks[0];
  for (std::size_t i = 1; i < hn::Lanes(d) / sizeof(Block); ++i) sum ^= blocks[i];
  return sum;
}

template <class Patch>
HWY_INLINE void level(const AesKey& key, Block* nodes, std::size_t count, Patch patch,
                      LevelSums& sums) {
  constexpr std::size_t kGroupMax = kStreams * 4;
  const Bytes d;
  const std::size_t group = hn::Lanes(d) / sizeof(Block) * kStreams;
  const Schedule schedule{reinterpret_cast<const std::uint8_t*>(key.round_keys)};
  Vec of_nodes = hn::Zero(d), of_left = hn::Zero(d);
  if (count >= group) {
    for (std::size_t done = 0; done < count; done += group)
      level_group(schedule, patch, nodes + done, nodes + done, nodes + count + done, of_nodes,
                  of_left);
    sums = {sum_of_blocks(of_nodes), sum_of_blocks(of_left)};
    return;
  }
  alignas(64) Block few[kGroupMax] = {}, left[kGroupMax], right[kGroupMax];
  for (std::size_t i = 0; i < count; ++i) few[i] = nodes[i];
  level_group(schedule, patch, few, left, right, of_nodes, of_left);
  sums = {};
  for (std::size_t i = 0; i < count; ++i) {
    nodes[i] = left[i];
    nodes[count + i] = right[i];
    sums.nodes ^= left[i] ^ right[i];
    sums.left ^= left[i];
  }
  wipe(few, sizeof few), wipe(left, sizeof left), wipe(right, sizeof right);
}

void half_tree_level(const AesKey& key, Block* nodes, std::size_t count, const SecretPatch* patch,
                     LevelSums& sums) {
  if (use_vaes()) return vaes::half_tree_level(key, nodes, count, patch, sums);
  if (patch != nullptr)
    level(key, nodes, count, PatchVectors(*patch), sums);
  else
    level(key, nodes, count, NoPatch(), sums);
}

void apply_patch(const SecretPatch& patch, Block* nodes, std::size_t count) {
  const Bytes d;
  const std::size_t blocks = hn::Lanes(d) / sizeof(Block);
  PatchVectors next(patch);
  if (count < blocks) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t p = 0; p < 2; ++p)
        nodes[i] ^= times(patch.differences[p], i == patch.places[p]);
    return;
  }
  for (std::size_t i = 0; i < count; i += blocks) {
    auto* at = reinterpret_cast<std::uint8_t*>(nodes + i);
    hn::StoreU(next(hn::LoadU(d, at)), d, at);
  }
}

// SubWord by the S-box inside AESLastRound: with four equal columns ShiftRows has no effect, and
// neither has a zero key.
HWY_INLINE std::uint32_t sub_word(std::uint32_t word) {
  const hn::CappedTag<std::uint8_t, 16> d;
  const hn::Repartition<std::uint32_t, decltype(d)> d32;
  alignas(16) std::uint32_t lanes[4];
  hn::Store(hn::BitCast(d32, hn::AESLastRound(hn::BitCast(d, hn::Set(d32, word)), hn::Zero(d))),
            d32, lanes);
  return lanes[0];
}

void expand_key(Block key, Block* round_keys) {
  static constexpr std::uint8_t kRoundConstants[10] = {0x01, 0x02, 0x04, 0x08, 0x10,
                                                       0x20, 0x40, 0x80, 0x1b, 0x36};
  std::uint32_t words[44];
  std::memcpy(words, &key, sizeof key);
  for (std::size_t i = 4; i < 44; ++i) {
    std::uint32_t word = words[i - 1];
    if (i % 4 == 0) word = sub_word((word >> 8) | (word << 24)) ^ kRoundConstants[i / 4 - 1];
    words[i] = words[i - 4] ^ word;
  }
  std::memcpy(round_keys, words, sizeof words);
  wipe(words, sizeof words);
}

}  // namespace HWY_NAMESPACE
}  // namespace tinyot::crypto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tinyot::crypto {

HWY_EXPORT(ctr_xor);
HWY_EXPORT(ctr_fill);
HWY_EXPORT(tweaked_hash);
HWY_EXPORT(half_tree_level);
HWY_EXPORT(apply_patch);
HWY_EXPORT(expand_key);

namespace {

void note_blocks(UseKind kind, const AesKey& key, Block counter, std::size_t blocks) {
  note_use({kind, std::as_bytes(std::span(key.round_keys, 1)), counter.hi, counter.lo, blocks});
}

}  // namespace

AesKey expand_key(Block key) {
  AesKey expanded;
  HWY_DYNAMIC_DISPATCH(expand_key)(key, expanded.round_keys);
  return expanded;
}

void ctr_xor(const AesKey& key, Block counter, std::span<Block> inout) {
  note_blocks(UseKind::Stream, key, counter, inout.size());
  HWY_DYNAMIC_DISPATCH(ctr_xor)(key, counter, inout.data(), inout.size());
}

void ctr_fill(const AesKey& key, Block counter, std::span<Block> out) {
  note_blocks(UseKind::Stream, key, counter, out.size());
  HWY_DYNAMIC_DISPATCH(ctr_fill)(key, counter, out.data(), out.size());
}

void tweaked_hash(const AesKey& key, Block tweak, std::span<const Block> in, std::span<Block> out) {
  ENSURE(in.size() == out.size());
  note_blocks(UseKind::Hash, key, tweak, in.size());
  HWY_DYNAMIC_DISPATCH(tweaked_hash)(key, tweak, in.data(), out.data(), in.size());
}

LevelSums half_tree_level(const AesKey& key, std::span<Block> nodes, const SecretPatch* patch) {
  ENSURE(nodes.size() >= 4 && std::has_single_bit(nodes.size()));
  note_blocks(UseKind::HalfTree, key, {0, 0}, nodes.size() / 2);
  LevelSums sums;
  HWY_DYNAMIC_DISPATCH(half_tree_level)(key, nodes.data(), nodes.size() / 2, patch, sums);
  return sums;
}

void apply_patch(const SecretPatch& patch, std::span<Block> nodes) {
  ENSURE(std::has_single_bit(nodes.size()));
  HWY_DYNAMIC_DISPATCH(apply_patch)(patch, nodes.data(), nodes.size());
}

}  // namespace tinyot::crypto
#endif  // HWY_ONCE
