// `tinyot circuit convert`, and circuit files of all formats on the command line.
#include "base/error.h"
#include "base/hex.h"
#include "tests/support/command_test.h"
#include "tests/support/layers.h"
#include "tools/cli/circuit_spec.h"

namespace tinyot::test {
namespace {

using namespace std::string_literals;

class CircuitTest : public CommandTest {
 protected:
  Json json(const Arguments& more) const {
    return json_of(tinyot(Arguments{"circuit"} + more + Arguments{"--format", "json"}));
  }
  std::size_t files() const {
    const std::filesystem::directory_iterator begin(dir_);
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }
};

const Arguments kBundles = {"--bundles", "16,16"};

TEST_F(CircuitTest, ConvertedGeneratorHasSameCostAndFunction) {
  const std::size_t before = files();
  const Json report =
      json({"convert", "aes128", "--forget-receivers", "--output", path("aes.txt")});
  EXPECT_EQ(report["circuit"], "aes128");
  EXPECT_EQ(report["bytes"], std::filesystem::file_size(path("aes.txt")));
  EXPECT_EQ(files(), before + 1) << "no other file is left";

  const Json generator = json({"info", "aes128"}), file = json({"info", path("aes.txt")});
  for (const char* count : {"ands", "xors", "nots", "and_depth"})
    EXPECT_EQ(generator[count], file[count]) << count;
  // FIPS-197 C.1 with each byte's bits as the generator numbers them: lowest bit first, so the
  // integer has its bytes reversed.
  const Json eval =
      json({"eval", path("aes.txt"), "--input", "0=0x0f0e0d0c0b0a09080706050403020100", "--input",
            "1=0", "--input", "2=0xffeeddccbbaa99887766554433221100"});
  EXPECT_EQ(eval["outputs"]["0"], "0x5ac5b47080b7cdd830047b6ad8e0c469");
}

TEST_F(CircuitTest, InfoCountsEachGroupAsOneGate) {
  const Json grouped = json({"info", "aes128", "--sbox", "gf16"}),
             plain = json({"info", "aes128", "--sbox", "shallow"});
  EXPECT_EQ(grouped["ands"], plain["ands"]);
  EXPECT_EQ(grouped["groups"], 200);
  EXPECT_EQ(grouped["masked_triples"], 7400);
  EXPECT_EQ(grouped["masked_depth"], 30);
  EXPECT_EQ(plain["groups"], 0);
  EXPECT_EQ(plain["masked_triples"], plain["ands"]);
  EXPECT_EQ(plain["masked_depth"], plain["and_depth"]);
  EXPECT_NE(tinyot({"circuit", "info", "aes128", "--sbox", "gf16"})
                .out.find("200 groups; with each as one gate: 7,400 triples, depth 30\n"),
            std::string::npos);
}

TEST_F(CircuitTest, EvaluatesInTheTypesThatAreGiven) {
  const auto eval = [&](const Arguments& more) {
    return json(Arguments{"eval"} + more)["outputs"];
  };
  EXPECT_EQ(eval({"millionaires:bits=8", "--type", "a=i8", "--type", "b=i8", "--input", "a=-1",
                  "--input", "b=1"}),
            Json({{"a_has_more", "0x0"}}));
  EXPECT_EQ(eval({"minimum:count=2,bits=8", "--type", "values_a=i8", "--type", "values_b=i8",
                  "--input", "values_a=-1", "--input", "values_b=1"}),
            Json({{"minimum", "-1"}}));
  EXPECT_EQ(
      eval({"sort:count=4,bits=32", "--type", "values_a=fix32.8", "--type", "values_b=fix32.8",
            "--input", "values_a=120.5,-7.25", "--input", "values_b=-64,3.75"})["sorted"],
      Json({"-64", "-7.25", "3.75", "120.5"}));
  EXPECT_EQ(eval({"comparisons:rows=1,columns=1,bits=16", "--type", "a=i16", "--type", "b=i16",
                  "--input", "a=-3", "--input", "b=2"}),
            Json({{"less", "0x1"}}));
  EXPECT_EQ(eval({"sort:count=4,bits=64", "--type", "values_a=str8", "--type", "values_b=str8",
                  "--input", "values_a=dora\nann", "--input", "values_b=carl\nbob"})["sorted"],
            Json({"ann", "bob", "carl", "dora"}));
  EXPECT_EQ(eval({"sorted_set_intersection:count=2,bits=16", "--type", "values_a=str2", "--type",
                  "values_b=str2", "--input", "values_a=az\nba", "--input", "values_b=az\nba"}),
            Json({{"in_order", "0x1"}, {"size", "0x2"}, {"intersection", {"az", "ba"}}}));
  // A list has the width of its elements without a type.
  EXPECT_EQ(eval({"sort:count=3", "--input", "values_a=3 1", "--input", "values_b=2"})["sorted"],
            Json({"1", "2", "3"}));
}

TEST_F(CircuitTest, RefusesTypesListsAndOrdersThatDoNotFit) {
  const std::pair<Arguments, std::string> refused[] = {
      {{"eval", "millionaires", "--type", "a=u8"}, "circuit millionaires:bits=8 does"},
      {{"eval", "millionaires:signed=0", "--type", "a=i32"}, "has signed=0"},
      {{"eval", "aes128", "--type", "message=u32"}, "it is a string of bytes"},
      {{"eval", "sort:count=4", "--input", "values_a=2,1,3"},
       "; circuit sort:count=6, or sort:count=5, does"},
      {{"eval", "comparisons:rows=2", "--input", "a=2,1,3"}, "; circuit comparisons:rows=3 does"},
      {{"eval", "sorted_set_intersection:count=2", "--input", "values_a=2,1", "--input",
        "values_b=1,2"},
       "value 2 is less than the one before"},
  };
  for (const auto& [arguments, reason] : refused)
    EXPECT_TRUE(ended_with(tinyot(Arguments{"circuit"} + arguments), 2, reason)) << reason;
}

// A text may begin as a number of all bits does; its hexadecimal digits are those of its bytes.
TEST_F(CircuitTest, TextsThatLookLikeNumbersAreTexts) {
  const auto least = [&](const Arguments& more) {
    return json(Arguments{"eval", "minimum:count=2,bits=64", "--type", "values_a=str8", "--input",
                          "values_b=1"} +
                more)["outputs"]["minimum"];
  };
  EXPECT_EQ(least({"--input", "values_a=0x61"}), "0x61");
  EXPECT_EQ(least({"--input", "values_a=0b1"}), "0b1");
  EXPECT_EQ(least({"--input", "values_a=0xzz"}), "0xzz");
  EXPECT_EQ(
      json({"eval", "minimum:count=2,bits=24,text=1", "--type", "values_a=hex24", "--type",
            "minimum=hex24", "--input", "values_a=616263", "--input", "values_b=b"})["outputs"],
      Json({{"minimum", "616263"}}));
}

TEST_F(CircuitTest, ConvertedHexDigitsKeepTheReading) {
  const auto convert = [&](const std::string& circuit, const std::string& type) {
    return tinyot({"circuit", "convert", circuit, "--type", type, "--output", path("hex.txt")});
  };
  ASSERT_TRUE(ended_with(convert("millionaires:signed=1", "a=hex32"), 0));
  EXPECT_TRUE(ended_with(tinyot({"circuit", "eval", path("hex.txt"), "--type", "a=u32"}), 2,
                         "the circuit reads it as signed, not as u32"));
  ASSERT_TRUE(ended_with(convert("sorted_set_intersection:count=2,bits=16", "values_a=hex16"), 0));
  EXPECT_EQ(json({"info", path("hex.txt")})["inputs"][0]["reading"], "unsigned");
  EXPECT_TRUE(ended_with(convert("sorted_set_intersection:count=2,bits=16", "values_a=hex32"), 2,
                         "conditions are for texts"));
  EXPECT_TRUE(ended_with(convert("millionaires:text=1", "a=hex32"), 2, "says nothing"));
}

TEST_F(CircuitTest, InfoAndFilesSayHowValuesAreRead) {
  const Json info = json({"info", "sorted_set_intersection:count=3,bits=8,signed=1"});
  EXPECT_EQ(info["inputs"][0]["reading"], "signed");
  EXPECT_EQ(info["inputs"][0]["value_bits"], 8);
  EXPECT_EQ(info["inputs"][0]["conditions"], "in ascending order");
  EXPECT_EQ(info["outputs"][0]["reading"], "bits");
  EXPECT_EQ(json({"info", "aes128"})["inputs"][0]["format"], "bytes");
  ASSERT_TRUE(ended_with(tinyot({"circuit", "convert", "sorted_set_intersection:count=3,bits=8",
                                 "--output", path("set.txt")}),
                         0));
  const Json file = json({"info", path("set.txt")});
  EXPECT_EQ(file["inputs"][0]["reading"], "unsigned");
  EXPECT_EQ(file["inputs"][0]["conditions"], "in ascending order");
  EXPECT_TRUE(ended_with(tinyot({"circuit", "eval", path("set.txt"), "--type", "values_a=i8"}), 2,
                         "the circuit reads it as 3 x unsigned of 8 bits, not as i8"));
  EXPECT_TRUE(ended_with(tinyot({"circuit", "eval", path("set.txt"), "--input", "values_a=3,2,1",
                                 "--input", "values_b=1,2,3"}),
                         2, "in ascending order"));
}

// The policy of the daemon names a circuit by it.
TEST_F(CircuitTest, InfoPrintsTheWholeFingerprintWithTheRolesGiven) {
  const std::string adder = circuit_file("adder64.txt");
  CircuitFileOptions to_a;
  to_a.other_receivers = Receiver::A;
  const std::string fingerprint = text_of(LoadedCircuit::from_file(adder, {}, 1).fingerprint());
  ASSERT_EQ(fingerprint.size(), 64u);
  EXPECT_EQ(json({"info", adder})["fingerprint"], fingerprint);
  EXPECT_EQ(json({"info", adder, "--to", "A"})["fingerprint"],
            text_of(LoadedCircuit::from_file(adder, to_a, 1).fingerprint()));
  EXPECT_NE(tinyot({"circuit", "info", adder}).out.find("\nfingerprint: " + fingerprint + "\n"),
            std::string::npos);
  write_file(path("other.txt"), "# a comment\n" + read_file(adder) + "\n");
  EXPECT_EQ(json({"info", path("other.txt")})["fingerprint"], fingerprint);
  EXPECT_EQ(json({"info", adder})["built_in"], false);
  const Json aes = json({"info", "aes128"});
  EXPECT_EQ(aes["built_in"], true);
  EXPECT_EQ(aes["fingerprint"], text_of(LoadedCircuit::generated("aes128", 1)->fingerprint()));
  // A converted circuit is the same, unless it was built in.
  EXPECT_TRUE(ended_with(tinyot({"circuit", "convert", adder, "--output", path("again.txt")}), 0));
  EXPECT_EQ(json({"info", path("again.txt")})["fingerprint"], fingerprint);
  EXPECT_TRUE(ended_with(tinyot({"circuit", "convert", "aes128", "--output", path("aes.txt")}), 0));
  EXPECT_NE(json({"info", path("aes.txt")})["fingerprint"], aes["fingerprint"]);
}

TEST_F(CircuitTest, ConvertedFileKeepsNamesOwnersAndReceivers) {
  const Ended convert = tinyot({"circuit", "convert", "aes128", "--output", path("aes.txt")});
  EXPECT_TRUE(ended_with(convert, 0));
  EXPECT_EQ(convert.err, "");
  const Json generator = json({"info", "aes128"}), file = json({"info", path("aes.txt")});
  EXPECT_EQ(file["inputs"], generator["inputs"]);
  EXPECT_EQ(file["outputs"], generator["outputs"]);
  // FIPS-197 C.1, as A and B give it to the generator. A does not learn the ciphertext.
  const Ended run = tinyot({"local", "run", "--live", "--profile", "fast", "--unit", "2^13",
                            "--circuit", path("aes.txt"), "--format", "json", "--input",
                            "key_a=000102030405060708090a0b0c0d0e0f", "--input",
                            "key_b=00000000000000000000000000000000", "--input",
                            "message=00112233445566778899aabbccddeeff"});
  const Json report = json_of(run);
  EXPECT_EQ(report["B"]["outputs"]["ciphertext"], "69c4e0d86a7b0430d8cdb78070b4c55a");
  EXPECT_FALSE(report["A"]["outputs"].contains("ciphertext"));
  EXPECT_EQ(run.err.find("does not say who owns"), std::string::npos);
}

TEST_F(CircuitTest, ConvertedFileKeepsOptions) {
  const Ended convert =
      tinyot({"circuit", "convert", circuit_file("adder64.txt"), "--owner", "0=B", "--owner", "1=A",
              "--to", "A", "--bit-order", "msb", "--output", path("adder.txt")});
  EXPECT_TRUE(ended_with(convert, 0));
  const Json info = json({"info", path("adder.txt")});
  EXPECT_EQ(info["inputs"][0]["owner"], "B");
  EXPECT_EQ(info["inputs"][1]["owner"], "A");
  EXPECT_EQ(info["outputs"][0]["to"], "A");
  const Arguments eval = {"eval", path("adder.txt"), "--input", "0=0x8000000000000000", "--input",
                          "1=1"};
  // Bit 63 is wire 0, and bit 0 is wire 63: mirrored, the sum of 1 and 2^63.
  EXPECT_EQ(json(eval)["outputs"]["0"], "0x8000000000000001");
  EXPECT_EQ(json({"eval", path("adder.txt"), "--input", "0=0x8000000000000000", "--input",
                  "1=0x8000000000000000"})["outputs"]["0"],
            "0x4000000000000000");
  EXPECT_TRUE(ended_with(
      tinyot({"circuit", "convert", "aes128", "--bit-order", "msb", "--output", path("aes.txt")}),
      2, "--bit-order msb is for numbers"));
}

TEST_F(CircuitTest, FileWithoutDescriptionIsReadWithDefaultsThatAreSaid) {
  const std::string said = "does not say who owns its inputs and who learns its outputs";
  const Ended convert =
      tinyot({"circuit", "convert", "aes128", "--forget-receivers", "--output", path("aes.txt")});
  EXPECT_TRUE(ended_with(convert, 0));
  EXPECT_EQ(read_file(path("aes.txt")).find('#'), std::string::npos);
  const Ended info = tinyot({"circuit", "info", path("aes.txt")});
  EXPECT_TRUE(ended_with(info, 0, said));
  EXPECT_NE(info.out.find("output 0: 128 bits to both"), std::string::npos);
  for (const Arguments& roles : {Arguments{"--to", "B"}, Arguments{"--owner", "0=B"}})
    EXPECT_EQ(tinyot(Arguments{"circuit", "info", path("aes.txt")} + roles).err.find(said),
              std::string::npos);
  EXPECT_EQ(tinyot({"circuit", "info", path("aes.txt"), "--quiet"}).err, "");
}

TEST_F(CircuitTest, ConversionReplacesFileEvenItsInput) {
  write_file(path("lt.txt"), read_file(circuit_file("lt16.lps")));
  EXPECT_TRUE(ended_with(
      tinyot(Arguments{"circuit", "convert", path("lt.txt"), "--output", path("lt.txt")} +
             kBundles),
      0));
  EXPECT_EQ(json({"info", path("lt.txt")})["ands"], 16);
  EXPECT_EQ(json({"eval", path("lt.txt"), "--input", "0=5", "--input", "1=6"})["outputs"]["0"],
            "0x1");
  EXPECT_TRUE(
      ended_with(tinyot({"circuit", "convert", path("lt.txt"), "--output", path("lt.txt")}), 0));
  EXPECT_EQ(json({"eval", path("lt.txt"), "--input", "0=6", "--input", "1=6"})["outputs"]["0"],
            "0x0");
}

TEST_F(CircuitTest, FailedConversionLeavesNothing) {
  write_file(path("old.txt"), "kept");
  write_file(path("bad.txt"), "2 4\n1 2\n1 1\n2 1 0 1 2 AND\n2 1 0 1 2 XOR\n");
  const std::size_t before = files();
  EXPECT_TRUE(
      ended_with(tinyot({"circuit", "convert", path("bad.txt"), "--output", path("old.txt")}), 2,
                 "line 5: wire 2 is written twice"));
  EXPECT_TRUE(ended_with(tinyot({"circuit", "convert", "sha256", "--output", path("none/new.txt")}),
                         1, "cannot write"));
  EXPECT_TRUE(ended_with(tinyot({"circuit", "convert", "sha256", "--output", dir_.string()}), 2,
                         "not a regular file"));
  EXPECT_TRUE(ended_with(tinyot({"circuit", "convert", "aes128"}), 2, "--output"));
  EXPECT_EQ(read_file(path("old.txt")), "kept");
  EXPECT_EQ(files(), before);
}

TEST_F(CircuitTest, BundlesAreForTruthTablesOnly) {
  const std::string lt = circuit_file("lt16.lps");
  const Json two = json(Arguments{"info", lt} + kBundles)["inputs"],
             one = json({"info", lt})["inputs"];
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0]["bits"], 16);
  EXPECT_EQ(two[1]["bits"], 16);
  EXPECT_EQ(two[1]["owner"], "B");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["bits"], 32);
  EXPECT_TRUE(ended_with(tinyot({"circuit", "info", lt, "--bundles", "16,17"}), 2,
                         "the circuit has 32 inputs, but the bundles have 33 bits"));
  for (const char* wrong : {"16,x", "0,32", "", "4294967296"})
    EXPECT_TRUE(ended_with(tinyot({"circuit", "info", lt, "--bundles", wrong}), 2, "--bundles"));
  EXPECT_TRUE(
      ended_with(tinyot(Arguments{"circuit", "info", circuit_file("adder64.txt")} + kBundles), 2,
                 "give no other widths"));
  EXPECT_TRUE(ended_with(tinyot(Arguments{"circuit", "info", "aes128"} + kBundles), 2,
                         "are for circuit files"));
}

