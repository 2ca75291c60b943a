// What the parts of a Peer are made with: the configuration of the peer, and what the peers of a
// daemon share.
#pragma once

#include <optional>
#include <string>

#include "config.pb.h"
#include "engine/plan.h"
#include "offline/profile.h"
#include "service/daemon_metrics.h"
#include "service/jobs.h"
#include "service/names.h"
#include "service/prepared_stock.h"
#include "service/refill_slots.h"
#include "storage/store.h"

namespace tinyot::service {

struct PeerSettings {
  explicit PeerSettings(const config::Peer& peer)
      : name(peer.name()), me(party_of(peer.party())), profile(profile_named(peer.profile())),
        sigma(peer.sigma()), material(material_of(peer)), online(requested_phase(peer.online())),
        base_ot(requested_base_ot(peer.base_ot())), low(demand_of(peer.low())),
        high(demand_of(peer.high())), evaluations(peer.evaluations()),
        prepared(prepared_circuits_of(peer)) {}

  // Party A leads: it begins each job and each refill, once both parties have what it takes.
  bool leads() const { return me == Party::A; }

  const std::string name;
  const Party me;
  const Profile profile;
  const std::uint32_t sigma;
  const AndMaterial material;
  const std::optional<OnlinePhase> online;  // of jobs that do not say it; absent: as A chooses
  const std::optional<BaseOt> base_ot;      // of refills
  const engine::Demand low, high;           // the watermarks of the stock
  const std::size_t evaluations;            // at a time
  const std::vector<PreparedCircuit> prepared;

  // Fails: UsageError for a name that is none.
  static AndMaterial material_of(const config::Peer& peer) {
    return peer.has_material() ? material_named(peer.material())
                               : offline::entry_of(profile_named(peer.profile())).materials.front();
  }

 private:
  static engine::Demand demand_of(const config::Level& level) {
    return {level.ands(), level.has_inputs() ? level.inputs() : default_inputs(level.ands())};
  }
};

struct Shared {
  const config::Daemon& config;
  std::optional<StoreKey> store_key;
  Jobs& jobs;
  DaemonMetrics& metrics;
  RefillSlots refill_slots;
};

}  // namespace tinyot::service
