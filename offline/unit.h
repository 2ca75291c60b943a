// One unit of material: l objects of each kind, permuted together, from one run of authenticated bits (NNOB12 Fig. 5).
//
// For each AND and direction it takes 3B bits for the LaANDs, 2B as sender and 2B as receiver of LaOTs, and one bit r.
#pragma once

#include <memory>

#include "base/material.h"
#include "base/parameters.h"
#include "checks/session.h"
#include "offline/buckets.h"
#include "offline/global_key.h"

namespace tinyot {

// What a unit is to yield: plan.ands objects of each kind, and plan.ands + inputs aBits of each party.
struct UnitRequest {
  UnitPlan plan;
  std::uint64_t inputs;
};

// Where the parts of a unit lie among the aBits of one owner; each part begins at a multiple of 64.
struct UnitLayout {
  explicit UnitLayout(const UnitRequest& request)
      : leaky(request.plan.ands * request.plan.bucket), part((leaky + 63) / 64 * 64), plain(request.plan.ands + request.inputs) {}

  std::size_t leaky;  // leaky objects of each kind and direction, B l
  std::size_t part;
  std::size_t plain;

  enum Part : std::size_t { AndX, AndY, AndR, SentX0, SentX1, ChosenC, ChosenR, Plain };
  std::size_t begin(Part p) const { return p * part; }
  std::size_t end() const { return begin(Plain) + plain; }
};

// The calls follow the order of the protocol. `session` is a part of the whole session that is this unit's own.
class Unit {
 public:
  // Shapes: bits: at least UnitLayout(request).end() of each direction. They are used up, but stay the caller's.
  Unit(Session& session, const UnitRequest& request, AuthBits& bits);
  ~Unit();

  // LaANDs and LaOTs of both directions, with one EQ over all of them.
  // Wire: sends 112.5 bytes a leaky object of each kind (16 + 1/8 for an AND, 96 + 3/8 for an OT). The chunks of all kinds and
  // directions flow together, each step two chunks behind the one before; then 3 messages for EQ.
  // Fails: PeerCheated("LaOT MAC", "EQ of LaAND of A", "... of B", "EQ of LaOT from A", "... from B").
  void make_leaky_objects();

  // Permutes the objects into buckets and reveals the combiner bits; their MACs are on the session's transcripts.
  // Wire: 4 messages, at once.
  void reveal_combiners();

  // Folds the buckets and pours everything. Asks for the check that all of it depends on.
  void pour(const SettledCheck&, MaterialSink& sink) const;

 private:
  MineView mine(UnitLayout::Part part) { return bits_.mine.view(layout_.begin(part), layout_.leaky); }
  PeersView peers(UnitLayout::Part part) { return bits_.peers.view(layout_.begin(part), layout_.leaky); }

  struct BucketRoles;

  Session& session_;
  UnitRequest request_;
  UnitLayout layout_;
  AuthBits& bits_;
  std::unique_ptr<BucketRoles> roles_;
};

}  // namespace tinyot
