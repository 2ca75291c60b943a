// The signed messages about keys: each is from one party to the other, and an answer is to exactly
// what was asked.
#include "service/key_message.h"

#include <gtest/gtest.h>

#include <functional>

#include "custody/coded.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using net::Identity;
using service::AnsweredKey;
using service::AskedKey;
using service::BadKeyMessage;
using service::KeyParties;
using service::SignedMessage;
namespace wire = service::wire;

// Party B asks, and A answers.
class KeyMessageTest : public ::testing::Test {
 protected:
  static AskedKey asked(const custody::RequestId& request, std::uint32_t bytes) {
    AskedKey asked;
    asked.terms.request = request;
    asked.terms.operation = service::config::ENCRYPT;
    asked.terms.bytes = bytes;
    asked.client = "client";
    asked.begun = std::chrono::system_clock::now();
    asked.expires = asked.begun + std::chrono::seconds(60);
    asked.head.sequence = 1;
    return asked;
  }
  wire::KeyRequest message_of(const AskedKey& asked) const {
    return service::message_of(asked, of_b_, b_);
  }
  // What B has signed.
  SignedMessage signed_by_b(const AskedKey& asked) const {
    return service::asked_from(message_of(asked), of_a_, Party::A).signed_by;
  }
  static AnsweredKey accepts(const custody::RequestId& request) {
    AnsweredKey answered;
    answered.request = request;
    answered.is_accepted = true;
    answered.head.sequence = 7;
    return answered;
  }

  // The message with another text, which party `by` has signed like the one before.
  template <class Message>
  static Message signed_anew(Message message, const std::string& said, const Identity& by) {
    message.set_said(said);
    const auto signature =
        net::sign(by, service::kCustodyDomain, std::as_bytes(std::span(message.said())));
    custody::put_bytes(signature.public_key, *message.mutable_public_key());
    custody::put_bytes(signature.bytes, *message.mutable_signature());
    return message;
  }
  template <class Message>
  static Message changed(const Message& message,
                         const std::function<void(service::keys::Said&)>& change,
                         const Identity& by) {
    service::keys::Said said;
    EXPECT_TRUE(said.ParseFromString(message.said()));
    change(said);
    return signed_anew(message, said.SerializeAsString(), by);
  }
  // Why A does not take the request, or B the answer; empty if it does.
  std::string refusal_of(const wire::KeyRequest& request) const {
    return refusal([&] { (void)service::asked_from(request, of_a_, Party::A); });
  }
  std::string refusal_of(const wire::KeyAnswer& answer, const SignedMessage& asked) const {
    return refusal([&] { (void)service::answer_from(answer, asked, of_b_); });
  }
  static std::string refusal(const std::function<void()>& call) {
    try {
      call();
    } catch (const BadKeyMessage& bad) {
      return bad.why;
    }
    return {};
  }

  const Identity a_ = Identity::generate(), b_ = Identity::generate(),
                 other_ = Identity::generate();
  const KeyParties of_a_{a_.fingerprint(), b_.fingerprint()},
      of_b_{b_.fingerprint(), a_.fingerprint()};
};

TEST_F(KeyMessageTest, AnswerIsToExactlyWhatWasAsked) {
  const custody::RequestId request = service::random_request();
  const SignedMessage small = signed_by_b(asked(request, 16)),
                      large = signed_by_b(asked(request, 65536));
  const wire::KeyAnswer answer = service::message_of(accepts(request), small, of_a_, a_);
  EXPECT_TRUE(service::answer_from(answer, small, of_b_).is_accepted);
  EXPECT_EQ(service::answer_from(answer, small, of_b_).head.sequence, 7u);
  EXPECT_THROW((void)service::answer_from(answer, large, of_b_), BadKeyMessage)
      << "the peer has accepted 16 bytes";
}

