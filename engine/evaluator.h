// A connection over which circuits are evaluated one after the other, on stored material. Values
// may stay shared from one circuit to the next.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/run.h"

namespace tinyot::engine {

class Evaluator {
 public:
  // Connects. Fails: UsageError for a request that is live or names a reservation; StoreError;
  // then as in the session.
  // `cancel` ends this call and every run(), with Cancelled.
  explicit Evaluator(const RunRequest& request, const std::stop_token& cancel = {});
  ~Evaluator();

  // A value for an input bundle without an owner, and its origin, which is the same at both
  // parties.
  struct Shared {
    const online::SharedValue* value = nullptr;
    std::string origin;
  };

  // Role: both. As run(); `shared` has an entry for each input bundle, null for those with an
  // owner. The phases of the report are those of the whole connection so far.
  // `job` names what the result is for, if the parties have agreed on a name.
  // Wire: 1 message each way, then as a run.
  // Fails: before anything is sent UsageError as net::require_sendable(), after which the next call
  // may succeed; Disagreement if the parties request different circuits, lanes, shared values or
  // jobs; else as run(). After another failure every call fails.
  RunReport run(const LoadedCircuit& circuit, const online::BundleValues& inputs,
                const std::vector<Shared>& shared, const std::string& job = {});

  // What a run of the circuit takes.
  MaterialCounts needed(const LoadedCircuit& circuit) const;
  // Fails: OutOfMaterial unless the stores have as much.
  void require_material(const MaterialCounts& needed);

  // The name of the connection, and the number of circuits evaluated over it.
  std::string connection() const;
  std::uint64_t runs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot::engine