TEST_F(CircuitTest, RunsTruthTableFile) {
  preprocess("2^8");
  const Arguments local = {"local",    "run",  "--store",   dir_.string(),
                           "--format", "json", "--circuit", circuit_file("lt16.lps")};
  const Json report =
      json_of(tinyot(local + kBundles + Arguments{"--input", "0=1000", "--input", "1=1001"}));
  EXPECT_EQ(report["B"]["outputs"], Json({{"0", "0x1"}}));

  const Arguments run = {"--circuit", circuit_file("lt16.lps"), "--input"};
  const BothEnded ended =
      both("run", run + Arguments{"0=1"} + kBundles, run + Arguments{"1=1", "--bundles", "15,17"});
  EXPECT_TRUE(ended_with(
      ended.a, 6, "circuit's inputs and outputs (names, widths, sources, receivers, formats)"));
  EXPECT_TRUE(ended_with(
      ended.b, 6, "circuit's inputs and outputs (names, widths, sources, receivers, formats)"));
}

// Two input bits; the outputs are their XOR and their AND.
TEST_F(CircuitTest, EvaluationPrintsEveryOutputAndRequiresEveryInput) {
  write_file(path("half_adder.txt"), "2 4\n2 1 1\n2 1 1\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n");
  const auto eval = [&](const Arguments& inputs) {
    return tinyot(Arguments{"circuit", "eval", path("half_adder.txt"), "--format", "json"} +
                  inputs);
  };
  const Ended ended = eval({"--input", "0=1", "--input", "1=1"});
  ASSERT_TRUE(ended_with(ended, 0));
  EXPECT_EQ(json_of(ended)["outputs"], Json({{"0", "0x0"}, {"1", "0x1"}}));
  EXPECT_TRUE(ended_with(eval({"--input", "0=1"}), 2, "--input 1=... is missing"));
  EXPECT_TRUE(ended_with(eval({"--input", "1=1"}), 2, "--input 0=... is missing"));
  EXPECT_TRUE(ended_with(eval({}), 2, "these are missing: --input 0=..., --input 1=..."));
}

