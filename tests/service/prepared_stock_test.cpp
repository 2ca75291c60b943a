#include "service/prepared_stock.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "service/configuration.h"

namespace tinyot::test {
namespace {

using service::PreparedCircuit;
using service::PreparedStock;
namespace wire = service::wire;

service::config::Peer peer_with(const std::string& fields) {
  return service::parse_configuration(
             "directory: '/d' peer { name: 'b' party: A listen: '127.0.0.1:1' policy: 'p' "
             "profile: 'fast' material: 'garbling' low { ands: 10 } high { ands: 100000 } " +
                 fields + " }",
             "conf")
      .peer(0);
}

std::vector<PreparedCircuit> circuits(const std::string& fields) {
  return service::prepared_circuits_of(peer_with(fields));
}

std::string prepared_error_of(const std::string& fields) {
  try {
    (void)peer_with(fields);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

wire::Kept kept_of(const std::vector<PreparedCircuit>& circuits) {
  wire::Kept kept;
  for (const PreparedCircuit& circuit : circuits) {
    *kept.add_circuits()->mutable_terms() = circuit.terms;
    kept.mutable_circuits(kept.circuits_size() - 1)
        ->set_runs(static_cast<std::uint32_t>(circuit.kept));
  }
  return kept;
}

TEST(PreparedStockTest, ConfigurationNamesWhatCanBePrepared) {
  EXPECT_EQ(prepared_error_of("prepared { circuit: 'aes128' count: 8 }"), "");
  const auto refuses = [](const std::string& fields, const std::string& part) {
    const std::string error = prepared_error_of(fields);
    EXPECT_NE(error.find(part), std::string::npos) << fields << ": " << error;
  };
  refuses("prepared { circuit: 'aes' count: 8 }", "there is no circuit 'aes'");
  refuses("prepared { circuit: 'aes128' count: 0 }", "prepared.count");
  EXPECT_EQ(prepared_error_of("prepared { circuit: 'aes128' count: 10000 }"), "");
  refuses("prepared { circuit: 'aes128' count: 10001 }", "prepared.count");
  refuses("prepared { circuit: 'aes128' count: 1 lanes: 0 }", "prepared.lanes");
  refuses("prepared { circuit: 'aes128' count: 1 lanes: 16777217 }", "prepared.lanes");
  refuses("prepared { circuit: 'aes128' count: 1 lanes: 64 }", "more than high");
  refuses("prepared { circuit: 'aes128' count: 1 lanes: 1000 }", "at most 4194304 ANDs");
  refuses("prepared { circuit: 'aes128' count: 1 } prepared { circuit: 'aes128' count: 2 }",
          "given twice");
  std::string many;
  for (int i = 0; i < service::kPreparedCircuitsMax + 1; ++i)
    many += "prepared { circuit: 'aes128' lanes: " + std::to_string(i + 1) + " count: 1 } ";
  refuses(many, "there are more than 64 circuits");
  refuses("prepared { circuit: 'x' file: '/there/is/no/such.txt' count: 1 }", "such.txt");
  refuses("prepared { circuit: 'aes128' count: 1 owners { key: 1 value: 'B' } }",
          "has its own owners");
  refuses("online: 'interactive' prepared { circuit: 'aes128' count: 1 }", "online is interactive");
  refuses("online: 'garbed'", "interactive or garbled or masked");
  const auto with = [](const std::string& fields) {
    return "directory: '/d' peer { name: 'b' party: A listen: '127.0.0.1:1' policy: 'p' profile: "
           "'fast' low { ands: 10 } high { ands: 100000 } " +
           fields + " }";
  };
  for (const std::string inputs : {"255", "256"}) {
    const std::string conf =
        "directory: '/d' peer { name: 'b' party: A listen: '127.0.0.1:1' policy: 'p' profile: "
        "'fast' low { ands: 10 inputs: 1 } high { ands: 100000 inputs: " +
        inputs + " } material: 'garbling' prepared { circuit: 'aes128' count: 1 } }";
    if (inputs == "256")
      EXPECT_NO_THROW(service::parse_configuration(conf, "conf"));
    else
      EXPECT_THROW(service::parse_configuration(conf, "conf"), UsageError);
  }
  for (const auto& [fields, part] :
       {std::pair("prepared { circuit: 'aes128' count: 1 } online: 'garbled'",
                  "garbled phase does not run"),
        std::pair("online: 'garbled'", "garbled phase does not run"),
        std::pair("material: 'aand-aot'", "does not make aand-aot"),
        std::pair("material: 'pears'", "no material 'pears'")})
    try {
      service::parse_configuration(with(fields), "conf");
      ADD_FAILURE() << fields;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST(PreparedStockTest, PhaseIsThatOfJobsOrTheOneWithTheFewestMessages) {
  const std::string aes = "prepared { circuit: 'aes128' count: 8 lanes: 15 } ";
  EXPECT_EQ(circuits(aes).front().phase, OnlinePhase::Garbled);
  const PreparedCircuit masked = circuits(aes + "online: 'masked'").front();
  EXPECT_EQ(masked.phase, OnlinePhase::Masked);
  EXPECT_LT(masked.bytes_each, circuits(aes).front().bytes_each) << "it keeps no rows";
  EXPECT_NE(prepared_error_of(aes + "online: 'interactive'").find("online is interactive"),
            std::string::npos);
}

TEST(PreparedStockTest, MemoryLimitsTheRuns) {
  const auto all = circuits("prepared { circuit: 'aes128' count: 8 }");
  const std::uint64_t each = all[0].bytes_each;
  EXPECT_EQ(all[0].kept, 8u);
  EXPECT_GE(each, 130 * all[0].ands);
  const std::string two =
      "prepared { circuit: 'aes128' count: 2 } prepared { circuit: "
      "'millionaires' count: 3 } prepared_bytes_max: ";
  EXPECT_EQ(circuits(two + std::to_string(2 * each))[0].kept, 2u);
  EXPECT_EQ(circuits(two + std::to_string(2 * each))[1].kept, 0u);
  EXPECT_EQ(circuits(two + std::to_string(2 * each - 1))[0].kept, 1u);
  EXPECT_GT(circuits(two + std::to_string(2 * each - 1))[1].kept, 0u);
  EXPECT_EQ(circuits(two + "0")[0].kept, 0u);
  EXPECT_EQ(circuits(two + "0")[0].configured, 2u);
}

TEST(PreparedStockTest, ServesJobsOfItsContent) {
  const auto all = circuits("prepared { circuit: 'aes128' count: 1 }");
  wire::Terms job = all[0].terms;
  EXPECT_TRUE(serves(all[0], job));
  job.set_online("garbled");
  EXPECT_TRUE(serves(all[0], job));
  job.set_online("interactive");
  EXPECT_FALSE(serves(all[0], job));
  job = all[0].terms;
  job.set_is_built_in(false);
  job.set_circuit("a-file");
  EXPECT_TRUE(serves(all[0], job));
  job.set_lanes(2);
  EXPECT_FALSE(serves(all[0], job));
  const auto of_two_lanes = circuits("prepared { circuit: 'aes128' count: 1 lanes: 2 }");
  EXPECT_FALSE(serves(of_two_lanes[0], all[0].terms)) << "the others' outputs would be nobody's";
  for (std::string* (wire::Terms::*const field)() :
       {&wire::Terms::mutable_fingerprint, &wire::Terms::mutable_interface}) {
    job = all[0].terms;
    std::string& digits = *(job.*field)();
    digits[0] = digits[0] == '0' ? '1' : '0';
    EXPECT_FALSE(serves(all[0], job));
  }
}

TEST(PreparedStockTest, DifferencesAreNewsOnce) {
  const auto mine = circuits(
      "prepared { circuit: 'aes128' count: 2 } prepared { circuit: 'millionaires' count: 3 }");
  PreparedStock stock(mine);
  stock.forget_peers();
  EXPECT_EQ(stock.at_peer(mine[0]).kept, 0u);
  EXPECT_TRUE(stock.set_peers(kept_of(mine)).empty());
  EXPECT_EQ(stock.at_peer(mine[1]).kept, 3u);
  EXPECT_EQ(stock.at_peer(mine[1]).place, 1u);

  // In another order, fewer of one, and one that this party does not name.
  auto theirs =
      circuits("prepared { circuit: 'hamming' count: 1 } prepared { circuit: 'aes128' count: 1 }");
  const auto news = stock.set_peers(kept_of(theirs));
  ASSERT_EQ(news.size(), 3u);
  EXPECT_EQ(news[0], (PreparedStock::Difference{"aes128", "this party keeps 2, the peer 1"}));
  EXPECT_EQ(news[1].circuit, "millionaires");
  EXPECT_NE(news[1].reason.find("does not name it"), std::string::npos);
  EXPECT_EQ(news[2].circuit, "hamming");
  EXPECT_EQ(stock.at_peer(mine[0]).place, 1u);
  EXPECT_EQ(stock.at_peer(mine[1]).kept, 0u);
  EXPECT_TRUE(stock.set_peers(kept_of(theirs)).empty());

  // Other gates under the same name.
  wire::Kept other = kept_of(mine);
  std::string& digits = *other.mutable_circuits(0)->mutable_terms()->mutable_fingerprint();
  digits[0] = digits[0] == '0' ? '1' : '0';
  EXPECT_NE(stock.set_peers(other).at(0).reason.find("disagree on the circuit's gates"),
            std::string::npos);
  EXPECT_EQ(stock.at_peer(mine[0]).kept, 0u);
}

}  // namespace
}  // namespace tinyot::test
