// `tinyot client`: requests and what becomes of their replies.
#include "tests/cli/client_test.h"

#include <sys/stat.h>

namespace tinyot::test {
namespace {

constexpr std::size_t kPartBytesMax = std::size_t{1} << 20;
const std::string kPlaintext = "00112233445566778899aabbccddeeff";

TEST_F(ClientTest, RunSubmitsTheJobAndPrintsItsOutputsAsRunDoes) {
  const std::string ciphertext = "69c4e0d86a7b0430d8cdb78070b4c55a";
  const NamedCircuit aes({.name = "aes128"});
  server_->outputs = {output_of(
      "ciphertext", 128, bits_of({parse_value(ciphertext, 128, ValueFormat::Bytes, false)}))};
  const Ended ended = ask("run", kAesRun + Arguments{"--peer", "bank"});
  EXPECT_TRUE(ended_with(ended, 0));
  EXPECT_EQ(ended.out,
            "job j1 with bank: aes128, 6,400 ANDs, done in 250.0 ms, 1.5 s after its submission\n"
            "ciphertext = " +
                ciphertext + "\n");
  ASSERT_FALSE(server_->parts.empty());
  const v1::NewJob& job = server_->parts[0].job();
  EXPECT_EQ(job.id(), "j1");
  EXPECT_EQ(job.peer(), "bank");
  EXPECT_EQ(job.circuit(), "aes128");
  EXPECT_FALSE(job.is_file());
  EXPECT_FALSE(job.has_roles());
  EXPECT_EQ(job.lanes(), 1u);
  EXPECT_EQ(sent({.name = "aes128"}, "key_b", Party::B),
            bits_of({parse_value(kKey, 128, ValueFormat::Bytes, false)}));
  EXPECT_FALSE(server_->forgot);

  const Json report = json("run", kAesRun);
  EXPECT_EQ(report["command"], "client run");
  EXPECT_EQ(report["job"], "j1");
  EXPECT_EQ(report["state"], "done");
  EXPECT_EQ(report["session"], "5e551011");
  EXPECT_EQ(report["outputs"], Json({{"ciphertext", ciphertext}}));
}

TEST_F(ClientTest, SendsBlocksAndParametersOfACircuit) {
  const std::string other(32, '7');
  server_->job.set_lanes(2);
  const Arguments run = {
      "--job",    "j1", "--circuit", "aes128",        "--sbox",  "shallow",
      "--blocks", "2",  "--input",   "key_a=" + kKey, "--input", "message=" + kPlaintext + other};
  EXPECT_TRUE(ended_with(ask("run", run), 0));
  const CircuitSpec spec{.name = "aes128:sbox=shallow", .blocks = 2};
  EXPECT_EQ(sent(spec, "key_a", Party::A),
            bits_of({parse_value(kKey, 128, ValueFormat::Bytes, false)}));
  EXPECT_EQ(sent(spec, "message", Party::A),
            bits_of({parse_value(kPlaintext + other, 256, ValueFormat::Bytes, false)}));
  // The outputs of blocks are one string.
  server_->outputs = {
      output_of("ciphertext", 128, std::string(16, '\x01') + std::string(16, '\x02'))};
  server_->parts.clear();
  std::string wanted;
  for (int i = 0; i < 16; ++i) wanted += "01";
  for (int i = 0; i < 16; ++i) wanted += "02";
  EXPECT_EQ(json("run", run)["outputs"]["ciphertext"], wanted);
}

TEST_F(ClientTest, SendsCircuitFileWithItsRolesAndLanes) {
  const std::string adder = circuit_file("adder64.txt");
  server_->job.set_lanes(3);
  server_->outputs = {output_of("0", 64, std::string(7, '\0') + "\x80" + std::string(16, '\0'))};
  const Json report =
      json("run", {"--job", "j1", "--circuit", adder, "--lanes", "3", "--owner", "0=B", "--owner",
                   "1=A", "--to", "A", "--input", "1=1,0x8000000000000000,0b11"});
  EXPECT_EQ(report["outputs"]["0"],
            Json({"0x8000000000000000", "0x0000000000000000", "0x0000000000000000"}));
  const v1::NewJob& job = server_->parts.at(0).job();
  EXPECT_EQ(job.circuit(), "adder64");
  EXPECT_TRUE(job.is_file());
  EXPECT_EQ(job.roles().receiver(), "A");
  const CircuitSpec spec{.name = adder, .owners = {"0=B", "1=A"}, .receiver = "A", .lanes = 3};
  EXPECT_EQ(sent(spec, "1", Party::A), std::string("\x01\0\0\0\0\0\0\0"
                                                   "\0\0\0\0\0\0\0\x80"
                                                   "\x03\0\0\0\0\0\0\0",
                                                   24));
}

TEST_F(ClientTest, PadsValuesOfOddWidthToBytesAndSendsWidths) {
  const std::string lt = circuit_file("lt16.lps");
  EXPECT_TRUE(ended_with(ask("submit", {"--job", "j1", "--circuit", lt, "--bundles", "13,19",
                                        "--lanes", "2", "--input", "0=0x1fff,1"}),
                         0));
  const CircuitSpec spec{.name = lt, .bundles = "13,19", .lanes = 2};
  EXPECT_EQ(sent(spec, "0", Party::A), std::string("\xff\x1f\x01\x00", 4));
}

TEST_F(ClientTest, SendsInputsAndFilesInParts) {
  // Two lanes of 1.5 MiB each, on one input.
  constexpr std::size_t kBytes = 3 << 19;
  const std::string name = "hamming:bits=" + std::to_string(8 * kBytes);
  std::string text, bytes;
  for (const char digit : {'3', 'a'}) {
    text += "0x" + std::string(2 * kBytes, digit) + "\n";
    bytes += std::string(kBytes, digit == '3' ? '\x33' : '\xaa');
  }
  ASSERT_TRUE(ended_with(ask("submit", {"--job", "j1", "--circuit", name, "--lanes", "2", "--input",
                                        "a=" + input_file("bits", text)}),
                         0));
  EXPECT_EQ(server_->parts.size(), 4u);
  EXPECT_EQ(sent({.name = name, .lanes = 2}, "a", Party::A), bytes);

  server_->parts.clear();
  const std::string sha = circuit_file("sha256.txt");
  ASSERT_GT(std::filesystem::file_size(sha), kPartBytesMax);
  ASSERT_TRUE(ended_with(ask("submit", {"--job", "j2", "--circuit", sha, "--input", "0=1"}), 0));
  EXPECT_EQ(server_->submission()->circuit().fingerprint(),
            NamedCircuit({.name = sha}).fingerprint());
  for (const v1::SubmitRequest& part : server_->parts) {
    std::size_t bits = 0;
    for (const v1::Input& input : part.inputs()) bits += input.bits().size();
    EXPECT_LE(bits + part.circuit_part().size(), kPartBytesMax);
  }
}

TEST_F(ClientTest, ReadsInputsFromFilesAndStandardInput) {
  const Ended ended =
      tinyot(client("submit", {"--job", "j1", "--circuit", "aes128", "--input",
                               "key_a=" + input_file("key", kKey + "\n"), "--input", "message=-"}),
             kPlaintext + "\n");
  EXPECT_TRUE(ended_with(ended, 0));
  EXPECT_EQ(sent({.name = "aes128"}, "message", Party::A),
            bits_of({parse_value(kPlaintext, 128, ValueFormat::Bytes, false)}));
}

TEST_F(ClientTest, SubmitStatusAndCancelPrintTheJob) {
  EXPECT_EQ(ask("submit", kAesRun).out,
            "job j1 with bank: aes128, 6,400 ANDs, waiting for the peer to submit it\n");
  const Json submitted = json("submit", kAesRun);
  EXPECT_EQ(submitted["command"], "client submit");
  EXPECT_EQ(submitted["state"], "waiting_for_peer");
  EXPECT_FALSE(submitted.contains("evaluation_s"));

  server_->job.set_state(v1::RUNNING);
  server_->job.set_lanes(4);
  EXPECT_EQ(ask("status", {"j1"}).out, "job j1 with bank: aes128, 4 lanes, 6,400 ANDs, running\n");
  EXPECT_EQ(ask("cancel", {"j1"}).out,
            "job j1 with bank: aes128, 4 lanes, 6,400 ANDs, cancelled\n");
  EXPECT_EQ(json("cancel", {"--job", "j1"})["state"], "cancelled");
  EXPECT_EQ(server_->ids, (std::vector<std::string>{"status j1", "cancel j1", "cancel j1"}));

  server_->job.set_state(v1::FAILED);
  server_->job.mutable_error()->set_error_class(v1::STORE);
  server_->job.mutable_error()->set_message("out of material");
  const Json failed = json("status", {"j1"});
  EXPECT_EQ(failed["state"], "failed");
  EXPECT_EQ(failed["failure"], Json({{"class", "store"}, {"message", "out of material"}}));
}

TEST_F(ClientTest, ResultPrintsNumbersOrAsTheCircuitSays) {
  server_->outputs = {output_of("ciphertext", 128, "\x01" + std::string(15, '\0'))};
  EXPECT_EQ(json("result", {"j1"})["outputs"]["ciphertext"], "0x00000000000000000000000000000001");
  EXPECT_EQ(json("result", {"j1", "--output-base", "10"})["outputs"]["ciphertext"], "1");
  EXPECT_EQ(json("result", {"j1", "--circuit", "aes128"})["outputs"]["ciphertext"],
            "01000000000000000000000000000000");
  EXPECT_TRUE(ended_with(ask("result", {"j1", "--circuit", "sha256"}), 2,
                         "job j1 is of circuit aes128, not of sha256"));
  EXPECT_TRUE(ended_with(ask("result", {"j1", "--circuit", "aes128", "--blocks", "2"}), 2,
                         "unlike that of the circuit given"));
  EXPECT_TRUE(ended_with(ask("result", {"j1", "--lanes", "2"}), 2, "give --circuit"));

  server_->job.set_lanes(2);
  server_->outputs = {output_of("sum", 9, std::string("\xff\x01\x02\x00", 4)),
                      output_of("nothing", 0, "")};
  const Ended ended = ask("result", {"j1"});
  EXPECT_TRUE(ended_with(ended, 0));
  EXPECT_NE(ended.out.find("\nsum = 0x1ff\n0x002\n"), std::string::npos) << ended.out;
  EXPECT_EQ(json("result", {"j1"})["outputs"]["sum"], Json({"0x1ff", "0x002"}));
}

TEST_F(ClientTest, LargeOutputsArriveInParts) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i % 251);
  server_->outputs = {output_of("x", 8 * 5000, bytes), output_of("y", 8, "\x2a")};
  const Json outputs = json("result", {"j1"})["outputs"];
  EXPECT_EQ(outputs["y"], "0x2a");
  EXPECT_EQ(parse_value(outputs["x"].get<std::string>(), 8 * 5000, ValueFormat::Integer, false)
                .bytes()
                .size(),
            bytes.size());
  EXPECT_EQ(bits_of({parse_value(outputs["x"].get<std::string>(), 8 * 5000, ValueFormat::Integer,
                                 false)}),
            bytes);
}

