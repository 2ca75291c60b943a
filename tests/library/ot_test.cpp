#include <gtest/gtest.h>
#include <tinyot/ot.h>

#include "tests/support/two_threads.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

bool equal(const Block& x, const Block& y) { return x.lo == y.lo && x.hi == y.hi; }

class Ot : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < choices.size(); ++i)
      choices[i] = static_cast<std::byte>(0x35 + 77 * i);
    for (std::size_t i = 0; i < n; ++i) m0[i] = {i, 1}, m1[i] = {~i, 2};
  }
  bool choice(std::size_t i) const {
    return ((std::to_integer<unsigned>(choices[i / 8]) >> (i % 8)) & 1) != 0;
  }
  void run(const std::function<void(OtSender&)>& send,
           const std::function<void(OtReceiver&)>& receive) {
    const Endpoints endpoints;
    both([&](Party party) {
      if (party == Party::A) {
        OtSender sender({endpoints.of(party)});
        send(sender);
      } else {
        OtReceiver receiver({endpoints.of(party)});
        receive(receiver);
      }
    });
  }

  const std::size_t n = GetParam();
  std::vector<std::byte> choices = std::vector<std::byte>((n + 7) / 8);
  std::vector<Block> m0 = std::vector<Block>(n), m1 = m0, x = m0;
};

INSTANTIATE_TEST_SUITE_P(Of, Ot, testing::Values(0, 1, 7, 128, 1000, 70'000));

TEST_P(Ot, ReceiverGetsTheChosenStrings) {
  run([&](OtSender& sender) { sender.chosen(m0, m1); },
      [&](OtReceiver& receiver) { receiver.chosen(choices, x); });
  for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(equal(x[i], choice(i) ? m1[i] : m0[i])) << i;
}

TEST_P(Ot, RandomStringsBelongToTheChoices) {
  run([&](OtSender& sender) { sender.random(m0, m1); },
      [&](OtReceiver& receiver) { receiver.random(choices, x); });
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_TRUE(equal(x[i], choice(i) ? m1[i] : m0[i])) << i;
    ASSERT_FALSE(equal(m0[i], m1[i]));
  }
}

TEST_P(Ot, CorrelatedStringsDifferByTheOffset) {
  const std::vector<Block> offsets = m1;
  run([&](OtSender& sender) { sender.correlated(offsets, m0); },
      [&](OtReceiver& receiver) { receiver.correlated(choices, x); });
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_TRUE(equal(x[i], choice(i) ? m0[i] ^ offsets[i] : m0[i])) << i;
}

TEST(OtCalls, ContinueOnOneConnection) {
  const Endpoints endpoints;
  std::vector<Block> first(300), second(300), x(300);
  const std::vector<std::byte> ones(38, std::byte{255});
  both([&](Party party) {
    if (party == Party::A) {
      OtSender sender({endpoints.of(party), 4});
      for (int round = 0; round < 3; ++round) sender.random(first, second);
    } else {
      OtReceiver receiver({endpoints.of(party), 4});
      for (int round = 0; round < 3; ++round) receiver.random(ones, x);
    }
  });
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(equal(x[i], second[i])) << i;
}

TEST(OtCalls, RefuseWrongShapes) {
  const Endpoints endpoints;
  std::vector<Block> three(3), four(4);
  const std::vector<std::byte> two(2);
  EXPECT_THROW(OtSender({endpoints.of(Party::A), 3}), UsageError);
  both([&](Party party) {
    if (party == Party::A) {
      OtSender sender({endpoints.of(party)});
      EXPECT_THROW(sender.chosen(three, four), std::logic_error);
      sender.random(three, three);
    } else {
      OtReceiver receiver({endpoints.of(party)});
      EXPECT_THROW(receiver.random(two, three), std::logic_error);
      receiver.random(std::span(two).first(1), three);
    }
  });
}

TEST(OtCalls, ComparesTheBitsPerTree) {
  const Endpoints endpoints;
  both([&](Party party) {
    const std::string error = message_of([&] {
      if (party == Party::A)
        const OtSender sender({endpoints.of(party), 2});
      else
        const OtReceiver receiver({endpoints.of(party), 4});
    });
    EXPECT_NE(error.find("the parties disagree on softspoken-k"), std::string::npos) << error;
  });
}

TEST(OtCalls, FailAfterThePeerDisconnects) {
  const Endpoints endpoints;
  std::vector<Block> many(1 << 17);
  both([&](Party party) {
    if (party == Party::B) {
      OtReceiver receiver({endpoints.of(party)});
      return;
    }
    OtSender sender({endpoints.of(party)});
    EXPECT_THROW(sender.random(many, many), NetworkError);
    EXPECT_THROW(sender.random(many, many), std::logic_error) << "the connection has ended";
  });
}

}  // namespace
}  // namespace tinyot
