// Values of a bundle as one vector of bits a lane, in which tests write and compare them.
#pragma once

#include <vector>

#include "base/lane_bits.h"
#include "circuitgen/evaluate.h"

namespace tinyot {
namespace circuit {

using LaneValues = std::vector<BitVector>;

inline LaneMatrix matrix_of(const LaneValues& values) {
  LaneMatrix matrix(values.size(), values.empty() ? 0 : values.front().size());
  for (std::size_t lane = 0; lane < values.size(); ++lane) set_lane(matrix, lane, values[lane]);
  return matrix;
}

inline LaneValues values_of(const LaneMatrix& matrix) {
  LaneValues values;
  for (std::size_t lane = 0; lane < matrix.lanes(); ++lane) values.push_back(to_bits(matrix[lane]));
  return values;
}

inline std::vector<LaneValues> evaluate(const Circuit& circuit, std::size_t lanes,
                                        const std::vector<LaneValues>& inputs) {
  std::vector<LaneMatrix> matrices;
  for (const LaneValues& values : inputs) matrices.push_back(matrix_of(values));
  std::vector<LaneValues> outputs;
  for (const LaneMatrix& matrix : evaluate(circuit, lanes, matrices))
    outputs.push_back(values_of(matrix));
  return outputs;
}

}  // namespace circuit
}  // namespace tinyot
