#include "custody/settle.h"

#include <algorithm>

#include "custody/coded.h"

namespace tinyot::custody {

std::vector<std::byte> message_about(const KeyId& id, const std::optional<KeyHave>& have) {
  coded::Have message;
  put_bytes(id.bytes, *message.mutable_id());
  message.set_is_known(have.has_value());
  if (have) {
    put_bytes(crypto::bytes_of(have->attributes), *message.mutable_attributes());
    put_bytes(have->check, *message.mutable_check());
    message.set_state(static_cast<std::uint32_t>(have->state));
    for (const Epoch& epoch : have->epochs) put_epoch(epoch, *message.add_epoch());
    message.set_use_bound(have->use_bound);
  }
  return serialised(message);
}

ToldKey told_key_from(std::span<const std::byte> bytes) {
  const auto require_that = [](bool is_right) {
    if (!is_right) throw PeerCheated("key.have");
  };
  coded::Have message;
  KeyHave have;
  require_that(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  require_that(take_bytes(message.id(), have.id.bytes));
  if (!message.is_known()) return {have.id, std::nullopt};
  require_that(take_bytes(message.attributes(), crypto::writable_bytes_of(have.attributes)) &&
               take_bytes(message.check(), have.check) &&
               take_number(message.state(), KeyState::Pending, KeyState::Destroyed, have.state) &&
               message.epoch_size() <= kEpochsMax);
  for (const coded::Epoch& epoch : message.epoch())
    require_that(take_epoch(epoch, have.epochs.emplace_back()));
  require_that(std::ranges::adjacent_find(have.epochs, std::greater_equal()) == have.epochs.end() &&
               (have.epochs.empty() || have.state != KeyState::Destroyed));
  have.use_bound = std::min(message.use_bound(), kUseBoundMax);
  return {have.id, std::move(have)};
}

std::optional<KeyHave> have_from(std::span<const std::byte> bytes, const KeyId& id) {
  ToldKey told = told_key_from(bytes);
  if (told.id != id) throw PeerCheated("key.have");
  return std::move(told.have);
}

SettleStep settle_step(const std::optional<KeyHave>& mine, const std::optional<KeyHave>& theirs) {
  const auto is_in = [](const std::optional<KeyHave>& have, KeyState state) {
    return have && have->state == state;
  };
  if (!mine) return {SettleKind::Nothing};
  if (theirs && (!crypto::equal_constant_time(mine->attributes, theirs->attributes) ||
                 mine->check != theirs->check))
    return {SettleKind::Differs};
  if (is_in(mine, KeyState::Destroyed)) return {SettleKind::IsDestroyed};
  if (is_in(theirs, KeyState::Destroyed)) return {SettleKind::PeerDestroyed};
  if (!theirs)
    return {mine->state == KeyState::Pending ? SettleKind::Erase : SettleKind::NotAtPeer};
  const auto is_settled = [](const KeyHave& have) {
    return have.epochs.size() == 1 && have.state != KeyState::Pending &&
           have.state != KeyState::Restored;
  };
  std::vector<Epoch> common;
  std::ranges::set_intersection(mine->epochs, theirs->epochs, std::back_inserter(common));
  if (!common.empty() && is_settled(*mine) && is_settled(*theirs))
    return {SettleKind::Done, common.back()};
  if (is_in(mine, KeyState::Suspended) || is_in(theirs, KeyState::Suspended))
    return {SettleKind::IsSuspended};
  if (common.empty()) return {SettleKind::NoEpoch};
  return {SettleKind::Load, common.back()};
}

}  // namespace tinyot::custody
