#include "online/garbled/garbled_steps.h"

namespace tinyot::online {

BundleValues public_values(const circuit::CircuitInfo& info, const BundleValues& inputs) {
  BundleValues values(info.inputs.size());
  for (std::size_t b = 0; b < values.size(); ++b)
    if (info.inputs[b].source == circuit::InputSource::Public) values[b] = inputs[b];
  return values;
}

void forget_material(Chunk& chunk) {
  chunk.triples.clear();
  for (material::Slices& masks : chunk.result_masks) masks.clear();
  for (MaskedInputs& inputs : chunk.inputs) inputs.masks.clear();
  chunk.d = chunk.e = BitVector();
}

}  // namespace tinyot::online
