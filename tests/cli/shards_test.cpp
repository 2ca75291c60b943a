// Shards of one session, runs on several of them, their merge, and material that is reserved for a
// later run.
#include <filesystem>

#include "storage/session_file.h"
#include "storage/store.h"
#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

constexpr int kShards = 3;
// Six units, so two per shard.
const Arguments kSixUnits = {"--ands", "12288",        "--unit",   "2^11", "--profile",
                             "fast",   "--allow-weak", "--inputs", "2^14"};

class ShardsTest : public CommandTest {
 protected:
  std::string store_of(char party, int shard) const {
    return path(std::string(1, party) + "/" + std::to_string(shard));
  }
  Arguments end_of(char party, const std::string& command) const {
    return {command,
            "--party",
            std::string(1, party),
            party == 'A' ? "--listen" : "--connect",
            "127.0.0.1:" + port_,
            "--format",
            "json",
            "--quiet"};
  }
  BothEnded both_ends(const std::string& command, const Arguments& of_a,
                      const Arguments& of_b) const {
    Process a(TINYOT_BINARY, end_of('A', command) + of_a),
        b(TINYOT_BINARY, end_of('B', command) + of_b);
    Ended ended_a = a.end();
    return {std::move(ended_a), b.end()};
  }
  BothEnded make(int shard_a, int shard_b, const Arguments& more = {}) const {
    const auto arguments = [&](char party, int shard) {
      return kSixUnits +
             Arguments{"--store",   store_of(party, shard),
                       "--session", path(std::string(1, party) + ".session"),
                       "--shard",   std::to_string(shard) + "/" + std::to_string(kShards)} +
             more;
    };
    return both_ends("preprocess", arguments('A', shard_a), arguments('B', shard_b));
  }
  void make_all() const {
    for (int shard = 1; shard <= kShards; ++shard) {
      const BothEnded ended = make(shard, shard);
      for (const Ended& each : {ended.a, ended.b}) ASSERT_TRUE(ended_with(each, 0));
    }
  }
  // 32 ANDs and 32 bits of each party per lane.
  BothEnded compare(const Arguments& stores_of_a, const Arguments& stores_of_b, int lanes = 1,
                    const Arguments& more = {}) const {
    std::string a = "0x7", b = "0x5";
    for (int lane = 1; lane < lanes; ++lane) a += ",0x7", b += ",0x5";
    const Arguments circuit =
        Arguments{"--circuit", "millionaires", "--lanes", std::to_string(lanes)} + more;
    return both_ends("run", stores_of_a + circuit + Arguments{"--input", "a=" + a},
                     stores_of_b + circuit + Arguments{"--input", "b=" + b});
  }
  static void expect_right(const BothEnded& ended, std::size_t lanes = 1) {
    for (const Ended& each : {ended.a, ended.b}) {
      ASSERT_TRUE(ended_with(each, 0));
      const Json result = json_of(each)["outputs"]["a_has_more"];
      EXPECT_EQ(result.dump().size() > 4 * lanes, true) << result;
      EXPECT_EQ(result.dump().find("0x0"), std::string::npos) << result;
    }
  }
  // Changes a party's session file.
  void change_session(char party, const std::function<void(SessionFile&)>& change) const {
    const std::string file = path(std::string(1, party) + ".session");
    SessionFile session = read_session_file(file, {});
    change(session);
    std::filesystem::remove(file);
    write_session_file(file, session, {});
  }
  Json info_of(const std::string& store) const {
    return json_of(tinyot({"store", "info", store, "--format", "json"}));
  }
};

TEST_F(ShardsTest, ShareTheSessionAndSplitTheUnits) {
  make_all();
  const Json first = info_of(store_of('A', 1));
  for (int shard = 1; shard <= kShards; ++shard) {
    for (const char party : {'A', 'B'}) {
      const Json info = info_of(store_of(party, shard));
      EXPECT_EQ(info["session"], first["session"]);
      EXPECT_EQ(info["shard"], std::to_string(shard) + "/3");
      EXPECT_EQ(info["units_made"], 2);
      EXPECT_EQ(info["kinds"]["triples"]["left"], 4096);
      EXPECT_EQ(info["state"], "complete");
    }
  }
}

