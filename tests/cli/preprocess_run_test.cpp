// The two commands of a user on each side: preprocess, then run until the material is used up.
#include <array>

#include "crypto/library_aes.h"
#include "storage/store.h"
#include "tests/support/becomes_true.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/command_test.h"
#include "tests/support/hex.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

// With pairs, an AND takes one object of each of these, and one aBit of each party; an input bit
// takes an aBit of its owner.
constexpr std::array kKindsOfAnAnd = {"auth_ands_a", "auth_ands_b", "auth_ots_ab", "auth_ots_ba"};

AesBytes bytes_of(const std::string& hex) {
  AesBytes bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

std::string hex_of_all(const std::vector<AesBytes>& blocks) {
  std::string text;
  for (const AesBytes& block : blocks) text += hex_of(block);
  return text;
}

class PreprocessRunTest : public CommandTest {
 protected:
  // Random keys and blocks; B's output must equal the result of a library's AES.
  void encrypt(std::size_t blocks) const {
    const std::string key_a = random_hex(16), key_b = random_hex(16),
                      message = random_hex(16 * blocks);
    const Arguments common = {"--circuit", "aes128", "--blocks", std::to_string(blocks)};
    const BothEnded ended = both(
        "run", common + Arguments{"--input", "key_a=" + key_a, "--input", "message=" + message},
        common + Arguments{"--input", "key_b=" + key_b});
    ASSERT_TRUE(ended_with(ended.a, 0));
    ASSERT_TRUE(ended_with(ended.b, 0));

    AesBytes key = bytes_of(key_a);
    for (std::size_t i = 0; i < key.size(); ++i) key[i] ^= bytes_of(key_b)[i];
    std::vector<AesBytes> plain;
    for (std::size_t i = 0; i < blocks; ++i) plain.push_back(bytes_of(message.substr(32 * i, 32)));
    EXPECT_EQ(json_of(ended.b)["outputs"],
              Json({{"ciphertext", hex_of_all(aes128_by_library_vartime(key, plain))}}));
    EXPECT_EQ(json_of(ended.a)["outputs"], Json::object());
  }

  // The material that `runs` runs over `blocks` blocks of AES take in total, by `circuit info`:
  // ANDs, input bits by owner, and output bits, which only B learns. The keys of a run are the same
  // for all of its blocks and are expanded once.
  struct Cost {
    std::uint64_t ands;
    std::map<std::string, std::uint64_t> bits;
    std::uint64_t outputs;
  };
  static Cost cost_of(std::uint64_t runs, std::uint64_t blocks) {
    const Json aes = json_of(tinyot({"circuit", "info", "aes128", "--format", "json"}));
    const std::uint64_t of_keys = aes["invariant_ands"],
                        of_a_block = aes["ands"].get<std::uint64_t>() - of_keys;
    Cost cost{runs * of_keys + blocks * of_a_block, {}, 128 * blocks};
    for (const Json& input : aes["inputs"])
      cost.bits[input["owner"]] +=
          input["bits"].get<std::uint64_t>() * (input["name"] == "message" ? blocks : runs);
    return cost;
  }

  static void expect_all_accounted_for(const Json& kinds) {
    for (const auto& [name, kind] : kinds.items()) {
      EXPECT_EQ(kind["made"].get<std::uint64_t>(),
                kind["spent"].get<std::uint64_t>() + kind["left"].get<std::uint64_t>())
          << name;
      EXPECT_EQ(kind["burnt"], 0) << name;
    }
  }

  void expect_used(std::uint64_t runs, std::uint64_t blocks) const {
    Cost cost = cost_of(runs, blocks);
    for (const char party : {'A', 'B'}) {
      const Json kinds = store_info(party)["kinds"];
      for (const char* kind : kKindsOfAnAnd)
        EXPECT_EQ(kinds[kind]["spent"], cost.ands) << party << " " << kind;
      EXPECT_EQ(kinds["auth_bits_a"]["spent"], cost.ands + cost.bits["A"]) << party;
      EXPECT_EQ(kinds["auth_bits_b"]["spent"], cost.ands + cost.bits["B"]) << party;
      expect_all_accounted_for(kinds);
    }
  }

  // The same for a store of triples: an output bit that only one party learns is masked by one of
  // that party's bits.
  void expect_triples_used(std::uint64_t runs, std::uint64_t blocks) const {
    Cost cost = cost_of(runs, blocks);
    for (const char party : {'A', 'B'}) {
      const Json kinds = store_info(party)["kinds"];
      EXPECT_EQ(kinds.size(), 3u) << kinds;
      EXPECT_EQ(kinds["triples"]["spent"], cost.ands) << party;
      EXPECT_EQ(kinds["auth_bits_a"]["spent"], cost.bits["A"]) << party;
      EXPECT_EQ(kinds["auth_bits_b"]["spent"], cost.bits["B"] + cost.outputs) << party;
      expect_all_accounted_for(kinds);
    }
  }

  void preprocess_in_order(char first, const std::string& ands, const Arguments& more) const {
    const Arguments options = Arguments{"--ands", ands} + more;
    const char second = first == 'A' ? 'B' : 'A';
    Process early(TINYOT_BINARY, as(first, "preprocess", options));
    EXPECT_TRUE(becomes_true(
        [&] { return first == listener_ ? is_listening(port_) : is_asleep(early.pid()); }));
    Process late(TINYOT_BINARY, as(second, "preprocess", options));
    EXPECT_TRUE(ended_with(early.end(), 0));
    EXPECT_TRUE(ended_with(late.end(), 0));
  }

  // A run for which its own store has too little material fails before it connects.
  void expect_short(char party, const Arguments& inputs, const std::string& left,
                    const std::string& kind = "auth_ands_a") {
    Listener unused;
    listener_ = party == 'A' ? 'B' : 'A';
    peer_port_ = unused.port();
    const Ended ended = tinyot(as(party, "run", Arguments{"--circuit", "aes128"} + inputs));
    EXPECT_TRUE(ended_with(ended, 5, kind + " has " + left + ", needs 6400"));
    EXPECT_FALSE(unused.accept(std::chrono::milliseconds(0)).valid())
        << "it connected all the same";
  }
};

TEST_F(PreprocessRunTest, MaterialIsUsedOnceAndThenRunsOut) {
  preprocess_in_order('A', "2^15", Arguments{"--unit", "2^14"} + kFewColumns);
  expect_used(0, 0);
  const Json made = store_info('A');
  EXPECT_EQ(made["kinds"]["auth_ands_a"]["made"], 1 << 15);
  EXPECT_EQ(made["session"], store_info('B')["session"]);

  encrypt(3);
  expect_used(1, 3);
  encrypt(2);
  expect_used(2, 5);

  // 32,768 made, 2 . 1,280 + 5 . 5,120 used.
  expect_short('A', {"--input", "key_a=" + random_hex(16), "--input", "message=" + random_hex(16)},
               "4608");
  expect_short('B', {"--input", "key_b=" + random_hex(16)}, "4608");
  expect_used(2, 5);
}

// The peer was ahead, as after a run that this party has not taken up.
TEST_F(PreprocessRunTest, ReportsWhatItHasSkipped) {
  preprocess_fast("2^11");
  for (const char ahead : {'B', 'A'}) {
    MaterialCounts counts;
    counts[MaterialKind::Triples] = ahead == 'A' ? 100 : 70;
    counts[MaterialKind::AuthBitsA] = 5;
    (void)Store::open(path(std::string(1, ahead))).grant({.counts = counts, .at_least = {}});
    const Arguments circuit = {"--circuit", "millionaires"};
    const BothEnded ended =
        both("run", circuit + Arguments{"--input", "a=7"}, circuit + Arguments{"--input", "b=5"});
    const Json of_a = json_of(ended.a), of_b = json_of(ended.b);
    const Json &first = ahead == 'A' ? of_a : of_b, &behind = ahead == 'A' ? of_b : of_a;
    EXPECT_FALSE(first.contains("burnt")) << first;
    EXPECT_EQ(behind["burnt"], Json({{"triples", counts[MaterialKind::Triples]},
                                     {"auth_bits_a", counts[MaterialKind::AuthBitsA]}}));
  }
}

TEST_F(PreprocessRunTest, ConnectingSideMayStartFirst) {
  preprocess_in_order('B', "2^10", {});  // with the theorem's columns
  EXPECT_EQ(store_info('A')["columns"], "theorem");
  EXPECT_EQ(store_info('B')["kinds"]["auth_ands_a"]["left"], 1 << 10);
}

TEST_F(PreprocessRunTest, EitherPartyMayListen) {
  listener_ = 'B';
  preprocess_in_order('A', "2^13", kFewColumns);
  encrypt(1);
  expect_used(1, 1);
}

// Units of 6,144 ANDs; the last one is smaller.
TEST_F(PreprocessRunTest, TriplesOfTheFastProfileAreUsedOnceAndThenRunOut) {
  preprocess_in_order('A', "2^14", {"--profile", "fast", "--unit", "6144"});
  expect_triples_used(0, 0);
  const Json made = store_info('A');
  EXPECT_EQ(made["kinds"]["triples"]["made"], 1 << 14);
  EXPECT_EQ(made["units_made"], 3);
  EXPECT_EQ(made["session"], store_info('B')["session"]);

  encrypt(2);
  expect_triples_used(1, 2);
  expect_short('A', {"--input", "key_a=" + random_hex(16), "--input", "message=" + random_hex(16)},
               "4864", "triples");
  expect_short('B', {"--input", "key_b=" + random_hex(16)}, "4864", "triples");
  expect_triples_used(1, 2);
}

TEST_F(PreprocessRunTest, TriplesOfFewerTreesEncryptAsWell) {
  preprocess_in_order('B', "2^13", {"--profile", "fast", "--softspoken-k", "4"});
  encrypt(1);
  expect_triples_used(1, 1);
}

// Units of 4,096 ANDs; the last one is smaller.
TEST_F(PreprocessRunTest, TriplesFromPairsAreUsedOnceAndThenRunOut) {
  preprocess_in_order(
      'A', "14000",
      Arguments{"--profile", "nnob12", "--material", "triples", "--unit", "2^12"} + kFewColumns);
  expect_triples_used(0, 0);
  for (const char party : {'A', 'B'}) {
    const Json info = store_info(party);
    EXPECT_EQ(info["profile"], "nnob12");
    EXPECT_EQ(info["material"], "triples");
    EXPECT_EQ(info["kinds"]["triples"]["made"], 14000);
    EXPECT_EQ(info["units_made"], 4);
  }
  encrypt(1);
  expect_triples_used(1, 1);
  encrypt(1);
  expect_triples_used(2, 2);
  expect_short('A', {"--input", "key_a=" + random_hex(16), "--input", "message=" + random_hex(16)},
               "1200", "triples");
  expect_short('B', {"--input", "key_b=" + random_hex(16)}, "1200", "triples");
  expect_triples_used(2, 2);
}

TEST_F(PreprocessRunTest, SeveralWorkersMakeTriplesFromPairs) {
  preprocess_in_order(
      'B', "2^13",
      Arguments{"--material", "triples", "--unit", "2^11", "--threads", "3"} + kFewColumns);
  encrypt(1);
  expect_triples_used(1, 1);
}

TEST_F(PreprocessRunTest, SeveralWorkersMakeTriplesOfOneSession) {
  preprocess_in_order(
      'A', "2^13",
      {"--profile", "fast", "--unit", "2^11", "--threads", "3", "--softspoken-k", "1"});
  encrypt(1);
  expect_triples_used(1, 1);
}

}  // namespace
}  // namespace tinyot::test
