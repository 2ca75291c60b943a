// An operation on a key of custody: what both parties know of it, what the requester alone has and
// gets, the material that it takes, and its steps on a connection.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "config.pb.h"
#include "engine/loaded_circuit.h"
#include "service/key_work.h"

namespace tinyot::service {

struct KeyTerms {
  custody::RequestId request{};
  config::KeyOperation operation = config::ENCRYPT;
  Party requester = Party::A;
  custody::KeyId key;  // of create, import and derive the new one
  // Of a new key, and the request that its record has: the same if making it is repeated.
  std::optional<custody::KeyAttributes> attributes = {};
  custody::RequestId making{};
  std::vector<std::byte> context = {};  // of derive
  std::uint32_t bytes = 0, aad_bytes = 0;
  std::optional<std::vector<std::byte>> shown_aad = {};
  std::optional<custody::Nonce> nonce =
      {};  // of encrypt with a key whose nonces the caller chooses
};

struct KeyPayload {
  custody::UsePayload use;
  std::optional<custody::Share> imported;  // the key
};

struct KeyResult {
  custody::UseResult use;
  std::optional<custody::KeyRecord> record;  // of create, import, derive, refresh
};

// Whether it makes or changes the key, so that nothing else is done with it meanwhile; otherwise it
// uses a key that there is.
bool changes_key(config::KeyOperation operation);
bool makes_key(config::KeyOperation operation);

// The id of a key that is created or imported: whoever repeats the request means the same one, and
// nobody chooses it.
custody::KeyId made_id(const custody::RequestId& making);

// Of the key that it is about. Fails: KeyError(Unknown).
custody::KeyAttributes attributes_about(const KeyTerms& terms, const custody::KeyFiles& files);

// Fails: custody::KeyError, UsageError if the files and the terms do not allow it.
void require_possible(const KeyTerms& terms, const custody::KeyFiles& files);
// Of the requester. Fails: UsageError.
void require_payload(const KeyTerms& terms, const KeyPayload& payload,
                     const custody::KeyFiles& files);

// Role: both, at the same time, with the same terms; `payload` is the requester's, null at the
// other party. `is_loaded`: whether the leading party has the used key loaded on the connection.
// Fails: as custody.
KeyResult take_steps(const KeyTerms& terms, const KeyPayload* payload, bool is_loaded,
                     KeyConnection& connection);

// The names of the circuits that it evaluates at most.
std::vector<std::string> circuits_of(const KeyTerms& terms, const custody::KeyFiles& files);
std::vector<std::string> circuits_to_settle(const custody::KeyId& key,
                                            const custody::KeyFiles& files);

// The circuits of custody with their costs. Thread-safe.
class KeyCircuits {
 public:
  struct Cost {
    std::vector<engine::LoadedCircuit> circuits;
    MaterialCounts material(AndMaterial form) const;
    std::uint64_t ands() const;
  };
  // Empty if they have more ANDs.
  std::optional<Cost> cost_of(const std::vector<std::string>& names, std::uint64_t ands_max);

 private:
  engine::LoadedCircuit circuit_named(const std::string& name);

  static constexpr std::size_t kKept = 256;
  std::mutex mutex_;
  std::map<std::string, engine::LoadedCircuit> known_;
};

}  // namespace tinyot::service