// The layout of a list: value k begins at bit k . width.
TEST_F(CircuitTest, ListsAreNumbersOrArrays) {
  write_file(path("lines.txt"),
             "\xef\xbb\xbf"
             "5\r\n3\r\n9\r\n");
  const Arguments sort = {"circuit", "eval", "sort:count=5,bits=32", "--type", "values_b=u32"};
  const auto sorted = [&](const Arguments& more) {
    return json_of(tinyot(sort + more + Arguments{"--format", "json"}))["outputs"]["sorted"];
  };
  const Json expected = {"1", "3", "5", "7", "9"};
  const Arguments typed = {"--type", "values_a=u32", "--type", "sorted=u32"};
  EXPECT_EQ(sorted(typed + Arguments{"--input", "values_a=@" + path("lines.txt"), "--input",
                                     "values_b=[1, \"7\"]"}),
            expected);
  // A list may always be given as one number.
  EXPECT_EQ(sorted({"--input", "values_a=0x000000090000000300000005", "--input", "values_b=1,7"}),
            expected);
  const auto refused = [&](const Arguments& more, const std::string& reason) {
    const Ended ended = tinyot(sort + more);
    EXPECT_TRUE(ended_with(ended, 2, reason));
    EXPECT_EQ(ended.err.find("777"), std::string::npos);
  };
  refused(typed + Arguments{"--input", "values_a=777,777"},
          "2 values given, 3 expected of type u32");
  refused(typed + Arguments{"--input", "values_a=777,777,777,777"},
          "4 values given, 3 expected of type u32");
  refused(typed + Arguments{"--input", "values_a=1,-777,2"}, "values_a, value 2: the number is");
  refused({"--input", "values_a=777,777"},
          "2 values given, 3 expected of type u32; circuit sort:count=4, or sort:count=3, does");
  for (const Arguments& types : {Arguments{}, typed})
    refused(types + Arguments{"--input", "values_a=name,price\n1,777\n2,777\n"},
            "; it begins with a name: a table of CSV is for --rows");
  refused({"--type", "sorted=u33"}, "circuit sort:count=5,bits=33 does");
  refused({"--type", "list=u32"}, "has no such input or output");
  refused({"--type", "sorted=f32"}, "there is no type 'f32'");
}

