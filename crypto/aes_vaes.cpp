#include "crypto/aes_vaes.h"

#include "base/error.h"
#include "base/secret.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TINYOT_VAES_COMPILED 1
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace tinyot::crypto::vaes {

#ifdef TINYOT_VAES_COMPILED

#define TINYOT_VAES_TARGET __attribute__((target("avx2,aes,vaes")))
#define TINYOT_VAES_INLINE TINYOT_VAES_TARGET __attribute__((always_inline)) inline

namespace {

constexpr std::size_t kVectors = 8;           // in flight
constexpr std::size_t kGroup = 2 * kVectors;  // blocks

struct Group {
  __m256i of[kVectors];
};

TINYOT_VAES_INLINE void encrypt(const AesKey& key, Group& state) {
  const auto round_key = [&](std::size_t round) TINYOT_VAES_TARGET {
    return _mm256_broadcastsi128_si256(
        _mm_load_si128(reinterpret_cast<const __m128i*>(&key.round_keys[round])));
  };
  const __m256i first = round_key(0);
  for (std::size_t i = 0; i < kVectors; ++i) state.of[i] = _mm256_xor_si256(state.of[i], first);
  for (std::size_t round = 1; round < 10; ++round) {
    const __m256i middle = round_key(round);
    for (std::size_t i = 0; i < kVectors; ++i)
      state.of[i] = _mm256_aesenc_epi128(state.of[i], middle);
  }
  const __m256i last = round_key(10);
  for (std::size_t i = 0; i < kVectors; ++i)
    state.of[i] = _mm256_aesenclast_epi128(state.of[i], last);
}

// The counters (or tweaks) of the next group.
TINYOT_VAES_INLINE Group counters_from(Block counter, std::uint64_t offset) {
  Group group;
  __m256i next = _mm256_set_epi64x(
      static_cast<long long>(counter.hi), static_cast<long long>(counter.lo + offset + 1),
      static_cast<long long>(counter.hi), static_cast<long long>(counter.lo + offset));
  const __m256i step = _mm256_set_epi64x(0, 2, 0, 2);
  for (std::size_t i = 0; i < kVectors; ++i) {
    group.of[i] = next;
    next = _mm256_add_epi64(next, step);
  }
  return group;
}

TINYOT_VAES_INLINE __m256i load(const Block* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
TINYOT_VAES_INLINE void store(Block* to, __m256i value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

TINYOT_VAES_INLINE void xor_group(const AesKey& key, Block counter, std::uint64_t done,
                                  Block* data) {
  Group pad = counters_from(counter, done);
  encrypt(key, pad);
  for (std::size_t i = 0; i < kVectors; ++i)
    store(data + 2 * i, _mm256_xor_si256(load(data + 2 * i), pad.of[i]));
}

TINYOT_VAES_INLINE void fill_group(const AesKey& key, Block counter, std::uint64_t done,
                                   Block* data) {
  Group pad = counters_from(counter, done);
  encrypt(key, pad);
  for (std::size_t i = 0; i < kVectors; ++i) store(data + 2 * i, pad.of[i]);
}

TINYOT_VAES_INLINE void hash_group(const AesKey& key, Block tweak, std::uint64_t done,
                                   const Block* in, Block* out) {
  Group once, twice = counters_from(tweak, done);
  for (std::size_t i = 0; i < kVectors; ++i) once.of[i] = load(in + 2 * i);
  encrypt(key, once);
  for (std::size_t i = 0; i < kVectors; ++i)
    twice.of[i] = _mm256_xor_si256(twice.of[i], once.of[i]);
  encrypt(key, twice);
  for (std::size_t i = 0; i < kVectors; ++i)
    store(out + 2 * i, _mm256_xor_si256(once.of[i], twice.of[i]));
}

TINYOT_VAES_INLINE __m256i twice(Block block) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&block)));
}

// A patch, for pairs of consecutive nodes.
struct PatchPairs {
  __m256i index, place[2], difference[2];
};

TINYOT_VAES_INLINE __m256i next_patched(PatchPairs& patch, __m256i nodes) {
  for (std::size_t i = 0; i < 2; ++i)
    nodes = _mm256_xor_si256(
        nodes,
        _mm256_and_si256(_mm256_cmpeq_epi64(patch.index, patch.place[i]), patch.difference[i]));
  patch.index = _mm256_add_epi64(patch.index, _mm256_set1_epi64x(2));
  return nodes;
}

struct PairSums {
  __m256i nodes, left;
};

TINYOT_VAES_INLINE __m256i swapped_and_added(__m256i node) {
  return _mm256_xor_si256(_mm256_shuffle_epi32(node, 0x4E),
                          _mm256_and_si256(node, _mm256_set_epi64x(-1, 0, -1, 0)));
}

