// Custody over the evaluators of two real parties.
#include <gtest/gtest.h>

#include "tests/support/two_threads.h"
#include "two_custodians.h"

namespace tinyot::test {
namespace {

using custody::Custodian;
using custody::KeyClass;

TEST(EvaluatorPeer, CreatesLoadsDerivesAndRefreshes) {
  const Stores stores(1 << 17, 1 << 12);
  const TestDirectory directory;
  std::array<std::vector<custody::KeyRecord>, 2> records;
  std::array<std::vector<custody::Share>, 2> shares;
  both([&](Party party) {
    custody::KeyFiles files(directory / std::string(1, letter(party)), {party, "peer", "identity"},
                            store_key_of(party));
    const custody::Backups backups;
    Custodian custodian(files, backups, files.begin_link());
    Evaluator evaluator(stores.run(party));
    custody::EvaluatorPeer peer(evaluator);
    const auto attributes = attributes_of(1, KeyClass::Kdf);
    custodian.create(peer, request_id(1), attributes);
    const custody::LoadedKey parent = custodian.load(peer, attributes.id);
    custody::KeyAttributes child = attributes_of(2, KeyClass::Mac);
    child.origin = custody::KeyOrigin::Derived;
    child.parent = attributes.id;
    child.id = Custodian::derived_id(child, {});
    custodian.derive(peer, request_id(2), parent, child, {});
    custodian.refresh(peer, request_id(3), child.id);
    custodian.load(peer, child.id);
    const std::size_t p = TwoCustodians::index(party);
    records[p] = files.records();
    for (const custody::KeyRecord& record : records[p]) {
      EXPECT_EQ(record.state, custody::KeyState::Active);
      shares[p].push_back(files.share(record.attributes.id, record.held.at(0).epoch));
    }
  });
  ASSERT_EQ(records[0].size(), 2u);
  ASSERT_EQ(records[1].size(), 2u);
  for (const std::size_t k : {0, 1}) {
    EXPECT_EQ(records[0][k].held[0].epoch, records[1][k].held[0].epoch);
    EXPECT_EQ(fingerprint_of(records[0][k].attributes, records[0][k].check).bytes,
              fingerprint_of(records[1][k].attributes, records[1][k].check).bytes);
    EXPECT_NE(shares[0][k], shares[1][k]);
  }
}

// Both parties are told that the shares are not those of the key, by the circuit alone.
TEST(EvaluatorPeer, SuspendsAKeyWhoseShareIsWrong) {
  const Stores stores(1 << 16, 1 << 12);
  const TestDirectory directory;
  both([&](Party party) {
    custody::KeyFiles files(directory / std::string(1, letter(party)), {party, "peer", "identity"},
                            store_key_of(party));
    const custody::Backups backups;
    Custodian custodian(files, backups, files.begin_link());
    Evaluator evaluator(stores.run(party));
    custody::EvaluatorPeer peer(evaluator);
    custodian.create(peer, request_id(1), attributes_of(1));
    custody::KeyRecord record = files.record(key_id(1));
    custody::Share share = files.share(key_id(1), record.held[0].epoch);
    if (party == Party::B) share[0] ^= std::byte{1};
    record.held.clear();
    files.restore({party, "peer", record, epoch(2), share});
    try {
      custodian.settle(peer, key_id(1));
      ADD_FAILURE() << "settled";
    } catch (const custody::KeyError& error) {
      EXPECT_EQ(error.problem(), custody::KeyProblem::CheckFailed);
    }
    EXPECT_EQ(files.record(key_id(1)).state, custody::KeyState::Suspended);
  });
}

}  // namespace
}  // namespace tinyot::test
