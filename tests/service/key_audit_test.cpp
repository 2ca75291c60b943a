// The audit log of keys: a chain of lines, what the peer has signed, and both parties' logs
// together.
#include "service/key_audit.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <future>
#include <utility>

#include "base/hex.h"
#include "keys.pb.h"
#include "system/memory_use.h"
#include "tests/support/files.h"
#include "tests/support/peak_memory.h"
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

  std::string bytes_of_key(std::size_t party) const {
    const auto& bytes = identities[party].fingerprint().bytes;
    return {bytes.begin(), bytes.end()};
  }
  AuditLine line_of(std::uint8_t number) const {
    AuditLine line;
    line.request = hex(request_id(number));
    line.client = "client";
    line.operation = "encrypt";
    line.key = hex(std::string(16, 'k'));
    line.bytes = 32;
    line.aad_bytes = 5;
    return line;
  }
  service::keys::Said request_of(std::size_t by, std::uint8_t number, const AuditHead& head) const {
    service::keys::Said said;
    service::keys::Request& request = *said.mutable_request();
    request.set_from(bytes_of_key(by));
    request.set_to(bytes_of_key(1 - by));
    request.set_request(request_id(number));
    request.set_operation("encrypt");
    request.set_key(std::string(16, 'k'));
    request.set_client("client");
    request.set_bytes(32);
    request.set_aad_bytes(5);
    put_head(head, *request.mutable_head());
    return said;
  }
  service::keys::Said answer_of(std::size_t by, std::uint8_t number, const SignedMessage& request,
                                bool is_accepted, const AuditHead& head) const {
    service::keys::Said said;
    service::keys::Answer& answer = *said.mutable_answer();
    answer.set_from(bytes_of_key(1 - by));
    answer.set_to(bytes_of_key(by));
    answer.set_request(request_id(number));
    const crypto::Digest hash = crypto::sha256(request.message);
    answer.set_request_hash(std::string(hash.bytes.begin(), hash.bytes.end()));
    answer.set_is_accepted(is_accepted);
    put_head(head, *answer.mutable_head());
    return said;
  }

  // A request of party `by`, accepted or not, up to the end at the requester. `change` is made to
  // each line before it is written.
  using Change = std::function<void(AuditLine& line)>;
  void use(
      std::size_t by, std::uint8_t number, bool is_accepted = true,
      const Change& change = [](AuditLine&) {}) {
    AuditLine line = line_of(number);
    change(line);
    const AuditHead begun = log(by).append(line);
    const SignedMessage request = signed_by(identities[by], request_of(by, number, begun));
    AuditHead answered = log(1 - by).head();
    if (is_accepted) {
      AuditLine of_peer = line_of(number);
      of_peer.is_own = false;
      of_peer.signed_by_peer = request;
      change(of_peer);
      answered = log(1 - by).append(of_peer);
    }
    AuditLine end = line_of(number);
    end.event = AuditLine::Event::End;
    end.outcome = is_accepted ? "done" : "refused";
    end.asked = request.message;
    end.signed_by_peer =
        signed_by(identities[1 - by], answer_of(by, number, request, is_accepted, answered));
    change(end);
    log(by).append(end);
  }

  KeyAudit& log(std::size_t party) {
    if (!logs[party]) logs[party] = std::make_unique<KeyAudit>(files[party]);
    return *logs[party];
  }
  service::AuditReport verify(std::size_t party, bool with_peers = true) {
    logs = {};
    service::AuditParties parties{identities[party].fingerprint(),
                                  identities[1 - party].fingerprint()};
    if (with_peers) parties.peers_log = files[1 - party];
    return service::verify_audit(files[party], parties);
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

// Whatever becomes of its record.
TEST(KeyAudit, KnowsWhichKeysWereDeactivated) {
  const TestDirectory directory;
  AuditLine line;
  line.event = AuditLine::Event::Alone;
  line.operation = "suspend";
  line.key = "a key";
  {
    KeyAudit audit(directory / "log");
    audit.append(line);
    EXPECT_FALSE(audit.has_deactivated("a key"));
    line.operation = "deactivate";
    line.event = AuditLine::Event::End;  // as the peer may call an operation
    audit.append(line);
    EXPECT_FALSE(audit.has_deactivated("a key"));
    line.event = AuditLine::Event::Alone;
    audit.append(line);
    EXPECT_TRUE(audit.has_deactivated("a key"));
  }
  const KeyAudit audit(directory / "log");
  EXPECT_TRUE(audit.has_deactivated("a key"));
  EXPECT_FALSE(audit.has_deactivated("another key"));
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
  of_b[0].replace(of_b[0].find("\"time\":\"2"), 9, "\"time\":\"3");
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

TEST(KeyAudit, SignaturesAreOfThePeer) {
  Parties parties;
  parties.use(0, 1);
  parties.logs = {};
  const auto problems = [&](std::size_t own, std::size_t peer) {
    return service::verify_audit(parties.files[1], {parties.identities[own].fingerprint(),
                                                    parties.identities[peer].fingerprint()})
        .problems;
  };
  EXPECT_TRUE(problems(1, 0).empty());
  EXPECT_FALSE(problems(1, 1).empty());
  EXPECT_FALSE(problems(0, 0).empty()) << "the request is for another party";
}

// A party changes its TLS key: what it has signed before is its own, if the auditor says so; and
// whoever has the former key signs nothing more.
TEST(KeyAudit, FormerKeysSignWhatWasBefore) {
  for (const std::size_t changed : {0, 1}) {
    Parties parties;
    const net::Fingerprint former = parties.identities[changed].fingerprint();
    const auto problems = [&](std::size_t party, const std::vector<service::FormerKey>& keys) {
      parties.logs = {};
      service::AuditParties of{parties.identities[party].fingerprint(),
                               parties.identities[1 - party].fingerprint(),
                               parties.files[1 - party]};
      (party == changed ? of.former_own_keys : of.former_peers_keys) = keys;
      return service::verify_audit(parties.files[party], of).problems;
    };
    parties.use(0, 1);
    parties.use(1, 2);
    Identity before = std::exchange(parties.identities[changed], Identity::generate());
    parties.use(0, 3);
    parties.use(1, 4);
    for (const std::size_t party : {0, 1}) {
      EXPECT_EQ(problems(party, {{former}}), std::vector<std::string>());
      EXPECT_FALSE(problems(party, {}).empty());
      EXPECT_FALSE(problems(party, {{Identity::generate().fingerprint()}}).empty());
    }
    Identity now = std::exchange(parties.identities[changed], std::move(before));
    parties.use(0, 5);
    parties.identities[changed] = std::move(now);
    for (const std::size_t party : {0, 1}) {
      const auto found = problems(party, {{former}});
      ASSERT_EQ(found.size(), 1u);
      EXPECT_NE(found[0].find("is signed with a former key of the other party, after a line with a "
                              "later one"),
                std::string::npos)
          << found[0];
    }
  }
}

// Whoever has a former key can say that what it signs is older, but not in the other one's log.
TEST(KeyAudit, FormerKeysSignNothingAfterTheirTime) {
  Parties parties;
  const net::Fingerprint former = parties.identities[0].fingerprint();
  parties.use(0, 1);
  parties.use(1, 2);
  parties.identities[0] = Identity::generate();
  parties.logs = {};
  const auto problems = [&](const std::string& until) {
    service::AuditParties of{parties.identities[1].fingerprint(),
                             parties.identities[0].fingerprint()};
    of.former_peers_keys = {{former, until}};
    return service::verify_audit(parties.files[1], of).problems;
  };
  for (const char* const later : {"", "2999-01-01", "2999-01-01T00:00:00Z"})
    EXPECT_EQ(problems(later), std::vector<std::string>()) << later;
  for (const std::string before : {"2001-01-01", "2001-01-01T00:00:00Z"}) {
    const auto found = problems(before);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_TRUE(found[0].ends_with("is signed with a key that the other party had until " + before))
        << found[0];
  }
  for (const char* const wrong : {"2001-1-01", "2001-01-01T00:00:00", "2001-01-01 00:00:00Z", ""})
    EXPECT_FALSE(service::is_audit_time(wrong)) << wrong;
}

// Each field of a line that the signed request has, at the requester and at the peer.
TEST(KeyAudit, LineSaysWhatWasSigned) {
  const std::vector<std::pair<const char*, Parties::Change>> changes = {
      {"client", [](AuditLine& line) { line.client = "other"; }},
      {"operation", [](AuditLine& line) { line.operation = "decrypt"; }},
      {"key", [](AuditLine& line) { line.key.back() = 'f'; }},
      {"bytes", [](AuditLine& line) { line.bytes = 33; }},
      {"aad_bytes", [](AuditLine& line) { line.aad_bytes = 6; }},
      {"request", [](AuditLine& line) { line.request.back() = 'f'; }},
      {"no signature", [](AuditLine& line) { line.signed_by_peer.reset(); }},
      {"not asked", [](AuditLine& line) {
         if (line.event == AuditLine::Event::End) line.asked.back() ^= std::byte{1};
       }}};
  for (const auto& [name, change] : changes) {
    Parties parties;
    parties.use(0, 1, true, change);
    EXPECT_FALSE(parties.verify(0, false).problems.empty()) << name << " at the requester";
    if (std::string(name) != "not asked") {
      EXPECT_FALSE(parties.verify(1, false).problems.empty()) << name << " at the peer";
    }
  }
}

// The lines of the peer's log, too, though no line of this party's shows it.
TEST(KeyAudit, LineOfThePeersLogSaysWhatWasSigned) {
  Parties parties;
  parties.use(0, 1, true, [](AuditLine& line) {
    if (!line.is_own) line.signed_by_peer.reset();
  });
  EXPECT_TRUE(parties.verify(0, false).problems.empty());
  EXPECT_EQ(parties.verify(0).problems.size(), 1u);
}

TEST(KeyAudit, NothingIsDoneThatWasRefused) {
  Parties parties;
  parties.use(0, 1, false, [](AuditLine& line) {
    if (line.event == AuditLine::Event::End) line.outcome = "done";
  });
  EXPECT_EQ(parties.verify(0, false).problems.size(), 1u);
}

TEST(KeyAudit, RequestBeginsOnce) {
  Parties parties;
  parties.use(0, 1);
  const std::vector<std::string> of_b = parties.lines(1);
  parties.use(0, 1);
  EXPECT_FALSE(parties.verify(0, false).problems.empty());
  EXPECT_FALSE(parties.verify(1, false).problems.empty());
}

// A party that names an empty log could rewrite its own at will.
TEST(KeyAudit, AcceptedRequestsNameALine) {
  Parties parties;
  AuditLine line = parties.line_of(1);
  line.is_own = false;
  line.signed_by_peer = signed_by(parties.identities[0], parties.request_of(0, 1, {}));
  parties.log(1).append(line);
  EXPECT_EQ(parties.verify(1, false).problems.size(), 1u);
}

TEST(KeyAudit, AcceptingAnswersNameALine) {
  for (const bool is_accepted : {true, false}) {
    Parties parties;
    const AuditHead begun = parties.log(0).append(parties.line_of(1));
    const SignedMessage request = signed_by(parties.identities[0], parties.request_of(0, 1, begun));
    AuditLine end = parties.line_of(1);
    end.event = AuditLine::Event::End;
    end.outcome = is_accepted ? "done" : "refused";
    end.asked = request.message;
    end.signed_by_peer =
        signed_by(parties.identities[1], parties.answer_of(0, 1, request, is_accepted, {}));
    parties.log(0).append(end);
    EXPECT_EQ(parties.verify(0, false).problems.size(), is_accepted ? 1u : 0u);
  }
}

// The peer accepts, and signs for a line that is there, but not for that of the request.
TEST(KeyAudit, AcceptedRequestIsInThePeersLog) {
  Parties parties;
  parties.use(0, 1);
  const AuditHead begun = parties.log(0).append(parties.line_of(2));
  const SignedMessage request = signed_by(parties.identities[0], parties.request_of(0, 2, begun));
  AuditLine end = parties.line_of(2);
  end.event = AuditLine::Event::End;
  end.outcome = "done";
  end.asked = request.message;
  end.signed_by_peer = signed_by(parties.identities[1],
                                 parties.answer_of(0, 2, request, true, parties.log(1).head()));
  parties.log(0).append(end);
  EXPECT_TRUE(parties.verify(0, false).problems.empty());
  EXPECT_EQ(parties.verify(0).problems.size(), 1u);
}

// The requester asks for one thing, and logs that it has begun another one.
TEST(KeyAudit, BothLogsSayTheSameOfARequest) {
  const std::vector<std::pair<const char*, Parties::Change>> changes = {
      {"client", [](AuditLine& line) { line.client = "other"; }},
      {"operation", [](AuditLine& line) { line.operation = "decrypt"; }},
      {"key", [](AuditLine& line) { line.key.back() = 'f'; }},
      {"bytes", [](AuditLine& line) { line.bytes = 33; }},
      {"aad_bytes", [](AuditLine& line) { line.aad_bytes = 6; }}};
  for (const auto& [name, change] : changes) {
    Parties parties;
    parties.use(0, 1, true, [&alter = change](AuditLine& line) {
      if (line.is_own && line.event == AuditLine::Event::Begin) alter(line);
    });
    for (const std::size_t party : {0, 1})
      EXPECT_TRUE(parties.verify(party, false).problems.empty()) << name << " by itself";
    const auto problems = parties.verify(1).problems;
    ASSERT_EQ(problems.size(), 1u) << name;
    EXPECT_NE(problems[0].find("the request is not in the peer's"), std::string::npos)
        << problems[0];
  }
}

// The requester signs for a line before that of the request, and puts the request in later.
TEST(KeyAudit, RequestIsInTheLogBeforeItIsSigned) {
  Parties parties;
  parties.use(0, 1);
  const AuditHead before = parties.log(0).head();
  AuditLine of_peer = parties.line_of(2);
  of_peer.is_own = false;
  of_peer.signed_by_peer = signed_by(parties.identities[0], parties.request_of(0, 2, before));
  parties.log(1).append(of_peer);
  parties.log(0).append(parties.line_of(2));
  EXPECT_TRUE(parties.verify(1, false).problems.empty());
  EXPECT_EQ(parties.verify(1).problems.size(), 1u);
}

// A peer answers another request with the same id. A line has none of the fields that differ: the
// hash alone tells what was answered.
TEST(KeyAudit, AnswerIsToWhatWasAsked) {
  using service::keys::Request;
  const std::vector<std::pair<const char*, std::function<void(Request & request)>>> changes = {
      {"nothing", [](Request&) {}},
      {"attributes", [](Request& request) { request.set_attributes("others"); }},
      {"epoch", [](Request& request) { request.set_epoch_number(2); }},
      {"tag of the epoch", [](Request& request) { request.set_epoch_tag("another"); }},
      {"associated data", [](Request& request) { request.set_shown_aad("other"); }},
      {"nonce", [](Request& request) { request.set_nonce("another one."); }},
      {"context", [](Request& request) { request.set_context("another"); }},
      {"begin", [](Request& request) { request.set_begun_unix_ms(1); }},
      {"end", [](Request& request) { request.set_expires_unix_ms(1); }},
      {"line", [](Request& request) { request.mutable_head()->set_sequence(2); }}};
  for (const auto& [name, change] : changes)
    for (const bool is_accepted : {true, false}) {
      Parties parties;
      const AuditHead begun = parties.log(0).append(parties.line_of(1));
      service::keys::Said asked = parties.request_of(0, 1, begun);
      const SignedMessage request = signed_by(parties.identities[0], asked);
      change(*asked.mutable_request());
      const SignedMessage another = signed_by(parties.identities[0], asked);
      AuditLine end = parties.line_of(1);
      end.event = AuditLine::Event::End;
      end.outcome = is_accepted ? "done" : "refused";
      end.asked = request.message;
      end.signed_by_peer =
          signed_by(parties.identities[1], parties.answer_of(0, 1, another, is_accepted, {1, {}}));
      parties.log(0).append(end);
      EXPECT_EQ(parties.verify(0, false).problems.empty(), std::string(name) == "nothing") << name;
    }
}

// The same values in another spelling, such as a name twice.
TEST(KeyAudit, LineHasOneSpelling) {
  Parties parties;
  parties.use(0, 1);
  std::vector<std::string> lines = parties.lines(1);
  lines[0].insert(1, "\"client\":\"other\",");
  parties.write(1, lines);
  EXPECT_FALSE(parties.verify(1, false).problems.empty());
}

// The last line, which no other has the hash of.
TEST(KeyAudit, LineHasItsNumber) {
  for (const std::string number : {"0", "1", "3", "20"}) {
    Parties parties;
    parties.use(0, 1);
    std::vector<std::string> lines = parties.lines(0);
    ASSERT_TRUE(lines.back().starts_with("{\"sequence\":2,"));
    lines.back().replace(12, 1, number);
    parties.write(0, lines);
    EXPECT_FALSE(parties.verify(0, false).problems.empty()) << number;
  }
}

TEST(KeyAudit, LineIsOneThatThisVersionWrites) {
  for (const auto& [right, wrong] :
       {std::pair<std::string, std::string>{"\"event\":\"begin\"", "\"event\":\"later\""},
        {"\"signed\":{\"message\":\"", "\"signed\":{\"message\":\"zz"},
        {"\"signed\":{\"message\":\"", "\"signed\":{\"message\":\"a"}}) {
    Parties parties;
    parties.use(0, 1);
    std::vector<std::string> lines = parties.lines(1);
    const std::size_t at = lines[0].find(right);
    ASSERT_NE(at, std::string::npos);
    lines[0].replace(at, right.size(), wrong);
    parties.write(1, lines);
    EXPECT_EQ(parties.verify(1, false).problems,
              std::vector<std::string>{"the log's line 1 is not a line of an audit log"});
  }
}

TEST(KeyAudit, LogThatIsCutOffOrNotThereIsToldOf) {
  Parties parties;
  parties.use(0, 1);
  parties.logs = {};
  write_file(parties.files[0], read_file(parties.files[0]) + "{\"sequence\":3");
  EXPECT_EQ(parties.verify(0, false).problems,
            std::vector<std::string>{"the log's line 3 is cut off"});
  std::filesystem::remove(parties.files[0]);
  EXPECT_THROW(parties.verify(0, false), tinyot::UsageError);
}

// The peer signs what is no statement about a request, or of a request of somebody else's.
TEST(KeyAudit, SignedTextIsThatOfTheRequest) {
  const auto problems_with = [](const std::function<void(Parties&, AuditLine&)>& change) {
    Parties parties;
    AuditLine line = parties.line_of(1);
    line.is_own = false;
    change(parties, line);
    parties.log(1).append(line);
    return parties.verify(1, false).problems;
  };
  const auto signed_with = [](const std::function<void(Parties&, service::keys::Said&)>& change) {
    return [=](Parties& parties, AuditLine& line) {
      service::keys::Said said = parties.request_of(0, 1, {1, {}});
      change(parties, said);
      line.signed_by_peer = signed_by(parties.identities[0], said);
    };
  };
  EXPECT_EQ(problems_with(signed_with([](Parties&, service::keys::Said&) {})),
            std::vector<std::string>());
  const std::vector<std::string> other = {
      "the log's line 1 says something else than what was signed"};
  EXPECT_EQ(problems_with(signed_with([](Parties& parties, service::keys::Said& said) {
              said.mutable_request()->set_from(parties.bytes_of_key(1));
            })),
            other);
  EXPECT_EQ(problems_with(signed_with([](Parties& parties, service::keys::Said& said) {
              said.mutable_request()->set_to(parties.bytes_of_key(0));
            })),
            other);
  EXPECT_EQ(problems_with(
                signed_with([](Parties&, service::keys::Said& said) { said.mutable_answer(); })),
            other);
  EXPECT_EQ(problems_with([](Parties& parties, AuditLine& line) {
              SignedMessage message;
              message.message.assign(3, std::byte{0xff});
              message.signature =
                  net::sign(parties.identities[0], service::kCustodyDomain, message.message);
              line.signed_by_peer = std::move(message);
            }),
            (std::vector<std::string>{
                "the log's line 1 has a signature that is not of the other party"}));
}

// What a party does alone, and what it begins, takes no signature of the peer.
TEST(KeyAudit, OwnLinesHaveNoSignatureOfThePeer) {
  const auto problems_with = [](AuditLine::Event event, bool is_own, bool is_signed) {
    Parties parties;
    AuditLine line = parties.line_of(1);
    line.event = event;
    line.is_own = is_own;
    if (is_signed)
      line.signed_by_peer = signed_by(parties.identities[0], parties.request_of(0, 1, {1, {}}));
    parties.log(1).append(line);
    return parties.verify(1, false).problems.size();
  };
  using Event = AuditLine::Event;
  EXPECT_EQ(problems_with(Event::Alone, true, false), 0u);
  EXPECT_EQ(problems_with(Event::Alone, true, true), 1u);
  EXPECT_EQ(problems_with(Event::Alone, false, false), 1u);
  EXPECT_EQ(problems_with(Event::Begin, true, false), 0u);
  EXPECT_EQ(problems_with(Event::Begin, true, true), 1u);
  // How a request of the peer's has ended here, it need not have signed.
  EXPECT_EQ(problems_with(Event::End, false, false), 0u);
}

// A request to which nobody has answered has failed, and nothing has been done.
TEST(KeyAudit, RequestWithoutAnAnswerIsNotDone) {
  for (const std::string outcome : {"done", "timed out"}) {
    Parties parties;
    parties.log(0).append(parties.line_of(1));
    AuditLine end = parties.line_of(1);
    end.event = AuditLine::Event::End;
    end.outcome = outcome;
    parties.log(0).append(end);
    EXPECT_EQ(parties.verify(0, false).problems.size(), outcome == "done" ? 1u : 0u);
  }
}

// The peer's log has the request, but as one that the peer itself has asked.
TEST(KeyAudit, AcceptedRequestIsThatOfTheOtherParty) {
  Parties parties;
  parties.use(0, 1, true, [](AuditLine& line) {
    if (!line.signed_by_peer || line.event == AuditLine::Event::End) return;
    line.is_own = true;
    line.signed_by_peer.reset();
  });
  EXPECT_TRUE(parties.verify(0, false).problems.empty());
  const auto problems = parties.verify(0).problems;
  ASSERT_FALSE(problems.empty());
  EXPECT_NE(problems[0].find("the request is not in the peer's"), std::string::npos) << problems[0];
}

// A refusal may name no line: the peer's log is empty.
TEST(KeyAudit, RefusalNamesALineOrNone) {
  Parties parties;
  parties.use(0, 1, false);
  parties.log(1);
  for (const std::size_t party : {0, 1})
    EXPECT_EQ(parties.verify(party).problems, std::vector<std::string>());
}

TEST(KeyAudit, TimesOfFormerKeysAreDaysOrTimes) {
  for (const char* const right : {"2001-01-01", "2001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"})
    EXPECT_TRUE(service::is_audit_time(right)) << right;
  for (const char* const wrong : {"2001-01-0a", "2001/01/01", "2001-01-01T00:00:0aZ",
                                  "2001-01-01T00:00:00z", "2001-01-01T", ":001-01-01"})
    EXPECT_FALSE(service::is_audit_time(wrong)) << wrong;
}

TEST(KeyAudit, IsOfOneProcess) {
  Parties parties;
  parties.log(0);
  EXPECT_THROW(KeyAudit(parties.files[0]), tinyot::StoreError);
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

// A log may be larger than memory.
TEST(KeyAudit, IsReadLineByLine) {
  Parties parties;
  AuditLine line = parties.line_of(1);
  line.event = AuditLine::Event::Alone;
  line.outcome.assign(200'000, 'x');
  for (int k = 0; k < 400; ++k) parties.log(0).append(line);
  parties.logs = {};
  const auto expect_little = [](const char* what, const std::function<void()>& reads) {
    const bool is_measured = reset_peak_memory();
    const std::uint64_t before = system::peak_resident_bytes();
    reads();
    if (is_measured) {
      EXPECT_LT(system::peak_resident_bytes(), before + kSanitizersMemory + (16 << 20)) << what;
    }
  };
  expect_little("start", [&] { EXPECT_EQ(parties.log(0).head().sequence, 400u); });
  expect_little("verification", [&] { EXPECT_EQ(parties.verify(0, false).lines, 400u); });
  // A line without an end.
  std::filesystem::resize_file(parties.files[0], std::uint64_t{1} << 30);
  expect_little("damaged", [&] { EXPECT_THROW(KeyAudit(parties.files[0]), tinyot::StoreError); });
  expect_little("damaged", [&] { EXPECT_EQ(parties.verify(0, false).problems.size(), 1u); });
}

// The peer's log, which may be anything, is no reason to run out of stack.
TEST(KeyAudit, LineOfManyDepthsIsNone) {
  Parties parties;
  parties.use(0, 1);
  constexpr std::size_t kDepth = 500'000;
  parties.write(1, {std::string(kDepth, '[') + std::string(kDepth, ']'), std::string(kDepth, '[')});
  const auto problems = parties.verify(0, true).problems;
  EXPECT_TRUE(std::ranges::any_of(problems, [](const std::string& problem) {
    return problem == "the peer's line 1 is not a line of an audit log";
  }));
}

TEST(KeyAudit, TellsOfManyProblemsInALine) {
  Parties parties;
  parties.use(0, 1);
  parties.write(0, std::vector<std::string>(1500, parties.lines(0)[0]));
  const auto problems = parties.verify(0, false).problems;
  ASSERT_EQ(problems.size(), 1001u);
  EXPECT_TRUE(problems.back().starts_with("and ")) << problems.back();
}

TEST(KeyAudit, ReturnsTheRequestsThatAreWanted) {
  Parties parties;
  for (const std::uint8_t k : {1, 2, 3}) parties.use(0, k);
  parties.logs = {};
  const std::string second = parties.hex(parties.request_id(2));
  EXPECT_EQ(
      KeyAudit(parties.files[0], [&](const std::string& request) { return request == second; })
          .take_requests(),
      std::vector<std::string>{second});
  EXPECT_TRUE(KeyAudit(parties.files[0]).take_requests().empty());
}

TEST(KeyAudit, LinesOfManyThreadsAreOneChain) {
  Parties parties;
  parties.log(0);
  std::vector<std::future<void>> threads;
  for (int t = 0; t < 8; ++t)
    threads.push_back(std::async(std::launch::async, [&parties, t] {
      for (int k = 0; k < 50; ++k) {
        AuditLine line;
        line.request = std::to_string(t) + "-" + std::to_string(k);
        parties.log(0).append(line);
      }
    }));
  for (auto& thread : threads) thread.get();
  EXPECT_EQ(parties.log(0).head().sequence, 400u);
  const service::AuditReport report = parties.verify(0, false);
  EXPECT_EQ(report.lines, 400u);
  EXPECT_TRUE(report.problems.empty());
}

}  // namespace
}  // namespace tinyot::test
