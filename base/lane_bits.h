// Rows of a LaneMatrix as vectors of bits, whose bytes are those of the rows.
#pragma once

#include "base/bit_vector.h"
#include "tinyot/lane_matrix.h"

namespace tinyot {

BitVector to_bits(ConstLane lane);
// `bits` are as many as a row has.
void set_lane(LaneMatrix& values, std::size_t lane, const BitVector& bits);

}  // namespace tinyot
