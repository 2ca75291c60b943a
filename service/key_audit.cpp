#include "service/key_audit.h"

#include <fcntl.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/hex.h"
#include "crypto/random_oracle.h"
#include "keys.pb.h"
#include "system/clock.h"

namespace tinyot::service {
namespace {

using Json = nlohmann::ordered_json;

crypto::Digest hash_of(std::string_view line) {
  return crypto::RandomOracle(SessionId{}, {"key audit", '*', 0})
      .absorb(std::as_bytes(std::span(line)))
      .digest();
}

std::string hex_of_digest(const crypto::Digest& digest) { return hex_of(crypto::bytes_of(digest)); }

std::vector<std::byte> bytes_from(const std::string& hex) {
  std::vector<std::byte> bytes(hex.size() / 2);
  if (!parse_hex(hex, bytes)) throw std::invalid_argument("not hexadecimal");
  return bytes;
}

crypto::Digest digest_from(const std::string& hex) {
  crypto::Digest digest;
  if (!parse_hex(hex, crypto::writable_bytes_of(digest))) throw std::invalid_argument("not a hash");
  return digest;
}

Json json_of(const AuditHead& head) {
  return {{"sequence", head.sequence}, {"hash", hex_of_digest(head.hash)}};
}
AuditHead head_from(const Json& json) {
  return {json.at("sequence").get<std::uint64_t>(),
          digest_from(json.at("hash").get<std::string>())};
}

std::string text_of(const AuditLine& line, const AuditHead& before) {
  Json json = {{"sequence", before.sequence + 1},
               {"time", system::utc_text_ms()},
               {"event", line.event == AuditLine::Event::Begin ? "begin" : "end"},
               {"request", line.request},
               {"by", line.is_own ? "this party" : "peer"},
               {"client", line.client},
               {"operation", line.operation},
               {"key", line.key},
               {"bytes", line.bytes},
               {"aad_bytes", line.aad_bytes}};
  if (!line.outcome.empty()) json["outcome"] = line.outcome;
  if (line.signed_by_peer) {
    const SignedMessage& said = *line.signed_by_peer;
    json["signed"] = {{"message", hex_of(said.message)},
                      {"key", hex_of(said.signature.public_key)},
                      {"signature", hex_of(said.signature.bytes)}};
  }
  if (line.peers_head) json["peers_head"] = json_of(*line.peers_head);
  json["previous"] = hex_of_digest(before.hash);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A line as it stands in a file.
struct ReadLine {
  AuditLine line;
  AuditHead head;  // its own
};

AuditLine line_from(const Json& json) {
  AuditLine line;
  const auto text = [&](const char* name) { return json.at(name).get<std::string>(); };
  line.event = text("event") == "begin" ? AuditLine::Event::Begin : AuditLine::Event::End;
  line.request = text("request");
  line.is_own = text("by") == "this party";
  line.client = text("client");
  line.operation = text("operation");
  line.key = text("key");
  line.bytes = json.at("bytes").get<std::uint64_t>();
  line.aad_bytes = json.at("aad_bytes").get<std::uint64_t>();
  if (json.contains("outcome")) line.outcome = text("outcome");
  if (json.contains("signed")) {
    const Json& said = json.at("signed");
    line.signed_by_peer = {bytes_from(said.at("message").get<std::string>()),
                           {bytes_from(said.at("key").get<std::string>()),
                            bytes_from(said.at("signature").get<std::string>())}};
  }
  if (json.contains("peers_head")) line.peers_head = head_from(json.at("peers_head"));
  return line;
}

// Checks that the lines are a chain.
std::vector<ReadLine> read_chain(const std::filesystem::path& file, const std::string& whose,
                                 std::vector<std::string>& problems) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UsageError("cannot read the audit log " + file.string());
  std::vector<ReadLine> lines;
  AuditHead before;
  for (std::string text; std::getline(in, text);) {
    const std::string where = whose + " line " + std::to_string(before.sequence + 1);
    if (in.eof()) {
      problems.push_back(where + " is cut off");
      break;
    }
    try {
      const Json json = Json::parse(text);
      if (json.at("sequence").get<std::uint64_t>() != before.sequence + 1)
        problems.push_back(where + " has another number");
      if (json.at("previous").get<std::string>() != hex_of_digest(before.hash))
        problems.push_back(where +
                           " does not follow the line before: one of them was changed, "
                           "inserted or removed");
      before = {before.sequence + 1, hash_of(text)};
      lines.push_back({line_from(json), before});
    } catch (const std::exception& error) {
      problems.push_back(where + " is not a line of an audit log");
      before = {before.sequence + 1, hash_of(text)};
    }
  }
  return lines;
}

std::string hex_of_text(const std::string& bytes) {
  return hex_of(std::as_bytes(std::span(bytes)));
}

bool names_head(const keys::Head& head, const std::optional<AuditHead>& line) {
  return line && head.sequence() == line->sequence &&
         hex_of_text(head.hash()) == hex_of_digest(line->hash);
}

// The requests of a log that have been accepted, as the other log has to have them.
using Accepted = std::set<std::tuple<std::string, std::string, std::string, std::uint64_t>>;
std::tuple<std::string, std::string, std::string, std::uint64_t> identity_of(
    const AuditLine& line) {
  return {line.request, line.operation, line.key, line.bytes};
}

// What the signature of a line is of: that request, with the head that the line names.
void check_signed(const ReadLine& read, const net::Fingerprint& signer, const std::string& where,
                  std::vector<std::string>& problems) {
  const AuditLine& line = read.line;
  const bool needs_signature = !line.is_own && line.event == AuditLine::Event::Begin;
  if (!line.signed_by_peer) {
    if (needs_signature) problems.push_back(where + " has no signature of the party that asked");
    return;
  }
  const SignedMessage& said = *line.signed_by_peer;
  if (!net::is_signed_by(signer, said.signature, kCustodyDomain, said.message)) {
    problems.push_back(where + " has a signature that is not of the other party");
    return;
  }
  keys::Said parsed;
  const bool is_parsed =
      parsed.ParseFromArray(said.message.data(), static_cast<int>(said.message.size()));
  const bool is_right =
      is_parsed &&
      (parsed.has_request()
           ? hex_of_text(parsed.request().request()) == line.request &&
                 parsed.request().operation() == line.operation &&
                 parsed.request().bytes() == line.bytes && !line.is_own &&
                 names_head(parsed.request().head(), line.peers_head)
           : parsed.has_answer() && hex_of_text(parsed.answer().request()) == line.request &&
                 line.is_own && names_head(parsed.answer().head(), line.peers_head));
  if (!is_right) problems.push_back(where + " says something else than what was signed");
}

bool is_accepted(const AuditLine& line) {
  if (!line.is_own) return line.event == AuditLine::Event::Begin;
  keys::Said parsed;
  return line.signed_by_peer &&
         parsed.ParseFromArray(line.signed_by_peer->message.data(),
                               static_cast<int>(line.signed_by_peer->message.size())) &&
         parsed.has_answer() && parsed.answer().is_accepted();
}

// What `lines` say of the other log.
void check_against(const std::vector<ReadLine>& lines, const std::vector<ReadLine>& others,
                   const std::string& whose, const std::string& others_name,
                   std::vector<std::string>& problems) {
  Accepted begun;
  for (const ReadLine& other : others)
    if (other.line.event == AuditLine::Event::Begin) begun.insert(identity_of(other.line));
  for (const ReadLine& read : lines) {
    const std::string where = whose + " line " + std::to_string(read.head.sequence);
    if (const auto& head = read.line.peers_head; head && head->sequence > 0) {
      const bool is_there =
          head->sequence <= others.size() &&
          crypto::equal_constant_time(others[head->sequence - 1].head.hash, head->hash);
      if (!is_there)
        problems.push_back(where + " has a signature over line " + std::to_string(head->sequence) +
                           " of " + others_name +
                           ", which is not there: that log was cut or changed");
    }
    if (is_accepted(read.line) && !begun.contains(identity_of(read.line)))
      problems.push_back(where + ": the request is not in " + others_name);
  }
}

}  // namespace

KeyAudit::KeyAudit(std::filesystem::path file)
    : path_(std::move(file)), file_(path_, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC) {
  std::vector<std::string> problems;
  const std::vector<ReadLine> lines = read_chain(path_, path_.string(), problems);
  const std::uint64_t size = file_.size();
  std::string last_byte(1, '\n');
  if (size > 0) file_.read_at(size - 1, std::as_writable_bytes(std::span(last_byte)));
  end_ = size;
  if (last_byte != "\n") {
    // A crash while a line was written: the operation has not gone on.
    std::string text(size, '\0');
    file_.read_at(0, std::as_writable_bytes(std::span(text)));
    end_ = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    std::filesystem::resize_file(path_, end_);
    problems.pop_back();
  }
  if (!problems.empty())
    throw StoreError("the audit log is damaged: " + problems.front() +
                     "; keep it as evidence, and begin another one in its place");
  if (!lines.empty()) head_ = lines.back().head;
  synced_ = head_.sequence;
}

AuditHead KeyAudit::head() const {
  const std::lock_guard lock(mutex_);
  return head_;
}

AuditHead KeyAudit::append(const AuditLine& line) {
  AuditHead mine;
  {
    const std::lock_guard lock(mutex_);
    if (has_failed_)
      throw StoreError("the audit log " + path_.string() +
                       " could not be written before: no operation goes on until a restart");
    const std::string text = text_of(line, head_);
    const std::string whole = text + '\n';
    try {
      file_.write_at(end_, std::as_bytes(std::span(whole)));
    } catch (const StoreError&) {
      has_failed_ = true;
      throw;
    }
    end_ += whole.size();
    head_ = {head_.sequence + 1, hash_of(text)};
    mine = head_;
  }
  sync_up_to(mine.sequence);
  return mine;
}

void KeyAudit::sync_up_to(std::uint64_t sequence) {
  const std::lock_guard lock(sync_mutex_);
  if (synced_ >= sequence) return;
  const std::uint64_t written = head().sequence;
  try {
    file_.sync();
  } catch (const StoreError&) {
    const std::lock_guard state(mutex_);
    has_failed_ = true;
    throw;
  }
  synced_ = written;
}

AuditReport verify_audit(const std::filesystem::path& log, const AuditPeer& peer) {
  AuditReport report;
  const std::vector<ReadLine> lines = read_chain(log, "the log's", report.problems);
  report.lines = lines.size();
  for (const ReadLine& read : lines) {
    report.requests += read.line.event == AuditLine::Event::Begin ? 1 : 0;
    check_signed(read, peer.key, "the log's line " + std::to_string(read.head.sequence),
                 report.problems);
  }
  if (!peer.log) return report;
  const std::vector<ReadLine> others = read_chain(*peer.log, "the peer's", report.problems);
  if (peer.own_key)
    for (const ReadLine& read : others)
      check_signed(read, *peer.own_key, "the peer's line " + std::to_string(read.head.sequence),
                   report.problems);
  check_against(lines, others, "the log's", "the peer's log", report.problems);
  check_against(others, lines, "the peer's", "the log", report.problems);
  return report;
}

}  // namespace tinyot::service
