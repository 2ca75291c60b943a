// What operations on keys the files of a party allow, and what they take.
#include "service/key_operation.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "engine/run_estimate.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

namespace config = service::config;
using custody::KeyAttributes;
using custody::KeyClass;
using custody::KeyId;
using custody::KeyProblem;
using custody::KeyState;
using service::KeyTerms;

class KeyOperationTest : public ::testing::Test {
 protected:
  static custody::RequestId making_of(std::uint8_t number) {
    custody::RequestId making;
    making.fill(std::byte{number});
    return making;
  }
  static KeyAttributes attributes(std::uint8_t number, const std::string& label) {
    KeyAttributes attributes;
    attributes.id = service::made_id(making_of(number));
    attributes.label = label;
    return attributes;
  }
  // An active key.
  KeyAttributes add(const KeyAttributes& of) {
    custody::KeyRecord record;
    record.attributes = of;
    const custody::Epoch epoch{.number = 1, .tag = {}};
    const std::uint64_t link = files_.begin_link();
    files_.store_epoch(link, record, epoch, custody::Share(32, std::byte{1}));
    files_.keep_only(link, of.id, epoch);
    return of;
  }
  static KeyTerms terms(config::KeyOperation operation, const KeyId& key) {
    KeyTerms terms;
    terms.operation = operation;
    terms.key = key;
    return terms;
  }
  static KeyTerms making(config::KeyOperation operation, const KeyAttributes& attributes) {
    KeyTerms of = terms(operation, attributes.id);
    of.attributes = attributes;
    for (std::uint8_t number = 0; service::made_id(of.making) != attributes.id && number < 10;)
      of.making = making_of(++number);
    return of;
  }
  static std::optional<KeyProblem> problem_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const custody::KeyError& error) {
      return error.problem();
    }
    return std::nullopt;
  }
  std::optional<KeyProblem> problem_of(const KeyTerms& terms) const {
    return problem_of([&] { require_possible(terms, files_); });
  }

  const TestDirectory directory_{"/dev/shm"};
  custody::KeyFiles files_{directory_ / "keys",
                           {Party::A, "bob", "peer"},
                           StoreKey(std::vector<std::byte>(32, std::byte{'k'}))};
};

TEST_F(KeyOperationTest, VersionsOfALabelFollowEachOther) {
  KeyAttributes first = attributes(9, "files"), next = attributes(2, "files");
  first.version = 2;
  EXPECT_EQ(problem_of(making(config::CREATE, first)), KeyProblem::Exists) << "there is no first";
  first.version = 1;
  EXPECT_EQ(problem_of(making(config::CREATE, first)), std::nullopt);
  add(first);
  EXPECT_EQ(problem_of(making(config::CREATE, first)), std::nullopt) << "making it is repeated";
  for (const std::uint32_t version : {1, 3}) {
    next.version = version;
    EXPECT_EQ(problem_of(making(config::CREATE, next)), KeyProblem::Exists) << version;
  }
  next.version = 2;
  EXPECT_EQ(problem_of(making(config::IMPORT, next)), std::nullopt);
  // Of a label that is rotated, clients go on with the same algorithm.
  for (const std::function<void(KeyAttributes&)>& change :
       std::vector<std::function<void(KeyAttributes&)>>{
           [](KeyAttributes& of) { of.key_class = KeyClass::Mac; },
           [](KeyAttributes& of) { of.algorithm = custody::KeyAlgorithm::Aes128; },
           [](KeyAttributes& of) { of.nonces = custody::NonceMode::Caller; }}) {
    KeyAttributes other = next;
    change(other);
    EXPECT_EQ(problem_of(making(config::CREATE, other)), KeyProblem::Exists);
  }
  // The newest one counts, in whatever order they were made.
  add(next);
  KeyAttributes third = attributes(0, "files");
  third.version = 2;
  EXPECT_EQ(problem_of(making(config::CREATE, third)), KeyProblem::Exists);
  third.version = 3;
  EXPECT_EQ(problem_of(making(config::CREATE, third)), std::nullopt);
  EXPECT_EQ(problem_of(making(config::CREATE, attributes(4, "other"))), std::nullopt);
}

