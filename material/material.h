// Preprocessing material and its interface between the phases: the offline phase pours batches into
// a Sink, the online phase draws them from a Source; the store is both.
//
// Source: NNOB12 Fig. 5 (the dealer's outputs).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/auth_bits.h"
#include "base/bounds.h"
#include "base/risk.h"
#include "tinyot/material.h"
#include "tinyot/party.h"

namespace tinyot::material {

// How many columns of a kind I hold as MAC holder, as key holder, and shared.
struct Shape {
  std::size_t mine = 0;
  std::size_t peers = 0;
  std::size_t shares = 0;
};
Shape shape_of(MaterialKind kind, Party me);

constexpr MaterialKind auth_bits_of(Party owner) {
  return owner == Party::A ? MaterialKind::AuthBitsA : MaterialKind::AuthBitsB;
}
constexpr MaterialKind auth_ands_of(Party owner) {
  return owner == Party::A ? MaterialKind::AuthAndsA : MaterialKind::AuthAndsB;
}
constexpr MaterialKind auth_ots_from(Party sender) {
  return sender == Party::A ? MaterialKind::AuthOtsAB : MaterialKind::AuthOtsBA;
}

// `count` objects of one kind, as one party holds them. Columns are in the order of the table
// above, with mine, the peer's and shared ones in separate lists; every column has `count` entries.
// Move-only.
struct Batch {
  Batch() = default;
  Batch(MaterialKind kind, Party me, std::size_t count);
  Batch(Batch&&) = default;
  Batch& operator=(Batch&&) = default;

  MaterialKind kind = MaterialKind::AuthBitsA;
  std::size_t count = 0;
  std::vector<MacColumn> mine;
  std::vector<KeyColumn> peers;
  std::vector<AuthShares> shares;
};

// Reference bits, the same number of each party. The Delta-consistency check of later connections
// of the session compares new bits with them (offline/global_key.h).
struct ReferenceBits {
  Batch bits_a, bits_b;
};

// Bytes of the columns of a batch, in memory and in the store.
std::uint64_t bytes_of(MaterialKind kind, Party me, std::size_t count);
std::uint64_t bytes_of(const Batch& batch);

// The approximate maximum of bytes that wait between the thread that makes material and the one
// that stores or uses it.
inline constexpr std::uint64_t kWaitingBytes = std::uint64_t{48} << 20;

// The largest batch that the store keeps in one piece: 64 pages of its file, less the page header
// of 16 bytes. It fits into the processor's cache, and little is copied when a run ends within it.
inline constexpr std::uint64_t kBatchBytesMax = 64 * 4096 - 16;
// Objects in a full batch, a multiple of 64, the same for both parties. Material that is poured,
// stored and drawn in full batches is not copied on its way.
std::size_t full_batch(MaterialKind kind);

// The columns with bits: mine, then the shared ones.
inline std::size_t columns_with_bits(const Shape& shape) { return shape.mine + shape.shares; }
template <class Batch>
auto& bits_of_column(Batch& batch, std::size_t column) {
  return column < batch.mine.size() ? batch.mine[column].bits
                                    : batch.shares[column - batch.mine.size()].bits;
}
template <class Batch>
auto* blocks_of_column(Batch& batch, std::size_t column) {
  return column < batch.mine.size() ? &batch.mine[column].macs.data()->value
                                    : &batch.shares[column - batch.mine.size()].macs.data()->value;
}

// Copies objects [from, from + count) between batches of one kind.
void copy_objects(const Batch& source, std::size_t from, std::size_t count, Batch& target,
                  std::size_t to);

// A unit that has been begun. It counts as begun from just before the first message that depends on
// its objects.
struct BegunUnit {
  std::uint64_t number = 0;  // of the connection's units, from 0
  UnitPlan plan{};
  Risk risk{};  // at least that of the plan
};

// The destination of material. Batches of one unit may come in any order of kinds; a unit counts as
// made once finish_unit has returned.
class Sink {
 public:
  virtual ~Sink() = default;

  // The risk of the session's units that have been begun but not finished. Zero in a sink that
  // later connections do not use.
  virtual Risk outstanding() const { return {}; }
  // Records a unit as outstanding, durably. Beginning a number again does not replace its earlier
  // entry.
  virtual void begin_unit(const BegunUnit&) {}
  // The last unit begun with this number is no longer outstanding: no message that depends on its
  // objects was sent.
  virtual void withdraw_unit(std::uint64_t) {}

  virtual void pour(Batch batch) = 0;
  // Stores reference bits of one party for the Delta-consistency checks of later connections. They
  // are never drawn, and belong to the current unit. A sink that later connections do not use
  // discards them.
  virtual void add_reference_bits(Batch) {}
  // Completes the begun unit with the lowest number, with the batches poured: it atomically becomes
  // made and is no longer outstanding.
  virtual void finish_unit() = 0;
};

// Objects that have been drawn, but are still sealed.
struct DrawnBatch {
  std::size_t count;
  // Returns them. To be called once, by any thread, also while others are drawn or opened.
  // `memory`: a batch whose objects are no longer needed; the opened ones may take its place.
  std::function<Batch(Batch memory)> open;
};
// Objects that need no opening.
DrawnBatch drawn(Batch objects);

// The source of material. Both parties draw the same kinds and counts in the same order, and so get
// the two halves of the same objects. Fails: OutOfMaterial.
class Source {
 public:
  virtual ~Source() = default;
  virtual Batch draw(MaterialKind kind, std::size_t count) = 0;
  // The same, but may draw fewer objects, at least one: as many as can be drawn without copying.
  virtual DrawnBatch draw_up_to(MaterialKind kind, std::size_t count) {
    return drawn(draw(kind, count));
  }

  // The number of objects that can be drawn without waiting.
  virtual std::uint64_t ready(MaterialKind) { return ~std::uint64_t{0}; }
  // Waits until one is ready. Fails: as draw.
  virtual void wait_for(MaterialKind) {}
};

}  // namespace tinyot::material
