// The `tinyot` command: finds the subcommand, and turns errors into a message and an exit status.
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>

#include "base/error.h"
#include "net/handshake.h"
#include "storage/manifest.h"
#include "tools/bench.h"
#include "tools/circuit.h"
#include "tools/demo.h"
#include "tools/failure.h"
#include "tools/keygen.h"
#include "tools/local.h"
#include "tools/params.h"
#include "tools/preprocess.h"
#include "tools/report_command.h"
#include "tools/run.h"
#include "tools/selftest.h"
#include "tools/store_command.h"

namespace tinyot::tools {
namespace {

constexpr const char* kHelp =
    "Usage: tinyot SUBCOMMAND ...\n\n"
    "  demo        both parties on this machine: preprocess, store, oblivious AES\n"
    "  keygen      make this party's key and certificate, for channels between "
    "machines\n"
    "  preprocess  make material with the peer and store it\n"
    "  run         evaluate a circuit with the peer on stored material\n"
    "  local       preprocess or run, both parties as two processes on this machine\n"
    "  params      security and cost of a preprocessing job, before anything runs\n"
    "  store       info, verify, retire, merge, adopt\n"
    "  circuit     list, info, eval, convert\n"
    "  bench       offline, online, fig17, ot: measurements on this machine\n"
    "  report      measures a grid of parameters; figures and a page of the results\n"
    "  selftest    sessions in which one party cheats, to check that it is caught\n\n"
    "tinyot SUBCOMMAND --help prints the options and an example; tinyot --version, the build.\n"
    "Exit status: 0 done, 2 usage, 3 peer or network, 4 the peer cheated, 5 store, 6 the parties "
    "disagree, 1 anything else.\n";

std::string version() {
  const Json machine = machine_json();
  return "tinyot " + version_text() +
         ", vector instructions in use: " + machine["features"].get<std::string>() +
         ", wire version " + std::to_string(net::kWireVersion) + ", store format " +
         std::to_string(storage::kStoreFormat) + "\n";
}

int dispatch(const Arguments& arguments) {
  static const std::map<std::string, std::function<int(const Arguments&)>> kSubcommands = {
      {"demo", demo_command},       {"preprocess", preprocess_command},
      {"run", run_command},         {"local", local_command},
      {"params", params_command},   {"store", store_command},
      {"circuit", circuit_command}, {"bench", bench_command},
      {"keygen", keygen_command},   {"selftest", selftest_command},
      {"report", report_command}};
  const std::string name = arguments.empty() ? "" : arguments[0];
  if (name == "--help" || name == "help") return std::cout << kHelp, 0;
  if (name == "--version") return std::cout << version(), 0;
  const auto found = kSubcommands.find(name);
  if (found == kSubcommands.end())
    throw UsageError(name.empty() ? "no subcommand; see tinyot --help"
                                  : "there is no subcommand '" + name + "'; see tinyot --help");
  return found->second({arguments.begin() + 1, arguments.end()});
}

// Also for a command line that cannot be parsed.
bool wants_json(const Arguments& arguments) {
  const auto format = std::find(arguments.begin(), arguments.end(), "--format");
  return std::find(arguments.begin(), arguments.end(), "--format=json") != arguments.end() ||
         (format != arguments.end() && format + 1 != arguments.end() && format[1] == "json");
}

// A core dump would hold keys and inputs.
void forbid_core_dumps() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);
}

// Batches of material are allocated and freed by the hundred thousand. If their memory were
// returned to the system each time, it would be cleared and mapped again for the next batch, which
// costs more than the work on it.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

}  // namespace
}  // namespace tinyot::tools

int main(int argc, char** argv) {
  tinyot::tools::forbid_core_dumps();
  tinyot::tools::keep_freed_memory();
  try {
    const int status = tinyot::tools::dispatch({argv + 1, argv + argc});
    if (!std::cout.flush()) throw tinyot::tools::CommandError("cannot write the result to stdout");
    return status;
  } catch (...) {
    const tinyot::tools::Failure failure = tinyot::tools::current_failure();
    tinyot::tools::print_failure("tinyot: ", failure);
    const int status = static_cast<int>(failure.status);
    if (status < 128 && tinyot::tools::wants_json({argv + 1, argv + argc}))
      tinyot::tools::print_report(tinyot::tools::Format::Json,
                                  tinyot::tools::failure_report(failure), {});
    return status;
  }
}
