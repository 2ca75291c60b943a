// The dealer, for real: makes units of aANDs, aOTs and aBits in both directions and pours them into
// a sink (NNOB12 Fig. 5).
//
// Units are independent but for what is made before them and the global key (unit_maker.h), so
// several workers can make them at a time, each on its own thread and channel: worker w of n makes
// units w, w + n, w + 2n, ... Every unit has a part of the session to itself, whose randomness
// depends on its number only; so the material is the same whatever n is. Units end in order: their
// parts of the two MAC transcripts are settled, and they are poured, one after the other.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/material.h"
#include "base/parameters.h"
#include "checks/session.h"
#include "offline/auth_bits.h"
#include "offline/schedule.h"
#include "offline/unit_account.h"
#include "offline/unit_maker.h"

namespace tinyot::offline {

// Role: both, symmetric. Makes the reference bits that the shards of a session share:
// kReferenceBits aBits of each party. Wire, Fails: as a run of AuthBitMaker, or with the fast
// profile as make_trees and a batch of bits.
ReferenceBits make_reference_bits(checks::Session& session, const SecurityParameters& params);

class Preprocessor {
 public:
  static constexpr std::size_t kWorkersMax = AuthBitMaker::kLanes;

  // The session's own channel is the first worker's; `more` are those of further workers, joined to
  // the session.
  Preprocessor(checks::Session& session, const SecurityParameters& params,
               std::span<const std::unique_ptr<net::Channel>> more = {});

  // What the units of this connection are checked against: kReferenceBits aBits of each direction,
  // which the session's first connection gave to its sink to keep, or make_reference_bits made for
  // its shards. Call it before make_units if there are earlier units.
  void set_reference_bits(const ReferenceBits& reference);

  // Asked before each unit, from the worker's thread: is it still wanted?
  using Wanted = std::function<bool()>;
  // Told of each worker's progress, from its thread: unit, phase, items done of the phase's total.
  using Observer = std::function<void(std::size_t unit, std::string_view phase, std::uint64_t done,
                                      std::uint64_t total)>;

  // Told at once, from the thread in which it happens and before anything else is done about it,
  // that a check has failed here or at the peer: what must not survive that is to be erased before
  // the peer can go on. Called once for each worker that finds it.
  using CheckFailed = std::function<void(const std::exception_ptr&)>;

  struct Hooks {
    Wanted wanted = {};
    Observer observer = {};
    CheckFailed check_failed = {};
  };

  // Role: both, symmetric, once a session. Makes the units in order, as long as both parties want
  // them, and pours them into the sink, one unit at a time. Returns how many. The workers' costs
  // are added to the session's log. Without set_reference_bits the first unit goes with the bits
  // that units of later connections are to be tied to, which the sink keeps. `account` has each
  // unit before its first message leaves, and what reaches `sink` reaches it; without one the sink
  // is its own. Fails: PeerCheated naming the check, Disagreement and StoreError as UnitAccount,
  // and as the channels; then all workers have stopped, and of the units that were not finished
  // nothing counts.
  std::size_t make_units(std::span<const UnitRequest> requests, MaterialSink& sink,
                         UnitAccount& account, const Hooks& hooks);
  std::size_t make_units(std::span<const UnitRequest> requests, MaterialSink& sink,
                         const Wanted& wanted = {}, const Observer& observer = {});

 private:
  struct Job;
  void work(Job& job, std::size_t worker);
  std::optional<UnitPlan> agree_to_continue(Job& job, checks::Session& part, std::size_t unit,
                                            const std::optional<UnitAccount::Begun>& begun);
  bool make_unit(Job& job, checks::Session& part, std::size_t unit,
                 std::optional<UnitAccount::Begun>& begun);
  void keep_reference_bits(MaterialSink& sink) const;

  checks::Session& session_;
  SecurityParameters params_;
  std::unique_ptr<UnitMaker> maker_;
  bool begins_session_ = true;
  std::vector<net::Channel*> channels_;  // of the workers
};

}  // namespace tinyot::offline
