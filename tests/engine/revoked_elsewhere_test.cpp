// A session that another process revokes between two calls of an evaluator.
#include <fcntl.h>
#include <unistd.h>

#include "storage/store.h"
#include "system/descriptor.h"
#include "tests/library/garbling_stores.h"
#include "tests/storage/process_support.h"

namespace tinyot::test {
namespace {

// Another process, which revokes the session of a store once it is told of which one. It is started
// before this process opens the store: a child must not use what its parent has open.
class RevokingProcess {
 public:
  RevokingProcess() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    system::Descriptor reading(ends[0]), writing(ends[1]);
    child_ = start_child([&] {
      writing.close();
      std::string store;
      for (char next = 0; ::read(reading.get(), &next, 1) == 1;) store += next;
      if (!store.empty()) storage::Store::open(store).revoke("for a test");
      exit_well(!store.empty());
    });
    store_ = std::move(writing);
  }
  ~RevokingProcess() {
    if (store_.is_open()) (void)has_revoked();
  }
  RevokingProcess(const RevokingProcess&) = delete;
  RevokingProcess& operator=(const RevokingProcess&) = delete;

  bool revokes(const std::filesystem::path& store) {
    return system::write_all(store_.get(), store.string()) && has_revoked();
  }

 private:
  bool has_revoked() {
    store_.close();
    return ended_well(wait_for(child_));
  }

  system::Descriptor store_;  // where its name is written
  pid_t child_ = -1;
};

// All its material has been drawn: nothing else of it reads the store.
TEST(PreparedRuns, AreNotFinishedInASessionThatAnotherProcessRevoked) {
  RevokingProcess other;
  const auto product = circuit::make_circuit("product", [](circuit::Program& program) {
    program.output("z", program.input("x", 8, Party::A) * program.input("y", 8, Party::B));
  });
  const GarblingStores stores(Profile::Fast);
  std::unique_ptr<Evaluator> evaluators[2];
  std::uint64_t prepared[2];
  both([&](Party party) {
    const auto i = static_cast<std::size_t>(party);
    evaluators[i] = std::make_unique<Evaluator>(stores.run(party, OnlinePhase::Garbled));
    prepared[i] = evaluators[i]->prepare(*product);
  });
  ASSERT_TRUE(other.revokes(stores.of(Party::A)));
  both([&](Party party) {
    const auto i = static_cast<std::size_t>(party);
    const std::string error =
        message_of([&] { evaluators[i]->finish(prepared[i], input_of(party, 5)); });
    if (party == Party::A) {
      EXPECT_NE(error.find("is revoked: for a test"), std::string::npos) << error;
    } else {
      EXPECT_NE(error, "none") << "the peer has gone";
    }
    EXPECT_FALSE(evaluators[i]->is_connected());
  });
}

// Nor does what has been reserved in advance: it is in this party's hands.
TEST(Evaluator, UsesNothingInAdvanceInASessionThatAnotherProcessRevoked) {
  RevokingProcess other;
  const auto product = circuit::make_circuit("product", [](circuit::Program& program) {
    program.output("z", program.input("x", 8, Party::A) * program.input("y", 8, Party::B));
  });
  const Stores stores;
  std::unique_ptr<Evaluator> evaluators[2];
  both([&](Party party) {
    RunRequest request = stores.run(party);
    request.reserve_ahead_ands = 1000;
    auto& evaluator = evaluators[static_cast<std::size_t>(party)];
    evaluator = std::make_unique<Evaluator>(request);
    EXPECT_EQ(evaluator->run(*product, input_of(party, 3)).outputs.integer("z"), 9u);
  });
  ASSERT_TRUE(other.revokes(stores.of(Party::A)));
  both([&](Party party) {
    auto& evaluator = evaluators[static_cast<std::size_t>(party)];
    const std::string error = message_of([&] { evaluator->run(*product, input_of(party, 3)); });
    if (party == Party::A) {
      EXPECT_NE(error.find("is revoked: for a test"), std::string::npos) << error;
    } else {
      EXPECT_NE(error, "none") << "the peer has gone";
    }
  });
}

// What is told needs no material either.
TEST(Evaluator, TellsNothingInASessionThatAnotherProcessRevoked) {
  RevokingProcess other;
  const GarblingStores stores(Profile::Fast);
  std::unique_ptr<Evaluator> evaluators[2];
  both([&](Party party) {
    auto& evaluator = evaluators[static_cast<std::size_t>(party)];
    evaluator = std::make_unique<Evaluator>(stores.run(party, {}));
    EXPECT_NO_THROW(evaluator->exchange("before", {}));
  });
  ASSERT_TRUE(other.revokes(stores.of(Party::A)));
  both([&](Party party) {
    auto& evaluator = evaluators[static_cast<std::size_t>(party)];
    const std::string error = message_of([&] { evaluator->exchange("after", {}); });
    if (party == Party::A) {
      EXPECT_NE(error.find("is revoked: for a test"), std::string::npos) << error;
    } else {
      EXPECT_NE(error, "none") << "the peer has gone";
    }
  });
}

// A program asks before it begins what takes much material.
TEST(Evaluator, HasNoMaterialInASessionThatAnotherProcessRevoked) {
  RevokingProcess other;
  const GarblingStores stores(Profile::Fast);
  std::unique_ptr<Evaluator> evaluators[2];
  both([&](Party party) {
    evaluators[static_cast<std::size_t>(party)] =
        std::make_unique<Evaluator>(stores.run(party, {}));
  });
  Evaluator& evaluator = *evaluators[static_cast<std::size_t>(Party::A)];
  MaterialCounts one;
  one[MaterialKind::AuthBitsA] = 1;
  EXPECT_NO_THROW(evaluator.require_material(one));
  ASSERT_TRUE(other.revokes(stores.of(Party::A)));
  const std::string error = message_of([&] { evaluator.require_material(one); });
  EXPECT_NE(error.find("is revoked: for a test"), std::string::npos) << error;
}

// Of several shards, whichever it is. Coins need none of their material, which would be missed.
TEST(ShardsOfASession, AreNotUsedOnceAnotherProcessRevokedOneOfThem) {
  for (const std::uint32_t revoked : {1U, 2U}) {
    RevokingProcess other;
    ParameterRequest parameters{.profile = Profile::Fast};
    parameters.unit = 1 << 12;
    const Shards made(parameters, 1 << 13);
    std::unique_ptr<Evaluator> evaluators[2];
    both([&](Party party) {
      auto& evaluator = evaluators[static_cast<std::size_t>(party)];
      evaluator =
          std::make_unique<Evaluator>(RunRequest{.party = party,
                                                 .endpoint = made.endpoints.of(party),
                                                 .stores = {made.of(party, 1), made.of(party, 2)}});
      EXPECT_NO_THROW(evaluator->toss_coins("before"));
    });
    ASSERT_TRUE(other.revokes(made.of(Party::A, revoked)));
    both([&](Party party) {
      auto& evaluator = evaluators[static_cast<std::size_t>(party)];
      const std::string error = message_of([&] { evaluator->toss_coins("after"); });
      if (party == Party::A) {
        EXPECT_NE(error.find("is revoked: for a test"), std::string::npos) << error;
      } else {
        EXPECT_NE(error, "none") << "the peer has gone";
      }
    });
  }
}

}  // namespace
}  // namespace tinyot::test
