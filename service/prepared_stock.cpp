#include "service/prepared_stock.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "engine/run_estimate.h"
#include "online/garbled/prepared_run.h"
#include "online/masked/masked_run.h"
#include "online/online_phase.h"
#include "service/foreign_text.h"
#include "service/peer_settings.h"
#include "service/policy.h"
#include "service/submission.h"

namespace tinyot::service {
namespace {

std::optional<engine::LoadedCircuit> load(const config::Prepared& prepared) {
  v1::FileRoles roles;
  for (const auto& [number, owner] : prepared.owners()) (*roles.mutable_owners())[number] = owner;
  roles.set_receiver(prepared.receiver());
  roles.mutable_bundles()->Assign(prepared.bundles().begin(), prepared.bundles().end());
  if (prepared.has_file())
    return engine::LoadedCircuit::from_file(prepared.file(), options_of(roles), prepared.lanes());
  if (roles.ByteSizeLong() > 0)
    throw UsageError(prepared.circuit() + ": a circuit by name has its own owners and receivers");
  return engine::LoadedCircuit::not_generated(prepared.circuit(), prepared.lanes());
}

// A file is called as the configuration says.
wire::Terms named_terms_of(const engine::LoadedCircuit& circuit, const std::string& name) {
  wire::Terms terms = terms_of(circuit);
  if (!circuit.is_built_in()) terms.set_circuit(name);
  return terms;
}

// The phase that jobs have, or else the one with the fewest messages after the inputs. Fails:
// UsageError.
OnlinePhase prepared_phase(const config::Peer& peer, AndMaterial material) {
  const auto jobs = requested_phase(peer.online());
  if (jobs == OnlinePhase::Interactive)
    throw UsageError(
        "runs are prepared for the garbled or the masked phase, and online is interactive");
  if (jobs) return *jobs;
  return material == AndMaterial::Garbling ? OnlinePhase::Garbled : OnlinePhase::Masked;
}

PreparedCircuit circuit_of(const config::Prepared& prepared,
                           const online::OnlinePhaseEntry& phase) {
  const auto found = load(prepared);
  if (!found) throw UsageError("there is no circuit '" + prepared.circuit() + "'");
  constexpr std::uint64_t kAndsMost = std::max(online::kPreparedAndsMax, online::kMaskedAndsMax);
  const circuit::CircuitCost* const cost = found->cost_within_ands(kAndsMost);
  if (cost == nullptr)
    throw UsageError(prepared.circuit() + " has more than the " + std::to_string(kAndsMost) +
                     " ANDs that a prepared run may have");
  const online::RunSize size = online::size_of_run(found->info(), *cost, prepared.lanes());
  try {
    if (phase.require_size != nullptr) phase.require_size(size);
    // Of any sigma: it does not change what a run keeps.
    (void)phase.preparation_for(size, 0, {});
  } catch (const UsageError& error) {
    throw UsageError(prepared.circuit() + ": " + error.what());
  }
  return {.circuit = *found,
          .terms = named_terms_of(*found, prepared.circuit()),
          .phase = phase.phase,
          .ands = size.ands,
          .configured = prepared.count(),
          .bytes_each = phase.kept_bytes(size)};
}

bool is_same_circuit(const wire::Terms& mine, const wire::Terms& theirs) {
  return mine.fingerprint() == theirs.fingerprint() && mine.interface() == theirs.interface() &&
         mine.lanes() == theirs.lanes();
}

}  // namespace

std::vector<PreparedCircuit> prepared_circuits_of(const config::Peer& peer) {
  std::vector<PreparedCircuit> circuits;
  if (peer.prepared_size() == 0) return circuits;
  const AndMaterial material = PeerSettings::material_of(peer);
  const online::OnlinePhaseEntry& phase =
      *online::phases_on(material, prepared_phase(peer, material)).front();
  std::uint64_t left = peer.prepared_bytes_max();
  for (const config::Prepared& prepared : peer.prepared()) {
    PreparedCircuit& circuit = circuits.emplace_back(circuit_of(prepared, phase));
    const auto is_same = [&](const PreparedCircuit& other) {
      return is_same_circuit(circuit.terms, other.terms);
    };
    if (std::ranges::count_if(circuits, is_same) > 1)
      throw UsageError(prepared.circuit() + " is given twice");
    circuit.kept = std::min<std::uint64_t>(circuit.configured, left / circuit.bytes_each);
    left -= circuit.kept * circuit.bytes_each;
  }
  return circuits;
}

bool serves(const PreparedCircuit& prepared, const wire::Terms& job) {
  return is_same_circuit(prepared.terms, job) &&
         (job.online().empty() || job.online() == name_of(prepared.phase));
}

std::vector<PreparedStock::Difference> PreparedStock::set_peers(const wire::Kept& kept) {
  std::vector<Difference> all;
  for (std::size_t i = 0; i < circuits_.size(); ++i) {
    const PreparedCircuit& mine = circuits_[i];
    const std::string& name = mine.terms.circuit();
    peers_[i] = {.reason = "the peer's configuration does not name it"};
    for (int at = 0; at < kept.circuits_size(); ++at) {
      const wire::KeptCircuit& theirs = kept.circuits(at);
      if (is_same_circuit(mine.terms, theirs.terms())) {
        peers_[i] = {theirs.runs(), static_cast<std::uint32_t>(at), foreign_text(theirs.reason())};
        break;
      }
      if (theirs.terms().circuit() == name)
        peers_[i].reason =
            foreign_text("the parties disagree on the " + difference(mine.terms, theirs.terms()));
    }
    if (peers_[i].kept < mine.kept)
      all.push_back({name, "this party keeps " + std::to_string(mine.kept) + ", the peer " +
                               std::to_string(peers_[i].kept) +
                               (peers_[i].reason.empty() ? "" : ": " + peers_[i].reason)});
  }
  for (const wire::KeptCircuit& theirs : kept.circuits())
    if (std::ranges::none_of(circuits_, [&](const PreparedCircuit& mine) {
          return is_same_circuit(mine.terms, theirs.terms());
        }))
      all.push_back({foreign_text(theirs.terms().circuit()),
                     "the peer keeps runs of it that this party's configuration does not name"});
  std::vector<Difference> news;
  for (const Difference& difference : all)
    if (std::ranges::find(differences_, difference) == differences_.end())
      news.push_back(difference);
  differences_ = std::move(all);
  return news;
}

void PreparedStock::forget_peers() {
  std::ranges::fill(peers_, AtPeer{.reason = "the peer has not said how many it keeps"});
}

}  // namespace tinyot::service