TEST_F(ShardsTest, RepeatedCommandMakesNothing) {
  make_all();
  const BothEnded again = make(2, 2);
  for (const Ended& each : {again.a, again.b}) {
    ASSERT_TRUE(ended_with(each, 0));
    EXPECT_EQ(json_of(each)["ands"], 0);
    EXPECT_EQ(json_of(each)["complete"], true);
  }
}

TEST_F(ShardsTest, MustBeginWithTheFirst) {
  const BothEnded ended = make(2, 2);
  for (const Ended& each : {ended.a, ended.b}) EXPECT_TRUE(ended_with(each, 5, "begin shard 1"));
}

TEST_F(ShardsTest, WithDifferentNumbersDisagree) {
  make_all();
  std::filesystem::remove_all(store_of('A', 2));
  std::filesystem::remove_all(store_of('B', 3));
  const BothEnded ended = make(2, 3);
  for (const Ended& each : {ended.a, ended.b}) EXPECT_TRUE(ended_with(each, 6, "shard"));
}

TEST_F(ShardsTest, WithOtherParametersAreRefused) {
  make_all();
  std::filesystem::remove_all(store_of('A', 2));
  const Ended ended =
      tinyot(end_of('A', "preprocess") + Arguments{"--ands", "12288", "--unit", "2^12", "--profile",
                                                   "fast", "--allow-weak", "--inputs", "2^14",
                                                   "--store", store_of('A', 2), "--session",
                                                   path("A.session"), "--shard", "2/3"});
  EXPECT_TRUE(ended_with(ended, 5, "begun with unit 2048, not 4096; use the same value"));
}

TEST_F(ShardsTest, TogetherServeRunTooLargeForOne) {
  make_all();
  // 200 lanes take 6400 ANDs.
  const Arguments of_a = {"--store", path("A") + "/*"},
                  of_b = {"--store", store_of('B', 3), store_of('B', 1), store_of('B', 2)};
  const BothEnded alone =
      compare({"--store", store_of('A', 1)}, {"--store", store_of('B', 1)}, 200);
  for (const Ended& each : {alone.a, alone.b})
    EXPECT_TRUE(ended_with(each, 5, "triples has 4096, needs 6400"));
  expect_right(compare(of_a, of_b, 200), 200);
  EXPECT_EQ(info_of(store_of('A', 1))["kinds"]["triples"]["left"], 0);
  EXPECT_EQ(info_of(store_of('B', 2))["kinds"]["triples"]["left"], 2 * 4096 - 6400);
}

// Its store would have the units of another shard, and the merge would miss one.
TEST_F(ShardsTest, StoreOfAnotherShardIsNotContinued) {
  make_all();
  const Ended ended = tinyot(
      end_of('A', "preprocess") + kSixUnits +
      Arguments{"--store", store_of('A', 2), "--session", path("A.session"), "--shard", "1/3"});
  EXPECT_TRUE(ended_with(ended, 5, "is shard 2, not 1"));
}

// No shard may be begun under a global key about which the peer may have made guesses.
TEST_F(ShardsTest, FailedCheckErasesTheSessionFile) {
  const BothEnded first = make(1, 1);
  for (const Ended& each : {first.a, first.b}) ASSERT_TRUE(ended_with(each, 0));
  change_session('B', [](SessionFile& session) { session.global_key.value.hi ^= 2; });
  EXPECT_TRUE(ended_with(make(2, 2).a, 4, "global key"));
  EXPECT_EQ(info_of(store_of('A', 2))["state"], "revoked");
  EXPECT_EQ(info_of(store_of('A', 2))["keys_are_gone"], true);
  EXPECT_TRUE(ended_with(make(3, 3).a, 5, "is revoked: a check has failed in one of its shards"));
}