TEST_F(CircuitTest, ConvertedFileKeepsTypes) {
  const Arguments convert = {"circuit", "convert", circuit_file("adder64.txt"), "--output",
                             path("adder.txt")};
  EXPECT_TRUE(ended_with(tinyot(convert + Arguments{"--type", "0=i64", "--type", "1=u8"}), 0));
  const auto sum = [&](const Arguments& more) {
    return json(Arguments{"eval", path("adder.txt")} + more)["outputs"]["0"];
  };
  const Arguments list = {"--input", "1=[1, 0, 0, 0, 0, 0, 0, 0]"};
  EXPECT_EQ(sum(list + Arguments{"--input", "0=-5"}), "-4");
  EXPECT_EQ(sum({"--input", "1=0x101", "--input", "0=-1"}), "256") << "all bits of a list";
  EXPECT_EQ(sum(list + Arguments{"--input", "0=5", "--type", "0=hex64"}), "0000000000000006");
  EXPECT_TRUE(ended_with(
      tinyot({"circuit", "eval", path("adder.txt"), "--input", "0=1", "--input", "1=1,2"}), 2,
      "2 values given, 8 expected of type u8"));
  EXPECT_TRUE(ended_with(tinyot(convert + Arguments{"--type", "0=i64", "--bit-order", "msb"}), 2,
                         "--type is for numbers whose lowest bit comes first"));
}

