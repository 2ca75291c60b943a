// Which leaky triple of layer k meets which of layer 0 (PROTOCOL section 7): the layer is shifted
// cyclically by r, uniform in [0, l). Both parties derive r from coins that they have tossed
// jointly when the layers are fixed. A layer is walked once, from r on, so that nothing is gathered
// from far apart.
//
// An attack on t_k triples of each layer k survives with 2^-(t_0 + ... + t_(B-1)) and has
// l^(1-B).t_0 ... t_(B-1) fully attacked buckets at most in expectation: worst is one a layer,
// 2^-B.l^(1-B).
#pragma once

#include <cstddef>
#include <vector>

#include "checks/session.h"

namespace tinyot::offline {

// Role: both, symmetric. The shifts of layers 1, 2, ..., layers - 1, of `size` triples each.
// Wire: as toss_coins.
std::vector<std::size_t> toss_shifts(checks::Session& session, std::size_t layers,
                                     std::size_t size);

}  // namespace tinyot::offline
