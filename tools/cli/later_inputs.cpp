#include "tools/cli/later_inputs.h"

#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <thread>

#include "base/error.h"

namespace tinyot::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLookAgain{20};

bool is_there(const std::string& source) {
  if (source != "-") return std::filesystem::exists(source.substr(1));
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) != 0;  // an end and an error are found by who reads
}

}  // namespace

void add_later_inputs_options(Options& options) {
  options
      .flag("inputs-later",
            "prepare the run, and then wait for the inputs, each NAME=@FILE, a file that need not "
            "exist yet, or NAME=-; both parties give it")
      .value("input-timeout", "seconds to wait for the inputs, this party's and the peer's", "120")
      .value("row-check",
             "early (default) or batched: how the garbled phase checks what it has prepared; early "
             "is faster after the inputs, and sends half as much again before");
}

std::optional<LaterInputs> later_inputs_from(const CommandLine& line) {
  if (!line.has("inputs-later")) {
    if (line.has("row-check")) throw UsageError("--row-check requires --inputs-later");
    return std::nullopt;
  }
  for (const char* const other : {"live", "rows", "reserve-only", "reservation"})
    if (line.has(other))
      throw UsageError("--inputs-later cannot be used with --" + std::string(other));
  LaterInputs later{line.list("input"), std::chrono::seconds(line.size("input-timeout")), {}};
  if (line.has("row-check"))
    later.row_check =
        parse_choice("row-check", line.text("row-check"), {RowCheck::Early, RowCheck::Batched});
  if (later.timeout.count() < 1 || later.timeout.count() > 7 * 24 * 3600)
    throw UsageError("--input-timeout is out of range: 1 second to a week");
  std::set<std::string> names;
  for (const std::string& assignment : later.assignments) {
    const auto [name, source] = split_assignment("input", assignment);
    if (!names.insert(name).second) throw UsageError("--input " + name + " is given twice");
    if (source != "-" && !source.starts_with("@"))
      throw UsageError("--inputs-later takes --input " + name + "=@FILE or " + name +
                       "=-: a value on the command line is known now");
  }
  return later;
}

InputTexts wait_for_inputs(const LaterInputs& later) {
  const auto deadline = Clock::now() + later.timeout;
  for (const std::string& assignment : later.assignments) {
    const auto [name, source] = split_assignment("input", assignment);
    while (!is_there(source)) {
      if (Clock::now() >= deadline)
        throw UsageError("input " + name + " has not come within " +
                         std::to_string(later.timeout.count()) +
                         " s (--input-timeout); the material of this run is lost");
      std::this_thread::sleep_for(kLookAgain);
    }
  }
  return read_inputs(later.assignments);
}

}  // namespace tinyot::tools
