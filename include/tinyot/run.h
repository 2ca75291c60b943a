// Evaluation of circuits with the peer, on stored material or on material made during the run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tinyot/circuit/gate.h"
#include "tinyot/endpoint.h"
#include "tinyot/export.h"
#include "tinyot/material.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"
#include "tinyot/phase_cost.h"
#include "tinyot/security.h"
#include "tinyot/store_key.h"
#include "tinyot/values.h"

namespace tinyot {

namespace online {
class SharedValue;
}

// Both parties make the same request, except for party, endpoint, stores, keys and ledger.
struct RunRequest {
  Party party = Party::A;
  Endpoint endpoint;
  // One store, or shards of a session; none with `live`.
  std::vector<std::filesystem::path> stores = {};
  std::optional<StoreKey> store_key = {};
  // File to which the run appends a line for each range that it takes from the stores, durably,
  // before it uses the range: SESSION PARTY KIND SHARD FIRST COUNT.
  std::optional<std::filesystem::path> ledger = {};
  // The number of a reservation that reserve() has made; with one store.
  std::optional<std::uint64_t> reservation = {};
  // Of an Evaluator on one store: ANDs that are reserved at a time for its next short runs, and
  // lost when it ends. A reservation waits for the disks of both parties.
  std::uint64_t reserve_ahead_ands = 0;
  // Without stores: how to make the material, over a second connection, during the run.
  std::optional<ParameterRequest> live = {};
  // If absent, that of the peer's request; or if it is absent there, too, what A expects to be the
  // fastest on the material, the link and the circuit.
  std::optional<OnlinePhase> phase = {};
  // Of garbled runs whose inputs come later: early if absent, or batched where sigma is above 112.
  std::optional<RowCheck> row_check = {};
  // Gates that are layered together. If absent, A chooses: by the number of lanes and, where a
  // round trip is slow, so that the circuit has few rounds.
  std::optional<std::uint64_t> window = {};
  // Called after each round, from any thread, with the ANDs evaluated and the circuit's.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

// This party's shares of an output that no party has received. It can be an input of later circuits
// of the same Evaluator, any number of times. Copies refer to the same value.
class SharedBits {
 public:
  TINYOT_API std::size_t bits() const;
  TINYOT_API std::size_t lanes() const;
  // This party's bits: the value is their XOR with the peer's. Secret: together with the peer's,
  // all of the value. No MAC guards them outside of the library.
  TINYOT_API LaneMatrix my_share() const;

  // Of the library. `origin`: the connection, circuit and output that it comes from; equal at both
  // parties.
  TINYOT_API SharedBits(std::shared_ptr<const online::SharedValue> value, std::string origin);
  const std::shared_ptr<const online::SharedValue>& value() const { return value_; }
  const std::string& origin() const { return origin_; }

 private:
  std::shared_ptr<const online::SharedValue> value_;
  std::string origin_;
};
using SharedInputs = std::map<std::string, SharedBits>;  // by the name of an input bundle

// Material: no other phase runs on it.
enum class PhaseChosenBy : std::uint8_t { Request, Peer, Material, Estimate };
TINYOT_API std::string_view name_of(PhaseChosenBy chosen_by);

struct RunResult {
  Values outputs;       // that this party receives
  SharedInputs shared;  // by the name of the output bundle
  std::uint64_t ands = 0, xors = 0, and_rounds = 0;
  std::uint64_t window = 0;
  OnlinePhase phase = OnlinePhase::Interactive;
  std::optional<RowCheck> row_check;  // of a garbled run whose inputs came later
  PhaseChosenBy phase_chosen_by = PhaseChosenBy::Request;
  // Of A, if it has chosen: the expected time of each phase, in seconds; after the inputs, if they
  // came later.
  std::map<OnlinePhase, double> expected_s;
  // Until A has its outputs, and until B has; after the inputs, if they came later.
  std::array<std::uint64_t, 2> half_round_trips{};
  std::string session;            // of the material, 64 hex digits
  Security security;              // of the material
  std::optional<BaseOt> base_ot;  // of a live run
  MaterialCounts burnt;           // material skipped because the peer's store was ahead
  std::uint64_t store_bytes = 0;
  double wall_s = 0;
  // Of these: waiting for the peer and for material; decrypting material; computing MACs and keys
  // and hashing openings.
  double wire_wait_s = 0, store_wait_s = 0, opening_s = 0, blocks_s = 0;
  std::vector<PhaseCost> phases;  // of an Evaluator: of all its circuits so far
};

// Role: both, at the same time. Connects, evaluates the circuit in `lanes` parallel instances, and
// disconnects. `inputs` has the bundles that this party gives, public ones included, and no others.
// The parties compare the circuit's fingerprints and the public values first. The circuit is
// generated once for that, and again for the evaluation, unless it is built in. Outputs are
// returned only after the MAC check of everything that they depend on. Fails: UsageError for inputs
// that do not fit the circuit; OutOfMaterial, StoreError before anything is sent; UsageError if the
// circuit is not the same each time it is generated, before anything that depends on the difference
// is sent: the session stays as it is at both parties, and the peer sees the connection end; then
// as in error.h; Cancelled if `cancel` requests a stop, and then the material reserved for the run
// is lost.
TINYOT_API RunResult run(const RunRequest& request, const circuit::Circuit& circuit,
                         const Values& inputs, std::size_t lanes = 1,
                         const std::stop_token& cancel = {});

// Material that both stores have set aside for a later run.
struct ReservedMaterial {
  std::uint64_t number = 0;
  MaterialCounts first, count;  // of each kind
};
// Role: both, at the same time. Reserves the material of a run. Fails: as run().
TINYOT_API ReservedMaterial reserve(const RunRequest& request, const circuit::Circuit& circuit,
                                    std::size_t lanes = 1);

// A connection over which circuits are evaluated one after the other on stored material, for
// computations whose next step depends on revealed values. Both parties make the same calls.
//
// An output for Receiver::None stays shared, and an input from InputSource::Shared takes such a
// value: nothing about it is revealed between the circuits.
// Used by one thread at a time. After an exception the connection has ended; only destruction is
// then allowed. After PeerCheated or PeerAborted the stores are revoked.
class Evaluator {
 public:
  // Connects. Fails: UsageError for a request with `live`; then as tinyot::run().
  // `cancel` ends this call and every run(), with Cancelled.
  TINYOT_API explicit Evaluator(const RunRequest& request, const std::stop_token& cancel = {});
  TINYOT_API Evaluator(Evaluator&&) noexcept;
  TINYOT_API Evaluator& operator=(Evaluator&&) noexcept;
  TINYOT_API ~Evaluator();

