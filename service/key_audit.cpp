#include "service/key_audit.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hex.h"
#include "custody/coded.h"
#include "keys.pb.h"
#include "system/clock.h"

namespace tinyot::service {
namespace {

using Json = nlohmann::ordered_json;

// Of what a line has, the most are two signed messages of 24 KiB, in hexadecimal.
constexpr std::size_t kLineBytesMax = 1 << 20;

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

// A line as it stands in a file, and what is wrong with it as one of a chain: texts that follow its
// place.
struct ReadLine {
  std::optional<AuditLine> line;
  AuditHead head;  // its own
  std::string time = {};
  std::vector<std::string> faults = {};
};

// A line has objects in it, and these nothing more: what is read is written again by a function
// that calls itself for each depth.
bool is_of_small_depth(int depth, Json::parse_event_t, const Json&) {
  constexpr int kDepthMax = 4;
  if (depth > kDepthMax) throw std::invalid_argument("objects within objects");
  return true;
}

ReadLine read_line(const std::string& text, const AuditHead& before) {
  ReadLine read{{}, {before.sequence + 1, hash_of(text)}};
  const auto fault = [&](const char* what) { read.faults.emplace_back(what); };
  try {
    const Json json = Json::parse(text, is_of_small_depth);
    if (json.dump(-1, ' ', false, Json::error_handler_t::replace) != text)
      fault(" is not written as a line of an audit log");
    if (json.at("sequence").get<std::uint64_t>() != before.sequence + 1)
      fault(" has another number");
    if (json.at("previous").get<std::string>() != hex_of_digest(before.hash))
      fault(" does not follow the line before: one of them was changed, inserted or removed");
    read.line = line_from(json);
    read.time = json.at("time").get<std::string>();
  } catch (const std::exception&) {
    fault(" is not a line of an audit log");
  }
  return read;
}

enum class LineEnd { Whole, CutOff, TooLong, NoLine };
LineEnd next_line(std::streambuf& in, std::string& line) {
  constexpr int kEnd = std::streambuf::traits_type::eof();
  line.clear();
  for (int c = 0; (c = in.sbumpc()) != kEnd;) {
    if (c == '\n') return LineEnd::Whole;
    if (line.size() == kLineBytesMax) return LineEnd::TooLong;
    line += static_cast<char>(c);
  }
  return line.empty() ? LineEnd::NoLine : LineEnd::CutOff;
}

// Calls `each` with one line after the other: a log may be larger than memory.
struct LogEnd {
  AuditHead head;
  std::uint64_t bytes = 0;  // of whole lines
  bool is_cut_off = false;  // within a line
};
template <class Each>
LogEnd read_log(const std::filesystem::path& file, const Each& each) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UsageError("cannot read the audit log " + file.string());
  LogEnd end;
  std::string text;
  for (;;) {
    const LineEnd of = next_line(*in.rdbuf(), text);
    if (of == LineEnd::NoLine) return end;
    if (of == LineEnd::CutOff) {
      end.is_cut_off = true;
      return end;
    }
    ReadLine read = read_line(text, end.head);
    if (of == LineEnd::TooLong) {
      read.faults = {" is longer than a line of an audit log, which ends there"};
      each(read);
      return end;
    }
    each(read);
    end.head = read.head;
    end.bytes += text.size() + 1;
  }
}

std::string hex_of_text(const std::string& bytes) {
  return hex_of(std::as_bytes(std::span(bytes)));
}

// The TLS keys of a party, one after the other.
using PartysKeys = std::vector<FormerKey>;

PartysKeys all_keys_of(PartysKeys former, const net::Fingerprint& last) {
  former.push_back({last});
  return former;
}

// Which of the party's keys has signed the line; nothing if there is no signature, or of another.
std::optional<std::size_t> signer_of(const AuditLine& line, const PartysKeys& keys) {
  if (!line.signed_by_peer) return std::nullopt;
  const SignedMessage& said = *line.signed_by_peer;
  const auto signer = std::ranges::find_if(keys, [&](const auto& key) {
    return net::is_signed_by(key.key, said.signature, kCustodyDomain, said.message);
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

std::string hex_of_key(const FormerKey& key) {
  return hex_of(std::as_bytes(std::span(key.key.bytes)));
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

// What is wrong with a log, up to so much: one of others may be wrong in every line.
class Problems {
 public:
  void add(std::string text) {
    if (++count_ <= kMax) texts_.push_back(std::move(text));
  }
  std::vector<std::string> take() {
    if (count_ > kMax) texts_.push_back("and " + std::to_string(count_ - kMax) + " more");
    return std::move(texts_);
  }

 private:
  static constexpr std::size_t kMax = 1000;
  std::vector<std::string> texts_;
  std::size_t count_ = 0;
};

// The head that the line's signature names, and whether the request was accepted.
struct Claim {
  AuditHead head;
  bool is_accepted = false;
};
std::optional<Claim> claim_of(const AuditLine& line, const PartysKeys& signer) {
  const auto said = said_in(line, signer);
  if (!said) return std::nullopt;
  const bool is_request = said->has_request();
  const keys::Head& head = is_request ? said->request().head() : said->answer().head();
  Claim claim{{head.sequence(), {}}, is_request || said->answer().is_accepted()};
  // Otherwise it is the hash of no line.
  (void)custody::take_bytes(head.hash(), crypto::writable_bytes_of(claim.head.hash));
  return claim;
}

// What the other log is compared with: small, and as much for each line.
struct KnownLine {
  crypto::Digest hash;
  crypto::Digest request, about;  // of the request's number, and of what it is about
  bool is_own = false;
  std::optional<Claim> claim;
};

KnownLine known_line(const ReadLine& read, const PartysKeys& signer) {
  KnownLine known;
  known.hash = read.head.hash;
  if (!read.line) return known;
  const AuditLine& line = *read.line;
  known.request = hash_of(line.request);
  known.about = hash_of(Json({line.operation, line.key, line.client, line.bytes, line.aad_bytes})
                            .dump(-1, ' ', false, Json::error_handler_t::replace));
  known.is_own = line.is_own;
  known.claim = claim_of(line, signer);
  return known;
}

bool is_same_request(const KnownLine& a, const KnownLine& b) {
  return a.is_own != b.is_own && a.about.bytes == b.about.bytes;
}

// A log whose lines have been checked, with those that its owner's signatures name.
struct Log {
  std::string name;
  std::deque<KnownLine> lines;
  std::map<std::array<std::uint8_t, 32>, std::uint64_t> begun;  // the line's number, by request

  Log(const std::filesystem::path& file, std::string whose, const Sides& sides, Problems& problems)
      : name(std::move(whose)) {
    std::size_t latest = 0;
    const LogEnd end = read_log(file, [&](const ReadLine& read) {
      for (const std::string& fault : read.faults) problems.add(where(read.head.sequence) + fault);
      const KnownLine& known = lines.emplace_back(known_line(read, sides.peer));
      if (read.line) check(*read.line, read.time, known, sides, latest, problems);
    });
    if (end.is_cut_off) problems.add(where(end.head.sequence + 1) + " is cut off");
  }
  std::string where(std::uint64_t number) const { return name + " line " + std::to_string(number); }
  // Null if there is no such line.
  const KnownLine* line(std::uint64_t number) const {
    return number >= 1 && number <= lines.size() ? &lines[number - 1] : nullptr;
  }

 private:
  // The last line. `latest`: of the keys of the other party that have signed so far.
  void check(const AuditLine& line, const std::string& time, const KnownLine& known,
             const Sides& sides, std::size_t& latest, Problems& problems) {
    const std::uint64_t number = lines.size();
    if (line.event == AuditLine::Event::Begin && !begun.emplace(known.request.bytes, number).second)
      problems.add(where(number) + ": the request has begun before");
    if (const std::string why = contradiction(line, sides); !why.empty())
      problems.add(where(number) + why);
    const auto signer = signer_of(line, sides.peer);
    if (signer && *signer < latest)
      problems.add(where(number) +
                   " is signed with a former key of the other party, after a line with a later "
                   "one");
    latest = std::max(latest, signer.value_or(0));
    // Both are texts of UTC, and in the order of time.
    if (signer && !sides.peer[*signer].until.empty() && time > sides.peer[*signer].until)
      problems.add(where(number) + " is signed with a key that the other party had until " +
                   sides.peer[*signer].until);
  }
};

// What the signatures in `log` claim of the other log.
void check_against(const Log& log, const Log& other, Problems& problems) {
  for (std::uint64_t number = 1; number <= log.lines.size(); ++number) {
    const KnownLine& line = *log.line(number);
    if (!line.claim) continue;
    const AuditHead& head = line.claim->head;
    if (head.sequence > 0) {
      const KnownLine* const named = other.line(head.sequence);
      if (named == nullptr || named->hash.bytes != head.hash.bytes)
        problems.add(log.where(number) + " has a signature over line " +
                     std::to_string(head.sequence) + " of " + other.name +
                     ", which is not there: that log was cut or changed");
    }
    if (!line.claim->is_accepted) continue;
    const auto begun = other.begun.find(line.request.bytes);
    if (begun == other.begun.end() || !is_same_request(line, *other.line(begun->second)))
      problems.add(log.where(number) + ": the request is not in " + other.name);
    else if (begun->second > head.sequence)
      problems.add(log.where(number) + ": the request was put into " + other.name +
                   " after it had been signed");
  }
}

}  // namespace

KeyAudit::KeyAudit(std::filesystem::path file, const std::function<bool(const std::string&)>& wants)
    : path_(std::move(file)), file_(path_, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC) {
  if (::flock(file_.descriptor(), LOCK_EX | LOCK_NB) != 0)
    throw StoreError("the audit log " + path_.string() + " is in use");
  const LogEnd end = read_log(path_, [&](const ReadLine& read) {
    if (!read.faults.empty())
      throw StoreError("the audit log is damaged: " + path_.string() + " line " +
                       std::to_string(read.head.sequence) + read.faults.front() +
                       "; keep it as evidence, and begin another one in its place");
    const AuditLine& line = read.line.value();
    if (line.event == AuditLine::Event::Begin && wants && wants(line.request))
      requests_.push_back(line.request);
    note(line);
  });
  head_ = end.head;
  end_ = end.bytes;
  // A crash while a line was written: the operation has not gone on.
  if (end.is_cut_off) std::filesystem::resize_file(path_, end_);
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
    ENSURE(text.size() <= kLineBytesMax);
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
    note(line);
  }
  sync_up_to(mine.sequence);
  return mine;
}

// On a full disk: of a line that was not written whole nothing stays, and the next one follows the
// last whole line.
void KeyAudit::take_back() {
  if (::ftruncate(file_.descriptor(), static_cast<off_t>(end_)) != 0) has_failed_ = true;
}

void KeyAudit::note(const AuditLine& line) {
  if (line.event == AuditLine::Event::Alone && line.operation == "deactivate")
    deactivated_.insert(line.key);
}

bool KeyAudit::has_deactivated(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return deactivated_.contains(key);
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

bool is_audit_time(std::string_view text) {
  constexpr std::string_view kTime = "0000-00-00T00:00:00Z", kDay = kTime.substr(0, 10);
  if (text.size() != kTime.size() && text.size() != kDay.size()) return false;
  return std::ranges::equal(text, kTime.substr(0, text.size()), [](char c, char wanted) {
    return wanted == '0' ? c >= '0' && c <= '9' : c == wanted;
  });
}

AuditReport verify_audit(const std::filesystem::path& log, const AuditParties& parties) {
  const PartysKeys own = all_keys_of(parties.former_own_keys, parties.own_key),
                   peers = all_keys_of(parties.former_peers_keys, parties.peers_key);
  Problems problems;
  AuditReport report;
  const Log mine(log, "the log's", {own, peers}, problems);
  report.lines = mine.lines.size();
  report.requests = mine.begun.size();
  if (parties.peers_log) {
    const Log theirs(*parties.peers_log, "the peer's", {peers, own}, problems);
    check_against(mine, theirs, problems);
    check_against(theirs, mine, problems);
  }
  report.problems = problems.take();
  return report;
}

}  // namespace tinyot::service
