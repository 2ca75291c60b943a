// The setting of a run that evaluates shared bits, on triples: material for garbling is folded as
// it is drawn, and so are values that a garbled run has left.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "online/folded_source.h"
#include "online/online_phase.h"

namespace tinyot::online {

class FoldedTriples {
 public:
  // Changes the setting, which outlives this object, if its material is for garbling.
  explicit FoldedTriples(OnlineSetting& setting) : source_(&setting.source) {
    if (setting.form != AndMaterial::Garbling) return;
    folded_.emplace(setting.source, setting.session.me(), setting.session.global_key());
    source_ = &*folded_;
    setting.form = AndMaterial::Triples;
    std::swap(setting.wanted[MaterialKind::Triples], setting.wanted[MaterialKind::FullTriples]);
    values_.reserve(setting.shared.size());
    for (const SharedValue*& value : setting.shared)
      if (value != nullptr && value->form() == WireForm::HalfShares)
        value = &values_.emplace_back(value->folded());
  }
  FoldedTriples(const FoldedTriples&) = delete;
  FoldedTriples& operator=(const FoldedTriples&) = delete;

  material::Source& source() const { return *source_; }

 private:
  material::Source* source_;
  std::optional<FoldedSource> folded_;
  std::vector<SharedValue> values_;
};

}  // namespace tinyot::online
