// The self-test computes on standard vectors; that it fails for other ones is in the mutations.
#include "custody/self_test.h"

#include <gtest/gtest.h>

#include "two_custodians.h"

namespace tinyot::test {
namespace {

TEST(CustodySelfTest, MechanismsComputeTheStandardVectors) {
  EXPECT_NO_THROW(custody::require_mechanisms());
}

TwoCustodians::Step tests(const custody::KeyId& key, Party requester) {
  return [=](custody::Custodian& custodian, custody::KeyPeer& peer) {
    custody::test_with_peer(peer, custodian.files().owner().party, key, request_id(1), requester);
  };
}

TEST(CustodySelfTest, BothPartiesComputeTheStandardVectors) {
  ASSERT_EQ(custody::self_test_keys().size(), 5u);
  for (const custody::KeyAttributes& key : custody::self_test_keys())
    for (const Party requester : {Party::A, Party::B}) {
      TwoCustodians world;
      world.run_done(tests(key.id, requester));
      for (const Party party : {Party::A, Party::B})
        EXPECT_TRUE(world.files(party).records().empty()) << "a key is stored";
      EXPECT_EQ(custody::self_test_circuits(key.id, requester).size(), 3u);
    }
  EXPECT_FALSE(custody::self_test_key(key_id(1)));
}

// Changes what one party gives or gets.
class WrongPeer final : public PassingPeer {
 public:
  using Change = std::function<void(const circuit::Circuit&, Values& inputs)>;
  WrongPeer(custody::KeyPeer& peer, Change inputs, Change outputs)
      : PassingPeer(peer), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  RunResult run(const circuit::Circuit& circuit, const Values& inputs, const SharedInputs& shared,
                const std::string& label) override {
    Values given = inputs;
    inputs_(circuit, given);
    RunResult result = PassingPeer::run(circuit, given, shared, label);
    outputs_(circuit, result.outputs);
    return result;
  }

 private:
  const Change inputs_, outputs_;
};

StepEnds ends_with(const custody::KeyAttributes& key, Party wrong, const WrongPeer::Change& inputs,
                   const WrongPeer::Change& outputs) {
  TwoCustodians world;
  return world.run([&](custody::Custodian& custodian, custody::KeyPeer& peer) {
    const Party me = custodian.files().owner().party;
    WrongPeer other(peer, inputs, outputs);
    custody::test_with_peer(me == wrong ? static_cast<custody::KeyPeer&>(other) : peer, me, key.id,
                            request_id(1), Party::A);
  });
}

TEST(CustodySelfTest, FindsAWrongShare) {
  for (const custody::KeyAttributes& key : custody::self_test_keys()) {
    const StepEnds ends = ends_with(
        key, Party::B,
        [](const circuit::Circuit&, Values& inputs) {
          if (!inputs.contains("key_b")) return;
          std::vector<std::byte> share(inputs.bytes("key_b").size(), std::byte{1});
          const auto check = inputs.bytes("check");
          inputs = Values().add("key_b", share).add("check", check);
        },
        [](const circuit::Circuit&, Values&) {});
    for (const StepEnd& end : ends)
      EXPECT_NE(end.message.find("the check value is not that of the standard"), std::string::npos)
          << end.message;
  }
}

// Of either use.
TEST(CustodySelfTest, FindsAWrongResult) {
  for (const custody::KeyAttributes& key : custody::self_test_keys())
    for (const char* const output : {"tag", "valid"}) {
      const StepEnds ends = ends_with(
          key, Party::A, [](const circuit::Circuit&, Values&) {},
          [&](const circuit::Circuit&, Values& outputs) {
            if (!outputs.contains(output)) return;
            Values changed;
            for (const char* const name : {"ciphertext", "message", "tag", "valid"}) {
              if (!outputs.contains(name)) continue;
              const auto right = outputs.bytes(name);
              std::vector<std::byte> bytes(right.begin(), right.end());
              if (std::string(name) == output) bytes[0] ^= std::byte{1};
              changed.add(name, bytes);
            }
            outputs = changed;
          });
      EXPECT_NE(ends[0].message.find("is not that of the standard"), std::string::npos)
          << key.label << " " << ends[0].message;
      EXPECT_TRUE(ends[0].message.find("the result of") != std::string::npos);
    }
}

}  // namespace
}  // namespace tinyot::test
