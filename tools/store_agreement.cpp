#include "tools/store_agreement.h"

#include <algorithm>

#include "base/error.h"

namespace tinyot {
namespace {

constexpr MessageTag kPositions{0x3001, "store.positions"};
constexpr MessageTag kUnits{0x3002, "store.units"};

struct Positions {
  MaterialCounts position;
  MaterialCounts made;
};

void check_range(const MaterialCounts& start, const MaterialCounts& made, const MaterialCounts& needed, const std::string& whose) {
  std::string shortages;
  for (const MaterialKind kind : kAllMaterialKinds) {
    const std::uint64_t left = made[kind] > start[kind] ? made[kind] - start[kind] : 0;
    if (left >= needed[kind]) continue;
    shortages += (shortages.empty() ? "" : ", ") + std::string(name_of(kind)) + " has " + std::to_string(left) + ", needs " + std::to_string(needed[kind]);
  }
  if (!shortages.empty())
    throw OutOfMaterial("not enough material in " + whose + " store: " + shortages + "; make more with tinyot preprocess, in a new store");
}

}  // namespace

void check_enough(const Store& store, const MaterialCounts& needed) { check_range(store.position(), store.made(), needed, "this"); }

std::uint64_t common_units(Session& session, std::uint64_t mine) {
  send_object(session.channel(), kUnits, mine);
  return std::min(mine, recv_object<std::uint64_t>(session.channel(), kUnits));
}

Reservation reserve_together(Session& session, Store& store, const MaterialCounts& needed) {
  const Positions mine{store.position(), store.made()};
  send_object(session.channel(), kPositions, mine);
  const auto peers = recv_object<Positions>(session.channel(), kPositions);
  MaterialCounts start;
  for (const MaterialKind kind : kAllMaterialKinds) start[kind] = std::max(mine.position[kind], peers.position[kind]);
  check_range(start, mine.made, needed, "this");
  check_range(start, peers.made, needed, "the peer's");
  return store.reserve(start, needed);
}

}  // namespace tinyot