TEST_F(ShardsTest, CompareEveryByteOfTheSessionId) {
  const BothEnded first = make(1, 1);
  for (const Ended& each : {first.a, first.b}) ASSERT_TRUE(ended_with(each, 0));
  for (const std::size_t byte : {0u, 8u, 31u}) {
    const auto flip = [&](SessionFile& session) {
      session.manifest.session_id[byte] ^= std::byte{1};
    };
    change_session('A', flip);
    EXPECT_TRUE(ended_with(make(1, 1).a, 5, "does not belong to the session of")) << byte;
    change_session('A', flip);
  }
}

TEST_F(ShardsTest, RejectRunIfSessionsDifferInAnyByte) {
  make_all();
  Manifest manifest = Store::open(store_of('A', 1), {.purpose = Purpose::Inspect}).manifest();
  manifest.shard = 2;
  manifest.units_made = 0;
  manifest.state = StoreState::Open;
  for (const std::size_t byte : {0u, 8u, 31u}) {
    Manifest other = manifest;
    other.session_id[byte] ^= std::byte{1};
    const std::string store = path("other" + std::to_string(byte));
    { const Store made = Store::create(store, other, Delta{}, 0); }
    const Ended ended = tinyot(
        end_of('A', "run") + Arguments{"--store", store_of('A', 1), store, "--circuit",
                                       "millionaires", "--input", "a=1", "--connect-timeout", "1"});
    EXPECT_TRUE(ended_with(ended, 5, "are not two shards of one session")) << byte;
  }
}

TEST_F(ShardsTest, RunOnDifferentShardsDisagrees) {
  make_all();
  const BothEnded ended = compare({"--store", store_of('A', 1), store_of('A', 2)},
                                  {"--store", store_of('B', 1), store_of('B', 3)});
  for (const Ended& each : {ended.a, ended.b}) EXPECT_TRUE(ended_with(each, 6, "shards"));
  EXPECT_EQ(info_of(store_of('A', 1))["kinds"]["triples"]["left"], 4096);
}

TEST_F(ShardsTest, ServeOnlyMergedStoreAfterMerge) {
  make_all();
  for (const char party : {'A', 'B'}) {
    const Ended ended = tinyot({"store", "merge", path(std::string("whole") + party),
                                store_of(party, 2), store_of(party, 3), store_of(party, 1)});
    EXPECT_TRUE(ended_with(ended, 0));
    const Ended again = tinyot({"store", "merge", path(std::string("whole") + party),
                                store_of(party, 1), store_of(party, 2), store_of(party, 3)});
    EXPECT_TRUE(ended_with(again, 0));
    EXPECT_NE(again.out.find("already been merged into " + path(std::string("whole") + party)),
              std::string::npos)
        << again.out;
  }
  expect_right(compare({"--store", path("wholeA")}, {"--store", path("wholeB")}, 200), 200);
  EXPECT_EQ(info_of(path("wholeA"))["kinds"]["triples"]["left"], 3 * 4096 - 6400);
  EXPECT_EQ(info_of(store_of('A', 2))["state"], "revoked");
  const BothEnded revoked = compare({"--store", store_of('A', 2)}, {"--store", store_of('B', 2)});
  for (const Ended& each : {revoked.a, revoked.b}) EXPECT_TRUE(ended_with(each, 5, "merged into"));
  // no subcommand: refused, without any change
  const BothEnded verified = both_ends("store", {}, {});
  EXPECT_TRUE(ended_with(verified.a, 2));
  Process a(TINYOT_BINARY, {"store", "verify", path("wholeA"), "--listen", "127.0.0.1:" + port_,
                            "--format", "json"});
  Process b(TINYOT_BINARY, {"store", "verify", path("wholeB"), "--peer", "127.0.0.1:" + port_,
                            "--format", "json"});
  for (const Ended& each : {a.end(), b.end()}) {
    ASSERT_TRUE(ended_with(each, 0));
    EXPECT_EQ(json_of(each)["peer_different"], 0);
    EXPECT_GT(json_of(each)["peer_matched"], 0);
  }
}

