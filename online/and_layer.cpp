#include "online/and_layer.h"

#include <algorithm>

#include "online/ands_from_pairs.h"
#include "online/ands_from_triples.h"

namespace tinyot {
namespace {

// Entry `at` + lane of an operand is that lane of the wire.
void gather(Wires& wires, Slot slot, std::size_t at, Operand& out) {
  const WireView wire = wires[slot];
  copy_bits(wire.bits, 0, out.bits.words(), at, wires.lanes());
  std::copy(wire.macs.begin(), wire.macs.end(), out.macs.begin() + static_cast<std::ptrdiff_t>(at));
  std::copy(wire.keys.begin(), wire.keys.end(), out.keys.begin() + static_cast<std::ptrdiff_t>(at));
}

void scatter(const Operand& in, std::size_t at, Wires& wires, Slot slot) {
  const WireView wire = wires[slot];
  copy_bits(in.bits.words(), at, wire.bits, 0, wires.lanes());
  std::copy_n(in.macs.begin() + static_cast<std::ptrdiff_t>(at), wires.lanes(), wire.macs.begin());
  std::copy_n(in.keys.begin() + static_cast<std::ptrdiff_t>(at), wires.lanes(), wire.keys.begin());
}

}  // namespace

void evaluate_and_layer(Session& session, MaterialSource& source, MaterialForm form, std::span<const RoundAnd> ands, Wires& wires) {
  const std::size_t lanes = wires.lanes();
  Operand x(ands.size() * lanes), y(ands.size() * lanes);
  for (std::size_t gate = 0; gate < ands.size(); ++gate) {
    gather(wires, ands[gate].in0, gate * lanes, x);
    gather(wires, ands[gate].in1, gate * lanes, y);
  }
  const auto ands_of = form == MaterialForm::Triples ? ands_from_triples : ands_from_pairs;
  const Operand z = ands_of(session, source, std::move(x), std::move(y));
  for (std::size_t gate = 0; gate < ands.size(); ++gate) scatter(z, gate * lanes, wires, ands[gate].out);
}

}  // namespace tinyot
