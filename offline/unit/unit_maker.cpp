#include "offline/unit/unit_maker.h"

#include <bit>

namespace tinyot::offline {

void copy_part(const MacColumn& from, std::size_t first, MacColumn& to) {
  to.bits.copy_from(from.bits, first, 0, to.size());
  std::copy_n(from.macs.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.macs.begin());
}

void copy_part(const KeyColumn& from, std::size_t first, KeyColumn& to) {
  std::copy_n(from.keys.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.keys.begin());
}

void pour_full_triples(material::Sink& sink, Party me, std::size_t total,
                       const ColumnParts& columns) {
  pour_objects(sink, MaterialKind::FullTriples, me, total,
               [&](std::size_t first, material::Batch& out) {
                 for (std::size_t i = 0; i < columns.size(); ++i) {
                   copy_part(*columns[i].first, first, out.mine[i]);
                   copy_part(*columns[i].second, first, out.peers[i]);
                 }
               });
}

void share_part(const MacColumn& mine, const KeyColumn& peers, std::size_t first, Delta global_key,
                AuthShares& to) {
  to.bits.copy_from(mine.bits, first, 0, to.size());
  for (std::size_t i = 0; i < to.size(); ++i)
    to.macs[i] = mac_share(to.bits[i], mine.macs[first + i], peers.keys[first + i], global_key);
}

void pour_bits(material::Sink& sink, Party me, std::size_t count, const AuthBits& bits,
               std::size_t first) {
  pour_objects(
      sink, material::auth_bits_of(me), me, count,
      [&](std::size_t at, material::Batch& out) { copy_part(bits.mine, first + at, out.mine[0]); });
  pour_objects(sink, material::auth_bits_of(peer_of(me)), me, count,
               [&](std::size_t at, material::Batch& out) {
                 copy_part(bits.peers, first + at, out.peers[0]);
               });
}

UnitRequest with_result_masks(UnitRequest request, AndMaterial form) {
  if (form == AndMaterial::Garbling) request.inputs += request.plan.ands;
  return request;
}

MaterialCounts counts_of(const UnitRequest& request, AndMaterial form) {
  const std::uint64_t ands = request.plan.ands;
  MaterialCounts counts;
  for (const Party party : {Party::A, Party::B}) {
    counts[material::auth_bits_of(party)] =
        request.inputs + (form == AndMaterial::Triples ? 0 : ands);
    if (form == AndMaterial::AandAot)
      counts[material::auth_ands_of(party)] = counts[material::auth_ots_from(party)] = ands;
  }
  if (form == AndMaterial::Triples) counts[MaterialKind::Triples] = ands;
  if (form == AndMaterial::Garbling) counts[MaterialKind::FullTriples] = ands;
  return counts;
}

Delta draw_global_key(crypto::Rng& rng, Party me, Profile profile, AndMaterial form) {
  return entry_of(profile).fitted_key(Delta{rng.block()}, me, form);
}

std::uint32_t free_key_bits(Profile profile, AndMaterial form) {
  const auto fitted = [&](std::uint64_t half) {
    return entry_of(profile).fitted_key(Delta{Block{half, half}}, Party::A, form).value;
  };
  const Block differ = fitted(0) ^ fitted(~std::uint64_t{0});
  return static_cast<std::uint32_t>(std::popcount(differ.lo) + std::popcount(differ.hi));
}

}  // namespace tinyot::offline
