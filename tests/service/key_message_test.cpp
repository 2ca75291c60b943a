// The signed messages about keys: each is from one party to the other, and an answer is to exactly
// what was asked.
#include "service/key_message.h"

#include <gtest/gtest.h>

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
  for (const auto& [parties, by] :
       {std::pair(of_a_, &other_), {KeyParties{a_.fingerprint(), other_.fingerprint()}, &a_}})
    EXPECT_THROW(
        (void)service::answer_from(service::message_of(accepts(request), signed_by_b, parties, *by),
                                   signed_by_b, of_b_),
        BadKeyMessage);
}

}  // namespace
}  // namespace tinyot::test