TEST_F(ShardsTest, MergedStoreGrows) {
  make_all();
  Arguments merged[2];
  for (const char party : {'A', 'B'}) {
    const std::string name = std::string(1, party);
    Arguments merge = {"store", "merge", path("merged." + name)};
    for (int shard = 1; shard <= kShards; ++shard) merge.push_back(store_of(party, shard));
    ASSERT_TRUE(ended_with(tinyot(merge), 0));
    std::filesystem::remove(path(name + ".session"));
    merged[party == 'B'] = {"--store", path("merged." + name)};
  }
  const Arguments more = {"--add", "3000"};
  const BothEnded ended = both_ends("preprocess", merged[0] + more, merged[1] + more);
  for (const Ended& each : {ended.a, ended.b}) {
    ASSERT_TRUE(ended_with(each, 0));
    EXPECT_EQ(json_of(each)["ands"], 3000);
    EXPECT_EQ(json_of(each)["ands_left"], 12288 + 3000);
  }
  for (const char party : {'A', 'B'}) {
    const Ended verified =
        tinyot({"store", "verify", path(std::string("merged.") + party), "--format", "json"});
    EXPECT_TRUE(ended_with(verified, 0));
  }
}

TEST_F(ShardsTest, AloneDoNotGrow) {
  make_all();
  for (const Arguments& more : {Arguments{"--add", "5"}, Arguments{"--until-left", "5"}}) {
    const Ended ended = tinyot(
        end_of('A', "preprocess") + more +
        Arguments{"--store", store_of('A', 1), "--session", path("A.session"), "--shard", "1/3"});
    EXPECT_TRUE(ended_with(ended, 2, "merge them, and add to the merged store"));
  }
  const Ended ended =
      tinyot(end_of('A', "preprocess") + Arguments{"--store", store_of('A', 1), "--add", "5"});
  EXPECT_TRUE(ended_with(ended, 5, "was begun with shards 3, not 1"));
}

TEST_F(ShardsTest, RejectMergeOfSome) {
  make_all();
  EXPECT_TRUE(
      ended_with(tinyot({"store", "merge", path("whole"), store_of('A', 1), store_of('A', 2)}), 5,
                 "all 3 shards"));
  EXPECT_TRUE(ended_with(tinyot({"store", "merge", path("whole"), store_of('A', 1),
                                 store_of('A', 2), store_of('A', 2)}),
                         5));
  expect_right(compare({"--store", store_of('A', 3)}, {"--store", store_of('B', 3)}));
  EXPECT_TRUE(ended_with(tinyot({"store", "merge", path("whole"), store_of('A', 1),
                                 store_of('A', 2), store_of('A', 3)}),
                         5,
                         "has been used; use the shards together instead: --store DIR DIR ...\n"));
  EXPECT_FALSE(std::filesystem::exists(path("whole")));
  EXPECT_EQ(info_of(store_of('A', 1))["state"], "complete");
}

TEST_F(ShardsTest, ReservationRunsOnceByItsNumber) {
  make_all();
  const Arguments of_a = {"--store", store_of('A', 1)}, of_b = {"--store", store_of('B', 1)};
  const Arguments circuit = {"--circuit", "millionaires", "--lanes", "10", "--reserve-only"};
  const BothEnded reserved = both_ends("run", of_a + circuit, of_b + circuit);
  for (const Ended& each : {reserved.a, reserved.b}) {
    ASSERT_TRUE(ended_with(each, 0));
    EXPECT_EQ(json_of(each)["reservation"], 1);
    EXPECT_EQ(json_of(each)["kinds"]["triples"]["count"], 320);
  }
  EXPECT_EQ(info_of(store_of('A', 1))["reservations"], Json({1}));
  EXPECT_EQ(info_of(store_of('A', 1))["kinds"]["triples"]["planned"], 320);
  expect_right(compare(of_a, of_b));  // other runs continue after it
  EXPECT_TRUE(ended_with(compare(of_a, of_b, 20, {"--reservation", "1"}).a, 5,
                         "but the run needs 640; the reservation is kept"));
  expect_right(compare(of_a, of_b, 10, {"--reservation", "1"}), 10);
  const BothEnded again = compare(of_a, of_b, 10, {"--reservation", "1"});
  for (const Ended& each : {again.a, again.b})
    EXPECT_TRUE(ended_with(each, 5,
                           "holds no reservation 1; it has been used or was never "
                           "made; tinyot store info lists the planned ones\n"));
  EXPECT_EQ(info_of(store_of('B', 1))["kinds"]["triples"]["left"], 4096 - 320 - 32);
}

