// `tinyot run --inputs-later`: the run is prepared before this party's inputs exist.
#include "tests/support/becomes_true.h"
#include "tests/support/command_test.h"

namespace tinyot::test {
namespace {

constexpr const char* kOfFips197 = "69c4e0d86a7b0430d8cdb78070b4c55a";

class LaterInputs : public CommandTest {
 protected:
  void SetUp() override { preprocess_fast("2^15", {"--material", "garbling"}); }
  Arguments run_as(char party, const Arguments& more) const {
    const Arguments inputs = party == 'A' ? Arguments{"--input", "key_a=@" + path("key"), "--input",
                                                      "message=@" + path("message")}
                                          : Arguments{"--input", "key_b=" + of_b_};
    return as(party, "run", Arguments{"--circuit", "aes128", "--inputs-later"} + inputs + more);
  }
  std::uint64_t left() const { return store_info('A')["kinds"]["full_triples"]["left"]; }

  std::string of_b_ = "-";
};

TEST_F(LaterInputs, AreWaitedForWhenTheRunIsPrepared) {
  for (const Arguments& more : {Arguments{"--online", "garbled"},
                                Arguments{"--online", "garbled", "--row-check", "batched"},
                                Arguments{"--online", "interactive"}}) {
    SCOPED_TRACE(more.back());
    const std::uint64_t before = left();
    of_b_ = "@" + path("key_b");
    Process a(TINYOT_BINARY, run_as('A', more)), b(TINYOT_BINARY, run_as('B', more));
    ASSERT_TRUE(becomes_true([&] { return left() < before; }))
        << "the material is taken before there are inputs";
    const std::pair<const char*, const char*> values[] = {
        {"key_b", "00000000000000000000000000000000"},
        {"key", "000102030405060708090a0b0c0d0e0f"},
        {"message", "00112233445566778899aabbccddeeff"}};
    for (const auto& [name, value] : values) {
      write_file(path("unfinished"), value);
      std::filesystem::rename(path("unfinished"), path(name));
    }
    const Json of_a = json_of(a.end()), of_b = json_of(b.end());
    EXPECT_EQ(of_b["outputs"]["ciphertext"], kOfFips197);
    for (const Json& report : {of_a, of_b})
      EXPECT_EQ(report.value("row_check", "none"), more.back() == "garbled"       ? "early"
                                                   : more.back() == "interactive" ? "none"
                                                                                  : "batched");
    for (const auto& [name, value] : values) std::filesystem::remove(path(name));
  }
}

TEST_F(LaterInputs, ThatDoNotComeEndBothParties) {
  const Arguments more{"--online", "garbled", "--input-timeout", "1"};
  Process a(TINYOT_BINARY, run_as('A', more));
  const Ended b = tinyot(run_as('B', more), std::string(32, '0'));
  EXPECT_TRUE(ended_with(a.end(), 2, "input key_a has not come within 1 s (--input-timeout)"));
  EXPECT_TRUE(ended_with(b, 3, "phase inputs"));
  EXPECT_EQ(store_info('B')["state"], "complete") << "nobody has cheated";
}

TEST_F(LaterInputs, AreRefusedWhereTheyCannotBe) {
  const auto refused = [&](const Arguments& more, const std::string& why) {
    EXPECT_TRUE(
        ended_with(tinyot(as('A', "run", Arguments{"--circuit", "aes128"} + more)), 2, why));
  };
  refused({"--inputs-later", "--input", "key_a=00"}, "a value on the command line is known now");
  refused({"--inputs-later", "--reserve-only"},
          "--inputs-later cannot be used with --reserve-only");
  refused({"--row-check", "early"}, "--row-check requires --inputs-later");
  refused(
      {"--inputs-later", "--input", "key_a=@x", "--input", "message=@y", "--input-timeout", "0"},
      "--input-timeout is out of range");
  refused({"--inputs-later", "--input", "key_a=@x"}, "--input message=...");
}

TEST_F(LaterInputs, WithDifferentRowChecksAreADisagreement) {
  const Arguments online{"--online", "garbled"};
  Process a(TINYOT_BINARY, run_as('A', online + Arguments{"--row-check", "batched"}));
  const Ended b = tinyot(run_as('B', online), std::string(32, '0'));
  EXPECT_TRUE(ended_with(a.end(), 6, "row check"));
  EXPECT_TRUE(ended_with(b, 6, "row check"));
}

}  // namespace
}  // namespace tinyot::test
