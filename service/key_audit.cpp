#include "service/key_audit.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hex.h"
#include "keys.pb.h"
#include "system/clock.h"

namespace tinyot::service {
namespace {

using Json = nlohmann::ordered_json;

crypto::Digest hash_of(std::string_view line) {
  return crypto::sha256(std::as_bytes(std::span(line)));
}

std::string hex_of_digest(const crypto::Digest& digest) { return hex_of(crypto::bytes_of(digest)); }

std::vector<std::byte> bytes_from(const std::string& hex) {
  std::vector<std::byte> bytes(hex.size() / 2);
  if (!parse_hex(hex, bytes)) throw std::invalid_argument("not hexadecimal");
  return bytes;
}

constexpr std::array kEvents = {AuditLine::Event::Begin, AuditLine::Event::End,
                                AuditLine::Event::Alone};
std::string event_name(AuditLine::Event event) {
  switch (event) {
    case AuditLine::Event::Begin:
      return "begin";
    case AuditLine::Event::End:
      return "end";
    case AuditLine::Event::Alone:
      return "alone";
  }
  return "unknown";
}

std::string text_of(const AuditLine& line, const AuditHead& before) {
  Json json = {{"sequence", before.sequence + 1},
               {"time", system::utc_text_ms()},
               {"event", event_name(line.event)},
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
  if (!line.asked.empty()) json["asked"] = hex_of(line.asked);
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
  const auto event = std::ranges::find(kEvents, text("event"), event_name);
  if (event == kEvents.end()) throw std::invalid_argument("no such event");
  line.event = *event;
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
  if (json.contains("asked")) line.asked = bytes_from(text("asked"));
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
      if (json.dump(-1, ' ', false, Json::error_handler_t::replace) != text)
        problems.push_back(where + " is not written as a line of an audit log");
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

// The TLS keys of a party, one after the other.
using PartysKeys = std::vector<net::Fingerprint>;

PartysKeys all_keys_of(PartysKeys former, const net::Fingerprint& last) {
  former.push_back(last);
  return former;
}

// Which of the party's keys has signed the line; nothing if there is no signature, or of another.
std::optional<std::size_t> signer_of(const AuditLine& line, const PartysKeys& keys) {
  if (!line.signed_by_peer) return std::nullopt;
  const auto& [message, signature] = *line.signed_by_peer;
  const auto signer =
      std::ranges::find_if(keys, [&, &message = message, &signature = signature](const auto& key) {
        return net::is_signed_by(key, signature, kCustodyDomain, message);
      });
  if (signer == keys.end()) return std::nullopt;
  return static_cast<std::size_t>(signer - keys.begin());
}

// What a line's signature says; nothing if there is none, or it is not the signer's.
std::optional<keys::Said> said_in(const AuditLine& line, const PartysKeys& signer) {
  keys::Said said;
  if (!signer_of(line, signer)) return std::nullopt;
  const std::vector<std::byte>& message = line.signed_by_peer->message;
  if (!said.ParseFromArray(message.data(), static_cast<int>(message.size()))) return std::nullopt;
  return said;
}

std::string hex_of_key(const net::Fingerprint& key) {
  return hex_of(std::as_bytes(std::span(key.bytes)));
}

bool is_request_of(const AuditLine& line, const keys::Request& request) {
  return hex_of_text(request.request()) == line.request && request.operation() == line.operation &&
         hex_of_text(request.key()) == line.key && request.client() == line.client &&
         request.bytes() == line.bytes && request.aad_bytes() == line.aad_bytes;
}

// The parties as one of the logs sees them.
struct Sides {
  PartysKeys own, peer;
};

// Whether the message goes from one side to the other.
template <class Message>
bool is_from_to(const Message& message, const PartysKeys& from, const PartysKeys& to) {
  const auto is_in = [](const PartysKeys& keys, const std::string& party) {
    return std::ranges::find(keys, hex_of_text(party), hex_of_key) != keys.end();
  };
  return is_in(from, message.from()) && is_in(to, message.to());
}

// Why what a line says is not what was signed; empty if it is.
std::string contradiction(const AuditLine& line, const Sides& sides) {
  const auto said = said_in(line, sides.peer);
  if (line.signed_by_peer && !said) return " has a signature that is not of the other party";
  if (line.event == AuditLine::Event::Alone)
    return line.is_own && !said ? "" : " is of this party alone, and another one has a part in it";
  if (line.event == AuditLine::Event::Begin) {
    if (line.is_own) return line.signed_by_peer ? " begins with a signature of the peer" : "";
    if (!said) return " has no signature of the party that asked";
    const bool is_right = said->has_request() && is_request_of(line, said->request()) &&
                          is_from_to(said->request(), sides.peer, sides.own) &&
                          said->request().head().sequence() > 0;
    return is_right ? "" : " says something else than what was signed";
  }
  if (!line.is_own) return "";
  const bool is_done = line.outcome == "done";
  if (!said) return is_done ? " is done without an answer of the peer" : "";
  keys::Said asked;
  const bool is_right =
      said->has_answer() && is_from_to(said->answer(), sides.peer, sides.own) &&
      hex_of_text(said->answer().request()) == line.request &&
      asked.ParseFromArray(line.asked.data(), static_cast<int>(line.asked.size())) &&
      asked.has_request() && is_request_of(line, asked.request()) &&
      is_from_to(asked.request(), sides.own, sides.peer) &&
      hex_of_text(said->answer().request_hash()) == hex_of_digest(crypto::sha256(line.asked));
  if (!is_right) return " says something else than what was signed";
  if (is_done && !said->answer().is_accepted()) return " is done though the peer has refused";
  if (said->answer().is_accepted() && said->answer().head().sequence() == 0)
    return " has an answer without a line of the peer's log";
  return "";
}

// The head that the line's signature names, and whether the request was accepted.
struct Claim {
  keys::Head head;
  bool is_accepted = false;
};
std::optional<Claim> claim_of(const AuditLine& line, const PartysKeys& signer) {
  const auto said = said_in(line, signer);
  if (!said) return std::nullopt;
  if (said->has_request()) return Claim{said->request().head(), true};
  return Claim{said->answer().head(), said->answer().is_accepted()};
}

// A log, its lines by their numbers, and where its requests begin.
struct Log {
  std::string name;
  std::vector<ReadLine> lines;
  std::map<std::uint64_t, const ReadLine*> by_number;
  std::map<std::string, const ReadLine*> begun;

  Log(const std::filesystem::path& file, std::string whose, std::vector<std::string>& problems)
      : name(std::move(whose)), lines(read_chain(file, name, problems)) {
    for (const ReadLine& read : lines) {
      by_number.emplace(read.head.sequence, &read);
      if (read.line.event == AuditLine::Event::Begin &&
          !begun.emplace(read.line.request, &read).second)
        problems.push_back(where(read) + ": the request has begun before");
    }
  }
  std::string where(const ReadLine& read) const {
    return name + " line " + std::to_string(read.head.sequence);
  }
};

bool is_same_request(const AuditLine& a, const AuditLine& b) {
  return a.is_own != b.is_own && a.operation == b.operation && a.key == b.key &&
         a.client == b.client && a.bytes == b.bytes && a.aad_bytes == b.aad_bytes;
}

// What the signatures in `log` claim of the other log.
void check_against(const Log& log, const Log& other, const PartysKeys& signer,
                   std::vector<std::string>& problems) {
  for (const ReadLine& read : log.lines) {
    const auto claim = claim_of(read.line, signer);
    if (!claim) continue;
    if (claim->head.sequence() > 0) {
      const auto named = other.by_number.find(claim->head.sequence());
      if (named == other.by_number.end() ||
          hex_of_digest(named->second->head.hash) != hex_of_text(claim->head.hash()))
        problems.push_back(log.where(read) + " has a signature over line " +
                           std::to_string(claim->head.sequence()) + " of " + other.name +
                           ", which is not there: that log was cut or changed");
    }
    if (!claim->is_accepted) continue;
    const auto begun = other.begun.find(read.line.request);
    if (begun == other.begun.end() || !is_same_request(read.line, begun->second->line))
      problems.push_back(log.where(read) + ": the request is not in " + other.name);
    else if (begun->second->head.sequence > claim->head.sequence())
      problems.push_back(log.where(read) + ": the request was put into " + other.name +
                         " after it had been signed");
  }
}

}  // namespace

KeyAudit::KeyAudit(std::filesystem::path file)
    : path_(std::move(file)), file_(path_, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC) {
  if (::flock(file_.descriptor(), LOCK_EX | LOCK_NB) != 0)
    throw StoreError("the audit log " + path_.string() + " is in use");
  std::vector<std::string> problems;
  const std::vector<ReadLine> lines = read_chain(path_, path_.string(), problems);
  std::string text(file_.size(), '\0');
  file_.read_at(0, std::as_writable_bytes(std::span(text)));
  const std::size_t last = text.rfind('\n');
  end_ = last == std::string::npos ? 0 : last + 1;
  if (end_ < text.size()) {
    // A crash while a line was written: the operation has not gone on.
    std::filesystem::resize_file(path_, end_);
    problems.pop_back();
  }
  if (!problems.empty())
    throw StoreError("the audit log is damaged: " + problems.front() +
                     "; keep it as evidence, and begin another one in its place");
  if (!lines.empty()) head_ = lines.back().head;
  for (const ReadLine& read : lines)
    if (read.line.event == AuditLine::Event::Begin) requests_.push_back(read.line.request);
  file_.sync();
  system::sync_directory(path_.has_parent_path() ? path_.parent_path() : ".");
  synced_ = head_;
}

AuditHead KeyAudit::head() const {
  const std::lock_guard lock(mutex_);
  return synced_;
}

AuditHead KeyAudit::append(const AuditLine& line) {
  AuditHead mine;
  {
    const std::lock_guard lock(mutex_);
    require_whole();
    const std::string text = text_of(line, head_);
    const std::string whole = text + '\n';
    try {
      file_.write_at(end_, std::as_bytes(std::span(whole)));
    } catch (const StoreError&) {
      take_back();
      throw;
    }
    end_ += whole.size();
    head_ = {head_.sequence + 1, hash_of(text)};
    mine = head_;
  }
  sync_up_to(mine.sequence);
  return mine;
}

// On a full disk: of a line that was not written whole nothing stays, and the next one follows the
// last whole line.
void KeyAudit::take_back() {
  if (::ftruncate(file_.descriptor(), static_cast<off_t>(end_)) != 0) has_failed_ = true;
}

bool KeyAudit::has_failed() const {
  const std::lock_guard lock(mutex_);
  return has_failed_;
}

void KeyAudit::require_whole() const {
  if (has_failed_)
    throw StoreError("the audit log " + path_.string() +
                     " could not be written before: no operation goes on until a restart");
}

// After a failure nothing is durable any more: the system reports it to one caller alone.
void KeyAudit::sync_up_to(std::uint64_t sequence) {
  const std::lock_guard lock(sync_mutex_);
  AuditHead written;
  {
    const std::lock_guard state(mutex_);
    require_whole();
    if (synced_.sequence >= sequence) return;
    written = head_;
  }
  try {
    file_.sync();
  } catch (const StoreError&) {
    const std::lock_guard state(mutex_);
    has_failed_ = true;
    throw;
  }
  const std::lock_guard state(mutex_);
  synced_ = written;
}

AuditReport verify_audit(const std::filesystem::path& log, const AuditParties& parties) {
  AuditReport report;
  const Sides mine_sides{all_keys_of(parties.former_own_keys, parties.own_key),
                         all_keys_of(parties.former_peers_keys, parties.peers_key)};
  const auto check_lines = [&](const Log& of, const Sides& sides) {
    std::size_t latest = 0;
    for (const ReadLine& read : of.lines) {
      if (const std::string why = contradiction(read.line, sides); !why.empty())
        report.problems.push_back(of.where(read) + why);
      const auto signer = signer_of(read.line, sides.peer);
      if (signer && *signer < latest)
        report.problems.push_back(of.where(read) +
                                  " is signed with a former key of the other party, after a line "
                                  "with a later one");
      latest = std::max(latest, signer.value_or(0));
    }
  };
  const Log mine(log, "the log's", report.problems);
  report.lines = mine.lines.size();
  report.requests = mine.begun.size();
  check_lines(mine, mine_sides);
  if (!parties.peers_log) return report;
  const Log theirs(*parties.peers_log, "the peer's", report.problems);
  check_lines(theirs, {mine_sides.peer, mine_sides.own});
  check_against(mine, theirs, mine_sides.peer, report.problems);
  check_against(theirs, mine, mine_sides.own, report.problems);
  return report;
}

}  // namespace tinyot::service
