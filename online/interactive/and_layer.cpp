#include "online/interactive/and_layer.h"

#include "online/interactive/ands_from_aand_aot.h"
#include "online/interactive/ands_from_triples.h"

namespace tinyot::online {

std::unique_ptr<AndLayer> begin_and_layer(checks::Session& session, MaterialReader& material,
                                          AndMaterial form, const BitVector& x,
                                          const BitVector& y) {
  return form == AndMaterial::Triples ? begin_triple_layer(session, material, x, y)
                                      : begin_pair_layer(session, material, x, y);
}

}  // namespace tinyot::online
