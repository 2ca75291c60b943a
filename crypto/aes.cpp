#include "crypto/aes.h"

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

}  // namespace tinyot::crypto
#endif  // HWY_ONCE
