#include "online/wires.h"

#include <algorithm>

namespace tinyot {

void Wires::grow(std::size_t slots) {
  if (slots <= slots_) return;
  slots_ = slots;
  bits_.resize(slots * words_);
  macs_.resize(slots * lanes_);
  keys_.resize(slots * lanes_);
}

WireView Wires::operator[](std::size_t slot) {
  return {std::span(bits_).subspan(slot * words_, words_), std::span(macs_).subspan(slot * lanes_, lanes_),
          std::span(keys_).subspan(slot * lanes_, lanes_)};
}

void Wires::set_constant(std::size_t out, bool value) {
  const WireView wire = (*this)[out];
  std::fill(wire.bits.begin(), wire.bits.end(), 0);
  std::fill(wire.macs.begin(), wire.macs.end(), Mac{{0, 0}});
  std::fill(wire.keys.begin(), wire.keys.end(), Key{{0, 0}});
  if (value) flip(wire);
}

void Wires::set_xor(std::size_t out, std::size_t in0, std::size_t in1) {
  const WireView z = (*this)[out], x = (*this)[in0], y = (*this)[in1];
  for (std::size_t w = 0; w < words_; ++w) z.bits[w] = x.bits[w] ^ y.bits[w];
  for (std::size_t i = 0; i < lanes_; ++i) z.macs[i] = x.macs[i] ^ y.macs[i];
  for (std::size_t i = 0; i < lanes_; ++i) z.keys[i] = x.keys[i] ^ y.keys[i];
}

void Wires::set_not(std::size_t out, std::size_t in) {
  const WireView z = (*this)[out], x = (*this)[in];
  if (out == in) return flip(z);
  std::copy(x.bits.begin(), x.bits.end(), z.bits.begin());
  std::copy(x.macs.begin(), x.macs.end(), z.macs.begin());
  std::copy(x.keys.begin(), x.keys.end(), z.keys.begin());
  flip(z);
}

void Wires::flip(const WireView& wire) {
  if (me_ == Party::A) {
    for (std::uint64_t& word : wire.bits) word = ~word;
  } else {
    for (Key& key : wire.keys) key = moved(key, global_key_, true);
  }
}

}  // namespace tinyot