TEST_F(CircuitTest, SaysThatOthersCanReadAnInput) {
  write_file(path("a.txt"), "1");
  const auto is_said = [&](std::filesystem::perms mode) {
    std::filesystem::permissions(path("a.txt"), mode);
    const Ended ended = tinyot(
        {"circuit", "eval", "millionaires", "--input", "b=2", "--input", "a=@" + path("a.txt")});
    EXPECT_TRUE(ended_with(ended, 0));
    return ended.err.find("is readable by other users; if its value is secret") !=
           std::string::npos;
  };
  using std::filesystem::perms;
  EXPECT_TRUE(is_said(perms::owner_read | perms::others_read));
  EXPECT_FALSE(is_said(perms::owner_read | perms::owner_write));
}

TEST_F(CircuitTest, ListsOfLanesFollowEachOther) {
  const Json outputs = json_of(
      tinyot({"circuit", "eval", "sort:count=3,bits=8", "--lanes", "2", "--type", "values_a=i8",
              "--type", "values_b=i8", "--type", "sorted=i8", "--input", "values_a=[[3,-1],[5,4]]",
              "--input", "values_b=0,-9", "--format", "json"}))["outputs"];
  EXPECT_EQ(outputs["sorted"], Json({"-1", "0", "3", "-9", "4", "5"}));
}