TEST_F(KeyMessageTest, IsFromThePeerToThisParty) {
  const custody::RequestId request = service::random_request();
  const AskedKey asked_of_a = asked(request, 16);
  const SignedMessage signed_by_b = this->signed_by_b(asked_of_a);
  // Signed by another one; reflected; to another one, and passed on.
  EXPECT_THROW(
      (void)service::asked_from(service::message_of(asked_of_a, of_b_, other_), of_a_, Party::A),
      BadKeyMessage);
  EXPECT_THROW((void)service::asked_from(message_of(asked_of_a), of_b_, Party::B), BadKeyMessage);
  EXPECT_THROW((void)service::asked_from(
                   service::message_of(asked_of_a, {b_.fingerprint(), other_.fingerprint()}, b_),
                   of_a_, Party::A),
               BadKeyMessage);
  // Signed by the peer, in the name of another one.
  EXPECT_EQ(
      refusal_of(service::message_of(asked_of_a, {other_.fingerprint(), a_.fingerprint()}, b_)),
      "it is not from the peer to this party");
  for (const auto& [parties, by] :
       {std::pair(of_a_, &other_), {KeyParties{a_.fingerprint(), other_.fingerprint()}, &a_}})
    EXPECT_THROW(
        (void)service::answer_from(service::message_of(accepts(request), signed_by_b, parties, *by),
                                   signed_by_b, of_b_),
        BadKeyMessage);
}

// Both parties go by the same terms.
TEST_F(KeyMessageTest, RequestIsReadAsItWasAsked) {
  AskedKey of_b = asked(service::random_request(), 16);
  of_b.terms.key.bytes.fill(std::byte{7});
  of_b.terms.aad_bytes = 5;
  of_b.terms.shown_aad.emplace(5, std::byte{'a'});
  of_b.terms.nonce.emplace().fill(std::byte{3});
  of_b.terms.context = {std::byte{'c'}};
  of_b.epoch = custody::Epoch{.number = 3, .tag = {std::byte{9}}};
  of_b.head.hash.bytes.fill(8);
  const AskedKey read = service::asked_from(message_of(of_b), of_a_, Party::A);
  EXPECT_EQ(read.terms.request, of_b.terms.request);
  EXPECT_EQ(read.terms.operation, of_b.terms.operation);
  EXPECT_EQ(read.terms.requester, Party::B);
  EXPECT_EQ(read.terms.key, of_b.terms.key);
  EXPECT_EQ(read.terms.bytes, 16u);
  EXPECT_EQ(read.terms.aad_bytes, 5u);
  EXPECT_EQ(read.terms.shown_aad, of_b.terms.shown_aad);
  EXPECT_EQ(read.terms.nonce, of_b.terms.nonce);
  EXPECT_EQ(read.terms.context, of_b.terms.context);
  EXPECT_EQ(read.epoch, of_b.epoch);
  EXPECT_EQ(read.client, of_b.client);
  EXPECT_LT(of_b.begun - read.begun, std::chrono::milliseconds(1));
  EXPECT_EQ(read.expires - read.begun, std::chrono::seconds(60));
  EXPECT_EQ(read.head.sequence, of_b.head.sequence);
  EXPECT_EQ(read.head.hash.bytes, of_b.head.hash.bytes);
}

