// Random circuits of a given shape, for benchmarks: layers of ANDs of random wires of the previous
// layer.
//
//   inputs    a (width, A), b (width, B)
//   output    z (width, to both)
//
// Layer k + 1 has z_i = (x & y) ^ w for three wires x, y, w of layer k, drawn by a public generator
// from the seed; layer 0 is a ^ b. width . depth ANDs at AND-depth `depth`.
#pragma once

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

CircuitFamily random_layers_family();

}  // namespace tinyot::circuit
