// The audit log of keys: a chain of lines, what the peer has signed, and both parties' logs
// together.
#include "service/key_audit.h"

#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "base/hex.h"
#include "keys.pb.h"
#include "tests/support/files.h"
#include "tinyot/error.h"

namespace tinyot::test {
namespace {

using net::Identity;
using service::AuditHead;
using service::AuditLine;
using service::KeyAudit;
using service::SignedMessage;

void put_head(const AuditHead& head, service::keys::Head& to) {
  to.set_sequence(head.sequence);
  to.set_hash(std::string(reinterpret_cast<const char*>(head.hash.bytes.data()), 32));
}

SignedMessage signed_by(const Identity& identity, const service::keys::Said& said) {
  SignedMessage message;
  message.message.resize(said.ByteSizeLong());
  said.SerializeToArray(message.message.data(), static_cast<int>(message.message.size()));
  message.signature = net::sign(identity, service::kCustodyDomain, message.message);
  return message;
}

// Two parties with their logs, as their daemons write them.
struct Parties {
  std::string request_id(std::uint8_t number) const {
    return std::string(16, static_cast<char>(number));
  }
  std::string hex(const std::string& bytes) const {
    return hex_of(std::as_bytes(std::span(bytes)));
  }

  // A request of party `by`, accepted or not, up to the end at the requester.
  void use(std::size_t by, std::uint8_t number, bool is_accepted = true, std::uint64_t bytes = 32) {
    const std::string id = request_id(number);
    AuditLine line;
    line.request = hex(id);
    line.client = "client";
    line.operation = "encrypt";
    line.key = "fingerprint";
    line.bytes = bytes;
    const AuditHead begun = log(by).append(line);
    service::keys::Said said;
    said.mutable_request()->set_request(id);
    said.mutable_request()->set_operation("encrypt");
    said.mutable_request()->set_bytes(static_cast<std::uint32_t>(bytes));
    put_head(begun, *said.mutable_request()->mutable_head());
    AuditHead answered = log(1 - by).head();
    if (is_accepted) {
      AuditLine of_peer = line;
      of_peer.is_own = false;
      of_peer.signed_by_peer = signed_by(identities[by], said);
      of_peer.peers_head = begun;
      answered = log(1 - by).append(of_peer);
    }
    service::keys::Said answer;
    answer.mutable_answer()->set_request(id);
    answer.mutable_answer()->set_is_accepted(is_accepted);
    put_head(answered, *answer.mutable_answer()->mutable_head());
    line.event = AuditLine::Event::End;
    line.outcome = is_accepted ? "done" : "refused";
    line.signed_by_peer = signed_by(identities[1 - by], answer);
    line.peers_head = answered;
    log(by).append(line);
  }

