// The runs that are prepared before their inputs are known and wait in memory for a job: of which
// circuits, and how many both parties keep.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config.pb.h"
#include "engine/loaded_circuit.h"
#include "peer.pb.h"
#include "tinyot/parameters.h"

namespace tinyot::service {

// Of a peer: the message that names them has room, and is read in little time.
inline constexpr int kPreparedCircuitsMax = 64;

struct PreparedCircuit {
  engine::LoadedCircuit circuit;
  wire::Terms terms;  // of a job of it that names no phase
  OnlinePhase phase = OnlinePhase::Garbled;
  std::uint64_t ands = 0;        // of all lanes
  std::size_t configured = 0;    // runs
  std::size_t kept = 0;          // of these, as many as fit into the memory
  std::uint64_t bytes_each = 0;  // in memory
};

// The stock of a circuit.
struct PreparedCount {
  std::string circuit;
  std::uint64_t lanes = 1;
  std::size_t in_stock = 0;
  std::size_t kept = 0;  // up to which they are made: what both parties keep at present
  std::size_t configured = 0;
  std::string reason;  // why fewer are kept than configured; empty if as many are
};

// Those of a configuration, in its order. Fails: UsageError for a circuit that there is not, or of
// which no run can be prepared.
std::vector<PreparedCircuit> prepared_circuits_of(const config::Peer& peer);

// Whether a prepared run of the circuit can be that of the job.
bool serves(const PreparedCircuit& prepared, const wire::Terms& job);

// How many runs the peer keeps of this party's circuits. Without a lock.
class PreparedStock {
 public:
  // The circuits outlive this object.
  explicit PreparedStock(std::span<const PreparedCircuit> circuits)
      : circuits_(circuits), peers_(circuits.size()) {}

  // As the peer says. Returns what the parties keep differently and did not before: a circuit, and
  // what differs.
  struct Difference {
    std::string circuit, reason;
    friend bool operator==(const Difference&, const Difference&) = default;
  };
  std::vector<Difference> set_peers(const wire::Kept& kept);
  // It has not said anything yet.
  void forget_peers();

  struct AtPeer {
    std::size_t kept = 0;
    std::uint32_t place = 0;  // in the peer's list
    std::string reason;       // why it keeps less than this party
  };
  const AtPeer& at_peer(const PreparedCircuit& circuit) const {
    return peers_.at(static_cast<std::size_t>(&circuit - circuits_.data()));
  }

 private:
  std::span<const PreparedCircuit> circuits_;
  std::vector<AtPeer> peers_;
  std::vector<Difference> differences_;
};

}  // namespace tinyot::service
