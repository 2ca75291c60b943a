#include "tools/results_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include "base/error.h"
#include "tools/failure.h"

namespace tinyot::tools {
namespace {

std::string text_of(const std::vector<Json>& rows) {
  std::string text;
  for (const Json& row : rows) text += json_text(row) + "\n";
  return text;
}

// What rows must have in common to be compared in one report.
std::string origin_of(const Json& row) {
  return "tinyot " + row.value("version", "") + " on " +
         row.value("machine", Json::object()).value("cpu", "");
}

}  // namespace

ResultsFile::ResultsFile(std::filesystem::path path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (!file_.is_open())
    throw CommandError("cannot open " + path_.string() + ": " + std::strerror(errno));
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
    throw CommandError("another report is being written to " + path_.string());
  read();
}

void ResultsFile::read() {
  std::ifstream stream(path_);
  std::map<std::string, std::vector<Json>> found;
  std::vector<std::string> order;
  std::size_t number = 0, whole_bytes = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (stream.eof()) break;  // cut: without its line feed
    whole_bytes += line.size() + 1;
    const Json row = Json::parse(line, nullptr, false);
    if (!row.is_object() || !row.contains("command") || !row.contains("rows"))
      throw UsageError(path_.string() + ", line " + std::to_string(number) +
                       " is not a measurement: correct it, or use another --output");
    const Json here = {{"version", version_text()}, {"machine", machine_json()}};
    if (origin_of(row) != origin_of(here))
      throw UsageError(path_.string() + " has results of " + origin_of(row) + ", and this is " +
                       origin_of(here) + ": use another --output");
    const std::string command = row["command"];
    if (!found.contains(command)) order.push_back(command);
    found[command].push_back(row);
  }
  std::uint64_t kept_bytes = 0;
  for (const std::string& command : order) {
    const std::vector<Json>& rows = found[command];
    if (rows.size() != rows[0]["rows"]) break;
    commands_.insert(command);
    kept_bytes += text_of(rows).size();
  }
  // Measurements are appended one after the other: only the last one can be incomplete.
  if (commands_.size() + 1 < order.size())
    throw UsageError(path_.string() + " lacks rows of '" + order[commands_.size()] +
                     "': use another --output");
  if (commands_.size() == order.size()) kept_bytes = whole_bytes;
  if (::ftruncate(file_.get(), static_cast<off_t>(kept_bytes)) != 0)
    throw CommandError("cannot write " + path_.string() + ": " + std::strerror(errno));
}

void ResultsFile::append(const std::string& command, std::vector<Json> rows) {
  for (Json& row : rows) {
    row["command"] = command;
    row["rows"] = rows.size();
  }
  const std::string text = text_of(rows);
  const off_t before = ::lseek(file_.get(), 0, SEEK_END);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(file_.get(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    written += static_cast<std::size_t>(count);
  }
  if (written == text.size() && ::fsync(file_.get()) == 0) {
    commands_.insert(command);
    return;
  }
  const std::string reason = std::strerror(errno);
  if (::ftruncate(file_.get(), before) != 0)
    throw CommandError("cannot write " + path_.string() + ": " + reason +
                       "; its last line may be incomplete, and is then ignored");
  throw CommandError("cannot write " + path_.string() + ": " + reason +
                     "; the measurements before this one are kept");
}

}  // namespace tinyot::tools
