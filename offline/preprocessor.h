// The dealer, for real: makes units of aANDs, aOTs and aBits in both directions and pours them into a sink (NNOB12 Fig. 5).
//
// A unit of l ANDs takes l objects of each kind, permuted together, from one aBit run: for each AND and direction 3B bits for
// the LaANDs, 2B as sender and 2B as receiver of LaOTs, and one bit r. All checks of a unit have passed, and its MAC transcript
// is settled, before any of it reaches the sink.
#pragma once

#include "base/material.h"
#include "base/parameters.h"
#include "checks/session.h"
#include "offline/auth_bits.h"

namespace tinyot {

// What a unit is to yield: plan.ands objects of each kind, and plan.ands + inputs aBits of each party.
struct UnitRequest {
  UnitPlan plan;
  std::uint64_t inputs;
};

class Preprocessor {
 public:
  Preprocessor(Session& session, const SecurityParameters& params) : session_(session), maker_(session, params) {}

  // Ties the units of this connection to those of the session's earlier ones: kTieBits aBits of each direction are drawn from
  // what was made then. To be called before the first unit if there are earlier ones.
  void continue_from(MaterialSource& earlier);

  // Role: both, symmetric. Whether to make another unit: true if both parties want to.
  // Wire: 1 message each way. Fails: PeerCheated("unit number") if the peer has made another number of units.
  bool agree_to_continue(bool wanted);

  // Role: both, symmetric.
  // Fails: PeerCheated naming the check; then nothing of the unit has been poured.
  void make_unit(const UnitRequest& request, MaterialSink& sink);

  // aBits of one direction that the request takes, seed OTs for the next run not counted.
  static std::size_t bits_needed(const UnitRequest& request);

 private:
  Session& session_;
  AuthBitMaker maker_;
  std::uint64_t units_ = 0;
};

}  // namespace tinyot
