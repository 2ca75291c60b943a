#include "base/material.h"

namespace tinyot {

std::string_view name_of(MaterialKind kind) {
  switch (kind) {
    case MaterialKind::AuthBitsA: return "auth_bits_a";
    case MaterialKind::AuthBitsB: return "auth_bits_b";
    case MaterialKind::AuthAndsA: return "auth_ands_a";
    case MaterialKind::AuthAndsB: return "auth_ands_b";
    case MaterialKind::AuthOtsAB: return "auth_ots_ab";
    case MaterialKind::AuthOtsBA: return "auth_ots_ba";
    case MaterialKind::Triples: return "triples";
  }
  ENSURE(!"a known kind of material");
  return {};
}

MaterialShape shape_of(MaterialKind kind, Party me) {
  const bool a = me == Party::A;
  switch (kind) {
    case MaterialKind::AuthBitsA: return a ? MaterialShape{1, 0} : MaterialShape{0, 1};
    case MaterialKind::AuthBitsB: return a ? MaterialShape{0, 1} : MaterialShape{1, 0};
    case MaterialKind::AuthAndsA: return a ? MaterialShape{3, 0} : MaterialShape{0, 3};
    case MaterialKind::AuthAndsB: return a ? MaterialShape{0, 3} : MaterialShape{3, 0};
    case MaterialKind::AuthOtsAB:
    case MaterialKind::AuthOtsBA: return {2, 2};
    case MaterialKind::Triples: return {3, 3};
  }
  ENSURE(!"a known kind of material");
  return {};
}

MaterialBatch::MaterialBatch(MaterialKind kind_of_batch, Party me, std::size_t objects) : kind(kind_of_batch), count(objects) {
  const MaterialShape shape = shape_of(kind, me);
  for (std::size_t column = 0; column < shape.mine; ++column) mine.emplace_back(objects);
  for (std::size_t column = 0; column < shape.peers; ++column) peers.emplace_back(objects);
}

}  // namespace tinyot
