// Full triples as the triples of an interactive run: each party folds its MACs and keys into a
// share of x.(Delta^A ^ Delta^B).
#pragma once

#include "base/block.h"
#include "material/material.h"

namespace tinyot::online {

class FoldedSource final : public material::Source {
 public:
  // `full` has material of the form Garbling, and outlives this object.
  FoldedSource(material::Source& full, Party me, Delta global_key)
      : full_(full), me_(me), global_key_(global_key) {}
  ~FoldedSource() override { wipe_object(global_key_); }

  material::Batch draw(MaterialKind kind, std::size_t count) override;
  material::DrawnBatch draw_up_to(MaterialKind kind, std::size_t count) override;
  std::uint64_t ready(MaterialKind kind) override { return full_.ready(drawn_for(kind)); }
  void wait_for(MaterialKind kind) override { full_.wait_for(drawn_for(kind)); }

 private:
  static MaterialKind drawn_for(MaterialKind kind) {
    return kind == MaterialKind::Triples ? MaterialKind::FullTriples : kind;
  }

  material::Source& full_;
  Party me_;
  Delta global_key_;
};

}  // namespace tinyot::online
