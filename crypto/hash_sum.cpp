#include "crypto/hash_sum.h"

#include <algorithm>
#include <utility>

namespace tinyot::crypto {
namespace {

constexpr std::size_t kStep = 256;  // blocks hashed at a time, on the stack

}  // namespace

void HashSum::absorb(std::span<const Block> blocks) {
  Block hashed[kStep];
  while (!blocks.empty()) {
    if (!hash_ || position_ == TweakHash::kObjectsMax) {
      hash_.emplace(session_, domain_);
      ++domain_.counter;
      position_ = 0;
    }
    const std::size_t count = std::min(
        {blocks.size(), kStep, static_cast<std::size_t>(TweakHash::kObjectsMax - position_)});
    (*hash_)(use_, position_, blocks.first(count), std::span(hashed, count));
    for (std::size_t i = 0; i < count; ++i) sum_ ^= hashed[i];
    position_ += count;
    blocks = blocks.subspan(count);
  }
}

Block HashSum::take() { return std::exchange(sum_, Block{0, 0}); }

}  // namespace tinyot::crypto