TEST_F(KeyOperationTest, OnlyAnActiveOrADeactivatedKeyIsRefreshed) {
  const KeyId key = add(attributes(1, "files")).id;
  const KeyTerms refresh = terms(config::REFRESH, key);
  EXPECT_EQ(problem_of(refresh), std::nullopt);
  files_.deactivate(key);
  EXPECT_EQ(problem_of(refresh), std::nullopt);
  files_.set_state(key, KeyState::Suspended);
  EXPECT_EQ(problem_of(refresh), KeyProblem::State);
  files_.destroy(key);
  EXPECT_EQ(problem_of(refresh), KeyProblem::State);
  EXPECT_EQ(problem_of(terms(config::REFRESH, attributes(2, "x").id)), KeyProblem::Unknown);
}

TEST_F(KeyOperationTest, DerivedKeyHasTheIdOfItsAttributesAndAParentThatDerives) {
  KeyAttributes root = attributes(1, "root");
  root.key_class = KeyClass::Kdf;
  add(root);
  const KeyAttributes data = add(attributes(2, "data"));
  const auto derived_from = [&](const KeyAttributes& parent) {
    KeyAttributes derived = attributes(3, "derived");
    derived.origin = custody::KeyOrigin::Derived;
    derived.parent = parent.id;
    KeyTerms of = making(config::DERIVE, derived);
    of.context = {std::byte{'c'}};
    of.key = of.attributes->id = custody::Custodian::derived_id(derived, of.context);
    return of;
  };
  const KeyTerms right = derived_from(root);
  EXPECT_EQ(problem_of(right), std::nullopt);
  EXPECT_EQ(problem_of(derived_from(data)), KeyProblem::Use);
  KeyTerms other = right;
  other.context.push_back({});
  EXPECT_THROW(require_possible(other, files_), UsageError);
  other = right;
  other.key = other.attributes->id = attributes(9, "x").id;
  EXPECT_THROW(require_possible(other, files_), UsageError);
}

// Neither a later derived key's nor any other.
TEST_F(KeyOperationTest, NobodyChoosesTheIdOfAKey) {
  for (const auto operation : {config::CREATE, config::IMPORT}) {
    KeyTerms of = making(operation, attributes(1, "files"));
    EXPECT_EQ(problem_of(of), std::nullopt);
    of.key = of.attributes->id = attributes(9, "x").id;
    EXPECT_THROW(require_possible(of, files_), UsageError);
  }
}

TEST_F(KeyOperationTest, OnlyAUseHasAPayload) {
  const KeyId key = add(attributes(1, "files")).id;
  for (const std::function<void(KeyTerms&)>& change : std::vector<std::function<void(KeyTerms&)>>{
           [](KeyTerms& of) { of.bytes = 1; }, [](KeyTerms& of) { of.aad_bytes = 1; },
           [](KeyTerms& of) { of.shown_aad.emplace(); }, [](KeyTerms& of) { of.nonce.emplace(); }})
    for (const KeyTerms& right :
         {terms(config::REFRESH, key), making(config::CREATE, attributes(2, "other"))}) {
      KeyTerms other = right;
      change(other);
      EXPECT_NO_THROW(require_possible(right, files_));
      EXPECT_THROW(require_possible(other, files_), UsageError);
    }
}

TEST_F(KeyOperationTest, ImportedKeyHasTheSizeOfItsAlgorithm) {
  const KeyTerms import = making(config::IMPORT, attributes(1, "files"));
  for (const std::size_t bytes : {0, 16, 31, 32, 33}) {
    service::KeyPayload payload;
    payload.imported.emplace(bytes);
    if (bytes == 32)
      EXPECT_NO_THROW(require_payload(import, payload, files_));
    else
      EXPECT_THROW(require_payload(import, payload, files_), UsageError) << bytes;
  }
  EXPECT_THROW(require_payload(import, {}, files_), UsageError);
  EXPECT_NO_THROW(require_payload(making(config::CREATE, attributes(1, "files")), {}, files_));
}

