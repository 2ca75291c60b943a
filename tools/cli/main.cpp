// The `tinyot` command: runs the subcommand, and turns errors into a message and an exit status.
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <iostream>

#include "crypto/openssl_memory.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"
#include "tools/cli/render/report.h"
#include "tools/cli/subcommands.h"

namespace tinyot::tools {
namespace {

// Also for a command line that cannot be parsed.
bool wants_json(const Arguments& arguments) {
  if (const char* const set = std::getenv("TINYOT_FORMAT");
      set != nullptr && set == std::string("json"))
    return true;
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
    tinyot::crypto::wipe_what_openssl_frees();
    const int status = tinyot::tools::run_subcommand({argv + 1, argv + argc});
    if (!std::cout.flush()) throw tinyot::tools::CommandError("cannot write the result to stdout");
    return status;
  } catch (...) {
    const tinyot::tools::Failure failure = tinyot::tools::current_failure();
    tinyot::tools::log_line(tinyot::tools::LogLevel::Error, failure.message);
    const int status = static_cast<int>(failure.status);
    if (status < 128 && tinyot::tools::wants_json({argv + 1, argv + argc}))
      tinyot::tools::print_failure(failure);
    return status;
  }
}
