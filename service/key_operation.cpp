#include "service/key_operation.h"

#include <algorithm>

#include "base/error.h"
#include "circuitgen/generators/registry.h"
#include "crypto/digest.h"
#include "engine/run_estimate.h"
#include "material/material.h"

namespace tinyot::service {
namespace {

using custody::KeyUse;

std::optional<KeyUse> use_of(config::KeyOperation operation) {
  switch (operation) {
    case config::ENCRYPT:
      return KeyUse::Encrypt;
    case config::DECRYPT:
      return KeyUse::Decrypt;
    case config::SIGN:
      return KeyUse::Sign;
    case config::VERIFY:
      return KeyUse::Verify;
    default:
      return std::nullopt;
  }
}

custody::UseTerms use_terms(const KeyTerms& terms) {
  return {.request = terms.request,
          .key = terms.key,
          .use = use_of(terms.operation).value(),
          .requester = terms.requester,
          .bytes = terms.bytes,
          .aad_bytes = terms.aad_bytes,
          .shown_aad = terms.shown_aad,
          .nonce = terms.nonce};
}

}  // namespace

bool makes_key(config::KeyOperation operation) {
  return operation == config::CREATE || operation == config::IMPORT || operation == config::DERIVE;
}

custody::KeyAttributes attributes_about(const KeyTerms& terms, const custody::KeyFiles& files) {
  return terms.attributes ? *terms.attributes : files.record(terms.key).attributes;
}

bool changes_key(config::KeyOperation operation) {
  return makes_key(operation) || operation == config::REFRESH;
}

custody::KeyId made_id(const custody::RequestId& making) {
  const crypto::Digest digest = crypto::sha256(making);
  custody::KeyId id;
  std::ranges::copy(crypto::bytes_of(digest).first(id.bytes.size()), id.bytes.begin());
  return id;
}

void require_possible(const KeyTerms& terms, const custody::KeyFiles& files) {
  if (use_of(terms.operation)) return require_terms(use_terms(terms), files.record(terms.key));
  if (terms.bytes > 0 || terms.aad_bytes > 0 || terms.shown_aad || terms.nonce)
    throw UsageError("only a use of a key has a payload");
  if (terms.operation == config::REFRESH) {
    const custody::KeyRecord record = files.record(terms.key);
    custody::require_bound(record);
    if (record.state != custody::KeyState::Active && record.state != custody::KeyState::Deactivated)
      throw custody::KeyError(custody::KeyProblem::State,
                              "key " + text_of(terms.key) + " is " + name_of(record.state) +
                                  ": only an active or a deactivated one is refreshed");
    return;
  }
  const custody::KeyAttributes& attributes = terms.attributes.value();
  custody::require_valid(attributes);
  if (!files.find(attributes.id)) files.require_next_version(attributes);
  // So nobody takes the id of a key that is made otherwise, and none is its own parent.
  if (terms.key != (terms.operation == config::DERIVE
                        ? custody::Custodian::derived_id(attributes, terms.context)
                        : made_id(terms.making)))
    throw UsageError("a key that is made so has another id");
  if (terms.operation != config::DERIVE) return;
  custody::require_use(files.record(attributes.parent.value()), KeyUse::Derive);
}

void require_payload(const KeyTerms& terms, const KeyPayload& payload,
                     const custody::KeyFiles& files) {
  if (use_of(terms.operation))
    return custody::require_payload(use_terms(terms), payload.use,
                                    files.record(terms.key).attributes);
  if (terms.operation != config::IMPORT) return;
  const std::size_t bytes = circuit::key_bytes_of(terms.attributes.value().algorithm);
  if (!payload.imported || payload.imported->size() != bytes)
    throw UsageError("a key of " + custody::name_of(terms.attributes->algorithm) + " has " +
                     std::to_string(bytes) + " bytes");
}

KeyResult take_steps(const KeyTerms& terms, const KeyPayload* payload, bool is_loaded,
                     KeyConnection& connection) {
  custody::Custodian& custodian = connection.custodian;
  switch (terms.operation) {
    case config::CREATE:
      return {{}, custodian.create(connection.peer, terms.making, terms.attributes.value())};
    case config::IMPORT:
      return {
          {},
          custodian.import(connection.peer, terms.making, terms.attributes.value(), terms.requester,
                           payload != nullptr ? payload->imported : std::nullopt)};
    case config::DERIVE: {
      const custody::KeyAttributes& attributes = terms.attributes.value();
      const custody::LoadedKey parent =
          connection.session.load(attributes.parent.value(), is_loaded);
      return {{},
              custodian.derive(connection.peer, terms.making, parent, attributes, terms.context)};
    }
    case config::REFRESH:
      return {{}, custodian.refresh(connection.peer, terms.request, terms.key)};
    default:
      return {connection.session.use(use_terms(terms), payload != nullptr ? &payload->use : nullptr,
                                     is_loaded),
              {}};
  }
}

std::vector<std::string> circuits_of(const KeyTerms& terms, const custody::KeyFiles& files) {
  if (makes_key(terms.operation)) {
    const custody::KeyAttributes& attributes = terms.attributes.value();
    std::vector<std::string> names = {custody::load_circuit(attributes)};
    if (terms.operation == config::DERIVE) {
      const custody::KeyAttributes parent = files.record(attributes.parent.value()).attributes;
      names.push_back(custody::load_circuit(parent));
      names.push_back(custody::derive_circuit(parent.algorithm, attributes, terms.context.size()));
    } else {
      names.push_back(custody::check_circuit(attributes));
    }
    return names;
  }
  const custody::KeyAttributes attributes = files.record(terms.key).attributes;
  std::vector<std::string> names = {custody::load_circuit(attributes)};
  if (use_of(terms.operation)) names.push_back(custody::circuit_of(use_terms(terms), attributes));
  return names;
}

std::vector<std::string> circuits_to_settle(const custody::KeyId& key,
                                            const custody::KeyFiles& files) {
  const auto record = files.find(key);
  return record ? std::vector{custody::load_circuit(record->attributes)}
                : std::vector<std::string>{};
}

// A large circuit is counted without the lock, and not to its end.
std::optional<KeyCircuits::Cost> KeyCircuits::cost_of(const std::vector<std::string>& names,
                                                      std::uint64_t ands_max) {
  Cost cost;
  for (const std::string& name : names) cost.circuits.push_back(circuit_named(name));
  std::uint64_t ands = 0;
  for (const engine::LoadedCircuit& circuit : cost.circuits) {
    const circuit::CircuitCost* const of_circuit = circuit.cost_within_ands(ands_max - ands);
    if (of_circuit == nullptr) return std::nullopt;
    ands += of_circuit->ands;
  }
  return cost;
}

engine::LoadedCircuit KeyCircuits::circuit_named(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto found = known_.find(name);
  if (found == known_.end()) {
    if (known_.size() == kKept) known_.clear();
    std::shared_ptr<const circuit::Circuit> circuit = circuit::find_key_circuit(name);
    ENSURE(circuit);
    found = known_.emplace(name, engine::LoadedCircuit::of(std::move(circuit), 1)).first;
  }
  return found->second;
}

// A value that an interactive run has left takes masks in a garbled one.
MaterialCounts KeyCircuits::Cost::material(AndMaterial form) const {
  MaterialCounts counts;
  for (const engine::LoadedCircuit& circuit : circuits) {
    counts += engine::material_of_run(circuit, circuit.cost().ands, form);
    if (form != AndMaterial::Garbling) continue;
    for (const circuit::InputBundle& input : circuit.info().inputs)
      if (input.source == circuit::InputSource::Shared)
        for (const Party party : {Party::A, Party::B})
          counts[material::auth_bits_of(party)] += input.bits;
  }
  return counts;
}

std::uint64_t KeyCircuits::Cost::ands() const {
  std::uint64_t ands = 0;
  for (const engine::LoadedCircuit& circuit : circuits) ands += circuit.cost().ands;
  return ands;
}

}  // namespace tinyot::service
