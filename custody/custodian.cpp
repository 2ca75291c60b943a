#include "custody/custodian.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/hex.h"
#include "circuitgen/generators/registry.h"
#include "crypto/prg.h"
#include "crypto/random_oracle.h"

namespace tinyot::custody {
namespace {

std::string parameters_of(const KeyAttributes& attributes) {
  return "algorithm=" + name_of(attributes.algorithm) + ",class=" + name_of(attributes.key_class);
}

std::unique_ptr<circuit::Circuit> circuit_named(const std::string& spec) {
  auto circuit = circuit::find_key_circuit(spec);
  ENSURE(circuit != nullptr);
  return circuit;
}

// What the parties compare of a step: request, operation and key.
std::string label_of(std::string_view operation, const RequestId& request,
                     const KeyAttributes& attributes) {
  return std::string(operation) + " " + hex_of(request) + " " +
         hex_of(crypto::bytes_of(digest_of(attributes)));
}

Share random_share(std::size_t bytes) {
  Share share(bytes);
  crypto::Rng::from_system().fill(share);
  return share;
}

// Tossed bytes, expanded: both parties know them, and nobody else.
Share expanded(const std::array<std::byte, 32>& coins, std::string_view purpose,
               std::size_t bytes) {
  Share expanded(bytes);
  for (std::size_t at = 0; at < bytes; at += sizeof(crypto::Digest)) {
    const crypto::Digest block =
        crypto::RandomOracle(SessionId{}, {"key coins", '*', at / sizeof(crypto::Digest)})
            .absorb(coins)
            .absorb(std::as_bytes(std::span(purpose)))
            .digest();
    std::ranges::copy(crypto::bytes_of(block).first(std::min(sizeof block, bytes - at)),
                      expanded.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return expanded;
}

Epoch epoch_of(std::uint64_t number, const std::array<std::byte, 32>& coins) {
  Epoch epoch{number, {}};
  const Share tag = expanded(coins, "epoch", epoch.tag.size());
  std::ranges::copy(tag, epoch.tag.begin());
  return epoch;
}

void add_to(Share& share, std::span<const std::byte> other) {
  ENSURE(share.size() == other.size());
  for (std::size_t k = 0; k < share.size(); ++k) share[k] ^= other[k];
}

Values share_input(Party me, const Share& share) {
  return Values().add(me == Party::A ? "key_a" : "key_b", share);
}

CheckValue check_in(const RunResult& result) {
  CheckValue check{};
  std::ranges::copy(result.outputs.bytes("check"), check.begin());
  return check;
}

[[noreturn]] void refuse_state(const KeyRecord& record, const std::string& what) {
  throw KeyError(KeyProblem::State, "key " + text_of(record.attributes.id) + " is " +
                                        name_of(record.state) + ": " + what);
}

}  // namespace

std::optional<KeyHave> Custodian::have(const KeyId& id) const {
  const auto record = files_.find(id);
  if (!record) return std::nullopt;
  return record->have();
}

std::optional<KeyHave> Custodian::exchanged(KeyPeer& peer, const std::string& label,
                                            const KeyId& id) const {
  return have_from(peer.exchange(label + " have", message_about(id, have(id))), id);
}

// Backup, slot, record: each durable before the next.
void Custodian::store(const KeyRecord& record, const Epoch& epoch, const Share& share) {
  backups_.write(files_.owner(), record, epoch, share);
  files_.store_epoch(link_, record, epoch, share);
}

KeyRecord Custodian::store_new(KeyPeer& peer, const RequestId& request,
                               const KeyAttributes& attributes, const NewShare& made) {
  const std::string label = label_of("new", request, attributes);
  const Epoch epoch = epoch_of(1, peer.toss_coins(label));
  KeyRecord record;
  record.attributes = attributes;
  record.check = made.check;
  record.request = request;
  store(record, epoch, made.share);
  settle(peer, attributes.id);
  const auto theirs = exchanged(peer, label, attributes.id);
  const KeyRecord mine = files_.record(attributes.id);
  if (mine.state != KeyState::Active || !theirs || theirs->state != KeyState::Active)
    throw KeyError(
        KeyProblem::NotAtPeer,
        "key " + text_of(attributes.id) + " is not active at both parties yet: repeat the request");
  return mine;
}

std::optional<KeyRecord> Custodian::made_before(KeyPeer& peer, const RequestId& request,
                                                const KeyAttributes& attributes) {
  const auto mine = files_.find(attributes.id);
  if (mine && mine->request != request)
    throw KeyError(KeyProblem::Exists,
                   "key " + text_of(attributes.id) + " exists: it is " + name_of(mine->state));
  const auto theirs = exchanged(peer, label_of("before", request, attributes), attributes.id);
  if (!mine && !theirs) return std::nullopt;
  settle(peer, attributes.id);
  // Of what one party alone had, settling has left nothing.
  if (!mine || !theirs) return std::nullopt;
  return files_.record(attributes.id);
}

KeyRecord Custodian::create(KeyPeer& peer, const RequestId& request,
                            const KeyAttributes& attributes) {
  require_valid(attributes);
  if (const auto made = made_before(peer, request, attributes)) return *made;
  // Step 1: both parties draw a share of the key.
  NewShare made{random_share(key_bytes_of(attributes.algorithm)), {}};
  // Step 2: its check value, to both.
  const RunResult checked = peer.run(*circuit_named("key_check:" + parameters_of(attributes)),
                                     share_input(files_.owner().party, made.share), {},
                                     label_of("create", request, attributes));
  made.check = check_in(checked);
  // Steps 3 to 5: an epoch is tossed, the share stored, the key settled.
  return store_new(peer, request, attributes, made);
}

KeyRecord Custodian::import(KeyPeer& peer, const RequestId& request,
                            const KeyAttributes& attributes, Party by,
                            const std::optional<Share>& key) {
  require_valid(attributes);
  const Party me = files_.owner().party;
  const std::size_t bytes = key_bytes_of(attributes.algorithm);
  ENSURE(key.has_value() == (me == by) && (!key || key->size() == bytes));
  const std::string label = label_of("import", request, attributes);
  if (const auto made = made_before(peer, request, attributes)) return *made;
  // Step 1: the other party's share is tossed, this one's the rest.
  NewShare made{expanded(peer.toss_coins(label), "share", bytes), {}};
  if (key) add_to(made.share, *key);
  // From here on as create().
  const RunResult checked = peer.run(*circuit_named("key_check:" + parameters_of(attributes)),
                                     share_input(me, made.share), {}, label);
  made.check = check_in(checked);
  return store_new(peer, request, attributes, made);
}

KeyId Custodian::derived_id(const KeyAttributes& attributes, std::span<const std::byte> context) {
  KeyAttributes child = attributes;
  child.id = {};
  const crypto::Digest digest = crypto::RandomOracle(SessionId{}, {"derived key", '*', 0})
                                    .absorb_object(digest_of(child))
                                    .absorb(context)
                                    .digest();
  KeyId id;
  std::ranges::copy(crypto::bytes_of(digest).first(id.bytes.size()), id.bytes.begin());
  return id;
}

KeyRecord Custodian::derive(KeyPeer& peer, const RequestId& request, const LoadedKey& parent,
                            const KeyAttributes& attributes, std::span<const std::byte> context) {
  require_valid(attributes);
  const KeyRecord of_parent = files_.record(parent.id);
  if (of_parent.state != KeyState::Active || of_parent.attributes.key_class != KeyClass::Kdf)
    refuse_state(of_parent, "keys are derived from an active key of class kdf");
  ENSURE(attributes.parent == parent.id && attributes.id == derived_id(attributes, context));
  if (const auto made = made_before(peer, request, attributes)) return *made;
  // Label, a zero byte, context (NIST SP 800-108): no bits of a child are those of another class.
  std::string text = "tinyot derive";
  for (const std::uint8_t number : {static_cast<std::uint8_t>(attributes.key_class),
                                    static_cast<std::uint8_t>(attributes.algorithm),
                                    static_cast<std::uint8_t>(attributes.nonces)})
    text += static_cast<char>(number);
  text += '\0';
  text.append(reinterpret_cast<const char*>(context.data()), context.size());
  const std::string label = label_of("derive", request, attributes);
  // Step 1: the child to nobody, its check value to both.
  const RunResult derived =
      peer.run(*circuit_named("key_derive:parent=" + name_of(of_parent.attributes.algorithm) + "," +
                              parameters_of(attributes) + ",info=" + std::to_string(text.size())),
               Values().add("info", std::as_bytes(std::span(text))), parent.values, label);
  // Step 2: this party's bits of the child, and coins that both add.
  const std::size_t bytes = key_bytes_of(attributes.algorithm);
  NewShare made{expanded(peer.toss_coins(label), "share", bytes), check_in(derived)};
  add_to(made.share, derived.shared.at("key").my_share()[0].bytes());
  return store_new(peer, request, attributes, made);
}

KeyRecord Custodian::refresh(KeyPeer& peer, const RequestId& request, const KeyId& id) {
  const KeyRecord record = files_.record(id);
  const std::string label = label_of("refresh", request, record.attributes);
  // Step 1: both have the same single epoch.
  const auto theirs = exchanged(peer, label, id);
  const SettleStep step = settle_step(record.have(), theirs);
  if (step.kind != SettleKind::Done || record.state == KeyState::Suspended ||
      theirs->state == KeyState::Suspended)
    refuse_state(record, "settle or resume it at both parties before it is refreshed");
  // Step 2: coins that both add to their share.
  const std::array<std::byte, 32> coins = peer.toss_coins(label);
  Share share = files_.share(id, step.epoch);
  add_to(share, expanded(coins, "share", share.size()));
  // Step 3: the new epoch beside the old one, which goes once both have the new one.
  store(record, epoch_of(step.epoch.number + 1, coins), share);
  settle(peer, id);
  return files_.record(id);
}

RunResult Custodian::run_load(KeyPeer& peer, const KeyRecord& record, const Epoch& epoch,
                              const std::string& label) {
  const Share share = files_.share(record.attributes.id, epoch);
  RunResult result = peer.run(*circuit_named("key_load:" + parameters_of(record.attributes)),
                              share_input(files_.owner().party, share).add("check", record.check),
                              {}, label + " " + text_of(epoch));
  if (result.outputs.integer("ok") == 1) return result;
  files_.set_state(record.attributes.id, KeyState::Suspended);
  throw KeyError(KeyProblem::CheckFailed,
                 "the shares of key " + text_of(record.attributes.id) + " in epoch " +
                     text_of(epoch) +
                     " are not those of the key: one of the parties has another share, which does "
                     "not say which; the key is suspended until an officer resumes it");
}

void Custodian::settle(KeyPeer& peer, const KeyId& id) {
  const std::string label = "settle " + text_of(id);
  const auto mine = have(id);
  const auto theirs = exchanged(peer, label, id);
  const SettleStep step = settle_step(mine, theirs);
  const auto fail = [&](KeyProblem problem, const std::string& why) {
    throw KeyError(problem, "key " + text_of(id) + " cannot be used: " + why);
  };
  switch (step.kind) {
    case SettleKind::Nothing:
    case SettleKind::Done:
    case SettleKind::IsDestroyed:
      return;
    case SettleKind::Erase:
      return files_.remove_pending(link_, id);
    case SettleKind::Differs:
      return fail(KeyProblem::Differs, "its attributes or its check value are not the peer's");
    case SettleKind::NotAtPeer:
      return fail(KeyProblem::NotAtPeer,
                  "the peer has no share of it, until it restores one of the same epoch");
    case SettleKind::NoEpoch:
      return fail(KeyProblem::NoEpoch,
                  "the parties have no epoch in common; restore one from backups");
    case SettleKind::PeerDestroyed:
      if (mine->state != KeyState::Suspended) files_.set_state(id, KeyState::Suspended);
      return fail(KeyProblem::NotAtPeer, "the peer has destroyed its share");
    case SettleKind::Load:
      break;
  }
  // Rule 6: the share that is kept is the one that has been read back and checked.
  const KeyRecord record = files_.record(id);
  run_load(peer, record, step.epoch, label);
  const bool is_new = record.state == KeyState::Pending || record.state == KeyState::Restored;
  files_.keep_only(link_, id, step.epoch, is_new ? KeyState::Active : record.state);
}

LoadedKey Custodian::load(KeyPeer& peer, const KeyId& id) {
  const KeyRecord record = files_.record(id);
  if ((record.state != KeyState::Active && record.state != KeyState::Deactivated) ||
      record.held.size() != 1)
    refuse_state(record, "only a settled key is loaded that is active or deactivated");
  const Epoch epoch = record.held.front().epoch;
  RunResult result = run_load(peer, record, epoch, "load " + text_of(id));
  return {id, epoch, std::move(result.shared)};
}

}  // namespace tinyot::custody
