// Shared inputs of a garbled run (doc/protocol.md, section 16.6). A value of half shares is its own
// mask, and L = 0. A value that an interactive run has left has MAC shares only: its mask is [r],
// of fresh aBits r = r_A ^ r_B, and both parties open L = z ^ r.
#pragma once

#include <vector>

#include "checks/session.h"
#include "online/material_reader.h"
#include "online/values.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::online {

// Adds the aBits that mask shared inputs.
void count_shared_masks(const SharedValues& shared, MaterialCounts& counts);

class SharedInputMasks {
 public:
  // Role: both. Draws r and sends my shares of L of all such inputs. Wire: `garbled.shared`, ceil(n
  // / 8) bytes, none without such inputs. `shared` outlives this object. By ENSURE: its values have
  // the shapes of the bundles, and one of these two forms.
  SharedInputMasks(checks::Session& session, MaterialReader& material,
                   const circuit::CircuitInfo& info, const Lanes& lanes,
                   const SharedValues& shared);

  // By bundle, in half shares: the masks.
  const SharedValues& masks() const { return masks_; }

  // Role: both. Once. Receives the peer's shares, absorbs the openings, and sets L by bundle: a
  // constant of the run. Unchecked until the transcripts settle.
  void receive(BundleValues& constants);

 private:
  struct Opened {
    std::size_t bundle;
    const SharedValue* value;
  };

  checks::Session& session_;
  SharedValues masks_;
  std::vector<Opened> opened_;
  std::vector<SharedValue> made_;  // masks of these
  BitVector sent_;
};

}  // namespace tinyot::online