  KeyAudit& log(std::size_t party) {
    if (!logs[party]) logs[party] = std::make_unique<KeyAudit>(files[party]);
    return *logs[party];
  }
  service::AuditReport verify(std::size_t party, bool with_peers = true) {
    logs = {};
    service::AuditPeer peer{identities[1 - party].fingerprint()};
    if (with_peers) {
      peer.log = files[1 - party];
      peer.own_key = identities[party].fingerprint();
    }
    return service::verify_audit(files[party], peer);
  }
  std::vector<std::string> lines(std::size_t party) const {
    std::ifstream in(files[party]);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  void write(std::size_t party, const std::vector<std::string>& all) {
    logs = {};
    std::string text;
    for (const std::string& line : all) text += line + '\n';
    write_file(files[party], text);
  }

  TestDirectory directory{"/dev/shm"};
  std::array<std::filesystem::path, 2> files{directory / "a", directory / "b"};
  std::array<Identity, 2> identities{Identity::generate(), Identity::generate()};
  std::array<std::unique_ptr<KeyAudit>, 2> logs;
};

TEST(KeyAudit, TellsTheSameStoryAtBoth) {
  Parties parties;
  for (std::uint8_t k = 1; k <= 6; ++k) parties.use(k % 2, k, k != 3);
  for (const std::size_t party : {0, 1})
    for (const bool with_peers : {false, true}) {
      const service::AuditReport report = parties.verify(party, with_peers);
      EXPECT_TRUE(report.problems.empty()) << report.problems.front();
      EXPECT_EQ(report.requests, party == 1 ? 6u : 5u);
    }
}

TEST(KeyAudit, GoesOnAfterARestart) {
  Parties parties;
  parties.use(0, 1);
  const AuditHead before = parties.log(0).head();
  parties.logs = {};
  EXPECT_EQ(parties.log(0).head().sequence, before.sequence);
  EXPECT_EQ(parties.log(0).head().hash.bytes, before.hash.bytes);
  parties.use(0, 2);
  EXPECT_TRUE(parties.verify(0).problems.empty());
  EXPECT_EQ(std::filesystem::status(parties.files[0]).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

// Any line changed, removed, inserted twice or exchanged with the next.
TEST(KeyAudit, EveryChangeOfALineShows) {
  Parties parties;
  for (std::uint8_t k = 1; k <= 3; ++k) parties.use(0, k);
  const std::vector<std::string> right = parties.lines(0);
  for (std::size_t k = 0; k < right.size(); ++k) {
    std::vector<std::string> wrong = right;
    const std::size_t at = wrong[k].find("\"bytes\":32");
    wrong[k].replace(at, 10, "\"bytes\":33");
    parties.write(0, wrong);
    EXPECT_FALSE(parties.verify(0, k + 1 == right.size()).problems.empty()) << "changed " << k;
    wrong = right;
    wrong.erase(wrong.begin() + static_cast<std::ptrdiff_t>(k));
    parties.write(0, wrong);
    EXPECT_FALSE(parties.verify(0, k + 1 == right.size()).problems.empty() && k + 1 < right.size())
        << "removed " << k;
    wrong = right;
    wrong.insert(wrong.begin() + static_cast<std::ptrdiff_t>(k), right[k]);
    parties.write(0, wrong);
    EXPECT_FALSE(parties.verify(0, false).problems.empty()) << "twice " << k;
    if (k + 1 == right.size()) continue;
    wrong = right;
    std::swap(wrong[k], wrong[k + 1]);
    parties.write(0, wrong);
    EXPECT_FALSE(parties.verify(0, false).problems.empty()) << "exchanged " << k;
  }
}

// A log that its owner cuts and writes anew: the peer has signatures over what was there.
TEST(KeyAudit, RewrittenLogContradictsThePeers) {
  Parties parties;
  for (std::uint8_t k = 1; k <= 3; ++k) parties.use(0, k);
  const std::vector<std::string> of_a = parties.lines(0);
  parties.write(0, {of_a.begin(), of_a.begin() + 2});
  parties.log(0);
  EXPECT_TRUE(parties.verify(0, false).problems.empty()) << "by itself it is a chain";
  EXPECT_FALSE(parties.verify(0).problems.empty());
  EXPECT_FALSE(parties.verify(1).problems.empty());
  // Goes on as if nothing had been.
  parties.use(0, 9);
  parties.use(0, 8);
  EXPECT_FALSE(parties.verify(1).problems.empty());
}

// A line that its owner has changed, with a chain that is whole: the other party has signed for the
// line that was there.
TEST(KeyAudit, ChangedLastLineContradictsThePeers) {
  Parties parties;
  parties.use(0, 1);
  std::vector<std::string> of_b = parties.lines(1);
  ASSERT_EQ(of_b.size(), 1u);
  of_b[0].replace(of_b[0].find("\"client\":\"client\""), 17, "\"client\":\"other\"");
  parties.write(1, of_b);
  EXPECT_TRUE(parties.verify(1, false).problems.empty());
  EXPECT_EQ(parties.verify(0).problems.size(), 1u);
}

// The peer leaves out a request that it has accepted.
TEST(KeyAudit, RequestThatOneLogLacksShows) {
  Parties parties;
  parties.use(0, 1);
  const std::vector<std::string> of_b = parties.lines(1);
  parties.use(0, 2);
  parties.write(1, of_b);
  EXPECT_FALSE(parties.verify(0).problems.empty());
}

TEST(KeyAudit, SignaturesAreOfThePeerAndTheRequest) {
  Parties parties;
  parties.use(0, 1);
  parties.logs = {};
  const auto problems = [&](const Identity& signer) {
    return service::verify_audit(parties.files[1], {signer.fingerprint()}).problems;
  };
  EXPECT_TRUE(problems(parties.identities[0]).empty());
  EXPECT_FALSE(problems(parties.identities[1]).empty());
  // A signed request of another number of bytes, under a chain that is whole.
  Parties wrong;
  AuditLine line;
  line.is_own = false;
  line.request = wrong.hex(wrong.request_id(1));
  line.operation = "encrypt";
  line.bytes = 64;
  service::keys::Said said;
  said.mutable_request()->set_request(wrong.request_id(1));
  said.mutable_request()->set_operation("encrypt");
  said.mutable_request()->set_bytes(32);
  put_head({}, *said.mutable_request()->mutable_head());
  line.peers_head = AuditHead{};
  line.signed_by_peer = signed_by(wrong.identities[0], said);
  wrong.log(1).append(line);
  EXPECT_EQ(wrong.verify(1, false).problems.size(), 1u);
  Parties without;
  line.signed_by_peer.reset();
  without.log(1).append(line);
  EXPECT_EQ(without.verify(1, false).problems.size(), 1u) << "no signature";
}

// A crash while a line is written: the operation has not gone on.
TEST(KeyAudit, LineThatIsCutOffIsRemoved) {
  Parties parties;
  parties.use(0, 1);
  const std::string whole = read_file(parties.files[0]);
  parties.logs = {};
  write_file(parties.files[0], whole + "{\"sequence\":3,\"ti");
  EXPECT_EQ(parties.log(0).head().sequence, 2u);
  EXPECT_EQ(read_file(parties.files[0]), whole);
  parties.use(0, 2);
  EXPECT_TRUE(parties.verify(0).problems.empty());
}

TEST(KeyAudit, DamagedLogIsNotContinued) {
  Parties parties;
  parties.use(0, 1);
  std::string text = read_file(parties.files[0]);
  text[20] = static_cast<char>(text[20] ^ 1);
  parties.logs = {};
  write_file(parties.files[0], text);
  EXPECT_THROW(parties.log(0), tinyot::StoreError);
  EXPECT_EQ(read_file(parties.files[0]), text) << "it is evidence";
}

TEST(KeyAudit, LinesOfManyThreadsAreOneChain) {
  Parties parties;
  parties.log(0);
  std::vector<std::future<void>> threads;
  for (int t = 0; t < 8; ++t)
    threads.push_back(std::async(std::launch::async, [&] {
      for (int k = 0; k < 50; ++k) parties.log(0).append({});
    }));
  for (auto& thread : threads) thread.get();
  EXPECT_EQ(parties.log(0).head().sequence, 400u);
  const service::AuditReport report = parties.verify(0, false);
  EXPECT_EQ(report.lines, 400u);
  EXPECT_TRUE(report.problems.empty());
}

}  // namespace
}  // namespace tinyot::test
