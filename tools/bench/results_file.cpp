#include "tools/bench/results_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "system/errno_text.h"
#include "tools/cli/failure.h"

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

bool is_measured(const Json& row) {
  return row.is_object() && row.contains("command") && row["command"].is_string() &&
         row.contains("rows") && row["rows"].is_number_unsigned() && row["rows"] > 0;
}

}  // namespace

ResultsFile::ResultsFile(std::filesystem::path path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (!file_.is_open())
    throw CommandError("cannot open " + path_.string() + ": " + system::errno_text());
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
    throw CommandError("another report is being written to " + path_.string());
  read();
}

void ResultsFile::read() {
  std::ifstream stream(path_);
  const Json here = {{"version", version_text()}, {"machine", machine_json()}};
  // The rows of a measurement follow each other: only the last one can be incomplete.
  std::string command;
  std::uint64_t missing = 0;  // rows of `command`
  std::size_t number = 0, whole_bytes = 0, bytes = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (stream.eof()) break;  // cut: without its line feed
    const Json row = Json::parse(line, nullptr, false);
    if (!is_measured(row))
      throw UsageError(path_.string() + ", line " + std::to_string(number) +
                       " is not a measurement: correct it, or use another --output");
    if (origin_of(row) != origin_of(here))
      throw UsageError(path_.string() + " has results of " + origin_of(row) + ", and this is " +
                       origin_of(here) + ": use another --output");
    if (missing > 0 && row["command"] != command)
      throw UsageError(path_.string() + " lacks rows of '" + command + "': use another --output");
    if (missing == 0) {
      command = row["command"];
      missing = row["rows"];
    }
    bytes += line.size() + 1;
    if (--missing > 0) continue;
    commands_.insert(command);
    whole_bytes = bytes;
  }
  if (::ftruncate(file_.get(), static_cast<off_t>(whole_bytes)) != 0)
    throw CommandError("cannot write " + path_.string() + ": " + system::errno_text());
}

void ResultsFile::append(const std::string& command, std::vector<Json> rows) {
  for (Json& row : rows) {
    row["command"] = command;
    row["rows"] = rows.size();
  }
  const std::string text = text_of(rows);
  const off_t before = ::lseek(file_.get(), 0, SEEK_END);
  if (system::write_all(file_.get(), text) && ::fsync(file_.get()) == 0) {
    commands_.insert(command);
    return;
  }
  const std::string reason = system::errno_text();
  if (::ftruncate(file_.get(), before) != 0)
    throw CommandError("cannot write " + path_.string() + ": " + reason +
                       "; its last line may be incomplete, and is then ignored");
  throw CommandError("cannot write " + path_.string() + ": " + reason +
                     "; the measurements before this one are kept");
}

}  // namespace tinyot::tools