// Of a party's stock, no more is asked for than it may have.
TEST_F(KeyOperationTest, CostIsCountedUpToALimit) {
  service::KeyCircuits circuits;
  const auto names = circuits_of(making(config::CREATE, attributes(1, "files")), files_);
  ASSERT_EQ(names.size(), 2u);
  const auto cost = circuits.cost_of(names, std::uint64_t{1} << 40);
  ASSERT_TRUE(cost.has_value());
  const std::uint64_t ands = cost->ands();
  EXPECT_GT(ands, 0u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(circuits.cost_of(names, ands).has_value());
    EXPECT_FALSE(circuits.cost_of(names, ands - 1).has_value());
  }
  EXPECT_FALSE(service::KeyCircuits().cost_of(names, ands - 1).has_value());
}

TEST_F(KeyOperationTest, MakingAndChangingDiffer) {
  for (int i = config::KeyOperation_MIN; i <= config::KeyOperation_MAX; ++i) {
    const auto operation = static_cast<config::KeyOperation>(i);
    const bool makes =
        operation == config::CREATE || operation == config::IMPORT || operation == config::DERIVE;
    EXPECT_EQ(service::makes_key(operation), makes);
    EXPECT_EQ(service::changes_key(operation), makes || operation == config::REFRESH);
  }
}

// A key that is loaded may come from a run of another phase, which takes further bits.
TEST_F(KeyOperationTest, MaterialIsThatOfTheFormAndOfLoadedKeys) {
  service::KeyCircuits circuits;
  KeyTerms use = terms(config::ENCRYPT, add(attributes(1, "files")).id);
  use.bytes = 16;
  const auto cost = circuits.cost_of(circuits_of(use, files_), std::uint64_t{1} << 40);
  ASSERT_TRUE(cost.has_value());
  for (const AndMaterial form : {AndMaterial::Triples, AndMaterial::Garbling}) {
    MaterialCounts of_runs;
    std::uint64_t shared = 0;
    for (const engine::LoadedCircuit& circuit : cost->circuits) {
      of_runs += engine::material_of_run(circuit, circuit.cost().ands, form);
      for (const circuit::InputBundle& input : circuit.info().inputs)
        if (input.source == circuit::InputSource::Shared) shared += input.bits;
    }
    EXPECT_GE(shared, 256u) << "the key";
    if (form == AndMaterial::Garbling)
      for (const MaterialKind kind : {MaterialKind::AuthBitsA, MaterialKind::AuthBitsB})
        of_runs[kind] += shared;
    EXPECT_EQ(cost->material(form), of_runs);
  }
}

// The material of all that is evaluated is set aside before it begins.
TEST_F(KeyOperationTest, CircuitsOfAMakingAreAllThatItTakes) {
  const KeyAttributes created = attributes(1, "files");
  EXPECT_EQ(circuits_of(making(config::CREATE, created), files_),
            (std::vector{custody::load_circuit(created), custody::check_circuit(created)}));
  KeyAttributes root = attributes(2, "root");
  root.key_class = KeyClass::Kdf;
  add(root);
  KeyAttributes child = attributes(3, "child");
  child.key_class = KeyClass::Mac;
  child.algorithm = custody::KeyAlgorithm::Aes128;
  child.origin = custody::KeyOrigin::Derived;
  child.parent = root.id;
  KeyTerms derive = terms(config::DERIVE, child.id);
  derive.attributes = child;
  derive.context.resize(7);
  EXPECT_EQ(circuits_of(derive, files_),
            (std::vector{custody::load_circuit(child), custody::load_circuit(root),
                         custody::derive_circuit(root.algorithm, child, 7)}));
}

// For both parties the same circuits: a use takes one more than a refresh, which loads the key.
TEST_F(KeyOperationTest, CircuitsAreThoseOfTheKey) {
  const KeyAttributes key = add(attributes(1, "files"));
  const auto refresh = circuits_of(terms(config::REFRESH, key.id), files_);
  KeyTerms use = terms(config::ENCRYPT, key.id);
  use.bytes = 16;
  const auto encrypt = circuits_of(use, files_);
  ASSERT_EQ(refresh.size(), 1u);
  ASSERT_EQ(encrypt.size(), 2u);
  EXPECT_EQ(encrypt[0], refresh[0]);
  EXPECT_EQ(service::circuits_to_settle(key.id, files_), refresh);
  EXPECT_TRUE(service::circuits_to_settle(attributes(7, "x").id, files_).empty());
}

}  // namespace
}  // namespace tinyot::test
