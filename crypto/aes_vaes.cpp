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

#endif

}  // namespace tinyot::crypto::vaes