TEST_F(ShardsTest, DifferentReservationsDisagree) {
  make_all();
  const Arguments of_a = {"--store", store_of('A', 1)}, of_b = {"--store", store_of('B', 1)};
  const Arguments circuit = {"--circuit", "millionaires", "--reserve-only"};
  both_ends("run", of_a + circuit, of_b + circuit);
  both_ends("run", of_a + circuit, of_b + circuit);
  const BothEnded other = both_ends(
      "run", of_a + Arguments{"--circuit", "millionaires", "--input", "a=1", "--reservation", "1"},
      of_b + Arguments{"--circuit", "millionaires", "--input", "b=1", "--reservation", "2"});
  for (const Ended& each : {other.a, other.b}) EXPECT_TRUE(ended_with(each, 6, "reservation"));
  EXPECT_EQ(info_of(store_of('A', 1))["reservations"], Json({1, 2}));
}

// It costs the session nothing that one of the parties forgets it.
TEST_F(ShardsTest, ReservationOfOnePartyDisagrees) {
  make_all();
  const Arguments of_a = {"--store", store_of('A', 1)}, of_b = {"--store", store_of('B', 1)};
  const Arguments circuit = {"--circuit", "millionaires", "--reserve-only"};
  both_ends("run", of_a + circuit, of_b + circuit);
  const Arguments a = {"--circuit", "millionaires", "--input", "a=1"},
                  b = {"--circuit", "millionaires", "--input", "b=1"};
  const BothEnded other = both_ends("run", of_a + a + Arguments{"--reservation", "1"}, of_b + b);
  for (const Ended& each : {other.a, other.b}) EXPECT_TRUE(ended_with(each, 6, "reservation"));
  for (const char party : {'A', 'B'}) {
    EXPECT_EQ(info_of(store_of(party, 1))["state"], "complete") << party;
    EXPECT_EQ(info_of(store_of(party, 1))["reservations"], Json({1})) << party;
  }
}

TEST_F(ShardsTest, LedgerRecordsMaterialOfRun) {
  make_all();
  expect_right(compare({"--store", store_of('A', 2)}, {"--store", store_of('B', 2)}, 1,
                       {"--ledger", path("ledger")}));
  const std::string session = info_of(store_of('A', 2))["session"],
                    ledger = read_file(path("ledger"));
  EXPECT_NE(ledger.find(session + " A triples 2 0 32\n"), std::string::npos) << ledger;
  EXPECT_NE(ledger.find(session + " B auth_bits_b 2 0 32\n"), std::string::npos) << ledger;
}

TEST_F(ShardsTest, StoreKeySealsStoreAndSession) {
  write_private_file(path("key"), std::string(32, 'k'));
  write_private_file(path("other"), std::string(32, 'o'));
  const BothEnded made = make(1, 1, {"--store-key", "@" + path("key")});
  for (const Ended& each : {made.a, made.b}) ASSERT_TRUE(ended_with(each, 0));
  EXPECT_TRUE(
      ended_with(tinyot({"store", "info", store_of('A', 1)}), 5, "sealed under a store key"));
  EXPECT_TRUE(
      ended_with(tinyot({"store", "info", store_of('A', 1), "--store-key", "@" + path("other")}), 5,
                 "does not open"));
  EXPECT_TRUE(
      ended_with(tinyot({"store", "info", store_of('A', 1), "--store-key", "@" + path("key")}), 0));
  EXPECT_TRUE(
      ended_with(make(2, 2).a, 5,
                 "sealed under a store key, but none was given; give it with --store-key @FILE\n"));
  EXPECT_TRUE(ended_with(make(2, 2, {"--store-key", "@" + path("other")}).a, 5, "does not open"));
}

}  // namespace
}  // namespace tinyot::test