TEST_F(ClientTest, RejectsOutputsOfAnotherLength) {
  server_->outputs = {output_of("x", 16, "abc")};
  EXPECT_TRUE(ended_with(ask("result", {"j1"}), 1, "3 bytes for output x, not 2"));
}

TEST_F(ClientTest, WritesOutputsToPrivateFiles) {
  server_->outputs = {output_of("ciphertext", 128, std::string(16, '\x10'))};
  std::string wanted;
  for (int i = 0; i < 16; ++i) wanted += "10";
  const Json report = json("run", kAesRun + Arguments{"--output", "ciphertext=@" + path("out")});
  EXPECT_EQ(report["outputs"], Json::object());
  EXPECT_EQ(read_file(path("out")), wanted + "\n");
  struct stat status {};
  ASSERT_EQ(::stat(path("out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);

  EXPECT_TRUE(ended_with(ask("run", kAesRun + Arguments{"--output", "text=@" + path("out")}), 2,
                         "no output 'text'"));
  // The other outputs are printed all the same.
  const Ended ended = ask("result", {"j1", "--output", "text=@" + path("text")});
  EXPECT_EQ(ended.status, 2);
  EXPECT_NE(ended.err.find("--output text: this party does not learn it"), std::string::npos);
  EXPECT_NE(ended.out.find("\nciphertext = 0x1010"), std::string::npos) << ended.out;
}

TEST_F(ClientTest, ForgetsTheJobOnceItsOutputsAreWritten) {
  server_->outputs = {output_of("x", 8, "a")};
  EXPECT_TRUE(ended_with(ask("result", {"j1", "--forget", "--circuit", "aes128"}), 2, "no output"));
  EXPECT_FALSE(server_->forgot);
  EXPECT_TRUE(ended_with(ask("result", {"j1", "--forget"}), 0));
  EXPECT_TRUE(server_->forgot);
}

TEST_F(ClientTest, StockPeersAndRetire) {
  v1::SessionStock& stock = *server_->stock_reply.add_sessions();
  stock.set_peer("bank");
  stock.set_session("5e551011");
  stock.set_is_current(true);
  stock.set_ands_left(1234567);
  stock.set_inputs_left(1000);
  stock.set_low_ands(1000000);
  stock.set_high_ands(4000000);
  stock.set_budget_spent(0.25);
  stock.set_bytes(98765432);
  stock.set_is_refilling(true);
  EXPECT_EQ(ask("stock").out,
            "bank: session 5e551011 (current), 1,234,567 ANDs and 1,000 inputs of each party left, "
            "refilled below 1,000,000 up to 4,000,000 ANDs, refilling, 98.8 MB, 25 % of its budget "
            "spent\n");
  EXPECT_EQ(server_->stock_peer, "");
  const Json report = json("stock", {"--peer", "bank"});
  EXPECT_EQ(server_->stock_peer, "bank");
  EXPECT_EQ(report["sessions"],
            Json::parse(R"([{"peer": "bank", "session": "5e551011", "is_current": true,
                             "ands_left": 1234567, "inputs_left": 1000, "low_ands": 1000000,
                             "high_ands": 4000000, "budget_spent": 0.25, "store_bytes": 98765432,
                             "is_refilling": true}])"));

  v1::PeerState& peer = *server_->peers_reply.add_peers();
  peer.set_name("bank");
  peer.set_party("A");
  peer.set_is_connected(true);
  peer.set_jobs_waiting(1);
  peer.set_last_error("connection refused");
  EXPECT_EQ(ask("peers").out,
            "bank: this is party A, connected, 1 job waiting, 0 running; last error: connection "
            "refused\n");
  EXPECT_EQ(json("peers")["peers"][0]["last_error"], "connection refused");
  server_->peers_reply.mutable_peers(0)->set_jobs_held("the peer's disk is full");
  EXPECT_EQ(ask("peers").out,
            "bank: this is party A, connected, 1 job waiting, 0 running; jobs wait: the peer's "
            "disk is full; last error: connection refused\n");
  EXPECT_EQ(json("peers")["peers"][0]["jobs_held"], "the peer's disk is full");

  server_->retire_reply.set_session("0ld");
  EXPECT_EQ(ask("retire", {"--peer", "bank"}).out,
            "session 0ld with bank has ended; a new one begins\n");
  EXPECT_EQ(server_->retired_peer, "bank");
  EXPECT_EQ(json("retire", {"--peer", "bank"})["session"], "0ld");
  EXPECT_TRUE(ended_with(ask("retire"), 2, "--peer is missing"));
}

}  // namespace
}  // namespace tinyot::test