// Hex digits may have line ends, as xxd -p writes them; raw bytes are those of a file.
TEST_F(CircuitTest, StringsOfBytesAreHexDigitsOrRaw) {
  const std::string message = "an awkward\n\"\xff"s + std::string(1, '\0') + ",e";
  std::string hex;
  for (const char c : message) hex += hex_of(std::as_bytes(std::span(&c, 1))) + "\n";
  ASSERT_EQ(message.size(), 16u);
  write_file(path("message.bin"), message);
  write_file(path("message.hex"), hex);
  const std::string zeros(32, '0');
  const auto encrypt = [&](const Arguments& more) {
    return tinyot(Arguments{"circuit", "eval", "aes128", "--input", "key_a=" + zeros, "--input",
                            "key_b=" + zeros, "--format", "json"} +
                  more);
  };
  const Arguments raw = {"--type", "message=raw"};
  const Json from_hex = json_of(encrypt({"--input", "message=@" + path("message.hex")})),
             from_raw =
                 json_of(encrypt(raw + Arguments{"--input", "message=@" + path("message.bin")}));
  EXPECT_EQ(from_hex["outputs"], from_raw["outputs"]);
  EXPECT_TRUE(ended_with(encrypt(raw + Arguments{"--input", "message=short"}), 2,
                         "5 bytes given, 16 expected"));
  EXPECT_TRUE(ended_with(encrypt(raw + Arguments{"--input", "message=longer than it is"}), 2,
                         "17 bytes given, 16 expected"));
  EXPECT_TRUE(ended_with(encrypt({"--blocks", "2", "--input", "message=" + zeros}), 2,
                         "2 expected of 32 hex digits each, or one string of 64"));
  EXPECT_TRUE(ended_with(encrypt({"--type", "ciphertext=raw", "--input", "message=" + zeros}), 2,
                         "is for an output in a file: --output ciphertext=@FILE"));
}

