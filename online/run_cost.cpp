#include "online/run_cost.h"

namespace tinyot::online {

std::array<std::uint64_t, 2> announced_bits(const circuit::CircuitInfo& info, std::size_t lanes,
                                            const circuit::Round& round) {
  std::array<std::uint64_t, 2> bits{};
  for (const circuit::RoundInput& input : round.inputs) {
    const circuit::InputBundle& bundle = info.inputs[input.bundle];
    if (const auto owner = owner_of(bundle.source))
      bits[static_cast<std::size_t>(*owner)] += bundle.same_in_all_lanes ? 1 : lanes;
  }
  return bits;
}

std::uint64_t revealed_bits(const circuit::CircuitInfo& info, std::size_t lanes) {
  std::uint64_t bits = 0;
  for (const circuit::OutputBundle& bundle : info.outputs)
    if (bundle.to != circuit::Receiver::None) bits += std::uint64_t{bundle.bits} * lanes;
  return bits;
}

}  // namespace tinyot::online
