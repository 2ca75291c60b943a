// Random numbers: AES-128 in counter mode, keyed with a 128-bit seed from the operating system or a
// test.
#pragma once

#include <cstdint>
#include <span>

#include "base/bit_vector.h"
#include "base/block.h"
#include "crypto/aes.h"

namespace tinyot::crypto {

class Rng {
 public:
  explicit Rng(Seed seed) : key_(expand_key(seed.value)) {}
  static Rng from_system();
  ~Rng();
  Rng(const Rng&) = delete;
  Rng& operator=(const Rng&) = delete;
  Rng(Rng&& other) noexcept;

  void fill(std::span<std::byte> out);
  template <class Word>
  requires(sizeof(Word) == sizeof(Block)) void fill_blocks(std::span<Word> out) {
    fill(std::as_writable_bytes(out));
  }
  Block block();
  BitVector bits(std::size_t size);

  // An object whose bytes are all random.
  template <class T>
  T object() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    fill(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  // Uniform in [0, bound), by rejection: no modulo bias.
  std::uint64_t below(std::uint64_t bound);

  // An independent generator for another purpose or thread.
  Rng fork() { return Rng(Seed{block()}); }

 private:
  static constexpr std::size_t kBufferBlocks = 64;
  void refill();

  AesKey key_;
  std::uint64_t next_block_ = 0;
  // Requests are served from here, front to back.
  Block buffer_[kBufferBlocks];
  std::size_t used_bytes_ = sizeof buffer_;
  bool moved_from_ = false;
};

}  // namespace tinyot::crypto
