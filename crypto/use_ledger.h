// Reports values that must be used only once to an observer: the domains of RO, the tweaks of H,
// the blocks of a counter mode, the nonces of a sealing key, and how often H1 is used. A test sets
// an observer to find reuse. Without an observer, each call costs one load, and each call processes
// many blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tinyot::crypto {

enum class UseKind { Oracle, Hash, Stream, Seal, HalfTree };

// Numbers [first, first + count) of a space of a key.
//   Oracle  key: the session; space: the direction; number: the counter; label: the phase
//   Hash    key: of P; space and number: the tweak's two halves
//   Stream  key: of AES; space and number: the counter's two halves
//   Seal    key: of the cipher; space and number: the nonce's two parts
// H1 has no tweak, so its uses have no numbers: of `count` nodes under a key, first is 0.
//   HalfTree  key: of AES
struct Use {
  UseKind kind;
  std::span<const std::byte> key;
  std::uint64_t space, first, count;
  std::string_view label = {};
};

// Called from any thread.
using UseObserver = void(const Use& use);
inline std::atomic<UseObserver*> use_observer = nullptr;

inline void note_use(const Use& use) {
  if (UseObserver* const observer = use_observer.load(std::memory_order_relaxed)) observer(use);
}

}  // namespace tinyot::crypto
