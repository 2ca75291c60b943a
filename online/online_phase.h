// The online phases: one entry each. What distinguishes a phase from the others stands in its
// folder and is reached through its entry; nothing else asks which phase a run has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "checks/session.h"
#include "circuitgen/circuit_rounds.h"
#include "circuitgen/cost.h"
#include "material/material.h"
#include "online/run_cost.h"
#include "online/values.h"
#include "tinyot/parameters.h"

namespace tinyot::online {

// How a run is prepared whose inputs come later, after other messages.
struct Preparation {
  std::optional<RowCheck> row_check = {};  // of a phase that has rows
  std::uint32_t sigma = 40;                // of the material
};

// What a run that is prepared keeps in memory until its inputs are known.
struct RunSize {
  std::uint64_t ands = 0;         // of all lanes
  std::uint64_t products = 0;     // the same, with each group as one gate (circuitgen/cost.h)
  std::uint64_t group_parts = 0;  // of all lanes, at most
  std::uint64_t gates = 0;        // all of the circuit, which are kept once for all lanes
  std::uint64_t local_gates = 0;  // of these, XORs and NOTs; and groups
  std::uint64_t value_bits = 0;   // of inputs and outputs, in all lanes
};
RunSize size_of_run(const circuit::CircuitInfo& info, const circuit::CircuitCost& cost,
                    std::size_t lanes);

// A run of a circuit, in two steps, so that what does not depend on the inputs can be done before
// they are known. The parties take the same steps, and either step may be the one that does all.
class OnlineEvaluation {
 public:
  virtual ~OnlineEvaluation() = default;
  // Role: both. Once, first.
  virtual void prepare() = 0;
  // Role: both. Once, after prepare(). Nothing is returned before the check of everything that the
  // outputs depend on. Fails: PeerCheated; OutOfMaterial; NetworkError; as `agree`.
  // `inputs`: of the bundles that this party gives. `agree` is called once, before anything of the
  // peer is received or answered: the parties find out whether they want the same run.
  Evaluation finish(
      const BundleValues& inputs, const std::function<void()>& agree = [] {}) {
    return evaluate(inputs, agree);
  }

 private:
  virtual Evaluation evaluate(const BundleValues& inputs, const std::function<void()>& agree) = 0;
};

// What a run is made of. All of it outlives the evaluation.
struct OnlineSetting {
  checks::Session& session;
  material::Source& source;
  MaterialCounts wanted;  // at least the material that the run takes
  AndMaterial form;       // of the source
  circuit::CircuitRounds& rounds;
  SharedValues shared = {};  // of the bundles that take a shared value
  std::optional<Preparation> preparation = {};
  RunProgress progress = {};
};

struct OnlinePhaseEntry {
  OnlinePhase phase;
  std::string_view name;  // as parties compare it
  bool (*runs_on)(AndMaterial form);
  // Chosen without being asked for only if the inputs come later.
  bool is_chosen_to_prepare_alone = false;
  // How it evaluates groups; the rounds of a run are layered so.
  circuit::GroupsAs groups = circuit::GroupsAs::Gates;
  // The material that a run takes for a circuit of `ands` ANDs in all lanes, as ands_for() counts.
  MaterialCounts (*material_for)(const circuit::CircuitInfo& info, std::uint64_t ands,
                                 AndMaterial form, std::size_t lanes, const SharedValues& shared);
  // Fails: UsageError if no run of this size is possible, prepared or not. Null if any is.
  void (*require_size)(const RunSize& size) = nullptr;
  // How a run of this size is prepared on material of this sigma. Fails: UsageError if it cannot
  // be, or not with the row check that was asked for.
  Preparation (*preparation_for)(const RunSize& size, std::uint32_t sigma,
                                 std::optional<RowCheck> wanted);
  // The memory of a prepared run that waits for its inputs, in bytes. Measured.
  std::uint64_t (*kept_bytes)(const RunSize& size);
  // The numbers of gates that a run may layer together: the default, and larger ones if they save
  // rounds, each twice the one before; at most WindowRounds::kWindowsMost.
  std::vector<std::size_t> (*windows_for)(std::size_t lanes);
  std::unique_ptr<OnlineEvaluation> (*make)(OnlineSetting setting);
  // Counts what a run costs; of one that is prepared, what is left once its inputs are known.
  // `layered`: the rounds that will be counted, if they are kept; otherwise null.
  std::unique_ptr<RunCostCounter> (*count_cost)(
      const circuit::CircuitInfo& info, std::size_t lanes, AndMaterial form,
      const std::optional<Preparation>& preparation,
      const std::shared_ptr<const circuit::LayeredCircuit>& layered);
  // What a party computes for an AND, in seconds, as measured on one machine: to choose a phase by.
  // Of a run that is prepared, what is left.
  double (*and_s)(std::size_t lanes, const std::optional<Preparation>& preparation);
};

// The ANDs of a run in all lanes: those of the circuit or, in a phase that evaluates groups as one
// gate, with their products.
std::uint64_t ands_for(const OnlinePhaseEntry& phase, const circuit::CircuitCost& cost,
                       std::size_t lanes);

bool can_run(const OnlinePhaseEntry& phase, const RunSize& size);

// Defined in phase_table.cpp, and nowhere else.
std::span<const OnlinePhaseEntry* const> online_phases();

// In the order of the table: the phase that was asked for, or all that run on the material. Fails:
// UsageError if none does.
std::vector<const OnlinePhaseEntry*> phases_on(AndMaterial form, std::optional<OnlinePhase> wanted);

}  // namespace tinyot::online
