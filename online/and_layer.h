// A layer of ANDs over all lanes, entry by entry, by whatever kind of material there is. The bits
// come first, with the messages; what authenticates them is computed behind, when there is time for
// it.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "base/bit_vector.h"
#include "base/parameters.h"
#include "checks/session.h"
#include "online/material_reader.h"

namespace tinyot::online {

// Blocks of some entries, plane by plane (online/wires.h).
struct ShareBlocks {
  std::array<Block*, 2> plane;
};

class AndLayer {
 public:
  virtual ~AndLayer() = default;

  // Receives the peer's openings, once. My shares of the products.
  virtual BitVector open() = 0;

  // After open, and in order until all entries are through: the blocks of the products of the next
  // `count` entries. Puts what was opened on the transcript.
  virtual void combine(std::size_t count, const ShareBlocks& x, const ShareBlocks& y,
                       const ShareBlocks& z) = 0;
};

// The openings of a layer go in messages of up to kEntries entries, so that the peer has the first
// while the last are still on their way; kAhead of them are sent before the first one is received,
// then one for each that is received, so that two parties with large layers do not fill what lies
// between them. send(first, count) and receive(first, count) do it with one message.
class Flights {
 public:
  static constexpr std::size_t kEntries = std::size_t{1} << 16, kAhead = 64;

  explicit Flights(std::size_t entries) : entries_(entries) {}

  template <class Send>
  void send_first(Send send) const {
    for (std::size_t flight = 0; flight < std::min(kAhead, count()); ++flight) use(flight, send);
  }
  template <class Send, class Receive>
  void receive_all(Send send, Receive receive) const {
    for (std::size_t flight = 0; flight < count(); ++flight) {
      use(flight, receive);
      if (flight + kAhead < count()) use(flight + kAhead, send);
    }
  }

 private:
  std::size_t count() const { return (entries_ + kEntries - 1) / kEntries; }
  template <class Use>
  void use(std::size_t flight, Use use) const {
    use(flight * kEntries, std::min(kEntries, entries_ - flight * kEntries));
  }

  std::size_t entries_;
};

// Role: both, symmetric. Takes the material, and sends the openings that need nothing of the peer.
// Shapes: x, y: my shares, n bits. Wire, Fails: as begin_pair_layer or begin_triple_layer.
std::unique_ptr<AndLayer> begin_and_layer(checks::Session& session, MaterialReader& material,
                                          MaterialForm form, const BitVector& x,
                                          const BitVector& y);

}  // namespace tinyot::online
