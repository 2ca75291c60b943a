// The columns of LaBit's strings.
//
// Source: NNOB12 Theorem 2, section 6 (the experiment's columns).
#pragma once

#include "offline/parameters.h"

namespace tinyot::offline {

// tau: columns that LaBit outputs. Theorem: >= 22 psi / 3, so that R hides Delta even if a quarter
// of them leak.
inline std::uint32_t columns_kept(const SecurityParameters& params) {
  const std::uint32_t factor = params.own<Nnob12Parameters>().columns == Columns::Theorem ? 22 : 8;
  return (factor * static_cast<std::uint32_t>(kKappa) + 2) / 3;
}
// T = 2 tau: columns that LaBit starts from, one base OT each.
inline std::uint32_t columns_made(const SecurityParameters& params) {
  return 2 * columns_kept(params);
}

}  // namespace tinyot::offline
