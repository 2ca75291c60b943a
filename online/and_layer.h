// A layer of ANDs over all lanes, for either form of material. An entry is one AND in one lane. The
// bits are computed first, with the messages; their MACs and keys are computed later, while
// messages are in flight.
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

  // Receives the peer's openings and returns my shares of the products. Called once.
  virtual BitVector open() = 0;

  // Computes the blocks of the products of the next `count` entries and absorbs their openings into
  // the transcript. Called after open, in order, until all entries are processed.
  virtual void combine(std::size_t count, const ShareBlocks& x, const ShareBlocks& y,
                       const ShareBlocks& z) = 0;
};

// The openings of a layer are sent in messages of up to kEntries entries, so that the peer can
// process the first messages while the last are in flight. kAhead messages are sent before the
// first is received, then one for each message received, so that two parties with large layers do
// not block each other on full socket buffers. send(first, count) and receive(first, count) handle
// one message.
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

// Role: both, symmetric. Takes the material and sends the openings that depend on no message of the
// peer. Shapes: x, y: my shares, n bits. Wire, Fails: as begin_pair_layer or begin_triple_layer.
std::unique_ptr<AndLayer> begin_and_layer(checks::Session& session, MaterialReader& material,
                                          MaterialForm form, const BitVector& x,
                                          const BitVector& y);

}  // namespace tinyot::online