// As in aes.cpp.
template <bool kIsPatched>
TINYOT_VAES_INLINE void level_group(const AesKey& key, PatchPairs& patch, const Block* nodes,
                                    Block* left, Block* right, PairSums& sums) {
  Group hashed;
  for (std::size_t i = 0; i < kVectors; ++i) {
    __m256i node = load(nodes + 2 * i);
    if (kIsPatched) node = next_patched(patch, node);
    store(right + 2 * i, node);
    sums.nodes = _mm256_xor_si256(sums.nodes, node);
    hashed.of[i] = swapped_and_added(node);
  }
  encrypt(key, hashed);
  for (std::size_t i = 0; i < kVectors; ++i) {
    const __m256i node = load(right + 2 * i);
    const __m256i of_left = _mm256_xor_si256(hashed.of[i], swapped_and_added(node));
    sums.left = _mm256_xor_si256(sums.left, of_left);
    store(left + 2 * i, of_left);
    store(right + 2 * i, _mm256_xor_si256(of_left, node));
  }
}

TINYOT_VAES_INLINE Block sum_of_halves(__m256i value) {
  const __m128i sum =
      _mm_xor_si128(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
  Block block;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&block), sum);
  return block;
}

template <bool kIsPatched>
TINYOT_VAES_INLINE void level(const AesKey& key, Block* nodes, std::size_t count, PatchPairs patch,
                              LevelSums& result) {
  PairSums sums{_mm256_setzero_si256(), _mm256_setzero_si256()};
  if (count >= kGroup) {
    for (std::size_t done = 0; done < count; done += kGroup)
      level_group<kIsPatched>(key, patch, nodes + done, nodes + done, nodes + count + done, sums);
    result = {sum_of_halves(sums.nodes), sum_of_halves(sums.left)};
    return;
  }
  alignas(32) Block few[kGroup] = {}, left[kGroup], right[kGroup];
  for (std::size_t i = 0; i < count; ++i) few[i] = nodes[i];
  level_group<kIsPatched>(key, patch, few, left, right, sums);
  result = {};
  for (std::size_t i = 0; i < count; ++i) {
    nodes[i] = left[i];
    nodes[count + i] = right[i];
    result.nodes ^= left[i] ^ right[i];
    result.left ^= left[i];
  }
  wipe(few, sizeof few), wipe(left, sizeof left), wipe(right, sizeof right);
}

// Clang 14's __builtin_cpu_supports does not have "vaes".
bool cpu_has_vaes() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_VAES) != 0;
}

}  // namespace

bool is_usable() {
  static const bool kUsable = __builtin_cpu_supports("avx2") && cpu_has_vaes();
  return kUsable;
}

TINYOT_VAES_TARGET void ctr_xor(const AesKey& key, Block counter, Block* data, std::size_t blocks) {
  std::size_t done = 0;
  for (; done + kGroup <= blocks; done += kGroup) xor_group(key, counter, done, data + done);
  if (done == blocks) return;
  alignas(32) Block rest[kGroup];
  fill_group(key, counter, done, rest);
  for (std::size_t i = 0; done + i < blocks; ++i) data[done + i] ^= rest[i];
}

TINYOT_VAES_TARGET void ctr_fill(const AesKey& key, Block counter, Block* data,
                                 std::size_t blocks) {
  std::size_t done = 0;
  for (; done + kGroup <= blocks; done += kGroup) fill_group(key, counter, done, data + done);
  if (done == blocks) return;
  alignas(32) Block rest[kGroup];
  fill_group(key, counter, done, rest);
  for (std::size_t i = 0; done + i < blocks; ++i) data[done + i] = rest[i];
}

TINYOT_VAES_TARGET void tweaked_hash(const AesKey& key, Block tweak, const Block* in, Block* out,
                                     std::size_t blocks) {
  std::size_t done = 0;
  for (; done + kGroup <= blocks; done += kGroup)
    hash_group(key, tweak, done, in + done, out + done);
  if (done == blocks) return;
  alignas(32) Block rest[kGroup] = {};
  for (std::size_t i = 0; done + i < blocks; ++i) rest[i] = in[done + i];
  hash_group(key, tweak, done, rest, rest);
  for (std::size_t i = 0; done + i < blocks; ++i) out[done + i] = rest[i];
  wipe(rest, sizeof rest);
}

TINYOT_VAES_TARGET void half_tree_level(const AesKey& key, Block* nodes, std::size_t count,
                                        const SecretPatch* patch, LevelSums& sums) {
  PatchPairs pairs{};
  if (patch == nullptr) return level<false>(key, nodes, count, pairs, sums);
  pairs.index = _mm256_set_epi64x(1, 1, 0, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    pairs.place[i] = _mm256_set1_epi64x(static_cast<long long>(patch->places[i]));
    pairs.difference[i] = twice(patch->differences[i]);
  }
  level<true>(key, nodes, count, pairs, sums);
}

#else

bool is_usable() { return false; }
void ctr_xor(const AesKey&, Block, Block*, std::size_t) {
  ENSURE(false && "VAES is not compiled in");
}
void ctr_fill(const AesKey&, Block, Block*, std::size_t) {
  ENSURE(false && "VAES is not compiled in");
}
void tweaked_hash(const AesKey&, Block, const Block*, Block*, std::size_t) {
  ENSURE(false && "VAES is not compiled in");
}
void half_tree_level(const AesKey&, Block*, std::size_t, const SecretPatch*, LevelSums&) {
  ENSURE(false && "VAES is not compiled in");
}

#endif

}  // namespace tinyot::crypto::vaes