// What the peer signs is checked like anything else that it sends.
TEST_F(KeyMessageTest, RequestThatThePeerHasSignedIsStillChecked) {
  using service::keys::Request;
  AskedKey of_key = asked(service::random_request(), 16);
  of_key.epoch = custody::Epoch{.number = 3, .tag = {}};
  of_key.terms.shown_aad.emplace(service::kShownBytesMax);
  of_key.terms.context.resize(service::kContextBytesMax);
  of_key.terms.nonce.emplace();
  of_key.client = std::string(service::kClientNameMax, 'c');
  const wire::KeyRequest right = message_of(of_key);
  EXPECT_EQ(refusal_of(right), "");
  const auto refusal_with = [&](const std::function<void(Request&)>& change) {
    return refusal_of(changed(
        right, [&](service::keys::Said& said) { change(*said.mutable_request()); }, b_));
  };
  EXPECT_EQ(refusal_with([](Request&) {}), "");
  const char* const no_number = "it has no number, or no key";
  EXPECT_EQ(refusal_with([](Request& of) { of.mutable_request()->pop_back(); }), no_number);
  EXPECT_EQ(refusal_with([](Request& of) { of.mutable_key()->push_back('k'); }), no_number);
  for (const char* const operation : {"", "ENCRYPT", "settle"})
    EXPECT_EQ(refusal_with([&](Request& of) { of.set_operation(operation); }),
              "it asks for an operation that there is not");
  const char* const too_much = "it shows more than a request may have";
  EXPECT_EQ(refusal_with([](Request& of) { of.mutable_shown_aad()->push_back('a'); }), too_much);
  EXPECT_EQ(refusal_with([](Request& of) { of.mutable_context()->push_back('c'); }), too_much);
  for (const int bytes : {1, 11, 13})
    EXPECT_EQ(
        refusal_with([&](Request& of) { of.mutable_nonce()->resize(static_cast<size_t>(bytes)); }),
        "its nonce has another size");
  EXPECT_EQ(refusal_with([](Request& of) { of.mutable_epoch_tag()->pop_back(); }),
            "its epoch has no tag");
  const char* const no_name = "its client has a name that cannot be logged";
  EXPECT_EQ(refusal_with([](Request& of) { of.mutable_client()->push_back('c'); }), no_name);
  EXPECT_EQ(refusal_with([](Request& of) { of.set_client("a\nb"); }), no_name);
  const char* const no_line = "it does not name a line of the peer's audit log";
  EXPECT_EQ(refusal_with([](Request& of) { of.clear_head(); }), no_line);
  EXPECT_EQ(refusal_with([](Request& of) { of.mutable_head()->set_sequence(0); }), no_line);
  EXPECT_EQ(refusal_with([](Request& of) { of.mutable_head()->mutable_hash()->pop_back(); }),
            no_line);
}

// The digest of a new key's attributes is signed, and the attributes are beside it.
TEST_F(KeyMessageTest, AttributesAreThoseThatWereSigned) {
  AskedKey of_key = asked(service::random_request(), 0);
  of_key.terms.operation = service::config::CREATE;
  custody::KeyAttributes attributes;
  attributes.label = "files";
  attributes.version = 1;
  attributes.id.bytes.fill(std::byte{7});
  const auto message_with = [&](const custody::KeyAttributes& about) {
    of_key.terms.attributes = about;
    of_key.terms.key = about.id;
    return message_of(of_key);
  };
  const wire::KeyRequest right = message_with(attributes);
  EXPECT_EQ(refusal_of(right), "");
  EXPECT_EQ(service::asked_from(right, of_a_, Party::A).terms.attributes, attributes);

  const char* const others = "it has no attributes of a key, or other ones than were signed";
  custody::KeyAttributes other = attributes;
  other.label = "other";
  wire::KeyRequest wrong = right;
  wrong.set_attributes(message_with(other).attributes());
  EXPECT_EQ(refusal_of(wrong), others);
  for (const char* const none : {"", "\xff"}) {
    wrong.set_attributes(none);
    EXPECT_EQ(refusal_of(wrong), others);
  }

  const char* const of_another = "its attributes are of another key";
  of_key.terms.attributes = attributes;
  of_key.terms.key.bytes.fill(std::byte{8});
  EXPECT_EQ(refusal_of(message_of(of_key)), of_another);
  EXPECT_EQ(
      refusal_of(changed(
          right,
          [](service::keys::Said& said) { said.mutable_request()->mutable_making()->pop_back(); },
          b_)),
      of_another);

  const char* const parents = "a derived key has a parent, and no other one has";
  of_key.terms.operation = service::config::DERIVE;
  EXPECT_EQ(refusal_of(message_with(attributes)), parents);
  custody::KeyAttributes derived = attributes;
  derived.origin = custody::KeyOrigin::Derived;
  derived.parent = custody::KeyId{};
  EXPECT_EQ(refusal_of(message_with(derived)), "");
  of_key.terms.operation = service::config::CREATE;
  EXPECT_EQ(refusal_of(message_with(derived)), parents);
}

