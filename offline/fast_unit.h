// Units of the fast profile: triples from SoftSpoken bits, and aBits for inputs (PROTOCOL section 10).
//
// B layers of l leaky triples, each from 3 l bits a direction: made batch by batch in one pass, checked by one EQ, then shifted and
// folded into layer 0. Two layers are held at a time, whatever B is.
#pragma once

#include "offline/auth_triple.h"
#include "offline/ggm_trees.h"
#include "offline/softspoken.h"
#include "offline/unit_maker.h"

namespace tinyot {

class FastUnitMaker final : public UnitMaker {
 public:
  FastUnitMaker(Session& session, const SecurityParameters& params) : session_(session), k_(params.softspoken_k()) {}

  void set_anchor(AuthBits anchor) override { tie_.set_anchor(std::move(anchor)); }
  // Role: both. Wire: as make_trees; and without an anchor of an earlier connection, a batch of bits that becomes it.
  void prepare(std::size_t units) override;
  std::unique_ptr<MadeUnit> make(Session& part, std::size_t number, const UnitRequest& request) override;
  void stop() noexcept override {}

 private:
  Session& session_;
  std::uint32_t k_;
  Trees trees_;
  GlobalKeyTie tie_;
};

}  // namespace tinyot
