#include "service/key_message.h"

#include <algorithm>

#include "crypto/prg.h"
#include "custody/coded.h"
#include "service/foreign_text.h"
#include "service/key_policy.h"

namespace tinyot::service {
namespace {

using custody::put_bytes;
using custody::take_bytes;
using Time = std::chrono::system_clock::time_point;

std::int64_t unix_ms(Time time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}
// Within what the clock can say.
Time time_from(std::int64_t unix_ms) {
  constexpr std::int64_t kMax = std::int64_t{1} << 42;  // in the year 2109
  return Time(std::chrono::milliseconds(std::clamp<std::int64_t>(unix_ms, 0, kMax)));
}
constexpr std::size_t kTimeBytes = 6;
// Of a request with all that it may show.
constexpr std::size_t kSaidBytesMax = 24 << 10;

std::span<const std::byte> bytes_of(const net::Fingerprint& key) {
  return std::as_bytes(std::span(key.bytes));
}
std::span<const std::byte> bytes_in(const std::string& text) {
  return std::as_bytes(std::span(text));
}
std::vector<std::byte> vector_in(const std::string& text) {
  const auto bytes = bytes_in(text);
  return {bytes.begin(), bytes.end()};
}

void put_head(const AuditHead& head, keys::Head& to) {
  to.set_sequence(head.sequence);
  put_bytes(crypto::bytes_of(head.hash), *to.mutable_hash());
}

AuditHead head_from(const keys::Head& head) {
  AuditHead from;
  from.sequence = head.sequence();
  if (head.sequence() == 0 || !take_bytes(head.hash(), crypto::writable_bytes_of(from.hash)))
    throw BadKeyMessage{"it does not name a line of the peer's audit log"};
  return from;
}

template <class Message>
void put_parties(const KeyParties& parties, Message& to) {
  put_bytes(bytes_of(parties.own), *to.mutable_from());
  put_bytes(bytes_of(parties.peer), *to.mutable_to());
}
template <class Message>
void require_parties(const KeyParties& parties, const Message& from) {
  if (!std::ranges::equal(bytes_in(from.from()), bytes_of(parties.peer)) ||
      !std::ranges::equal(bytes_in(from.to()), bytes_of(parties.own)))
    throw BadKeyMessage{"it is not from the peer to this party"};
}

SignedMessage signed_message(const keys::Said& said, const net::Identity& identity) {
  SignedMessage message;
  message.message = custody::serialised(said);
  message.signature = net::sign(identity, kCustodyDomain, message.message);
  return message;
}

template <class Message>
Message wire_of(const SignedMessage& message) {
  Message to;
  put_bytes(message.message, *to.mutable_said());
  put_bytes(message.signature.public_key, *to.mutable_public_key());
  put_bytes(message.signature.bytes, *to.mutable_signature());
  return to;
}

// Its signature and what it says.
template <class Message>
std::pair<SignedMessage, keys::Said> received(const Message& message, const KeyParties& parties) {
  SignedMessage from{vector_in(message.said()),
                     {vector_in(message.public_key()), vector_in(message.signature())}};
  keys::Said said;
  if (!net::is_signed_by(parties.peer, from.signature, kCustodyDomain, from.message))
    throw BadKeyMessage{"the peer has not signed it"};
  if (from.message.size() > kSaidBytesMax ||
      !said.ParseFromArray(from.message.data(), static_cast<int>(from.message.size())))
    throw BadKeyMessage{"it is malformed"};
  // It stands in the log as it was signed.
  const keys::Said whole = said;
  said.DiscardUnknownFields();
  if (said.ByteSizeLong() != whole.ByteSizeLong())
    throw BadKeyMessage{"it has fields that this version does not know"};
  return {std::move(from), std::move(said)};
}

void put_attributes(const custody::KeyAttributes& attributes, keys::Request& to) {
  put_bytes(crypto::bytes_of(custody::digest_of(attributes)), *to.mutable_attributes());
}

custody::KeyAttributes attributes_from(const wire::KeyRequest& message,
                                       const keys::Request& request) {
  custody::coded::Attributes coded;
  custody::KeyAttributes attributes;
  if (!coded.ParseFromString(message.attributes()) ||
      !custody::take_attributes(coded, attributes) ||
      !std::ranges::equal(bytes_in(request.attributes()),
                          crypto::bytes_of(custody::digest_of(attributes))))
    throw BadKeyMessage{"it has no attributes of a key, or other ones than were signed"};
  return attributes;
}

KeyTerms terms_from(const wire::KeyRequest& message, const keys::Request& request,
                    Party requester) {
  KeyTerms terms;
  const auto require_that = [](bool is_right, const char* otherwise) {
    if (!is_right) throw BadKeyMessage{otherwise};
  };
  require_that(
      take_bytes(request.request(), terms.request) && take_bytes(request.key(), terms.key.bytes),
      "it has no number, or no key");
  const auto operation = key_operation_named(request.operation());
  require_that(operation.has_value(), "it asks for an operation that there is not");
  terms.operation = *operation;
  terms.requester = requester;
  terms.bytes = request.bytes();
  terms.aad_bytes = request.aad_bytes();
  if (request.has_shown_aad()) terms.shown_aad = vector_in(request.shown_aad());
  require_that(
      request.shown_aad().size() <= kShownBytesMax && request.context().size() <= kContextBytesMax,
      "it shows more than a request may have");
  terms.context = vector_in(request.context());
  if (!request.nonce().empty())
    require_that(take_bytes(request.nonce(), terms.nonce.emplace()), "its nonce has another size");
  if (!makes_key(terms.operation)) return terms;
  terms.attributes = attributes_from(message, request);
  require_that(terms.attributes->id == terms.key && take_bytes(request.making(), terms.making),
               "its attributes are of another key");
  require_that(terms.attributes->parent.has_value() == (terms.operation == config::DERIVE),
               "a derived key has a parent, and no other one has");
  return terms;
}

}  // namespace

custody::RequestId random_request() {
  auto request = crypto::Rng::from_system().object<custody::RequestId>();
  const auto now = static_cast<std::uint64_t>(unix_ms(std::chrono::system_clock::now()));
  for (std::size_t i = 0; i < kTimeBytes; ++i)
    request[i] = static_cast<std::byte>(now >> (8 * (kTimeBytes - 1 - i)));
  return request;
}

Time time_of(const custody::RequestId& request) {
  std::int64_t ms = 0;
  for (std::size_t i = 0; i < kTimeBytes; ++i)
    ms = ms << 8 | std::to_integer<std::int64_t>(request[i]);
  return time_from(ms);
}

wire::KeyRequest message_of(const AskedKey& asked, const KeyParties& parties,
                            const net::Identity& identity) {
  keys::Said said;
  keys::Request& request = *said.mutable_request();
  const KeyTerms& terms = asked.terms;
  put_parties(parties, request);
  put_bytes(terms.request, *request.mutable_request());
  request.set_operation(name_of(terms.operation));
  put_bytes(terms.key.bytes, *request.mutable_key());
  if (asked.epoch) {
    request.set_epoch_number(asked.epoch->number);
    put_bytes(asked.epoch->tag, *request.mutable_epoch_tag());
  }
  request.set_bytes(terms.bytes);
  request.set_aad_bytes(terms.aad_bytes);
  if (terms.shown_aad) put_bytes(*terms.shown_aad, *request.mutable_shown_aad());
  if (terms.nonce) put_bytes(*terms.nonce, *request.mutable_nonce());
  put_bytes(terms.context, *request.mutable_context());
  request.set_client(asked.client);
  request.set_begun_unix_ms(unix_ms(asked.begun));
  request.set_expires_unix_ms(unix_ms(asked.expires));
  put_head(asked.head, *request.mutable_head());
  if (terms.attributes) {
    put_attributes(*terms.attributes, request);
    put_bytes(terms.making, *request.mutable_making());
  }
  auto message = wire_of<wire::KeyRequest>(signed_message(said, identity));
  if (terms.attributes) {
    custody::coded::Attributes coded;
    custody::put_attributes(*terms.attributes, coded);
    message.set_attributes(coded.SerializeAsString());
  }
  return message;
}

AskedKey asked_from(const wire::KeyRequest& message, const KeyParties& parties, Party mine) {
  auto [from, said] = received(message, parties);
  if (!said.has_request()) throw BadKeyMessage{"it is not a request"};
  const keys::Request& request = said.request();
  require_parties(parties, request);
  AskedKey asked;
  asked.terms = terms_from(message, request, peer_of(mine));
  if (request.epoch_number() > 0) {
    asked.epoch.emplace().number = request.epoch_number();
    if (!take_bytes(request.epoch_tag(), asked.epoch->tag))
      throw BadKeyMessage{"its epoch has no tag"};
  }
  if (request.client().size() > kClientNameMax ||
      request.client() != foreign_text(request.client()))
    throw BadKeyMessage{"its client has a name that cannot be logged"};
  asked.client = request.client();
  asked.begun = time_from(request.begun_unix_ms());
  asked.expires = time_from(request.expires_unix_ms());
  asked.head = head_from(request.head());
  asked.signed_by = std::move(from);
  return asked;
}

wire::KeyAnswer message_of(const AnsweredKey& answered, const SignedMessage& asked,
                           const KeyParties& parties, const net::Identity& identity) {
  keys::Said said;
  keys::Answer& answer = *said.mutable_answer();
  put_parties(parties, answer);
  put_bytes(answered.request, *answer.mutable_request());
  put_bytes(crypto::bytes_of(crypto::sha256(asked.message)), *answer.mutable_request_hash());
  answer.set_is_accepted(answered.is_accepted);
  answer.set_reason(answered.reason);
  put_head(answered.head, *answer.mutable_head());
  return wire_of<wire::KeyAnswer>(signed_message(said, identity));
}

std::optional<custody::RequestId> request_in(const std::string& text) {
  keys::Said said;
  custody::RequestId request{};
  if (!said.ParseFromString(text) ||
      !take_bytes(said.has_answer() ? said.answer().request() : said.request().request(), request))
    return std::nullopt;
  return request;
}

AnsweredKey answer_from(const wire::KeyAnswer& message, const SignedMessage& asked,
                        const KeyParties& parties) {
  auto [from, said] = received(message, parties);
  if (!said.has_answer()) throw BadKeyMessage{"it is not an answer"};
  const keys::Answer& answer = said.answer();
  require_parties(parties, answer);
  AnsweredKey answered;
  if (!take_bytes(answer.request(), answered.request) ||
      !std::ranges::equal(bytes_in(answer.request_hash()),
                          crypto::bytes_of(crypto::sha256(asked.message))))
    throw BadKeyMessage{"it answers something else"};
  answered.is_accepted = answer.is_accepted();
  answered.reason = foreign_text(answer.reason());
  if (answered.is_accepted) answered.head = head_from(answer.head());
  answered.signed_by = std::move(from);
  return answered;
}

}  // namespace tinyot::service