TEST_F(KeyMessageTest, AnswerThatThePeerHasSignedIsStillChecked) {
  using service::keys::Said;
  const custody::RequestId request = service::random_request();
  const SignedMessage to = signed_by_b(asked(request, 16));
  const wire::KeyAnswer right = service::message_of(accepts(request), to, of_a_, a_);
  const auto refusal_with = [&](const std::function<void(Said&)>& change) {
    return refusal_of(changed(right, change, a_), to);
  };
  EXPECT_EQ(refusal_with([](Said&) {}), "");
  EXPECT_EQ(refusal_with([](Said& said) { said.mutable_answer()->mutable_request()->pop_back(); }),
            "it answers something else");
  // An answer that accepts names the line in which the peer has noted it.
  EXPECT_NE(refusal_with([](Said& said) { said.mutable_answer()->clear_head(); }), "");
  EXPECT_EQ(refusal_with([](Said& said) {
              said.mutable_answer()->clear_head();
              said.mutable_answer()->set_is_accepted(false);
            }),
            "");
  // The text of its reason is shown to others.
  const wire::KeyAnswer refused = changed(
      right, [](Said& said) { said.mutable_answer()->set_reason("a\nb"); }, a_);
  EXPECT_EQ(service::answer_from(refused, to, of_b_).reason, "a?b");
}

// Nor is one taken for the other.
TEST_F(KeyMessageTest, RequestIsNoAnswer) {
  const custody::RequestId request = service::random_request();
  const AskedKey of_b = asked(request, 16);
  const SignedMessage to = signed_by_b(of_b);
  const auto of_a_answer = service::message_of(accepts(request), to, of_a_, a_);
  wire::KeyAnswer answer;
  const AskedKey of_a = asked(request, 16);
  EXPECT_EQ(refusal_of(signed_anew(answer, service::message_of(of_a, of_a_, a_).said(), a_), to),
            "it is not an answer");
  EXPECT_EQ(refusal_of(signed_anew(message_of(of_b), of_a_answer.said(), b_)),
            "it is not a request");
}

// What is signed is what is read, and the log has room for it.
TEST_F(KeyMessageTest, HasNoFieldsThatAreNotKnown) {
  const wire::KeyRequest right = message_of(asked(service::random_request(), 16));
  EXPECT_EQ(refusal_of(signed_anew(right, right.said() + "\x7a\x01x", b_)),
            "it has fields that this version does not know");
  EXPECT_EQ(refusal_of(signed_anew(right, right.said() + "\xff", b_)), "it is malformed");
  service::keys::Said said;
  ASSERT_TRUE(said.ParseFromString(right.said()));
  said.mutable_request()->set_client(std::string(25 << 10, 'c'));
  EXPECT_EQ(refusal_of(signed_anew(right, said.SerializeAsString(), b_)), "it is malformed");
}

// The number of a request has its time: the same is not taken twice within it.
TEST_F(KeyMessageTest, NumberOfARequestHasItsTime) {
  const auto before = std::chrono::system_clock::now() - std::chrono::milliseconds(1);
  const custody::RequestId one = service::random_request(), other = service::random_request();
  EXPECT_NE(one, other);
  for (const custody::RequestId& request : {one, other}) {
    EXPECT_GE(service::time_of(request), before);
    EXPECT_LE(service::time_of(request), std::chrono::system_clock::now());
  }
  custody::RequestId latest;
  latest.fill(std::byte{0xff});
  EXPECT_GT(service::time_of(latest), std::chrono::system_clock::now()) << "within the clock";

  const AskedKey of_b = asked(one, 16);
  const SignedMessage to = signed_by_b(of_b);
  EXPECT_EQ(service::request_in(message_of(of_b).said()), one);
  EXPECT_EQ(service::request_in(service::message_of(accepts(one), to, of_a_, a_).said()), one);
  for (const std::string& none : {std::string(), message_of(of_b).said() + "\xff"})
    EXPECT_EQ(service::request_in(none), std::nullopt);
}

}  // namespace
}  // namespace tinyot::test
