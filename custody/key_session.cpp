#include "custody/key_session.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/hex.h"
#include "circuitgen/generators/key_uses.h"
#include "circuitgen/generators/registry.h"
#include "crypto/random_oracle.h"

namespace tinyot::custody {
namespace {

bool is_gcm(KeyUse use) { return use == KeyUse::Encrypt || use == KeyUse::Decrypt; }
bool has_tag(KeyUse use) { return use == KeyUse::Decrypt || use == KeyUse::Verify; }

std::size_t tag_bytes_of(const KeyAttributes& attributes) {
  return attributes.algorithm == KeyAlgorithm::HmacSha256 ? 32 : 16;
}

// A bundle of 0 bytes is absent.
void add(Values& values, const std::string& name, std::span<const std::byte> bytes) {
  if (!bytes.empty()) values.add(name, bytes);
}

Values inputs_of(const UseTerms& terms, const UsePayload* payload,
                 const std::optional<Nonce>& nonce) {
  Values values;
  if (nonce) values.add("nonce", *nonce);
  if (terms.shown_aad) add(values, "aad", *terms.shown_aad);
  if (payload == nullptr) return values;
  if (terms.use == KeyUse::Decrypt) values.add("nonce", payload->nonce);
  add(values, terms.use == KeyUse::Decrypt ? "ciphertext" : "message", payload->text);
  add(values, "tag", payload->tag);
  if (is_gcm(terms.use)) add(values, "aad", payload->aad);
  return values;
}

template <class Bytes>
void take(const Values& outputs, const std::string& name, Bytes& to) {
  if (!outputs.contains(name)) return;
  const auto bytes = outputs.bytes(name);
  to.assign(bytes.begin(), bytes.end());
}

std::string label_of(const UseTerms& terms, const KeyRecord& record, const Epoch& epoch) {
  return name_of(terms.use) + " " + hex_of(terms.request) + " " +
         hex_of(crypto::bytes_of(fingerprint_of(record.attributes, record.check))) + " " +
         text_of(epoch);
}

}  // namespace

std::string name_of(KeyUse use) {
  switch (use) {
    case KeyUse::Encrypt:
      return "encrypt";
    case KeyUse::Decrypt:
      return "decrypt";
    case KeyUse::Sign:
      return "sign";
    case KeyUse::Verify:
      return "verify";
    case KeyUse::Derive:
      return "derive";
  }
  return "unknown";
}

void require_use(const KeyRecord& record, KeyUse use) {
  require_bound(record);
  const KeyClass wanted = is_gcm(use)             ? KeyClass::Aead
                          : use == KeyUse::Derive ? KeyClass::Kdf
                                                  : KeyClass::Mac;
  const std::string key = "key " + text_of(record.attributes.id);
  if (record.attributes.key_class != wanted)
    throw KeyError(KeyProblem::Use, key + " is of class " + name_of(record.attributes.key_class) +
                                        ", which does not " + name_of(use));
  const bool is_allowed =
      record.state == KeyState::Active ||
      (record.state == KeyState::Deactivated && (use == KeyUse::Decrypt || use == KeyUse::Verify));
  if (!is_allowed)
    throw KeyError(KeyProblem::State,
                   key + " is " + name_of(record.state) + ", and does not " + name_of(use));
}

std::string circuit_of(const UseTerms& terms, const KeyAttributes& attributes) {
  const auto family = [&]() -> std::string {
    switch (terms.use) {
      case KeyUse::Encrypt:
        return "key_seal";
      case KeyUse::Decrypt:
        return "key_open";
      case KeyUse::Sign:
        return "key_sign";
      case KeyUse::Verify:
        return "key_verify";
      case KeyUse::Derive:
        break;
    }
    ENSURE(false);
  };
  std::string name = family() + ":algorithm=" + name_of(attributes.algorithm) +
                     ",by=" + letter(terms.requester) + ",bytes=" + std::to_string(terms.bytes);
  if (is_gcm(terms.use))
    name += ",aad=" + std::to_string(terms.aad_bytes) +
            ",shown=" + (terms.shown_aad && terms.aad_bytes > 0 ? "yes" : "no");
  return name;
}

void require_terms(const UseTerms& terms, const KeyRecord& record) {
  require_use(record, terms.use);
  const auto refuse = [&](const std::string& why) {
    throw UsageError(name_of(terms.use) + " with key " + text_of(terms.key) + ": " + why);
  };
  if (terms.use == KeyUse::Derive) refuse("it makes a key, and has no result");
  if (terms.bytes > circuit::kKeyUseBytesMax || terms.aad_bytes > circuit::kKeyUseBytesMax)
    refuse("at most 65536 bytes; for more, encrypt a data key");
  if (!is_gcm(terms.use) && (terms.aad_bytes > 0 || terms.shown_aad))
    refuse("it takes no associated data");
  if (terms.shown_aad && terms.shown_aad->size() != terms.aad_bytes)
    refuse("the associated data that is shown has another length");
  const bool wants_nonce =
      terms.use == KeyUse::Encrypt && record.attributes.nonces == NonceMode::Caller;
  if (terms.nonce.has_value() != wants_nonce)
    refuse(wants_nonce ? "its nonces are chosen by the caller, and there is none"
                       : "its nonces are not chosen by the caller");
}

void require_payload(const UseTerms& terms, const UsePayload& payload,
                     const KeyAttributes& attributes) {
  if (payload.text.size() != terms.bytes ||
      payload.aad.size() != (terms.shown_aad ? 0 : terms.aad_bytes) ||
      payload.tag.size() != (has_tag(terms.use) ? tag_bytes_of(attributes) : 0))
    throw UsageError(name_of(terms.use) + " with key " + text_of(terms.key) +
                     ": the payload, the associated data or the tag has another length than the "
                     "request says, or than the algorithm has");
}

Nonce joint_nonce(const SecretVector<std::byte>& coins, std::uint64_t run, std::uint64_t lane) {
  const crypto::Digest digest = crypto::RandomOracle(SessionId{}, {"key nonces", '*', run})
                                    .absorb(coins)
                                    .absorb_object(lane)
                                    .digest();
  Nonce nonce;
  std::ranges::copy(crypto::bytes_of(digest).first(nonce.size()), nonce.begin());
  return nonce;
}

Nonce KeySession::next_nonce() {
  if (runs_ == kRunsPerToss) {
    coins_ = peer_.toss_coins("key nonces " + std::to_string(tosses_++));
    runs_ = 0;
  }
  return joint_nonce(coins_, runs_++, 0);
}

std::optional<LoadedKey> KeySession::loaded_now(const KeyRecord& record) const {
  const auto at = loaded_.find(record.attributes.id);
  if (record.held.size() != 1 || at == loaded_.end() ||
      at->second.epoch != record.held.front().epoch)
    return std::nullopt;
  return at->second;
}

LoadedKey KeySession::load(const KeyId& id, std::optional<bool> is_loaded) {
  const KeyRecord record = custodian_.files().record(id);
  require_loadable(record);
  std::uint64_t forgets = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto loaded = loaded_now(record);
    if (loaded && is_loaded.value_or(true)) return *loaded;
    if (is_loaded.value_or(false))
      throw NetworkError("key " + text_of(id) + " is no longer loaded on this connection");
    loaded_.erase(id);
    forgets = forgets_;
  }
  LoadedKey loaded = custodian_.load(peer_, id);
  const std::lock_guard lock(mutex_);
  if (forgets != forgets_)
    throw KeyError(KeyProblem::State, "key " + text_of(id) + " was changed while it was loaded");
  return loaded_.insert_or_assign(id, std::move(loaded)).first->second;
}

