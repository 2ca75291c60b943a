// How leaky triples of layer k are combined with those of layer 0 (doc/protocol.md, section 7.2):
// layer k is shifted cyclically by r, uniform in [0, l). Both parties derive r from a coin toss
// after the layers are fixed. A layer is read once, sequentially from r on.
//
// An attack on t_k triples of each layer k survives with 2^-(t_0 + ... + t_(B-1)) and leaves at
// most l^(1-B).t_0 ... t_(B-1) fully attacked buckets in expectation: the worst case is one per
// layer, 2^-B.l^(1-B).
#pragma once

#include <cstddef>
#include <vector>

#include "checks/session.h"
#include "crypto/public_coins.h"

namespace tinyot::offline {

// From coins that were tossed after the layers were fixed.
std::vector<std::size_t> shifts_from(const checks::Session& session,
                                     const crypto::PublicSeed& coins, std::size_t layers,
                                     std::size_t size);

// Role: both, symmetric. The shifts of layers 1, 2, ..., layers - 1, of `size` triples each.
// Wire: as toss_coins.
std::vector<std::size_t> toss_shifts(checks::Session& session, std::size_t layers,
                                     std::size_t size);

}  // namespace tinyot::offline
