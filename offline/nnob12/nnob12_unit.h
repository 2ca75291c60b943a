// Units of the nnob12 profile: l objects of each kind, permuted together, from one run of
// authenticated bits (NNOB12 Fig. 5); or l triples, each from one object of each kind.
//
// For each AND and direction a unit takes 3B bits for the LaANDs, 2B as sender and 2B as receiver
// of LaOTs, and one bit r.
#pragma once

#include <mutex>
#include <vector>

#include "offline/nnob12/auth_bits.h"
#include "offline/unit/unit_maker.h"

namespace tinyot::offline {

// Where the parts of a unit lie among the aBits of one owner; each part begins at a multiple of 64.
struct UnitLayout {
  explicit UnitLayout(const UnitRequest& request)
      : leaky(request.plan.ands * request.plan.bucket.only()), part((leaky + 63) / 64 * 64),
        plain(request.plan.ands + request.inputs) {}

  std::size_t leaky;  // leaky objects of each kind and direction, B l
  std::size_t part;
  std::size_t plain;

  enum Part : std::size_t { AndX, AndY, AndR, SentX0, SentX1, ChosenC, ChosenR, Plain };
  std::size_t begin(Part p) const { return p * part; }
  std::size_t end() const { return begin(Plain) + plain; }
};

class Nnob12UnitMaker final : public UnitMaker {
 public:
  Nnob12UnitMaker(checks::Session& session, const SecurityParameters& params, PipelineDepth depth)
      : depth_(depth), bits_(session, params, depth), material_(params.material()) {}

  BitSource& bits() override { return bits_; }

  // aBits; then LaANDs and LaOTs of both directions, with one EQ over all of them; then the
  // buckets' permutations and combiner bits. Wire: as AuthBitSource::stream; 112.5 bytes per leaky
  // object of each kind (16 + 1/8 for an AND, 96 + 3/8 for an OT), with the chunks of all kinds and
  // directions interleaved, each step two chunks behind the step before it; 3 messages for EQ; 4
  // messages in one round. Fails: PeerCheated("LaOT MAC", "EQ of leaky objects"), and as
  // AuthBitSource::stream.
  std::unique_ptr<MadeUnit> make(checks::Session& part, std::size_t number,
                                 const UnitRequest& request) override;

  void stop() noexcept override { bits_.stop(); }

 private:
  PipelineDepth depth_;
  AuthBitSource bits_;
  AndMaterial material_;
  std::mutex mutex_;
  std::vector<AuthBits> spare_;  // memory of finished units, for reuse
};

}  // namespace tinyot::offline