  // As tinyot::run(), over this connection. `shared` has a value for each shared input, the same at
  // both parties, with as many lanes as this run, or one lane for an input that is the same in all
  // lanes. `label` names the run, if the parties have agreed on a name. `phase` comes before that
  // of the request. Fails: Disagreement if the parties' calls differ; and as tinyot::run().
  TINYOT_API RunResult run(const circuit::Circuit& circuit, const Values& inputs,
                           const SharedInputs& shared = {}, std::size_t lanes = 1,
                           const std::string& label = {}, std::optional<OnlinePhase> phase = {});

  // A run in two steps. prepare() does what can be done before the inputs are known: it agrees with
  // the peer on the circuit and its shared values and takes its material, which is lost if the
  // connection ends first. In the garbled phase it makes and sends the rows, which stay in memory
  // (up to 2^22 ANDs in all lanes, 130 to 150 bytes each, 2^24 other gates of a lane, and 2^22 bits
  // of inputs and outputs in all lanes); in the masked phase it opens what does not depend on the
  // inputs (up to 2^23 ANDs in all lanes, 49 bytes each, and 2^24 other gates of a lane). finish()
  // gives the inputs, once for each number that
  // prepare() has returned, in any order, the same at both parties; other calls may come between.
  // The circuit outlives finish().
  // Fails: as run(); UsageError for a number that is not of a prepared run.
  TINYOT_API std::uint64_t prepare(const circuit::Circuit& circuit, const SharedInputs& shared = {},
                                   std::size_t lanes = 1, const std::string& label = {},
                                   std::optional<OnlinePhase> phase = {});
  TINYOT_API RunResult finish(std::uint64_t prepared, const Values& inputs);

  // Coins that neither party controls and both know: 32 uniform bytes. `purpose` names their use,
  // the same at both parties. Fails: Disagreement if the parties' calls differ; PeerCheated; as
  // run().
  TINYOT_API std::array<std::byte, 32> toss_coins(const std::string& purpose);
  // Tells the peer `mine`, which is no secret, and returns what it tells: at most kToldBytesMax
  // each. `label` names the step, the same at both parties. Fails: as toss_coins().
  static constexpr std::size_t kToldBytesMax = 1 << 16;
  TINYOT_API std::vector<std::byte> exchange(const std::string& label,
                                             std::span<const std::byte> mine);

  // What a run of the circuit takes, and a check that the stores have as much. A value that an
  // interactive run has left takes material in a garbled one: `shared` is as in run(), or empty if
  // the circuit's shared inputs are not known yet, and then none is counted for them. Fails:
  // UsageError for shared values that do not fit; OutOfMaterial.
  TINYOT_API MaterialCounts needed(const circuit::Circuit& circuit, std::size_t lanes = 1,
                                   const SharedInputs& shared = {}) const;
  TINYOT_API void require_material(const MaterialCounts& needed);

  // What this object has taken from the stores, and what was skipped because the peer's stores were
  // ahead. After an error, too.
  TINYOT_API MaterialCounts spent() const;
  // The costs of all calls so far, as in RunResult: also those of prepare().
  TINYOT_API std::vector<PhaseCost> phases() const;
  // Whether the connection still stands, as far as the system knows. Does not wait: while prepared
  // runs wait for their inputs, nobody else would notice that it has ended. A transport of the
  // caller's always stands.
  TINYOT_API bool is_connected() const;

 private:
  struct State;
  State& state() const;
  template <class Step>
  void take_step(Step step);
  std::unique_ptr<State> state_;  // null after an error
  MaterialCounts spent_;          // until then
};

}  // namespace tinyot