UseResult KeySession::use(const UseTerms& terms, const UsePayload* payload,
                          std::optional<bool> is_loaded) {
  const KeyRecord record = custodian_.files().record(terms.key);
  require_terms(terms, record);
  const bool is_requester = terms.requester == custodian_.files().owner().party;
  require(is_requester == (payload != nullptr), "the requester alone has the payload");
  if (payload != nullptr) require_payload(terms, *payload, record.attributes);
  return run_use(terms, payload, record, load(terms.key, is_loaded));
}

UseResult KeySession::run_use(const UseTerms& terms, const UsePayload* payload,
                              const KeyRecord& record, const LoadedKey& loaded) {
  UseResult result;
  std::optional<Nonce> nonce = terms.nonce;
  if (terms.use == KeyUse::Encrypt && !nonce) nonce = next_nonce();
  const auto circuit = circuit::find_key_circuit(circuit_of(terms, record.attributes));
  ENSURE(circuit != nullptr);
  const RunResult run = peer_.run(*circuit, inputs_of(terms, payload, nonce), loaded.values,
                                  label_of(terms, record, loaded.epoch));
  if (nonce) result.nonce = *nonce;
  if (payload == nullptr) return result;
  if (has_tag(terms.use)) result.is_valid = run.outputs.integer("valid") == 1;
  take(run.outputs, "tag", result.tag);
  if (result.is_valid) {
    take(run.outputs, terms.use == KeyUse::Encrypt ? "ciphertext" : "message", result.text);
  }
  return result;
}

bool KeySession::has_loaded(const KeyId& id) const {
  const auto record = custodian_.files().find(id);
  const std::lock_guard lock(mutex_);
  return record && loaded_now(*record).has_value();
}

void KeySession::forget(const KeyId& id) {
  const std::lock_guard lock(mutex_);
  ++forgets_;
  loaded_.erase(id);
}

void KeySession::forget_unusable(const KeyId& id) {
  const auto record = custodian_.files().find(id);
  const std::lock_guard lock(mutex_);
  if (!record || !is_loadable(*record) || !loaded_now(*record)) loaded_.erase(id);
}

void KeySession::forget_all() {
  const std::lock_guard lock(mutex_);
  ++forgets_;
  loaded_.clear();
}

}  // namespace tinyot::custody
