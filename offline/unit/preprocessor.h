// Preprocessing, which implements the paper's dealer (NNOB12 Fig. 5): makes units of material and
// pours them into a sink.
//
// Units are independent except for the shared set-up and the global key (unit_maker.h). So several
// workers can make them in parallel, each on its own thread and channel: worker w of n makes units
// w, w + n, w + 2n, ... Every unit has its own session part, whose randomness depends only on the
// unit's number, so the material is the same for every n, unless its bits are those of a worker's
// chain (offline/silent/silent_chains.h). Units end in order, one at a time: the unit's part of the
// two MAC transcripts is settled and its material is poured.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "checks/session.h"
#include "material/material.h"
#include "offline/parameters.h"
#include "offline/unit/schedule.h"
#include "offline/unit/unit_account.h"
#include "offline/unit/unit_maker.h"

namespace tinyot::offline {

// Role: both, symmetric. Makes the reference bits that the shards of a session share:
// kReferenceBits aBits of each party. Wire, Fails: as BitSource::make_reference_bits of the
// profile's source.
material::ReferenceBits make_reference_bits(checks::Session& session,
                                            const SecurityParameters& params);

class Preprocessor {
 public:
  static constexpr std::size_t kWorkersMax = 64;

  // The session's own channel is the first worker's; `more` are those of further workers, joined to
  // the session. With the fast profile, `waiting` of the workers are there so that the link stays
  // busy while units wait for messages: as many units fewer are in their send phase at a time.
  // Both parties have the same `depth` and `waiting`.
  Preprocessor(checks::Session& session, const SecurityParameters& params,
               std::span<const std::unique_ptr<net::Channel>> more = {}, PipelineDepth depth = {},
               std::size_t waiting = 0);

  // Sets the reference bits: kReferenceBits aBits of each direction, which the sink kept in the
  // session's first connection, or which make_reference_bits made for its shards. Call it before
  // make_units if the session has earlier units.
  void set_reference_bits(const material::ReferenceBits& reference);

  // Called before each unit, from the worker's thread: whether to make it.
  using Wanted = std::function<bool()>;
  // Called with each worker's progress, from its thread: unit, phase, items done of the phase's
  // total.
  using Observer = std::function<void(std::size_t unit, std::string_view phase, std::uint64_t done,
                                      std::uint64_t total)>;

  // Called when a check has failed here or at the peer, from the thread that detects it and before
  // any other reaction: the callee erases the session's secrets before the peer can continue.
  // Called once for each worker that detects a failure.
  using CheckFailed = std::function<void(const std::exception_ptr&)>;

  struct Hooks {
    Wanted wanted = {};
    Observer observer = {};
    CheckFailed check_failed = {};
  };

  // Role: both, symmetric, once per session. Makes the units in order, until one party stops, and
  // pours them into the sink, one unit at a time. Returns their number. The workers' costs are
  // added to the session's log. Without set_reference_bits the sink keeps the reference bits for
  // later connections together with the first unit. `account` records each unit before its first
  // message is sent; what is poured into `sink` must reach it. The second overload makes its own
  // account. Fails: PeerCheated naming the check, Disagreement and StoreError as UnitAccount, and
  // as the channels; then all workers have stopped, and unfinished units are discarded.
  std::size_t make_units(std::span<const UnitRequest> requests, material::Sink& sink,
                         UnitAccount& account, const Hooks& hooks);
  std::size_t make_units(std::span<const UnitRequest> requests, material::Sink& sink,
                         const Wanted& wanted = {}, const Observer& observer = {});

 private:
  struct Job;
  void work(Job& job, std::size_t worker);
  std::optional<UnitPlan> agree_to_continue(Job& job, checks::Session& part, std::size_t unit,
                                            const std::optional<UnitAccount::Begun>& begun);
  bool make_unit(Job& job, checks::Session& part, std::size_t unit,
                 std::optional<UnitAccount::Begun>& begun);
  void keep_reference_bits(material::Sink& sink) const;

  checks::Session& session_;
  SecurityParameters params_;
  std::unique_ptr<UnitMaker> maker_;
  bool begins_session_ = true;
  std::vector<net::Channel*> channels_;  // of the workers
};

}  // namespace tinyot::offline
