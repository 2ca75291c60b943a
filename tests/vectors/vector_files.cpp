#include "tests/vectors/vector_files.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "base/hex.h"
#include "crypto/digest.h"
#include "net/handshake.h"
#include "tests/support/files.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kCommand =
    "build/release/tests/vectors/session_vectors digests tests/vectors/sessions";

std::string sha256_hex(std::span<const std::byte> bytes) {
  const crypto::Digest digest = crypto::sha256(bytes);
  return hex_of(std::as_bytes(std::span(digest.bytes)));
}
std::string digest_of(const Json& json) {
  const std::string text = json.dump();
  return sha256_hex(std::as_bytes(std::span(text)));
}

std::string id_text(std::uint32_t id) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%04X", id);
  return text;
}

std::string wire_line(std::uint32_t version) { return "wire " + std::to_string(version); }

std::vector<std::string> lines_with_content(const std::string& file) {
  std::vector<std::string> lines;
  std::istringstream text(file);
  for (std::string line; std::getline(text, line);)
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  return lines;
}

}  // namespace

std::string json_lines(const SessionVector& vector) {
  std::string text = vector.description.dump() + "\n";
  std::size_t number = 0;
  for (const RecordedMessage& message : vector.messages)
    text += Json{{"n", number++},
                 {"from", std::string(1, letter(message.from))},
                 {"connection", message.connection},
                 {"sequence", message.sequence},
                 {"tag", message.tag.name},
                 {"id", id_text(message.tag.id)},
                 {"phase", message.phase},
                 {"bytes", message.payload.size()},
                 {"sha256", sha256_hex(message.payload)},
                 {"hex", hex_of(message.payload)}}
                .dump() +
            "\n";
  return text + vector.results.dump() + "\n";
}

std::string digest_line(const RecordedMessage& message) {
  return std::string(1, letter(message.from)) + " " + std::to_string(message.connection) + ":" +
         std::to_string(message.sequence) + " " + std::string(message.tag.name) + " " +
         std::to_string(message.payload.size()) + " " + sha256_hex(message.payload);
}

std::vector<std::string> digest_lines(const SessionVector& vector) {
  Json description = vector.description;
  description.erase("version");
  std::vector<std::string> lines = {wire_line(net::kWireVersion),
                                    "description " + digest_of(description)};
  for (const RecordedMessage& message : vector.messages) lines.push_back(digest_line(message));
  for (const auto& [party, results] : vector.results.items())
    for (const auto& [name, result] : results.items())
      lines.push_back("result " + party + " " + name + " " + digest_of(result));
  return lines;
}

std::string digests_file(const std::string& name, const std::vector<std::string>& lines) {
  std::string text = "# Digests of the recorded session " + name +
                     ": doc/testing.md, Recorded sessions.\n"
                     "# SENDER CONNECTION:SEQUENCE MESSAGE BYTES SHA-256, in an order in which "
                     "they can be sent.\n# Made by " +
                     std::string(kCommand) + "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string difference(const std::string& name, const std::string& file,
                       const std::vector<std::string>& lines) {
  const std::vector<std::string> kept = lines_with_content(file);
  const std::string again =
      "make the files of tests/vectors/sessions again by\n  " + std::string(kCommand);
  if (kept.empty() || kept.front() != lines.front())
    return "the digests of session " + name + " are those of '" +
           (kept.empty() ? "no session" : kept.front()) + "', and this build has '" +
           lines.front() + "': " + again;
  const auto [was, is] = std::ranges::mismatch(kept, lines);
  if (was == kept.end() && is == lines.end()) return {};
  return "the wire has changed: session " + name + " had\n  " +
         (was == kept.end() ? "no further line" : *was) + "\nand has\n  " +
         (is == lines.end() ? "no further line" : *is) +
         "\nParties of the two releases do not understand each other, so the wire version has to "
         "be raised: kWireVersion in net/handshake.h, and doc/protocol.md, section 11.3. Then " +
         again +
         "\nIf only the recorded session has changed, its circuit, sizes or seeds or the order in "
         "which a party draws random numbers, delete the files first.";
}

fs::path digests_path(const fs::path& directory, const std::string& name) {
  return directory / (name + ".digests");
}

void write_digests(const fs::path& directory) {
  std::vector<std::pair<fs::path, std::string>> files;
  for (const std::string& name : session_vector_names()) {
    const std::vector<std::string> lines = digest_lines(make_session_vector(name));
    const fs::path path = digests_path(directory, name);
    if (fs::exists(path)) {
      const std::string kept = read_file(path), changed = difference(name, kept, lines);
      if (!changed.empty() && lines_with_content(kept).front() == lines.front())
        throw std::runtime_error(changed);
    }
    files.emplace_back(path, digests_file(name, lines));
  }
  fs::create_directories(directory);
  for (const auto& [path, text] : files) write_file(path, text);
}

void write_sessions(const fs::path& directory) {
  fs::create_directories(directory);
  for (const std::string& name : session_vector_names())
    write_file(directory / (name + ".jsonl"), json_lines(make_session_vector(name)));
}

}  // namespace tinyot::test
