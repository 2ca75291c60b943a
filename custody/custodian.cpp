#include "custody/custodian.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/hex.h"
#include "circuitgen/evaluate.h"
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
Share expanded(const SecretVector<std::byte>& coins, std::string_view purpose, std::size_t bytes) {
  Share expanded(bytes);
  for (std::size_t at = 0; at < bytes; at += sizeof(crypto::Digest)) {
    const ScopedSecret<crypto::Digest> block(
        crypto::RandomOracle(SessionId{}, {"key coins", '*', at / sizeof(crypto::Digest)})
            .absorb(coins)
            .absorb(std::as_bytes(std::span(purpose)))
            .digest());
    const crypto::Digest& bytes_of_block = block;
    std::ranges::copy(
        crypto::bytes_of(bytes_of_block).first(std::min(sizeof bytes_of_block, bytes - at)),
        expanded.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return expanded;
}

Epoch epoch_of(std::uint64_t number, const SecretVector<std::byte>& coins) {
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

void require_origin(const KeyAttributes& attributes, KeyOrigin origin) {
  require_valid(attributes);
  if (attributes.origin != origin)
    throw UsageError("key " + text_of(attributes.id) + " is not " + name_of(origin) + ", but " +
                     name_of(attributes.origin));
}

constexpr std::string_view kDeriveLabel = "tinyot derive";

[[noreturn]] void refuse_state(const KeyRecord& record, const std::string& what) {
  throw KeyError(KeyProblem::State, "key " + text_of(record.attributes.id) + " is " +
                                        name_of(record.state) + ": " + what);
}

}  // namespace

CheckValue check_of(const KeyAttributes& attributes, const Share& key) {
  const auto circuit = circuit_named(check_circuit(attributes));
  LaneMatrix first(1, 8 * key.size());
  ENSURE(first.assign(0, key));
  const auto outputs = circuit::evaluate(*circuit, 1, {first, LaneMatrix(1, 8 * key.size())});
  CheckValue check{};
  std::ranges::copy(outputs[0][0].bytes(), check.begin());
  return check;
}

std::string check_circuit(const KeyAttributes& attributes) {
  return "key_check:" + parameters_of(attributes);
}

std::string load_circuit(const KeyAttributes& attributes) {
  return "key_load:" + parameters_of(attributes);
}

// The label, class, algorithm and nonces, a zero byte, the context.
std::string derive_circuit(KeyAlgorithm parent, const KeyAttributes& attributes,
                           std::size_t context_bytes) {
  return "key_derive:parent=" + name_of(parent) + "," + parameters_of(attributes) +
         ",info=" + std::to_string(kDeriveLabel.size() + 4 + context_bytes);
}

bool is_loadable(const KeyRecord& record) {
  return is_bound(record) &&
         (record.state == KeyState::Active || record.state == KeyState::Deactivated) &&
         record.held.size() == 1;
}

void require_loadable(const KeyRecord& record) {
  require_bound(record);
  if (!is_loadable(record))
    refuse_state(record, "only a settled key is loaded that is active or deactivated");
}

std::optional<KeyHave> Custodian::exchanged(KeyPeer& peer, const std::string& label,
                                            const KeyId& id) const {
  return have_from(peer.exchange(label + " have", message_about(id, files_.have(id))), id);
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
  return active_at_both(peer, label, attributes);
}

KeyRecord Custodian::active_at_both(KeyPeer& peer, const std::string& label,
                                    const KeyAttributes& attributes) {
  const auto theirs = exchanged(peer, label, attributes.id);
  KeyRecord mine = files_.record(attributes.id);
  if (mine.state != KeyState::Active) refuse_state(mine, "it was to be active");
  if (!theirs || theirs->state != KeyState::Active)
    throw KeyError(KeyProblem::NotAtPeer, "key " + text_of(attributes.id) +
                                              " is not active at the peer yet: repeat the request");
  return mine;
}

std::optional<KeyRecord> Custodian::made_before(KeyPeer& peer, const RequestId& request,
                                                const KeyAttributes& attributes) {
  const auto mine = files_.find(attributes.id);
  if (mine && (mine->request != request || mine->attributes != attributes))
    throw KeyError(KeyProblem::Exists,
                   "key " + text_of(attributes.id) + " exists: it is " + name_of(mine->state));
  const std::string label = label_of("before", request, attributes);
  const auto theirs = exchanged(peer, label, attributes.id);
  if (!mine && !theirs) return std::nullopt;
  settle(peer, attributes.id);
  // Of what one party alone had, settling has left nothing.
  if (!mine || !theirs) return std::nullopt;
  return active_at_both(peer, label, attributes);
}

KeyRecord Custodian::create(KeyPeer& peer, const RequestId& request,
                            const KeyAttributes& attributes) {
  require_origin(attributes, KeyOrigin::Generated);
  if (const auto made = made_before(peer, request, attributes)) return *made;
  // Step 1: both parties draw a share of the key.
  NewShare made{random_share(key_bytes_of(attributes.algorithm)), {}};
  // Step 2: its check value, to both.
  const RunResult checked = peer.run(*circuit_named(check_circuit(attributes)),
                                     share_input(files_.owner().party, made.share), {},
                                     label_of("create", request, attributes));
  made.check = check_in(checked);
  // Steps 3 to 5: an epoch is tossed, the share stored, the key settled.
  return store_new(peer, request, attributes, made);
}

KeyRecord Custodian::import(KeyPeer& peer, const RequestId& request,
                            const KeyAttributes& attributes, Party by,
                            const std::optional<Share>& key) {
  require_origin(attributes, KeyOrigin::Imported);
  const Party me = files_.owner().party;
  const std::size_t bytes = key_bytes_of(attributes.algorithm);
  require(key.has_value() == (me == by), "the party that imports has the key, and the other not");
  if (key && key->size() != bytes)
    throw UsageError("a key of " + name_of(attributes.algorithm) + " has " + std::to_string(bytes) +
                     " bytes");
  const auto require_same = [&](const CheckValue& check) {
    if (key && check_of(attributes, *key) != check)
      throw KeyError(KeyProblem::Differs,
                     "the key that is stored as " + text_of(attributes.id) +
                         " is not the one that was given: the peer's share is wrong, or another "
                         "key was given before");
  };
  const std::string label = label_of("import", request, attributes);
  if (const auto made = made_before(peer, request, attributes)) {
    require_same(made->check);
    return *made;
  }
  // Step 1: the other party's share is tossed, this one's the rest.
  NewShare made{expanded(peer.toss_coins(label), "share", bytes), {}};
  if (key) add_to(made.share, *key);
  // From here on as create(); who knows the key compares.
  const RunResult checked =
      peer.run(*circuit_named(check_circuit(attributes)), share_input(me, made.share), {}, label);
  made.check = check_in(checked);
  require_same(made.check);
  return store_new(peer, request, attributes, made);
}

KeyId Custodian::derived_id(const KeyAttributes& attributes, std::span<const std::byte> context) {
  const crypto::Digest digest = crypto::RandomOracle(SessionId{}, {"derived key", '*', 0})
                                    .absorb(attributes.parent.value_or(KeyId{}).bytes)
                                    .absorb_object(static_cast<std::uint8_t>(attributes.key_class))
                                    .absorb_object(static_cast<std::uint8_t>(attributes.algorithm))
                                    .absorb_object(static_cast<std::uint8_t>(attributes.nonces))
                                    .absorb(context)
                                    .digest();
  KeyId id;
  std::ranges::copy(crypto::bytes_of(digest).first(id.bytes.size()), id.bytes.begin());
  return id;
}

KeyRecord Custodian::derive(KeyPeer& peer, const RequestId& request, const LoadedKey& parent,
                            const KeyAttributes& attributes, std::span<const std::byte> context) {
  require_origin(attributes, KeyOrigin::Derived);
  const KeyRecord of_parent = files_.record(parent.id);
  if (of_parent.state != KeyState::Active || of_parent.attributes.key_class != KeyClass::Kdf)
    refuse_state(of_parent, "keys are derived from an active key of class kdf");
  if (of_parent.held.size() != 1 || of_parent.held.front().epoch != parent.epoch)
    refuse_state(of_parent, "what is loaded of it is of another epoch");
  if (attributes.parent != parent.id || attributes.id != derived_id(attributes, context))
    throw UsageError(
        "the id of a derived key is that of its parent, class, algorithm, nonces and "
        "context");
  if (const auto made = made_before(peer, request, attributes)) return *made;
  // Label, a zero byte, context (NIST SP 800-108): no bits of a child are those of another class.
  std::string text(kDeriveLabel);
  for (const std::uint8_t number : {static_cast<std::uint8_t>(attributes.key_class),
                                    static_cast<std::uint8_t>(attributes.algorithm),
                                    static_cast<std::uint8_t>(attributes.nonces)})
    text += static_cast<char>(number);
  text += '\0';
  text.append(reinterpret_cast<const char*>(context.data()), context.size());
  const std::string label = label_of("derive", request, attributes);
  // Step 1: the child to nobody, its check value to both.
  const RunResult derived = peer.run(
      *circuit_named(derive_circuit(of_parent.attributes.algorithm, attributes, context.size())),
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
  const SettleStep step = settle_step(files_.have(id), theirs);
  require_bound(record);
  if (step.kind != SettleKind::Done || record.state == KeyState::Suspended ||
      theirs->state == KeyState::Suspended)
    refuse_state(record, "settle or resume it at both parties before it is refreshed");
  if (step.epoch.number == kEpochNumberMax)
    refuse_state(record, "its epoch has the last number: rotate it");
  // Step 2: coins that both add to their share.
  const SecretVector<std::byte> coins = peer.toss_coins(label);
  const Epoch next = epoch_of(step.epoch.number + 1, coins);
  Share share = files_.share(id, step.epoch);
  add_to(share, expanded(coins, "share", share.size()));
  // Step 3: the new epoch beside the old one, which goes once both have the new one.
  store(record, next, share);
  settle(peer, id);
  KeyRecord refreshed = files_.record(id);
  if (refreshed.held.size() != 1 || refreshed.held.front().epoch != next)
    throw KeyError(KeyProblem::NotAtPeer,
                   "key " + text_of(id) + " keeps its epoch: the peer has not stored the new one");
  return refreshed;
}

RunResult Custodian::run_load(KeyPeer& peer, const KeyRecord& record, const Epoch& epoch,
                              const std::string& label) {
  const Share share = files_.share(record.attributes.id, epoch);
  RunResult result = peer.run(*circuit_named(load_circuit(record.attributes)),
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
  const auto mine = files_.have(id);
  const auto theirs = have_from(peer.exchange(label + " have", message_about(id, mine)), id);
  if (const auto record = files_.find(id)) require_bound(*record);
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
    case SettleKind::IsSuspended:
      return fail(KeyProblem::State, "it is suspended until an officer resumes it");
    case SettleKind::NoEpoch:
      return fail(KeyProblem::NoEpoch,
                  "the parties have no epoch in common; restore one from backups");
    case SettleKind::PeerDestroyed:
      files_.set_state(id, KeyState::Suspended);
      return fail(KeyProblem::NotAtPeer, "the peer has destroyed its share");
    case SettleKind::Load:
      break;
  }
  // Rule 7: the share that is kept is the one that has been read back and checked.
  const KeyRecord record = files_.record(id);
  run_load(peer, record, step.epoch, label);
  if (record.is_restored) files_.take_from_peer(id, *theirs);
  files_.keep_only(link_, id, step.epoch);
}

LoadedKey Custodian::load(KeyPeer& peer, const KeyId& id) {
  const KeyRecord record = files_.record(id);
  require_loadable(record);
  const Epoch epoch = record.held.front().epoch;
  RunResult result =
      run_load(peer, record, epoch,
               "load " + hex_of(crypto::bytes_of(fingerprint_of(record.attributes, record.check))));
  // What has changed during the run counts.
  const KeyRecord now = files_.record(id);
  require_loadable(now);
  if (now.held.front().epoch != epoch) refuse_state(now, "it has another epoch now");
  return {id, epoch, std::move(result.shared)};
}

}  // namespace tinyot::custody
