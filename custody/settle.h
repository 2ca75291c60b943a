// Settling a key: what the parties' records say of it decides what is done. Pure: both parties come
// to the same step from the same two messages.
//
// The first rule that applies:
//   1. attributes or check value differ: the key is unusable
//   2. one party has destroyed its share: the other one suspends its own
//   3. one party has no record: the other one erases its own if it is pending (never used), and
//      keeps it otherwise, unusable until the epoch is restored
//   4. the same single epoch at both, neither pending nor restored: done
//   5. one party has suspended the key: nothing, until an officer resumes it
//   6. no epoch in common: unusable
//   7. the highest common epoch is loaded from both disks and checked; then it alone is kept
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "custody/key.h"

namespace tinyot::custody {

// What a party has of a key, as it tells the peer: nothing secret.
struct KeyHave {
  KeyId id;
  crypto::Digest attributes;
  CheckValue check{};
  KeyState state = KeyState::Pending;
  std::vector<Epoch> epochs;  // of which there is a share, ascending; none of a destroyed key
  std::uint64_t use_bound = 0;
};

// The message about key `id`; `have` is absent if there is no record.
std::vector<std::byte> message_about(const KeyId& id, const std::optional<KeyHave>& have);
// Fails: PeerCheated("key.have") if it is not such a message about this key.
std::optional<KeyHave> have_from(std::span<const std::byte> message, const KeyId& id);
// The same about any key. Fails: PeerCheated("key.have").
struct ToldKey {
  KeyId id;
  std::optional<KeyHave> have;
};
ToldKey told_key_from(std::span<const std::byte> message);

enum class SettleKind : std::uint8_t {
  Nothing,        // this party has no record
  Done,           //
  Differs,        // rule 1
  IsDestroyed,    // rule 2, of this party's own key
  PeerDestroyed,  // rule 2, of the peer's
  Erase,          // rule 3: this party's record
  NotAtPeer,      // rule 3
  IsSuspended,    // rule 5
  NoEpoch,        // rule 6
  Load,           // rule 7: `epoch`
};
struct SettleStep {
  SettleKind kind = SettleKind::Nothing;
  Epoch epoch = {};
};
SettleStep settle_step(const std::optional<KeyHave>& mine, const std::optional<KeyHave>& theirs);

}  // namespace tinyot::custody
