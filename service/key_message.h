// The signed messages about keys (keys.proto): what a party asks and answers, as evidence that
// outlives the link. What is received is checked before anything is done with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "keys.pb.h"
#include "net/tls/identity.h"
#include "net/tls/signature.h"
#include "peer.pb.h"
#include "service/key_audit.h"
#include "service/key_operation.h"

namespace tinyot::service {

// The TLS keys of both parties.
struct KeyParties {
  net::Fingerprint own, peer;
};

struct AskedKey {
  KeyTerms terms;
  std::optional<custody::Epoch> epoch;  // of the key that is used, as the requester has it
  std::string client;
  std::chrono::system_clock::time_point begun, expires;
  AuditHead head;
  SignedMessage signed_by;
};

// A message of the peer that is not one, or that it has not signed.
struct BadKeyMessage {
  std::string why;
};

// Longest texts and public inputs of a request.
inline constexpr std::size_t kShownBytesMax = 16 << 10, kContextBytesMax = 1 << 10,
                             kClientNameMax = 200;

wire::KeyRequest message_of(const AskedKey& asked, const KeyParties& parties,
                            const net::Identity& identity);
// `mine`: the party that receives it. Fails: BadKeyMessage.
AskedKey asked_from(const wire::KeyRequest& message, const KeyParties& parties, Party mine);

struct AnsweredKey {
  custody::RequestId request{};
  bool is_accepted = false;
  std::string reason;
  AuditHead head;
  SignedMessage signed_by;
};
wire::KeyAnswer message_of(const AnsweredKey& answered, const SignedMessage& asked,
                           const KeyParties& parties, const net::Identity& identity);
// To what this party has asked. Fails: BadKeyMessage.
AnsweredKey answer_from(const wire::KeyAnswer& message, const SignedMessage& asked,
                        const KeyParties& parties);
// The number of the request that a keys.Said may be of, signed or not: to look it up, or to refuse
// it. Empty if it is malformed.
std::optional<custody::RequestId> request_in(const std::string& said);

// A number that is used once: the time, and random bytes. So it is enough to remember those of the
// last minutes.
custody::RequestId random_request();
std::chrono::system_clock::time_point time_of(const custody::RequestId& request);

}  // namespace tinyot::service