// A circuit that names B as receiver, with A's ciphertext as the bytes of a file.
TEST_F(CircuitTest, ReceiverOfABuiltInCircuitCanBeChosen) {
  preprocess_fast("2^14");
  write_file(path("message"), std::string(16, 'm'));
  const Arguments aes = {"--circuit", "aes128", "--to", "A"};
  const std::string key(32, '1');
  const BothEnded ended =
      both("run",
           aes + Arguments{"--input", "key_a=" + key, "--type", "message=raw", "--input",
                           "message=@" + path("message"), "--type", "ciphertext=raw", "--output",
                           "ciphertext=@" + path("ciphertext")},
           aes + Arguments{"--input", "key_b=" + std::string(32, '0')});
  ASSERT_TRUE(ended_with(ended.a, 0));
  EXPECT_TRUE(json_of(ended.b)["outputs"].empty());
  const std::string ciphertext = read_file(path("ciphertext"));
  const Json wanted =
      json_of(tinyot({"circuit", "eval", "aes128", "--input", "key_a=" + key, "--input",
                      "key_b=" + std::string(32, '0'), "--input",
                      "message=6d6d6d6d6d6d6d6d6d6d6d6d6d6d6d6d", "--format", "json"}));
  EXPECT_EQ(wanted["outputs"]["ciphertext"], hex_of(std::as_bytes(std::span(ciphertext))));

  const BothEnded differ =
      both("run", aes + Arguments{"--input", "key_a=" + key, "--input", "message=" + key},
           {"--circuit", "aes128", "--input", "key_b=" + key});
  EXPECT_TRUE(ended_with(differ.a, 6, "inputs and outputs"));
}

TEST_F(CircuitTest, PrintsNumbersInTheBaseAskedFor) {
  const auto sum = [&](const Arguments& more) {
    const Ended ended =
        tinyot(Arguments{"circuit", "eval", circuit_file("adder64.txt"), "--format", "json",
                         "--input", "0=18446744073709551000", "--input", "1=0b11"} +
               more);
    EXPECT_TRUE(ended_with(ended, 0));
    return json_of(ended)["outputs"]["0"].get<std::string>();
  };
  EXPECT_EQ(sum({}), "0xfffffffffffffd9b");
  EXPECT_EQ(sum({"--output-base", "10"}), "18446744073709551003");
  EXPECT_EQ(sum({"--output-base", "2"}), "0b" + std::string(54, '1') + "0110011011");
  EXPECT_TRUE(ended_with(tinyot({"circuit", "eval", "aes128", "--output-base", "8"}), 2,
                         "--output-base must be 2, 10 or 16"));
}

}  // namespace
}  // namespace tinyot::test
